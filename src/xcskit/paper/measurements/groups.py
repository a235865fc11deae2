"""Measurements of the groups of Table 2: their policies, sampled and exact."""

import numpy as np
from scipy import stats

from xcskit.paper.measurements.base import (
    OUTLIER,
    Statistic,
    Tables,
    column_of,
    measurement,
    nan_median,
    ratio,
)
from xcskit.typing import Bools, Floats, Ints


def _steps(tables: Tables, column: str, group: str, variant: str) -> Floats:
    """Give mean or greatest steps-to-goal; infinite where the 100 successes were not reached."""
    steps = column_of(tables, "policies", column, group=group, variant=variant)
    return np.where(np.isnan(steps), np.inf, steps)


@measurement
def group_change(tables: Tables, *, variant: str, column: str, group: str, over: str) -> Statistic:
    """Give the difference of a column's means between two groups."""
    first, second = (
        column_of(tables, "policies", column, group=name, variant=variant) for name in (group, over)
    )
    return lambda rows: first[rows].mean(axis=-1) - second[rows].mean(axis=-1)


@measurement
def group_median_steps(
    tables: Tables, *, variant: str, column: str, group: str, over: str = ""
) -> Statistic:
    """Give the median of mean or greatest steps-to-goal, or how far it exceeds another group's.

    Where the 100 successes were not reached, the number counts as infinite.
    """
    steps = _steps(tables, column, group, variant)
    if not over:
        return lambda rows: np.median(steps[rows], axis=-1)
    others = _steps(tables, column, over, variant)
    return lambda rows: np.median(steps[rows], axis=-1) - np.median(others[rows], axis=-1)


@measurement
def share_of_outliers(tables: Tables, *, variant: str, group: str) -> Statistic:
    """Give the share of instances with a mean steps-to-goal above 20, or an incomplete one."""
    is_outlier = _steps(tables, "mean_stg", group, variant) > OUTLIER
    return lambda rows: is_outlier[rows].mean(axis=-1)


@measurement
def share_degraded(
    tables: Tables, *, variant: str, column: str, group: str, over: str
) -> Statistic:
    """Give the share of a group's complete instances that are worse than in another group.

    Worse: a lower policy accuracy, or more of anything else.
    """
    complete = column_of(tables, "policies", "is_complete", group=group, variant=variant) > 0.0
    first, second = (
        column_of(tables, "policies", column, group=name, variant=variant) for name in (group, over)
    )
    # An instance that was incomplete before is not worse now.
    is_worse = first < second if column == "policy_accuracy" else first > second
    both = is_worse & complete
    return lambda rows: ratio(both[rows].sum(axis=-1), complete[rows].sum(axis=-1))


@measurement
def accuracy_of_incomplete(tables: Tables, *, variant: str, group: str) -> Statistic:
    """Compare the mean accuracy of the incomplete instances with that of the complete ones."""
    complete = column_of(tables, "policies", "is_complete", group=group, variant=variant) > 0.0
    accuracy = column_of(tables, "policies", "policy_accuracy", group=group, variant=variant)

    def difference(rows: Ints) -> Floats:
        chosen = complete[rows]
        parts = [
            ratio((accuracy[rows] * part).sum(axis=-1), part.sum(axis=-1))
            for part in (~chosen, chosen)
        ]
        return parts[0] - parts[1]

    return difference


@measurement
def rank_correlation_with_steps(
    tables: Tables, *, variant: str, column: str, group: str
) -> Statistic:
    """Give the size of the rank correlation of a column and exact expected steps-to-goal."""
    values = column_of(tables, "policies", column, group=group, variant=variant)
    steps = column_of(tables, "policies", "expected_steps", group=group, variant=variant)
    steps = np.where(np.isnan(steps), np.inf, steps)

    def correlate(rows: Ints) -> Floats:
        ranks = [stats.rankdata(numbers[rows], axis=-1) for numbers in (values, steps)]
        centred = [rank - rank.mean(axis=-1, keepdims=True) for rank in ranks]
        spread = np.sqrt((centred[0] ** 2).sum(axis=-1) * (centred[1] ** 2).sum(axis=-1))
        return np.abs(ratio((centred[0] * centred[1]).sum(axis=-1), spread, empty=0.0))

    return correlate


@measurement
def n_changed(
    tables: Tables,
    *,
    variant: str,
    group: str,
    over: str,
    accuracy: tuple[float, float],
    steps: tuple[float, float],
) -> Statistic:
    """Count instances whose accuracy and steps-to-goal change by so much between two groups.

    ``accuracy`` and ``steps`` are the least and the most that policy accuracy and exact expected
    steps change by. Undefined where none is found, as that does not prove that there are none.
    """

    def is_between(column: str, least: float, most: float) -> Bools:
        first, second = (
            column_of(tables, "policies", column, group=g, variant=variant) for g in (group, over)
        )
        change = np.abs(first - second)
        return (least <= change) & (change <= most)

    is_such = is_between("policy_accuracy", *accuracy) & is_between("expected_steps", *steps)
    count = float(is_such.sum()) or np.nan
    return lambda rows: np.full(len(rows), count)


@measurement
def slip_states(tables: Tables, *, variant: str, column: str) -> Statistic:
    """Take a median over the policies of groups A and B with many expected steps-to-goal.

    Many: above 20. Of an instance with both policies such, both count.
    """
    steps, values = (
        np.column_stack(
            [column_of(tables, "policies", name, group=g, variant=variant) for g in ("A", "B")]
        )
        for name in ("expected_steps", column)
    )
    chosen = np.where(steps > OUTLIER, values, np.nan)
    return lambda rows: nan_median(chosen[rows].reshape(len(rows), -1))
