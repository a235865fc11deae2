"""The peer: ``xcsf``, the C implementation by Richard Preen and others, from PyPI.

Written against version 1.5.0 of https://pypi.org/project/xcsf. It is taught through its interface
for multi-step problems (``init_trial``, ``init_step``, ``decision``, ``update``, ``end_step``,
``end_trial``), one step at a time, as it is meant to be: its own training loops take supervised
data, and worlds that its C code knows.
"""

from random import Random
from typing import Any, Final

import numpy as np
import xcsf  # pyright: ignore[reportMissingModuleSource] # only bench-peers installs it

from contestants import EXPLORE, GAMMA
from xcskit.mdp import TabularMdp
from xcskit.typing import Bools, Floats

__all__ = ["DEVIATIONS", "NEAREST", "SUITED", "Peer", "values_of"]

X_0: Final = 10.0
COVER_RANGE, MUTATION_RANGE = 4, 4

NEAREST: Final[dict[str, Any]] = {
    "pop_size": 5000,
    "pop_init": False,
    "loss_func": "mae",
    "gamma": GAMMA,
    "p_explore": 1.0,
    "e0": 0.01,
    "alpha": 0.1,
    "nu": 5,
    "beta": 0.1,
    "delta": 0.1,
    "theta_del": 50,
    "theta_sub": 50,
    "init_error": 1e-3,
    "init_fitness": 1e-3,
    "set_subsumption": False,
    "ea": {
        "select_type": "tournament",
        "select_size": 0.5,
        "theta_ea": 25,
        "lambda": 2,
        "p_crossover": 1.0,
        "err_reduc": 0.25,
        "fit_reduc": 0.1,
        "subsumption": True,
        "pred_reset": False,
    },
    "action": {"type": "integer"},
    "prediction": {"type": "nlms_linear", "args": {"eta": 0.1, "evolve_eta": False}},
}
"""The paper's setting, as near as xcsf 1.5.0 has it; what depends on the space is in ``Peer``."""

SUITED: Final[dict[str, Any]] = {
    **NEAREST,
    "pop_size": 2000,
    "prediction": {"type": "rls_linear", "args": {}},
}
"""What learned fastest of nineteen settings tried (docs/performance.md names them).

Recursive least squares and 2,000 microclassifiers, all of which are its own defaults.
"""

DEVIATIONS: Final = (
    ("conditions", "integer intervals, minimum and span", "real intervals, unordered bounds"),
    ("states", "as they are", "divided by the greatest; no NLMS prediction changes by it"),
    ("covering", "reaches 1, 2 or 3 cells to either side", "reaches 1 to 3.5 cells"),
    (
        "mutation of bounds",
        "each with probability 0.05, by 0 to 3 cells",
        "both of a dimension with probability 0.05, normal, of the same standard deviation",
    ),
    (
        "mutation of actions",
        "none",
        "at a rate that adapts itself and cannot be turned off",
    ),
    ("error", "XCS-mu", "plain XCS; it has no other"),
    ("tournament", "over macroclassifiers", "over microclassifiers; it has no other"),
    ("who subsumes a child", "a parent", "a parent, or any rule of the set"),
    ("identical rules", "become one", "stay apart; real bounds seldom are identical"),
    (
        "deletion",
        "mean fitness weighted by numerosity",
        "Butz and Wilson's; first what matched nothing for 10,000 steps",
    ),
    (
        "when the GA is due",
        "50 steps on average since the last, when exploring",
        "25 explored steps, which are about half of all; its clock counts no others",
    ),
)
"""What differs, ours, and xcsf's, in the setting that is nearest."""


class Peer:
    """``xcsf`` as a pupil. One at a time in a process: its random numbers are the process's."""

    def __init__(self, mdp: TabularMdp, seed: int, setting: dict[str, Any], n_threads: int) -> None:
        scale = float(max(mdp.space.upper))
        spread = np.sqrt(np.mean(np.arange(MUTATION_RANGE) ** 2.0)) / scale
        condition = {
            "type": "hyperrectangle_ubr",
            "args": {
                "min": 0.0,
                "max": 1.0,
                "spread_min": 2.0 / scale,
                "eta": 0.0,
                "sam": False,
                "p_mu": 0.05,
                "mu": float(spread),
            },
        }
        prediction = setting["prediction"]
        self._x_0 = X_0 / scale
        self._xcs = xcsf.XCS(
            x_dim=mdp.space.n_dimensions,
            y_dim=1,
            n_actions=mdp.n_actions,
            omp_num_threads=n_threads,
            random_state=seed,
            condition=condition,
            **{
                **setting,
                "prediction": {**prediction, "args": {"x0": self._x_0, **prediction["args"]}},
            },
        )
        self._explores = Random(f"pupil {seed}").random
        self._n_actions = mdp.n_actions
        # xcsf keeps a pointer to the state between calls: these rows outlive it.
        self._seen = list(np.ascontiguousarray(mdp.observations / scale))
        self._asked = np.ascontiguousarray(mdp.observations[mdp.states] / scale)

    def begin(self) -> None:
        """Start an episode."""
        self._xcs.init_trial()

    def act(self, state: int) -> int:
        """Choose an action."""
        self._xcs.init_step()
        return self._xcs.decision(self._seen[state], self._explores() < EXPLORE)

    def learn(self, reward: float, next_state: int, *, is_end: bool) -> None:  # noqa: ARG002 - it asks when it gets there
        """Learn from what came of it."""
        self._xcs.update(reward, is_end)
        self._xcs.end_step()
        if is_end:
            self._xcs.end_trial()

    def values(self) -> Floats:
        """Give Qhat of the states that count, NaN where no rule matches.

        Its own ``predict`` gives 0 there, and cannot tell a hole from a value: so the rules are
        read, which also changes nothing in it.
        """
        return values_of(self._xcs.get_pop(), self._asked, self._x_0, self._n_actions)

    def n_rules(self) -> int | None:
        """Count the rules."""
        return len(self._xcs.get_pop()["classifiers"])

    def check(self) -> None:
        """Hold our reading of its rules against its own predictions, when it learns no more."""
        ours, its = self.values(), self._xcs.predict(self._asked)
        if not np.allclose(np.nan_to_num(ours), its, rtol=1e-9, atol=1e-12):
            msg = f"xcsf predicts other values than its rules give: {np.abs(ours - its).max()}"
            raise AssertionError(msg)


def values_of(population: dict[str, Any], asked: Floats, x_0: float, n_actions: int) -> Floats:
    """Give the prediction array of a population, as ``XCS.get_pop`` gives it: NaN in holes."""
    rules = population["classifiers"]
    fitness = np.array([rule["fitness"] for rule in rules])
    actions = np.array([rule["action"]["action"] for rule in rules])
    bounds = np.array(
        [[rule["condition"]["bound1"], rule["condition"]["bound2"]] for rule in rules]
    )
    weights = np.array([rule["prediction"]["weights"] for rule in rules])
    lower, upper = bounds.min(axis=1), bounds.max(axis=1)
    matches: Bools = ((asked[:, None] >= lower) & (asked[:, None] <= upper)).all(axis=2)
    predictions = np.column_stack([np.full(len(asked), x_0), asked]) @ weights.T
    values = np.full((len(asked), n_actions), np.nan)
    for action in range(n_actions):
        mass = matches * (fitness * (actions == action))
        total = mass.sum(axis=1)
        has_rule = total > 0.0
        values[has_rule, action] = (mass * predictions).sum(axis=1)[has_rule] / total[has_rule]
    return values
