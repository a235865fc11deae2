"""Sums over blocks of slots, kept until a rule in the block changes: what deletion turns on.

A block's sums are a function of its rules alone, so that keeping them changes no bit. They hold as
long as no rule of the block was weighed anew, and as long as the threshold divides the block's
rules as it did: it lies above the worth of every rule that was poor, and no other is below it.
"""

from typing import NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.lanes import (
    N_LANES,
    greatest_lane,
    least_lane,
    load,
    splat,
    sum_lanes,
    where,
)
from xcskit.kernels.matching.words import ONE, ZERO, lowest_bit
from xcskit.typing import Floats, Words

__all__ = [
    "BLOCK",
    "MASS",
    "PENALISED",
    "PLAIN",
    "WORTH",
    "Wheel",
    "mark_stale",
    "new_wheel",
    "total_mass",
    "total_votes",
]

BLOCK = 64
"""Slots in a block, blocks in a superblock, and bits in a word of the index."""

PLAIN, PENALISED, WORTH, MASS, CEILING = 0, 1, 2, 3, 4


class Wheel(NamedTuple):
    """What deletion reads of each slot, and the sums over blocks and superblocks.

    ``ballot``: (4, capacity): plain vote, vote of a poor rule, worth, mass. ``blocks`` and
    ``superblocks``: (5, n), with room up to a multiple of eight: sums of plain votes (of rules that
    are not poor), of penalised votes (of those that are), the greatest worth of a poor rule, the
    sum of masses, the least worth of another. ``stale``: a word for each superblock, a bit for each
    of its blocks, set when one of the block's rules was weighed anew.
    """

    ballot: Floats
    blocks: Floats
    superblocks: Floats
    stale: Words


def _no_sums(n: int) -> Floats:
    sums = np.zeros((5, -(-n // N_LANES) * N_LANES))
    sums[WORTH] = -np.inf
    sums[CEILING] = np.inf
    return sums


def new_wheel(capacity: int) -> Wheel:
    """Allocate the wheel of a number of slots, a multiple of 64, all empty."""
    ballot = np.zeros((4, capacity))
    ballot[WORTH] = np.inf
    n_blocks = capacity // BLOCK
    n_superblocks = -(-n_blocks // BLOCK)
    return Wheel(
        ballot=ballot,
        blocks=_no_sums(n_blocks),
        superblocks=_no_sums(n_superblocks),
        stale=np.zeros(n_superblocks, dtype=np.uint64),
    )


@kernel
def mark_stale(wheel: Wheel, slot: int) -> None:
    """Note that a slot's ballot has changed."""
    wheel.stale[slot >> 12] |= ONE << np.uint64((slot >> 6) & 63)


@kernel
def _lane_sum(values: Floats, begin: int, end: int) -> float:
    """Sum ``values[begin:end]`` lane by lane; up to a multiple of eight, 0.0 must follow."""
    total = splat(0.0)
    for place in range(begin, end, N_LANES):
        total += load(values, place)
    return float(sum_lanes(total))


@kernel
def _sum_block_apart(
    ballot: Floats, begin: int, threshold: float
) -> tuple[float, float, float, float]:
    """Sum the votes of a block apart: plain ones, and of the rules below the threshold."""
    plain = splat(0.0)
    penalised = splat(0.0)
    floor = splat(-np.inf)
    ceiling = splat(np.inf)
    for place in range(begin, begin + BLOCK, N_LANES):
        worth = load(ballot[WORTH], place)
        is_poor = worth < threshold
        plain += where(is_poor, 0.0, load(ballot[PLAIN], place))
        penalised += where(is_poor, load(ballot[PENALISED], place), 0.0)
        poor, other = where(is_poor, worth, -np.inf), where(is_poor, np.inf, worth)
        floor = where(floor > poor, floor, poor)
        ceiling = where(ceiling < other, ceiling, other)
    return sum_lanes(plain), sum_lanes(penalised), greatest_lane(floor), least_lane(ceiling)


@kernel
def total_mass(wheel: Wheel, n_blocks: int) -> float:
    """Sum the masses of all rules."""
    ballot, blocks, superblocks = wheel.ballot, wheel.blocks, wheel.superblocks
    n_superblocks = (n_blocks + BLOCK - 1) // BLOCK
    for superblock in range(n_superblocks):
        stale = wheel.stale[superblock]
        if stale != ZERO:
            first = superblock * BLOCK
            while stale != ZERO:
                block = first + lowest_bit(stale)
                begin = block * BLOCK
                blocks[MASS, block] = _lane_sum(ballot[MASS], begin, begin + BLOCK)
                stale &= stale - ONE
            end = min(first + BLOCK, n_blocks)
            superblocks[MASS, superblock] = _lane_sum(blocks[MASS], first, end)
    return _lane_sum(superblocks[MASS], 0, n_superblocks)


@kernel
def _is_divided_anew(sums: Floats, i: int, threshold: float) -> bool:
    return bool(sums[WORTH, i] >= threshold or sums[CEILING, i] < threshold)


@kernel
def _sum_votes(wheel: Wheel, superblock: int, n_blocks: int, threshold: float) -> None:
    """Bring the votes of a superblock up to date, and of those of its blocks that need it."""
    blocks, superblocks = wheel.blocks, wheel.superblocks
    first = superblock * BLOCK
    end = min(first + BLOCK, n_blocks)
    stale = wheel.stale[superblock]
    wheel.stale[superblock] = ZERO
    if _is_divided_anew(superblocks, superblock, threshold):
        for block in range(first, end):
            if _is_divided_anew(blocks, block, threshold):
                stale |= ONE << np.uint64(block - first)
    while stale != ZERO:
        block = first + lowest_bit(stale)
        sums = _sum_block_apart(wheel.ballot, block * BLOCK, threshold)
        blocks[PLAIN, block] = sums[0]
        blocks[PENALISED, block] = sums[1]
        blocks[WORTH, block] = sums[2]
        blocks[CEILING, block] = sums[3]
        stale &= stale - ONE
    floor = splat(-np.inf)
    ceiling = splat(np.inf)
    for block in range(first, end, N_LANES):
        worth, other = load(blocks[WORTH], block), load(blocks[CEILING], block)
        floor = where(floor > worth, floor, worth)
        ceiling = where(ceiling < other, ceiling, other)
    superblocks[PLAIN, superblock] = _lane_sum(blocks[PLAIN], first, end)
    superblocks[PENALISED, superblock] = _lane_sum(blocks[PENALISED], first, end)
    superblocks[WORTH, superblock] = greatest_lane(floor)
    superblocks[CEILING, superblock] = least_lane(ceiling)


@kernel
def total_votes(wheel: Wheel, n_blocks: int, mean: float, threshold: float) -> float:
    """Sum the votes of all rules; call ``total_mass`` before, which shares the marks."""
    superblocks = wheel.superblocks
    n_superblocks = (n_blocks + BLOCK - 1) // BLOCK
    for superblock in range(n_superblocks):
        if wheel.stale[superblock] != ZERO or _is_divided_anew(superblocks, superblock, threshold):
            _sum_votes(wheel, superblock, n_blocks, threshold)
    total = splat(0.0)
    for superblock in range(0, n_superblocks, N_LANES):
        penalised = load(superblocks[PENALISED], superblock)
        total += load(superblocks[PLAIN], superblock) + penalised * mean
    return float(sum_lanes(total))
