"""``xcskit export``: rules for other programs."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from xcskit.cli.files import check_writable
from xcskit.cli.models import ModelFile, read_model

__all__ = ["export"]

_SUFFIXES = (".csv", ".json", ".py")


def export(
    model: ModelFile,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file; .csv, .json or .py says which form.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Write rules as CSV, as JSON, or as a Python file that answers as they do and needs no xcskit.

    Example: xcskit export lake.parquet -o lake.py && python lake.py 0 0
    """
    check_writable(output, force=force, suffixes=_SUFFIXES)
    rules = read_model(model)
    rules.export(output)
    words = {"file": str(output), "n_rules": len(rules)}
    shown = json.dumps(words) if as_json else f"saved {output}: {len(rules)} rules"
    sys.stdout.write(f"{shown}\n")
