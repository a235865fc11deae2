"""Values judged in every state: what the metrics say, and what explains them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from xcskit.evaluation.exact import policy_values, steps_to_goal
from xcskit.evaluation.metrics import greedy_policy, is_correct, policy_accuracy, value_error
from xcskit.evaluation.values import Holes, Values, check_no_hole, values_on
from xcskit.mdp import Solution
from xcskit.mdp.outcomes import frozen
from xcskit.mdp.solution import check_solution
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import check_mapping

__all__ = ["SUMMARY", "Evaluation", "compare", "evaluate_q"]

SUMMARY: Final = (
    "mean_absolute_error",
    "policy_accuracy",
    "n_holes",
    "mean_regret",
    "relative_return",
    "success_probability",
    "expected_steps",
)
"""The numbers of one candidate, as ``Evaluation.summary`` and ``compare`` give them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Values and their greedy policy beside the optimum, state by state.

    Parameters
    ----------
    solution
        The optimum.
    states
        The states that count, shape (n,).
    q_hat
        The values there, NaN in holes: shape (n, n_actions).
    mean_absolute_error
        Of the values, over all pairs that have one.
    policy_accuracy
        The share of the states with a correct policy, over the states without a hole.

    Notes
    -----
    What needs the greedy policy of every state raises a HoleError where there are holes, and is
    None in ``summary`` and null in ``table``. Where the states that count are not all there are,
    the policy is taken to be optimal in the others.
    """

    solution: Solution
    states: Ints
    q_hat: Floats
    mean_absolute_error: float
    policy_accuracy: float

    def __repr__(self) -> str:
        """Name and metrics."""
        holes = f", {self.n_holes} holes" if self.n_holes else ""
        return (
            f"Evaluation({self.solution.mdp.name!r}, {len(self.states)} states, "
            f"mean_absolute_error={self.mean_absolute_error:.4f}, "
            f"policy_accuracy={self.policy_accuracy:.3f}{holes})"
        )

    @cached_property
    def is_hole(self) -> Bools:
        """Which pairs have no value, shape (n, n_actions)."""
        return frozen(np.isnan(self.q_hat), np.bool_)

    @property
    def n_holes(self) -> int:
        """Number of pairs that have no value."""
        return int(np.count_nonzero(self.is_hole))

    @cached_property
    def is_correct(self) -> Bools:
        """Where the policy is correct, shape (n,); False in states with a hole."""
        return frozen(is_correct(self.q_hat, self.solution.advocacy[self.states]), np.bool_)

    @cached_property
    def policy(self) -> Ints:
        """The greedy action of each state, shape (n,)."""
        check_no_hole(self.is_hole, self.solution.mdp, self.states)
        return frozen(greedy_policy(self.q_hat), np.int64)

    @cached_property
    def complete_policy(self) -> Ints:
        """The greedy action of each state, elsewhere an optimal one: shape (n_states,)."""
        policy = self.solution.policy.copy()
        policy[self.states] = self.policy
        return frozen(policy, np.int64)

    @cached_property
    def v(self) -> Floats:
        """What following the greedy policy is worth in each state, exactly: shape (n,)."""
        return frozen(self._v[self.states], np.float64)

    @cached_property
    def _v(self) -> Floats:
        return policy_values(self.solution.mdp, self.complete_policy, self.solution.gamma).v

    @cached_property
    def regret(self) -> Floats:
        """What following the greedy policy loses in each state, V* - V, exactly: shape (n,)."""
        lost = np.maximum(self.solution.v[self.states] - self.v, 0.0)
        return frozen(lost, np.float64)

    @property
    def action_gaps(self) -> Floats:
        """By how much the optimal action is better than the next, shape (n,)."""
        return self.solution.action_gaps[self.states]

    @property
    def mean_regret(self) -> float:
        """The mean regret over the states."""
        return float(self.regret.mean())

    @property
    def relative_return(self) -> float | None:
        """The expected return from the test start, relative to the optimal one.

        None where the optimal one is not above 0, so that a share of it means nothing.
        """
        start = self.solution.mdp.test_start
        best = float(start @ self.solution.v)
        return float(start @ self._v) / best if best > 0.0 else None

    def summary(self) -> dict[str, float | int | None]:
        """Give a row for a table of learners, with the keys ``SUMMARY``.

        ``success_probability`` and ``expected_steps`` (given success) are those of the greedy
        policy from the test start, without a step limit.
        """
        known = self.mean_absolute_error, self.policy_accuracy, self.n_holes
        if self.n_holes:
            return dict(zip(SUMMARY, (*known, None, None, None, None), strict=True))
        exact = steps_to_goal(self.solution.mdp, self.complete_policy)
        of_policy = self.mean_regret, self.relative_return
        to_goal = exact.success_probability, exact.expected_steps
        return dict(zip(SUMMARY, (*known, *of_policy, *to_goal), strict=True))

    def table(self) -> pl.DataFrame:
        """Give a row a state: what is seen, the greedy action, and how good it is."""
        mdp = self.solution.mdp
        seen = mdp.observations[self.states]
        errors = np.abs(self.q_hat - self.solution.q[self.states]).mean(axis=1)
        table = pl.DataFrame(
            {
                "state": self.states,
                **{name: seen[:, d] for d, name in enumerate(mdp.space.names)},
                "is_correct": self.is_correct,
                "mean_absolute_error": errors,
                "action_gap": self.action_gaps,
                "v_optimal": self.solution.v[self.states],
            }
        )
        if self.n_holes:
            has_hole = pl.Series(np.logical_or.reduce(self.is_hole, axis=1))
            judged = pl.when(~has_hole).then(pl.col("is_correct", "mean_absolute_error"))
            nothing = {"action": pl.String, "v": pl.Float64, "regret": pl.Float64}
            return table.with_columns(
                judged, *(pl.lit(None, kind).alias(name) for name, kind in nothing.items())
            )
        actions = pl.Series("action", [mdp.action_names[a] for a in self.policy])
        return table.with_columns(actions, pl.Series("v", self.v), pl.Series("regret", self.regret))


def evaluate_q(
    q_hat: Values,
    solution: Solution,
    states: Sequence[int] | Ints | None = None,
    *,
    holes: Holes = "raise",
) -> Evaluation:
    """Judge values and their greedy policy by the optimum.

    Parameters
    ----------
    q_hat
        Values: an array with a row for each of ``states``, or for each state of the model; or what
        has them, such as a learner, a rule set, or tabular Q-learning.
    solution
        The optimum.
    states
        The states that count; none given means S.
    holes
        What to do where a pair has no value: raise an error that lists the pairs, or judge the
        others.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake, q_learning, solve
    >>> lake = frozen_lake("8x8", slip=0.1)
    >>> solution = solve(lake, gamma=0.95)
    >>> evaluation = evaluate_q(q_learning(lake, 400_000, seed=1), solution)
    >>> evaluation
    Evaluation('frozenlake-8x8', 53 states, mean_absolute_error=0.0252, policy_accuracy=0.849)
    >>> evaluation.table().columns
    ['state', 'x', 'y', 'is_correct', 'mean_absolute_error', 'action_gap', 'v_optimal', 'action',
     'v', 'regret']
    """
    chosen = check_solution(solution).mdp.select_states(states)
    values = values_on(q_hat, solution.mdp, chosen)
    return Evaluation(
        solution=solution,
        states=chosen,
        q_hat=frozen(values, np.float64),
        mean_absolute_error=value_error(values, solution, chosen, holes=holes),
        policy_accuracy=policy_accuracy(values, solution, chosen, holes=holes),
    )


def compare(
    candidates: Mapping[str, Values],
    solution: Solution,
    states: Sequence[int] | Ints | None = None,
) -> pl.DataFrame:
    """Put learners side by side, a row each.

    Parameters
    ----------
    candidates
        Values, or what has them, each with a name.
    solution
        The optimum.
    states
        The states that count; none given means S.

    Returns
    -------
    pl.DataFrame
        ``name`` and the columns ``SUMMARY``; null where holes leave a number undefined.

    Examples
    --------
    >>> import polars as pl
    >>> from xcskit import XCSF
    >>> from xcskit.mdp import frozen_lake, q_learning, solve
    >>> lake = frozen_lake("4x4", slip=0.1)
    >>> solution = solve(lake)
    >>> agent = XCSF.on(lake, seed=1).train(lake, 50_000)
    >>> learned = q_learning(lake, 50_000, seed=1)
    >>> table = compare({"XCSF": agent, "Q-learning": learned, "optimum": solution}, solution)
    >>> table.select("name", pl.col("policy_accuracy").round(2)).rows()
    [('XCSF', 1.0), ('Q-learning', 0.82), ('optimum', 1.0)]
    """
    check_mapping("candidates", candidates, 'such as {"XCSF": agent}')
    chosen = check_solution(solution).mdp.select_states(states)
    rows: list[dict[str, Any]] = []
    for name, candidate in candidates.items():
        values = values_on(candidate, solution.mdp, chosen)
        n_holes = int(np.count_nonzero(np.isnan(values)))
        judged = {"n_holes": n_holes} if n_holes else evaluate_q(values, solution, chosen).summary()
        rows.append({"name": name, **judged})
    numbers = {name: pl.Int64 if name == "n_holes" else pl.Float64 for name in SUMMARY}
    return pl.DataFrame(rows, schema={"name": pl.String, **numbers})
