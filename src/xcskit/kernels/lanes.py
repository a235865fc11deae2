"""Eight numbers at a time: ``Lanes``, which kernels compute with as with a number.

An operation does the same to each of eight doubles, in vector instructions where the machine has
them; a number beside lanes stands for eight of it. Numba leaves LLVM's pass that would find such
vectors switched off, and a vector sum that the compiler arranges by itself would not have a stated
order. Here every lane is rounded as a number alone would be.
"""

import operator
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

__all__ = [
    "N_LANES",
    "Columns",
    "Lanes",
    "Mask",
    "as_bits",
    "as_numbers",
    "count_below",
    "get_lane",
    "greatest_lane",
    "least_lane",
    "load",
    "load_columns",
    "magnitude",
    "put_lane",
    "splat",
    "store",
    "store_columns",
    "sum_lanes",
    "where",
]

N_LANES = 8


class Mask(Protocol):
    """Eight truth values."""


class Lanes(Protocol):
    """Eight doubles. The operators work lane by lane."""

    def __add__(self, other: "Lanes | float") -> "Lanes": ...
    def __sub__(self, other: "Lanes | float") -> "Lanes": ...
    def __rsub__(self, other: float) -> "Lanes": ...
    def __mul__(self, other: "Lanes | float") -> "Lanes": ...
    def __rmul__(self, other: float) -> "Lanes": ...
    def __truediv__(self, other: "Lanes | float") -> "Lanes": ...
    def __rtruediv__(self, other: float) -> "Lanes": ...
    def __lt__(self, other: "Lanes | float") -> Mask: ...
    def __gt__(self, other: "Lanes | float") -> Mask: ...


Columns: TypeAlias = tuple[Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes]
"""Eight rows of eight numbers, turned over: column k holds the k-th number of each row."""


# ---- Two types for Numba, and how a number becomes eight ----

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, N_LANES)
_WORDS = ir.VectorType(ir.IntType(64), N_LANES)
_BITS = ir.VectorType(ir.IntType(1), N_LANES)
_INDICES = ir.VectorType(ir.IntType(32), N_LANES)
_SLOT = ir.IntType(32)
_SLOTS = ir.VectorType(_SLOT, 2 * N_LANES)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


class _MaskType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Mask")


_LANES, _MASK = _LanesType(), _MaskType()
_COLUMNS = types.UniTuple(_LANES, N_LANES)
_NUMBER, _PLACE = types.float64, types.int64

T = TypeVar("T")


class _Result(NamedTuple, Generic[T]):
    """What an instruction gives: to Numba of this type, to a type checker ``T``."""

    type: types.Type


_TO_LANES: _Result[Lanes] = _Result(_LANES)
_TO_COLUMNS: _Result[Columns] = _Result(_COLUMNS)
_TO_NUMBER: _Result[float] = _Result(_NUMBER)
_TO_PLACE: _Result[int] = _Result(_PLACE)
_TO_NOTHING: _Result[None] = _Result(types.none)


def _represent(kind: type[types.Type], vector: ir.VectorType) -> None:
    class Model(models.PrimitiveModel):
        def __init__(self, manager: object, fe_type: object) -> None:
            super().__init__(manager, fe_type, vector)

    register_model(kind)(Model)


_represent(_LanesType, _VECTOR)
_represent(_MaskType, _BITS)


@lower_cast(_NUMBER, _LANES)
def _(_context: object, builder: ir.IRBuilder, _from: object, _to: object, x: ir.Value) -> ir.Value:
    return _all(builder, x)


def _all(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType = _VECTOR) -> ir.Value:
    vector: ir.Value = ir.Constant(kind, ir.Undefined)
    for place in range(kind.count):
        vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), place))
    return vector


# ---- What kernels can call, each by the instructions that it stands for ----

_Emit: TypeAlias = Callable[..., "ir.Value | list[ir.Value] | None"]
_Wanted: TypeAlias = "types.Type | type[types.Type]"


def _taken(given: types.Type, wanted: _Wanted) -> types.Type | None:
    """Give the type as which an operand is taken: a number serves where lanes are wanted."""
    if isinstance(wanted, type):
        return given if isinstance(given, wanted) else None
    return wanted if given == wanted or (wanted == _LANES and given == _NUMBER) else None


def _operand(context: Any, builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> object:  # noqa: ANN401 - Numba's target context
    """Give an array's address, a tuple's values, or the value itself."""
    if isinstance(kind, types.Array):
        address: ir.Value = context.make_array(kind)(context, builder, value=value).data
        return address
    if isinstance(kind, types.UniTuple):
        return [builder.extract_value(value, k) for k in range(N_LANES)]
    return value


def _provide(
    function: Callable[..., Any], emit: _Emit, result: types.Type, *wanted: _Wanted
) -> None:
    """Let kernels call a function with such operands, by the instructions that ``emit`` writes."""

    class Typing(AbstractTemplate):
        key = function

        def generic(self, given: Sequence[types.Type], _keywords: object) -> object:
            if len(given) != len(wanted) or (_LANES in wanted and set(given) == {_NUMBER}):
                return None
            taken = [_taken(*pair) for pair in zip(given, wanted, strict=True)]
            operands = [kind for kind in taken if kind is not None]
            return signature(result, *operands) if len(operands) == len(wanted) else None

    infer_global(function, types.Function(Typing))

    @lower_builtin(function, *wanted)
    def _(context: Any, builder: ir.IRBuilder, chosen: Any, values: Sequence[ir.Value]) -> object:  # noqa: ANN401 - Numba's interface
        pairs = zip(chosen.args, values, strict=True)
        made = emit(builder, *(_operand(context, builder, *pair) for pair in pairs))
        if made is None:
            return context.get_dummy_value()
        return context.make_tuple(builder, result, made) if isinstance(made, list) else made


def _instruction(result: _Result[T], *wanted: _Wanted) -> Callable[[_Emit], Callable[..., T]]:
    """Make of a function that writes instructions one that kernels call."""

    def decorate(emit: _Emit) -> Callable[..., T]:
        @wraps(emit)
        def function(*_: object) -> T:
            msg = f"{emit.__name__} works in compiled code only"
            raise NotImplementedError(msg)

        _provide(function, emit, result.type, *wanted)
        return function

    return decorate


def _compare(sign: str) -> _Emit:
    def emit(builder: ir.IRBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
        return builder.fcmp_ordered(sign, one, other)

    return emit


_ARITHMETIC: dict[str, _Emit] = {
    "add": ir.IRBuilder.fadd,
    "sub": ir.IRBuilder.fsub,
    "mul": ir.IRBuilder.fmul,
    "truediv": ir.IRBuilder.fdiv,
}
for _name, _emit in _ARITHMETIC.items():
    for _sign in (getattr(operator, _name), getattr(operator, f"i{_name}")):
        _provide(_sign, _emit, _LANES, _LANES, _LANES)
_provide(operator.lt, _compare("<"), _MASK, _LANES, _LANES)
_provide(operator.gt, _compare(">"), _MASK, _LANES, _LANES)


@_instruction(_TO_LANES, _NUMBER)
def splat(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Give eight times a number."""
    return _all(builder, value)


@_instruction(_TO_LANES, _MASK, _LANES, _LANES)
def where(builder: ir.IRBuilder, mask: ir.Value, high: ir.Value, low: ir.Value) -> ir.Value:
    """``where(mask, high, low)``: choose lane by lane."""
    return builder.select(mask, high, low)


@_instruction(_TO_LANES, _LANES)
def magnitude(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    """Give absolute values."""
    but_sign = ir.Constant(_WORDS, [2**63 - 1] * N_LANES)
    return builder.bitcast(builder.and_(builder.bitcast(lanes, _WORDS), but_sign), _VECTOR)


@_instruction(_TO_LANES, _LANES)
def as_numbers(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Give the values of 64-bit integers whose bits were loaded."""
    return builder.sitofp(builder.bitcast(bits, _WORDS), _VECTOR)


@_instruction(_TO_LANES, _LANES)
def as_bits(builder: ir.IRBuilder, whole_numbers: ir.Value) -> ir.Value:
    """Give the bits of 64-bit integers of the same values, to be stored."""
    return builder.bitcast(builder.fptosi(whole_numbers, _WORDS), _VECTOR)


# ---- Lanes and arrays ----


def _address(builder: ir.IRBuilder, data: ir.Value, begin: ir.Value) -> ir.Value:
    return builder.bitcast(builder.gep(data, [begin]), _VECTOR.as_pointer())


@_instruction(_TO_LANES, types.Array, _PLACE)
def load(builder: ir.IRBuilder, data: ir.Value, begin: ir.Value) -> ir.Value:
    """``load(values, begin)``: read eight numbers of a contiguous array, or 64 bytes of another."""
    return builder.load(_address(builder, data, begin), align=4)


@_instruction(_TO_NOTHING, types.Array, _PLACE, _LANES)
def store(builder: ir.IRBuilder, data: ir.Value, begin: ir.Value, lanes: ir.Value) -> None:
    """``store(values, begin, lanes)``: write to a contiguous array what ``load`` reads."""
    builder.store(lanes, _address(builder, data, begin), align=4)


@_instruction(_TO_PLACE, types.Array, _PLACE, _PLACE, _PLACE)
def count_below(
    builder: ir.IRBuilder, data: ir.Value, begin: ir.Value, n: ir.Value, bound: ir.Value
) -> ir.Value:
    """``count_below(slots, begin, n, bound)``: of n slots, at most 16, those below a bound."""
    slots = builder.load(builder.bitcast(builder.gep(data, [begin]), _SLOTS.as_pointer()), align=4)
    below = builder.icmp_unsigned("<", slots, _all(builder, builder.trunc(bound, _SLOT), _SLOTS))
    bits = builder.zext(builder.bitcast(below, ir.IntType(2 * N_LANES)), n.type)
    one = ir.Constant(n.type, 1)
    return builder.ctpop(builder.and_(bits, builder.sub(builder.shl(one, n), one)))


def _row_addresses(
    builder: ir.IRBuilder, data: ir.Value, rows: ir.Value, begin: ir.Value
) -> list[ir.Value]:
    table = builder.bitcast(data, _VECTOR.as_pointer())
    places = [builder.add(begin, ir.Constant(begin.type, i)) for i in range(N_LANES)]
    numbers = [builder.load(builder.gep(rows, [place])) for place in places]
    return [builder.gep(table, [builder.zext(n, ir.IntType(64))]) for n in numbers]


def _turned(builder: ir.IRBuilder, rows: list[ir.Value]) -> list[ir.Value]:
    """Turn rows into columns: eight vectors of eight are a deck, shuffled perfectly three times."""
    lower = ir.Constant(_INDICES, [i // 2 + N_LANES * (i % 2) for i in range(N_LANES)])
    upper = ir.Constant(_INDICES, [4 + i // 2 + N_LANES * (i % 2) for i in range(N_LANES)])
    for _ in range(3):
        halves = zip(rows[:4], rows[4:], strict=True)
        rows = [builder.shuffle_vector(*pair, m) for pair in halves for m in (lower, upper)]
    return rows


@_instruction(_TO_COLUMNS, types.Array, types.Array, _PLACE)
def load_columns(
    builder: ir.IRBuilder, data: ir.Value, rows: ir.Value, begin: ir.Value
) -> list[ir.Value]:
    """``load_columns(table, rows, begin)``: read the rows ``rows[begin:begin + 8]`` of 64 bytes."""
    addresses = _row_addresses(builder, data, rows, begin)
    return _turned(builder, [builder.load(address, align=64) for address in addresses])


@_instruction(_TO_NOTHING, types.Array, types.Array, _PLACE, _COLUMNS)
def store_columns(
    builder: ir.IRBuilder, data: ir.Value, rows: ir.Value, begin: ir.Value, columns: list[ir.Value]
) -> None:
    """``store_columns(table, rows, begin, columns)``: write what ``load_columns`` reads."""
    addresses = _row_addresses(builder, data, rows, begin)
    for row, address in zip(_turned(builder, columns), addresses, strict=True):
        builder.store(row, address, align=64)


# ---- One number out of eight ----


def _in_pairs(builder: ir.IRBuilder, lanes: ir.Value, join: Callable[..., ir.Value]) -> ir.Value:
    """Join lanes 0 and 1, 2 and 3, .., then what came of that, until one number is left."""
    for width in (4, 2, 1):
        kind = ir.VectorType(ir.IntType(32), width)
        halves = [
            builder.shuffle_vector(
                lanes, lanes, ir.Constant(kind, list(range(start, 2 * width, 2)))
            )
            for start in (0, 1)
        ]
        lanes = join(builder, *halves)
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


@_instruction(_TO_NUMBER, _LANES)
def sum_lanes(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    """Add the lanes: ((l0 + l1) + (l2 + l3)) + ((l4 + l5) + (l6 + l7))."""
    return _in_pairs(builder, lanes, ir.IRBuilder.fadd)


def _pick(sign: str) -> Callable[..., ir.Value]:
    def join(builder: ir.IRBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
        return builder.select(builder.fcmp_ordered(sign, one, other), one, other)

    return join


@_instruction(_TO_NUMBER, _LANES)
def least_lane(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    """Give the least of eight numbers, none of which is NaN."""
    return _in_pairs(builder, lanes, _pick("<"))


@_instruction(_TO_NUMBER, _LANES)
def greatest_lane(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    """Give the greatest of eight numbers, none of which is NaN."""
    return _in_pairs(builder, lanes, _pick(">"))


@_instruction(_TO_NUMBER, _LANES, _PLACE)
def get_lane(builder: ir.IRBuilder, lanes: ir.Value, place: ir.Value) -> ir.Value:
    """Give the number in a lane."""
    return builder.extract_element(lanes, place)


@_instruction(_TO_LANES, _LANES, _PLACE, _NUMBER)
def put_lane(builder: ir.IRBuilder, lanes: ir.Value, place: ir.Value, value: ir.Value) -> ir.Value:
    """Give the lanes with another number in one of them."""
    return builder.insert_element(lanes, value, place)
