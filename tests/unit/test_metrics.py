"""The metrics of the paper: closed forms, the facts, holes, and bad input."""

import numpy as np
import pytest

from xcskit.errors import ConfigurationError, HoleError, ModelError
from xcskit.evaluation import (
    against,
    greedy_policy,
    hole_mask,
    is_correct,
    policy_accuracy,
    value_error,
)
from xcskit.mdp import Solution, frozen_lake, solve
from xcskit.typing import Floats, Ints


@pytest.fixture(scope="module")
def calm() -> Solution:
    return solve(frozen_lake("8x8"), gamma=0.95)


@pytest.fixture(scope="module")
def slippery() -> Solution:
    return solve(frozen_lake("8x8", slip=0.1), gamma=0.95)


class Table:
    """Answers as a learner does."""

    def __init__(self, solution: Solution, q: Floats) -> None:
        self.row_of = {seen.tobytes(): i for i, seen in enumerate(solution.mdp.observations)}
        self.q = q

    def read_values(self, observations: Ints) -> Floats:
        return self.q[[self.row_of[seen.tobytes()] for seen in observations]]


def test_value_error_of_nothing_learned(calm: Solution, slippery: Solution) -> None:
    nothing = np.zeros((64, 4))
    assert value_error(nothing, calm) == pytest.approx(0.5643, abs=5e-5)
    assert value_error(nothing, slippery) == pytest.approx(0.4446, abs=5e-5)


def test_value_error_is_a_mean_of_absolute_differences(slippery: Solution) -> None:
    states = [0, 9, 62]
    q_hat = slippery.q[states] + np.array([[0.1, -0.1, 0.0, 0.0], [0.2] * 4, [-0.3] * 4])
    assert value_error(q_hat, slippery, states) == pytest.approx((0.2 + 0.8 + 1.2) / 12)


def test_the_optimum_is_without_error(calm: Solution) -> None:
    assert value_error(calm.q, calm) == 0.0
    assert policy_accuracy(calm.q, calm) == 1.0


def test_either_optimal_action_is_correct() -> None:
    optimum = np.array([[False, True, True, False]] * 5)
    q_hat = np.array(
        [
            [0.0, 0.0, 1.0, 0.0],  # one of the two
            [0.0, 1.0, 0.0, 0.0],  # the other
            [1.0, 0.0, 1.0, 0.0],  # a tie with a wrong one: one in common is enough
            [1.0, 0.0, 0.0, 1.0],  # two, both wrong
            [0.0, 1.0 - 1e-12, 0.0, 1.0],  # nearly a tie is no tie
        ]
    )
    assert is_correct(q_hat, optimum).tolist() == [True, True, True, False, False]


def test_the_optimum_advocates_within_its_tolerance(calm: Solution) -> None:
    start = calm.mdp.states[:1]
    assert calm.advocacy[0].tolist() == [False, True, True, False]
    down, right = np.eye(4)[[1]], np.eye(4)[[2]]
    assert policy_accuracy(down, calm, start) == policy_accuracy(right, calm, start) == 1.0
    assert policy_accuracy(np.eye(4)[[3]], calm, start) == 0.0


def test_accuracy_counts_states(slippery: Solution) -> None:
    q_hat = slippery.q[slippery.mdp.states].copy()
    wrong = np.arange(10)
    q_hat[wrong, slippery.q[slippery.mdp.states[wrong]].argmin(axis=1)] = 2.0
    assert policy_accuracy(q_hat, slippery) == pytest.approx(43 / 53)


def test_rows_of_all_states_or_of_those_asked_about(slippery: Solution) -> None:
    q_hat = np.random.default_rng(1).random((64, 4))
    states = slippery.mdp.states
    assert value_error(q_hat, slippery) == value_error(q_hat[states], slippery)
    assert policy_accuracy(q_hat, slippery) == policy_accuracy(q_hat[states], slippery)


def test_greedy_takes_the_lowest_index_of_exact_ties() -> None:
    assert greedy_policy([[1.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.1, 0.1, 0.1]]).tolist() == [0, 1, 0]
    assert greedy_policy([[1.0, np.nextafter(1.0, 2.0)]]).tolist() == [1]


def test_holes_are_listed_with_what_is_seen_there(slippery: Solution) -> None:
    q_hat = slippery.q.copy()
    q_hat[9, 2] = np.nan
    for metric in (value_error, policy_accuracy):
        with pytest.raises(HoleError, match=r"1 of 212 .*\(x=1, y=1\) right\. "):
            metric(q_hat, slippery)


def test_ten_holes_are_named_and_all_counted(slippery: Solution) -> None:
    q_hat = slippery.q[slippery.mdp.states].copy()
    q_hat[:3] = np.nan
    with pytest.raises(HoleError, match=r"12 of 212 ") as error:
        value_error(q_hat, slippery)
    assert str(error.value).count("(x=") == 10
    assert "(x=2, y=0) down; .." in str(error.value)


def test_masked_holes_are_left_out(slippery: Solution) -> None:
    q_hat = slippery.q[[0, 1, 2]] + 0.25
    q_hat[1, 3] = np.nan
    q_hat[2] = slippery.q[2]
    masked = np.ma.masked_invalid(q_hat)
    for values in (q_hat, masked):
        assert hole_mask(values).tolist() == [[False] * 4, [False] * 3 + [True], [False] * 4]
        error = value_error(values, slippery, [0, 1, 2], holes="mask")
        assert error == pytest.approx(7 * 0.25 / 11)
        assert policy_accuracy(values, slippery, [0, 1, 2], holes="mask") == 1.0
        with pytest.raises(HoleError, match="row 1, action 3"):
            greedy_policy(values)


def test_a_mask_over_everything_leaves_nothing_to_average(slippery: Solution) -> None:
    nothing = np.full((53, 4), np.nan)
    for metric in (value_error, policy_accuracy):
        with pytest.raises(HoleError, match="212 of 212"):
            metric(nothing, slippery, holes="mask")


def test_measuring_in_training_equals_the_metrics(slippery: Solution) -> None:
    q_hat = np.random.default_rng(2).random((64, 4))
    row = against(slippery)(Table(slippery, q_hat))
    assert row == {
        "mean_absolute_error": pytest.approx(value_error(q_hat, slippery), rel=1e-14),
        "policy_accuracy": policy_accuracy(q_hat, slippery),
        "n_holes": 0,
    }


def test_measuring_with_holes_gives_no_number(slippery: Solution) -> None:
    q_hat = slippery.q.copy()
    q_hat[[0, 3], [1, 2]] = np.nan
    assert against(slippery)(Table(slippery, q_hat)) == {
        "mean_absolute_error": None,
        "policy_accuracy": None,
        "n_holes": 2,
    }
    assert against(slippery, [1, 2])(Table(slippery, q_hat))["n_holes"] == 0


@pytest.mark.parametrize(
    ("q_hat", "message"),
    [
        (np.zeros((53, 3)), "3 actions; 'frozenlake-8x8' has 4: left"),
        (np.zeros((52, 4)), "52 rows; expected 53, .* or 64"),
        (np.zeros(53), r"shape \(53,\)"),
        ([["left"]], "is an array of values"),
        (np.full((53, 4), np.inf), r"inf in \(x=0, y=0\) left"),
    ],
)
def test_what_are_no_values_is_refused(slippery: Solution, q_hat: Floats, message: str) -> None:
    for metric in (value_error, policy_accuracy):
        with pytest.raises(ConfigurationError, match=message):
            metric(q_hat, slippery)


def test_terminal_states_are_not_judged(slippery: Solution) -> None:
    with pytest.raises(ModelError, match="terminal"):
        value_error(slippery.q, slippery, [63])
