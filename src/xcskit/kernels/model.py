"""A tabular environment as the kernels see it: outcomes in rows, pairs as slices of them."""

from typing import NamedTuple

from xcskit.kernels.compiler import kernel
from xcskit.kernels.random import draw
from xcskit.typing import Bools, Floats, Ints, Words

__all__ = ["Model", "draw_start", "outcome_at", "sample_outcome", "start_at"]


class Model(NamedTuple):
    """Outcomes of pair ``state * n_actions + action`` are rows ``first[pair]:first[pair + 1]``.

    ``first``: (n_states * n_actions + 1,). ``next_state``, ``cumulative`` (probability, within the
    pair), ``reward``, ``is_terminated``: (n_outcomes,). ``observation``: (n_states, n_dimensions).
    ``start`` and ``start_cumulative``: (n_starts,).
    """

    first: Ints
    next_state: Ints
    cumulative: Floats
    reward: Floats
    is_terminated: Bools
    observation: Ints
    start: Ints
    start_cumulative: Floats


@kernel
def outcome_at(model: Model, n_actions: int, state: int, action: int, u: float) -> int:
    """Give the row of the pair's first outcome whose cumulative probability exceeds ``u``."""
    pair = state * n_actions + action
    row = int(model.first[pair])
    last = model.first[pair + 1] - 1
    while row < last and model.cumulative[row] <= u:
        row += 1
    return row


@kernel
def start_at(model: Model, u: float) -> int:
    """Give the first start whose cumulative probability exceeds ``u``."""
    low, high = 0, model.start.size - 1
    while low < high:
        middle = (low + high) // 2
        if model.start_cumulative[middle] <= u:
            low = middle + 1
        else:
            high = middle
    return int(model.start[low])


@kernel
def sample_outcome(model: Model, n_actions: int, state: int, action: int, stream: Words) -> int:
    """Draw once, and give the row of what follows the pair."""
    return outcome_at(model, n_actions, state, action, draw(stream))


@kernel
def draw_start(model: Model, stream: Words) -> int:
    """Draw once, and give a state of the start distribution."""
    return start_at(model, draw(stream))
