"""Tabular Q-learning on a model."""

from xcskit.kernels.compiler import kernel
from xcskit.kernels.model import Model, draw_start, sample_outcome
from xcskit.kernels.random import draw, draw_below
from xcskit.typing import Floats, Ints, Words

__all__ = ["learn_q"]


@kernel
def learn_q(
    model: Model,
    n_steps: int,
    gamma: float,
    learning_rate: float,
    decay: float,
    exploration_probability: float,
    environment: Words,
    exploration: Words,
    out_state: Ints,
    out_q: Floats,
    out_visits: Ints,
) -> None:
    """Go on learning for some steps; ``out_state`` holds the state, or -1 between episodes."""
    n_actions = out_q.shape[1]
    state = int(out_state[0])
    for _ in range(n_steps):
        if state < 0:
            state = draw_start(model, environment)
        if draw(exploration) < exploration_probability:
            action = draw_below(exploration, n_actions)
        else:
            action = _best_action(out_q, state, exploration)
        row = sample_outcome(model, n_actions, state, action, environment)
        next_state = int(model.next_state[row])
        target = float(model.reward[row])
        if not model.is_terminated[row]:
            target += gamma * _greatest(out_q, next_state)
        out_visits[state, action] += 1
        rate = learning_rate
        if decay > 0.0:
            rate = learning_rate * out_visits[state, action] ** -decay
        out_q[state, action] += rate * (target - out_q[state, action])
        state = -1 if model.is_terminated[row] else next_state
    out_state[0] = state


@kernel
def _greatest(q: Floats, state: int) -> float:
    best = float(q[state, 0])
    for action in range(1, q.shape[1]):
        best = max(best, q[state, action])
    return best


@kernel
def _best_action(q: Floats, state: int, exploration: Words) -> int:
    """Give the action of greatest value; exact ties are broken by a draw."""
    best = _greatest(q, state)
    n_best = 0
    for action in range(q.shape[1]):
        n_best += int(q[state, action] == best)
    rank = draw_below(exploration, n_best) if n_best > 1 else 0
    for action in range(q.shape[1]):
        if q[state, action] == best:
            if rank == 0:
                return action
            rank -= 1
    return 0
