"""The measurements that decide claims: statistics of the tables, by name.

A measurement takes the tables and whatever a claim gives it, and returns a function from indices of
instances, shape (n_resamples, n_instances), to a value for each resample. So each of them can be
bootstrapped over the instances, both variants' instance i together.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from scipy import stats

from xcskit.paper.published import published_actions
from xcskit.typing import Bools, Floats, Ints

__all__ = ["MEASUREMENTS", "Statistic", "Tables"]

Tables: TypeAlias = Mapping[str, pl.DataFrame]
Statistic: TypeAlias = Callable[[Ints], Any]

MEASUREMENTS: dict[str, Callable[..., Statistic]] = {}

_OUTLIER = 20.0
"""A mean steps-to-goal above this is an outlier: five of the paper's group A are, all above 32."""


def _measurement(function: Callable[..., Statistic]) -> Callable[..., Statistic]:
    MEASUREMENTS[function.__name__] = function
    return function


# ---- Columns of the tables, a row an instance ----


def _column(tables: Tables, table: str, column: str, **where: str) -> Floats:
    """Give a column by seed, shape (n_instances,); NaN for null."""
    chosen = tables[table].filter(**where).sort("seed")
    return chosen[column].cast(pl.Float64).fill_null(np.nan).to_numpy().copy()


def _curves(tables: Tables, variant: str, mass: str, column: str) -> Floats:
    """Give a column of the paths, shape (n_instances, n_rhos)."""
    chosen = tables["gnmc"].filter(variant=variant, mass=mass).sort("seed", "rho")
    return chosen[column].to_numpy().reshape(chosen["seed"].n_unique(), -1).astype(np.float64)


def _mean_curves(tables: Tables, variant: str, mass: str, column: str) -> Statistic:
    curves = _curves(tables, variant, mass, column)
    every = np.arange(len(curves))

    def average(rows: Ints) -> Floats:
        weights: Floats = np.mean(rows[..., np.newaxis] == every, axis=-2)
        # Rounded, as equal means must tie whatever order they are summed in.
        return np.round(weights @ curves, 12)

    return average


def _steps(tables: Tables, group: str, variant: str) -> Floats:
    """Give the mean steps-to-goal; infinite where the 100 successes were not reached."""
    steps = _column(tables, "policies", "mean_stg", group=group, variant=variant)
    return np.where(np.isnan(steps), np.inf, steps)


# ---- Means, spreads and shares ----


@_measurement
def mean(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Average a column over the instances."""
    values = _column(tables, table, column, **where)
    return lambda rows: values[rows].mean(axis=-1)


@_measurement
def median(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Take the median of a column over the instances that have a value."""
    values = _column(tables, table, column, **where)
    return lambda rows: _nan_median(values[rows])


@_measurement
def greatest(tables: Tables, *, table: str, column: str, **where: str) -> Statistic:
    """Take the greatest of a column: it is what it is, so nothing is resampled."""
    value = float(_column(tables, table, column, **where).max())
    return lambda rows: np.full(len(rows), value)


@_measurement
def share_of_all(tables: Tables, *, table: str, column: str, of: str) -> Statistic:
    """Divide the sums of two columns over all instances; undefined where there is nothing."""
    frame = tables[table]
    share = _ratio(float(frame[column].sum()), float(frame[of].sum()))
    return lambda rows: np.full(len(rows), share)


@_measurement
def fact(tables: Tables, *, column: str, variant: str) -> Statistic:
    """Take a number of the environment, computed exactly."""
    value = float(tables["environments"].filter(variant=variant)[column].item())
    return lambda rows: np.full(len(rows), value)


@_measurement
def over_fact(tables: Tables, *, column: str, fact: str, variant: str) -> Statistic:
    """Divide the mean of an instances' column by a number of the environment."""
    values = _column(tables, "instances", column, variant=variant)
    unit = float(tables["environments"].filter(variant=variant)[fact].item())
    return lambda rows: values[rows].mean(axis=-1) / unit


@_measurement
def between_variants(tables: Tables, *, column: str, of: str) -> Statistic:
    """Compare p 0.1 with p 0: the ratio or difference of means, or the ratio of spreads."""
    calm, slippery = (
        _column(tables, "instances", column, variant=variant) for variant in ("p0", "p0.1")
    )
    if of == "mean ratio":
        return lambda rows: slippery[rows].mean(axis=-1) / calm[rows].mean(axis=-1)
    if of == "mean difference":
        return lambda rows: slippery[rows].mean(axis=-1) - calm[rows].mean(axis=-1)
    return lambda rows: _ratio(calm[rows].std(axis=-1, ddof=1), slippery[rows].std(axis=-1, ddof=1))


@_measurement
def rules_in_the_open(tables: Tables, *, variant: str) -> Statistic:
    """Compare the rules per pair away from holes in the ice with those next to them."""
    parts = (
        _column(tables, "instances", f"rules_per_pair_{place}", variant=variant)
        for place in ("open", "near")
    )
    difference = np.subtract(*parts)
    return lambda rows: difference[rows].mean(axis=-1)


@_measurement
def late_change(tables: Tables, *, variant: str) -> Statistic:
    """Compare the mean value error of the last tenth of training with that of the tenth before."""
    history = tables["history"].filter(variant=variant).sort("seed", "step")
    errors = history["mean_absolute_error"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    errors = errors.reshape(history["seed"].n_unique(), -1)
    tenth = max(1, errors.shape[1] // 10)
    before, last = errors[:, -2 * tenth : -tenth].mean(axis=1), errors[:, -tenth:].mean(axis=1)
    return lambda rows: np.abs(last[rows].mean(axis=-1) / before[rows].mean(axis=-1) - 1.0)


# ---- Which actions ----


@_measurement
def share_of_often_optimal_states(tables: Tables, *, variant: str, often: float) -> Statistic:
    """Give the share of the states in which at least so many of the instances act optimally."""
    correct = _correct(tables, variant)
    return lambda rows: (correct[rows].mean(axis=-2) >= often).mean(axis=-1)


@_measurement
def worst_states_gap(tables: Tables, *, variant: str) -> Statistic:
    """Give by how much the paper's four worst states are worse than all others.

    The lowest frequency of an optimal action in any other state less the highest in these four. The
    two states are those of all instances: chosen anew in each resample, they would exaggerate.
    """
    correct, named = _correct(tables, variant), _named_states(tables, variant)
    frequency = correct.mean(axis=0)
    best_named = int(np.argmax(np.where(named, frequency, -np.inf)))
    worst_other = int(np.argmin(np.where(named, np.inf, frequency)))
    difference = correct[:, worst_other].astype(np.float64) - correct[:, best_named]
    return lambda rows: difference[rows].mean(axis=-1)


@_measurement
def wrong_right(tables: Tables, *, variant: str) -> Statistic:
    """Give the share of Right among the wrong actions in the paper's four worst states."""
    correct, named = _correct(tables, variant), _named_states(tables, variant)
    wrong = ~correct[:, named]
    is_right = _by_state(tables, variant, "action")[:, named] == "right"
    both = (wrong & is_right).sum(axis=1)
    return lambda rows: _ratio(both[rows].sum(axis=-1), wrong.sum(axis=1)[rows].sum(axis=-1))


def _by_state(tables: Tables, variant: str, column: str) -> Any:  # noqa: ANN401 - any column
    chosen = tables["actions"].filter(variant=variant).sort("seed", "state")
    return chosen[column].to_numpy().reshape(chosen["seed"].n_unique(), -1)


def _correct(tables: Tables, variant: str) -> Bools:
    correct: Bools = _by_state(tables, variant, "is_correct")
    return correct


def _named_states(tables: Tables, variant: str) -> Bools:
    first = tables["actions"].filter(variant=variant).sort("seed", "state")
    states = first.unique("state", maintain_order=True).select("x", "y").rows()
    named = set(published_actions().select("x", "y").rows())
    return np.array([state in named for state in states])


# ---- Along the paths of GNMC ----


@_measurement
def gnmc_greatest_rise(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give by how much the mean curve rises above its value at rho 0, at most, over all rho."""
    curve = _mean_curves(tables, variant, mass, column)
    return lambda rows: (curve(rows) - curve(rows)[..., :1]).max(axis=-1)


@_measurement
def gnmc_greatest_fall(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give by how much the mean curve falls below its value at rho 0, at most, over all rho."""
    curve = _mean_curves(tables, variant, mass, column)
    return lambda rows: (curve(rows)[..., :1] - curve(rows)).max(axis=-1)


@_measurement
def gnmc_change(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the mean change from rho 0 to the greatest rho."""
    curve = _mean_curves(tables, variant, mass, column)
    return lambda rows: curve(rows)[..., -1] - curve(rows)[..., 0]


@_measurement
def gnmc_trend(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the rank correlation of the mean curve with rho."""
    curve = _mean_curves(tables, variant, mass, column)

    def correlate(rows: Ints) -> Floats:
        ranks = stats.rankdata(curve(rows), axis=-1)
        places = np.arange(ranks.shape[-1], dtype=np.float64)
        places -= places.mean()
        centred = ranks - ranks.mean(axis=-1, keepdims=True)
        return _ratio(
            centred @ places, np.sqrt((centred**2).sum(axis=-1) * (places**2).sum()), empty=0.0
        )

    return correlate


@_measurement
def gnmc_greatest_step(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the greatest change between neighbouring rho, as a share of the curve's range."""
    curve = _mean_curves(tables, variant, mass, column)

    def step(rows: Ints) -> Floats:
        values = curve(rows)
        return _ratio(np.abs(np.diff(values, axis=-1)).max(axis=-1), np.ptp(values, axis=-1))

    return step


@_measurement
def gnmc_left(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the share of a size that is left at the greatest rho, of that before compaction."""
    curves = _curves(tables, variant, mass, column)
    full = _column(tables, "instances", column, variant=variant)
    return lambda rows: curves[rows, -1].mean(axis=-1) / full[rows].mean(axis=-1)


@_measurement
def gnmc_between(
    tables: Tables, *, variant: str, mass: str, over: str, column: str, per: str = ""
) -> Statistic:
    """Compare two masses at the greatest rho: the ratio of a size, or of a size per another."""
    first, second = (_mean_curves(tables, variant, name, column) for name in (mass, over))
    if not per:
        return lambda rows: first(rows)[..., -1] / second(rows)[..., -1]
    bases = [_mean_curves(tables, variant, name, per) for name in (mass, over)]
    return lambda rows: (
        (first(rows)[..., -1] / bases[0](rows)[..., -1])
        / (second(rows)[..., -1] / bases[1](rows)[..., -1])
    )


# ---- Groups of Table 2 ----


@_measurement
def group_change(tables: Tables, *, variant: str, column: str, group: str, over: str) -> Statistic:
    """Give the difference of a column's means between two groups."""
    first, second = (
        _column(tables, "policies", column, group=name, variant=variant) for name in (group, over)
    )
    return lambda rows: first[rows].mean(axis=-1) - second[rows].mean(axis=-1)


@_measurement
def group_median_steps(tables: Tables, *, variant: str, group: str, over: str = "") -> Statistic:
    """Give the median of the mean steps-to-goal, or by how much it exceeds another group's.

    Where the 100 successes were not reached, the number counts as infinite.
    """
    steps = _steps(tables, group, variant)
    if not over:
        return lambda rows: np.median(steps[rows], axis=-1)
    others = _steps(tables, over, variant)
    return lambda rows: np.median(steps[rows], axis=-1) - np.median(others[rows], axis=-1)


@_measurement
def share_of_outliers(tables: Tables, *, variant: str, group: str) -> Statistic:
    """Give the share of instances with a mean steps-to-goal above 20, or an incomplete one."""
    is_outlier = _steps(tables, group, variant) > _OUTLIER
    return lambda rows: is_outlier[rows].mean(axis=-1)


@_measurement
def accuracy_of_incomplete(tables: Tables, *, variant: str, group: str) -> Statistic:
    """Compare the mean accuracy of the incomplete instances with that of the complete ones."""
    complete = _column(tables, "policies", "is_complete", group=group, variant=variant) > 0.0
    accuracy = _column(tables, "policies", "policy_accuracy", group=group, variant=variant)

    def difference(rows: Ints) -> Floats:
        chosen = complete[rows]
        parts = [
            _ratio((accuracy[rows] * part).sum(axis=-1), part.sum(axis=-1))
            for part in (~chosen, chosen)
        ]
        return parts[0] - parts[1]

    return difference


@_measurement
def accuracy_and_steps(tables: Tables, *, variant: str, group: str) -> Statistic:
    """Give the size of the rank correlation of policy accuracy and exact expected steps-to-goal."""
    accuracy = _column(tables, "policies", "policy_accuracy", group=group, variant=variant)
    steps = _column(tables, "policies", "expected_steps", group=group, variant=variant)
    steps = np.where(np.isnan(steps), np.inf, steps)

    def correlate(rows: Ints) -> Floats:
        ranks = [stats.rankdata(values[rows], axis=-1) for values in (accuracy, steps)]
        centred = [rank - rank.mean(axis=-1, keepdims=True) for rank in ranks]
        spread = np.sqrt((centred[0] ** 2).sum(axis=-1) * (centred[1] ** 2).sum(axis=-1))
        return np.abs(_ratio((centred[0] * centred[1]).sum(axis=-1), spread, empty=0.0))

    return correlate


@_measurement
def parted_pairs(tables: Tables, *, variant: str, group: str, over: str) -> Statistic:
    """Count instances whose accuracy hardly changes between groups while steps-to-goal do much.

    Hardly: by at most 0.05. Much: the exact expected steps-to-goal by at least 5. Undefined where
    none is found, as that does not prove that there are none.
    """
    accuracy, steps = (
        [_column(tables, "policies", name, group=g, variant=variant) for g in (group, over)]
        for name in ("policy_accuracy", "expected_steps")
    )
    is_parted = (np.abs(accuracy[0] - accuracy[1]) <= 0.05) & (np.abs(steps[0] - steps[1]) >= 5.0)
    count = float(is_parted.sum()) or np.nan
    return lambda rows: np.full(len(rows), count)


@_measurement
def share_where(
    tables: Tables, *, table: str, column: str, above: float, **where: str
) -> Statistic:
    """Give the share of instances with a column above a number."""
    is_above = _column(tables, table, column, **where) > above
    return lambda rows: is_above[rows].mean(axis=-1)


@_measurement
def slip_states(tables: Tables, *, variant: str, column: str) -> Statistic:
    """Take a median over the policies of groups A and B with many expected steps-to-goal.

    Many: above 20. Of an instance with both policies such, both count.
    """
    steps, values = (
        np.column_stack(
            [_column(tables, "policies", name, group=g, variant=variant) for g in ("A", "B")]
        )
        for name in ("expected_steps", column)
    )
    chosen = np.where(steps > _OUTLIER, values, np.nan)
    return lambda rows: _nan_median(chosen[rows].reshape(len(rows), -1))


# ---- Arithmetic ----


def _ratio(top: Any, bottom: Any, empty: float = np.nan) -> Floats:  # noqa: ANN401 - any numbers
    """Divide; ``empty`` where the divisor is 0."""
    top, bottom = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    is_empty = bottom == 0.0
    return np.where(is_empty, empty, top / np.where(is_empty, 1.0, bottom))


def _nan_median(values: Floats) -> Floats:
    """Take medians along the last axis without NaN; NaN where nothing is left."""
    ordered = np.sort(values, axis=-1)
    n = (~np.isnan(ordered)).sum(axis=-1)
    low, high = np.maximum(n - 1, 0) // 2, n // 2
    pick = [np.take_along_axis(ordered, i[..., np.newaxis], axis=-1)[..., 0] for i in (low, high)]
    answer: Floats = np.where(n > 0, (pick[0] + pick[1]) / 2.0, np.nan)
    return answer
