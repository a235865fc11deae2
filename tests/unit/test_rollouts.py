"""Rollouts: the paper's to the digit, the oracle's, and the general ones."""

import numpy as np
import pytest

from oracle import rollouts as oracle
from xcskit.errors import ConfigurationError
from xcskit.evaluation import paper_rollouts, rollouts
from xcskit.mdp import TabularMdp, frozen_lake, solve
from xcskit.typing import Ints


@pytest.fixture(scope="module")
def lake() -> TabularMdp:
    return frozen_lake("8x8", slip=0.1)


@pytest.fixture(scope="module")
def optimal(lake: TabularMdp) -> Ints:
    return solve(lake, 0.95).policy


def test_the_optimal_policy_of_the_paper_to_the_digit(lake: TabularMdp, optimal: Ints) -> None:
    assert paper_rollouts(lake, optimal).summary() == {
        "mean_steps": 15.44,
        "max_steps": 20,
        "n_episodes": 115,
        "n_successes": 100,
        "is_complete": True,
    }


def test_the_row_that_the_paper_has_fourteen_times(lake: TabularMdp, optimal: Ints) -> None:
    policy = optimal.copy()
    policy[[6, 8 + 6]] = lake.action_names.index("right")
    assert paper_rollouts(lake, policy).summary() == {
        "mean_steps": 15.38,
        "max_steps": 20,
        "n_episodes": 116,
        "n_successes": 100,
        "is_complete": True,
    }


def policies_of_all_kinds(slip: float) -> list[Ints]:
    """The optimum, changed in more and more states: some never succeed, some never end."""
    best = solve(frozen_lake("8x8", slip=slip)).policy
    random = np.random.default_rng(7)
    changed = [
        np.where(random.random(64) < share, random.integers(0, 4, 64), best)
        for share in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
        for _ in range(3)
    ]
    return [best, np.zeros(64, dtype=np.int64), *changed]


@pytest.mark.parametrize("slip", [0.0, 0.1, 0.5])
def test_equal_to_the_oracle(slip: float) -> None:
    world = frozen_lake("8x8", slip=slip)
    n_successes = set[int]()
    for policy in policies_of_all_kinds(slip):
        ours = paper_rollouts(world, policy)
        theirs = oracle.roll_out(policy.tolist(), slip)
        assert ours.mean_steps == theirs.mean_steps
        assert ours.max_steps == theirs.max_steps
        assert ours.n_episodes == theirs.rollouts
        assert ours.n_successes == theirs.successes
        assert ours.is_complete == (theirs.successes == 100)
        n_successes.add(theirs.successes)
    assert {0, 100} <= n_successes


def test_a_policy_for_the_states_of_training_is_enough(lake: TabularMdp, optimal: Ints) -> None:
    part = paper_rollouts(lake, optimal[lake.states])
    assert part.summary() == paper_rollouts(lake, optimal).summary()


def test_without_a_success(lake: TabularMdp) -> None:
    result = paper_rollouts(lake, np.zeros(64, dtype=np.int64), n_episodes=5, step_limit=3)
    assert (result.mean_steps, result.max_steps, result.is_complete) == (None, None, False)
    assert result.table()["ending"].to_list() == ["limit"] * 5
    assert result.table()["steps"].to_list() == [3] * 5
    assert repr(result) == "Rollouts(5 episodes, 0 successes)"


def test_stops_at_the_last_success_that_is_wanted(lake: TabularMdp, optimal: Ints) -> None:
    whole = rollouts(lake, optimal, seed=3, n_episodes=60).table()
    for wanted in (1, 10, 30):
        result = rollouts(lake, optimal, seed=3, n_episodes=60, n_successes=wanted)
        assert result.n_successes == wanted
        assert result.table()["ending"][-1] == "success"
        assert result.table().equals(whole.head(result.n_episodes))


@pytest.mark.parametrize("n_threads", [2, 3, 50])
def test_threads_change_nothing(lake: TabularMdp, optimal: Ints, n_threads: int) -> None:
    alone = rollouts(lake, optimal, seed=5, n_episodes=40)
    shared = rollouts(lake, optimal, seed=5, n_episodes=40, n_threads=n_threads)
    assert shared.table().equals(alone.table())


def test_every_episode_has_a_stream_of_its_own(lake: TabularMdp, optimal: Ints) -> None:
    few = rollouts(lake, optimal, seed=5, n_episodes=10).table()
    many = rollouts(lake, optimal, seed=5, n_episodes=100).table()
    assert many.head(10).equals(few)
    assert not rollouts(lake, optimal, seed=6, n_episodes=100).table().equals(many)
    assert many["steps"].n_unique() > 3


def test_starts_where_it_is_told() -> None:
    calm = frozen_lake("8x8")
    policy = solve(calm).policy
    assert rollouts(calm, policy, seed=1, n_episodes=9).steps_to_goal.tolist() == [14] * 9
    assert rollouts(calm, policy, seed=1, start=62, n_episodes=9).max_steps == 1
    steps = rollouts(calm, policy, seed=1, start="training").steps_to_goal
    assert set(steps.tolist()) == set(range(1, 15))


def test_bad_input_is_refused(lake: TabularMdp, optimal: Ints) -> None:
    for settings, name in (
        ({"n_episodes": 0}, "n_episodes"),
        ({"step_limit": -1}, "step_limit"),
        ({"n_successes": 0}, "n_successes"),
    ):
        with pytest.raises(ConfigurationError, match=name):
            paper_rollouts(lake, optimal, **settings)
        with pytest.raises(ConfigurationError, match=name):
            rollouts(lake, optimal, seed=1, **settings)
    with pytest.raises(ConfigurationError, match="n_threads"):
        rollouts(lake, optimal, seed=1, n_threads=0)
    with pytest.raises(ConfigurationError, match="seed"):
        rollouts(lake, optimal, seed=-1)
