"""An index of bits: per dimension and value, one bit for each slot."""

from typing import Any, NamedTuple

import numpy as np

from xcskit.kernels.conditions.generics import admits, is_identical, reach
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.matching.parts import part_by_action
from xcskit.kernels.matching.words import ONE, ZERO, lowest_bit
from xcskit.kernels.slots import Slots
from xcskit.spaces import IntegerSpace
from xcskit.typing import Ints, Words

__all__ = ["BitIndex", "bit_index"]


class BitIndex(NamedTuple):
    """``rows``: (n_rows, n_words). Value v of dimension d is row ``origin[d] + v``.

    ``common``: (n_words,) and ``listed``: (capacity,) are work space.
    """

    rows: Words
    origin: tuple[int, ...]
    common: Words
    listed: Slots


def bit_index(space: IntegerSpace, capacity: int) -> BitIndex:
    """Allocate an index of a number of slots, a multiple of 64."""
    starts = np.concatenate([[0], np.cumsum(space.sizes)]).tolist()
    origin = tuple(int(s - low) for s, low in zip(starts[:-1], space.lower, strict=True))
    n_words = capacity // 64
    return BitIndex(
        rows=np.zeros((starts[-1], n_words), dtype=np.uint64),
        origin=origin,
        common=np.zeros(n_words, dtype=np.uint64),
        listed=np.zeros(capacity, dtype=np.uint32),
    )


@match.register(BitIndex)
def _(
    index: BitIndex,
    condition: object,  # noqa: ARG001 - pages need it
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,
    state: Ints,
    matched: Slots,
    first: Ints,
) -> None:
    rows, common = index.rows, index.common
    n_words = (n_used + 63) >> 6
    row = index.origin[0] + state[0]
    for w in range(n_words):
        common[w] = rows[row, w]
    for d in range(1, len(index.origin)):
        row = index.origin[d] + state[d]
        for w in range(n_words):
            common[w] &= rows[row, w]
    n_listed = 0
    for w in range(n_words):
        word = common[w]
        while word != ZERO:
            index.listed[n_listed] = (w << 6) + lowest_bit(word)
            n_listed += 1
            word &= word - ONE
    part_by_action(rules, index.listed, n_listed, matched, first)


@flip.register(BitIndex)
def _(index: BitIndex, condition: object, slot: int, action: int) -> None:  # noqa: ARG001 - cells need it
    word = slot >> 6
    bit = ONE << np.uint64(slot & 63)
    for d in range(len(index.origin)):
        least, greatest = reach(condition, slot, d)
        for value in range(least, greatest + 1):
            if admits(condition, slot, d, value):
                index.rows[index.origin[d] + value, word] ^= bit


@find_identical.register(BitIndex)
def _(
    index: BitIndex,
    condition: object,
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,
    rule: int,
    action: int,
) -> int:
    rows, common = index.rows, index.common
    n_words = (n_used + 63) >> 6
    common[:n_words] = ~ZERO
    for d in range(len(index.origin)):
        least, greatest = reach(condition, rule, d)
        low, high = index.origin[d] + least, index.origin[d] + greatest
        for w in range(n_words):
            common[w] &= rows[low, w] & rows[high, w]
    for w in range(n_words):
        word = common[w]
        while word != ZERO:
            slot = (w << 6) + lowest_bit(word)
            if rules[slot].action == action and is_identical(condition, slot, rule):
                return int(slot)
            word &= word - ONE
    return -1
