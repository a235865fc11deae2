"""Sampled rollouts agree with the exact expectations, over many policies."""

import numpy as np
import pytest
from scipy import stats

from xcskit.evaluation import rollouts, steps_to_goal
from xcskit.mdp import TabularMdp, frozen_lake, solve
from xcskit.typing import Ints

N_POLICIES = 60
N_EPISODES = 2000
STEP_LIMIT = 60
FALSE_ALARMS = 1e-4


def policies(world: TabularMdp) -> list[Ints]:
    best = solve(world).policy
    random = np.random.default_rng(11)
    shares = np.linspace(0.0, 0.4, N_POLICIES)
    return [
        np.where(random.random(64) < share, random.integers(0, 4, 64), best) for share in shares
    ]


@pytest.mark.statistical
@pytest.mark.parametrize("slip", [0.1, 0.5])
def test_success_and_steps_agree_with_their_expectations(slip: float) -> None:
    """Seeded. Each test is two-sided, exact (binomial) or by the normal approximation of a mean.

    False alarms: at most 1e-4 for all tests of this function together (Bonferroni).
    """
    world = frozen_lake("8x8", slip=slip)
    threshold = FALSE_ALARMS / (2 * N_POLICIES)
    n_means = 0
    for number, policy in enumerate(policies(world)):
        exact = steps_to_goal(world, policy, start="training", step_limit=STEP_LIMIT)
        sampled = rollouts(
            world,
            policy,
            seed=number,
            n_episodes=N_EPISODES,
            start="training",
            step_limit=STEP_LIMIT,
        )
        chance = exact.success_probability
        assert stats.binomtest(sampled.n_successes, N_EPISODES, chance).pvalue > threshold
        if sampled.n_successes > 200:
            assert exact.expected_steps is not None
            assert exact.standard_deviation is not None
            assert sampled.mean_steps is not None
            error = exact.standard_deviation / np.sqrt(sampled.n_successes)
            deviation = abs(sampled.mean_steps - exact.expected_steps) / error
            assert 2 * stats.norm.sf(deviation) > threshold
            n_means += 1
    assert n_means > N_POLICIES / 2


@pytest.mark.statistical
def test_steps_have_their_exact_distribution() -> None:
    """Chi-squared over the numbers of steps that are expected ten times and more; alarm 1e-4."""
    world = frozen_lake("4x4", slip=0.3)
    policy = solve(world).policy
    exact = steps_to_goal(world, policy, step_limit=STEP_LIMIT)
    assert exact.distribution is not None
    sampled = rollouts(world, policy, seed=1, n_episodes=20_000, step_limit=STEP_LIMIT)
    counts = np.bincount(sampled.steps_to_goal, minlength=STEP_LIMIT + 1)
    expected = exact.distribution * 20_000
    is_common = expected >= 10
    observed = np.append(counts[is_common], 20_000 - counts[is_common].sum())
    wanted = np.append(expected[is_common], 20_000 - expected[is_common].sum())
    assert is_common.sum() > 10
    assert stats.chisquare(observed, wanted).pvalue > FALSE_ALARMS
