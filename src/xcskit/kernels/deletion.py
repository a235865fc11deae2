"""Deletion: a wheel of votes turns until the population is within its size.

The order of every sum is fixed by ``docs/determinism.md``: lanes within blocks of slots, blocks
within superblocks, so that the compiler may use vector instructions, sums of what has not changed
may be kept, and the bits stay the same.
"""

from xcskit.kernels.compiler import kernel
from xcskit.kernels.population import Population, Sets, remove_rule, weigh
from xcskit.kernels.random import draw
from xcskit.kernels.settings import Settings
from xcskit.kernels.wheel import (
    BLOCK,
    PENALISED,
    PLAIN,
    WORTH,
    total_mass,
    total_votes,
)
from xcskit.typing import Floats, Words

__all__ = ["delete_surplus"]


@kernel
def _stop_among(
    sums: Floats, begin: int, end: int, mean: float, target: float, before: float
) -> tuple[int, float]:
    """Find where the running sum passes the target; give the place, and the sum before it.

    Where rounding lets the entries end without a stop, it is the last with votes above 0.
    """
    chosen = -1
    start = before
    for i in range(begin, end):
        votes = sums[PLAIN, i] + mean * sums[PENALISED, i]
        if votes > 0.0:
            chosen = i
            start = before
        before += votes
        if before > target:
            break
    return chosen, start


@kernel
def _turn_wheel(population: Population, settings: Settings, u: float) -> int:
    """Give the slot at which the wheel stops: superblock, then block, then slot."""
    wheel, tally = population.wheel, population.tally[0]
    n_blocks = (tally.n_used + BLOCK - 1) // BLOCK
    n_superblocks = (n_blocks + BLOCK - 1) // BLOCK
    mean = total_mass(wheel, n_blocks) / tally.n_micros
    threshold = settings.delta * mean
    target = u * total_votes(wheel, n_blocks, mean, threshold)

    superblock, before = _stop_among(wheel.superblocks, 0, n_superblocks, mean, target, 0.0)
    first = superblock * BLOCK
    end = min(first + BLOCK, n_blocks)
    block, before = _stop_among(wheel.blocks, first, end, mean, target, before)

    ballot = wheel.ballot
    chosen = -1
    for slot in range(block * BLOCK, (block + 1) * BLOCK):
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
