"""What a benchmark measures, and how it is shown."""

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from xcskit.files import write_atomically

__all__ = ["COMPARABLE", "TABLES", "Measurement", "seconds_of", "shown", "write_table"]

COMPARABLE: Final = frozenset({"x", "instructions"})
"""Units that a noisy machine leaves alone: ratios to a baseline of the same run, and counts."""

TABLES: Final = Path(__file__).parent.parent / "docs" / "performance"
"""Where the tables lie that the documentation shows."""


class Measurement(NamedTuple):
    """One number of a benchmark, such as ``("p 0, engine / oracle", 157.0, "x")``."""

    quantity: str
    value: float
    unit: str


def seconds_of(work: Callable[[], object]) -> float:
    """Give how long a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def shown(value: float) -> str:
    """Write a number with three digits, or all of its whole part."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write_table(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    """Write a table that the documentation shows."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    TABLES.mkdir(parents=True, exist_ok=True)
    path = TABLES / f"{name}.csv"
    write_atomically(path, content.getvalue().encode())
    return path
