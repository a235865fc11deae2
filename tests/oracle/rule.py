"""A rule, and when one subsumes another."""

from collections.abc import Sequence
from dataclasses import dataclass

from oracle.conditions import Interval, Space, contains, generality
from oracle.parameters import Parameters
from oracle.predictions import Matrix, predict


@dataclass(kw_only=True, eq=False, slots=True)
class Rule:
    """A macroclassifier; its fitness already counts its numerosity."""

    alleles: list[int]
    intervals: list[Interval]
    """What the alleles stand for."""
    action: int
    weights: list[float]
    covariance: Matrix
    error: float
    minimum_error: float
    """The page's mu of a rule."""
    fitness: float
    time_stamp: int
    experience: int
    action_set_size: float
    numerosity: int
    slot: int = -1
    """Its place in the population."""


def could_subsume(parameters: Parameters, rule: Rule) -> bool:
    """Tell whether a rule is experienced and accurate enough to subsume others."""
    return rule.experience > parameters.theta_sub and rule.error < parameters.epsilon_0


def is_more_general(space: Space, rule: Rule, other: Rule) -> bool:
    """Tell whether a rule is strictly more general and contains the other in every dimension."""
    return generality(space, rule.intervals) > generality(space, other.intervals) and contains(
        rule.intervals, other.intervals
    )


def subsumes(parameters: Parameters, space: Space, rule: Rule, other: Rule) -> bool:
    return (
        rule.action == other.action
        and could_subsume(parameters, rule)
        and is_more_general(space, rule, other)
    )


def weighted_prediction(parameters: Parameters, rules: Sequence[Rule], z: Sequence[float]) -> float:
    """Give PA of one action: the mean of its rules' predictions, weighted by fitness."""
    numerator = 0.0
    denominator = 0.0
    for rule in rules:
        numerator += rule.fitness * predict(parameters, rule.weights, z)
        denominator += rule.fitness
    return numerator / denominator
