"""Models as Gymnasium environments, and training through Gymnasium."""

import itertools
import subprocess
import sys
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from scipy.stats import chisquare

from worlds import random_world, state_of
from xcskit.errors import ConfigurationError, SpaceError, TrainingError
from xcskit.evaluation import against
from xcskit.learner import XCSF, XcsfConfig
from xcskit.learner.gymnasium import terms_of
from xcskit.mdp import TabularEnv, TabularMdp, from_gymnasium, frozen_lake, load_environment, solve
from xcskit.mdp.gymnasium import IDS
from xcskit.spaces import IntegerSpace

SMALL = XcsfConfig(population_size=300)


class Corridor(gymnasium.Env[Any, Any]):
    """Cells 0 to 4 in a row; 1 for leaving at the right. Shown in whatever way is asked for."""

    def __init__(self, shown: str = "discrete", *, start: int = 0) -> None:
        self.shown = shown
        self.observation_space = {
            "discrete": spaces.Discrete(5, start=-2),
            "multi": spaces.MultiDiscrete(np.array([[5], [1]]), start=np.array([[-2], [7]])),
            "binary": spaces.MultiBinary(3),
            "box": spaces.Box(-2, 2, (1, 1), dtype=np.int8),
            "tuple": spaces.Tuple([spaces.Discrete(5, start=-2), spaces.MultiBinary(1)]),
        }[shown]
        self.action_space = spaces.Discrete(2, start=start)
        self.start = start
        self.cell = 0
        self.log: list[tuple[int, int]] = []
        self.seeds: list[int | None] = []

    def _show(self) -> Any:
        return {
            "discrete": np.int64(self.cell - 2),
            "multi": np.array([[self.cell - 2], [7]]),
            "binary": np.array([self.cell & 1, self.cell >> 1 & 1, self.cell >> 2], dtype=np.int8),
            "box": np.array([[self.cell - 2]], dtype=np.int8),
            "tuple": (np.int64(self.cell - 2), np.array([self.cell & 1], dtype=np.int8)),
        }[self.shown]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.seeds.append(seed)
        self.cell = int(self.np_random.integers(4))
        return self._show(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.log.append((self.cell, int(action)))
        right = int(action) - self.start
        if right and self.cell == 4:
            return self._show(), 1.0, True, False, {}
        self.cell = max(0, self.cell + (1 if right else -1))
        return self._show(), 0.0, False, False, {}


class Lockstep(TabularEnv):
    """Draws what training on the model draws: the environment stream of a seed."""

    def __init__(self, mdp: TabularMdp, seed: int) -> None:
        super().__init__(mdp)
        self._seed = seed

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            child = np.random.SeedSequence(self._seed).spawn(4)[0]
            self.np_random = np.random.Generator(np.random.PCG64(child))
        return super().reset(options=options)


# ---- Our environments ----


@pytest.mark.parametrize("name", IDS)
def test_our_environments_pass_gymnasiums_checker(name: str) -> None:
    env = gymnasium.make(name, render_mode="ansi")
    check_env(env.unwrapped)
    assert from_gymnasium(env).fingerprint == load_environment(IDS[name]).fingerprint


def test_starts_and_outcomes_have_the_models_frequencies() -> None:
    """Chi-square, Bonferroni over five: a false alarm once in a million seeds."""
    lake = frozen_lake("4x4", slip=0.3)
    env = TabularEnv(lake)
    env.reset(seed=20_261)
    began = np.bincount([env.reset()[1]["state"] for _ in range(20_000)], minlength=16)
    can_start = lake.training_start > 0.0
    assert not began[~can_start].any()
    p_values = [chisquare(began[can_start], 20_000 * lake.training_start[can_start]).pvalue]
    for action in range(4):
        ends: Counter[tuple[int, float, bool]] = Counter()
        for _ in range(2000):
            while env.reset()[1]["state"] != 6:
                pass
            _, reward, terminated, _, info = env.step(action)
            ends[info["state"], reward, terminated] += 1
        rows = {(s, r, end): p for p, s, r, end in lake.outcomes_of(6, action)}
        assert set(ends) == set(rows)
        expected = [2000 * p for p in rows.values()]
        p_values.append(chisquare([ends[row] for row in rows], expected).pvalue)
    assert min(p_values) > 1e-6 / 5
    tested = TabularEnv(lake, starts="test")
    assert {tested.reset()[1]["state"] for _ in range(50)} == {0}


def test_an_episode_over_wants_a_reset_and_actions_are_checked() -> None:
    env = TabularEnv(frozen_lake(["SFG"]), starts="test", render_mode="ansi")
    assert env.render() is None
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            env.step(0)
        env.reset(seed=1)
        assert env.render() == "[S] F  G "
        with pytest.raises(SpaceError, match="are 0 to 3: got 4"):
            env.step(4)
        env.step(2)
        assert env.step(2)[1:] == (1.0, True, False, {"state": 2, "is_success": True})
    plain = TabularEnv(random_world((0,), (3,), 1), render_mode="ansi")
    plain.reset(seed=1)
    assert plain.render() in [f"(x1={i})" for i in range(4)]


# ---- Training ----


@pytest.mark.parametrize("exploration", ["step", "episode"])
def test_with_equal_draws_gymnasium_and_the_model_train_the_same_bits(exploration: str) -> None:
    lake = frozen_lake("8x8", slip=0.1)
    config = SMALL.replace(exploration=exploration)
    agent = XCSF.for_gymnasium(Lockstep(lake, 5), config, seed=5)
    agent.learn_from(Lockstep(lake, 5), 3000, every=1000)
    expected = XCSF.on(lake, config, seed=5).train(lake, 3000, every=1000)
    assert agent.rules == expected.rules
    assert agent.rules.action_names == lake.action_names
    assert agent.history.equals(expected.history)


@pytest.mark.parametrize(
    ("shown", "lower", "upper"),
    [
        ("discrete", (-2,), (2,)),
        ("multi", (-2, 7), (2, 7)),
        ("binary", (0, 0, 0), (1, 1, 1)),
        ("box", (-2,), (2,)),
        ("tuple", (-2, 0), (2, 1)),
    ],
)
def test_every_space_of_integers_is_learned(
    shown: str, lower: tuple[int, ...], upper: tuple[int, ...]
) -> None:
    env = Corridor(shown, start=3)
    agent = XCSF.for_gymnasium(env, SMALL, seed=1)
    assert agent.space == IntegerSpace(lower, upper)
    agent.learn_from(env, 3000)
    cells = {
        "discrete": [[c - 2] for c in range(5)],
        "multi": [[c - 2, 7] for c in range(5)],
        "binary": [[c & 1, c >> 1 & 1, c >> 2] for c in range(5)],
        "box": [[c - 2] for c in range(5)],
        "tuple": [[c - 2, c & 1] for c in range(5)],
    }[shown]
    assert agent.predict(cells).tolist() == [1] * 5
    assert {action for _, action in env.log} == {3, 4}


def test_one_seed_decides_everything() -> None:
    one, two, other = (Corridor() for _ in range(3))
    agent = XCSF.for_gymnasium(one, SMALL, seed=3).learn_from(one, 400).learn_from(one, 400)
    again = XCSF.for_gymnasium(two, SMALL).learn_from(two, 400, seed=3).learn_from(two, 400)
    assert state_of(agent) == state_of(again)
    assert one.log == two.log
    begun = [seed for seed in one.seeds if seed is not None]
    assert len(begun) == len(set(begun)) == 2
    with pytest.raises(ConfigurationError, match="began with seed 3"):
        agent.learn_from(one, 1, seed=3)
    XCSF.for_gymnasium(other, SMALL, seed=4).learn_from(other, 800)
    assert other.log != one.log


class Recorder(XCSF):
    """Notes what it is told."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.told: list[tuple[int, tuple[int, ...], int, float, tuple[int, ...], bool, bool]] = []

    def act(self, observation: Any, *, explore: bool | None = None, environment: int = 0) -> int:
        action = super().act(observation, explore=explore, environment=environment)
        self._asked = getattr(self, "_asked", {})
        self._asked[environment] = (tuple(np.ravel(observation).tolist()), action)
        return action

    def learn(
        self,
        reward: float,
        next_observation: Any,
        *,
        terminated: bool,
        truncated: bool = False,
        environment: int = 0,
    ) -> Any:
        after = tuple(np.ravel(next_observation).tolist())
        asked = self._asked.pop(environment)
        self.told.append((environment, *asked, reward, after, bool(terminated), bool(truncated)))
        return super().learn(
            reward,
            next_observation,
            terminated=terminated,
            truncated=truncated,
            environment=environment,
        )


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_vector_environments_tell_true_transitions(mode: AutoresetMode, kind: Any) -> None:
    def make() -> Any:
        return TimeLimit(TabularEnv(frozen_lake(["SFF", "FHG"])), 5)

    envs = kind([make] * 3, autoreset_mode=mode)
    agent = Recorder.for_gymnasium(envs, SMALL, seed=2)
    agent.learn_from(envs, 1000)
    envs.close()
    assert agent.steps == len(agent.told) == 1000
    lake = frozen_lake(["SFF", "FHG"])
    state_at = {tuple(cell): s for s, cell in enumerate(lake.observations.tolist())}
    kinds: set[tuple[bool, bool]] = set()
    for number in range(3):
        previous: Any = None
        length = 0
        for environment, before, action, reward, after, terminated, truncated in agent.told:
            if environment != number:
                continue
            outcomes = lake.outcomes_of(state_at[before], action)
            assert (1.0, state_at[after], reward, terminated) in outcomes
            assert previous is None or previous == before
            length += 1
            assert truncated == (length == 5)
            is_over = terminated or truncated
            kinds.add((terminated, truncated))
            previous, length = (None, 0) if is_over else (after, length)
    assert {(True, False), (False, True), (False, False)} <= kinds
    shares = np.bincount([told[0] for told in agent.told])
    assert shares.min() > 250


def test_all_act_before_any_is_learned_from_in_their_order() -> None:
    envs = SyncVectorEnv([Corridor] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    agent = Recorder.for_gymnasium(envs, SMALL, seed=2)
    agent.learn_from(envs, 100)
    assert [told[0] for told in agent.told] == list(
        itertools.islice(itertools.cycle(range(3)), 100)
    )
    by_hand = XCSF(agent.space, 2, SMALL, seed=2, n_environments=3)
    by_hand.system.streams[:] = XCSF(agent.space, 2, SMALL, seed=2).system.streams
    rounds = [agent.told[i : i + 3] for i in range(0, 100, 3)]
    for told in rounds:
        for number, before, action, *_ in told:
            assert by_hand.act(before, environment=number) == action
        for number, _, _, reward, after, terminated, truncated in told:
            by_hand.learn(
                reward, after, terminated=terminated, truncated=truncated, environment=number
            )
    assert by_hand.rules == agent.rules


def test_a_time_limit_is_learned_as_truncation() -> None:
    """A reward of 1 a step for ever is worth 1 / (1 - gamma), however soon episodes are cut."""

    class Salary(gymnasium.Env[Any, Any]):
        observation_space = spaces.Discrete(2)
        action_space = spaces.Discrete(1)

        def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
            return 0, {}

        def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
            assert action == 0
            return 1, 1.0, False, False, {}

    env = TimeLimit(Salary(), 3)
    agent = XCSF.for_gymnasium(env, SMALL.replace(discount=0.5), seed=1).learn_from(env, 3000)
    assert agent.q_values([[0], [1]]) == pytest.approx(2.0, abs=0.05)


def test_statistics_wrappers_see_the_episodes() -> None:
    env = RecordEpisodeStatistics(TimeLimit(Corridor(), 50), buffer_length=10_000)
    agent = XCSF.for_gymnasium(env, SMALL, seed=1).learn_from(env, 2000)
    lengths = list(env.length_queue)
    assert 2000 - 50 < sum(lengths) <= 2000
    assert agent.steps == 2000
    assert np.mean(lengths[-50:]) < 20


def test_what_is_measured_and_told_along_the_way() -> None:
    lake = frozen_lake("4x4")
    env = TabularEnv(lake)
    seen: list[int] = []
    told: list[tuple[int, int]] = []

    def stop(agent: XCSF) -> bool:
        seen.append(agent.steps)
        return agent.steps == 700

    agent = XCSF.for_gymnasium(env, SMALL, seed=1)
    agent.learn_from(
        env,
        1000,
        every=350,
        evaluate=against(solve(lake)),
        callback=stop,
        snapshot_every=200,
        progress=lambda done, total: told.append((done, total)),
    )
    assert seen == [350, 700]
    assert agent.history["step"].to_list() == [350, 700]
    assert list(agent.snapshots) == [200, 400, 600]
    assert "policy_accuracy" in agent.history.columns
    assert told == [(i + 1, 1000) for i in range(700)]
    agent.learn_from(env, 0).train(lake, 300)
    assert agent.steps == 1000


def test_an_error_of_the_environment_leaves_a_learner_that_goes_on() -> None:
    class Failing(Corridor):
        def step(self, action: Any) -> Any:
            if len(self.log) == 20:
                raise RuntimeError("the robot fell over")
            return super().step(action)

    agent = XCSF.for_gymnasium(Failing(), SMALL, seed=1)
    with pytest.raises(RuntimeError, match="fell over"):
        agent.learn_from(Failing(), 100)
    assert agent.steps == 20
    assert agent.learn_from(Corridor(), 100).steps == 120


def test_what_does_not_fit_is_refused() -> None:
    corridor = Corridor()
    agent = XCSF.for_gymnasium(corridor, SMALL, seed=1)
    before = state_of(agent)
    envs = SyncVectorEnv([Corridor] * 2)
    floats, continuous = Corridor(), Corridor()
    floats.observation_space = spaces.Box(0.0, 1.0, (2,))
    continuous.action_space = spaces.Box(0.0, 1.0, (2,))
    wide = Corridor()
    wide.observation_space = spaces.Box(-(2**62), 2**62, (1,), dtype=np.int64)
    blind, empty = Corridor(), Corridor()
    blind.observation_space = spaces.Tuple(())
    empty.observation_space = spaces.Box(0, 1, (0,), dtype=np.int64)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (Corridor("tuple"), SpaceError, r"make one with XCSF.for_gymnasium\(env\)"),
        (envs, TrainingError, "made with n_environments=2: this one has 1"),
        (floats, SpaceError, "XCSF reads integer observations"),
        (continuous, SpaceError, "chooses among Discrete actions"),
        (wide, SpaceError, r"within 2\*\*53"),
        (blind, SpaceError, r"at least one integer: .* only Tuple\(\)"),
        (empty, SpaceError, "at least one integer: .* only Box"),
        ("Taxi-v4", ConfigurationError, "is a Gymnasium environment"),
    ]
    for env, kind, message in wrong:
        with pytest.raises(kind, match=message):
            agent.learn_from(env, 10)
    with pytest.raises(ConfigurationError, match="steps must be >= 0"):
        agent.learn_from(corridor, -1)
    envs.metadata.pop("autoreset_mode")
    with pytest.raises(ConfigurationError, match="metadata"):
        XCSF.for_gymnasium(envs, SMALL, seed=1).learn_from(envs, 10)
    assert state_of(agent) == before


def test_an_environment_that_breaks_its_promise_is_told_apart() -> None:
    class Liar(Corridor):
        def _show(self) -> Any:
            return 0.5

    agent = XCSF.for_gymnasium(Liar(), SMALL, seed=1)
    with pytest.raises(SpaceError, match="promised integers"):
        agent.learn_from(Liar(), 10)


def test_names_come_from_our_own_environments() -> None:
    env = gymnasium.make("xcskit/Maze5-v0", view="sensors", max_episode_steps=10)
    maze = load_environment("maze5", view="sensors")
    terms = terms_of(env)
    assert terms.space == maze.space
    assert terms.action_names == maze.action_names


def test_gymnasium_finds_our_environments_where_nothing_was_imported() -> None:
    code = "import gymnasium; print(gymnasium.make('xcskit.mdp:xcskit/Maze5-v0').spec.id)"
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "xcskit/Maze5-v0\n"
