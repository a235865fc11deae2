"""Keeping the best rule of each niche, which several methods do."""

import numpy as np

from xcskit.compaction.masses import Mass, rule_masses
from xcskit.kernels.compaction import best_in_niches
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Ints

__all__ = ["keep_best"]


def keep_best(rules: RuleSet, niches: Niches, mass: Mass, which: Ints | None = None) -> Bools:
    """Give a mask of the heaviest rule of each niche, or of each of some niches.

    Ties go to the first in rule order.
    """
    asked = np.arange(niches.n_niches) if which is None else which
    best = np.empty(asked.size, dtype=np.int64)
    best_in_niches(niches.first, niches.members, rule_masses(rules, mass), asked, best)
    kept = np.zeros(len(rules), dtype=np.bool_)
    kept[best] = True
    return kept
