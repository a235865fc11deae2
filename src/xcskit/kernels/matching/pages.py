"""Pages of alike rules: an index whose cost follows the match set, for large populations.

The index of bits looks at a word for every 64 rules there are. Here bits belong to a *page*: a
group of up to 512 rules whose conditions lie near each other and are about as wide. A page has a
cache line of bits for each value of each dimension; a state's value is covered in few pages, and a
summary tells in which. So few lines are looked at, however many rules there are.

Where a space has too many values for a line each, neighbouring values of its widest dimensions
share a line, and what is found there is looked at again.

Where a rule lies in the pages decides only how fast it is found: the slots are written in rule
order, as any index writes them.
"""

from typing import Any, NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import admits, is_identical, reach
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.kernels.matching.parts import part_by_action
from xcskit.kernels.matching.words import ONE, ZERO, lowest_bit
from xcskit.kernels.slots import Slots
from xcskit.spaces import IntegerSpace
from xcskit.typing import Ints, Words

__all__ = ["PageIndex", "page_index", "page_places"]

_WORDS = 8
"""Words in a page: bits for a value fill a cache line, and lines are what memory hands out."""

_PLACES = 64 * _WORDS

_GROUPED = 128
"""Slots for each group, at least: groups hold a page or two where rules lie evenly."""

_MOST_ROWS = 4096
"""Above this number of values, over all dimensions, a rule would flip too many bits."""

_MOST_BYTES = 2**30
"""Above this size, an index would crowd out the population itself."""

_FINEST = 4
"""Conditions up to 2**4 values wide are told apart by where they lie, wider ones also by how
wide they are: covering makes them 3 to 7 wide in the paper's setting."""

_NONE = -1
_N_PAGES, _FREE = 0, 1


class PageIndex(NamedTuple):
    """Pages of 512 places, chained in groups that are full but for the newest page of each.

    ``words``: (n_pages, n_rows, 8). Value v of dimension d is row ``origin[d] + (v - lower[d] >>
    shift[d])``. ``summary``: (n_rows, n_pages / 64), which pages have a line that is not zero.
    ``slot_at``: the slot in each place; ``place_of``: (capacity,), the place of each slot, or -1.
    ``newest`` and ``n_rules``: for each group. ``older``: (n_pages,), the next page of the chain.
    ``counts``: the pages ever used, and the first of the chain of free ones. ``finest``,
    ``node_first`` and ``n_nodes`` say which group a condition belongs to. ``found`` and the two
    levels above it, and ``listed`` are work space.
    """

    words: Words
    summary: Words
    slot_at: Slots
    place_of: Ints
    newest: Ints
    n_rules: Ints
    older: Ints
    counts: Ints
    lower: tuple[int, ...]
    shift: tuple[int, ...]
    origin: tuple[int, ...]
    finest: tuple[int, ...]
    n_nodes: tuple[int, ...]
    node_first: Ints
    found: Words
    found_words: Words
    found_tops: Words
    listed: Slots


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


def _shifts(space: IntegerSpace, most_rows: int) -> tuple[int, ...]:
    """Tell how many low bits of each dimension's values go, so that there are so few rows."""
    shift = [0] * space.n_dimensions
    while True:
        n_rows = [((size - 1) >> low) + 1 for size, low in zip(space.sizes, shift, strict=True)]
        if sum(n_rows) <= max(most_rows, 2 * space.n_dimensions):
            return tuple(shift)
        shift[int(np.argmax(n_rows))] += 1


def page_places(space: IntegerSpace) -> float:
    """Count the places in which narrow conditions can lie without touching: what pages live on."""
    return float(np.prod([((size - 1) >> _FINEST) + 1 for size in space.sizes], dtype=np.float64))


def _in_cache_lines(shape: tuple[int, int]) -> Words:
    """Allocate lines of eight words that are lines of the cache."""
    n_bytes = shape[0] * shape[1] * _WORDS * 8
    room = np.zeros(n_bytes + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    words: Words = room[start : start + n_bytes].view(np.uint64).reshape(*shape, _WORDS)
    return words


def page_index(space: IntegerSpace, capacity: int) -> PageIndex:
    """Allocate an index of a number of slots, a multiple of 64."""
    finest = _levels(space, max(1, capacity // _GROUPED))
    n_nodes = tuple(_n_nodes(size, low) for size, low in zip(space.sizes, finest, strict=True))
    n_groups = int(np.prod(n_nodes, dtype=np.int64))
    n_pages = -(-(capacity // _PLACES + n_groups) // 64) * 64
    shift = _shifts(space, min(_MOST_ROWS, _MOST_BYTES // (n_pages * _WORDS * 8)))
    n_rows = [((size - 1) >> low) + 1 for size, low in zip(space.sizes, shift, strict=True)]
    starts = np.concatenate([[0], np.cumsum(n_rows)]).tolist()
    n_levels = max(space.sizes).bit_length() + _FINEST
    node_first = np.zeros((space.n_dimensions, n_levels + max(finest)), dtype=np.int64)
    for d, (size, low) in enumerate(zip(space.sizes, finest, strict=True)):
        for level in range(low, node_first.shape[1] - 1):
            node_first[d, level + 1] = node_first[d, level] + ((size - 1) >> level) + 1
    n_words = capacity // 64
    n_found_words = -(-n_words // 64)
    return PageIndex(
        words=_in_cache_lines((n_pages, starts[-1])),
        summary=np.zeros((starts[-1], n_pages // 64), dtype=np.uint64),
        slot_at=np.zeros(n_pages * _PLACES, dtype=np.uint32),
        place_of=np.full(capacity, _NONE, dtype=np.int64),
        newest=np.full(n_groups, _NONE, dtype=np.int64),
        n_rules=np.zeros(n_groups, dtype=np.int64),
        older=np.full(n_pages, _NONE, dtype=np.int64),
        counts=np.array([0, _NONE], dtype=np.int64),
        lower=space.lower,
        shift=shift,
        origin=tuple(starts[:-1]),
        finest=finest,
        n_nodes=n_nodes,
        node_first=node_first,
        found=np.zeros(n_words, dtype=np.uint64),
        found_words=np.zeros(n_found_words, dtype=np.uint64),
        found_tops=np.zeros(-(-n_found_words // 64), dtype=np.uint64),
        listed=np.zeros(capacity, dtype=np.uint32),
    )


@kernel
def _row_of(index: PageIndex, d: int, value: int) -> int:
    return int(index.origin[d] + ((value - index.lower[d]) >> index.shift[d]))


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
def _toggle(index: PageIndex, row: int, place: int) -> None:
    """Flip the bit of a place in a row; with the row's first or last bit, that of the summary."""
    page, word = place // _PLACES, (place % _PLACES) >> 6
    line = index.words[page, row]
    bit = ONE << np.uint64(place & 63)
    before = line[word]
    line[word] = before ^ bit
    if before in (ZERO, bit):
        others = ZERO
        for other in range(_WORDS):
            others |= line[other] if other != word else ZERO
        if others == ZERO:
            index.summary[row, page >> 6] ^= ONE << np.uint64(page & 63)


@kernel
def _mark(index: PageIndex, condition: Any, slot: int, place: int) -> None:  # noqa: ANN401 - any storage
    """Write a rule into its page, or take it out."""
    for d in range(len(index.origin)):
        least, greatest = reach(condition, slot, d)
        first, last = _row_of(index, d, least), _row_of(index, d, greatest)
        for row in range(first, last + 1):
            if index.shift[d] > 0 or admits(condition, slot, d, least + row - first):
                _toggle(index, row, place)


@kernel
def _enter(index: PageIndex, condition: Any, slot: int) -> None:  # noqa: ANN401 - any storage
    group = _group_of(index, condition, slot)
    if index.n_rules[group] % _PLACES == 0:
        page = index.counts[_FREE]
        if page == _NONE:
            page = index.counts[_N_PAGES]
            index.counts[_N_PAGES] += 1
        else:
            index.counts[_FREE] = index.older[page]
        index.older[page] = index.newest[group]
        index.newest[group] = page
    place = index.newest[group] * _PLACES + index.n_rules[group] % _PLACES
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
    last = page * _PLACES + index.n_rules[group] % _PLACES
    if last != place:
        moved = int(np.int64(index.slot_at[last]))
        _mark(index, condition, moved, last)
        index.slot_at[place] = moved
        index.place_of[moved] = place
        _mark(index, condition, moved, place)
    if index.n_rules[group] % _PLACES == 0:
        index.newest[group] = index.older[page]
        index.older[page] = index.counts[_FREE]
        index.counts[_FREE] = page


@flip.register(PageIndex)
def _(index: PageIndex, condition: object, slot: int, action: int) -> None:  # noqa: ARG001 - the others need it
    if index.place_of[slot] == _NONE:
        _enter(index, condition, slot)
    else:
        _leave(index, condition, slot)


@kernel
def _note(index: PageIndex, slot: int) -> None:
    """Note a slot, to be listed in order."""
    index.found[slot >> 6] |= ONE << np.uint64(slot & 63)
    index.found_words[slot >> 12] |= ONE << np.uint64((slot >> 6) & 63)
    index.found_tops[slot >> 18] |= ONE << np.uint64((slot >> 12) & 63)


@kernel
def _lowest_slot(index: PageIndex, page: int, word: int, places: np.uint64) -> int:
    """Give the slot in the lowest of some places of a page."""
    return int(np.int64(index.slot_at[page * _PLACES + (word << 6) + lowest_bit(places)]))


@kernel
def _take_word(words: Words, place: int) -> np.uint64:
    """Read a word, and leave 0."""
    word: np.uint64 = words[place]
    words[place] = ZERO
    return word


@kernel
def _list_noted(index: PageIndex) -> int:
    """List the slots that were noted, ascending, and forget them; give their number."""
    n_listed = 0
    for top in range(index.found_tops.size):
        tops = _take_word(index.found_tops, top)
        while tops != ZERO:
            above = (top << 6) + lowest_bit(tops)
            tops &= tops - ONE
            words = _take_word(index.found_words, above)
            while words != ZERO:
                word = (above << 6) + lowest_bit(words)
                words &= words - ONE
                slots = _take_word(index.found, word)
                while slots != ZERO:
                    index.listed[n_listed] = (word << 6) + lowest_bit(slots)
                    n_listed += 1
                    slots &= slots - ONE
    return n_listed


@kernel
def _is_match(index: PageIndex, condition: Any, slot: int, state: Ints) -> bool:  # noqa: ANN401 - any storage
    """Look again where values share a row."""
    is_match = True
    for d in range(len(index.origin)):
        is_match = is_match and (index.shift[d] == 0 or admits(condition, slot, d, state[d]))
    return is_match


@kernel
def _note_page(index: PageIndex, condition: Any, page: int, state: Ints) -> None:  # noqa: ANN401 - any storage
    """Note the rules of a page that match."""
    words = index.words
    for word in range(_WORDS):
        places = words[page, _row_of(index, 0, state[0]), word]
        for d in range(1, len(index.origin)):
            places &= words[page, _row_of(index, d, state[d]), word]
        while places != ZERO:
            slot = _lowest_slot(index, page, word, places)
            places &= places - ONE
            if _is_match(index, condition, slot, state):
                _note(index, slot)


@match.register(PageIndex)
def _(
    index: PageIndex,
    condition: object,
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,  # noqa: ARG001 - the others need it
    state: Ints,
    matched: Slots,
    first: Ints,
) -> None:
    for s in range((index.counts[_N_PAGES] + 63) >> 6):
        pages = index.summary[_row_of(index, 0, state[0]), s]
        for d in range(1, len(index.origin)):
            pages &= index.summary[_row_of(index, d, state[d]), s]
        while pages != ZERO:
            _note_page(index, condition, (s << 6) + lowest_bit(pages), state)
            pages &= pages - ONE

    part_by_action(rules, index.listed, _list_noted(index), matched, first)


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
    page = int(index.newest[_group_of(index, condition, rule)])
    while page != _NONE:
        for word in range(_WORDS):
            places = ~ZERO
            for d in range(len(index.origin)):
                least, greatest = reach(condition, rule, d)
                low, high = _row_of(index, d, least), _row_of(index, d, greatest)
                places &= index.words[page, low, word] & index.words[page, high, word]
            while places != ZERO:
                slot = _lowest_slot(index, page, word, places)
                places &= places - ONE
                is_first = found < 0 or slot < found
                if (
                    is_first
                    and rules[slot].action == action
                    and is_identical(condition, slot, rule)
                ):
                    found = slot
        page = int(index.older[page])
    return found
