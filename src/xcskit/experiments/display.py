"""How a run tells a person how far it is: bars on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from xcskit.experiments.board import TrialProgress

__all__ = ["Bars", "Display", "Lines", "Silence", "Snapshot", "display_for"]

_LINE_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """How far a run is.

    Parameters
    ----------
    n_trials, n_skipped, n_finished, n_failed
        All trials; those that were there before; those that this run added; those that failed.
    running
        By the trial's name.
    seconds
        Since the run's start.
    """

    n_trials: int
    n_skipped: int
    n_finished: int
    n_failed: int
    running: Mapping[str, TrialProgress]
    seconds: float

    @property
    def done(self) -> float:
        """Trials' worth of work done, parts of running ones included."""
        return self.n_skipped + self._done_now

    @property
    def seconds_left(self) -> float | None:
        """Time to the end at the speed of this run, None before anything is done."""
        left = self.n_trials - self.done
        return self.seconds * left / self._done_now if self._done_now > 0 else None

    @property
    def speed(self) -> float:
        """Steps a second of all running trials together."""
        return sum(trial.speed for trial in self.running.values())

    @property
    def _done_now(self) -> float:
        return (
            self.n_finished + self.n_failed + sum(trial.fraction for trial in self.running.values())
        )

    def __str__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        left = "" if self.seconds_left is None else f", {_clock(self.seconds_left)} left"
        return f"{self.n_skipped + self.n_finished}/{self.n_trials} trials{failed}{left}"


class Display(Protocol):
    """Whatever shows a run's progress."""

    def refresh(self, snapshot: Snapshot) -> None:
        """Show how far the run is."""
        ...

    def finished(self, line: str) -> None:
        """Tell of a trial that has finished."""
        ...

    def failed(self, line: str) -> None:
        """Tell of a trial that has failed."""
        ...


class Silence:
    """Shows nothing."""

    def refresh(self, snapshot: Snapshot) -> None:
        """Show nothing."""

    def finished(self, line: str) -> None:
        """Show nothing."""

    def failed(self, line: str) -> None:
        """Show nothing."""


class Lines:
    """Plain lines: one for each trial that ends, and one every ten seconds in between."""

    def __init__(self, file: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._clock = clock
        self._last = clock()
        self._snapshot: Snapshot | None = None

    def refresh(self, snapshot: Snapshot) -> None:
        """Show the run, if nothing was shown for a while."""
        self._snapshot = snapshot
        if self._clock() - self._last >= _LINE_SECONDS:
            self._print(f"{snapshot}; {len(snapshot.running)} running, {_rate(snapshot.speed)}")

    def finished(self, line: str) -> None:
        """Show a line, and how far the run is."""
        self._print(line if self._snapshot is None else f"{self._snapshot}: {line}")

    failed = finished

    def _print(self, line: str) -> None:
        print(line, file=self._file, flush=True)
        self._last = self._clock()


class Bars:
    """A bar for the run, and one for each running trial."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._whole = progress.add_task(name, total=None, note="")
        self._trials: dict[str, TaskID] = {}

    def refresh(self, snapshot: Snapshot) -> None:
        """Move the bars."""
        self._progress.update(
            self._whole, total=snapshot.n_trials, completed=snapshot.done, note=str(snapshot)
        )
        for name in set(self._trials) - set(snapshot.running):
            self._progress.remove_task(self._trials.pop(name))
        for name, trial in snapshot.running.items():
            if name not in self._trials:
                self._trials[name] = self._progress.add_task(f"  {name}", total=1.0, note="")
            self._progress.update(
                self._trials[name], completed=trial.fraction, note=_rate(trial.speed)
            )

    def finished(self, line: str) -> None:
        """Show nothing: the bars tell."""

    def failed(self, line: str) -> None:
        """Show a line above the bars."""
        self._progress.console.print(line, markup=False, highlight=False)


def display_for(name: str, *, is_shown: bool) -> AbstractContextManager[Display]:
    """Choose bars on a terminal, plain lines elsewhere, or nothing; all on standard error."""
    if not is_shown:
        return nullcontext(Silence())
    console = Console(stderr=True)
    if not console.is_terminal:
        return nullcontext(Lines(sys.stderr))
    return _TerminalBars(console, name)


class _TerminalBars(AbstractContextManager[Display]):
    def __init__(self, console: Console, name: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
        )
        self._name = name

    def __enter__(self) -> Bars:
        self._progress.start()
        return Bars(self._progress, self._name)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def _rate(speed: float) -> str:
    return f"{speed:,.0f} steps/s"


def _clock(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}"
