"""Keeping the best rule of each niche: PDRC and CRA2."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xcskit.compaction.masses import Mass, rule_masses
from xcskit.kernels.compaction import best_in_niches
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Ints

__all__ = ["Cra2", "Pdrc", "keep_best"]


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


@dataclass(frozen=True, kw_only=True)
class Pdrc:
    """Parameter Driven Rule Compaction: the best rule of each niche.

    Notes
    -----
    Tan, Moore and Urbanowicz (2013), with niches in place of correct sets and fitness in place of
    accuracy: best is the greatest fitness x numerosity x generality. GNMC with the mass "tan" and
    rho high enough is the same, as Bishop and Gallagher (2020) say.
    """

    name: ClassVar[str] = "pdrc"

    def select(
        self,
        rules: RuleSet,
        niches: Niches,
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Bools:
        """Give a mask of the rules to keep."""
        return keep_best(rules, niches, "tan")


@dataclass(frozen=True, kw_only=True)
class Cra2:
    """CRA2: the most useful rule of each niche.

    Notes
    -----
    After Dixon, Corne and Oates (2003), in the form that Tan, Moore and Urbanowicz (2013) compare
    with: the rule of greatest accuracy x generality, here fitness x generality, is useful and
    stays.
    """

    name: ClassVar[str] = "cra2"

    def select(
        self,
        rules: RuleSet,
        niches: Niches,
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Bools:
        """Give a mask of the rules to keep."""
        return keep_best(rules, niches, "dixon")
