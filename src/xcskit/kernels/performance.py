"""The performance component: the prediction array, and which action to take."""

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.population import Population, Sets
from xcskit.kernels.predictions.generics import predict, write_terms
from xcskit.kernels.random import draw_below
from xcskit.typing import Floats, Ints, Words

__all__ = ["choose_best", "choose_present", "fill_prediction_array"]


@kernel
def fill_prediction_array(population: Population, sets: Sets, state: Ints) -> float:
    """Write PA(a) of the actions in [M], NaN for the others, and give the greatest.

    Notes
    -----
    Equation 1 of the paper; it is NaN where the predictions have diverged.
    """
    write_terms(population.prediction, state, sets.z)
    best = -np.inf
    for action in range(sets.values.size):
        begin, end = sets.first[action], sets.first[action + 1]
        numerator = 0.0
        denominator = 0.0
        for i in range(begin, end):
            slot = sets.matched[i]
            fitness = float(population.fitness[slot])
            numerator += fitness * predict(population.prediction, slot, sets.z)
            denominator += fitness
        value = numerator / denominator if end > begin else np.nan
        sets.values[action] = value
        if end > begin and not np.isfinite(value):
            best = np.nan
        elif value > best:
            best = value
    return best


@kernel
def choose_present(first: Ints, exploration: Words) -> int:
    """Draw one of the actions that are in [M]."""
    n_present = 0
    for action in range(first.size - 1):
        n_present += int(first[action + 1] > first[action])
    rank = draw_below(exploration, n_present)
    for action in range(first.size - 1):
        if first[action + 1] > first[action]:
            if rank == 0:
                return action
            rank -= 1
    return -1


@kernel
def choose_best(values: Floats, best: float, exploration: Words) -> int:
    """Give the action of the greatest PA; exact ties are broken by a draw."""
    n_best = 0
    chosen = -1
    for action in range(values.size):
        if values[action] == best:
            n_best += 1
            if chosen < 0:
                chosen = action
    if n_best > 1:
        rank = draw_below(exploration, n_best)
        for action in range(values.size):
            if values[action] == best:
                if rank == 0:
                    return action
                rank -= 1
    return chosen
