"""Policies evaluated exactly: closed forms, both ways of computing, and what never ends."""

import math
from typing import Literal

import numpy as np
import pytest

from xcskit.errors import ConfigurationError, ModelError, SolverError
from xcskit.evaluation import policy_values, steps_to_goal
from xcskit.mdp import TabularMdp, frozen_lake, load_environment, solve
from xcskit.mdp.arrays import from_arrays


def coin(heads: float) -> TabularMdp:
    """Tossed until it shows heads, which is worth 1."""
    p = [[[1.0 - heads, heads]], [[0.0, 1.0]]]
    return from_arrays(p, [[[0.0, 1.0]], [[0.0, 0.0]]])


def loop(forth: float, back: float, leave: float = 0.0) -> TabularMdp:
    """Two states that lead to one another, with a reward each way, and perhaps an exit."""
    p = [[[0.0, 1.0, 0.0]], [[1.0 - leave, 0.0, leave]], [[0.0, 0.0, 1.0]]]
    return from_arrays(p, [[forth], [back], [0.0]], terminal=[2])


@pytest.mark.parametrize("heads", [0.1, 0.5, 0.9, 1.0])
def test_a_coin_is_geometric(heads: float) -> None:
    exact = steps_to_goal(coin(heads), [0, 0])
    assert exact.success_probability == pytest.approx(1.0)
    assert exact.failure_probability == exact.unfinished_probability == 0.0
    assert exact.expected_steps == pytest.approx(1 / heads)
    assert exact.standard_deviation == pytest.approx(math.sqrt(1 - heads) / heads, abs=1e-6)


def test_a_coin_tossed_a_limited_number_of_times() -> None:
    exact = steps_to_goal(coin(0.25), [0, 0], step_limit=8)
    count = np.arange(1, 9)
    chances = 0.25 * 0.75 ** (count - 1)
    assert exact.distribution is not None
    assert exact.distribution == pytest.approx([0.0, *chances])
    assert exact.success_probability == pytest.approx(1 - 0.75**8)
    assert exact.unfinished_probability == pytest.approx(0.75**8)
    assert exact.expected_steps == pytest.approx(chances @ count / chances.sum())


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.95])
def test_a_two_state_loop(gamma: float) -> None:
    values = policy_values(loop(1.0, 3.0), [0, 0, 0], gamma)
    first = (1.0 + 3.0 * gamma) / (1.0 - gamma**2)
    assert values.v == pytest.approx([first, 3.0 + gamma * first, 0.0])
    assert values.q[:, 0] == pytest.approx(values.v)


def test_a_way_without_slip() -> None:
    lake = frozen_lake(["SFFFG"])
    right = [2, 2, 2, 2, 0]
    assert policy_values(lake, right, 0.9).v == pytest.approx([0.9**3, 0.9**2, 0.9, 1.0, 0.0])
    for limit in (None, 4, 100):
        exact = steps_to_goal(lake, right, step_limit=limit)
        assert (exact.success_probability, exact.expected_steps) == (1.0, 4.0)
        assert exact.standard_deviation == 0.0
    assert steps_to_goal(lake, right, step_limit=3).success_probability == 0.0
    assert steps_to_goal(lake, right, start=3).expected_steps == 1.0
    assert steps_to_goal(lake, right, start="training").expected_steps == 2.5
    assert steps_to_goal(lake, right, start=[0.5, 0.5, 0, 0, 0]).expected_steps == 3.5


def test_undiscounted_values_are_the_probability_of_success() -> None:
    lake = frozen_lake("8x8", slip=0.3)
    policy = np.random.default_rng(0).integers(0, 4, 64)
    values = policy_values(lake, policy, 1.0).v
    for state in lake.states.tolist():
        exact = steps_to_goal(lake, policy, start=state)
        assert exact.success_probability == pytest.approx(values[state], abs=1e-12)


@pytest.mark.parametrize("slip", [0.0, 0.3, 2 / 3])
@pytest.mark.parametrize("seed", range(5))
def test_without_a_limit_is_the_limit_of_long_limits(slip: float, seed: int) -> None:
    lake = frozen_lake("4x4", slip=slip)
    policy = np.random.default_rng(seed).integers(0, 4, 16)
    without = steps_to_goal(lake, policy, start="training")
    within = steps_to_goal(lake, policy, start="training", step_limit=5000)
    for exact in (without, within):
        total = exact.success_probability + exact.failure_probability + exact.unfinished_probability
        assert total == pytest.approx(1.0)
    assert without.success_probability == pytest.approx(within.success_probability, abs=1e-9)
    assert without.unfinished_probability == pytest.approx(within.unfinished_probability, abs=1e-9)
    assert (without.expected_steps is None) == (within.expected_steps is None)
    assert without.expected_steps == pytest.approx(within.expected_steps)
    assert without.standard_deviation == pytest.approx(within.standard_deviation, abs=1e-6)


@pytest.mark.parametrize(("size", "limit", "chance"), [("4x4", 100, 0.740), ("8x8", 200, 0.886)])
def test_success_within_the_limit_of_the_stationary_policy(
    size: str, limit: int, chance: float
) -> None:
    lake = frozen_lake(size, slip=2 / 3)
    policy = solve(lake, 0.999999).policy
    exact = steps_to_goal(lake, policy, step_limit=limit)
    assert exact.success_probability == pytest.approx(chance, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "start", "mean_steps"),
    [
        ("woods1", "training", 1.6875),
        ("woods14", "training", 9.5),
        ("maze4", "training", 3.5),
        ("maze5", "training", 4.611),
        ("maze6", "training", 5.194),
        ("cliffwalking", "test", 13.0),
        ("taxi", "test", 21 - 7.93),
    ],
)
def test_optimal_steps_on_known_environments(
    name: str, start: Literal["training", "test"], mean_steps: float
) -> None:
    world = load_environment(name)
    policy = solve(world, 0.95 if start == "training" else 1.0).policy
    exact = steps_to_goal(world, policy, start=start)
    assert exact.success_probability == pytest.approx(1.0)
    assert exact.expected_steps == pytest.approx(mean_steps, abs=5e-3)


def test_a_policy_that_never_ends() -> None:
    lake = frozen_lake("8x8")
    left = np.zeros(64, dtype=np.int64)
    assert policy_values(lake, left, 1.0).v[0] == 0.0
    exact = steps_to_goal(lake, left)
    assert exact.expected_steps is None
    assert exact.standard_deviation is None
    assert (exact.success_probability, exact.unfinished_probability) == (0.0, 1.0)
    assert str(exact) == (
        "never reaches the goal: fails with probability 0.0000, never ends with 1.0000"
    )
    stopped = steps_to_goal(lake, left, step_limit=10)
    assert str(stopped).endswith("is stopped at the limit with 1.0000")


def test_a_policy_that_may_be_caught() -> None:
    p = [[[0.0, 0.25, 0.75]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]]
    world = from_arrays(p, [[2.0], [0.0], [0.0]], terminal=[2], test_start=[1.0, 0.0, 0.0])
    exact = steps_to_goal(world, [0, 0, 0])
    assert (exact.success_probability, exact.unfinished_probability) == (0.75, 0.25)
    assert exact.expected_steps == 1.0
    assert policy_values(world, [0, 0, 0], 1.0).v.tolist() == [2.0, 0.0, 0.0]


def test_undiscounted_values_of_what_goes_on_for_ever() -> None:
    assert policy_values(loop(0.0, 2.0), [0, 0, 0], 1.0).v.tolist() == [np.inf, np.inf, 0.0]
    assert policy_values(loop(-1.0, 0.0), [0, 0, 0], 1.0).v.tolist() == [-np.inf, -np.inf, 0.0]
    assert policy_values(loop(0.0, 0.0), [0, 0, 0], 1.0).v.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(SolverError, match=r"rewards in \(x1=0\) and losses in \(x1=1\)"):
        policy_values(loop(1.0, -1.0), [0, 0, 0], 1.0)


def test_undiscounted_values_of_what_goes_on_for_long() -> None:
    values = policy_values(loop(-1.0, 3.0, leave=0.5), [0, 0, 0], 1.0).v
    assert values.tolist() == pytest.approx([4.0, 5.0, 0.0])


def test_a_policy_for_the_states_of_training_is_enough() -> None:
    lake = frozen_lake("8x8", slip=0.1)
    policy = solve(lake).policy
    for start in ("test", "training"):
        whole = steps_to_goal(lake, policy, start=start)
        part = steps_to_goal(lake, policy[lake.states], start=start)
        assert whole.expected_steps == part.expected_steps


def test_bad_input_is_refused() -> None:
    lake = frozen_lake("4x4")
    for policy, message in (
        ([0] * 15, r"each of its 16 states, or for each of the 11 states of S; got shape \(15,\)"),
        ([0.5] * 16, "actions 0 to 3; got float64"),
        ([4] * 16, "from 4 to 4"),
        ([-1] * 16, "from -1 to -1"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            steps_to_goal(lake, policy)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="each of the 16 states"):
        policy_values(lake, [0] * 11)
    with pytest.raises(ModelError, match=r"state 15 .* terminal"):
        steps_to_goal(lake, [0] * 16, start=15)
    with pytest.raises(ConfigurationError, match="one of test, training: got 'sunrise'"):
        steps_to_goal(lake, [0] * 16, start="sunrise")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="step_limit"):
        steps_to_goal(lake, [0] * 16, step_limit=-1)


def test_a_start_outside_training_needs_the_whole_policy() -> None:
    p = np.zeros((3, 1, 3))
    p[[0, 1, 2], 0, [2, 2, 2]] = 1.0
    world = from_arrays(p, [[0.0], [1.0], [0.0]], terminal=[2], training_start=[0.0, 1.0, 0.0],
                        test_start=[1.0, 0.0, 0.0])  # fmt: skip
    assert steps_to_goal(world, [0, 0, 0]).expected_steps is None
    with pytest.raises(ModelError, match=r"start in \(x1=0\), where training .* never acts"):
        steps_to_goal(world, [0])
