"""Subsumption: an accurate, more general rule stands for a more special one."""

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import contains, n_covered
from xcskit.kernels.population import Population, Sets, remove_rule, weigh
from xcskit.kernels.settings import Settings

__all__ = ["absorb_in_set", "subsumes"]


@kernel
def _could_subsume(population: Population, settings: Settings, slot: int) -> bool:
    rule = population.rules[slot]
    return rule.experience > settings.theta_sub and rule.prediction_error < settings.epsilon_0


@kernel
def _is_more_general(population: Population, general: int, specific: int) -> bool:
    condition = population.condition
    return bool(
        n_covered(condition, general) > n_covered(condition, specific)
        and contains(condition, general, specific)
    )


@kernel
def subsumes(population: Population, settings: Settings, slot: int, specific: int) -> bool:
    """Tell whether a rule subsumes a condition that has the same action."""
    return _could_subsume(population, settings, slot) and _is_more_general(
        population, slot, specific
    )


@kernel
def absorb_in_set(
    population: Population, settings: Settings, sets: Sets, environment: int, which: int
) -> None:
    """Let the most general subsumer of a set take over the rules that it contains."""
    members = sets.members[environment, which]
    subsumer = int(np.int64(-1))
    for i in range(sets.sizes[environment, which]):
        slot = int(np.int64(members[i]))
        if _could_subsume(population, settings, slot) and (
            subsumer < 0
            or n_covered(population.condition, slot) > n_covered(population.condition, subsumer)
        ):
            subsumer = slot
    if subsumer < 0:
        return
    i = 0
    while i < sets.sizes[environment, which]:
        slot = int(np.int64(members[i]))
        if _is_more_general(population, subsumer, slot):
            population.rules[subsumer].numerosity += population.rules[slot].numerosity
            remove_rule(population, sets, slot)
            population.tally[0].absorbed += 1
        else:
            i += 1
    weigh(population, settings, subsumer)
