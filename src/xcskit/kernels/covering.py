"""Matching with covering: every action that must be present gets a rule."""

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import cover
from xcskit.kernels.matching import match
from xcskit.kernels.population import Population, Sets, add_rule, take_slot
from xcskit.kernels.predictions.generics import initialise
from xcskit.kernels.random import draw_below
from xcskit.kernels.settings import Settings
from xcskit.typing import Ints, Words

__all__ = ["form_match_set", "match_state"]


@kernel
def match_state(population: Population, sets: Sets, state: Ints) -> int:
    """Form [M] of a state, and count the actions in it."""
    match(
        population.matcher,
        population.condition,
        population.rules,
        population.tally[0].n_used,
        state,
        sets.matched,
        sets.first,
    )
    n_present = 0
    for action in range(sets.values.size):
        n_present += int(sets.first[action + 1] > sets.first[action])
    return n_present


@kernel
def _missing_action(first: Ints, rank: int) -> int:
    """Give the missing action of a rank, in ascending order."""
    n_before = 0
    for action in range(first.size - 1):
        if first[action + 1] == first[action]:
            if n_before == rank:
                return action
            n_before += 1
    return -1


@kernel
def form_match_set(
    population: Population, settings: Settings, sets: Sets, state: Ints, discovery: Words
) -> None:
    """Form [M]; while it has too few actions, cover one that is missing."""
    n_actions = sets.values.size
    n_present = match_state(population, sets, state)
    while n_present < settings.minimum_actions:
        action = _missing_action(sets.first, draw_below(discovery, n_actions - n_present))
        slot = take_slot(population)
        rule = population.rules[slot]
        rule.fitness = settings.initial_fitness
        rule.prediction_error = settings.initial_error
        rule.minimum_error = settings.initial_error
        rule.action_set_size = 1.0
        rule.numerosity = 1
        rule.experience = 0
        rule.time_stamp = population.tally[0].time
        rule.action = action
        cover(population.condition, slot, state, discovery)
        initialise(population.prediction, slot)
        add_rule(population, settings, slot)
        population.tally[0].covered += 1
        n_present = match_state(population, sets, state)
