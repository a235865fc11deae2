"""Deletion: a wheel of votes turns until the population is within its size.

The order of every sum is fixed by ``docs/determinism.md``: lanes within blocks of slots, blocks
within superblocks, so that the compiler may use vector instructions and the bits stay the same.
"""

from xcskit.kernels.compiler import kernel
from xcskit.kernels.lanes import sum_block, sum_block_apart
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
def _mean_fitness(population: Population) -> float:
    tally = population.tally[0]
    mass = population.ballot[MASS]
    total = 0.0
    partial = 0.0
    n_blocks = (tally.n_used + BLOCK - 1) // BLOCK
    for block in range(n_blocks):
        partial += sum_block(mass, block * BLOCK)
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
        votes = sum_block_apart(plain, penalised, worth, block * BLOCK, threshold)
        wheel[PLAIN, block] = votes[0]
        wheel[PENALISED, block] = votes[1]


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
