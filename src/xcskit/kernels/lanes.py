"""Sums over a block of 64 values in eight lanes, written as vector instructions.

Numba leaves LLVM's pass that would find these vectors switched off, and a vector sum that the
compiler arranges by itself would not have a stated order. Here the order is the instructions':
lane l adds values l, l + 8, .., l + 56, and the lanes are added pairwise (docs/determinism.md).
"""

import math
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["N_LANES", "sum_block", "sum_block_apart"]

N_LANES = 8
_BLOCK = 64

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, N_LANES)
_INDEX = ir.IntType(32)


def _constant(value: float) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * N_LANES)


def _zeros() -> ir.Constant:
    return _constant(0.0)


def _data(context: Any, builder: ir.IRBuilder, kind: types.Type, array: ir.Value) -> ir.Value:  # noqa: ANN401 - Numba's target context
    """Give the address of an array's first element."""
    data: ir.Value = context.make_array(kind)(context, builder, value=array).data
    return data


def _load(builder: ir.IRBuilder, data: ir.Value, begin: ir.Value, offset: int) -> ir.Value:
    place = builder.add(begin, ir.Constant(begin.type, offset))
    address = builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())
    return builder.load(address, align=8)


def _splat(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    vector: ir.Value = ir.Constant(_VECTOR, ir.Undefined)
    for lane in range(N_LANES):
        vector = builder.insert_element(vector, value, ir.Constant(_INDEX, lane))
    return vector


def _add_lanes(builder: ir.IRBuilder, vector: ir.Value) -> ir.Value:
    sums = [builder.extract_element(vector, ir.Constant(_INDEX, i)) for i in range(N_LANES)]
    while len(sums) > 1:
        sums = [builder.fadd(a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def _pick(builder: ir.IRBuilder, better: str, one: ir.Value, other: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered(better, one, other), one, other)


def _pick_lane(builder: ir.IRBuilder, better: str, vector: ir.Value) -> ir.Value:
    best, *others = (
        builder.extract_element(vector, ir.Constant(_INDEX, i)) for i in range(N_LANES)
    )
    for other in others:
        best = _pick(builder, better, best, other)
    return best


@intrinsic
def sum_block(context: Any, values: Any, begin: Any) -> object:  # noqa: ANN401, ARG001 - Numba's interface
    """Sum 64 values of an array from ``begin``."""

    def emit(
        context: Any,  # noqa: ANN401 - Numba's target context
        builder: ir.IRBuilder,
        signature: Any,  # noqa: ANN401 - Numba's signature
        arguments: Sequence[ir.Value],
    ) -> ir.Value:
        data = _data(context, builder, signature.args[0], arguments[0])
        total: ir.Value = _zeros()
        for offset in range(0, _BLOCK, N_LANES):
            total = builder.fadd(total, _load(builder, data, arguments[1], offset))
        return _add_lanes(builder, total)

    return types.float64(values, types.int64), emit


@intrinsic
def sum_block_apart(
    context: Any,  # noqa: ANN401, ARG001 - Numba's interface
    above: Any,  # noqa: ANN401 - Numba's interface
    below: Any,  # noqa: ANN401 - Numba's interface
    keys: Any,  # noqa: ANN401 - Numba's interface
    begin: Any,  # noqa: ANN401, ARG001 - Numba's interface
    threshold: Any,  # noqa: ANN401, ARG001 - Numba's interface
) -> object:
    """Sum 64 values apart: ``above`` where the key reaches the threshold, else ``below``.

    Gives both sums, the greatest key below the threshold and the least above.
    """

    def emit(
        context: Any,  # noqa: ANN401 - Numba's target context
        builder: ir.IRBuilder,
        signature: Any,  # noqa: ANN401 - Numba's signature
        arguments: Sequence[ir.Value],
    ) -> ir.Value:
        arrays = [_data(context, builder, signature.args[i], arguments[i]) for i in range(3)]
        begin, threshold = arguments[3], _splat(builder, arguments[4])
        sum_above: ir.Value = _zeros()
        sum_below: ir.Value = _zeros()
        floor: ir.Value = _constant(-math.inf)
        ceiling: ir.Value = _constant(math.inf)
        for offset in range(0, _BLOCK, N_LANES):
            high, low, key = (_load(builder, data, begin, offset) for data in arrays)
            is_below = builder.fcmp_ordered("<", key, threshold)
            sum_above = builder.fadd(sum_above, builder.select(is_below, _zeros(), high))
            sum_below = builder.fadd(sum_below, builder.select(is_below, low, _zeros()))
            floor = _pick(builder, ">", floor, builder.select(is_below, key, floor))
            ceiling = _pick(builder, "<", ceiling, builder.select(is_below, ceiling, key))
        sums = [
            _add_lanes(builder, sum_above),
            _add_lanes(builder, sum_below),
            _pick_lane(builder, ">", floor),
            _pick_lane(builder, "<", ceiling),
        ]
        packed: ir.Value = context.make_tuple(builder, signature.return_type, sums)
        return packed

    four = types.UniTuple(types.float64, 4)
    return four(above, below, keys, types.int64, types.float64), emit
