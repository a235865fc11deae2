"""The policies of the groups: rolled out as the paper does, and evaluated exactly."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from xcskit.evaluation import (
    StepsToGoal,
    is_correct,
    paper_rollouts,
    policy_values,
    steps_to_goal,
)
from xcskit.mdp import Solution, TabularMdp
from xcskit.paper.instances import Instance
from xcskit.paper.published import GROUPS, published_rollouts
from xcskit.typing import Bools, Ints

__all__ = ["STEP_LIMIT", "mark_published", "policies_table", "policy_facts", "slip_states"]

STEP_LIMIT = 200
"""After how many steps the paper's environment stops an episode."""

_SCHEMA = {
    "variant": pl.String,
    "group": pl.String,
    "seed": pl.Int64,
    "mean_stg": pl.Float64,
    "max_stg": pl.Int64,
    "rollouts": pl.Int64,
    "is_complete": pl.Boolean,
    "least_stg": pl.Int64,
    "policy_accuracy": pl.Float64,
    "sampled_success": pl.Float64,
    "exact_success": pl.Float64,
    "sampled_steps": pl.Float64,
    "expected_steps": pl.Float64,
    "expected_steps_anywhere": pl.Float64,
    "start_difference": pl.Float64,
    "relative_success": pl.Float64,
    "regret": pl.Float64,
    "start_regret": pl.Float64,
    "loss_in_small_gaps": pl.Float64,
    "loss_elsewhere": pl.Float64,
    "share_slip_states": pl.Float64,
    "slip_states_at_edge": pl.Float64,
    "repaired_steps": pl.Float64,
    "repaired_share": pl.Float64,
}


def policies_table(instances: Sequence[Instance], target_error: float) -> pl.DataFrame:
    """Give a row for each instance and group: its policy, sampled and exact.

    Parameters
    ----------
    instances
        The trained instances.
    target_error
        epsilon_0; states whose action gap is below it count as those of small gaps.

    Returns
    -------
    pl.DataFrame
        ``mean_stg`` and ``max_stg`` are null where the 100 successes were not reached, as in the
        paper. ``expected_steps`` are exact and given success, within the step limit, as are
        ``exact_success`` and ``expected_steps_anywhere`` (training starts).
        ``relative_success`` is the exact success over the optimal policy's. ``repaired_steps`` are
        the expected steps once the slip states act optimally: those that can be left only by a
        slip, since likeliest outcomes lead back to them;
        ``repaired_share`` is what that gives back of the steps lost against the optimal policy.
    """
    optima: dict[str, StepsToGoal] = {}
    rows: list[dict[str, Any]] = []
    for instance in instances:
        solution = instance.solution
        if instance.variant not in optima:
            optima[instance.variant] = _exact_steps(solution, solution.policy)
        rows += [_row(instance, group, target_error, optima[instance.variant]) for group in GROUPS]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _row(
    instance: Instance, group: str, target_error: float, optimum: StepsToGoal
) -> dict[str, Any]:
    solution, states = instance.solution, instance.solution.mdp.states
    policy, chance = instance.policy(group), optimum.success_probability
    correct = is_correct(instance.values(group), solution.advocacy[states])
    return {
        "variant": instance.variant,
        "group": group,
        "seed": instance.seed,
        "policy_accuracy": float(correct.mean()),
        **(facts := policy_facts(solution, policy)),
        "relative_success": facts["exact_success"] / chance if chance else None,
        **_losses(solution, correct, target_error),
        **_slips(solution, policy, facts["expected_steps"], optimum.expected_steps),
    }


def policy_facts(solution: Solution, policy: Ints) -> dict[str, Any]:
    """Give a policy's steps to the goal, sampled and exact, and its regret."""
    mdp = solution.mdp
    sampled = paper_rollouts(mdp, policy, step_limit=STEP_LIMIT)
    exact = steps_to_goal(mdp, policy, step_limit=STEP_LIMIT)
    anywhere = steps_to_goal(mdp, policy, start="training", step_limit=STEP_LIMIT)
    lost = solution.v - policy_values(mdp, policy, solution.gamma).v
    here, there = exact.expected_steps, anywhere.expected_steps
    return {
        "mean_stg": sampled.mean_steps if sampled.is_complete else None,
        "max_stg": sampled.max_steps if sampled.is_complete else None,
        "rollouts": sampled.n_episodes,
        "is_complete": sampled.is_complete,
        "least_stg": int(sampled.steps_to_goal.min()) if sampled.n_successes else None,
        "sampled_success": sampled.n_successes / sampled.n_episodes,
        "exact_success": exact.success_probability,
        "sampled_steps": sampled.mean_steps,
        "expected_steps": here,
        "expected_steps_anywhere": there,
        "start_difference": None if here is None or there is None else abs(here - there),
        "regret": float(lost[mdp.states].mean()),
        "start_regret": float(lost @ mdp.test_start),
    }


def _losses(solution: Solution, correct: Bools, target_error: float) -> dict[str, float]:
    """Part the accuracy lost into that of states with a small action gap and the rest."""
    is_small = solution.action_gaps[solution.mdp.states] < target_error
    return {
        "loss_in_small_gaps": float((~correct & is_small).mean()),
        "loss_elsewhere": float((~correct & ~is_small).mean()),
    }


def _slips(
    solution: Solution, policy: Ints, before: float | None, optimum: float | None
) -> dict[str, float | None]:
    """Let the states that can go on only by slipping act optimally, and see what that gives."""
    mdp = solution.mdp
    is_stuck = slip_states(mdp, policy)
    repaired = np.where(is_stuck, solution.policy, policy)
    after = _exact_steps(solution, repaired).expected_steps
    share = None
    if before is not None and after is not None and optimum is not None and before > optimum:
        share = (before - after) / (before - optimum)
    return {
        "share_slip_states": float(is_stuck[mdp.states].mean()),
        "slip_states_at_edge": float(_is_at_edge(mdp)[is_stuck].mean()) if is_stuck.any() else None,
        "repaired_steps": after,
        "repaired_share": share,
    }


def slip_states(mdp: TabularMdp, policy: Ints) -> Bools:
    """Tell the states that likeliest outcomes lead back to: to go on from there takes a slip.

    A move into a wall is the shortest such round, two states that send to each other the next.
    """
    onward = np.arange(mdp.n_states)
    for state in mdp.states.tolist():
        _, onward[state], _, _ = max(mdp.outcomes_of(state, int(policy[state])))
    late = np.arange(mdp.n_states)
    for _ in range(mdp.n_states):
        late = onward[late]
    is_stuck = np.zeros(mdp.n_states, dtype=np.bool_)
    is_stuck[late] = True
    return is_stuck & ~mdp.is_terminal


def _is_at_edge(mdp: TabularMdp) -> Bools:
    """Tell the states on the rim of the grid; all of them where there is no grid."""
    if mdp.layout is None:
        return np.ones(mdp.n_states, dtype=np.bool_)
    places = mdp.layout.positions
    is_rim: Bools = ((places == 0) | (places == places.max(axis=0))).any(axis=1)
    return is_rim


def _exact_steps(solution: Solution, policy: Ints) -> StepsToGoal:
    return steps_to_goal(solution.mdp, policy, step_limit=STEP_LIMIT)


def mark_published(policies: pl.DataFrame) -> pl.DataFrame:
    """Mark the complete rows of Table 2 that equal, to the digit, a published row of their group.

    Parameters
    ----------
    policies
        Rows as of ``policies_table``, of p 0.1 alone.

    Returns
    -------
    pl.DataFrame
        With the columns ``is_published``: mean, maximum and rollouts are those of a published row;
        ``is_published_whole``: the accuracy too.
    """
    steps = ["group", "mean_stg", "max_stg", "rollouts"]
    printed = policies.with_columns(
        pl.col("mean_stg").round(2), accuracy=pl.col("policy_accuracy").round(2)
    )
    known = published_rollouts().rename({"policy_accuracy": "accuracy"})
    whole = [*steps, "accuracy"]
    for name, columns in (("is_published", steps), ("is_published_whole", whole)):
        marked = known.select(columns).unique().with_columns(pl.lit(value=True).alias(name))
        printed = printed.join(marked, on=columns, how="left")
        printed = printed.with_columns(pl.col(name).fill_null(value=False))
    return printed.drop("accuracy")
