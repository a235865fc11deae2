"""How far values and policy are from the optimum: the metrics of the paper."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from xcskit.errors import HoleError
from xcskit.evaluation.values import (
    Holes,
    Values,
    Valuing,
    check_fit,
    check_holes,
    check_no_hole,
    plain_values,
    values_on,
)
from xcskit.mdp import Solution
from xcskit.mdp.solution import check_solution
from xcskit.typing import Bools, Floats, Ints

__all__ = ["against", "greedy_policy", "is_correct", "policy_accuracy", "value_error"]


def value_error(
    q_hat: Values,
    solution: Solution,
    states: Sequence[int] | Ints | None = None,
    *,
    holes: Holes = "raise",
) -> float:
    """Give the mean absolute error of values over states and actions.

    Parameters
    ----------
    q_hat
        Values: an array with a row for each of ``states``, or for each state of the model; or what
        has them, such as a learner, a rule set, or tabular Q-learning.
    solution
        The optimum.
    states
        The states that count; none given means S, ``solution.mdp.states``.
    holes
        What to do where a pair has no value (NaN or masked): raise an error that lists the pairs,
        or leave them out of the mean.

    Raises
    ------
    HoleError
        A pair has no value and ``holes`` is "raise", or no pair has one.

    Notes
    -----
    The first equation of the paper's section "Metrics".

    Examples
    --------
    >>> import numpy as np
    >>> from xcskit.mdp import frozen_lake, solve
    >>> solution = solve(frozen_lake("8x8"), gamma=0.95)
    >>> print(f"{value_error(np.zeros((64, 4)), solution):.4f}")
    0.5643
    """
    check_holes(holes)
    chosen = check_solution(solution).mdp.select_states(states)
    values = values_on(q_hat, solution.mdp, chosen)
    errors = np.abs(values - solution.q[chosen])
    is_hole = np.isnan(values)
    if holes == "raise" or is_hole.all():
        check_no_hole(is_hole, solution.mdp, chosen)
    return float(errors[~is_hole].mean())


def policy_accuracy(
    q_hat: Values,
    solution: Solution,
    states: Sequence[int] | Ints | None = None,
    *,
    holes: Holes = "raise",
) -> float:
    """Give the share of the states in which the policy of some values is correct.

    Parameters
    ----------
    q_hat, solution, states
        As for ``value_error``.
    holes
        What to do where a pair has no value: raise an error that lists the pairs, or leave out the
        states that have one.

    Raises
    ------
    HoleError
        A pair has no value and ``holes`` is "raise", or every state has such a pair.

    Notes
    -----
    The second equation of the paper's section "Metrics"; see ``is_correct``.
    """
    check_holes(holes)
    chosen = check_solution(solution).mdp.select_states(states)
    values = values_on(q_hat, solution.mdp, chosen)
    is_hole = np.isnan(values)
    is_defined = ~is_hole.any(axis=1)
    if holes == "raise" or not is_defined.any():
        check_no_hole(is_hole, solution.mdp, chosen)
    return float(is_correct(values[is_defined], solution.advocacy[chosen[is_defined]]).mean())


def is_correct(q_hat: Floats, advocacy: Bools) -> Bools:
    """Tell in which states values and optimum advocate an action in common, shape (n,).

    Parameters
    ----------
    q_hat
        Values, which advocate the actions that equal the best exactly: shape (n, n_actions).
    advocacy
        The actions that the optimum advocates (``Solution.advocacy``): shape (n, n_actions).

    Notes
    -----
    C of the paper's section "Metrics". False where a value is NaN.
    """
    is_advocated = q_hat == q_hat.max(axis=1, keepdims=True)
    correct: Bools = (is_advocated & advocacy).any(axis=1)
    return correct


def greedy_policy(q_hat: ArrayLike) -> Ints:
    """Give the action of greatest value in each row, the lowest index among exact ties.

    Parameters
    ----------
    q_hat
        Values, shape (n, n_actions).

    Raises
    ------
    HoleError
        Some row has no value for some action, so that its best action is undefined.

    Examples
    --------
    >>> greedy_policy([[0.0, 0.5, 0.5], [0.3, 0.2, 0.1]])
    array([1, 0])
    """
    values = plain_values(q_hat)
    is_hole = np.isnan(values)
    if is_hole.any():
        row, action = (int(i) for i in np.argwhere(is_hole)[0])
        msg = (
            f"{np.count_nonzero(is_hole.any(axis=1))} of {len(is_hole)} rows lack the value of "
            f"some action, so that their best action is undefined; the first is row {row}, action "
            f"{action}. Train longer, or leave these rows out (hole_mask tells which)"
        )
        raise HoleError(msg)
    policy: Ints = values.argmax(axis=1)
    return policy


def against(
    solution: Solution, states: Sequence[int] | Ints | None = None
) -> Callable[[Valuing], dict[str, float | int | None]]:
    """Make what measures a learner in training, for ``XCSF.train(evaluate=...)``.

    Parameters
    ----------
    solution
        The optimum.
    states
        The states that count; none given means S.

    Returns
    -------
    callable
        It takes a learner and gives ``mean_absolute_error``, ``policy_accuracy`` and ``n_holes``.
        Where there are holes, the first two are undefined and None.
    """
    chosen = check_solution(solution).mdp.select_states(states)
    observations = solution.mdp.observations[chosen]
    best, advocacy = solution.q[chosen], solution.advocacy[chosen]

    def measure(learner: Valuing) -> dict[str, float | int | None]:
        values = learner.read_values(observations)
        check_fit(values, solution.mdp)
        error = float(np.abs(values - best).sum()) / best.size
        if math.isnan(error):  # as some value is
            n_holes = int(np.count_nonzero(np.isnan(values)))
            return {"mean_absolute_error": None, "policy_accuracy": None, "n_holes": n_holes}
        n_correct = int(np.count_nonzero(is_correct(values, advocacy)))
        return {
            "mean_absolute_error": error,
            "policy_accuracy": n_correct / len(chosen),
            "n_holes": 0,
        }

    return measure
