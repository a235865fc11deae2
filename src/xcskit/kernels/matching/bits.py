"""An index of bits: per dimension and value, and per action, one bit for each slot."""

from typing import Any, NamedTuple

import numpy as np

from xcskit.kernels.conditions.generics import admits, is_identical, reach
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.matching.words import ONE, ZERO, count_bits, lowest_bit
from xcskit.spaces import IntegerSpace
from xcskit.typing import Ints, Words

__all__ = ["BitIndex", "bit_index", "bit_index_rows"]


class BitIndex(NamedTuple):
    """``rows``: (n_rows, n_words). Value v of dimension d is row ``origin[d] + v``.

    Action a is row ``action_row + a``. ``common``: (n_words,), work space.
    """

    rows: Words
    origin: tuple[int, ...]
    action_row: int
    common: Words


def bit_index_rows(space: IntegerSpace, n_actions: int) -> int:
    """Count the rows that an index needs."""
    return sum(space.sizes) + n_actions


def bit_index(space: IntegerSpace, n_actions: int, capacity: int) -> BitIndex:
    """Allocate an index of a number of slots, a multiple of 64."""
    starts = np.concatenate([[0], np.cumsum(space.sizes)]).tolist()
    origin = tuple(int(s - low) for s, low in zip(starts[:-1], space.lower, strict=True))
    n_words = capacity // 64
    rows = np.zeros((starts[-1] + n_actions, n_words), dtype=np.uint64)
    return BitIndex(rows, origin, int(starts[-1]), np.zeros(n_words, dtype=np.uint64))


@match.register(BitIndex)
def _(
    index: BitIndex,
    condition: object,  # noqa: ARG001 - the scan needs it
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,
    state: Ints,
    matched: Ints,
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
    # The parts are measured before they are filled: one pass over the words of [M], not one for
    # each action, since every loop over a word's bits ends in a mispredicted branch.
    first[0] = 0
    start = 0
    for action in range(first.size - 1):
        row = index.action_row + action
        first[action + 1] = start
        for w in range(n_words):
            start += count_bits(common[w] & rows[row, w])
    for w in range(n_words):
        word = common[w]
        while word != ZERO:
            slot = (w << 6) + lowest_bit(word)
            end = rules[slot].action + 1
            matched[first[end]] = slot
            first[end] += 1
            word &= word - ONE


@flip.register(BitIndex)
def _(index: BitIndex, condition: object, slot: int, action: int) -> None:
    word = slot >> 6
    bit = ONE << np.uint64(slot & 63)
    index.rows[index.action_row + action, word] ^= bit
    for d in range(len(index.origin)):
        least, greatest = reach(condition, slot, d)
        for value in range(least, greatest + 1):
            if admits(condition, slot, d, value):
                index.rows[index.origin[d] + value, word] ^= bit


@find_identical.register(BitIndex)
def _(
    index: BitIndex,
    condition: object,
    rules: object,  # noqa: ARG001 - the scan needs it
    n_used: int,
    rule: int,
    action: int,
) -> int:
    rows, common = index.rows, index.common
    n_words = (n_used + 63) >> 6
    for w in range(n_words):
        common[w] = rows[index.action_row + action, w]
    for d in range(len(index.origin)):
        least, greatest = reach(condition, rule, d)
        low, high = index.origin[d] + least, index.origin[d] + greatest
        for w in range(n_words):
            common[w] &= rows[low, w] & rows[high, w]
    for w in range(n_words):
        word = common[w]
        while word != ZERO:
            slot = (w << 6) + lowest_bit(word)
            if is_identical(condition, slot, rule):
                return int(slot)
            word &= word - ONE
    return -1
