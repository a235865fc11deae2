"""Making the arrays of a training system."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from xcskit.kernels.components import ConditionScheme, PredictionScheme
from xcskit.kernels.lanes import N_LANES
from xcskit.kernels.matching import make_index
from xcskit.kernels.population import RULE, TALLY, Population, Rules, Sets, Tallies
from xcskit.kernels.reinforcement import PANEL_ROWS
from xcskit.kernels.slots import list_length
from xcskit.kernels.step import EPISODE, UNDECIDED, Episodes, System
from xcskit.kernels.wheel import BLOCK, new_wheel
from xcskit.spaces import IntegerSpace
from xcskit.typing import Words

__all__ = ["new_system", "population_capacity"]

_MOST_CHILDREN = 4
"""The GA may run in two sets between two deletions."""


def population_capacity(population_size: int, n_actions: int, n_environments: int) -> int:
    """Give the number of slots: N, and what can come to it before deletion; a multiple of 64."""
    most = population_size + (n_environments + 1) * n_actions + _MOST_CHILDREN
    return -(-most // BLOCK) * BLOCK


def _in_cache_lines(n_rules: int) -> NDArray[np.void]:
    """Allocate rules, each in a cache line of its own: they are read and written whole."""
    room = np.zeros((n_rules + 1) * RULE.itemsize, dtype=np.uint8)
    start = -room.ctypes.data % RULE.itemsize
    return room[start : start + n_rules * RULE.itemsize].view(RULE)


def new_system(
    population_size: int,
    space: IntegerSpace,
    n_actions: int,
    condition: ConditionScheme,
    prediction: PredictionScheme,
    streams: Words,
    n_environments: int = 1,
) -> System:
    """Allocate a system with an empty population.

    Pages of large arrays are taken from the operating system only when they are first used, so
    that a large N costs memory only as far as the population grows.
    """
    capacity = population_capacity(population_size, n_actions, n_environments)
    population = Population(
        rules=cast("Rules", _in_cache_lines(capacity + 1)),
        fitness=np.zeros(capacity),
        condition=condition.storage(capacity + 2, space),
        prediction=prediction.storage(capacity, space),
        matcher=make_index(space, n_actions, capacity),
        wheel=new_wheel(capacity),
        freed=np.zeros(capacity, dtype=np.int64),
        tally=cast("Tallies", np.zeros(1, TALLY)),
    )
    sets = Sets(
        matched=np.zeros(list_length(capacity), dtype=np.uint32),
        first=np.zeros(n_actions + 1, dtype=np.int64),
        values=np.zeros(n_actions),
        members=np.zeros((n_environments, 2, list_length(capacity)), dtype=np.uint32),
        sizes=np.zeros((n_environments, 2), dtype=np.int64),
        observations=np.zeros((n_environments, 2, space.n_dimensions), dtype=np.int64),
        z=np.zeros(prediction.n_terms(space)),
        panel=np.zeros((PANEL_ROWS, capacity + N_LANES)),
    )
    episodes = np.zeros(n_environments, EPISODE)
    episodes["state"] = -1
    episodes["decision"] = UNDECIDED
    return System(population, sets, cast("Episodes", episodes), streams)
