"""CRA2: the most useful rule of each niche."""

from dataclasses import dataclass
from typing import ClassVar

from xcskit.compaction.best import keep_best
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools

__all__ = ["Cra2"]


@dataclass(frozen=True, kw_only=True)
class Cra2:
    """CRA2: the most useful rule of each niche.

    Notes
    -----
    After Dixon, Corne and Oates (2003), in the form that Tan, Moore and Urbanowicz (2013) compare
    with: the rule of greatest accuracy x generality, here fitness x generality, is useful and
    stays.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> compact(rules, niches, Cra2()).metadata["compaction"]
    {'method': 'cra2'}
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
