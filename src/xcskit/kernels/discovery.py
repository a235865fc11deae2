"""The discovery component: the genetic algorithm in an action set."""

import math

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import mutate, repair
from xcskit.kernels.matching import find_identical
from xcskit.kernels.population import Population, add_rule, take_slot, weigh
from xcskit.kernels.predictions.generics import blend, inherit
from xcskit.kernels.random import draw, draw_below
from xcskit.kernels.settings import Settings
from xcskit.kernels.slots import Slots
from xcskit.kernels.subsumption import subsumes
from xcskit.typing import Floats, Words

__all__ = ["run_ga_if_due"]

_TOURNAMENT, _MICRO_TOURNAMENT = 0, 1
_UNIFORM = 0


@kernel
def _is_due(population: Population, settings: Settings, members: Slots, size: int) -> bool:
    weighted = 0
    n_micros = 0
    for i in range(size):
        rule = population.rules[members[i]]
        weighted += rule.time_stamp * rule.numerosity
        n_micros += rule.numerosity
    return population.tally[0].time - weighted / n_micros > settings.theta_ga


@kernel
def _tournament(
    population: Population, settings: Settings, members: Slots, size: int, discovery: Words
) -> int:
    best = -1
    best_fitness = -1.0  # less than any
    for _ in range(math.ceil(settings.tau * size)):
        slot = int(members[draw_below(discovery, size)])
        fitness = population.rules[slot].fitness
        is_better = fitness > best_fitness
        best = slot if is_better else best
        best_fitness = fitness if is_better else best_fitness
    return best


@kernel
def _whole_power(base: float, exponent: int) -> float:
    power = 1.0
    while exponent > 0:
        if exponent & 1:
            power *= base
        base *= base
        exponent >>= 1
    return power


@kernel
def _micro_tournament(
    population: Population, settings: Settings, members: Slots, size: int, discovery: Words
) -> int:
    best = -1
    best_worth = 0.0
    while best < 0:
        for i in range(size):
            slot = int(members[i])
            rule = population.rules[slot]
            takes_part = draw(discovery) < 1.0 - _whole_power(1.0 - settings.tau, rule.numerosity)
            worth = rule.fitness / rule.numerosity
            if takes_part and (best < 0 or worth > best_worth):
                best = slot
                best_worth = worth
    return best


@kernel
def _roulette(population: Population, members: Slots, size: int, discovery: Words) -> int:
    total = 0.0
    for i in range(size):
        total += population.rules[members[i]].fitness
    target = draw(discovery) * total
    before = 0.0
    for i in range(size):
        before += population.rules[members[i]].fitness
        if before > target:
            return int(members[i])
    return int(members[size - 1])


@kernel
def _select(
    population: Population, settings: Settings, members: Slots, size: int, discovery: Words
) -> int:
    """Give the slot of a parent."""
    if settings.selection == _TOURNAMENT:
        return _tournament(population, settings, members, size, discovery)
    if settings.selection == _MICRO_TOURNAMENT:
        return _micro_tournament(population, settings, members, size, discovery)
    return _roulette(population, members, size, discovery)


@kernel
def _swap(alleles: Floats, one: int, two: int, allele: int) -> None:
    kept = alleles[one, allele]
    alleles[one, allele] = alleles[two, allele]
    alleles[two, allele] = kept


@kernel
def _cross(alleles: Floats, one: int, two: int, settings: Settings, discovery: Words) -> None:
    """Swap alleles between the two children."""
    n_alleles = alleles.shape[1]
    if settings.crossover == _UNIFORM:
        for allele in range(n_alleles):
            is_swapped = draw(discovery) < settings.upsilon
            left, right = alleles[one, allele], alleles[two, allele]
            alleles[one, allele] = right if is_swapped else left
            alleles[two, allele] = left if is_swapped else right
    else:
        cut = draw_below(discovery, n_alleles + 1)
        other = draw_below(discovery, n_alleles + 1)
        for allele in range(min(cut, other), max(cut, other)):
            _swap(alleles, one, two, allele)


@kernel
def _find_heir(
    population: Population, settings: Settings, cradle: int, parent_one: int, parent_two: int
) -> int:
    """Give the rule that takes a child in: a parent that subsumes it, or an identical one."""
    tally = population.tally[0]
    if settings.subsumes_in_ga:
        for parent in (parent_one, parent_two):
            if subsumes(population, settings, parent, cradle):
                tally.subsumed_by_parent += 1
                return parent
        tally.not_subsumed += 1
    heir = int(
        find_identical(
            population.matcher,
            population.condition,
            population.rules,
            tally.n_used,
            cradle,
            population.rules[parent_one].action,
        )
    )
    if heir >= 0:
        tally.merged_with_identical += 1
    return heir


@kernel
def _run_ga(
    population: Population, settings: Settings, members: Slots, size: int, discovery: Words
) -> None:
    rules, tally = population.rules, population.tally[0]
    alleles = population.condition.alleles
    for i in range(size):
        rules[members[i]].time_stamp = tally.time
    one = _select(population, settings, members, size, discovery)
    two = _select(population, settings, members, size, discovery)
    cradle = alleles.shape[0] - 2
    for k in range(alleles.shape[1]):
        alleles[cradle, k] = alleles[one, k]
        alleles[cradle + 1, k] = alleles[two, k]

    has_crossed = draw(discovery) < settings.chi
    mean_error = 0.25 * ((rules[one].prediction_error + rules[two].prediction_error) / 2.0)
    mean_fitness = 0.1 * ((rules[one].fitness + rules[two].fitness) / 2.0)
    mean_minimum = (rules[one].minimum_error + rules[two].minimum_error) / 2.0
    if has_crossed:
        _cross(alleles, cradle, cradle + 1, settings, discovery)
        repair(population.condition, cradle)
        repair(population.condition, cradle + 1)
    for child in range(2):
        mutate(population.condition, cradle + child, settings.mutation, discovery)
        repair(population.condition, cradle + child)

    for child in range(2):
        heir = _find_heir(population, settings, cradle + child, one, two)
        if heir >= 0:
            rules[heir].numerosity += 1
            tally.n_micros += 1
            weigh(population, settings, heir)
            continue
        parent = two if child else one
        slot = take_slot(population)
        rule = rules[slot]
        rule.fitness = mean_fitness if has_crossed else rules[parent].fitness
        rule.prediction_error = mean_error if has_crossed else rules[parent].prediction_error
        rule.minimum_error = mean_minimum if has_crossed else rules[parent].minimum_error
        rule.action_set_size = rules[parent].action_set_size
        rule.numerosity = 1
        rule.experience = 0
        rule.time_stamp = tally.time
        rule.action = rules[parent].action
        for k in range(alleles.shape[1]):
            alleles[slot, k] = alleles[cradle + child, k]
        inherit(population.prediction, parent, slot)
        if has_crossed:
            blend(population.prediction, slot, one, two)
        add_rule(population, settings, slot)
        tally.inserted_new += 1
    tally.ga_runs += 1


@kernel
def run_ga_if_due(
    population: Population, settings: Settings, members: Slots, size: int, discovery: Words
) -> None:
    """Make two children in a set whose rules have waited long enough."""
    if _is_due(population, settings, members, size):
        _run_ga(population, settings, members, size, discovery)
