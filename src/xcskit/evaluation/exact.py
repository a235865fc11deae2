"""Policies evaluated exactly: their values, and how surely and how soon they reach the goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xcskit.errors import ConfigurationError, SolverError
from xcskit.evaluation.chains import (
    GoalChain,
    goal_chain,
    leading_to,
    reached_from,
    recurrent_states,
    solver_of,
)
from xcskit.evaluation.policies import Start, complete_policy, starting_from
from xcskit.mdp import TabularMdp
from xcskit.mdp.bellman import backup, chain_of, check_values_exist, solve_chain
from xcskit.mdp.model import check_mdp
from xcskit.mdp.outcomes import frozen
from xcskit.typing import Floats, Ints
from xcskit.validation import as_array, check_integer, check_real

__all__ = ["PolicyValues", "StepsToGoal", "policy_values", "steps_to_goal"]

_MOST_STEPS = 10**8


class PolicyValues(NamedTuple):
    """What following a policy is worth.

    ``q``: (n_states, n_actions), the value of each action when the policy follows after it.
    ``v``: (n_states,), the value of each state.
    """

    q: Floats
    v: Floats


def policy_values(
    mdp: TabularMdp, policy: Sequence[int] | Ints, gamma: float = 0.95
) -> PolicyValues:
    """Evaluate a policy exactly, by a sparse linear solve.

    Parameters
    ----------
    mdp
        The model.
    policy
        An action for each state of the model, shape (n_states,).
    gamma
        The discount factor, 1 included.

    Raises
    ------
    SolverError
        With gamma 1, where the policy goes round for ever among rewards and losses, or may be
        caught by either for ever: there is no sum of rewards then.

    Notes
    -----
    Values are the solution of ``v = r + gamma P v``, exact up to rounding. With gamma 1, a policy
    may never end: where it then gathers no more reward, what it gathered before is its value; where
    it gathers rewards alone the value is infinite, and minus infinite with losses alone.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake
    >>> lake = frozen_lake(["SFG"])
    >>> policy_values(lake, [2, 2, 0], gamma=0.5).v
    array([0.5, 1. , 0. ])
    """
    check_values_exist(mdp)
    gamma = check_real("gamma", gamma, 0.0, 1.0)
    actions = _action_for_every_state(mdp, policy)
    reward, transition = chain_of(mdp, actions)
    if gamma < 1.0:
        v = solve_chain(transition, reward, gamma)
    else:
        v = _undiscounted_values(mdp, reward, goal_chain(mdp, actions))
    return PolicyValues(frozen(backup(mdp, gamma, v), np.float64), frozen(v, np.float64))


def _action_for_every_state(mdp: TabularMdp, policy: Sequence[int] | Ints) -> Ints:
    shape = as_array(policy).shape
    if shape != (mdp.n_states,):
        msg = (
            f"the values of a policy need an action for each of the {mdp.n_states} states of "
            f"{mdp.name!r}; got shape {shape} ({type(policy).__name__})"
        )
        raise ConfigurationError(msg)
    return complete_policy(mdp, policy)


def _undiscounted_values(mdp: TabularMdp, reward: Floats, chain: GoalChain) -> Floats:
    """Sum rewards for ever: 0 in states that are never left at no gain, infinite with a gain."""
    is_recurrent, labels = recurrent_states(chain)
    is_paying = is_recurrent & (reward != 0.0)
    signs = np.unique(np.sign(reward[is_paying]))
    if signs.size == 2:
        gaining, losing = (int(np.argmax(is_paying & (reward * sign > 0))) for sign in (1, -1))
        msg = (
            f"gamma 1 gives this policy no value on {mdp.name!r}: it can go on for ever with "
            f"rewards in {mdp.describe_state(gaining)} and losses in "
            f"{mdp.describe_state(losing)}; use a gamma below 1"
        )
        raise SolverError(msg)
    is_endless = leading_to(chain, np.isin(labels, labels[is_paying]))
    v = np.zeros(mdp.n_states)
    v[is_endless] = np.inf * signs[0] if signs.size else 0.0
    rest = np.flatnonzero(~is_endless & ~is_recurrent)
    v[rest] = solve_chain(chain.transition[rest][:, rest], reward[rest], 1.0)
    return v


@dataclass(frozen=True, kw_only=True, eq=False)
class StepsToGoal:
    """How surely and how soon a policy reaches the goal, exact up to rounding.

    Parameters
    ----------
    success_probability
        Of ending at a goal (an outcome of the model's that is a success).
    failure_probability
        Of ending anywhere else.
    unfinished_probability
        Of still going on at the step limit; without a limit, of never ending.
    expected_steps, standard_deviation
        Of the number of steps given success; None where there is none.
    step_limit
        After how many steps an episode is stopped; None for never.
    distribution
        The probability of reaching the goal with exactly so many steps, shape (step_limit + 1,);
        None without a limit.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake, solve
    >>> lake = frozen_lake("8x8", slip=0.1)
    >>> print(steps_to_goal(lake, solve(lake, 0.95).policy, step_limit=200))
    reaches the goal with probability 0.8852, then in 15.34 steps on average (sd 1.56)
    """

    success_probability: float
    failure_probability: float
    unfinished_probability: float
    expected_steps: float | None
    standard_deviation: float | None
    step_limit: int | None
    distribution: Floats | None

    def __str__(self) -> str:
        """Say it in a sentence."""
        if self.expected_steps is None:
            unfinished = "never ends" if self.step_limit is None else "is stopped at the limit"
            return (
                f"never reaches the goal: fails with probability {self.failure_probability:.4f}, "
                f"{unfinished} with {self.unfinished_probability:.4f}"
            )
        return (
            f"reaches the goal with probability {self.success_probability:.4f}, then in "
            f"{self.expected_steps:.2f} steps on average (sd {self.standard_deviation:.2f})"
        )


def steps_to_goal(
    mdp: TabularMdp,
    policy: Sequence[int] | Ints,
    *,
    start: Start = "test",
    step_limit: int | None = None,
) -> StepsToGoal:
    """Tell exactly how surely and how soon a policy reaches the goal.

    Parameters
    ----------
    mdp
        The model.
    policy
        An action for each state of the model, or for each of S.
    start
        ``"test"`` or ``"training"``, a state, or the probability of starting in each state.
    step_limit
        After how many steps an episode is stopped; none given means never.

    Notes
    -----
    Without a limit by a sparse linear solve over the states that the policy can come to and end
    from: with P the way among them and b the probability of success in one step, h = b + P h is
    the probability of success, w = h + P w the expected steps on the way to it, and w/h those given
    success. With a limit, the distribution over states is followed step by step.
    """
    from_there = starting_from(check_mdp(mdp), start)
    actions = complete_policy(from_there, policy)
    chain = goal_chain(from_there, actions)
    if step_limit is None:
        return _solve_for_steps(chain)
    return _follow(chain, check_integer("step_limit", step_limit, 0, _MOST_STEPS))


def _solve_for_steps(chain: GoalChain) -> StepsToGoal:
    is_reached = reached_from(chain, chain.start > 0.0)
    ends_some_time = leading_to(chain, chain.can_end)
    inside = np.flatnonzero(is_reached & ends_some_time)
    endless = np.flatnonzero(is_reached & ~ends_some_time)
    start = chain.start[inside]
    among = chain.transition[inside][:, inside]
    caught = np.asarray(chain.transition[inside][:, endless].sum(axis=1), dtype=np.float64)
    solve = solver_of(among)
    success = solve(chain.success[inside])
    steps = solve(success)
    squares = solve(success + 2.0 * (among @ steps))
    total = float(start @ success)
    mean = float(start @ steps) / total if total else None
    return StepsToGoal(
        success_probability=_chance(total),
        failure_probability=_chance(float(start @ solve(chain.failure[inside]))),
        unfinished_probability=_chance(float(start @ solve(caught) + chain.start[endless].sum())),
        expected_steps=mean,
        standard_deviation=(
            None if mean is None else _root(float(start @ squares) / total - mean**2)
        ),
        step_limit=None,
        distribution=None,
    )


def _follow(chain: GoalChain, step_limit: int) -> StepsToGoal:
    forwards = chain.transition.T.tocsr()
    here: Floats = chain.start
    arrivals = np.zeros(step_limit + 1)
    failure = 0.0
    for step in range(1, step_limit + 1):
        arrivals[step] = here @ chain.success
        failure += float(here @ chain.failure)
        here = np.asarray(forwards @ here, dtype=np.float64)
    total = float(arrivals.sum())
    count = np.arange(step_limit + 1)
    mean = float(count @ arrivals) / total if total else None
    return StepsToGoal(
        success_probability=_chance(total),
        failure_probability=_chance(failure),
        unfinished_probability=_chance(float(here.sum())),
        expected_steps=mean,
        standard_deviation=(
            None if mean is None else _root(float((count - mean) ** 2 @ arrivals) / total)
        ),
        step_limit=step_limit,
        distribution=frozen(arrivals, np.float64),
    )


def _chance(computed: float) -> float:
    """Give a probability without the rounding that makes it more than certain."""
    return min(max(computed, 0.0), 1.0)


def _root(variance: float) -> float:
    return float(np.sqrt(max(variance, 0.0)))
