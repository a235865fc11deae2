"""The paper's tables, here and published side by side, and summaries of those beyond it."""

from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from xcskit.compaction.report import mean_of_all
from xcskit.paper.measurements import Tables
from xcskit.paper.policies import mark_published
from xcskit.paper.published import published_actions, published_rollouts

__all__ = [
    "examples",
    "minimum_summary",
    "policies_summary",
    "relatives_summary",
    "table_1",
    "table_2",
]

_ACTIONS = ("left", "down", "right", "up")
_WORST = 4


def table_1(tables: Tables, *, is_paper_map: bool) -> pl.DataFrame:
    """Give Table 1: the actions predicted in the states of lowest frequency, slip 0.1.

    Parameters
    ----------
    tables
        Of which ``actions`` is used.
    is_paper_map
        Whether the paper's four states and its counts belong in it.

    Returns
    -------
    pl.DataFrame
        The four states of lowest frequency here, and the paper's; a row a state: how many
        instances predict each action, the share that is optimal, the published counts, and the
        p-value of Fisher's exact test on how many of both are optimal, and it adjusted over the
        states (Benjamini and Hochberg).
    """
    counts = (
        tables["actions"]
        .filter(variant="p0.1")
        .group_by("state", "x", "y", "optimal_action", maintain_order=True)
        .agg(
            *((pl.col("action") == name).sum().alias(name) for name in _ACTIONS),
            pl.col("is_correct").mean().alias("frequency"),
        )
        .with_columns(is_among_worst=pl.col("frequency").rank("ordinal") <= _WORST)
    )
    if not is_paper_map:
        return counts.filter(pl.col("is_among_worst")).sort("frequency")
    published = published_actions().rename({name: f"published_{name}" for name in _ACTIONS})
    joined = counts.join(published.drop("optimal_action"), on=["x", "y"], how="left")
    is_shown = pl.col("is_among_worst") | pl.col("published_left").is_not_null()
    shown = joined.filter(is_shown).sort("frequency")
    compared = pl.col("published_left").is_not_null()
    p_values = [_exact_p(row) for row in shown.filter(compared).iter_rows(named=True)]
    tests = shown.filter(compared).select(
        "state", p_value=pl.Series(p_values), p_adjusted=stats.false_discovery_control(p_values)
    )
    return shown.join(tests, on="state", how="left", maintain_order="left")


def _exact_p(row: dict[str, Any]) -> float:
    counts: list[list[int]] = []
    for prefix in ("", "published_"):
        optimal = row[prefix + row["optimal_action"]]
        counts.append([optimal, sum(row[prefix + name] for name in _ACTIONS) - optimal])
    return float(stats.fisher_exact(np.array(counts)).pvalue)


def table_2(tables: Tables, *, is_paper_map: bool) -> pl.DataFrame:
    """Give Table 2: steps-to-goal of groups A, B and C, slip 0.1, here and published.

    Complete rows that equal a published row of their group, to the digit, are marked.
    """
    columns = ["group", "instance", "mean_stg", "max_stg", "rollouts", "policy_accuracy"]
    here = tables["policies"].filter(variant="p0.1").rename({"seed": "instance"})
    if not is_paper_map:
        return here.select(pl.lit("here").alias("source"), *columns)
    marks = ["is_published", "is_published_whole"]
    ours = mark_published(here).select(pl.lit("here").alias("source"), *columns, *marks)
    theirs = published_rollouts().select(
        pl.lit("published").alias("source"),
        *columns,
        *(pl.lit(None, pl.Boolean).alias(mark) for mark in marks),
    )
    return pl.concat([ours, theirs])


def policies_summary(tables: Tables) -> pl.DataFrame:
    """Give means over the instances of what the policies are worth, sampled and exact.

    Steps are means over the ``n_reaching`` instances that can reach the goal at all, or did so when
    sampled.
    """
    return (
        tables["policies"]
        .group_by("variant", "group", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("expected_steps").count().alias("n_reaching"),
            pl.col(
                "policy_accuracy",
                "sampled_success",
                "exact_success",
                "sampled_steps",
                "expected_steps",
                "regret",
                "start_regret",
                "loss_in_small_gaps",
                "loss_elsewhere",
            ).mean(),
        )
        .sort("variant", "group")
    )


def examples(tables: Tables) -> pl.DataFrame:
    """Give the instances whose accuracy hardly changes from A to B while steps-to-goal do much.

    Slip 0.1; hardly: by at most 0.05; much: the exact expected steps by at least 5.
    """
    policies = tables["policies"].filter(variant="p0.1")
    columns = ["policy_accuracy", "expected_steps"]
    first, second = (
        policies.filter(group=group).select(
            "seed", *(pl.col(c).alias(f"{group}_{c}") for c in columns)
        )
        for group in ("A", "B")
    )
    both = first.join(second, on="seed")
    changes = [(pl.col(f"B_{column}") - pl.col(f"A_{column}")).abs() for column in columns]
    return both.filter((changes[0] <= 0.05) & (changes[1] >= 5.0)).sort("seed")


def relatives_summary(tables: Tables) -> pl.DataFrame:
    """Give means over the instances of what each method of compaction keeps and costs.

    A mean is null where some instance has no value, as it has holes.
    """
    numbers = [
        "n_rules",
        "n_microclassifiers",
        "mean_absolute_error",
        "policy_accuracy",
        "regret",
        "greatest_change",
        "n_holes",
    ]
    return (
        tables["relatives"]
        .group_by("variant", "method", maintain_order=True)
        .agg(*map(mean_of_all, numbers), pl.col("seconds").mean())
    )


def minimum_summary(tables: Tables) -> pl.DataFrame:
    """Give GNMC's number of rules beside the certified minimum, a row a variant."""
    return (
        tables["minimum"]
        .group_by("variant", maintain_order=True)
        .agg(
            pl.len().alias("populations"),
            pl.col("gnmc").mean().alias("gnmc_rules"),
            pl.col("minimum").mean().alias("fewest_found"),
            pl.col("minimum_bound").mean().alias("fewest_proven"),
            pl.col("is_certified").sum().alias("certified"),
            (pl.col("gnmc") == pl.col("minimum_bound")).sum().alias("gnmc_is_minimal"),
            pl.col("seconds").max().alias("longest_seconds"),
        )
    )
