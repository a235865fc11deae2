"""Thresholds: rules below a value go, whatever that leaves uncovered."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xcskit.compaction.best import keep_best
from xcskit.errors import CompactionError
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools
from xcskit.validation import check_flag, check_real

__all__ = ["Threshold"]


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Keep the rules whose value in a column is at least a threshold.

    Parameters
    ----------
    column
        Any column of the rule table, such as "experience" or "fitness".
    at_least
        The threshold.
    repair
        Whether to put back, in each niche that would be left without a rule, its fittest one.

    Notes
    -----
    Without repair this opens holes: it is the example of Bishop and Gallagher (2020), Section
    "Compaction", for a method that does not keep the mapping complete.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> small = compact(rules, niches, Threshold(column="fitness", at_least=0.5))
    >>> small.q_values(niches.observations).shape
    (11, 4)
    """

    name: ClassVar[str] = "threshold"
    column: str = "experience"
    at_least: float = 20.0
    repair: bool = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_real("at_least", self.at_least)
        check_flag("repair", self.repair)

    def select(
        self,
        rules: RuleSet,
        niches: Niches,
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Bools:
        """Give a mask of the rules to keep."""
        known = rules.to_polars().columns
        if self.column not in known:
            msg = f"a threshold needs a column, one of {', '.join(known)}: got {self.column!r}"
            raise CompactionError(msg)
        kept = np.greater_equal(rules[self.column], self.at_least)
        if not self.repair:
            return kept
        n_kept = np.bincount(niches.niche_of[kept[niches.members]], minlength=niches.n_niches)
        return kept | keep_best(rules, niches, "fitness", np.flatnonzero(n_kept == 0))
