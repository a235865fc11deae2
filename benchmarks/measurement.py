"""What a benchmark measures, and how it is shown."""

import csv
import io
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from xcskit.files import write_atomically

__all__ = [
    "COMPARABLE",
    "TABLES",
    "Measurement",
    "Taken",
    "least",
    "shown",
    "taken_by",
    "write_table",
]

COMPARABLE: Final = frozenset({"x", "instructions"})
"""Units that noise leaves alone: ratios of processor time to a baseline's, and counts."""

TABLES: Final = Path(__file__).parent.parent / "docs" / "performance"
"""Where the tables lie that the documentation shows."""


class Measurement(NamedTuple):
    """One number of a benchmark, such as ``("p 0, engine / oracle", 157.0, "x")``."""

    quantity: str
    value: float
    unit: str


class Taken(NamedTuple):
    """How long work took: by the clock, and of processors, in which no wait for one counts."""

    seconds: float
    processor: float


def taken_by(work: Callable[[], object]) -> Taken:
    """Do some work, in this process or in processes that end with it, and give what it took."""
    began, used = time.perf_counter(), _processor_seconds()
    work()
    return Taken(time.perf_counter() - began, _processor_seconds() - used)


def least(taken: Sequence[Taken]) -> Taken:
    """Give the best of several, of each kind of time."""
    return Taken(*map(min, zip(*taken, strict=True)))


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


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
