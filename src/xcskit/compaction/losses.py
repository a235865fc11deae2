"""Losses of a compaction, kept up to date as values change in a few states."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from xcskit.compaction.task import optimal_values, states_of
from xcskit.errors import CompactionError
from xcskit.evaluation import policy_values
from xcskit.mdp import Solution
from xcskit.rules import Niches
from xcskit.typing import Floats, Ints

__all__ = ["LOSSES", "Loss", "begin_loss", "mean_regret"]


class Loss(Protocol):
    """What compaction costs, as a running value."""

    value: float

    def would_be(self, states: Ints, values: Floats) -> float:
        """Give the loss if Qhat in these rows became ``values``, shape (n, n_actions)."""
        ...

    def accept(self) -> None:
        """Make the change that was asked about last."""
        ...


@dataclass
class _Mean:
    """The mean over the states of a loss that each state has by itself."""

    of_states: Callable[[Ints, Floats], Floats]
    losses: Floats
    value: float = field(init=False)
    _asked: tuple[Ints, Floats, float] = field(init=False)

    def __post_init__(self) -> None:
        self.value = float(self.losses.mean())

    def would_be(self, states: Ints, values: Floats) -> float:
        new = self.of_states(states, values)
        change = float((new - self.losses[states]).sum()) / self.losses.size
        self._asked = states, new, self.value + change
        return self._asked[2]

    def accept(self) -> None:
        states, new, self.value = self._asked
        self.losses[states] = new


@dataclass
class _Greatest:
    """The greatest change that was accepted so far: it bounds the greatest change there is."""

    of_states: Callable[[Ints, Floats], Floats]
    value: float = 0.0
    _asked: float = 0.0

    def would_be(self, states: Ints, values: Floats) -> float:
        self._asked = max(self.value, float(self.of_states(states, values).max(initial=0.0)))
        return self._asked

    def accept(self) -> None:
        self.value = self._asked


@dataclass
class _Regret:
    """The mean of V* - V of the greedy policy, evaluated anew where the policy changes."""

    solution: Solution
    states: Ints
    policy: Ints
    value: float = field(init=False)
    _asked: tuple[Ints, Ints, float] = field(init=False)

    def __post_init__(self) -> None:
        self.value = mean_regret(self.solution, self.states, self.policy)

    def would_be(self, states: Ints, values: Floats) -> float:
        actions = values.argmax(axis=1)
        regret = self.value
        if not np.array_equal(actions, self.policy[states]):
            policy = self.policy.copy()
            policy[states] = actions
            regret = mean_regret(self.solution, self.states, policy)
        self._asked = states, actions, regret
        return regret

    def accept(self) -> None:
        states, actions, self.value = self._asked
        self.policy[states] = actions


def mean_regret(solution: Solution, states: Ints, policy: Ints) -> float:
    """Give the mean over some states of V* - V of a policy that is optimal elsewhere.

    Parameters
    ----------
    solution
        The optimum of the model.
    states, policy
        The states that count, and an action for each of them.

    Returns
    -------
    float
        Exact up to rounding, never below 0; with gamma 1 infinite where the policy loses for ever.
    """
    whole = solution.policy.copy()
    whole[states] = policy
    v = policy_values(solution.mdp, whole, solution.gamma).v
    return max(0.0, float((solution.v[states] - v[states]).mean()))


def _greatest_change(niches: Niches, values: Floats, _solution: Solution | None) -> Loss:  # noqa: ARG001 - one interface
    full = values.copy()
    return _Greatest(lambda states, new: np.abs(new - full[states]).max(axis=1))


def _mean_change(niches: Niches, values: Floats, _solution: Solution | None) -> Loss:  # noqa: ARG001 - one interface
    full = values.copy()
    return _Mean(lambda states, new: np.abs(new - full[states]).mean(axis=1), np.zeros(len(full)))


def _policy_change(niches: Niches, values: Floats, _solution: Solution | None) -> Loss:  # noqa: ARG001 - one interface
    greedy = values.argmax(axis=1)
    return _Mean(
        lambda states, new: (new.argmax(axis=1) != greedy[states]).astype(np.float64),
        np.zeros(len(greedy)),
    )


def _value_error(niches: Niches, values: Floats, solution: Solution | None) -> Loss:
    best = optimal_values(niches, _needed(solution, "mean_absolute_error"))
    return _Mean(
        lambda states, new: np.abs(best[states] - new).mean(axis=1),
        np.abs(best - values).mean(axis=1),
    )


def _regret(niches: Niches, values: Floats, solution: Solution | None) -> Loss:
    known = _needed(solution, "regret")
    return _Regret(known, states_of(niches, known.mdp), values.argmax(axis=1))


def _needed(solution: Solution | None, name: str) -> Solution:
    if solution is None:
        msg = f"the loss {name!r} needs the optimum: give compact(..., solution=solve(mdp, gamma))"
        raise CompactionError(msg)
    return solution


LOSSES: dict[str, Callable[[Niches, Floats, Solution | None], Loss]] = {
    "greatest_change": _greatest_change,
    "mean_change": _mean_change,
    "mean_absolute_error": _value_error,
    "policy_change": _policy_change,
    "regret": _regret,
}
"""What backward elimination can hold down.

``greatest_change`` and ``mean_change`` of Qhat; ``mean_absolute_error``: the mean of |Q* - Qhat|;
``policy_change``: the share of states whose greedy action is another; ``regret``: the mean of
V* - V of the greedy policy, exact.
"""


def begin_loss(name: str, niches: Niches, values: Floats, solution: Solution | None) -> Loss:
    """Give the running loss of a name, for the values of the full rule set."""
    return LOSSES[name](niches, values, solution)
