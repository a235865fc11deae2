"""What the page knows: rules, their niches, the optimum and the paths, as what JSON can hold."""

import base64
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from xcskit.compaction import GnmcPath, gnmc_path, model_niches
from xcskit.compaction.losses import mean_regret
from xcskit.compaction.masses import Mass, mass_name
from xcskit.compaction.task import check_fit
from xcskit.errors import ConfigurationError, SolverError
from xcskit.evaluation import greedy_policy
from xcskit.mdp import Solution, TabularMdp
from xcskit.rules import Niches, RuleSet
from xcskit.rules.display import clauses
from xcskit.typing import Floats, Ints
from xcskit.version import __version__

__all__ = ["content_of"]

_MOST_ENTRIES: Final = 4_000_000
"""Rules in niches, all told: 64 MB of page, which a browser still opens."""

_FORMS: Final = {"f8": "<f8", "i4": "<i4", "u1": "|u1"}
"""The arrays that the page can unpack, little-endian as typed arrays are wherever it runs."""


def content_of(rules: RuleSet, solution: Solution, masses: Sequence[Mass]) -> dict[str, Any]:
    """Give all that the page shows and computes with.

    Parameters
    ----------
    rules, solution
        What is explored, and the optimum beside it.
    masses
        The masses to compact by.
    """
    mdp = solution.mdp
    check_fit(rules, mdp)
    names = [mass_name(mass) for mass in masses]
    if len(rules) == 0 or not names or len(set(names)) < len(names):
        msg = f"an explorer needs rules and masses of different names: got {len(rules)} and {names}"
        raise ConfigurationError(msg)
    niches = Niches.of(rules, mdp.observations)
    if niches.members.size > _MOST_ENTRIES:
        msg = (
            f"{len(rules)} rules match {niches.members.size} times in the {mdp.n_states} states of "
            f"{mdp.name!r}; a page can hold {_MOST_ENTRIES}: compact the rules first"
        )
        raise ConfigurationError(msg)
    niches.q_values(rules.fitness)  # which says where weights have diverged
    return {
        "version": __version__,
        "name": mdp.name,
        "gamma": solution.gamma,
        "action_names": mdp.action_names,
        "dimension_names": mdp.space.names,
        **_states(mdp),
        "q_star": _packed(solution.q, "f8"),
        "is_optimal": _packed(solution.advocacy, "u1"),
        "rules": [words[:1] + words[2:] for words in clauses(rules)],
        "rule_actions": _packed(rules.actions, "i4"),
        "fitness": _packed(rules.fitness, "f8"),
        "numerosity": _packed(rules.numerosity, "f8"),
        "first": _packed(niches.first, "i4"),
        "members": _packed(niches.members, "i4"),
        "predictions": _packed(niches.predictions, "f8"),
        **_paths(rules, solution, masses),
    }


def _states(mdp: TabularMdp) -> dict[str, Any]:
    is_goal = np.zeros(mdp.n_states, dtype=np.bool_)
    is_goal[mdp.outcomes.next_state[mdp.outcomes.is_success]] = True
    layout = mdp.layout
    is_laid_out = layout is not None and len(np.unique(layout.positions, axis=0)) == mdp.n_states
    return {
        "observations": _packed(mdp.observations, "f8"),
        "counted": _packed(mdp.states, "i4"),
        "is_terminal": _packed(mdp.is_terminal, "u1"),
        "is_goal": _packed(is_goal, "u1"),
        "start": int(mdp.test_start.argmax()),
        "layout": {
            "rows": layout.rows,
            "positions": _packed(layout.positions, "i4"),
            "moves": layout.moves,
        }
        if layout is not None and is_laid_out
        else None,
    }


def _paths(rules: RuleSet, solution: Solution, masses: Sequence[Mass]) -> dict[str, Any]:
    """Give the paths, and the regret of every set on them; none where there are holes."""
    niches = model_niches(rules, solution.mdp)
    if niches.is_hole.any():
        return {"paths": [], "regret": None}
    regret = _Regret(rules, niches, solution)
    return {
        "paths": [
            {
                "name": mass_name(mass),
                "drop_out": _packed(path.drop_out, "f8"),
                "regret": _packed(regret.along(path), "f8"),
            }
            for mass in masses
            for path in [gnmc_path(rules, niches, mass)]
        ],
        "regret": _packed(np.array([regret.full]), "f8"),
    }


class _Regret:
    """The mean regret of greedy policies, each solved for once; NaN where gamma 1 gives none."""

    def __init__(self, rules: RuleSet, niches: Niches, solution: Solution) -> None:
        self._niches = niches
        self._fitness = rules.fitness
        self._solution = solution
        self._policy = greedy_policy(niches.q_values(rules.fitness))
        self._known: dict[bytes, float] = {}

    @property
    def full(self) -> float:
        """The mean regret of the whole rule set."""
        return self._of(self._policy)

    def along(self, path: GnmcPath) -> Floats:
        """Give the mean regret at every breakpoint. A rule that leaves costs only its niches."""
        niches, policy = self._niches, self._policy.copy()
        order = np.argsort(path.drop_out, kind="stable")
        ends = np.searchsorted(path.drop_out[order], path.breakpoints, side="right")
        first, pairs = niches.by_rule
        kept = np.ones(niches.n_rules, dtype=np.bool_)
        found = np.empty(ends.size)
        for k, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
            leaving = order[begin:end]
            kept[leaving] = False
            left = [pairs[first[rule] : first[rule + 1]] for rule in leaving.tolist()]
            rows = np.unique(np.concatenate([pairs[:0], *left]) // niches.n_actions)
            touched = rows[:, np.newaxis] * niches.n_actions + np.arange(niches.n_actions)
            values = niches.values_of(self._fitness, kept, touched.ravel())
            policy[rows] = values.reshape(touched.shape).argmax(axis=1)
            found[k] = self._of(policy)
        return found

    def _of(self, policy: Ints) -> float:
        key = policy.tobytes()
        if key not in self._known:
            try:
                self._known[key] = mean_regret(self._solution, self._solution.mdp.states, policy)
            except SolverError:
                self._known[key] = np.nan
        return self._known[key]


def _packed(values: NDArray[Any], form: str) -> dict[str, str]:
    data = np.ascontiguousarray(values, dtype=_FORMS[form]).tobytes()
    return {"packed": form, "data": base64.b64encode(data).decode()}
