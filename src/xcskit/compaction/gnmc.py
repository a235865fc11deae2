"""Greedy Niche Mass Compaction at one rho."""

from dataclasses import dataclass
from typing import ClassVar

from xcskit.compaction.masses import Mass
from xcskit.compaction.path import check_rho, gnmc_path
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools

__all__ = ["Gnmc"]


@dataclass(frozen=True, kw_only=True)
class Gnmc:
    """Keep the heaviest rules of each niche, up to (1 - rho) of its mass.

    Parameters
    ----------
    mass
        A name in ``MASSES``, or a function of the rule table.
    rho
        The mass removal factor, in [0, 1).

    Notes
    -----
    Bishop and Gallagher (2020), Algorithm 1. ``gnmc_path`` gives every rho at once.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> small = compact(rules, niches, Gnmc(mass="tan", rho=0.9))
    >>> len(small) < len(rules) / 2
    True
    >>> small.metadata["compaction"]
    {'method': 'gnmc', 'mass': 'tan', 'rho': 0.9}
    """

    name: ClassVar[str] = "gnmc"
    mass: Mass = "fitness"
    rho: float = 0.99

    def __post_init__(self) -> None:
        """Check rho."""
        check_rho(self.rho)

    def select(
        self,
        rules: RuleSet,
        niches: Niches,
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Bools:
        """Give a mask of the rules to keep."""
        return gnmc_path(rules, niches, self.mass).kept(self.rho)
