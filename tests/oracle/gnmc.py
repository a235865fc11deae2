"""Greedy Niche Mass Compaction: Algorithm 1 of the paper, line by line."""

from collections.abc import Sequence

from oracle.arithmetic import ordered_sum


def gnmc(masses: Sequence[float], niches: Sequence[Sequence[int]], rho: float) -> set[int]:
    """Give the rules to keep.

    ``masses`` has the mass of each rule, ``niches`` for each state-action pair the rules of its
    action set, ascending. Rules of equal mass stay in rule order.
    """
    to_keep: set[int] = set()
    for action_set in niches:
        descending = sorted(action_set, key=lambda rule: -masses[rule])
        total_mass = ordered_sum(masses[rule] for rule in descending)
        target_mass = (1.0 - rho) * total_mass
        current_mass = 0.0
        following = iter(descending)
        while current_mass < target_mass:
            rule = next(following)
            to_keep.add(rule)
            current_mass += masses[rule]
    return to_keep
