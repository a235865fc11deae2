"""The reinforcement component: the update of an action set."""

import math

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.population import Population, Slots, weigh
from xcskit.kernels.predictions.generics import adjust, predict, write_terms
from xcskit.kernels.settings import LEAST, Settings
from xcskit.typing import Floats, Ints

__all__ = ["update_set"]


@kernel
def _moved(value: float, target: float, experience: int, rate: float) -> float:
    """Move towards a target: by the mean while young, by the rate later (MAM)."""
    if experience < 1.0 / rate:
        return value + (target - value) / experience
    return value + rate * (target - value)


@kernel
def _accuracy(settings: Settings, prediction_error: float) -> float:
    """Give kappa: 1 below epsilon_0, else falling with a power of the error."""
    if prediction_error < settings.epsilon_0:
        return 1.0
    quotient = settings.epsilon_0 / prediction_error
    if settings.whole_nu < 0:
        return max(settings.alpha * math.pow(quotient, settings.nu), LEAST)
    power = 1.0
    exponent = settings.whole_nu
    while exponent > 0:
        if exponent & 1:
            power *= quotient
        quotient *= quotient
        exponent >>= 1
    return max(settings.alpha * power, LEAST)


@kernel
def update_set(
    population: Population,
    settings: Settings,
    members: Slots,
    size: int,
    state: Ints,
    payoff: float,
    z: Floats,
    shares: Floats,
) -> None:
    """Update the rules of a set, formed at a state, with a payoff."""
    rules = population.rules
    prediction = population.prediction
    z_square = write_terms(prediction, state, z)
    least = np.inf
    n_micros = 0
    for i in range(size):
        rule = rules[members[i]]
        least = min(least, rule.prediction_error)
        n_micros += rule.numerosity
    total = 0.0
    for i in range(size):
        slot = members[i]
        rule = rules[slot]
        rule.experience += 1
        experience = rule.experience
        delta = payoff - predict(prediction, slot, z)
        adjust(prediction, slot, z, z_square, delta, experience, settings.beta)
        error = abs(delta)
        if settings.error == 0:
            rule.minimum_error = _moved(
                rule.minimum_error, least, experience, settings.beta_epsilon
            )
            error -= rule.minimum_error
            if error < 0.0:
                error = settings.epsilon_0
        rule.prediction_error = _moved(rule.prediction_error, error, experience, settings.beta)
        rule.action_set_size = _moved(
            rule.action_set_size, float(n_micros), experience, settings.beta
        )
        shares[i] = _accuracy(settings, rule.prediction_error) * rule.numerosity
        total += shares[i]
    for i in range(size):
        rule = rules[members[i]]
        fitness = rule.fitness + settings.beta * (shares[i] / total - rule.fitness)
        rule.fitness = max(fitness, LEAST)
        weigh(population, settings, int(np.int64(members[i])))
    population.tally[0].updates += 1
