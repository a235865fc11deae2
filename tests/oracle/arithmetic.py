"""Sums and powers in a stated order.

Floats are never added by the built-in ``sum``: from Python 3.12 it compensates rounding errors.
"""

import math
from collections.abc import Iterable, Sequence

FLOOR = 1e-200
"""Accuracies, fitnesses and fitnesses per microclassifier never fall below this."""


def ordered_sum(values: Iterable[float]) -> float:
    """Add the values one after the other, from 0.0."""
    total = 0.0
    for value in values:
        total += value
    return total


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Add the products one after the other, from 0.0."""
    return ordered_sum(a * b for a, b in zip(left, right, strict=True))


def power(base: float, exponent: float) -> float:
    """Raise to a whole exponent by repeated squaring, low bit first; to others by the platform."""
    if exponent != int(exponent):
        return math.pow(base, exponent)
    remaining = int(exponent)
    result = 1.0
    while remaining > 0:
        if remaining % 2 == 1:
            result *= base
        base *= base
        remaining //= 2
    return result


def first_beyond(parts: Sequence[float], target: float, running: float = 0.0) -> tuple[int, float]:
    """Walk a wheel: the first part at which the running sum exceeds the target.

    Where rounding lets the walk end without one, the last part above 0. Given with it: the running
    sum before that part.
    """
    last = len(parts) - 1, running
    for index, part in enumerate(parts):
        if running + part > target:
            return index, running
        if part > 0.0:
            last = index, running
        running += part
    return last
