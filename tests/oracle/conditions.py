"""Conditions over integer spaces: two alleles a dimension, which stand for one interval each.

``min_span``: (minimum, span), the interval [minimum, minimum + span].
``unordered_bounds``: (p, q), the interval [min(p, q), max(p, q)].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oracle.parameters import Parameters
from oracle.streams import Stream, draw_below, draw_between, happens

Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Space:
    """The least and the greatest value of each dimension, both included."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]

    @property
    def ranges(self) -> list[Interval]:
        return list(zip(self.lower, self.upper, strict=True))


def clip(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def pairs(alleles: Sequence[int]) -> list[tuple[int, int]]:
    """Give the two alleles of each dimension."""
    return list(zip(alleles[0::2], alleles[1::2], strict=True))


def to_intervals(parameters: Parameters, alleles: Sequence[int]) -> list[Interval]:
    """Give the values that each dimension accepts, as (least, greatest)."""
    if parameters.condition == "min_span":
        return [(minimum, minimum + span) for minimum, span in pairs(alleles)]
    return [(min(p, q), max(p, q)) for p, q in pairs(alleles)]


def matches(intervals: Sequence[Interval], observation: Sequence[int]) -> bool:
    for (low, high), value in zip(intervals, observation, strict=True):
        if not low <= value <= high:
            return False
    return True


def contains(outer: Sequence[Interval], inner: Sequence[Interval]) -> bool:
    """Tell whether the outer interval contains the inner one in every dimension."""
    for (outer_low, outer_high), (low, high) in zip(outer, inner, strict=True):
        if not (outer_low <= low and high <= outer_high):
            return False
    return True


def generality(space: Space, intervals: Sequence[Interval]) -> float:
    """Divide the sum of covered values over the dimensions by the sum of possible values."""
    covered = sum(high - low + 1 for low, high in intervals)
    possible = sum(high - low + 1 for low, high in space.ranges)
    return covered / possible


def cover(
    parameters: Parameters, space: Space, observation: Sequence[int], stream: Stream
) -> list[int]:
    """Give alleles whose intervals reach 1 to r_0 - 1 values to either side of the observation."""
    alleles: list[int] = []
    for value, (least, greatest) in zip(observation, space.ranges, strict=True):
        lower = clip(value - draw_between(stream, 1, parameters.r_0 - 1), least, greatest)
        upper = clip(value + draw_between(stream, 1, parameters.r_0 - 1), least, greatest)
        if parameters.condition == "min_span":
            alleles += [lower, upper - lower]
        else:
            alleles += [lower, upper]
    return alleles


def repair(parameters: Parameters, space: Space, alleles: Sequence[int]) -> list[int]:
    """Bring alleles back into the space."""
    repaired: list[int] = []
    for (first, second), (least, greatest) in zip(pairs(alleles), space.ranges, strict=True):
        if parameters.condition == "min_span":
            minimum = clip(first, least, greatest)
            span = clip(second, 0, greatest - minimum)
            repaired += [minimum, span]
        else:
            repaired += [clip(first, least, greatest), clip(second, least, greatest)]
    return repaired


def cross(
    parameters: Parameters, one: Sequence[int], two: Sequence[int], stream: Stream
) -> tuple[list[int], list[int]]:
    """Swap alleles: each with probability upsilon, or those between two cuts."""
    n_alleles = len(one)
    if parameters.crossover == "uniform":
        swapped = [happens(stream, parameters.upsilon) for _ in range(n_alleles)]
    else:
        cuts = [draw_below(stream, n_alleles + 1), draw_below(stream, n_alleles + 1)]
        swapped = [min(cuts) <= place < max(cuts) for place in range(n_alleles)]
    alleles = list(zip(one, two, swapped, strict=True))
    return [b if swap else a for a, b, swap in alleles], [
        a if swap else b for a, b, swap in alleles
    ]


def mutate(parameters: Parameters, alleles: Sequence[int], stream: Stream) -> list[int]:
    """Move each allele, with probability mu, by 0 to m_0 - 1 up or down."""
    mutated: list[int] = []
    for allele in alleles:
        change = 0
        if happens(stream, parameters.mu):
            magnitude = draw_below(stream, parameters.m_0)
            change = magnitude if happens(stream, 0.5) else -magnitude
        mutated.append(allele + change)
    return mutated
