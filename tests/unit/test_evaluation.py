"""Values judged state by state, and learners side by side."""

import numpy as np
import polars as pl
import pytest

from xcskit import XCSF
from xcskit.errors import HoleError
from xcskit.evaluation import (
    SUMMARY,
    compare,
    evaluate_q,
    policy_accuracy,
    policy_values,
    steps_to_goal,
    value_error,
)
from xcskit.mdp import Solution, frozen_lake, load_environment, q_learning, solve


@pytest.fixture(scope="module")
def slippery() -> Solution:
    return solve(frozen_lake("8x8", slip=0.1), gamma=0.95)


def test_the_optimum_loses_nothing(slippery: Solution) -> None:
    evaluation = evaluate_q(slippery, slippery)
    assert evaluation.mean_absolute_error == 0.0
    assert evaluation.policy_accuracy == 1.0
    assert evaluation.mean_regret == pytest.approx(0.0, abs=1e-9)
    assert evaluation.relative_return == pytest.approx(1.0)
    assert evaluation.is_correct.all()
    assert evaluation.policy.tolist() == slippery.policy[slippery.mdp.states].tolist()


def test_regret_is_what_following_the_policy_loses(slippery: Solution) -> None:
    mdp = slippery.mdp
    q_hat = slippery.q + np.random.default_rng(3).normal(0.0, 0.02, slippery.q.shape)
    evaluation = evaluate_q(q_hat, slippery)
    followed = q_hat.argmax(axis=1)
    v = policy_values(mdp, followed, 0.95).v
    assert evaluation.regret == pytest.approx((slippery.v - v)[mdp.states], abs=1e-9)
    assert evaluation.mean_regret > 0.001
    assert evaluation.relative_return == pytest.approx(v[0] / slippery.v[0])
    exact = steps_to_goal(mdp, followed)
    summary = evaluation.summary()
    assert tuple(summary) == SUMMARY
    assert summary["success_probability"] == pytest.approx(exact.success_probability)
    assert summary["expected_steps"] == pytest.approx(exact.expected_steps)


def test_wrong_where_it_matters_costs_more_than_where_it_does_not(slippery: Solution) -> None:
    states = slippery.mdp.states
    by_gap = np.argsort(slippery.action_gaps[states])
    losses: list[float] = []
    for row in by_gap[[0, -1]]:
        q_hat = slippery.q[states].copy()
        second = np.argsort(q_hat[row])[-2]
        q_hat[row, second] = q_hat[row].max() + 1e-6
        evaluation = evaluate_q(q_hat, slippery)
        assert evaluation.policy_accuracy == pytest.approx(52 / 53)
        assert evaluation.regret[row] >= evaluation.action_gaps[row] - 1e-9
        losses.append(evaluation.mean_regret)
    assert losses[1] > 10 * losses[0]


def test_the_table_holds_what_the_metrics_say(slippery: Solution) -> None:
    q_hat = np.random.default_rng(4).random((64, 4))
    evaluation = evaluate_q(q_hat, slippery)
    table = evaluation.table()
    assert len(table) == 53
    assert table["mean_absolute_error"].mean() == pytest.approx(value_error(q_hat, slippery))
    assert table["is_correct"].mean() == pytest.approx(policy_accuracy(q_hat, slippery))
    assert table["regret"].mean() == pytest.approx(evaluation.mean_regret)
    wrong = table.filter(pl.col("regret") > 1e-6)["is_correct"].mean()
    assert isinstance(wrong, float)
    assert wrong < 1
    row = table.row(by_predicate=pl.col("state") == 10, named=True)
    assert (row["x"], row["y"]) == (2, 1)
    assert row["action"] == slippery.mdp.action_names[q_hat[10].argmax()]
    assert row["v_optimal"] - row["v"] == pytest.approx(row["regret"])


def test_holes_raise_or_leave_what_needs_the_policy_undefined(slippery: Solution) -> None:
    q_hat = slippery.q[slippery.mdp.states].copy()
    q_hat[7, 2] = np.nan
    with pytest.raises(HoleError, match="1 of 212"):
        evaluate_q(q_hat, slippery)
    evaluation = evaluate_q(q_hat, slippery, holes="mask")
    assert evaluation.n_holes == 1
    assert evaluation.policy_accuracy == 1.0
    with pytest.raises(HoleError, match=r"\(x=7, y=0\) right"):
        _ = evaluation.mean_regret
    with pytest.raises(HoleError):
        _ = evaluation.relative_return
    summary = evaluation.summary()
    assert [name for name in SUMMARY if summary[name] is None] == list(SUMMARY[3:])
    table = evaluation.table()
    whole = evaluate_q(slippery, slippery).table()
    assert table.schema == whole.schema
    assert table["is_correct"].null_count() == 1
    assert table["mean_absolute_error"].null_count() == 1
    assert table["regret"].null_count() == table["action"].null_count() == 53


def test_return_relative_to_losses_means_nothing() -> None:
    cliff = load_environment("cliffwalking")
    solution = solve(cliff, gamma=1.0)
    evaluation = evaluate_q(solution, solution)
    assert evaluation.relative_return is None
    assert evaluation.mean_regret == 0.0
    stuck = np.tile([1.0, 0.0, 0.0, 0.0], (cliff.n_states, 1))
    assert evaluate_q(stuck, solution).mean_regret == np.inf


def test_a_learner_its_rules_and_its_values_are_judged_alike(slippery: Solution) -> None:
    mdp = slippery.mdp
    agent = XCSF.on(mdp, seed=5).train(mdp, 20_000)
    values = agent.read_values(mdp.observations[mdp.states])
    for source in (agent, agent.rules, values):
        evaluation = evaluate_q(source, slippery)
        assert evaluation.q_hat.tolist() == values.tolist()
        assert value_error(source, slippery) == evaluation.mean_absolute_error
        assert policy_accuracy(source, slippery) == evaluation.policy_accuracy


def test_learners_side_by_side(slippery: Solution) -> None:
    mdp = slippery.mdp
    untrained = XCSF.on(mdp, seed=1)
    learned = q_learning(mdp, 50_000, seed=1)
    table = compare(
        {"XCSF": untrained, "Q-learning": learned, "value iteration": slippery}, slippery
    )
    assert table.columns == ["name", *SUMMARY]
    assert table["n_holes"].to_list() == [212, 0, 0]
    nothing = table.row(0, named=True)
    assert all(nothing[name] is None for name in SUMMARY if name != "n_holes")
    assert table.row(1, named=True) == {
        "name": "Q-learning",
        **evaluate_q(learned, slippery).summary(),
    }
    assert table["policy_accuracy"].to_list()[2] == 1.0


def test_other_states_on_request(slippery: Solution) -> None:
    q_hat = np.random.default_rng(6).random((64, 4))
    evaluation = evaluate_q(q_hat, slippery, [0, 1])
    policy = slippery.policy.copy()
    policy[[0, 1]] = q_hat[[0, 1]].argmax(axis=1)
    assert evaluation.complete_policy.tolist() == policy.tolist()
    assert len(evaluation.table()) == 2
