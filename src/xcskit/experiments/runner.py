"""Runs the trials that are not there yet, on any executor, and keeps each as it ends."""

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from typing import Literal, TypeAlias

from xcskit.errors import ConfigurationError, ExperimentError, StoreError
from xcskit.experiments.board import Board, Reporter, TrialCancelled
from xcskit.experiments.display import Display, Snapshot, display_for
from xcskit.experiments.packing import pack
from xcskit.experiments.provenance import provenance
from xcskit.experiments.store import Failure, Store, StoreWriter
from xcskit.experiments.trial import Trial, TrialFunction, key_of

__all__ = ["ExecutorChoice", "Outcome", "run_trials"]

ExecutorChoice: TypeAlias = Literal["threads", "processes"] | Executor

_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run did.

    Parameters
    ----------
    n_trials, n_skipped, n_finished
        All trials of the experiment; those that were there before; those that this run added.
    failures
        Of the trials that ended in an error in this run, by trial.
    seconds
        How long the run took.
    """

    n_trials: int
    n_skipped: int
    n_finished: int
    failures: tuple[Failure, ...]
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every trial of the experiment is there now."""
        return self.n_skipped + self.n_finished == self.n_trials


@dataclass(frozen=True, kw_only=True)
class _Ended:
    """A trial that has ended, as plain data: what its file is to hold, or its error."""

    contents: bytes = b""
    failure: Failure | None = None
    seconds: float


def run_trials(
    trials: Sequence[Trial],
    function: TrialFunction,
    engine: str,
    store: Store,
    *,
    name: str,
    executor: ExecutorChoice = "threads",
    jobs: int | None = None,
    progress: bool = True,
) -> Outcome:
    """Perform every trial that the store does not hold yet.

    Parameters
    ----------
    trials, function, engine
        What to perform, by what, and the fingerprint of the latter.
    name
        What the display calls the run.
    executor
        Threads of this process, processes of its own, or any executor of ``concurrent.futures``,
        which is left running.
    jobs
        How many threads or processes; one for each core unless given.
    progress
        Whether to show how far the run is, on standard error.

    Raises
    ------
    StoreError
        The folder cannot be written, or another run holds it. What was stored stays.
    ExperimentError
        The executor broke, for instance since a worker was killed. What was stored stays.
    KeyboardInterrupt
        After Ctrl-C, once the running trials have stopped; finished ones are kept.
    """
    began = time.monotonic()
    with store.writing() as writer:
        todo = [trial for trial in trials if key_of(trial.identity(engine)) not in store]
        # Seed by seed, so that work of every kind is spread evenly over the time left.
        todo.sort(key=lambda trial: trial.seed)
        with (
            writer.board(len(todo)) as board,
            display_for(name, is_shown=progress) as display,
            _pool(executor, jobs, len(todo)) as pool,
        ):
            run = _Run(todo, engine, writer, board, display, n_trials=len(trials), began=began)
            return run.perform(function, pool)


class _Run:
    """One run: its futures, by the slot of their trial, and what came of those that ended."""

    def __init__(
        self,
        todo: Sequence[Trial],
        engine: str,
        writer: StoreWriter,
        board: Board,
        display: Display,
        *,
        n_trials: int,
        began: float,
    ) -> None:
        self._todo = todo
        self._identities = [trial.identity(engine) for trial in todo]
        self._writer = writer
        self._board = board
        self._display = display
        self._n_trials = n_trials
        self._began = began
        self._slots: dict[Future[_Ended | None], int] = {}
        self._ended: queue.SimpleQueue[Future[_Ended | None]] = queue.SimpleQueue()
        self._n_finished = 0
        self._failures: list[Failure] = []

    def perform(self, function: TrialFunction, pool: Executor) -> Outcome:
        try:
            for slot, (trial, identity) in enumerate(
                zip(self._todo, self._identities, strict=True)
            ):
                reporter = self._board.reporter(slot)
                future = pool.submit(_perform, function, trial, identity, reporter)
                self._slots[future] = slot
                future.add_done_callback(self._ended.put)
            while self._slots:
                with contextlib.suppress(queue.Empty):
                    self._keep(self._ended.get(timeout=_POLL_SECONDS))
                self._display.refresh(self._snapshot())
        except BaseException:
            self._stop()
            raise
        return Outcome(
            n_trials=self._n_trials,
            n_skipped=self._n_trials - len(self._todo),
            n_finished=self._n_finished,
            failures=tuple(self._failures),
            seconds=time.monotonic() - self._began,
        )

    def _keep(self, future: "Future[_Ended | None]") -> None:
        """Put a trial that has ended into the store; only then is it done with."""
        slot = self._slots[future]
        try:
            ended = future.result()
        except Exception as reason:
            msg = (
                f"the executor could not perform trial {self._todo[slot]} "
                f"({type(reason).__name__}: {reason}); finished trials are kept: run again. "
                "Processes need a trial function that they can import, and enough memory"
            )
            raise ExperimentError(msg) from reason
        if ended is not None:
            self._store(slot, ended)
        del self._slots[future]

    def _store(self, slot: int, ended: _Ended) -> None:
        trial, key = self._todo[slot], key_of(self._identities[slot])
        last = self._board.read().get(slot)
        self._board.clear(slot)
        if ended.failure is not None:
            self._writer.record(key, ended.failure)
            self._failures.append(ended.failure)
            self._display.refresh(self._snapshot())
            self._display.failed(f"{trial} failed: {ended.failure.error}: {ended.failure.message}")
            return
        self._writer.keep(key, ended.contents)
        self._n_finished += 1
        self._display.refresh(self._snapshot())
        speed = f", {last.done / ended.seconds:,.0f} steps/s" if last and last.done else ""
        self._display.finished(f"{trial} finished in {ended.seconds:.1f} s{speed}")

    def _stop(self) -> None:
        """Stop what has not ended, and keep what ends all the same."""
        self._board.stop()
        for future in self._slots:
            future.cancel()
        ended, _ = wait(self._slots)
        for future in ended:
            if not future.cancelled():
                with contextlib.suppress(ExperimentError, StoreError):
                    self._keep(future)

    def _snapshot(self) -> Snapshot:
        return Snapshot(
            n_trials=self._n_trials,
            n_skipped=self._n_trials - len(self._todo),
            n_finished=self._n_finished,
            n_failed=len(self._failures),
            running={str(self._todo[slot]): how for slot, how in self._board.read().items()},
            seconds=time.monotonic() - self._began,
        )


def _perform(
    function: TrialFunction, trial: Trial, identity: str, reporter: Reporter
) -> _Ended | None:
    """Perform a trial where the executor wants it; None if it was stopped."""
    about = {
        **provenance(),
        "trial": str(trial),
        "function": function.__qualname__,
        "started": datetime.now(UTC).isoformat(),
    }
    began = time.perf_counter()
    try:
        reporter.start()
        result = function(trial, reporter)
        seconds = time.perf_counter() - began
        about["seconds"] = seconds
        contents = pack(result, {"identity": identity, "provenance": about})
    except TrialCancelled:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is recorded and the rest goes on
        failure = Failure(
            trial=str(trial),
            error=type(error).__name__,
            message=str(error),
            traceback=traceback.format_exc(),
            provenance=about,
        )
        return _Ended(failure=failure, seconds=time.perf_counter() - began)
    return _Ended(contents=contents, seconds=seconds)


@contextmanager
def _pool(choice: ExecutorChoice, jobs: int | None, n_trials: int) -> Generator[Executor]:
    if isinstance(choice, Executor):
        if jobs is not None:
            msg = f"jobs is {jobs}, but the executor that was given has its own number of workers"
            raise ConfigurationError(msg)
        yield choice
        return
    if choice not in _POOLS:
        msg = f"executor is {choice!r}; expected 'threads', 'processes' or an Executor"
        raise ConfigurationError(msg)
    if jobs is not None and jobs < 1:
        msg = f"jobs is {jobs}; expected at least 1"
        raise ConfigurationError(msg)
    pool = _POOLS[choice](max(1, min(jobs or os.cpu_count() or 1, n_trials)))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _processes(n_workers: int) -> Executor:
    # Spawned: a forked worker could inherit a lock that some thread held at that moment.
    return ProcessPoolExecutor(n_workers, multiprocessing.get_context("spawn"), _follow_parent)


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_after, args=(parent,), daemon=True).start()


def _die_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


_POOLS: dict[str, Callable[[int], Executor]] = {
    "threads": ThreadPoolExecutor,
    "processes": _processes,
}
