"""How well the instances agree with the published ones: two samples, column by column."""

from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from xcskit.paper.published import GROUPS, published_rollouts
from xcskit.typing import Floats

__all__ = ["agreement_table"]

_MEASURES = ("mean_stg", "max_stg", "rollouts", "policy_accuracy")
_RESAMPLES = 2000
_ALPHA = 0.05
_DIGITS = 2
_SIZES = ((0.147, "hardly"), (0.33, "a little"), (0.474, "moderately"), (1.0, "much"))
"""What effects up to a size are called, after Romano and others (2006)."""


def agreement_table(policies: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Compare each column of Table 2 with the published one, group by group.

    Parameters
    ----------
    policies
        Rows as of ``policies_table``, of p 0.1 alone.
    rng
        Draws the resamples.

    Returns
    -------
    pl.DataFrame
        Medians and quartiles of both samples; ``p_value`` of a two-sided Mann-Whitney test and
        ``p_adjusted`` over all rows (Benjamini and Hochberg); ``effect``: the chance that an
        instance here exceeds a published one less the chance that it is exceeded, with a bootstrap
        interval of 95 %; ``words``.

    Notes
    -----
    Incomplete instances have infinite steps-to-goal, which ranks take. Accuracies are rounded as
    the published ones are.
    """
    published = published_rollouts()
    rows: list[dict[str, Any]] = []
    for group in GROUPS:
        for column in _MEASURES:
            ours, theirs = (
                _sample(table.filter(group=group), column) for table in (policies, published)
            )
            rows.append({"group": group, "column": column, **_compare(ours, theirs, rng)})
    adjusted = stats.false_discovery_control([row["p_value"] for row in rows])
    for row, p in zip(rows, adjusted.tolist(), strict=True):
        row["p_adjusted"] = p
        row["words"] = _in_words(row)
    return pl.DataFrame(rows)


def _sample(table: pl.DataFrame, column: str) -> Floats:
    values = table[column].cast(pl.Float64).fill_null(np.inf).to_numpy()
    return np.asarray(np.round(values, _DIGITS), dtype=np.float64)


def _compare(ours: Floats, theirs: Floats, rng: np.random.Generator) -> dict[str, Any]:
    interval = stats.bootstrap(
        (_ranks_of(ours, theirs), _ranks_of(theirs, ours)),
        _effect,
        vectorized=True,
        paired=False,
        n_resamples=_RESAMPLES,
        method="percentile",
        rng=rng,
    ).confidence_interval
    quartiles = {
        f"{name}_{part}": float(np.quantile(sample, share, method="inverted_cdf"))
        for name, sample in (("ours", ours), ("published", theirs))
        for part, share in (("low", 0.25), ("median", 0.5), ("high", 0.75))
    }
    return {
        "n_ours": ours.size,
        "n_published": theirs.size,
        **quartiles,
        "p_value": float(stats.mannwhitneyu(ours, theirs, method="asymptotic").pvalue),
        "effect": float(_effect(_ranks_of(ours, theirs), _ranks_of(theirs, ours))),
        "effect_low": float(interval.low),
        "effect_high": float(interval.high),
    }


def _ranks_of(sample: Floats, other: Floats) -> Floats:
    """Replace values by their places among all of both: the effect sees only order."""
    places: Floats = np.searchsorted(np.unique(np.concatenate([sample, other])), sample).astype(
        np.float64
    )
    return places


def _effect(ours: Floats, theirs: Floats, axis: int = -1) -> Floats:
    """Give the mean sign of the difference over all pairs (Cliff's delta)."""
    first, second = np.moveaxis(ours, axis, -1), np.moveaxis(theirs, axis, -1)
    signs = np.sign(first[..., :, np.newaxis] - second[..., np.newaxis, :])
    effect: Floats = signs.mean(axis=(-1, -2))
    return effect


def _in_words(row: dict[str, Any]) -> str:
    """Say what test and interval say, and no more."""
    ends = [_end_in_words(row[end]) for end in ("effect_low", "effect_high")]
    if row["p_adjusted"] < _ALPHA:
        which = "higher" if row["effect"] > 0 else "lower"
        return f"ours are {which} than the published: {ends[0]} to {ends[1]}"
    return f"no difference found: ours may be anything from {ends[0]} to {ends[1]}"


def _end_in_words(effect: float) -> str:
    size = next(words for limit, words in _SIZES if abs(effect) <= limit)
    return f"{size} {'higher' if effect > 0 else 'lower'}"
