"""Compaction: every rho x mass x population of the paper's setting, valued, on one core.

The baseline is the oracle's, the paper's Algorithm 1 line by line: for one population and one mass,
one rho, not valued.
"""

from collections.abc import Callable, Sequence

import numpy as np

from measurement import Measurement, Taken, least, taken_by
from oracle.gnmc import gnmc
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


def literal(rules: RuleSet, solution: Solution) -> Callable[[], object]:
    """Compact one population at one rho, by the oracle."""
    niches = model_niches(rules, solution.mdp)
    members = [part.tolist() for part in np.split(niches.members, niches.first[1:-1])]
    masses = rules.fitness.tolist()
    return lambda: gnmc(masses, members, 0.99)


def measure(rounds: int = 3) -> list[Measurement]:
    """Train the populations, then time their paths: the best of several."""
    rows: list[Measurement] = []
    for name, slip, steps in SETTINGS:
        solution = solve(frozen_lake("8x8", slip=slip), gamma=0.95)
        mdp = solution.mdp
        populations = [XCSF.on(mdp, seed=s).train(mdp, steps).rules for s in range(N_POPULATIONS)]
        trace(populations[:1], solution)()
        wholes: list[Taken] = []
        ones: list[Taken] = []
        for _ in range(rounds):
            wholes.append(taken_by(trace(populations, solution)))
            ones.append(taken_by(literal(populations[0], solution)))
        whole, one = least(wholes), least(ones)
        what = f"{name}: {len(RHOS)} rho x {len(MASSES)} masses x {N_POPULATIONS} populations"
        n_sets = len(RHOS) * len(MASSES) * N_POPULATIONS
        rows += [
            Measurement(what, whole.seconds, "s"),
            Measurement(f"{name}: one set, by the oracle, not valued", one.seconds * 1e3, "ms"),
            Measurement(
                f"{name}: oracle / path, a set", one.processor * n_sets / whole.processor, "x"
            ),
        ]
    return rows
