"""Trials that are small, exact and slow on request; also a program that tests start and kill."""

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np
import polars as pl

from xcskit.experiments import Reporter, Specification, Store, Trial, TrialResult
from xcskit.experiments.runner import run_trials

P = ParamSpec("P")
T = TypeVar("T")

N_CHUNKS = 4


def specification(n_seeds: int = 4, **measurements: object) -> Specification:
    return Specification(
        name="walks",
        environments={"still": {"drift": 0.0}, "windy": {"drift": 0.25}},
        configurations={"plain": {"steps": 100}},
        seeds=range(n_seeds),
        measurements=measurements,
    )


def walk(trial: Trial, reporter: Reporter) -> TrialResult:
    """A random walk; ``pause`` seconds between its chunks."""
    steps, drift = trial.configuration["steps"], trial.environment["drift"]
    pause = trial.measurements.get("pause", 0.0)
    assert isinstance(steps, int)
    assert isinstance(drift, float)
    assert isinstance(pause, float)
    draws = np.random.default_rng(trial.seed)
    places = [0.0]
    for chunk in range(N_CHUNKS):
        places += (places[-1] + np.cumsum(draws.normal(drift, 1.0, steps))).tolist()
        reporter.report((chunk + 1) * steps, N_CHUNKS * steps)
        time.sleep(pause)
    history = pl.DataFrame({"step": range(len(places)), "place": places})
    return {
        "end": places[-1],
        "n_steps": len(places) - 1,
        "is_ahead": places[-1] > 0,
        "note": f"drift {drift}",
        "history": history,
        "extremes": history.filter(pl.col("place").abs() > 5.0).with_columns(
            pair=pl.concat_list("place", "place"), side=pl.lit(None, pl.String)
        ),
    }


class AwkwardError(Exception):
    """An error that cannot be sent from one process to another."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def trapped_walk(trial: Trial, reporter: Reporter) -> TrialResult:
    """A walk whose seed 2 fails while the trap exists."""
    if trial.seed == 2 and Path(str(trial.measurements["trap"])).exists():
        raise AwkwardError("caught", "in the trap")
    return {"end": walk(trial, reporter)["end"]}


def deadly_walk(trial: Trial, reporter: Reporter) -> TrialResult:
    """A walk whose seed 2 takes its process with it."""
    if trial.seed == 2:
        os._exit(3)
    return walk(trial, reporter)


def endless_walk(trial: Trial, reporter: Reporter) -> TrialResult:
    """A walk that ends at once for seed 0, and otherwise never, but when asked to."""
    while trial.seed:
        reporter.report(1, 2)
        time.sleep(0.01)
    return walk(trial, reporter)


class Immediate(Executor):
    """The simplest executor: performs a call when it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def main() -> int:
    # A shell that starts the tests in the background has them, and this process, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder, function, executor, n_seeds, pause = sys.argv[1:]
    sys.stdout.write("running\n")
    sys.stdout.flush()
    try:
        outcome = run_trials(
            specification(int(n_seeds), pause=float(pause)).trials(),
            {"walk": walk, "endless_walk": endless_walk}[function],
            "toy",
            Store(folder),
            name="walks",
            executor="processes" if executor == "processes" else "threads",
            jobs=2,
        )
    except KeyboardInterrupt:
        return 130
    return 0 if outcome.is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
