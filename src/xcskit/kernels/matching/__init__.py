"""Matching: which rules apply to a state, by an index of bits or by a scan."""

from xcskit.kernels.matching.bits import BitIndex, bit_index, bit_index_rows
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.matching.scan import ScanIndex, scan_index
from xcskit.spaces import IntegerSpace

__all__ = [
    "INDEX_BYTES",
    "INDEX_ROWS",
    "BitIndex",
    "ScanIndex",
    "find_identical",
    "flip",
    "make_index",
    "match",
]

INDEX_ROWS = 4096
"""Above this number of values, over all dimensions, a rule would flip too many bits."""

INDEX_BYTES = 2**30
"""Above this size, bits would crowd out the population itself."""


def make_index(space: IntegerSpace, n_actions: int, capacity: int) -> BitIndex | ScanIndex:
    """Make the index of bits where the space allows it, else a scan."""
    n_rows = bit_index_rows(space, n_actions)
    if n_rows <= INDEX_ROWS and n_rows * capacity // 8 <= INDEX_BYTES:
        return bit_index(space, n_actions, capacity)
    return scan_index(n_actions, capacity)
