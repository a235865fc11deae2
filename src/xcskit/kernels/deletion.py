"""Deletion: a wheel of votes turns until the population is within its size.

The order of every sum is fixed by ``docs/determinism.md``: lanes within blocks of slots, blocks
within superblocks, so that the compiler may use vector instructions and the bits stay the same.
"""

from xcskit.kernels.compiler import kernel
from xcskit.kernels.population import (
    BLOCK,
    MASS,
    PENALISED,
    PLAIN,
    WORTH,
    Population,
    Sets,
    remove_rule,
    weigh,
)
from xcskit.kernels.random import draw
from xcskit.kernels.settings import Settings
from xcskit.typing import Floats, Words

__all__ = ["delete_surplus"]

_SUPERBLOCK = 64


@kernel
def _mass_of_block(mass: Floats, begin: int) -> float:
    l0 = l1 = l2 = l3 = l4 = l5 = l6 = l7 = 0.0
    for i in range(begin, begin + BLOCK, 8):
        l0 += mass[i]
        l1 += mass[i + 1]
        l2 += mass[i + 2]
        l3 += mass[i + 3]
        l4 += mass[i + 4]
        l5 += mass[i + 5]
        l6 += mass[i + 6]
        l7 += mass[i + 7]
    return ((l0 + l1) + (l2 + l3)) + ((l4 + l5) + (l6 + l7))


@kernel
def _votes_of_block(
    votes: Floats, worth: Floats, begin: int, threshold: float, is_poor: bool
) -> float:
    """Sum the votes of the rules that are poor, or of those that are not."""
    l0 = l1 = l2 = l3 = l4 = l5 = l6 = l7 = 0.0
    for i in range(begin, begin + BLOCK, 8):
        l0 += votes[i] if (worth[i] < threshold) == is_poor else 0.0
        l1 += votes[i + 1] if (worth[i + 1] < threshold) == is_poor else 0.0
        l2 += votes[i + 2] if (worth[i + 2] < threshold) == is_poor else 0.0
        l3 += votes[i + 3] if (worth[i + 3] < threshold) == is_poor else 0.0
        l4 += votes[i + 4] if (worth[i + 4] < threshold) == is_poor else 0.0
        l5 += votes[i + 5] if (worth[i + 5] < threshold) == is_poor else 0.0
        l6 += votes[i + 6] if (worth[i + 6] < threshold) == is_poor else 0.0
        l7 += votes[i + 7] if (worth[i + 7] < threshold) == is_poor else 0.0
    return ((l0 + l1) + (l2 + l3)) + ((l4 + l5) + (l6 + l7))


@kernel
def _mean_fitness(population: Population) -> float:
    tally = population.tally[0]
    mass = population.ballot[MASS]
    total = 0.0
    partial = 0.0
    n_blocks = (tally.n_used + BLOCK - 1) // BLOCK
    for block in range(n_blocks):
        partial += _mass_of_block(mass, block * BLOCK)
        if (block + 1) % _SUPERBLOCK == 0 or block + 1 == n_blocks:
            total += partial
            partial = 0.0
    return total / tally.n_micros


@kernel
def _fill_wheel(population: Population, n_blocks: int, threshold: float) -> None:
    """Sum the votes of each block, apart for the rules that are poor and those that are not."""
    ballot, wheel = population.ballot, population.wheel
    plain, penalised, worth = ballot[PLAIN], ballot[PENALISED], ballot[WORTH]
    for block in range(n_blocks):
        begin = block * BLOCK
        wheel[PLAIN, block] = _votes_of_block(plain, worth, begin, threshold, is_poor=False)
        wheel[PENALISED, block] = _votes_of_block(penalised, worth, begin, threshold, is_poor=True)


@kernel
def _votes_of_superblock(wheel: Floats, superblock: int, n_blocks: int, mean: float) -> float:
    sum_plain = 0.0
    sum_penalised = 0.0
    first = superblock * _SUPERBLOCK
    for block in range(first, min(first + _SUPERBLOCK, n_blocks)):
        sum_plain += wheel[PLAIN, block]
        sum_penalised += wheel[PENALISED, block]
    return sum_plain + mean * sum_penalised


@kernel
def _turn_wheel(population: Population, settings: Settings, u: float) -> int:
    """Give the slot at which the wheel stops: superblock, then block, then slot."""
    ballot, wheel = population.ballot, population.wheel
    n_blocks = (population.tally[0].n_used + BLOCK - 1) // BLOCK
    n_superblocks = (n_blocks + _SUPERBLOCK - 1) // _SUPERBLOCK
    mean = _mean_fitness(population)
    threshold = settings.delta * mean
    _fill_wheel(population, n_blocks, threshold)
    total = 0.0
    for superblock in range(n_superblocks):
        total += _votes_of_superblock(wheel, superblock, n_blocks, mean)
    target = u * total

    chosen = -1
    start = 0.0
    before = 0.0
    for superblock in range(n_superblocks):
        votes = _votes_of_superblock(wheel, superblock, n_blocks, mean)
        if votes > 0.0:
            chosen = superblock
            start = before
        before += votes
        if before > target:
            break

    first = chosen * _SUPERBLOCK
    before = start
    for block in range(first, min(first + _SUPERBLOCK, n_blocks)):
        votes = wheel[PLAIN, block] + mean * wheel[PENALISED, block]
        if votes > 0.0:
            chosen = block
            start = before
        before += votes
        if before > target:
            break

    first = chosen * BLOCK
    before = start
    for slot in range(first, first + BLOCK):
        is_poor = ballot[WORTH, slot] < threshold
        votes = mean * ballot[PENALISED, slot] if is_poor else ballot[PLAIN, slot]
        if votes > 0.0:
            chosen = slot
        before += votes
        if before > target:
            break
    return chosen


@kernel
def delete_surplus(
    population: Population, settings: Settings, sets: Sets, discovery: Words
) -> None:
    """Delete microclassifiers, one at a time, until there are at most N."""
    tally = population.tally[0]
    while tally.n_micros > settings.population_size:
        slot = _turn_wheel(population, settings, draw(discovery))
        rule = population.rules[slot]
        rule.numerosity -= 1
        tally.n_micros -= 1
        tally.deleted += 1
        if rule.numerosity == 0:
            remove_rule(population, sets, slot)
            tally.removed += 1
        else:
            weigh(population, settings, slot)
