"""Compaction: every rho x mass x population of the paper's setting, valued, on one core."""

from collections.abc import Callable, Sequence

import numpy as np

from timing import seconds_of
from xcskit.compaction import gnmc_path, model_niches
from xcskit.learner import XCSF
from xcskit.mdp import Solution, frozen_lake, solve
from xcskit.rules import RuleSet

__all__ = ["measure"]

MASSES = ("fitness", "tan", "inverse_fitness")
RHOS = np.arange(100) / 100
N_POPULATIONS = 30
SETTINGS = (("p 0", 0.0, 400_000), ("p 0.1", 0.1, 800_000))


def trace(populations: Sequence[RuleSet], solution: Solution) -> Callable[[], object]:
    """Value all rho x masses x populations, with MAE and accuracy at each, from rules to tables."""

    def work() -> None:
        for rules in populations:
            niches = model_niches(rules, solution.mdp)
            for mass in MASSES:
                gnmc_path(rules, niches, mass).table(solution, RHOS)

    return work


def measure(rounds: int = 3) -> list[tuple[str, str]]:
    """Train the populations, then time their paths: the best of several."""
    rows: list[tuple[str, str]] = []
    for name, slip, steps in SETTINGS:
        solution = solve(frozen_lake("8x8", slip=slip), gamma=0.95)
        mdp = solution.mdp
        populations = [XCSF.on(mdp, seed=s).train(mdp, steps).rules for s in range(N_POPULATIONS)]
        trace(populations[:1], solution)()
        best = min(seconds_of(trace(populations, solution)) for _ in range(rounds))
        what = f"{name}: {len(RHOS)} rho x {len(MASSES)} masses x {N_POPULATIONS} populations"
        rows.append((what, f"{best:.2f} s"))
    return rows
