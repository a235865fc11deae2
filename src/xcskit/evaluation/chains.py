"""The Markov chain that a policy makes of a model, its ends told apart into success and failure."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from xcskit.mdp import TabularMdp
from xcskit.mdp.bellman import chain_of
from xcskit.mdp.graphs import graph_of
from xcskit.typing import Bools, Floats, Ints

__all__ = [
    "GoalChain",
    "goal_chain",
    "leading_to",
    "reached_from",
    "recurrent_states",
    "solver_of",
]


class GoalChain(NamedTuple):
    """Where a policy's episodes start, go on, and end.

    ``start``: (n_states,), the probability of each start. ``transition``: (n_states, n_states), the
    probabilities that the episode goes on, and where. ``success``, ``failure``: (n_states,), the
    probabilities that the next step ends the episode at a goal, or elsewhere.
    """

    start: Floats
    transition: "scipy.sparse.csr_array[np.float64]"
    success: Floats
    failure: Floats

    @property
    def can_end(self) -> Bools:
        """The states whose next step may end the episode, shape (n_states,)."""
        return self.success + self.failure > 0.0


def goal_chain(mdp: TabularMdp, policy: Ints) -> GoalChain:
    """Give the chain of a policy, an action a state, from the model's test starts."""
    table = mdp.outcomes
    pairs = np.arange(mdp.n_states) * mdp.n_actions + policy

    def of_next_step(is_counted: Bools) -> Floats:
        sums: Floats = np.add.reduceat(table.probability * is_counted, table.first[:-1])[pairs]
        return sums

    return GoalChain(
        mdp.test_start,
        chain_of(mdp, policy).transition,
        of_next_step(table.is_success),
        of_next_step(table.is_terminated & ~table.is_success),
    )


def reached_from(chain: GoalChain, is_source: Bools) -> Bools:
    """Tell the states that can be reached from some, these included: shape (n_states,)."""
    source, target = _edges(chain)
    return _reached(source, target, is_source)


def leading_to(chain: GoalChain, is_target: Bools) -> Bools:
    """Tell the states from which some can be reached, these included: shape (n_states,)."""
    source, target = _edges(chain)
    return _reached(target, source, is_target)


def recurrent_states(chain: GoalChain) -> tuple[Bools, Ints]:
    """Tell which states, once entered, are visited for ever, and the class that each belongs to."""
    _, labels = scipy.sparse.csgraph.connected_components(chain.transition, connection="strong")
    source, target = _edges(chain)
    is_left = np.zeros(labels.size, dtype=np.bool_)
    is_left[labels[source[labels[source] != labels[target]]]] = True
    is_left[labels[chain.can_end]] = True
    return ~is_left[labels], labels.astype(np.int64)


def solver_of(
    transition: "scipy.sparse.csr_array[np.float64]",
) -> Callable[[Floats], Floats]:
    """Give what solves ``x = gain + transition @ x`` for many gains, the system being regular."""
    n_states = transition.shape[0]
    if n_states == 0:
        return np.zeros_like
    system = scipy.sparse.eye_array(n_states, format="csc") - transition.tocsc()
    solve: Callable[[Floats], Floats] = scipy.sparse.linalg.splu(system).solve
    return solve


def _edges(chain: GoalChain) -> tuple[Ints, Ints]:
    source, target = chain.transition.nonzero()
    return np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)


def _reached(source: Ints, target: Ints, is_first: Bools) -> Bools:
    n_states = is_first.size
    first = np.flatnonzero(is_first)
    entrance = np.full(first.size, n_states)
    graph = graph_of(
        np.concatenate([source, entrance]), np.concatenate([target, first]), n_states + 1
    )
    found = scipy.sparse.csgraph.breadth_first_order(graph, n_states, return_predecessors=False)
    is_reached = np.zeros(n_states + 1, dtype=np.bool_)
    is_reached[found] = True
    return is_reached[:n_states]
