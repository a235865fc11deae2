"""Training through Gymnasium and training on the model reach the same distribution of results.

The environment is Gymnasium's own FrozenLake, which draws its outcomes by other means than the
engine does. Where the draws are the same, so are the bits: tests/unit/test_gymnasium.py.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TransformObservation
from scipy.stats import ks_2samp

from xcskit.evaluation import policy_accuracy, value_error
from xcskit.learner import XCSF, XcsfConfig
from xcskit.mdp import Solution, from_gymnasium, solve
from xcskit.typing import Floats

pytestmark = pytest.mark.statistical

CONFIG = XcsfConfig(population_size=300)
MAP = ["SFF", "FHF", "FFG"]
N_RUNS, N_STEPS = 40, 1500
FALSE_ALARM = 1e-4


def results(agent: XCSF, solution: Solution) -> list[float]:
    q = agent.read_values(solution.mdp.observations[solution.mdp.states])
    size = float(len(agent.rules))
    q = np.where(np.isnan(q), 0.0, q)
    return [size, value_error(q, solution), policy_accuracy(q, solution)]


def through_gymnasium(solution: Solution, **options: Any) -> Floats:
    env = TransformObservation(
        gymnasium.make("FrozenLake-v1", desc=MAP, **options),
        lambda state: np.array([state % 3, state // 3]),
        spaces.MultiDiscrete([3, 3]),
    )
    agents = (XCSF.for_gymnasium(env, CONFIG, seed=1000 + i) for i in range(N_RUNS))
    return np.array([results(agent.learn_from(env, N_STEPS), solution) for agent in agents])


def least_p(one: Floats, two: Floats) -> float:
    return min(float(ks_2samp(one[:, k], two[:, k]).pvalue) for k in range(3))


def test_results_have_one_distribution() -> None:
    """Two-sample Kolmogorov-Smirnov of three measures, Bonferroni: false alarms 1 in 10,000.

    The samples are large enough to tell a lake without slips, or with episodes of at most five
    steps, from this one.
    """
    lake = from_gymnasium("FrozenLake-v1", desc=MAP)
    solution = solve(lake)
    agents = (XCSF.on(lake, CONFIG, seed=i).train(lake, N_STEPS) for i in range(N_RUNS))
    on_model = np.array([results(agent, solution) for agent in agents])
    assert least_p(on_model, through_gymnasium(solution)) > FALSE_ALARM / 3
    for wrong in ({"is_slippery": False}, {"max_episode_steps": 5}):
        assert least_p(on_model, through_gymnasium(solution, **wrong)) < FALSE_ALARM / 3
