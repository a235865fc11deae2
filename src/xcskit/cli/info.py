"""``xcskit info``: what runs here."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["info"]


def info(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Tell versions, machine and cores, and where compiled code is kept and how large it is.

    Example: xcskit info --json
    """
    from xcskit.experiments.provenance import provenance
    from xcskit.kernels.compiler import cache_directory

    made = provenance()
    versions: Any = made["versions"]
    machine: Any = made["machine"]
    cache = cache_directory()
    # Every state of the sources has a folder of its own, whose name is as long as this one's.
    folders = cache.parent.glob("[0-9a-f]" * len(cache.name))
    n_bytes = {folder: _size(folder) for folder in folders}
    words = {
        **{f"{name} version": version for name, version in versions.items()},
        "git commit": made["git_commit"],
        "system": machine["system"],
        "processor": machine["processor"],
        "cores": machine["cores"],
        "cache directory": str(cache),
        "cache megabytes": round(n_bytes.get(cache, 0) / 1e6),
        "old caches megabytes": round(
            sum(n for folder, n in n_bytes.items() if folder != cache) / 1e6
        ),
    }
    if as_json:
        sys.stdout.write(json.dumps({k.replace(" ", "_"): v for k, v in words.items()}) + "\n")
        return
    width = max(map(len, words))
    sys.stdout.write("".join(f"{name:<{width}}  {value}\n" for name, value in words.items()))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
