"""Named random streams: the raw output of NumPy's PCG64, drawn inside kernels.

The same doubles as ``numpy.random.Generator(PCG64(seed)).random()``, bit for bit, without the cost
of handing a Generator to a kernel, and with a state that is a plain array.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from xcskit.kernels.compiler import kernel
from xcskit.typing import Words

__all__ = ["STREAMS", "draw", "draw_below", "new_streams", "stream_words"]

STREAMS = ("environment", "exploration", "discovery", "evaluation")

_MULTIPLIER_HIGH = np.uint64(0x2360ED051FC65DA4)
_MULTIPLIER_LOW = np.uint64(0x4385DF649FCCF645)
_ONE = np.uint64(1)
_ELEVEN = np.uint64(11)
_ROTATION_SHIFT = np.uint64(58)
_WORD = np.uint64(64)
_WORD_MASK = np.uint64(63)
_TO_UNIT = 1.0 / 9007199254740992.0


@intrinsic
def _high_product(context: object, left: types.Type, right: types.Type) -> object:  # noqa: ARG001
    """Upper 64 bits of a product of two words."""

    def emit(_context: object, builder: ir.IRBuilder, _signature: object, words: Any) -> ir.Value:  # noqa: ANN401
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(words[0], wide), builder.zext(words[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), emit


@kernel
def draw(stream: Words) -> float:
    """Draw a uniform double in [0, 1): ``(raw >> 11) * 2**-53`` of the next raw output."""
    high, low = stream[0], stream[1]
    low_product = low * _MULTIPLIER_LOW
    high_product = (
        _high_product(low, _MULTIPLIER_LOW) + high * _MULTIPLIER_LOW + low * _MULTIPLIER_HIGH
    )
    low = low_product + stream[3]
    high = high_product + stream[2]
    if low < low_product:
        high += _ONE
    stream[0] = high
    stream[1] = low
    mixed = high ^ low
    turn = high >> _ROTATION_SHIFT
    raw = (mixed >> turn) | (mixed << ((_WORD - turn) & _WORD_MASK))
    return np.float64(raw >> _ELEVEN) * _TO_UNIT


@kernel
def draw_below(stream: Words, n: int) -> int:
    """Draw an integer in {0..n-1} from one uniform double, as ``floor(u * n)``."""
    return int(draw(stream) * n)


def _words(bits: int) -> list[int]:
    return [bits >> 64, bits & 0xFFFF_FFFF_FFFF_FFFF]


def stream_words(generator: np.random.PCG64) -> Words:
    """Give the state of a PCG64 as the words that ``draw`` takes.

    Returns
    -------
    Words
        Shape (4,): state high and low, increment high and low.
    """
    state: Any = generator.state["state"]
    return np.array([*_words(state["state"]), *_words(state["inc"])], dtype=np.uint64)


def new_streams(seed: int | np.random.SeedSequence) -> Words:
    """Spawn the named streams of one seed.

    Returns
    -------
    Words
        Shape (4, 4): a row a stream, in the order of ``STREAMS``.
    """
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.stack([stream_words(np.random.PCG64(child)) for child in root.spawn(len(STREAMS))])
