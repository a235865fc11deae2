"""Words of 64 bits: where the lowest bit is, and how many there are."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["ONE", "ZERO", "count_bits", "lowest_bit"]

ONE = np.uint64(1)
ZERO = np.uint64(0)


@intrinsic
def lowest_bit(context: object, word: types.Type) -> object:  # noqa: ARG001 - Numba's interface
    """Give the place of the lowest bit of a word that is not zero."""

    def emit(
        _context: object, builder: ir.IRBuilder, _signature: object, words: list[ir.Value]
    ) -> ir.Value:
        return builder.cttz(words[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


@intrinsic
def count_bits(context: object, word: types.Type) -> object:  # noqa: ARG001 - Numba's interface
    """Count the bits of a word that are set."""

    def emit(
        _context: object, builder: ir.IRBuilder, _signature: object, words: list[ir.Value]
    ) -> ir.Value:
        return builder.ctpop(words[0])

    return types.int64(types.uint64), emit
