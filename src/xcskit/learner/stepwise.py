"""XCSF one step at a time: what an environment that lives in Python needs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from xcskit.errors import ConfigurationError, HoleError, SpaceError, TrainingError
from xcskit.kernels.allocation import new_system
from xcskit.kernels.deletion import delete_surplus
from xcskit.kernels.random import STREAMS, new_streams
from xcskit.kernels.step import OK, UNDECIDED, act, learn
from xcskit.kernels.training import read_values
from xcskit.learner.config import XcsfConfig
from xcskit.rules import RuleSet
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints
from xcskit.validation import (
    check_flag,
    check_instance,
    check_integer,
    check_real,
    distinct_words,
    shown,
)
from xcskit.version import __version__

if TYPE_CHECKING:
    from xcskit.learner.history import Row

__all__ = ["StepwiseXcsf"]

_MOST_SEED = 2**128


class StepwiseXcsf:
    """A population that acts, learns and answers: ``XCSF`` without training on models and files.

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
    """

    def __init__(
        self,
        space: IntegerSpace,
        n_actions: int,
        config: XcsfConfig | None = None,
        *,
        seed: int | None = None,
        action_names: Sequence[str] | None = None,
        n_environments: int = 1,
    ) -> None:
        self.space = check_instance("space", space, IntegerSpace)
        self.n_actions = check_integer("n_actions", n_actions, 1, 2**16)
        self.n_environments = check_integer("n_environments", n_environments, 1, 2**16)
        self.config = XcsfConfig() if config is None else config
        check_instance("config", self.config, XcsfConfig)
        self.action_names = _action_names(action_names, self.n_actions)
        self.settings = self.config.settings(self.n_actions)
        self.seed = _check_seed(seed)
        self.system = new_system(
            self.config.population_size,
            space,
            self.n_actions,
            self.config.condition,
            self.config.prediction,
            new_streams(self.seed),
            self.n_environments,
        )
        self.world: str | None = None
        self._has_failed = False
        self.rows: list[Row] = []
        self.snapshots: dict[int, RuleSet] = {}

    def __repr__(self) -> str:
        """Size and age."""
        tally = self._tally
        return (
            f"XCSF({self.n_actions} actions over {', '.join(self.space.names)}; "
            f"{tally['n_macros']} rules, {tally['n_micros']} microclassifiers, "
            f"{self.steps} steps, seed {self.seed})"
        )

    # ---- Training, step by step ----

    def reseed(self, seed: int) -> None:
        """Start the random streams of a learner that has not begun yet from a seed."""
        if self._tally["n_used"]:
            msg = (
                f"this learner began with seed {self.seed} and is {self.steps} steps old; "
                "leave the seed out to go on, or make a new learner"
            )
            raise ConfigurationError(msg)
        self.seed = _check_seed(seed)
        self.system.streams[:] = new_streams(self.seed)

    def act(self, observation: object, *, explore: bool | None = None, environment: int = 0) -> int:
        """Choose an action in training; ``learn`` must follow.

        Parameters
        ----------
        observation
            What the environment shows.
        explore
            True or False forces the choice; None leaves it to the configuration.
        environment
            Which of several environments asks.

        Notes
        -----
        The match set is formed with covering, so that this changes the population. To ask for the
        greedy action without changing anything, use ``predict``.
        """
        self._check_alive()
        row = self._check_environment(environment)
        state = self._one_state(observation)
        if row["is_acting"]:
            msg = (
                f"environment {environment} has an action that was not learned from: call learn "
                "after each act, or abandon_episode"
            )
            raise TrainingError(msg)
        forced = UNDECIDED if explore is None else int(check_flag("explore", explore))
        if self.world is not None:
            self._leave_episodes()
            self.world = None
        action = int(act(self.system, self.settings, environment, state, forced))
        self._check_status(min(action, OK))
        return action

    def learn(
        self,
        reward: float,
        next_observation: object,
        *,
        terminated: bool,
        truncated: bool = False,
        environment: int = 0,
    ) -> Self:
        """Learn from what the last action of ``act`` brought about.

        Parameters
        ----------
        reward
            What the environment gave.
        next_observation
            What it shows now.
        terminated
            The episode ended by itself: nothing follows.
        truncated
            The episode was cut off, by a time limit for example: the value goes on.
        environment
            Which of several environments tells.
        """
        self._check_alive()
        row = self._check_environment(environment)
        if not row["is_acting"]:
            msg = f"environment {environment} has no action to learn from: call act first"
            raise TrainingError(msg)
        try:
            gain = check_real("reward", reward)
        except ConfigurationError as reason:
            raise TrainingError(str(reason)) from None
        ended = check_flag("terminated", terminated)
        cut_off = check_flag("truncated", truncated)
        state = self._one_state(next_observation)
        status = learn(
            self.system,
            self.settings,
            environment,
            gain,
            state,
            ended,
            cut_off,
        )
        self._check_status(status)
        return self

    def abandon_episode(self, environment: int = 0) -> Self:
        """Forget an episode that will not be finished; what was pending is not updated."""
        row = self._check_environment(environment)
        row["state"] = -1
        row["decision"] = UNDECIDED
        row["is_acting"] = 0
        self.system.sets.sizes[environment] = 0
        self._delete_surplus()
        return self

    def _one_state(self, observation: object) -> Ints:
        rows = self._rows_of(observation)
        if len(rows) != 1:
            msg = f"one observation at a time is acted on, got {len(rows)}"
            raise SpaceError(msg)
        state: Ints = rows[0]
        return state

    def _rows_of(self, observations: object) -> Ints:
        """Check observations; read-only as a model's are, so that kernels compile once for both."""
        rows = self.space.check(observations).view()
        rows.flags.writeable = False
        return rows

    def _check_environment(self, environment: int) -> Any:  # noqa: ANN401 - a row of EPISODE
        number = check_integer("environment", environment, 0, self.n_environments - 1)
        return self._episodes[number]

    def _leave_episodes(self) -> None:
        episodes = self._episodes
        episodes["state"] = -1
        episodes["decision"] = UNDECIDED
        episodes["is_acting"] = 0
        self.system.sets.sizes[:] = 0
        self._delete_surplus()

    def _delete_surplus(self) -> None:
        """Delete what an action covered that is not learned from: only learning would do it."""
        if self._tally["n_micros"] > self.config.population_size:
            discovery = self.system.streams[STREAMS.index("discovery")]
            delete_surplus(self.system.population, self.settings, self.system.sets, discovery)

    def _check_alive(self) -> None:
        if self._has_failed:
            msg = "this learner's values have diverged; make a new one"
            raise TrainingError(msg)

    def _check_status(self, status: int) -> None:
        if status < OK:
            self._has_failed = True
            msg = (
                f"values diverged at step {self.steps}: a prediction or a payoff is not finite. "
                "Scale the rewards down, lower the eta of Nlms, raise the forgetting of Rls "
                "towards 1, or use Constant predictions"
            )
            raise TrainingError(msg)

    # ---- Answers; none of these changes the learner ----

    def read_values(self, observations: object) -> Floats:
        """Give Qhat of each observation and action; NaN where no rule matches."""
        self._check_alive()
        rows = self._rows_of(observations)
        values = np.empty((len(rows), self.n_actions))
        read_values(self.system, rows, values)
        return values

    def q_values(self, observations: object) -> Floats:
        """Give Qhat(s, a), shape (n_observations, n_actions).

        Raises
        ------
        HoleError
            No rule matches some pair.
        """
        values = self.read_values(observations)
        if np.isnan(values).any():
            rows = self.space.check(observations)
            holes = np.argwhere(np.isnan(values))
            named = ", ".join(
                f"{tuple(rows[i].tolist())} {self.action_names[a]}" for i, a in holes[:10]
            )
            msg = (
                f"{len(holes)} state-action pairs are matched by no rule: {named}"
                f"{', ..' if len(holes) > 10 else ''}; train longer, or use read_values, which "
                "gives NaN there"
            )
            raise HoleError(msg)
        return values

    def predict(self, observations: object) -> Ints:
        """Give the greedy action of each observation, the lowest among exact ties."""
        return cast("Ints", self.q_values(observations).argmax(axis=1))

    def policy(self, observations: object) -> Ints:
        """Give the greedy action of each observation: the same as ``predict``."""
        return self.predict(observations)

    # ---- What was learned ----

    @property
    def steps(self) -> int:
        """Number of steps that the learner has taken."""
        return int(self._tally["time"])

    @property
    def events(self) -> dict[str, int]:
        """How often what has happened to the population: covered, deleted, absorbed, .."""
        return {name: int(self._tally[name]) for name in self._tally.dtype.names}

    @property
    def rules(self) -> RuleSet:
        """The population as a table, in rule order."""
        population = self.system.population
        records = cast("Any", population.rules)
        return RuleSet.from_storages(
            records,
            population.condition,
            population.prediction,
            np.flatnonzero(records["numerosity"]),
            space=self.space,
            action_names=self.action_names,
            condition=self.config.condition,
            prediction=self.config.prediction,
            metadata={
                "configuration": self.config.to_dict(),
                "seed": self.seed,
                "steps": self.steps,
                "xcskit": __version__,
            },
        )

    @property
    def _tally(self) -> Any:  # noqa: ANN401 - a row of TALLY
        return cast("Any", self.system.population.tally)[0]

    @property
    def _episodes(self) -> np.ndarray[tuple[int], np.dtype[Any]]:
        return cast("np.ndarray[tuple[int], np.dtype[Any]]", self.system.episodes)


def _action_names(names: Sequence[str] | None, n_actions: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"action {a}" for a in range(n_actions))
    words = distinct_words(names)
    if len(words) != n_actions:
        msg = f"action_names are {n_actions} different words: got {shown(names)}"
        raise ConfigurationError(msg)
    return words


def _check_seed(seed: object) -> int:
    if seed is None:
        return int(cast("int", np.random.SeedSequence().entropy))
    return check_integer("seed", seed, 0, _MOST_SEED)
