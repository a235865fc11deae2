"""Words of 64 bits, and where the lowest bit is."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["ONE", "ZERO", "lowest_bit"]

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
