"""Bellman's equations, swept in place over a table of outcomes."""

from xcskit.kernels.compiler import kernel
from xcskit.typing import Bools, Floats, Ints

__all__ = ["sweep_optimality", "sweep_policy"]


@kernel
def _value_of_pair(
    first: Ints,
    next_state: Ints,
    probability: Floats,
    reward: Floats,
    is_terminated: Bools,
    pair: int,
    gamma: float,
    v: Floats,
) -> float:
    value = 0.0
    for row in range(first[pair], first[pair + 1]):
        gain = float(reward[row])
        if not is_terminated[row]:
            gain += gamma * v[next_state[row]]
        value += probability[row] * gain
    return value


@kernel
def sweep_optimality(
    first: Ints,
    next_state: Ints,
    probability: Floats,
    reward: Floats,
    is_terminated: Bools,
    n_actions: int,
    gamma: float,
    is_ascending: bool,
    out_v: Floats,
    out_policy: Ints,
) -> float:
    """Replace each state's value by that of its best action, and give the greatest change."""
    n_states = out_v.size
    change = 0.0
    for i in range(n_states):
        state = i if is_ascending else n_states - 1 - i
        pair = state * n_actions
        out_policy[state] = 0
        best = _value_of_pair(
            first, next_state, probability, reward, is_terminated, pair, gamma, out_v
        )
        for other in range(pair + 1, pair + n_actions):
            value = _value_of_pair(
                first, next_state, probability, reward, is_terminated, other, gamma, out_v
            )
            if value > best:
                best = value
                out_policy[state] = other - pair
        change = max(change, abs(best - out_v[state]))
        out_v[state] = best
    return change


@kernel
def sweep_policy(
    first: Ints,
    next_state: Ints,
    probability: Floats,
    reward: Floats,
    is_terminated: Bools,
    n_actions: int,
    gamma: float,
    is_ascending: bool,
    policy: Ints,
    out_v: Floats,
) -> None:
    """Replace each state's value by that of the policy's action."""
    n_states = out_v.size
    for i in range(n_states):
        state = i if is_ascending else n_states - 1 - i
        pair = state * n_actions + policy[state]
        out_v[state] = _value_of_pair(
            first, next_state, probability, reward, is_terminated, pair, gamma, out_v
        )
