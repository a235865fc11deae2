"""Training on Gymnasium environments, single or many at once, step by step in Python."""

# Gymnasium leaves observations and infos untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from xcskit.errors import ConfigurationError, SpaceError, TrainingError
from xcskit.kernels.random import STREAMS, draw_below
from xcskit.learner.history import Measure, is_stop, measured_row
from xcskit.learner.progress import Progress, progress_bar
from xcskit.mdp import TabularEnv
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import check_integer, check_optional_function

if TYPE_CHECKING:
    from xcskit.learner.xcsf import XCSF

__all__ = ["Environment", "Terms", "learn_from", "terms_of"]

Environment: TypeAlias = gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any]

_MOST_STEPS = 2**53
_SEEDS = 2**31


class Terms(NamedTuple):
    """What a learner has to be like to fit an environment."""

    space: IntegerSpace
    action_names: tuple[str, ...] | None
    n_actions: int
    first_action: int
    n_environments: int


def terms_of(env: Environment) -> Terms:
    """Read off what a learner has to be like to fit an environment.

    Parameters
    ----------
    env
        A Gymnasium environment or vector environment, with integer observations (``Discrete``,
        ``MultiDiscrete``, ``MultiBinary``, an integer ``Box``, or a ``Tuple`` of these) and
        ``Discrete`` actions.

    Raises
    ------
    SpaceError
        Its observations or actions are of another kind.
    """
    given = cast("object", env)
    if isinstance(given, VectorEnv):
        observed, acted = given.single_observation_space, given.single_action_space
        n_environments, core = given.num_envs, None
    elif isinstance(given, gymnasium.Env):
        observed, acted = given.observation_space, given.action_space
        n_environments, core = 1, given.unwrapped
    else:
        msg = f"env is a Gymnasium environment or vector environment: got {given!r}"
        raise ConfigurationError(msg)
    if not isinstance(acted, spaces.Discrete):
        msg = f"XCSF chooses among Discrete actions: the environment has {acted}"
        raise SpaceError(msg)
    bounds = _bounds(observed)
    if not bounds:
        msg = f"XCSF reads at least one integer: the environment shows none, only {observed}"
        raise SpaceError(msg)
    lower, upper = zip(*bounds, strict=True)
    space = IntegerSpace(lower, upper)
    names = None
    if isinstance(core, TabularEnv) and core.mdp.space.sizes == space.sizes:
        space, names = core.mdp.space, core.mdp.action_names
    return Terms(space, names, int(acted.n), int(acted.start), n_environments)


def _bounds(space: spaces.Space[Any]) -> list[tuple[int, int]]:
    """Give the least and the greatest value of each dimension, in the order of ``_rows``."""
    if isinstance(space, spaces.Tuple):
        return [pair for part in space.spaces for pair in _bounds(part)]
    if isinstance(space, spaces.Discrete):
        return [(int(space.start), int(space.start + space.n - 1))]
    if isinstance(space, spaces.MultiDiscrete):
        low: Ints = space.start.ravel().astype(np.int64)
        high: Ints = low + space.nvec.ravel().astype(np.int64) - 1
    elif isinstance(space, spaces.MultiBinary):
        low = np.zeros(int(np.prod(space.shape)), dtype=np.int64)
        high = low + 1
    elif isinstance(space, spaces.Box) and np.dtype(space.dtype).kind in "iu":
        low, high = space.low.ravel(), space.high.ravel()
    else:
        msg = (
            f"XCSF reads integer observations: the environment has {space}; wrap it, as with "
            "gymnasium.wrappers.TransformObservation, so that it shows bins or cells"
        )
        raise SpaceError(msg)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _rows(observations: Any, n: int) -> Ints:  # noqa: ANN401 - whatever Gymnasium's spaces hold
    """Give observations of n environments as rows of an integer space."""
    if isinstance(observations, tuple):
        return np.hstack([_rows(part, n) for part in observations])
    values = np.asarray(observations)
    if values.dtype.kind not in "iub":
        msg = f"an observation has {values.dtype} values; the environment's space promised integers"
        raise SpaceError(msg)
    return values.reshape(n, -1).astype(np.int64)


class _Step(NamedTuple):
    """What environments answered: ``seen`` to learn from, ``shown`` to act on, a row each."""

    seen: Ints
    shown: Ints
    rewards: Floats
    terminated: Bools
    truncated: Bools


class _World(Protocol):
    """One environment or several, each told which action to take next, and reset when over."""

    def reset(self, seed: int) -> Ints: ...

    def step(self, actions: Sequence[int]) -> _Step: ...

    def is_acting(self) -> Sequence[bool]:
        """Tell which environments take the next action; the others begin their next episode."""
        ...


class _Single:
    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self._env = env

    def reset(self, seed: int) -> Ints:
        return _rows(self._env.reset(seed=seed)[0], 1)

    def step(self, actions: Sequence[int]) -> _Step:
        observation, reward, terminated, truncated, _ = self._env.step(actions[0])
        seen = shown = _rows(observation, 1)
        if terminated or truncated:
            shown = _rows(self._env.reset()[0], 1)
        rewards = np.array([reward], dtype=np.float64)
        return _Step(seen, shown, rewards, np.array([terminated]), np.array([truncated]))

    def is_acting(self) -> Sequence[bool]:
        return (True,)


class _Vector:
    """A vector environment; its autoreset mode says how a new episode begins."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        self._env = env
        try:
            self._mode = AutoresetMode(env.metadata.get("autoreset_mode"))
        except ValueError as reason:
            msg = (
                "the vector environment does not tell how its episodes begin anew: set its "
                f"metadata['autoreset_mode'] to a gymnasium.vector.AutoresetMode ({reason})"
            )
            raise ConfigurationError(msg) from None
        self._is_resetting = np.zeros(env.num_envs, dtype=np.bool_)

    def reset(self, seed: int) -> Ints:
        self._is_resetting[:] = False
        return _rows(self._env.reset(seed=seed)[0], self._env.num_envs)

    def step(self, actions: Sequence[int]) -> _Step:
        n = self._env.num_envs
        observed, rewards, terminated, truncated, info = self._env.step(np.array(actions))
        seen = shown = _rows(observed, n)
        is_over = np.asarray(terminated) | np.asarray(truncated)
        if self._mode is AutoresetMode.NEXT_STEP:
            self._is_resetting = is_over
        elif is_over.any() and self._mode is AutoresetMode.SAME_STEP:
            seen = shown.copy()
            for i in np.flatnonzero(is_over).tolist():
                seen[i] = _rows(info["final_obs"][i], 1)[0]
        elif is_over.any():
            shown = _rows(self._env.reset(options={"reset_mask": is_over})[0], n)
        return _Step(seen, shown, rewards, terminated, truncated)

    def is_acting(self) -> Sequence[bool]:
        return cast("list[bool]", (~self._is_resetting).tolist())


def learn_from(
    agent: "XCSF",
    env: Environment,
    steps: int,
    seed: int | None = None,
    *,
    evaluate: Measure | None = None,
    every: int = 5000,
    callback: Callable[["XCSF"], object] | None = None,
    snapshot_every: int | None = None,
    progress: bool | Progress = False,
) -> "XCSF":
    """Train on a Gymnasium environment for a number of steps.

    Parameters
    ----------
    agent
        The learner; ``XCSF.for_gymnasium(env)`` makes one that fits.
    env
        An environment or a vector environment with integer observations and Discrete actions.
        Wrappers count as a part of it. It stays open.
    steps
        How many steps to take; a step of n environments at once is n of them.
    seed
        Where the learner's random streams start, if it has not begun yet.
    evaluate, every, callback, snapshot_every, progress
        As for ``XCSF.train``.

    Notes
    -----
    Each call resets the environment, with a seed that is drawn from the learner's own stream for
    environments: one seed decides everything, as long as the environment has no other source of
    chance. An episode that is unfinished at the end of a call is forgotten. A truncated episode is
    learned from as such: the value of the state that follows counts.

    Of several environments at once, all act, and then all are learned from, in their order.

    Examples
    --------
    >>> import gymnasium
    >>> from xcskit import XCSF
    >>> env = gymnasium.make("Taxi-v4")
    >>> agent = XCSF.for_gymnasium(env, seed=1)
    >>> agent.learn_from(env, 500)
    XCSF(6 actions over x1; 237 rules, 426 microclassifiers, 500 steps, seed 1)
    """
    n_steps = check_integer("steps", steps, 0, _MOST_STEPS - agent.steps)
    mark = check_integer("every", every, 1, _MOST_STEPS)
    if snapshot_every is not None:
        check_integer("snapshot_every", snapshot_every, 1, _MOST_STEPS)
    check_optional_function("evaluate", evaluate)
    check_optional_function("callback", callback)
    terms = _check_fits(agent, env)
    world: _World = _Vector(env) if isinstance(env, VectorEnv) else _Single(env)
    end = agent.steps + n_steps
    with _fresh_episodes(agent, seed) as start, progress_bar(progress, n_steps) as report:
        shown = world.reset(start)
        while agent.steps < end:
            ready = [i for i, is_acting in enumerate(world.is_acting()) if is_acting]
            ready = ready[: end - agent.steps]
            actions = [terms.first_action] * terms.n_environments
            for i in ready:
                actions[i] += agent.act(shown[i], environment=i)
            step = world.step(actions)
            for i in ready:
                agent.learn(
                    float(step.rewards[i]),
                    step.seen[i],
                    terminated=step.terminated[i],
                    truncated=step.truncated[i],
                    environment=i,
                )
                report(1)
                if snapshot_every is not None and agent.steps % snapshot_every == 0:
                    agent.snapshots[agent.steps] = agent.rules
                if agent.steps % mark and agent.steps != end:
                    continue
                agent.rows.append(measured_row(agent, evaluate))
                if callback is not None and is_stop(callback(agent)):
                    return agent
            shown = step.shown
    return agent


def _check_fits(agent: "XCSF", env: Environment) -> Terms:
    terms = terms_of(env)
    ours = (agent.space.lower, agent.space.upper, agent.n_actions)
    if ours != (terms.space.lower, terms.space.upper, terms.n_actions):
        msg = (
            f"the environment does not fit this learner: it has {terms.n_actions} actions over "
            f"{terms.space}, the learner {agent.n_actions} over {agent.space}; "
            "make one with XCSF.for_gymnasium(env)"
        )
        raise SpaceError(msg)
    if terms.n_environments > agent.n_environments:
        msg = (
            f"{terms.n_environments} environments at once need a learner made with "
            f"n_environments={terms.n_environments}: this one has {agent.n_environments}"
        )
        raise TrainingError(msg)
    return terms


@contextmanager
def _fresh_episodes(agent: "XCSF", seed: int | None) -> Generator[int]:
    """Give the seed of an environment; no episode is under way before or after."""
    if seed is not None:
        agent.reseed(seed)
    _abandon_episodes(agent)
    try:
        yield draw_below(agent.system.streams[STREAMS.index("environment")], _SEEDS)
    finally:
        _abandon_episodes(agent)


def _abandon_episodes(agent: "XCSF") -> None:
    for environment in range(agent.n_environments):
        agent.abandon_episode(environment)
