"""A match set in parts: the rules of one action after those of another."""

from typing import Any

from xcskit.kernels.compiler import kernel
from xcskit.kernels.slots import Slots
from xcskit.typing import Ints

__all__ = ["part_by_action"]


@kernel
def part_by_action(rules: Any, listed: Slots, n_listed: int, matched: Slots, first: Ints) -> None:  # noqa: ANN401 - an array of RULE
    """Write the slots of a list action by action; within an action they keep their order.

    The slots of action a become ``matched[first[a]:first[a + 1]]``.
    """
    n_actions = first.size - 1
    first[:] = 0
    for i in range(n_listed):
        first[rules[listed[i]].action + 1] += 1
    for action in range(n_actions):
        first[action + 1] += first[action]
    for i in range(n_listed):
        action = rules[listed[i]].action
        matched[first[action]] = listed[i]
        first[action] += 1
    for action in range(n_actions, 0, -1):
        first[action] = first[action - 1]
    first[0] = 0
