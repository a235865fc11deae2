"""Bounds that a compacted rule set must keep in every niche, ready made.

Each function gives a pair (lower, upper) of arrays of shape (n_observations, n_actions), in the
order that ``minimal_rules`` takes them.
"""

from typing import TypeAlias

import numpy as np

from xcskit.compaction.task import check_task, optimal_values
from xcskit.errors import CompactionError
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Floats
from xcskit.validation import check_real

__all__ = [
    "SLACK",
    "Bounds",
    "coverage",
    "no_farther_than",
    "same_policy",
    "within",
    "within_optimum",
]

Bounds: TypeAlias = tuple[Floats, Floats]

SLACK = 1e-9
"""How much farther than a given compaction a niche may be: what rounding could take."""


def coverage(niches: Niches) -> Bounds:
    """Ask for nothing but a rule in every niche."""
    shape = niches.is_hole.shape
    return np.full(shape, -np.inf), np.full(shape, np.inf)


def within(rules: RuleSet, niches: Niches, epsilon: float) -> Bounds:
    """Ask for values within ``epsilon`` of those of the full rule set."""
    check_task(rules, niches)
    margin = check_real("epsilon", epsilon, 0.0)
    values = niches.q_values(rules.fitness)
    return values - margin, values + margin


def within_optimum(niches: Niches, solution: Solution, epsilon: float) -> Bounds:
    """Ask for values within ``epsilon`` of Q*."""
    margin = check_real("epsilon", epsilon, 0.0)
    values = optimal_values(niches, solution)
    return values - margin, values + margin


def no_farther_than(
    rules: RuleSet, niches: Niches, kept: Bools, solution: Solution, slack: float = SLACK
) -> Bounds:
    """Ask for values no farther from Q* than a given compaction left them, niche by niche.

    Parameters
    ----------
    rules, niches
        The full rule set.
    kept
        The compaction: a mask of the rules that it keeps.
    solution
        The optimum.
    slack
        What every niche may be farther, since the distances are rounded numbers.
    """
    check_task(rules, niches)
    values = niches.values_of(rules.fitness, kept, np.arange(niches.n_niches))
    if np.isnan(values).any():
        msg = (
            f"the compaction leaves {niches.name_pair(int(np.argmax(np.isnan(values))))} without "
            "a rule, so that its distance from Q* is undefined; repair it first"
        )
        raise CompactionError(msg)
    optimum = optimal_values(niches, solution)
    distance = np.abs(values.reshape(optimum.shape) - optimum) + check_real("slack", slack, 0.0)
    return optimum - distance, optimum + distance


def same_policy(rules: RuleSet, niches: Niches) -> Bounds:
    """Ask that each state's greedy action stay the same.

    A sufficient condition, not a necessary one: the greedy action is kept above, the others below,
    the midpoint between the two greatest values of the full rule set.
    """
    check_task(rules, niches)
    values = niches.q_values(rules.fitness)
    n_states, n_actions = len(values), niches.n_actions
    lower = np.full(values.shape, -np.inf)
    upper = np.full(values.shape, np.inf)
    if n_actions == 1:
        return lower, upper
    states = np.arange(n_states)
    greedy = values.argmax(axis=1)
    top = np.partition(values, -2, axis=1)
    middle = top[:, -2] + (top[:, -1] - top[:, -2]) / 2.0
    lower[states, greedy] = middle
    is_other = np.arange(n_actions) != greedy[:, np.newaxis]
    upper[is_other] = np.broadcast_to(middle[:, np.newaxis], values.shape)[is_other]
    wins_ties = np.arange(n_actions) < greedy[:, np.newaxis]
    upper[wins_ties] = np.nextafter(upper[wins_ties], -np.inf)
    return lower, upper
