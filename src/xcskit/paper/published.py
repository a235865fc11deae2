"""The numbers that the paper prints, as data."""

from functools import cache
from importlib import resources

import polars as pl

__all__ = ["GROUPS", "published_actions", "published_rollouts"]

GROUPS = {"A": "no compaction", "B": "GNMC, fitness, 0.99", "C": "GNMC, inverse fitness, 0.99"}
"""The groups of the paper's Table 2."""

_MEASURES = ("mean_stg", "max_stg", "rollouts", "policy_accuracy")


@cache
def published_actions() -> pl.DataFrame:
    """Give Table 1: of 30 instances, how many predict each action in the four worst states.

    Columns ``x``, ``y``, ``left``, ``down``, ``right``, ``up``, ``optimal_action``.
    """
    return _read("published_table1.csv").drop("optimal_frequency")


@cache
def published_rollouts() -> pl.DataFrame:
    """Give Table 2, a row for each group and instance.

    Columns ``group``, ``instance``, ``mean_stg`` and ``max_stg`` (null where the paper has an
    asterisk: fewer than 100 successes), ``rollouts`` and ``policy_accuracy``.
    """
    table = _read("published_table2.csv")
    return pl.concat(
        [
            table.select(
                pl.lit(group).alias("group"),
                "instance",
                *(pl.col(f"{group}_{measure}").alias(measure) for measure in _MEASURES),
            )
            for group in GROUPS
        ]
    )


def _read(name: str) -> pl.DataFrame:
    text = resources.files("xcskit.paper").joinpath("data", name).read_bytes()
    return pl.read_csv(text)
