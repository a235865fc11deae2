"""Speed of compaction: every rho x mass x population, valued, on one core.

``python benchmarks/compaction.py`` trains the populations first; ``measure_compaction`` takes them.
"""

import time
from collections.abc import Sequence

import numpy as np

from xcskit.compaction import gnmc_path, model_niches
from xcskit.learner import XCSF
from xcskit.mdp import Solution, frozen_lake, solve
from xcskit.rules import RuleSet

__all__ = ["measure_compaction", "train_populations"]

MASSES = ("fitness", "tan", "inverse_fitness")
RHOS = np.arange(100) / 100


def train_populations(solution: Solution, n_populations: int, steps: int) -> list[RuleSet]:
    """Train populations of the paper's setting, one a seed."""
    mdp = solution.mdp
    return [XCSF.on(mdp, seed=seed).train(mdp, steps).rules for seed in range(n_populations)]


def measure_compaction(populations: Sequence[RuleSet], solution: Solution) -> dict[str, float]:
    """Time all rho x masses x populations, with MAE and accuracy at each, from rules to tables.

    Returns
    -------
    dict
        ``seconds`` warm, ``n_sets`` that were valued, and ``seconds_cold``: the first population,
        with what has to be compiled or read from the cache.
    """
    began = time.perf_counter()
    _trace(populations[0], solution)
    cold = time.perf_counter() - began
    began = time.perf_counter()
    n_sets = sum(_trace(rules, solution) for rules in populations)
    return {
        "seconds": time.perf_counter() - began,
        "n_sets": float(n_sets),
        "seconds_cold": cold,
    }


def _trace(rules: RuleSet, solution: Solution) -> int:
    niches = model_niches(rules, solution.mdp)
    return sum(len(gnmc_path(rules, niches, mass).table(solution, RHOS)) for mass in MASSES)


if __name__ == "__main__":
    for slip, steps in ((0.0, 400_000), (0.1, 800_000)):
        optimum = solve(frozen_lake("8x8", slip=slip), gamma=0.95)
        result = measure_compaction(train_populations(optimum, 30, steps), optimum)
        print(
            f"slip {slip}: {result['n_sets']:.0f} compacted sets valued in "
            f"{result['seconds']:.2f} s (first population {result['seconds_cold']:.2f} s)"
        )
