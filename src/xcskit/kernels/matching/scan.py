"""No index: every slot is looked at. For spaces too wide for an index of bits."""

from typing import Any, NamedTuple

import numpy as np

from xcskit.kernels.conditions.generics import admits, is_identical
from xcskit.kernels.matching.generics import find_identical, flip, match
from xcskit.typing import Ints

__all__ = ["ScanIndex", "scan_index"]


class ScanIndex(NamedTuple):
    """``found``: (capacity,) and ``filled``: (n_actions,), work space."""

    found: Ints
    filled: Ints


def scan_index(n_actions: int, capacity: int) -> ScanIndex:
    """Allocate the work space of a scan."""
    return ScanIndex(np.zeros(capacity, dtype=np.int64), np.zeros(n_actions, dtype=np.int64))


@match.register(ScanIndex)
def _(
    index: ScanIndex,
    condition: object,
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,
    state: Ints,
    matched: Ints,
    first: Ints,
) -> None:
    n_actions = first.size - 1
    filled = index.filled
    filled[:] = 0
    n_found = 0
    for slot in range(n_used):
        is_match = rules[slot].numerosity > 0
        d = 0
        while is_match and d < state.size:
            is_match = admits(condition, slot, d, state[d])
            d += 1
        if is_match:
            index.found[n_found] = slot
            filled[rules[slot].action] += 1
            n_found += 1
    first[0] = 0
    for action in range(n_actions):
        first[action + 1] = first[action] + filled[action]
        filled[action] = first[action]
    for i in range(n_found):
        slot = index.found[i]
        action = rules[slot].action
        matched[filled[action]] = slot
        filled[action] += 1


@flip.register(ScanIndex)
def _(index: ScanIndex, condition: object, slot: int, action: int) -> None:
    pass


@find_identical.register(ScanIndex)
def _(
    index: ScanIndex,  # noqa: ARG001 - the index of bits needs it
    condition: object,
    rules: Any,  # noqa: ANN401 - an array of RULE
    n_used: int,
    rule: int,
    action: int,
) -> int:
    for slot in range(n_used):
        if (
            rules[slot].numerosity > 0
            and rules[slot].action == action
            and is_identical(condition, slot, rule)
        ):
            return slot
    return -1
