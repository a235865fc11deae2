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
from xcskit.typing import Bools, Floats

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
    ``superblocks``: (5, n): sums of plain votes (of rules that are not poor), of penalised votes
    (of those that are), the greatest worth of a poor rule, the sum of masses, the least worth of
    another.
    """

    ballot: Floats
    blocks: Floats
    superblocks: Floats
    is_stale: Bools
    is_superblock_stale: Bools


def _no_sums(n: int) -> Floats:
    sums = np.zeros((5, n))
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
        is_stale=np.zeros(n_blocks, dtype=np.bool_),
        is_superblock_stale=np.zeros(n_superblocks, dtype=np.bool_),
    )


@kernel
def mark_stale(wheel: Wheel, slot: int) -> None:
    """Note that a slot's ballot has changed."""
    wheel.is_stale[slot >> 6] = True
    wheel.is_superblock_stale[slot >> 12] = True


@kernel
def _sum_block(values: Floats, begin: int) -> float:
    """Sum the 64 values from ``begin``, lane by lane."""
    total = splat(0.0)
    for offset in range(0, BLOCK, N_LANES):
        total += load(values, begin + offset)
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
    blocks, superblocks = wheel.blocks, wheel.superblocks
    total = 0.0
    for superblock in range((n_blocks + BLOCK - 1) // BLOCK):
        if wheel.is_superblock_stale[superblock]:
            first = superblock * BLOCK
            mass = 0.0
            for block in range(first, min(first + BLOCK, n_blocks)):
                if wheel.is_stale[block]:
                    blocks[MASS, block] = _sum_block(wheel.ballot[MASS], block * BLOCK)
                mass += blocks[MASS, block]
            superblocks[MASS, superblock] = mass
        total += superblocks[MASS, superblock]
    return total


@kernel
def _is_divided_anew(sums: Floats, i: int, threshold: float) -> bool:
    return bool(sums[WORTH, i] >= threshold or sums[CEILING, i] < threshold)


@kernel
def _sum_votes(wheel: Wheel, superblock: int, n_blocks: int, threshold: float) -> None:
    """Bring the votes of a superblock up to date, and of those of its blocks that need it."""
    ballot, blocks, superblocks = wheel.ballot, wheel.blocks, wheel.superblocks
    plain = 0.0
    penalised = 0.0
    floor = -np.inf
    ceiling = np.inf
    first = superblock * BLOCK
    for block in range(first, min(first + BLOCK, n_blocks)):
        if wheel.is_stale[block] or _is_divided_anew(blocks, block, threshold):
            sums = _sum_block_apart(ballot, block * BLOCK, threshold)
            blocks[PLAIN, block] = sums[0]
            blocks[PENALISED, block] = sums[1]
            blocks[WORTH, block] = sums[2]
            blocks[CEILING, block] = sums[3]
            wheel.is_stale[block] = False
        plain += blocks[PLAIN, block]
        penalised += blocks[PENALISED, block]
        floor = max(floor, blocks[WORTH, block])
        ceiling = min(ceiling, blocks[CEILING, block])
    superblocks[PLAIN, superblock] = plain
    superblocks[PENALISED, superblock] = penalised
    superblocks[WORTH, superblock] = floor
    superblocks[CEILING, superblock] = ceiling
    wheel.is_superblock_stale[superblock] = False


@kernel
def total_votes(wheel: Wheel, n_blocks: int, mean: float, threshold: float) -> float:
    """Sum the votes of all rules; call ``total_mass`` before, which shares the marks."""
    superblocks = wheel.superblocks
    total = 0.0
    for superblock in range((n_blocks + BLOCK - 1) // BLOCK):
        if wheel.is_superblock_stale[superblock] or _is_divided_anew(
            superblocks, superblock, threshold
        ):
            _sum_votes(wheel, superblock, n_blocks, threshold)
        total += superblocks[PLAIN, superblock] + mean * superblocks[PENALISED, superblock]
    return total
