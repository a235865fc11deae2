"""Run the benchmarks, print them beside the last commit's, and keep them in the history.

``python benchmarks/run.py [--publish] [NAME ..]`` runs those that are named, or all. What can be
compared between runs is a ratio to a baseline of the same run, or a count of instructions. With
``--publish`` the documentation's tables are written anew.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

import polars as pl
from rich.console import Console
from rich.table import Table

import history
from measurement import Measurement, shown, write_table

__all__ = ["main"]

NAMES: Final = ("training", "steps", "start", "compaction", "instructions")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks by name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--publish", action="store_true", help="write the documentation's tables")
    parser.add_argument("--history", type=Path, default=history.FOLDER, help="where runs are kept")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(NAMES))
    if unknown:
        parser.error(f"benchmarks are {', '.join(NAMES)}: got {', '.join(unknown)}")
    console = Console()
    measured: dict[str, list[Measurement]] = {}
    before = history.load(given.history)
    for name in given.names or NAMES:
        module = import_module(name)
        measured[name] = module.measure()
        if not measured[name]:
            console.print(f"{name}: {module.UNAVAILABLE}")
            continue
        title = f"{name}: {(module.__doc__ or '').splitlines()[0]}"
        run = history.table_of({name: measured[name]})
        console.print(_table(title, run, history.reference(before, run)))
        if given.publish:
            header, *rows = getattr(module, "tabulate", _tabulate)(measured[name])
            console.print(f"written: {write_table(name, header, rows)}")
    run = history.table_of(measured)
    if len(run):
        console.print(f"kept in the history: {history.keep(run, given.history)}")
    return 0


def _tabulate(measured: Sequence[Measurement]) -> list[tuple[str, ...]]:
    rows = [(m.quantity, f"{shown(m.value)} {m.unit}") for m in measured]
    return [("what", "measured"), *rows]


def _table(title: str, run: pl.DataFrame, before: pl.DataFrame) -> Table:
    since = "no earlier commit"
    if len(before):
        last = before.row(0, named=True)
        since = f"against {last['commit'][:9]}, {last['date']:%Y-%m-%d}"
    table = Table("what", "measured", since, title=title)
    for row, change in zip(run.iter_rows(named=True), history.changes(run, before), strict=True):
        told = "" if change is None else f"{change:+.1%}"
        table.add_row(row["quantity"], f"{shown(row['value'])} {row['unit']}", told)
    return table


if __name__ == "__main__":
    sys.exit(main())
