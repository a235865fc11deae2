"""Tabular Q-learning: what learning without generalisation reaches in as many steps."""

from dataclasses import dataclass

import numpy as np

from xcskit.kernels.q_learning import learn_q
from xcskit.kernels.random import STREAMS, new_streams
from xcskit.mdp.bellman import check_values_exist
from xcskit.mdp.model import TabularMdp
from xcskit.mdp.outcomes import frozen
from xcskit.typing import Floats, Ints
from xcskit.validation import check_integer, check_real

__all__ = ["QLearning", "q_learning"]

_MOST_STEPS = 2**53
_MOST_VALUE = 1e150
_CHUNK = 10**6
"""Steps between two looks at whether Ctrl-C was pressed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class QLearning:
    """What tabular Q-learning learned, and on the way.

    Parameters
    ----------
    q
        Shape (n_states, n_actions).
    visits
        How often each pair was tried, shape (n_states, n_actions).
    history_steps, history_q
        After how many steps values were noted, and the values: shapes (n,) and
        (n, n_states, n_actions).
    """

    q: Floats
    visits: Ints
    history_steps: Ints
    history_q: Floats


def q_learning(
    mdp: TabularMdp,
    steps: int,
    seed: int = 0,
    *,
    gamma: float = 0.95,
    learning_rate: float = 0.1,
    decay: float = 0.0,
    exploration_probability: float = 0.5,
    initial_value: float = 0.0,
    every: int | None = None,
) -> QLearning:
    """Learn Q* by tabular Q-learning, in compiled code.

    Parameters
    ----------
    mdp
        The model; episodes begin with its training starts and have no step limit.
    steps, seed
        How many steps to take, and where the random streams start.
    gamma
        The discount factor.
    learning_rate, decay
        The k-th update of a pair has the rate ``learning_rate * k ** -decay``. A rate of 1 with
        a decay above 0.5, at most 1, converges to Q*; without decay, values keep moving about it
        where outcomes are random.
    exploration_probability
        The probability of a step with an action drawn uniformly; otherwise a best action, ties
        broken uniformly.
    initial_value
        Of every pair.
    every
        Steps between two notes of the history; none given means at the end only.

    Notes
    -----
    Watkins and Dayan (1992). A terminated outcome is worth its reward alone. The draws are those of
    the learner: start and outcome from the stream *environment*, the rest from *exploration*.

    Examples
    --------
    Beside XCSF and the optimum in one line, ``value_error(.., solution)``:

    >>> from xcskit.mdp import frozen_lake, solve
    >>> lake = frozen_lake("4x4")
    >>> learned = q_learning(lake, 50_000, seed=1)
    >>> error = abs(learned.q - solve(lake).q)[lake.states].mean()
    >>> bool(error < 0.001)
    True
    """
    check_values_exist(mdp)
    steps = check_integer("steps", steps, 0, _MOST_STEPS)
    every = max(steps, 1) if every is None else check_integer("every", every, 1)
    settings = (
        check_real("gamma", gamma, 0.0, 1.0),
        check_real("learning_rate", learning_rate, 0.0, 1.0, open_low=True),
        check_real("decay", decay, 0.0, 1.0),
        check_real("exploration_probability", exploration_probability, 0.0, 1.0),
    )
    streams = new_streams(check_integer("seed", seed, 0))
    environment = streams[STREAMS.index("environment")]
    exploration = streams[STREAMS.index("exploration")]
    shape = (mdp.n_states, mdp.n_actions)
    q = np.full(shape, check_real("initial_value", initial_value, -_MOST_VALUE, _MOST_VALUE))
    q[mdp.is_terminal] = 0.0
    visits = np.zeros(shape, dtype=np.int64)
    state = np.full(1, -1)
    model = mdp.kernel_model("training")
    marks = [*range(every, steps, every), steps]
    history: list[Floats] = []
    done = 0
    for mark in marks:
        while done < mark:
            n_steps = min(mark - done, _CHUNK)
            learn_q(model, n_steps, *settings, environment, exploration, state, q, visits)
            done += n_steps
        history.append(q.copy())
    return QLearning(
        q=frozen(q, np.float64),
        visits=frozen(visits, np.int64),
        history_steps=frozen(marks, np.int64),
        history_q=frozen(np.stack(history), np.float64),
    )
