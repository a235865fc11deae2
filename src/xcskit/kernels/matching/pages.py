"""Pages of alike rules: an index whose cost follows the match set, for large populations.

The index of bits looks at a word for every 64 rules there are. Here a word belongs to a *page*: a
group of up to 64 rules whose conditions lie near each other and are about as wide. A page has a
word for each value of each dimension; a state's value is covered in few pages, and a summary tells
in which. So few words are looked at, however many rules there are.

Where a rule lies in the pages decides only how fast it is found: the slots are written in rule
order, as any index writes them.
"""

from typing import Any, NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import admits, is_identical, reach
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.matching.words import ONE, ZERO, lowest_bit
from xcskit.spaces import IntegerSpace
from xcskit.typing import Ints, Words

__all__ = ["PageIndex", "page_index", "page_index_bytes", "page_places"]

_FINEST = 4
"""Conditions up to 2**4 values wide are told apart by where they lie, wider ones also by how
wide they are: covering makes them 3 to 7 wide in the paper's setting."""

_NONE = -1
_N_PAGES, _FREE = 0, 1


class PageIndex(NamedTuple):
    """Pages of 64 places, chained in groups that are full but for the newest page of each.

    ``words``: (n_pages, n_rows); value v of dimension d is row ``origin[d] + v``. ``summary``:
    (n_rows, n_pages / 64), which pages have a word that is not zero. ``slot_at``: the slot in each
    place; ``place_of``: (capacity,), the place of each slot, or -1. ``newest`` and ``n_rules``: for
    each group. ``older``: (n_pages,), the next page of the chain. ``counts``: the pages ever used,
    and the first of the chain of free ones. ``finest``, ``node_first`` and ``n_nodes`` say which
    group a condition belongs to. ``common``, ``found``, ``found_words``, ``listed`` and ``ends``
    are work space.
    """

    words: Words
    summary: Words
    slot_at: Ints
    place_of: Ints
    newest: Ints
    n_rules: Ints
    older: Ints
    counts: Ints
    lower: tuple[int, ...]
    origin: tuple[int, ...]
    finest: tuple[int, ...]
    n_nodes: tuple[int, ...]
    node_first: Ints
    common: Words
    found: Words
    found_words: Words
    listed: Ints
    ends: Ints


def _n_nodes(size: int, finest: int) -> int:
    """Count the dyadic intervals of a dimension, from a width of 2**finest to all of it."""
    top = max(finest, (size - 1).bit_length())
    return sum(((size - 1) >> level) + 1 for level in range(finest, top + 1))


def _levels(space: IntegerSpace, n_groups: int) -> tuple[int, ...]:
    """Give the finest level of each dimension, so that there are at most so many groups."""
    finest = [_FINEST] * space.n_dimensions
    while True:
        nodes = [_n_nodes(size, low) for size, low in zip(space.sizes, finest, strict=True)]
        if np.prod(nodes, dtype=np.float64) <= n_groups:
            return tuple(finest)
        finest[int(np.argmax(nodes))] += 1


def _sizes(space: IntegerSpace, capacity: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Give the finest level and the nodes of each dimension, and the number of pages."""
    finest = _levels(space, max(1, capacity // 64))
    n_nodes = tuple(_n_nodes(size, low) for size, low in zip(space.sizes, finest, strict=True))
    n_pages = capacity // 64 + int(np.prod(n_nodes, dtype=np.int64))
    return finest, n_nodes, -(-n_pages // 64) * 64


def page_places(space: IntegerSpace) -> float:
    """Count the places in which narrow conditions can lie without touching: what pages live on."""
    return float(np.prod([((size - 1) >> _FINEST) + 1 for size in space.sizes], dtype=np.float64))


def page_index_bytes(space: IntegerSpace, capacity: int) -> int:
    """Tell how large the words of an index are."""
    return _sizes(space, capacity)[2] * sum(space.sizes) * 8


def page_index(space: IntegerSpace, n_actions: int, capacity: int) -> PageIndex:
    """Allocate an index of a number of slots, a multiple of 64."""
    finest, n_nodes, n_pages = _sizes(space, capacity)
    starts = np.concatenate([[0], np.cumsum(space.sizes)]).tolist()
    n_levels = max(space.sizes).bit_length() + _FINEST
    node_first = np.zeros((space.n_dimensions, n_levels + max(finest)), dtype=np.int64)
    for d, (size, low) in enumerate(zip(space.sizes, finest, strict=True)):
        for level in range(low, node_first.shape[1] - 1):
            node_first[d, level + 1] = node_first[d, level] + ((size - 1) >> level) + 1
    n_groups = int(np.prod(n_nodes, dtype=np.int64))
    n_words = capacity // 64
    return PageIndex(
        words=np.zeros((n_pages, starts[-1]), dtype=np.uint64),
        summary=np.zeros((starts[-1], n_pages // 64), dtype=np.uint64),
        slot_at=np.zeros(n_pages * 64, dtype=np.int64),
        place_of=np.full(capacity, _NONE, dtype=np.int64),
        newest=np.full(n_groups, _NONE, dtype=np.int64),
        n_rules=np.zeros(n_groups, dtype=np.int64),
        older=np.full(n_pages, _NONE, dtype=np.int64),
        counts=np.array([0, _NONE], dtype=np.int64),
        lower=space.lower,
        origin=tuple(int(s - low) for s, low in zip(starts[:-1], space.lower, strict=True)),
        finest=finest,
        n_nodes=n_nodes,
        node_first=node_first,
        common=np.zeros(n_pages // 64, dtype=np.uint64),
        found=np.zeros(n_words, dtype=np.uint64),
        found_words=np.zeros(-(-n_words // 64), dtype=np.uint64),
        listed=np.zeros(capacity, dtype=np.int64),
        ends=np.zeros(n_actions, dtype=np.int64),
    )


@kernel
def _group_of(index: PageIndex, condition: Any, rule: int) -> int:  # noqa: ANN401 - any storage
    """Give the group of a condition: per dimension how wide it is, and where its middle lies."""
    group = 0
    for d in range(len(index.origin)):
        least, greatest = reach(condition, rule, d)
        width = int(greatest - least)
        level = index.finest[d]
        while width >> level > 0:
            level += 1
        middle = int(least - index.lower[d]) + (width >> 1)
        node = int(index.node_first[d, level]) + (middle >> level)
        group = group * index.n_nodes[d] + node
    return group


@kernel
def _mark(index: PageIndex, condition: Any, slot: int, place: int) -> None:  # noqa: ANN401 - any storage
    """Write a rule into its page, or take it out."""
    words, summary = index.words, index.summary
    page = place >> 6
    bit = ONE << np.uint64(place & 63)
    page_bit = ONE << np.uint64(page & 63)
    for d in range(len(index.origin)):
        least, greatest = reach(condition, slot, d)
        for value in range(least, greatest + 1):
            if admits(condition, slot, d, value):
                row = index.origin[d] + value
                before = words[page, row]
                words[page, row] = before ^ bit
                if before in (ZERO, bit):
                    summary[row, page >> 6] ^= page_bit


@kernel
def _enter(index: PageIndex, condition: Any, slot: int) -> None:  # noqa: ANN401 - any storage
    group = _group_of(index, condition, slot)
    if index.n_rules[group] & 63 == 0:
        page = index.counts[_FREE]
        if page == _NONE:
            page = index.counts[_N_PAGES]
            index.counts[_N_PAGES] += 1
        else:
            index.counts[_FREE] = index.older[page]
        index.older[page] = index.newest[group]
        index.newest[group] = page
    place = (index.newest[group] << 6) + (index.n_rules[group] & 63)
    index.n_rules[group] += 1
    index.slot_at[place] = slot
    index.place_of[slot] = place
    _mark(index, condition, slot, place)


@kernel
def _leave(index: PageIndex, condition: Any, slot: int) -> None:  # noqa: ANN401 - any storage
    """Take a rule out; the last rule of its group takes its place."""
    group = _group_of(index, condition, slot)
    place = index.place_of[slot]
    _mark(index, condition, slot, place)
    index.place_of[slot] = _NONE
    index.n_rules[group] -= 1
    page = index.newest[group]
    last = (page << 6) + (index.n_rules[group] & 63)
    if last != place:
        moved = int(index.slot_at[last])
        _mark(index, condition, moved, last)
        index.slot_at[place] = moved
        index.place_of[moved] = place
        _mark(index, condition, moved, place)
    if index.n_rules[group] & 63 == 0:
        index.newest[group] = index.older[page]
        index.older[page] = index.counts[_FREE]
        index.counts[_FREE] = page


@flip.register(PageIndex)
def _(index: PageIndex, condition: object, slot: int, action: int) -> None:  # noqa: ARG001 - the index of bits needs it
    if index.place_of[slot] == _NONE:
        _enter(index, condition, slot)
    else:
        _leave(index, condition, slot)


@kernel
def _note(index: PageIndex, slot: int) -> None:
    """Note a slot, to be listed in order."""
    word = slot >> 6
    index.found[word] |= ONE << np.uint64(slot & 63)
    index.found_words[word >> 6] |= ONE << np.uint64(word & 63)


@kernel
def _list_noted(index: PageIndex, n_used: int) -> int:
    """List the slots that were noted, ascending, and forget them; give their number."""
    n_listed = 0
    for top in range((n_used + 4095) >> 12):
        words = index.found_words[top]
        index.found_words[top] = ZERO
        while words != ZERO:
            word = (top << 6) + lowest_bit(words)
            words &= words - ONE
            slots = index.found[word]
            index.found[word] = ZERO
            while slots != ZERO:
                index.listed[n_listed] = (word << 6) + lowest_bit(slots)
                n_listed += 1
                slots &= slots - ONE
    return n_listed


@match.register(PageIndex)
def _(
    index: PageIndex,
    condition: object,  # noqa: ARG001 - the scan needs it
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,
    state: Ints,
    matched: Ints,
    first: Ints,
) -> None:
    words, summary, common = index.words, index.summary, index.common
    n_summaries = (index.counts[_N_PAGES] + 63) >> 6
    row = index.origin[0] + state[0]
    for s in range(n_summaries):
        common[s] = summary[row, s]
    for d in range(1, len(index.origin)):
        row = index.origin[d] + state[d]
        for s in range(n_summaries):
            common[s] &= summary[row, s]
    for s in range(n_summaries):
        pages = common[s]
        while pages != ZERO:
            page = (s << 6) + lowest_bit(pages)
            pages &= pages - ONE
            places = words[page, index.origin[0] + state[0]]
            for d in range(1, len(index.origin)):
                places &= words[page, index.origin[d] + state[d]]
            while places != ZERO:
                _note(index, int(index.slot_at[(page << 6) + lowest_bit(places)]))
                places &= places - ONE

    n_actions = first.size - 1
    n_listed = _list_noted(index, n_used)
    ends = index.ends
    ends[:] = 0
    for i in range(n_listed):
        ends[rules[index.listed[i]].action] += 1
    first[0] = 0
    for action in range(n_actions):
        first[action + 1] = first[action] + ends[action]
        ends[action] = first[action]
    for i in range(n_listed):
        slot = index.listed[i]
        action = rules[slot].action
        matched[ends[action]] = slot
        ends[action] += 1


@find_identical.register(PageIndex)
def _(
    index: PageIndex,
    condition: object,
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,  # noqa: ARG001 - the others need it
    rule: int,
    action: int,
) -> int:
    """Look in one group alone: rules of identical conditions share it."""
    found = -1
    page = index.newest[_group_of(index, condition, rule)]
    while page != _NONE:
        places = ~ZERO
        for d in range(len(index.origin)):
            least, greatest = reach(condition, rule, d)
            low, high = index.origin[d] + least, index.origin[d] + greatest
            places &= index.words[page, low] & index.words[page, high]
        while places != ZERO:
            slot = int(index.slot_at[(page << 6) + lowest_bit(places)])
            places &= places - ONE
            is_first = found < 0 or slot < found
            if is_first and rules[slot].action == action and is_identical(condition, slot, rule):
                found = slot
        page = index.older[page]
    return found
