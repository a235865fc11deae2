"""Lists of slots: which rules, in rule order."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from xcskit.kernels.compiler import kernel
from xcskit.kernels.lanes import count_below, load, store

__all__ = ["SPARE", "Slots", "copy_slots", "find_place", "insert_slot", "list_length", "take_out"]

Slots: TypeAlias = NDArray[np.uint32]

SPARE = 16
"""How many slots are read and written at a time, as many as fit into eight lanes. A list has room
for so many beyond its end."""


def list_length(capacity: int) -> int:
    """Give the length of an array that lists so many slots, with room to spare."""
    return capacity + SPARE


@kernel
def copy_slots(source: Slots, begin: int, size: int, target: Slots) -> None:
    """Copy ``source[begin:begin + size]`` to the beginning of another list."""
    for i in range(0, size, SPARE):
        store(target, i, load(source, begin + i))


@kernel
def find_place(slots: Slots, begin: int, end: int, slot: int) -> int:
    """Give the place in an ascending part of a list at which a slot is, or would be."""
    n_below = 0
    for i in range(begin, end, SPARE):
        n_below += count_below(slots, i, min(end - i, SPARE), slot)
    return begin + n_below


@kernel
def insert_slot(slots: Slots, place: int, size: int, slot: int) -> None:
    """Put a slot into a list of a size; what follows moves up."""
    for n_after in range((size - place) // SPARE * SPARE, -1, -SPARE):
        store(slots, place + n_after + 1, load(slots, place + n_after))
    slots[place] = slot


@kernel
def take_out(slots: Slots, place: int, size: int) -> None:
    """Take what is at a place out of a list of a size; what follows moves down."""
    for i in range(place, size - 1, SPARE):
        store(slots, i, load(slots, i + 1))
