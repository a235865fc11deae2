"""Parameter Driven Rule Compaction: the best rule of each niche by fitness, size and reach."""

from dataclasses import dataclass
from typing import ClassVar

from xcskit.compaction.best import keep_best
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools

__all__ = ["Pdrc"]


@dataclass(frozen=True, kw_only=True)
class Pdrc:
    """Parameter Driven Rule Compaction: the best rule of each niche.

    Notes
    -----
    Tan, Moore and Urbanowicz (2013), with niches in place of correct sets and fitness in place of
    accuracy: best is the greatest fitness x numerosity x generality. GNMC with the mass "tan" and
    rho high enough is the same, as Bishop and Gallagher (2020) say.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> from xcskit.compaction import Gnmc
    >>> compact(rules, niches, Pdrc()) == compact(rules, niches, Gnmc(mass="tan", rho=0.9999))
    True
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
