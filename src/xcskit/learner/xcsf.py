"""The learner: XCSF as an object that trains, answers, and can be looked into."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from xcskit.errors import SpaceError
from xcskit.kernels.training import train_on_model
from xcskit.learner.checkpoint import restore_checkpoint, write_checkpoint
from xcskit.learner.config import XcsfConfig
from xcskit.learner.gymnasium import Environment, learn_from, terms_of
from xcskit.learner.history import Measure, is_stop, measured_row
from xcskit.learner.progress import Progress, progress_bar
from xcskit.learner.stepwise import StepwiseXcsf
from xcskit.mdp import TabularMdp
from xcskit.mdp.model import check_mdp
from xcskit.validation import check_integer, check_optional_function

if TYPE_CHECKING:
    import polars as pl

__all__ = ["XCSF"]

_LOG = logging.getLogger("xcskit.learner")

_CHUNK_SECONDS = 0.1
_FIRST_CHUNK = 256
_MOST_STEPS = 2**53


class XCSF(StepwiseXcsf):
    """An XCSF learner over an integer space and a number of actions.

    Parameters
    ----------
    space
        Where observations live.
    n_actions
        Number of actions; they are 0 to ``n_actions`` - 1.
    config
        Parameters and options; none given means the setting of Bishop and Gallagher (2020).
    seed
        What all random streams start from; none given means one from the operating system, which
        is kept in ``seed``, so that every run can be repeated.
    action_names
        Words for the actions, used in rules and tables.
    n_environments
        Number of environments that take turns in teaching this learner.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake
    >>> lake = frozen_lake("4x4")
    >>> agent = XCSF.on(lake, seed=1).train(lake, 20_000)
    >>> agent.steps, agent.rules.n_microclassifiers
    (20000, 4660)
    >>> agent.predict([(0, 0), (2, 3)])  # right, and right onto the goal
    array([2, 2])
    """

    @classmethod
    def on(
        cls,
        mdp: TabularMdp,
        config: XcsfConfig | None = None,
        *,
        seed: int | None = None,
        n_environments: int = 1,
    ) -> Self:
        """Make a learner that fits a model: its space, its actions and their names."""
        check_mdp(mdp)
        return cls(
            mdp.space,
            mdp.n_actions,
            config,
            seed=seed,
            action_names=mdp.action_names,
            n_environments=n_environments,
        )

    # ---- Training on a model, in compiled code ----

    def train(
        self,
        mdp: TabularMdp,
        steps: int,
        seed: int | None = None,
        *,
        evaluate: Measure | None = None,
        every: int = 5000,
        callback: Callable[["XCSF"], object] | None = None,
        snapshot_every: int | None = None,
        progress: bool | Progress = False,
    ) -> Self:
        """Train on a model for a number of steps.

        Training can be stopped and gone on with at any step: in pieces or at once, the same seed
        gives the same population, bit for bit. Ctrl-C stops between two chunks of about a tenth of
        a second and leaves a learner that can go on.

        Parameters
        ----------
        mdp
            The environment. A learner that meets another one than before starts a new episode.
        steps
            How many steps to take.
        seed
            Where this learner's random streams start, if it has not begun yet.
        evaluate
            Called at every ``every``-th step of the learner's life and at the end of the call; its
            row joins the history (``evaluation.against(solution)`` makes one).
        every
            Steps between two rows of the history.
        callback
            Called with the learner after each row of the history; returning True stops training.
        snapshot_every
            Steps between two rule sets that are kept in ``snapshots``.
        progress
            True for a progress bar, or a function that is called with steps done and steps in all.

        Returns
        -------
        Self
            The learner.
        """
        begin = self.steps
        n_steps = check_integer("steps", steps, 0, _MOST_STEPS - begin)
        marks = [check_integer("every", every, 1, _MOST_STEPS)]
        if snapshot_every is not None:
            marks.append(check_integer("snapshot_every", snapshot_every, 1, _MOST_STEPS))
        check_optional_function("evaluate", evaluate)
        check_optional_function("callback", callback)
        self._check_fits(mdp)
        end = begin + n_steps
        with progress_bar(progress, n_steps) as report:
            if seed is not None:
                self.reseed(seed)
            self._enter(mdp)
            for now in self._run_to_marks(mdp, end, marks, report):
                if snapshot_every is not None and now % snapshot_every == 0:
                    self.snapshots[now] = self.rules
                if now % every and now != end:
                    continue
                self._record(mdp, evaluate, is_late=now - begin > n_steps // 2)
                if callback is not None and is_stop(callback(self)):
                    break
        return self

    def _run_to_marks(
        self, mdp: TabularMdp, end: int, marks: Sequence[int], report: Callable[[int], object]
    ) -> Iterator[int]:
        """Run from mark to mark in chunks of a stated time, and yield at each mark and the end."""
        model = mdp.kernel_model("training")
        chunk = _FIRST_CHUNK
        while self.steps < end:
            now = self.steps
            target = min(end, *((now // mark + 1) * mark for mark in marks))
            while now < target:
                n_steps = min(chunk, target - now)
                began = time.perf_counter()
                self._check_status(train_on_model(self.system, self.settings, model, n_steps))
                seconds = max(time.perf_counter() - began, 1e-9)
                if n_steps == chunk:
                    ideal = int(chunk * _CHUNK_SECONDS / seconds)
                    chunk = min(max(ideal, 1), 4 * chunk)
                now = self.steps
                report(n_steps)
            yield now

    def _check_fits(self, mdp: TabularMdp) -> None:
        check_mdp(mdp)
        if mdp.space != self.space or mdp.n_actions != self.n_actions:
            msg = (
                f"{mdp.name!r} does not fit this learner: it has {mdp.n_actions} actions over "
                f"{mdp.space}, the learner {self.n_actions} over {self.space}; "
                "make one with XCSF.on(mdp)"
            )
            raise SpaceError(msg)
        self._check_alive()

    def _enter(self, mdp: TabularMdp) -> None:
        """Start new episodes, unless those on this model go on."""
        if self.world != mdp.fingerprint or self._episodes["state"].max() >= mdp.n_states:
            self._leave_episodes()
            self.world = mdp.fingerprint

    def _record(self, mdp: TabularMdp, evaluate: Measure | None, *, is_late: bool) -> None:
        n_before = self.rows[-1]["n_covered"] if self.rows else 0
        row = measured_row(self, evaluate)
        self.rows.append(row)
        _LOG.debug("step %d: %s", self.steps, row)
        if is_late and _LOG.isEnabledFor(logging.INFO):
            self._tell_of_gaps(mdp, n_before)

    def _tell_of_gaps(self, mdp: TabularMdp, n_covered_before: float | None) -> None:
        """Log what a well trained population should not show any more."""
        n_covered = self.events["covered"]
        if n_covered != n_covered_before:
            _LOG.info("covering late in training: %d rules by step %d", n_covered, self.steps)
        is_hole = np.isnan(self.read_values(mdp.observations[mdp.states]))
        if is_hole.any():
            _LOG.info(
                "holes at step %d: %d of %d state-action pairs are matched by no rule",
                self.steps,
                is_hole.sum(),
                is_hole.size,
            )

    # ---- Training on environments that live in Python, step by step ----

    @classmethod
    def for_gymnasium(
        cls, env: Environment, config: XcsfConfig | None = None, *, seed: int | None = None
    ) -> Self:
        """Make a learner that fits a Gymnasium environment, or as many as a vector has."""
        space, action_names, n_actions, _, n_environments = terms_of(env)
        return cls(
            space,
            n_actions,
            config,
            seed=seed,
            action_names=action_names,
            n_environments=n_environments,
        )

    learn_from = learn_from

    # ---- Stopping and going on ----

    def save(self, path: str | Path) -> None:
        """Write a checkpoint: all that training needs to go on with the same bits.

        ``snapshots`` are results, not state: save them as rule sets.
        """
        self._check_alive()
        write_checkpoint(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a checkpoint that ``save`` wrote. Nothing in it is executed.

        Raises
        ------
        FileFormatError
            The file is foreign, damaged, or of another version; the message says which.
        """
        return cast("Self", restore_checkpoint(cls, path))

    @property
    def history(self) -> "pl.DataFrame":
        """What was recorded along the way: a row every so many steps."""
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(self.rows, infer_schema_length=None)
