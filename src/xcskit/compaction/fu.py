"""Backward elimination: the least rules first, as long as a loss allows it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xcskit.compaction.losses import LOSSES, begin_loss
from xcskit.compaction.masses import Mass, rule_masses
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools
from xcskit.validation import check_choice, check_real

__all__ = ["Fu"]


@dataclass(frozen=True, kw_only=True)
class Fu:
    """Take rules away, the lightest first, each for good if the loss stays within a tolerance.

    Parameters
    ----------
    loss
        A name in ``LOSSES``: what must not grow.
    tolerance
        By how much the loss may exceed that of the full rule set.
    order
        The mass by which rules are tried, the lightest first; ties keep rule order.

    Notes
    -----
    After Fu and Davis (2002), their backward elimination by numerosity, with a loss of Qhat in
    place of accuracy. One pass; the last rule of a niche always stays. Taking a rule away costs
    only its niches (and, for "regret", an exact policy evaluation where the policy changes).

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> small = compact(rules, niches, Fu(loss="policy_change", tolerance=0.0))
    >>> (small.policy(niches.observations) == rules.policy(niches.observations)).all()
    np.True_
    """

    name: ClassVar[str] = "fu"
    loss: str = "greatest_change"
    tolerance: float = 0.01
    order: Mass = "numerosity"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice("loss", self.loss, LOSSES)
        check_real("tolerance", self.tolerance, 0.0)

    def select(self, rules: RuleSet, niches: Niches, solution: Solution | None) -> Bools:
        """Give a mask of the rules to keep."""
        first, niches_of = niches.by_rule
        actions = rules.actions
        values = niches.q_values(rules.fitness)
        loss = begin_loss(self.loss, niches, values, solution)
        limit = loss.value + self.tolerance
        n_left = niches.sizes.copy()
        kept = np.ones(len(rules), dtype=np.bool_)
        for rule in np.argsort(rule_masses(rules, self.order), kind="stable"):
            touched = niches_of[first[rule] : first[rule + 1]]
            if (n_left[touched] == 1).any():
                continue
            kept[rule] = False
            # A rule has one action, so that each of its niches lies in another state.
            states = touched // niches.n_actions
            changed = values[states]
            changed[:, actions[rule]] = niches.values_of(rules.fitness, kept, touched)
            if loss.would_be(states, changed) <= limit:
                loss.accept()
                values[states] = changed
                n_left[touched] -= 1
            else:
                kept[rule] = True
        return kept
