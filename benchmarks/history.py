"""What was measured before: a Parquet file for each run, which nothing ever changes."""

import io
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from measurement import COMPARABLE, Measurement
from xcskit.experiments.provenance import provenance
from xcskit.files import write_atomically

__all__ = ["FOLDER", "changes", "keep", "load", "reference", "table_of"]

FOLDER: Final = Path(__file__).parent.parent / ".bench" / "history"

SCHEMA: Final = pl.Schema(
    [
        ("date", pl.Datetime("us", "UTC")),
        ("commit", pl.String()),
        ("is_dirty", pl.Boolean()),
        ("machine", pl.String()),
        ("versions", pl.String()),
        ("benchmark", pl.String()),
        ("quantity", pl.String()),
        ("value", pl.Float64()),
        ("unit", pl.String()),
    ]
)
_KEY: Final = ["benchmark", "quantity", "unit"]


def table_of(measured: Mapping[str, Sequence[Measurement]]) -> pl.DataFrame:
    """Give a run as rows, with the code that it ran and the machine that it ran on."""
    made: Any = provenance()
    commit, _, dirty = str(made["git_commit"]).partition("-")
    machine = made["machine"]
    origin = {
        "date": datetime.now(UTC),
        "commit": commit,
        "is_dirty": bool(dirty),
        "machine": f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        "versions": json.dumps(made["versions"], sort_keys=True),
    }
    rows = [
        {**origin, "benchmark": benchmark, **measurement._asdict()}
        for benchmark, measurements in measured.items()
        for measurement in measurements
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def keep(run: pl.DataFrame, folder: Path) -> Path:
    """Write a run into the history, whole or not at all."""
    content = io.BytesIO()
    run.write_parquet(content)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}.parquet"
    write_atomically(path, content.getvalue())
    return path


def load(folder: Path) -> pl.DataFrame:
    """Read all runs, oldest first."""
    runs = [pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *runs]).sort("date", maintain_order=True)


def reference(history: pl.DataFrame, run: pl.DataFrame) -> pl.DataFrame:
    """Give what the last commit measured that this run can be compared with.

    That is the newest run of committed code, on this machine, whose code is not this run's: where
    there are uncommitted edits, the commit under them counts. Of several runs of that commit, a
    quantity's value is the median.
    """
    if run.is_empty():
        return history.clear()
    commit, is_dirty, machine = run.select("commit", "is_dirty", "machine").row(0)
    is_other = pl.lit(is_dirty) | (pl.col("commit") != commit)
    others = history.filter(
        ~pl.col("is_dirty"), pl.col("commit") != "", pl.col("machine") == machine, is_other
    )
    last = others.tail(1).select("commit")
    return (
        others.join(last, on="commit")
        .group_by(*_KEY, "commit", maintain_order=True)
        .agg(pl.col("date").max(), pl.col("value").median())
    )


def changes(run: pl.DataFrame, before: pl.DataFrame) -> list[float | None]:
    """Give, row by row, this run's value over that of the last commit, less 1.

    None where nothing was measured before, or where the machine's noise would decide.
    """
    joined = run.join(before, on=_KEY, how="left", suffix="_before", maintain_order="left")
    is_comparable = pl.col("unit").is_in(list(COMPARABLE)) & (pl.col("value_before") != 0.0)
    change = pl.when(is_comparable).then(pl.col("value") / pl.col("value_before") - 1.0)
    return joined.select(change.alias("change"))["change"].to_list()
