"""The numbers and choices of a configuration, as the kernels read them."""

from typing import NamedTuple

__all__ = [
    "CROSSOVERS",
    "DELETION_MEANS",
    "ERRORS",
    "EXPLORATIONS",
    "LEAST",
    "SELECTIONS",
    "Settings",
]

EXPLORATIONS = ("step", "episode")
SELECTIONS = ("tournament", "micro_tournament", "roulette")
CROSSOVERS = ("uniform", "two_point")
ERRORS = ("xcs_mu", "plain")
DELETION_MEANS = ("numerosity", "butz_wilson")

LEAST = 1e-200
"""Accuracy and fitness never fall below this, so that no share is 0/0 (docs/determinism.md)."""


class Settings(NamedTuple):
    """Scalars; a choice is its place in the tuples of this module."""

    population_size: int
    beta: float
    beta_epsilon: float
    alpha: float
    epsilon_0: float
    nu: float
    whole_nu: int
    gamma: float
    theta_ga: float
    tau: float
    chi: float
    upsilon: float
    mutation: float
    theta_del: int
    delta: float
    theta_sub: int
    initial_error: float
    initial_fitness: float
    minimum_actions: int
    exploration_probability: float
    exploration: int
    selection: int
    crossover: int
    error: int
    deletion_mean: int
    subsumes_in_ga: bool
    subsumes_in_action_set: bool
