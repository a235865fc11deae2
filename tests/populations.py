"""Rule sets to test with: drawn at random, or trained by the oracle."""

from functools import cache

import numpy as np

from oracle.environment import MAP_8X8, frozen_lake, train
from oracle.parameters import Parameters
from oracle.rule import Rule
from oracle.xcsf import Xcsf
from xcskit.kernels.components import ConditionScheme, PredictionScheme
from xcskit.kernels.conditions import MinSpan
from xcskit.kernels.predictions import Nlms
from xcskit.rules import RuleSet
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints

__all__ = [
    "LAKE_ACTIONS",
    "grid_observations",
    "lake_observations",
    "random_rules",
    "trained_rules",
]

LAKE_ACTIONS = ("left", "down", "right", "up")


def grid_observations(space: IntegerSpace) -> Ints:
    """Give every observation of a space."""
    axes = [np.arange(low, high + 1) for low, high in zip(space.lower, space.upper, strict=True)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def lake_observations() -> Ints:
    """Give the 53 non-terminal cells of the 8x8 lake."""
    cells = [(x, y) for y, row in enumerate(MAP_8X8) for x, cell in enumerate(row) if cell in "SF"]
    return np.array(cells)


def random_rules(
    seed: int,
    n_rules: int = 60,
    *,
    space: IntegerSpace | None = None,
    n_actions: int = 2,
    condition: ConditionScheme | None = None,
    prediction: PredictionScheme | None = None,
    n_fitnesses: int | None = None,
    covers_all: bool = True,
) -> RuleSet:
    """Draw a rule set.

    ``n_fitnesses`` makes fitness one of so many values, so that masses tie. ``covers_all`` puts in
    a rule for each action that matches everywhere, so that there is no hole.
    """
    random = np.random.default_rng(seed)
    space = space or IntegerSpace.grid(5, 4)
    condition = condition or MinSpan()
    prediction = prediction or Nlms()
    columns: dict[str, Ints | Floats] = {"action": random.integers(0, n_actions, n_rules)}
    for name, low, high in zip(space.names, space.lower, space.upper, strict=True):
        ends = np.sort(random.integers(low, high + 1, (n_rules, 2)), axis=1)
        if covers_all:
            ends[:n_actions] = (low, high)
        columns[f"{name}_lower"], columns[f"{name}_upper"] = ends[:, 0], ends[:, 1]
    if covers_all:
        columns["action"][:n_actions] = np.arange(n_actions)
    for name in prediction.column_names(space):
        columns[name] = random.normal(0.0, 0.05, n_rules)
    fitness = 1.0 - random.random(n_rules)
    if n_fitnesses is not None:
        fitness = np.ceil(fitness * n_fitnesses) / n_fitnesses / 3.0
    columns |= {
        "fitness": fitness,
        "prediction_error": random.random(n_rules) * 0.1,
        "minimum_error": random.random(n_rules) * 0.01,
        "experience": random.integers(0, 200, n_rules),
        "time_stamp": random.integers(0, 1000, n_rules),
        "action_set_size": 1.0 + 20.0 * random.random(n_rules),
        "numerosity": random.integers(1, 20, n_rules),
    }
    return RuleSet(
        columns=columns,
        space=space,
        action_names=LAKE_ACTIONS[:n_actions],
        condition=condition,
        prediction=prediction,
        metadata={"seed": seed},
    )


@cache
def trained_rules(seed: int, steps: int = 3000, population_size: int = 400) -> RuleSet:
    """Train the oracle on the slippery 8x8 lake, and give its population."""
    parameters = Parameters(N=population_size)
    system = Xcsf(parameters, (0, 0), (7, 7), 4, seed)
    train(system, frozen_lake(MAP_8X8, 0.1), steps)
    return from_oracle(system.rules, seed)


def from_oracle(rules: list[Rule], seed: int) -> RuleSet:
    """Make a rule set of the oracle's rules on the 8x8 lake."""
    intervals = np.array([rule.intervals for rule in rules])
    weights = np.array([rule.weights for rule in rules])
    columns: dict[str, Ints | Floats] = {
        "action": np.array([rule.action for rule in rules]),
        "x_lower": intervals[:, 0, 0],
        "x_upper": intervals[:, 0, 1],
        "y_lower": intervals[:, 1, 0],
        "y_upper": intervals[:, 1, 1],
        "weight_constant": weights[:, 0],
        "weight_x": weights[:, 1],
        "weight_y": weights[:, 2],
        "fitness": np.array([rule.fitness for rule in rules]),
        "prediction_error": np.array([rule.error for rule in rules]),
        "minimum_error": np.array([rule.minimum_error for rule in rules]),
        "experience": np.array([rule.experience for rule in rules]),
        "time_stamp": np.array([rule.time_stamp for rule in rules]),
        "action_set_size": np.array([rule.action_set_size for rule in rules]),
        "numerosity": np.array([rule.numerosity for rule in rules]),
    }
    return RuleSet(
        columns=columns,
        space=IntegerSpace.grid(8, 8),
        action_names=LAKE_ACTIONS,
        condition=MinSpan(),
        prediction=Nlms(),
        metadata={"seed": seed, "trained by": "oracle"},
    )
