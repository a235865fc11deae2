"""What all measurements share: their register, columns by instance, and careful arithmetic."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from xcskit.typing import Floats, Ints

__all__ = [
    "MEASUREMENTS",
    "OUTLIER",
    "Statistic",
    "Tables",
    "column_of",
    "measurement",
    "nan_median",
    "ratio",
]

Tables: TypeAlias = Mapping[str, pl.DataFrame]
Statistic: TypeAlias = Callable[[Ints], Any]

MEASUREMENTS: dict[str, Callable[..., Statistic]] = {}

OUTLIER = 20.0
"""A mean steps-to-goal above this is an outlier: five of the paper's group A are, all above 32."""


def measurement(function: Callable[..., Statistic]) -> Callable[..., Statistic]:
    """Register a measurement under its own name."""
    MEASUREMENTS[function.__name__] = function
    return function


def column_of(tables: Tables, table: str, column: str, **where: str) -> Floats:
    """Give a column by seed, shape (n_instances,); NaN for null."""
    chosen = tables[table].filter(**where).sort("seed")
    return chosen[column].cast(pl.Float64).fill_null(np.nan).to_numpy().copy()


def ratio(top: Any, bottom: Any, empty: float = np.nan) -> Floats:  # noqa: ANN401 - any numbers
    """Divide; ``empty`` where the divisor is 0."""
    top, bottom = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    is_empty = bottom == 0.0
    return np.where(is_empty, empty, top / np.where(is_empty, 1.0, bottom))


def nan_median(values: Floats) -> Floats:
    """Take medians along the last axis without NaN; NaN where nothing is left."""
    ordered = np.sort(values, axis=-1)
    n = (~np.isnan(ordered)).sum(axis=-1)
    low, high = np.maximum(n - 1, 0) // 2, n // 2
    pick = [np.take_along_axis(ordered, i[..., np.newaxis], axis=-1)[..., 0] for i in (low, high)]
    answer: Floats = np.where(n > 0, (pick[0] + pick[1]) / 2.0, np.nan)
    return answer
