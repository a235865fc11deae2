"""Timing that the benchmarks share."""

import time
from collections.abc import Callable

__all__ = ["seconds_of"]


def seconds_of(work: Callable[[], object]) -> float:
    """Give how long a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
