"""What solving a model gives: the optimum, its policy, and how exact they are."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from xcskit.mdp.model import TabularMdp
from xcskit.mdp.outcomes import frozen
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import check_instance

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ADVOCACY_TOLERANCE", "FiniteHorizonSolution", "Solution", "check_solution"]

ADVOCACY_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The optimal values of a model, with a bound on their error.

    Parameters
    ----------
    mdp
        The model.
    gamma
        The discount factor.
    q
        Q*, shape (n_states, n_actions); 0 in terminal states.
    policy
        An optimal action for each state, shape (n_states,).
    error_bound
        No entry of ``q`` is farther from Q* than this, rounding included. For gamma 1 see
        ``policy_iteration``.
    method, n_iterations
        How it was computed.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake, solve
    >>> solution = solve(frozen_lake("8x8", slip=0.1), gamma=0.95)
    >>> print(f"{solution.v[0]:.5f}")
    0.42559
    """

    mdp: TabularMdp
    gamma: float
    q: Floats
    policy: Ints
    error_bound: float
    method: str
    n_iterations: int

    def __repr__(self) -> str:
        """Name, method and bound."""
        return (
            f"Solution({self.mdp.name!r}, gamma={self.gamma:g}, {self.method}, "
            f"error_bound={self.error_bound:.1e})"
        )

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model that was solved."""
        return self.mdp.fingerprint

    @cached_property
    def v(self) -> Floats:
        """V*, shape (n_states,)."""
        return frozen(self.q.max(axis=1), np.float64)

    @cached_property
    def advocacy(self) -> Bools:
        """The optimal actions, shape (n_states, n_actions): those within 1e-9 of the best.

        All False in terminal states.
        """
        is_best = self.q >= self.v[:, np.newaxis] - ADVOCACY_TOLERANCE
        return frozen(is_best & ~self.mdp.is_terminal[:, np.newaxis], np.bool_)

    @cached_property
    def action_gaps(self) -> Floats:
        """The best value less the second best, shape (n_states,): 0 where two actions are optimal.

        Infinite where there is only one action.
        """
        if self.mdp.n_actions == 1:
            return frozen(np.full(self.mdp.n_states, np.inf), np.float64)
        top = np.partition(self.q, -2, axis=1)
        return frozen(top[:, -1] - top[:, -2], np.float64)

    def table(self) -> "pl.DataFrame":
        """Give a row a non-terminal state and action: what is seen, Q*, and if it is optimal."""
        import polars as pl  # noqa: PLC0415 - slow to import

        states = np.flatnonzero(~self.mdp.is_terminal)
        n_actions = self.mdp.n_actions
        seen = np.repeat(self.mdp.observations[states], n_actions, axis=0)
        return pl.DataFrame(
            {
                "state": np.repeat(states, n_actions),
                **{name: seen[:, d] for d, name in enumerate(self.mdp.space.names)},
                "action": list(self.mdp.action_names) * len(states),
                "q": self.q[states].ravel(),
                "is_optimal": self.advocacy[states].ravel(),
                "v": np.repeat(self.v[states], n_actions),
                "action_gap": np.repeat(self.action_gaps[states], n_actions),
            }
        )


def check_solution(solution: object) -> Solution:
    """Give a solution, or raise an error that says how to make one."""
    return check_instance("solution", solution, Solution, "solve makes one of a model")


@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteHorizonSolution:
    """The optimum when an episode stops after a number of steps.

    Parameters
    ----------
    mdp, gamma
        The model, and the discount factor, which may be 1.
    v
        Shape (horizon + 1, n_states): row k is the value with k steps left.
    policy
        Shape (horizon + 1, n_states): row k is what to do with k steps left; row 0 is not used.
    error_bound
        No entry of ``v`` is farther from the optimum than this, which is rounding alone.
    """

    mdp: TabularMdp
    gamma: float
    v: Floats
    policy: Ints
    error_bound: float

    @property
    def horizon(self) -> int:
        """The number of steps after which an episode stops."""
        return len(self.v) - 1
