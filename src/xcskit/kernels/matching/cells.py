"""Match sets kept for every cell of a small space: to match is to look up.

Rules come and go far more seldom than states are matched: in the paper's setting one rule comes
every 14 steps, and at the end its condition holds four cells. So match sets change less often than
they are asked for.
"""

from typing import NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import admits, is_identical, reach
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.slots import Slots, copy_slots, find_place, insert_slot, list_length, take_out
from xcskit.spaces import IntegerSpace
from xcskit.typing import Ints

__all__ = ["CellIndex", "cell_index", "cell_index_bytes", "n_cells"]

_LINE = 16
"""Slots in a cache line."""


class CellIndex(NamedTuple):
    """``slots``: (n_cells, row length), the match set of each cell, grouped by action.

    Action a's part of a cell's row is ``first[cell, a]:first[cell, a + 1]``. A state's cell is the
    sum of its values above ``lower``, each times its ``stride``. ``state`` is work space.
    """

    slots: Slots
    first: Ints
    lower: tuple[int, ...]
    stride: tuple[int, ...]
    state: Ints


def n_cells(space: IntegerSpace) -> float:
    """Count the states of a space."""
    return float(np.prod(space.sizes, dtype=np.float64))


def _row_length(capacity: int) -> int:
    """Give the length of a row: an odd number of cache lines, so that rows do not share a set."""
    return (-(-list_length(capacity) // _LINE) | 1) * _LINE


def cell_index_bytes(space: IntegerSpace, capacity: int) -> float:
    """Tell how large an index is, if every rule matches everywhere."""
    return n_cells(space) * _row_length(capacity) * np.dtype(np.uint32).itemsize


def cell_index(space: IntegerSpace, n_actions: int, capacity: int) -> CellIndex:
    """Allocate an index of a number of slots; memory is taken as match sets grow."""
    cells = int(np.prod(space.sizes))
    stride = np.append(np.cumprod(space.sizes[:0:-1])[::-1], 1).tolist()
    return CellIndex(
        slots=np.zeros((cells, _row_length(capacity)), dtype=np.uint32),
        first=np.zeros((cells, n_actions + 1), dtype=np.int64),
        lower=space.lower,
        stride=tuple(int(s) for s in stride),
        state=np.zeros(space.n_dimensions, dtype=np.int64),
    )


@match.register(CellIndex)
def _(
    index: CellIndex,
    condition: object,  # noqa: ARG001 - pages need it
    rules: object,  # noqa: ARG001 - the others need it
    n_used: int,  # noqa: ARG001 - the others need it
    state: Ints,
    matched: Slots,
    first: Ints,
) -> None:
    cell = 0
    for d in range(len(index.stride)):
        cell += (state[d] - index.lower[d]) * index.stride[d]
    for action in range(first.size):
        first[action] = index.first[cell, action]
    copy_slots(index.slots[cell], 0, first[first.size - 1], matched)


@kernel
def _toggle(row: Slots, first: Ints, slot: int, action: int) -> None:
    """Put a slot into its place in a match set, or take it out."""
    end, size = first[action + 1], first[first.size - 1]
    place = find_place(row, first[action], end, slot)
    is_there = place < end and row[place] == slot
    if is_there:
        take_out(row, place, size)
    else:
        insert_slot(row, place, size, slot)
    change = -1 if is_there else 1
    for other in range(first.size):
        first[other] += change if other > action else 0


@flip.register(CellIndex)
def _(index: CellIndex, condition: object, slot: int, action: int) -> None:
    state = index.state
    for d in range(len(index.stride)):
        state[d] = reach(condition, slot, d)[0]
    is_within = True
    while is_within:
        cell = 0
        is_match = True
        for d in range(len(index.stride)):
            is_match = is_match and admits(condition, slot, d, state[d])
            cell += (state[d] - index.lower[d]) * index.stride[d]
        if is_match:
            _toggle(index.slots[cell], index.first[cell], slot, action)
        carry = 1
        for d in range(len(index.stride)):
            least, greatest = reach(condition, slot, d)
            state[d] += carry
            carry = int(state[d] > greatest)
            if carry:
                state[d] = least
        is_within = carry == 0


@find_identical.register(CellIndex)
def _(
    index: CellIndex,
    condition: object,
    rules: object,  # noqa: ARG001 - the others need it
    n_used: int,  # noqa: ARG001 - the others need it
    rule: int,
    action: int,
) -> int:
    """Look in one cell that the condition holds."""
    cell = 0
    for d in range(len(index.stride)):
        cell += (reach(condition, rule, d)[0] - index.lower[d]) * index.stride[d]
    for i in range(index.first[cell, action], index.first[cell, action + 1]):
        slot = int(np.int64(index.slots[cell, i]))
        if is_identical(condition, slot, rule):
            return slot
    return -1
