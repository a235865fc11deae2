"""How a contestant is watched while it learns: its values, read at marks of steps and of time."""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from contestants import Contestant
from xcskit.evaluation import policy_accuracy, value_error
from xcskit.mdp import Solution

__all__ = ["STEP_MARKS", "TIME_MARKS", "Reading", "at_steps", "at_time", "compete"]

STEP_MARKS: Final = (10_000, 50_000)
TIME_MARKS: Final = (0.1, 1.0)
SLICE_SECONDS: Final = 0.02


class Reading(NamedTuple):
    """What a contestant had learned, after how much."""

    steps: int
    seconds: float
    error: float
    accuracy: float
    n_holes: int
    n_rules: int | None


def compete(
    contestant: Contestant, solution: Solution, n_steps: int, n_seconds: float
) -> list[Reading]:
    """Let it learn, and read its values at the marks of steps and of time, and at the end."""
    readings: list[Reading] = []
    step_marks = [*(mark for mark in STEP_MARKS if mark < n_steps), n_steps]
    time_marks = [*(mark for mark in TIME_MARKS if mark < n_seconds), n_seconds]
    steps, seconds, pace = 0, 0.0, 16.0
    while steps < n_steps and seconds < n_seconds:
        chunk = min(step_marks[0] - steps, max(1, int(pace)))
        began = time.perf_counter()
        contestant.advance(chunk)
        taken = time.perf_counter() - began
        steps, seconds = steps + chunk, seconds + taken
        pace = min(chunk * SLICE_SECONDS / max(taken, 1e-9), 4 * pace)
        if steps >= step_marks[0] or seconds >= time_marks[0]:
            readings.append(_read(contestant, solution, steps, seconds))
            step_marks = [mark for mark in step_marks if mark > steps]
            time_marks = [mark for mark in time_marks if mark > seconds]
    return readings


def _read(contestant: Contestant, solution: Solution, steps: int, seconds: float) -> Reading:
    values = contestant.values()
    states = solution.mdp.states
    return Reading(
        steps=steps,
        seconds=seconds,
        error=value_error(values, solution, states, holes="mask"),
        accuracy=policy_accuracy(values, solution, states, holes="mask"),
        n_holes=int(np.count_nonzero(np.isnan(values))),
        n_rules=contestant.n_rules(),
    )


def at_steps(readings: Sequence[Reading], steps: int) -> Reading | None:
    """Give what was read after so many steps, if it got there."""
    return next((reading for reading in readings if reading.steps == steps), None)


def at_time(readings: Sequence[Reading], seconds: float) -> Reading:
    """Give what was read first after so much time, or at the end of what finished before."""
    return next((reading for reading in readings if reading.seconds >= seconds), readings[-1])
