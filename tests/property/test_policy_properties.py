"""Policies on random models: evaluated exactly, they obey what any policy obeys."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xcskit.evaluation import evaluate_q, is_correct, policy_values, rollouts, steps_to_goal
from xcskit.mdp import Outcomes, TabularMdp, solve
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints


@st.composite
def worlds(draw: st.DrawFn) -> TabularMdp:
    """Models of a few states, some of whose outcomes end: at the goal, or elsewhere.

    Sparse ones have states that nothing leads out of.
    """
    n_states, n_actions = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    n_ways = draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_pairs = n_states * n_actions
    n_rows = n_pairs * n_ways
    ends = random.random(n_rows) < draw(st.sampled_from([0.0, 0.1, 0.5]))
    next_state = random.integers(0, n_states, n_rows)
    # An end that leads elsewhere makes no state terminal.
    next_state = np.where(
        ends, (np.arange(n_rows) // (n_actions * n_ways) + 1) % n_states, next_state
    )
    probability = random.dirichlet(np.ones(n_ways), n_pairs).ravel()
    if n_states == 1:
        ends[:] = False
    start = random.dirichlet(np.ones(n_states))
    return TabularMdp(
        name="random",
        space=IntegerSpace((0,), (n_states - 1,)),
        observations=np.arange(n_states)[:, np.newaxis],
        action_names=tuple(f"a{a}" for a in range(n_actions)),
        outcomes=Outcomes(
            first=np.arange(0, n_rows + 1, n_ways),
            next_state=next_state,
            probability=probability,
            reward=random.normal(size=n_rows),
            is_terminated=ends,
            is_success=ends & (random.random(n_rows) < 0.5),
        ),
        training_start=start,
        test_start=start,
    )


def policy_of(mdp: TabularMdp, seed: int) -> Ints:
    return np.random.default_rng(seed).integers(0, mdp.n_actions, mdp.n_states)


def walk(mdp: TabularMdp, policy: Ints, n_steps: int) -> tuple[Floats, float, float]:
    """Follow the distribution over states outcome by outcome: arrivals, failures, still going."""
    here = mdp.test_start
    arrivals = np.zeros(n_steps + 1)
    failure = 0.0
    for step in range(1, n_steps + 1):
        after = np.zeros(mdp.n_states)
        for state in range(mdp.n_states):
            pair = state * mdp.n_actions + int(policy[state])
            for row in range(mdp.outcomes.first[pair], mdp.outcomes.first[pair + 1]):
                flow = float(here[state] * mdp.outcomes.probability[row])
                if mdp.outcomes.is_success[row]:
                    arrivals[step] += flow
                elif mdp.outcomes.is_terminated[row]:
                    failure += flow
                else:
                    after[mdp.outcomes.next_state[row]] += flow
        here = after
    return arrivals, failure, float(here.sum())


@given(worlds(), st.integers(0, 2**32 - 1), st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_a_limited_number_of_steps_equals_a_walk(mdp: TabularMdp, seed: int, limit: int) -> None:
    policy = policy_of(mdp, seed)
    exact = steps_to_goal(mdp, policy, step_limit=limit)
    arrivals, failure, unfinished = walk(mdp, policy, limit)
    assert exact.distribution == pytest.approx(arrivals, abs=1e-12)
    assert exact.failure_probability == pytest.approx(failure, abs=1e-12)
    assert exact.unfinished_probability == pytest.approx(unfinished, abs=1e-12)


@given(worlds(), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_no_limit_is_bounded_by_every_limit(mdp: TabularMdp, seed: int) -> None:
    policy = policy_of(mdp, seed)
    exact = steps_to_goal(mdp, policy)
    within = steps_to_goal(mdp, policy, step_limit=50)
    for told in (exact, within):
        chances = told.success_probability, told.failure_probability, told.unfinished_probability
        assert sum(chances) == pytest.approx(1.0, abs=1e-9)
        assert 0.0 <= min(chances) <= max(chances) <= 1.0
    assert exact.success_probability >= within.success_probability - 1e-9
    assert exact.failure_probability >= within.failure_probability - 1e-9
    assert exact.unfinished_probability <= within.unfinished_probability + 1e-9
    if within.expected_steps is not None:
        assert exact.expected_steps is not None
        assert exact.expected_steps >= within.expected_steps - 1e-6


@given(worlds(), st.sampled_from([0.0, 0.5, 0.99]), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_values_obey_bellman_and_lose_against_the_optimum(
    mdp: TabularMdp, gamma: float, seed: int
) -> None:
    policy = policy_of(mdp, seed)
    values = policy_values(mdp, policy, gamma)
    followed = values.q[np.arange(mdp.n_states), policy]
    assert values.v == pytest.approx(followed, rel=1e-9, abs=1e-9)
    solution = solve(mdp, gamma)
    assert (values.v <= solution.v + 1e-7).all()
    own = policy_values(mdp, solution.policy, gamma)
    assert own.v == pytest.approx(solution.v, abs=1e-6)


@given(worlds(), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_a_correct_policy_has_no_regret(mdp: TabularMdp, seed: int) -> None:
    solution = solve(mdp, 0.9)
    shape = (len(mdp.states), mdp.n_actions)
    evaluation = evaluate_q(np.random.default_rng(seed).random(shape), solution)
    assert (evaluation.regret >= 0.0).all()
    if evaluation.policy_accuracy == 1.0:
        assert evaluation.mean_regret < 1e-6
    if evaluation.mean_regret > 1e-6:
        assert not evaluation.is_correct.all()


@given(worlds(), st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_rollouts_end_as_they_can(mdp: TabularMdp, seed: int, n_episodes: int, limit: int) -> None:
    policy = policy_of(mdp, seed)
    result = rollouts(mdp, policy, seed=seed, n_episodes=n_episodes, step_limit=limit)
    exact = steps_to_goal(mdp, policy, step_limit=limit)
    assert exact.distribution is not None
    assert result.n_episodes == n_episodes
    assert (result.steps <= limit).all()
    assert (exact.distribution[result.steps_to_goal] > 0.0).all()


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_one_action_in_common_is_enough(n: int, n_actions: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    q_hat = random.integers(0, 3, (n, n_actions)).astype(np.float64)
    advocacy = random.random((n, n_actions)) < 0.5
    expected = [
        any(advocacy[i, a] and q_hat[i, a] == max(q_hat[i]) for a in range(n_actions))
        for i in range(n)
    ]
    assert is_correct(q_hat, advocacy).tolist() == expected
