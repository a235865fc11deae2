"""Run the benchmarks and print them: ratios to a baseline of the same run, best of several.

``python benchmarks/run.py [NAME ..]`` runs those that are named, or all.
"""

import sys
from importlib import import_module

from rich.console import Console
from rich.table import Table

NAMES = ("training", "start", "compaction")


def main(names: list[str]) -> int:
    """Run benchmarks by name."""
    console = Console()
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        console.print(f"benchmarks are {', '.join(NAMES)}: got {', '.join(unknown)}")
        return 2
    for name in names or NAMES:
        module = import_module(name)
        table = Table("what", "measured", title=f"{name}: {(module.__doc__ or '').splitlines()[0]}")
        for row in module.measure():
            table.add_row(*row)
        console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
