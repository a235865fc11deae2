"""Bellman's optimality equation, swept over a table of outcomes."""

from xcskit.kernels.compiler import kernel
from xcskit.typing import Bools, Floats, Ints

__all__ = ["sweep"]


@kernel
def sweep(
    first: Ints,
    next_state: Ints,
    probability: Floats,
    reward: Floats,
    is_terminated: Bools,
    n_actions: int,
    gamma: float,
    is_ascending: bool,
    out_v: Floats,
) -> float:
    """Replace each state's value by its best backup, in place, and give the greatest change."""
    n_states = out_v.size
    change = 0.0
    for i in range(n_states):
        state = i if is_ascending else n_states - 1 - i
        best = -1.0
        for action in range(n_actions):
            pair = state * n_actions + action
            value = 0.0
            for row in range(first[pair], first[pair + 1]):
                gain = reward[row]
                if not is_terminated[row]:
                    gain += gamma * out_v[next_state[row]]
                value += probability[row] * gain
            if action == 0 or value > best:
                best = value
        change = max(change, abs(best - out_v[state]))
        out_v[state] = best
    return change
