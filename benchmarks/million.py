"""A lake of a million cells and a million microclassifiers: trained, solved, judged, compacted."""

import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from landscapes import lake
from xcskit.compaction import gnmc_path, model_niches
from xcskit.evaluation import evaluate_q
from xcskit.learner import XCSF, presets
from xcskit.mdp import Solution, solve
from xcskit.typing import Ints

__all__ = ["measure"]

SIDE = 1000
POPULATION = 1_000_000
LEGS = (1_000_000, 1_000_000, 2_000_000, 4_000_000)

T = TypeVar("T")


class _Log:
    """What was done, how long it took, and the most memory so far."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def timed(self, what: str, work: Callable[[], T]) -> T:
        began = time.process_time()
        result = work()
        seconds = time.process_time() - began
        gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        self.rows.append((what, f"{seconds:.1f} s, peak {gigabytes:.1f} GB"))
        return result


def _states_with_values(agent: XCSF, solution: Solution) -> Ints:
    """Give the states in which every action has a rule."""
    states = solution.mdp.states
    values = agent.read_values(solution.mdp.observations[states])
    return states[~np.isnan(values).any(axis=1)]


def _judge(agent: XCSF, solution: Solution, seconds: float) -> tuple[str, str]:
    """Say how far training has come."""
    states = _states_with_values(agent, solution)
    judged = evaluate_q(agent, solution, states)
    share = states.size / solution.mdp.states.size
    lost = judged.mean_regret / float(solution.v[states].mean())
    return (
        f"after {agent.steps:,} steps, {seconds:.1f} s",
        (
            f"{len(agent.rules):,} rules; {share:.1%} of states without a hole, there: "
            f"error {judged.mean_absolute_error:.3f}, accuracy {judged.policy_accuracy:.3f}, "
            f"value lost {lost:.1%}"
        ),
    )


def measure() -> list[tuple[str, str]]:
    """Do it all once, and give the CPU time of each part."""
    log = _Log()
    mdp = log.timed(f"make the model, {SIDE:,} x {SIDE:,}", lambda: lake(SIDE))
    solution = log.timed("solve it exactly, gamma 0.95", lambda: solve(mdp, gamma=0.95))
    agent = XCSF.on(mdp, presets.bishop2020().replace(population_size=POPULATION), seed=1)
    agent.train(mdp, 1)
    spent = 0.0
    for leg in LEGS:
        began = time.process_time()
        agent.train(mdp, leg)
        spent += time.process_time() - began
        log.rows.append(_judge(agent, solution, spent))
    states = _states_with_values(agent, solution)
    rules = agent.rules
    niches = log.timed("find the niches", lambda: model_niches(rules, mdp, states))
    log.rows.append(("", f"{niches.n_niches:,} niches, {niches.members.size:,} entries"))
    path = log.timed("compact, every rho (gnmc_path)", lambda: gnmc_path(rules, niches))
    table = log.timed("error and accuracy at every rho", lambda: path.table(solution))
    log.rows.append(("", f"{table.height:,} sets, {table['n_rules'][-1]:,} rules in the least"))
    judged = evaluate_q(rules, solution, states)
    log.timed("evaluate the policy exactly", judged.summary)
    return log.rows


if __name__ == "__main__":
    for what, measured in measure():
        print(f"{what}: {measured}")
