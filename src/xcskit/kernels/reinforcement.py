"""The reinforcement component: the update of an action set, eight rules at a time."""

import math

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.lanes import (
    N_LANES,
    Lanes,
    as_bits,
    as_numbers,
    get_lane,
    load,
    load_columns,
    magnitude,
    put_lane,
    splat,
    store,
    store_columns,
    where,
)
from xcskit.kernels.population import Population
from xcskit.kernels.predictions.generics import adjust, predict, write_terms
from xcskit.kernels.settings import LEAST, Settings
from xcskit.kernels.slots import Slots
from xcskit.kernels.wheel import MASS, PENALISED, PLAIN, WORTH, mark_stale
from xcskit.typing import Floats, Ints

__all__ = ["PANEL_ROWS", "update_set"]

_DELTA, _SHARE, _FITNESS, _SET_SIZE, _NUMEROSITY, _EXPERIENCE = range(4, 10)
PANEL_ROWS = 10
"""What an update keeps of each member in between: first the ballot, in the wheel's order."""


@kernel
def _moved(value: Lanes, target: Lanes | float, experience: Lanes, rate: float) -> Lanes:
    """Move towards a target: by the mean while young, by the rate later (MAM)."""
    distance = target - value
    return value + where(experience < 1.0 / rate, distance / experience, distance * rate)


@kernel
def _power(base: Lanes, settings: Settings) -> Lanes:
    """Raise to nu: to a whole one by repeated squaring, low bit first."""
    power = splat(1.0)
    if settings.whole_nu < 0:
        for i in range(N_LANES):
            power = put_lane(power, i, math.pow(get_lane(base, i), settings.nu))
        return power
    exponent = settings.whole_nu
    while exponent > 0:
        if exponent & 1:
            power *= base
        base *= base
        exponent >>= 1
    return power


@kernel
def _accuracy(error: Lanes, settings: Settings) -> Lanes:
    """Give kappa: 1 below epsilon_0, else falling with a power of the error."""
    kappa = _power(settings.epsilon_0 / error, settings) * settings.alpha
    return where(error < settings.epsilon_0, 1.0, where(kappa < LEAST, LEAST, kappa))


@kernel
def _update_predictions(
    population: Population,
    settings: Settings,
    members: Slots,
    size: int,
    state: Ints,
    payoff: float,
    z: Floats,
    panel: Floats,
) -> tuple[float, int]:
    """Move the predictions of a set; give its least error before, and its size in micros."""
    rules = population.rules
    prediction = population.prediction
    z_square = write_terms(prediction, state, z)
    least = np.inf
    n_micros = 0
    for i in range(size):
        slot = members[i]
        rule = rules[slot]
        least = min(least, rule.prediction_error)
        n_micros += rule.numerosity
        delta = payoff - predict(prediction, slot, z)
        adjust(prediction, slot, z, z_square, delta, rule.experience + 1, settings.beta)
        panel[_DELTA, i] = delta
    return least, n_micros


@kernel
def _update_errors(
    population: Population,
    settings: Settings,
    members: Slots,
    begin: int,
    least: float,
    n_micros: float,
    panel: Floats,
) -> None:
    """Move error, minimum error and set size of eight rules, and find their shares."""
    fitness, error, minimum, set_size, counted, experience, time_stamp, action = load_columns(
        population.rules, members, begin
    )
    numerosity = as_numbers(counted)
    age = as_numbers(experience) + 1.0
    gap = magnitude(load(panel[_DELTA], begin))
    if settings.error == 0:
        minimum = _moved(minimum, least, age, settings.beta_epsilon)
        gap -= minimum
        gap = where(gap < 0.0, settings.epsilon_0, gap)
    error = _moved(error, gap, age, settings.beta)
    set_size = _moved(set_size, n_micros, age, settings.beta)
    store(panel[_SHARE], begin, _accuracy(error, settings) * numerosity)
    store(panel[_FITNESS], begin, fitness)
    store(panel[_SET_SIZE], begin, set_size)
    store(panel[_NUMEROSITY], begin, numerosity)
    store(panel[_EXPERIENCE], begin, age)
    columns = (fitness, error, minimum, set_size, counted, as_bits(age), time_stamp, action)
    store_columns(population.rules, members, begin, columns)


@kernel
def _update_fitness(settings: Settings, begin: int, total: float, panel: Floats) -> None:
    """Move the fitness of eight rules towards their shares, and find their ballots."""
    fitness = load(panel[_FITNESS], begin)
    fitness += (load(panel[_SHARE], begin) / total - fitness) * settings.beta
    fitness = where(fitness < LEAST, LEAST, fitness)
    numerosity = load(panel[_NUMEROSITY], begin)
    plain = load(panel[_SET_SIZE], begin) * numerosity
    worth = fitness / numerosity
    worth = where(worth < LEAST, LEAST, worth)
    can_be_poor = load(panel[_EXPERIENCE], begin) > float(settings.theta_del)
    store(panel[_FITNESS], begin, fitness)
    store(panel[PLAIN], begin, plain)
    store(panel[PENALISED], begin, plain / worth)
    store(panel[WORTH], begin, where(can_be_poor, worth, np.inf))
    store(panel[MASS], begin, fitness * numerosity if settings.deletion_mean == 0 else fitness)


@kernel
def update_set(
    population: Population,
    settings: Settings,
    members: Slots,
    size: int,
    state: Ints,
    payoff: float,
    z: Floats,
    panel: Floats,
) -> None:
    """Update the rules of a set, formed at a state, with a payoff."""
    rules, ballot = population.rules, population.wheel.ballot
    least, n_micros = _update_predictions(
        population, settings, members, size, state, payoff, z, panel
    )
    for i in range(size, size + N_LANES - 1):
        members[i] = population.freed.size  # the spare rule, so that the last eight are eight
    for begin in range(0, size, N_LANES):
        _update_errors(population, settings, members, begin, least, float(n_micros), panel)
    total = 0.0
    for i in range(size):
        total += panel[_SHARE, i]
    for begin in range(0, size, N_LANES):
        _update_fitness(settings, begin, total, panel)
    for i in range(size):
        slot = members[i]
        rules[slot].fitness = panel[_FITNESS, i]
        population.fitness[slot] = panel[_FITNESS, i]
        for row in range(4):
            ballot[row, slot] = panel[row, i]
        mark_stale(population.wheel, int(np.int64(slot)))
    population.tally[0].updates += 1
