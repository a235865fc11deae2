"""Bellman's equations on a model: backups, the chain that a policy makes, and rounding."""

from typing import NamedTuple

import numpy as np
import scipy

from xcskit.errors import SolverError
from xcskit.mdp.model import TabularMdp, check_mdp
from xcskit.typing import Floats, Ints

__all__ = ["Chain", "backup", "chain_of", "check_values_exist", "rounding_error", "solve_chain"]

_GREATEST_REWARD = 1e150


def check_values_exist(mdp: object) -> None:
    """Raise an error unless this is a model, whose values are numbers that doubles hold."""
    checked = check_mdp(mdp)
    rewards = checked.outcomes.reward
    greatest = float(rewards[np.abs(rewards).argmax()])
    if abs(greatest) > _GREATEST_REWARD:
        msg = (
            f"{checked.name!r} has a reward of {greatest:g}, so that its values may be more than "
            f"doubles hold; scale its rewards to at most {_GREATEST_REWARD:g} in size"
        )
        raise SolverError(msg)


def backup(mdp: TabularMdp, gamma: float, v: Floats) -> Floats:
    """Give the value of each pair when what follows is worth ``v``: (n_states, n_actions)."""
    follows = np.asarray(mdp.continuation @ v, dtype=np.float64)
    return mdp.expected_reward + gamma * follows.reshape(mdp.n_states, mdp.n_actions)


def rounding_error(mdp: TabularMdp, gamma: float, v: Floats) -> float:
    """Bound the rounding error of one backup of ``v``, or of a residual computed from one."""
    n_terms = int(np.diff(mdp.outcomes.first).max())
    size = np.abs(mdp.outcomes.reward).max() + gamma * np.abs(v).max()
    return float((n_terms + 4) * np.finfo(np.float64).eps * size)


class Chain(NamedTuple):
    """The Markov chain that a policy makes of a model.

    ``reward``: (n_states,), the mean reward of a step. ``transition``: (n_states, n_states), the
    probabilities that the episode goes on, and where; the rest of a row is its end.
    """

    reward: Floats
    transition: "scipy.sparse.csr_array[np.float64]"


def chain_of(mdp: TabularMdp, policy: Ints) -> Chain:
    """Give the chain of a policy that names an action for each state."""
    pairs = np.arange(mdp.n_states) * mdp.n_actions + policy
    return Chain(mdp.expected_reward.ravel()[pairs], mdp.continuation[pairs])


def solve_chain(
    transition: "scipy.sparse.csr_array[np.float64]", gain: Floats, gamma: float
) -> Floats:
    """Solve ``v = gain + gamma * transition @ v`` by sparse factorisation.

    The system is regular where gamma is below 1, or every state can come to an end.
    """
    n_states = gain.size
    if n_states == 0:
        return np.zeros(0)
    system = scipy.sparse.eye_array(n_states, format="csc") - gamma * transition.tocsc()
    solution: Floats = scipy.sparse.linalg.splu(system).solve(gain)
    return solution
