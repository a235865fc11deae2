"""What can be read off a table of outcomes: cumulative probabilities, and the states visited."""

from xcskit.kernels.compiler import kernel
from xcskit.typing import Bools, Floats, Ints

__all__ = ["cumulate_within_pairs", "mark_visited"]


@kernel
def cumulate_within_pairs(first: Ints, probability: Floats, out_cumulative: Floats) -> None:
    """Sum the probabilities of each pair's outcomes, in their order."""
    for pair in range(first.size - 1):
        total = 0.0
        for row in range(first[pair], first[pair + 1]):
            total += probability[row]
            out_cumulative[row] = total


@kernel
def mark_visited(
    first: Ints,
    next_state: Ints,
    is_terminated: Bools,
    n_actions: int,
    starts: Ints,
    out_is_visited: Bools,
    out_is_acting: Bools,
    out_pending: Ints,
) -> None:
    """Mark the states that episodes visit, and those in which an agent acts.

    An episode ends with a terminated outcome: the state that it leads to is visited, but nobody
    acts there unless another way leads to it. ``out_pending`` is room for all states.
    """
    n_pending = 0
    for state in starts:
        if not out_is_acting[state]:
            out_is_acting[state] = True
            out_is_visited[state] = True
            out_pending[n_pending] = state
            n_pending += 1
    while n_pending > 0:
        n_pending -= 1
        state = out_pending[n_pending]
        for row in range(first[state * n_actions], first[(state + 1) * n_actions]):
            successor = next_state[row]
            out_is_visited[successor] = True
            if not is_terminated[row] and not out_is_acting[successor]:
                out_is_acting[successor] = True
                out_pending[n_pending] = successor
                n_pending += 1
