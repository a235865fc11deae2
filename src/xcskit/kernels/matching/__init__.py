"""Matching: which rules apply to a state, looked up, by bits, or by pages of them."""

from typing import TypeAlias

from xcskit.kernels.matching.bits import BitIndex, bit_index
from xcskit.kernels.matching.cells import CellIndex, cell_index, cell_index_bytes, n_cells
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.matching.pages import PageIndex, page_index, page_places
from xcskit.spaces import IntegerSpace

__all__ = [
    "CELLS",
    "INDEX_BYTES",
    "INDEX_ROWS",
    "PAGE_CAPACITY",
    "PAGE_PLACES",
    "BitIndex",
    "CellIndex",
    "Index",
    "PageIndex",
    "find_identical",
    "flip",
    "make_index",
    "match",
]

Index: TypeAlias = CellIndex | BitIndex | PageIndex

CELLS = 1024
"""Above this number of states, a general rule would lie in too many match sets."""

INDEX_ROWS = 4096
"""Above this number of values, over all dimensions, a rule would flip too many bits."""

INDEX_BYTES = 2**30
"""Above this size, an index would crowd out the population itself."""

PAGE_CAPACITY = 2**14
"""From this number of slots on, pages pay, if there is room in the space ..."""

PAGE_PLACES = 64
""".. for so many narrow conditions side by side."""


def make_index(space: IntegerSpace, n_actions: int, capacity: int) -> Index:
    """Make the index that suits a space and a number of slots; all give the same answers."""
    if n_cells(space) <= CELLS and cell_index_bytes(space, capacity) <= INDEX_BYTES:
        return cell_index(space, n_actions, capacity)
    n_rows = sum(space.sizes)
    is_large = capacity >= PAGE_CAPACITY and page_places(space) >= PAGE_PLACES
    if is_large or n_rows > INDEX_ROWS or n_rows * capacity // 8 > INDEX_BYTES:
        return page_index(space, capacity)
    return bit_index(space, capacity)
