"""Random draws: four named streams, and the few ways in which a uniform double decides something.

Only ``Generator(PCG64).random()`` is ever called, so that whoever follows the page draws the same.
"""

from collections.abc import Sequence
from typing import Protocol

from numpy.random import PCG64, Generator, SeedSequence

NAMES = ("environment", "exploration", "discovery", "evaluation")


class Stream(Protocol):
    """What is asked of a Generator: the next uniform double of [0, 1)."""

    def random(self) -> float: ...


def new_streams(seed: int) -> dict[str, Generator]:
    children = SeedSequence(seed).spawn(len(NAMES))
    return {name: Generator(PCG64(child)) for name, child in zip(NAMES, children, strict=True)}


def happens(stream: Stream, probability: float) -> bool:
    """Test something of the given probability: it succeeds when u < p."""
    return stream.random() < probability


def draw_below(stream: Stream, n: int) -> int:
    """Draw an integer of {0..n-1}: floor(u * n)."""
    return int(stream.random() * n)


def draw_between(stream: Stream, low: int, high: int) -> int:
    """Draw an integer of {low..high}: U{low..high} on the page."""
    return low + draw_below(stream, high - low + 1)


def draw_outcome(stream: Stream, cumulative: Sequence[float]) -> int:
    """Draw an index: the first whose cumulative probability exceeds u, or else the last."""
    u = stream.random()
    for index, probability in enumerate(cumulative):
        if probability > u:
            return index
    return len(cumulative) - 1
