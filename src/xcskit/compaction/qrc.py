"""Quick Rule Compaction: rules that cover something new."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xcskit.compaction.masses import Mass, rule_masses
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools

__all__ = ["Qrc"]


@dataclass(frozen=True, kw_only=True)
class Qrc:
    """Go through the rules, the heaviest first, and keep each that covers a niche not covered yet.

    Parameters
    ----------
    mass
        What the rules are sorted by; ties keep rule order.

    Notes
    -----
    Tan, Moore and Urbanowicz (2013), with niches in place of training instances and fitness in
    place of accuracy.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> from xcskit.compaction import Gnmc
    >>> compact(rules, niches, Qrc()) == compact(rules, niches, Gnmc(rho=0.9999))
    True
    """

    name: ClassVar[str] = "qrc"
    mass: Mass = "fitness"

    def select(
        self,
        rules: RuleSet,
        niches: Niches,
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Bools:
        """Give a mask of the rules to keep."""
        first, niches_of = niches.by_rule
        is_covered = np.zeros(niches.n_niches, dtype=np.bool_)
        kept = np.zeros(len(rules), dtype=np.bool_)
        for rule in np.argsort(-rule_masses(rules, self.mass), kind="stable"):
            mine = niches_of[first[rule] : first[rule + 1]]
            if not is_covered[mine].all():
                kept[rule] = True
                is_covered[mine] = True
        return kept
