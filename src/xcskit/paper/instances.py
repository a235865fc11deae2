"""The trained instances, and what is computed once for each."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from xcskit.compaction import GnmcPath, gnmc_path, model_niches
from xcskit.errors import HoleError
from xcskit.evaluation import greedy_policy
from xcskit.experiments import Results, Specification
from xcskit.experiments.training import configuration_of, environment_of, rules_of
from xcskit.mdp import Solution, solve
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Floats, Ints

__all__ = ["MASSES", "RHO", "Instance", "instances_of", "solutions_of"]

MASSES: Final = ("fitness", "tan", "inverse_fitness")
"""The masses of the paper."""

RHO: Final = 0.99
"""The mass removal factor of groups B and C."""

_GROUP_MASS = {"B": "fitness", "C": "inverse_fitness"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """A trained rule set with its niches, its paths and its policies.

    Parameters
    ----------
    variant, seed
        Which instance it is.
    rules, niches
        The population at the end of training, and its niches on S.
    solution
        The optimum of its environment.
    """

    variant: str
    seed: int
    rules: RuleSet
    niches: Niches
    solution: Solution

    @cached_property
    def paths(self) -> dict[str, GnmcPath]:
        """GNMC's path for each of the paper's masses."""
        return {mass: gnmc_path(self.rules, self.niches, mass) for mass in MASSES}

    def kept(self, group: str) -> Bools:
        """Give a mask of the rules that are in a group's rule set."""
        if group not in _GROUP_MASS:
            return np.ones(len(self.rules), dtype=np.bool_)
        return self.paths[_GROUP_MASS[group]].kept(RHO)

    def values(self, group: str) -> Floats:
        """Give Qhat on S by a group's rule set, shape (n, n_actions)."""
        every = np.arange(self.niches.n_niches)
        values = self.niches.values_of(self.rules.fitness, self.kept(group), every)
        return values.reshape(-1, self.niches.n_actions)

    def policy(self, group: str) -> Ints:
        """Give the greedy policy of a group's rule set, shape (n_states,); 0 where it is unused."""
        policy = np.zeros(self.solution.mdp.n_states, dtype=np.int64)
        policy[self.solution.mdp.states] = greedy_policy(self.values(group))
        return policy


def solutions_of(specification: Specification) -> dict[str, Solution]:
    """Solve each variant's environment, once."""
    solutions: dict[str, Solution] = {}
    for trial in specification.trials():
        if trial.environment_name not in solutions:
            gamma = configuration_of(trial.configuration).discount
            solutions[trial.environment_name] = solve(environment_of(trial.environment), gamma)
    return solutions


def instances_of(results: Results, solutions: dict[str, Solution]) -> Iterable[Instance]:
    """Give every trained instance.

    Raises
    ------
    HoleError
        An instance has no rule for some state-action pair.
    """
    for trial, record in results:
        rules, solution = rules_of(trial, record), solutions[trial.environment_name]
        niches = model_niches(rules, solution.mdp)
        try:
            niches.check_no_hole()
        except HoleError as reason:
            msg = f"{trial}: {reason}; its values cannot be judged: train longer, on a smaller map"
            raise HoleError(msg) from None
        yield Instance(
            variant=trial.environment_name,
            seed=trial.seed,
            rules=rules,
            niches=niches,
            solution=solution,
        )
