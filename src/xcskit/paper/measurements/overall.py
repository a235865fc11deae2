"""Measurements of training and of populations: means, spreads, shares and facts."""

import numpy as np
import polars as pl

from xcskit.paper.measurements.base import (
    Statistic,
    Tables,
    column_of,
    measurement,
    nan_median,
    ratio,
)


@measurement
def mean(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Average a column over the instances."""
    values = column_of(tables, table, column, **where)
    return lambda rows: values[rows].mean(axis=-1)


@measurement
def median(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Take the median of a column over the instances that have a value."""
    values = column_of(tables, table, column, **where)
    return lambda rows: nan_median(values[rows])


@measurement
def share_where(
    tables: Tables, *, table: str, column: str, above: float, **where: str
) -> Statistic:
    """Give the share of instances with a column above a number."""
    is_above = column_of(tables, table, column, **where) > above
    return lambda rows: is_above[rows].mean(axis=-1)


@measurement
def mean_over(tables: Tables, *, table: str, column: str, over: str, **where: str) -> Statistic:
    """Divide the mean of a column by that of another."""
    values, others = (column_of(tables, table, name, **where) for name in (column, over))
    return lambda rows: ratio(values[rows].mean(axis=-1), others[rows].mean(axis=-1))


@measurement
def n_undefined(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Count the instances without a value: it is what it is, so nothing is resampled."""
    count = float(np.isnan(column_of(tables, table, column, **where)).sum())
    return lambda rows: np.full(len(rows), count)


@measurement
def greatest(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Take the greatest of a column: it is what it is, so nothing is resampled."""
    value = float(column_of(tables, table, column, **where).max())
    return lambda rows: np.full(len(rows), value)


@measurement
def share_of_all(tables: Tables, *, table: str, column: str, of: str) -> Statistic:
    """Divide the sums of two columns over all instances; undefined where there is nothing."""
    frame = tables[table]
    share = ratio(float(frame[column].sum()), float(frame[of].sum()))
    return lambda rows: np.full(len(rows), share)


@measurement
def fact(tables: Tables, *, column: str, variant: str) -> Statistic:
    """Take a number of the environment, computed exactly."""
    value = float(tables["environments"].filter(variant=variant)[column].item())
    return lambda rows: np.full(len(rows), value)


@measurement
def ratio_of_facts(tables: Tables, *, column: str, over: str, variant: str) -> Statistic:
    """Divide a number of the environment by another, both computed exactly."""
    facts = tables["environments"].filter(variant=variant)
    value = float(ratio(facts[column].item(), facts[over].item()))
    return lambda rows: np.full(len(rows), value)


@measurement
def over_fact(tables: Tables, *, column: str, fact: str, variant: str) -> Statistic:
    """Divide the mean of an instances' column by a number of the environment."""
    values = column_of(tables, "instances", column, variant=variant)
    unit = float(tables["environments"].filter(variant=variant)[fact].item())
    return lambda rows: values[rows].mean(axis=-1) / unit


@measurement
def between_variants(tables: Tables, *, column: str, of: str) -> Statistic:
    """Compare p 0.1 with p 0: the ratio or difference of means, or the ratio of spreads."""
    calm, slippery = (
        column_of(tables, "instances", column, variant=variant) for variant in ("p0", "p0.1")
    )
    if of == "mean ratio":
        return lambda rows: slippery[rows].mean(axis=-1) / calm[rows].mean(axis=-1)
    if of == "mean difference":
        return lambda rows: slippery[rows].mean(axis=-1) - calm[rows].mean(axis=-1)
    return lambda rows: ratio(calm[rows].std(axis=-1, ddof=1), slippery[rows].std(axis=-1, ddof=1))


@measurement
def rules_in_the_open(tables: Tables, *, variant: str) -> Statistic:
    """Compare the rules per pair away from holes in the ice with those next to them."""
    parts = (
        column_of(tables, "instances", f"rules_per_pair_{place}", variant=variant)
        for place in ("open", "near")
    )
    difference = np.subtract(*parts)
    return lambda rows: difference[rows].mean(axis=-1)


@measurement
def late_change(tables: Tables, *, variant: str) -> Statistic:
    """Compare the mean value error of the last tenth of training with that of the tenth before."""
    history = tables["history"].filter(variant=variant).sort("seed", "step")
    errors = history["mean_absolute_error"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    errors = errors.reshape(history["seed"].n_unique(), -1)
    tenth = max(1, errors.shape[1] // 10)
    before, last = errors[:, -2 * tenth : -tenth].mean(axis=1), errors[:, -tenth:].mean(axis=1)
    return lambda rows: np.abs(last[rows].mean(axis=-1) / before[rows].mean(axis=-1) - 1.0)
