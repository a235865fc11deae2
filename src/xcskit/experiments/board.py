"""The board on which running trials write how far they are, and read when to stop.

A small file: whoever can open it takes part, be it a thread or another process, and nothing has to
be kept alive between them.
"""

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from xcskit.errors import XcskitError

__all__ = ["Board", "Reporter", "TrialCancelled", "TrialProgress"]

_WORD = 8
_SLOT_WORDS = 3
_SLOT = _SLOT_WORDS * _WORD
_BOARD_PREFIX = ".progress-"


class TrialCancelled(XcskitError):  # noqa: N818 - an event that a trial passes on, not a mistake
    """The run is being stopped; what the trial has so far is dropped."""


@dataclass(frozen=True)
class Reporter:
    """Tells a run how far a trial is, and a trial when to stop.

    One made without arguments reports to nobody, so that a trial function can be called by hand.

    Examples
    --------
    >>> Reporter().report(5_000, 400_000)
    """

    path: Path | None = None
    slot: int = 0

    def start(self) -> None:
        """Tell that the trial starts now."""
        self._write(0, [time.time_ns(), 0, 0])

    def report(self, done: int, total: int) -> None:
        """Tell how many steps of how many are done; call it every tenth of a second or so.

        Raises
        ------
        TrialCancelled
            The run is being stopped. Let it pass.
        """
        self._write(_WORD, [done, total])

    def _write(self, offset: int, words: list[int]) -> None:
        if self.path is None:
            return
        try:
            board = os.open(self.path, os.O_RDWR)
        except OSError:
            # The run is over or elsewhere: nobody to tell, and no reason to lose the trial.
            return
        try:
            place = _WORD + _SLOT * self.slot + offset
            with contextlib.suppress(OSError):
                os.pwrite(board, np.array(words, dtype=np.int64).tobytes(), place)
            is_stopped = any(os.pread(board, _WORD, 0))
        finally:
            os.close(board)
        if is_stopped:
            msg = "the run is being stopped"
            raise TrialCancelled(msg)


@dataclass(frozen=True, kw_only=True)
class TrialProgress:
    """How far a trial is."""

    done: int
    total: int
    seconds: float

    @property
    def fraction(self) -> float:
        """The part that is done, 0 where the trial has not told."""
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0

    @property
    def speed(self) -> float:
        """Steps a second since the trial's start."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


class Board:
    """A run's side of the board: a stop word, then a slot for each trial.

    A context: the file lives as long as it.
    """

    def __init__(self, folder: Path, n_slots: int) -> None:
        self._path = folder / f"{_BOARD_PREFIX}{secrets.token_hex(8)}"
        self._size = _WORD + _SLOT * n_slots
        self._file = self._path.open("x+b", buffering=0)
        self._file.write(bytes(self._size))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    @staticmethod
    def sweep(folder: Path) -> None:
        """Remove the boards that killed runs left."""
        for path in folder.glob(f"{_BOARD_PREFIX}*"):
            path.unlink()

    def reporter(self, slot: int) -> Reporter:
        """Give the trial's side of a slot."""
        return Reporter(self._path, slot)

    def read(self) -> dict[int, TrialProgress]:
        """Tell of every trial that has started and was not cleared, by slot, how far it is."""
        contents = os.pread(self._file.fileno(), self._size, 0)
        words = np.frombuffer(contents, dtype=np.int64)[1:].reshape(-1, _SLOT_WORDS)
        now = time.time_ns()
        return {
            int(slot): TrialProgress(
                done=int(words[slot, 1]),
                total=int(words[slot, 2]),
                seconds=(now - int(words[slot, 0])) / 1e9,
            )
            for slot in np.flatnonzero(words[:, 0])
        }

    def clear(self, slot: int) -> None:
        """Forget a trial that has ended."""
        os.pwrite(self._file.fileno(), bytes(_SLOT), _WORD + _SLOT * slot)

    def stop(self) -> None:
        """Ask every trial to stop at its next report."""
        os.pwrite(self._file.fileno(), b"\1", 0)
