"""A tabular environment as the kernels see it: outcomes in rows, pairs as slices of them."""

from typing import NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.random import draw
from xcskit.typing import Bools, Floats, Ints, Words

__all__ = ["Model", "draw_start", "sample_outcome"]


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
def _first_exceeding(cumulative: Floats, begin: int, end: int, u: float) -> int:
    row = begin
    while row < end - 1 and cumulative[row] <= u:
        row += 1
    return row


@kernel
def sample_outcome(model: Model, n_actions: int, state: int, action: int, stream: Words) -> int:
    """Draw once, and give the row of the first outcome whose cumulative probability exceeds it."""
    pair = state * n_actions + action
    u = draw(stream)
    return _first_exceeding(model.cumulative, model.first[pair], model.first[pair + 1], u)


@kernel
def draw_start(model: Model, stream: Words) -> int:
    """Draw once, and give a state of the start distribution."""
    row = int(np.searchsorted(model.start_cumulative, draw(stream), side="right"))
    return int(model.start[min(row, model.start.size - 1)])
