"""Every index holds what it should, and finds what a scan finds, as rules come and go."""

from typing import Any

import numba
import numpy as np
import pytest

from xcskit.kernels.conditions import MinSpan
from xcskit.kernels.matching import (
    BitIndex,
    CellIndex,
    PageIndex,
    find_identical,
    flip,
    match,
    pages,
)
from xcskit.kernels.matching.bits import bit_index
from xcskit.kernels.matching.cells import cell_index
from xcskit.kernels.matching.pages import page_index
from xcskit.kernels.population import RULE
from xcskit.kernels.slots import list_length
from xcskit.spaces import IntegerSpace


# Compiled apart, since a kernel of a test's would move the cache of all others.
@numba.njit
def flip_rule(index: Any, condition: Any, slot: int, action: int) -> None:
    flip(index, condition, slot, action)


@numba.njit
def match_state(
    index: Any, condition: Any, rules: Any, n_used: int, state: Any, matched: Any, first: Any
) -> None:
    match(index, condition, rules, n_used, state, matched, first)


@numba.njit
def find_twin(index: Any, condition: Any, rules: Any, n_used: int, rule: int, action: int) -> int:
    return int(find_identical(index, condition, rules, n_used, rule, action))


CAPACITY = 1024
N_ACTIONS = 3
SPACES = {
    "grid": IntegerSpace((0, 0), (99, 70)),
    "shifted": IntegerSpace((-40, 7), (60, 9)),
    "line": IntegerSpace((0,), (1023,)),
    "box": IntegerSpace((0,) * 5, (9,) * 5),
    "point": IntegerSpace((3,), (3,)),
}


def bits_of(space: IntegerSpace, _n_actions: int, capacity: int) -> BitIndex:
    return bit_index(space, capacity)


def pages_of(space: IntegerSpace, _n_actions: int, capacity: int) -> PageIndex:
    return page_index(space, capacity)


INDEXES: dict[str, Any] = {
    "cells": cell_index,
    "bits": bits_of,
    "pages": pages_of,
}


class Shelf:
    """An index, and beside it the plain truth."""

    def __init__(self, kind: str, space: IntegerSpace, seed: int) -> None:
        self.space = space
        self.random = np.random.default_rng(seed)
        self.low, self.high = np.array(space.lower), np.array(space.upper)
        self.index: Any = INDEXES[kind](space, N_ACTIONS, CAPACITY)
        self.condition = MinSpan().storage(CAPACITY + 2, space)
        self.records: Any = np.zeros(CAPACITY, RULE)
        self.live: list[int] = []

    def draw(self, slot: int) -> None:
        """Draw a condition: narrow, wide, or everything, and some of them twice."""
        if self.live and self.random.random() < 0.2:
            twin = self.random.choice(self.live)
            self.condition.alleles[slot] = self.condition.alleles[twin]
            return
        widest = self.random.choice([1, 5, 40, 2000])
        middle = self.random.integers(self.low, self.high + 1)
        lower = np.maximum(middle - self.random.integers(0, widest, middle.size), self.low)
        upper = np.minimum(middle + self.random.integers(0, widest, middle.size), self.high)
        self.condition.alleles[slot, 0::2] = lower
        self.condition.alleles[slot, 1::2] = upper - lower

    def enter(self, slot: int) -> None:
        self.draw(slot)
        self.records[slot]["action"] = self.random.integers(N_ACTIONS)
        self.records[slot]["numerosity"] = 1
        flip_rule(self.index, self.condition, slot, int(self.records[slot]["action"]))
        self.live.append(slot)

    def leave(self) -> None:
        slot = self.live.pop(int(self.random.integers(len(self.live))))
        flip_rule(self.index, self.condition, slot, int(self.records[slot]["action"]))
        self.records[slot]["numerosity"] = 0

    def covers(self, slot: int, state: Any) -> bool:
        lower = self.condition.alleles[slot, 0::2]
        upper = lower + self.condition.alleles[slot, 1::2]
        return bool(((lower <= state) & (state <= upper)).all())

    def check_matching(self) -> None:
        matched = np.zeros(list_length(CAPACITY), dtype=np.uint32)
        first = np.zeros(N_ACTIONS + 1, dtype=np.int64)
        state = self.random.integers(self.low, self.high + 1)
        match_state(self.index, self.condition, self.records, CAPACITY, state, matched, first)
        found = sorted(slot for slot in self.live if self.covers(slot, state))
        for action in range(N_ACTIONS):
            expected = [slot for slot in found if self.records[slot]["action"] == action]
            assert matched[first[action] : first[action + 1]].tolist() == expected

    def check_identical(self) -> None:
        child, action = CAPACITY, int(self.random.integers(N_ACTIONS))
        self.draw(child)
        alleles = self.condition.alleles
        same = [
            slot
            for slot in self.live
            if self.records[slot]["action"] == action and (alleles[slot] == alleles[child]).all()
        ]
        found = find_twin(self.index, self.condition, self.records, CAPACITY, child, action)
        assert found == min(same, default=-1)

    def check(self) -> None:
        """Recompute what the index keeps."""
        if isinstance(self.index, PageIndex):
            self.check_pages()
        if isinstance(self.index, CellIndex):
            self.check_cells()

    def check_cells(self) -> None:
        """Look at some cells' match sets, those of the corners among them."""
        states = self.random.integers(self.low, self.high + 1, (50, self.low.size))
        for state in [self.low, self.high, *states]:
            cell = int(np.ravel_multi_index(state - self.low, self.space.sizes))
            first = self.index.first[cell]
            row = self.index.slots[cell, : first[-1]].tolist()
            found = sorted(slot for slot in self.live if self.covers(slot, state))
            actions = [self.records[slot]["action"] for slot in found]
            assert row == [found[i] for i in np.argsort(actions, kind="stable")]
            assert np.diff(first).tolist() == np.bincount(actions, minlength=N_ACTIONS).tolist()

    def check_pages(self) -> None:
        """Recompute the words, the summary and the chains."""
        index = self.index
        words = np.zeros_like(index.words)
        for slot in self.live:
            place = int(index.place_of[slot])
            assert index.slot_at[place] == slot
            lower = self.condition.alleles[slot, 0::2]
            upper = lower + self.condition.alleles[slot, 1::2]
            for d, origin in enumerate(index.origin):
                first, last = (np.array([lower[d], upper[d]]) - self.low[d]) >> index.shift[d]
                rows = slice(origin + first, origin + last + 1)
                words[place >> 9, rows, (place & 511) >> 6] |= np.uint64(1 << (place & 63))
        np.testing.assert_array_equal(index.words, words)
        is_used = np.ascontiguousarray((words != 0).any(axis=2).T)
        summary = np.packbits(is_used, axis=1, bitorder="little").view(np.uint64)
        np.testing.assert_array_equal(index.summary, summary)
        lengths = [self.chain_length(page) for page in index.newest.tolist()]
        assert lengths == (-(-index.n_rules // 512)).tolist()
        assert sum(lengths) + self.chain_length(int(index.counts[1])) == index.counts[0]
        assert int(index.n_rules.sum()) == len(self.live)

    def chain_length(self, page: int) -> int:
        length = 0
        while page >= 0:
            length, page = length + 1, int(self.index.older[page])
        return length


KINDS: list[tuple[str, dict[str, int]]] = [
    ("pages", {"_FINEST": 1}),
    ("pages", {"_FINEST": 4, "_GROUPED": 8, "_MOST_ROWS": 20}),
    *((kind, {}) for kind in INDEXES),
]
CASES = [
    # Each compiles anew: one space of five is enough to look at while working.
    pytest.param(kind, limits, name, marks=[] if name == "shifted" else [pytest.mark.slow])
    for kind, limits in KINDS
    for name in SPACES
    if (kind, name) != ("cells", "box")  # a general rule would lie in 100,000 match sets
]


@pytest.mark.parametrize(("kind", "limits", "name"), CASES)
def test_rules_come_and_go(
    kind: str, limits: dict[str, int], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit, value in limits.items():
        monkeypatch.setattr(pages, limit, value)
    shelf = Shelf(kind, SPACES[name], seed=len(limits))
    free = list(range(CAPACITY))[::-1]
    for turn in range(6):
        while free and len(shelf.live) < CAPACITY - 100 * (turn % 2):
            shelf.enter(free.pop())
            if len(shelf.live) % 40 == 0:
                shelf.check_matching()
                shelf.check_identical()
        shelf.check()
        while len(shelf.live) > 300 * (turn % 3):
            last = set(shelf.live)
            shelf.leave()
            free += last - set(shelf.live)
            if len(shelf.live) % 40 == 0:
                shelf.check_matching()
                shelf.check_identical()
        shelf.check()
