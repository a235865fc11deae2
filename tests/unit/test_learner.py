"""The learner at its public face: what it refuses, what it keeps, what it leaves untouched."""

import functools
import logging
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worlds import random_world, state_of
from xcskit.errors import ConfigurationError, HoleError, SpaceError, TrainingError, XcskitError
from xcskit.kernels.matching import BitIndex, CellIndex, PageIndex
from xcskit.learner import XCSF, Measure, Nlms, Rls, Row, XcsfConfig
from xcskit.learner.progress import progress_bar
from xcskit.mdp import TabularMdp, frozen_lake
from xcskit.spaces import IntegerSpace

SMALL = XcsfConfig(population_size=300, ga_threshold=10.0, subsumption_experience=10)
LAKE = frozen_lake("4x4", slip=0.1)
OTHER_LAKE = frozen_lake("4x4", slip=0.3)
PLACES = LAKE.observations[LAKE.states]

any_learner: Callable[..., Any] = XCSF


def learner(steps: int = 0, seed: int = 1, **options: Any) -> Any:
    """Give a small learner, typed so that a test may call it wrongly."""
    agent = XCSF.on(LAKE, SMALL, seed=seed, **options)
    return agent.train(LAKE, steps) if steps else agent


def learner_within_an_episode() -> Any:
    """Give one whose last action set waits for what follows."""
    agent = learner(200)
    while not agent.system.sets.sizes[0, 1]:
        agent.train(LAKE, 1)
    return agent


# ---- What a learner is made of ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"space": "8x8"}, "space is of class IntegerSpace"),
        ({"space": None}, "space is of class IntegerSpace"),
        ({"space": (8, 8)}, "space is of class IntegerSpace"),
        ({"n_actions": 0}, "n_actions must be >= 1"),
        ({"n_actions": -4}, "n_actions must be >= 1"),
        ({"n_actions": 2**16 + 1}, "n_actions must be"),
        ({"n_actions": 4.0}, "n_actions is a whole number"),
        ({"n_actions": True}, "n_actions is a whole number"),
        ({"n_actions": None}, "n_actions is a whole number"),
        ({"n_environments": 0}, "n_environments must be >= 1"),
        ({"n_environments": "2"}, "n_environments is a whole number"),
        ({"config": {}}, "config is of class XcsfConfig"),
        ({"config": XcsfConfig}, "config is of class XcsfConfig"),
        ({"config": SMALL.replace(minimum_actions=5)}, "minimum_actions is at most"),
        ({"config": SMALL.replace(population_size=3)}, "population_size must hold a rule"),
        ({"seed": -1}, "seed must be >= 0"),
        ({"seed": 2**128 + 1}, "seed must be"),
        ({"seed": 1.5}, "seed is a whole number"),
        ({"seed": "1"}, "seed is a whole number"),
        ({"seed": True}, "seed is a whole number"),
        ({"action_names": "abcd"}, "action_names are 4 different words"),
        ({"action_names": ["a", "b", "c"]}, "action_names are 4 different words"),
        ({"action_names": ["a", "b", "c", "a"]}, "action_names are 4 different words"),
        ({"action_names": ["a", "b", "c", ""]}, "action_names are 4 different words"),
        ({"action_names": ["a", "b", "c", 4]}, "action_names are 4 different words"),
        ({"action_names": 4}, "action_names are 4 different words"),
    ],
    ids=str,
)
def test_what_no_learner_is_made_of(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        any_learner(**{"space": IntegerSpace.grid(8, 8), "n_actions": 4, **arguments})


def test_a_seed_is_kept_and_repeats_the_run() -> None:
    unseeded = XCSF.on(LAKE, SMALL).train(LAKE, 500)
    again = XCSF.on(LAKE, SMALL, seed=unseeded.seed).train(LAKE, 500)
    assert state_of(again) == state_of(unseeded)
    assert XCSF.on(LAKE, SMALL).seed != unseeded.seed
    assert XCSF.on(LAKE, SMALL, seed=2**128).train(LAKE, 10).seed == 2**128


def test_a_seed_may_be_given_at_the_first_training() -> None:
    expected = state_of(learner(500, seed=3))
    agent = learner(seed=9).train(LAKE, 500, seed=3)
    assert agent.seed == 3
    assert state_of(agent) == expected
    assert state_of(learner(500, seed=9)) != expected


def test_a_learner_that_has_begun_takes_no_seed() -> None:
    for method, arguments in (("train", (LAKE, 1)), ("act", ((0, 0),))):
        agent = learner(seed=9)
        getattr(agent, method)(*arguments)
        before = state_of(agent)
        with pytest.raises(ConfigurationError, match="began with seed 9"):
            agent.train(LAKE, 10, seed=9)
        assert state_of(agent) == before


# ---- Observations and models that do not fit ----

BAD_OBSERVATIONS: list[Any] = [
    (0.0, 0.0),
    np.array([0.5, 1.0]),
    (4, 0),
    (0, -1),
    (2**70, 0),
    (0,),
    (0, 0, 0),
    3,
    [],
    None,
    "00",
    (True, False),
    [[0, 0], [1]],
    [[[0, 0]]],
    {"x": 0, "y": 0},
]


@pytest.mark.parametrize("observation", BAD_OBSERVATIONS, ids=str)
@pytest.mark.parametrize("method", ["act", "learn", "q_values", "predict", "policy", "read_values"])
def test_observations_outside_the_space(method: str, observation: Any) -> None:
    agent = learner(200)
    question = getattr(agent, method)
    if method == "learn":
        agent.act((1, 1))
        question = functools.partial(agent.learn, 0.0, terminated=False)
    before = state_of(agent)
    with pytest.raises(SpaceError):
        question(observation)
    assert state_of(agent) == before


def test_one_observation_at_a_time_is_acted_on() -> None:
    agent = learner(200)
    assert agent.act([[1, 1]]) in range(4)
    with pytest.raises(SpaceError, match="one observation at a time"):
        agent.learn(0.0, [(1, 1), (2, 1)], terminated=False)


BAD_CALLS: list[tuple[dict[str, Any], str]] = [
    ({"mdp": frozen_lake("8x8")}, "does not fit this learner"),
    ({"mdp": random_world((0, 0), (3, 3), 2)}, "has 2 actions over"),
    ({"mdp": random_world((-1, 0), (2, 3), 4)}, "does not fit this learner"),
    ({"mdp": "4x4"}, "mdp is of class TabularMdp"),
    ({"mdp": None}, "mdp is of class TabularMdp"),
    ({"steps": -1}, "steps must be >= 0"),
    ({"steps": 10.0}, "steps is a whole number"),
    ({"steps": None}, "steps is a whole number"),
    ({"steps": True}, "steps is a whole number"),
    ({"steps": 2**53}, "steps must be"),
    ({"every": 0}, "every must be >= 1"),
    ({"every": 1.5}, "every is a whole number"),
    ({"snapshot_every": 0}, "snapshot_every must be >= 1"),
    ({"snapshot_every": "5"}, "snapshot_every is a whole number"),
    ({"seed": 1}, "began with seed"),
    ({"progress": "yes"}, "progress is True, False or a function"),
    ({"progress": None}, "progress is True, False or a function"),
    ({"evaluate": 5}, "evaluate is a function"),
    ({"callback": "stop"}, "callback is a function"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_CALLS, ids=str)
def test_a_training_that_is_refused_changes_nothing(
    arguments: dict[str, Any], message: str
) -> None:
    agent = learner(205)
    before = state_of(agent)
    with pytest.raises((ConfigurationError, SpaceError), match=message):
        agent.train(**{"mdp": LAKE, "steps": 10, **arguments})
    assert state_of(agent) == before


# ---- Step by step ----


def test_calls_out_of_order() -> None:
    agent = learner(n_environments=2)
    with pytest.raises(TrainingError, match="environment 0 has no action to learn from"):
        agent.learn(0.0, (0, 0), terminated=False)
    agent.act((0, 0))
    with pytest.raises(TrainingError, match="environment 0 has an action that was not learned"):
        agent.act((0, 0))
    with pytest.raises(TrainingError, match="environment 1 has no action"):
        agent.learn(0.0, (0, 0), terminated=False, environment=1)
    agent.act((1, 1), environment=1)
    agent.learn(0.0, (0, 1), terminated=False)
    with pytest.raises(TrainingError, match="environment 0 has no action"):
        agent.learn(0.0, (0, 1), terminated=True)
    agent.learn(0.0, (1, 2), terminated=True, environment=1)
    assert agent.steps == 2


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("act", {"environment": -1}),
        ("act", {"environment": 1}),
        ("act", {"environment": 0.0}),
        ("act", {"environment": False}),
        ("act", {"explore": 1}),
        ("act", {"explore": "no"}),
        ("learn", {"reward": float("nan")}),
        ("learn", {"reward": float("inf")}),
        ("learn", {"reward": None}),
        ("learn", {"reward": "1"}),
        ("learn", {"reward": [1.0]}),
        ("learn", {"terminated": None}),
        ("learn", {"terminated": 1.0}),
        ("learn", {"truncated": "no"}),
        ("learn", {"environment": 1}),
    ],
    ids=str,
)
def test_arguments_that_are_refused(method: str, arguments: dict[str, Any]) -> None:
    agent = learner(200)
    valid: dict[str, Any] = {"observation": (0, 0)}
    if method == "learn":
        agent.act((0, 0))
        valid = {"reward": 0.0, "next_observation": (0, 0), "terminated": False}
    before = state_of(agent)
    with pytest.raises(XcskitError, match=next(iter(arguments))):
        getattr(agent, method)(**{**valid, **arguments})
    assert state_of(agent) == before


def test_numpy_scalars_are_taken() -> None:
    plain, numpy = learner(), learner()
    plain.act((1, 2), explore=True)
    numpy.act(np.array([1, 2], dtype=np.int32), explore=np.True_)
    plain.learn(0.5, (1, 3), terminated=False, truncated=True)
    numpy.learn(
        np.float32(0.5), np.array([1, 3], dtype=np.uint8), terminated=np.False_, truncated=np.True_
    )
    assert state_of(plain) == state_of(numpy)


def test_an_abandoned_episode_updates_nothing() -> None:
    agent = learner()
    agent.act((0, 0))
    agent.learn(0.0, (0, 1), terminated=False)
    agent.act((0, 1))
    agent.abandon_episode()
    agent.act((2, 2))
    agent.learn(1.0, (2, 3), terminated=True)
    assert agent.events["updates"] == 1
    assert agent.abandon_episode() is agent


def test_an_abandoned_episode_on_a_model_starts_anew() -> None:
    agent = learner_within_an_episode()
    assert agent.system.episodes["state"] >= 0
    agent.abandon_episode()
    assert agent.system.episodes["state"] == -1


@pytest.mark.parametrize("how", ["abandon", "other environment"])
def test_actions_that_are_never_learned_from_do_not_fill_the_population(how: str) -> None:
    """Each covers rules, and only learning would delete any."""
    world = random_world((0, 0), (200, 200), 4)
    agent = XCSF.on(world, XcsfConfig(population_size=20), seed=1)
    capacity = agent.system.population.freed.size
    for observation in world.observations:
        agent.act(observation)
        if how == "abandon":
            agent.abandon_episode()
        else:
            agent.train(world, 0)
        assert agent.rules.n_microclassifiers <= 20
    assert agent.events["covered"] > capacity
    assert agent.events["n_used"] <= capacity


def test_an_episode_on_a_model_does_not_go_on_elsewhere() -> None:
    """What waits for the value of the model's next state must not get another environment's."""
    agent = learner_within_an_episode()
    n_updates = agent.events["updates"]
    agent.act((0, 0))
    agent.learn(0.0, (0, 1), terminated=False)
    assert agent.events["updates"] == n_updates
    agent.train(LAKE, 1)
    ended = agent.system.episodes["state"][0] < 0
    assert agent.events["updates"] == n_updates + ended


def test_another_model_starts_a_new_episode() -> None:
    agent = learner_within_an_episode()
    n_updates = agent.events["updates"]
    agent.train(OTHER_LAKE, 1)
    ended = agent.system.episodes["state"][0] < 0
    assert agent.events["updates"] == n_updates + ended


def test_several_environments_take_turns() -> None:
    agent = learner(302, n_environments=3)
    waiting = agent.system.sets.sizes[:, 1] > 0
    np.testing.assert_array_equal(waiting, agent.system.episodes["state"] >= 0)
    assert learner(302).rules != agent.rules


# ---- Questions change nothing ----

QUESTIONS: dict[str, Callable[[Any], object]] = {
    "predict": lambda agent: agent.predict(PLACES),
    "policy": lambda agent: agent.policy(PLACES),
    "q_values": lambda agent: agent.q_values((1, 1)),
    "read_values": lambda agent: agent.read_values(LAKE.observations),
    "rules": lambda agent: agent.rules.q_values(PLACES),
    "repr": repr,
    "history": lambda agent: agent.history,
    "events": lambda agent: agent.events,
    "steps": lambda agent: agent.steps,
    "save": state_of,
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_change_nothing(name: str) -> None:
    asked, silent = learner(3001), learner(3001)
    before = state_of(asked)
    QUESTIONS[name](asked)
    assert state_of(asked) == before
    for agent in (asked, silent):
        agent.act((1, 1))
    before = state_of(asked)
    QUESTIONS[name](asked)
    assert state_of(asked) == before
    for agent in (asked, silent):
        agent.learn(0.5, (1, 2), terminated=False)
        agent.train(LAKE, 500)
    asked.rows.clear()
    silent.rows.clear()
    assert state_of(asked) == state_of(silent)


def test_values_agree_with_the_table() -> None:
    agent = learner(5000)
    values = agent.q_values(PLACES)
    assert values.shape == (len(PLACES), 4)
    np.testing.assert_array_equal(agent.rules.q_values(PLACES), values)
    np.testing.assert_array_equal(agent.predict(PLACES), values.argmax(axis=1))
    np.testing.assert_array_equal(agent.policy(PLACES.tolist()), agent.predict(PLACES))
    np.testing.assert_array_equal(agent.q_values((1, 2)), agent.q_values([[1, 2]]))


def test_ties_go_to_the_lowest_action() -> None:
    agent = learner()
    agent.act((0, 0))
    assert agent.q_values((0, 0)).tolist() == [[0.0] * 4]
    assert agent.predict((0, 0)).tolist() == [0]


def test_holes_are_named() -> None:
    agent = XCSF.on(LAKE, SMALL.replace(minimum_actions=1), seed=2)
    with pytest.raises(HoleError, match=r"64 state-action pairs .* \(0, 0\) left, .*\.\.;"):
        agent.q_values(LAKE.observations)
    agent.act((3, 3))
    covered = int(agent.rules.actions[0])
    others = [name for action, name in enumerate(LAKE.action_names) if action != covered]
    for question in (agent.q_values, agent.predict, agent.policy):
        with pytest.raises(HoleError, match="3 state-action pairs") as caught:
            question((3, 3))
        assert all(f"(3, 3) {name}" in str(caught.value) for name in others)
        assert LAKE.action_names[covered] not in str(caught.value)
    np.testing.assert_array_equal(np.isnan(agent.read_values((3, 3))[0]), np.arange(4) != covered)


# ---- History, callbacks, snapshots ----


def measure(agent: XCSF) -> dict[str, float | None]:
    return {"value": float(np.nanmax(agent.read_values(PLACES))), "undefined": None}


def constantly(**row: Any) -> Measure:
    def measure_nothing(_: XCSF) -> Row:
        return row

    return measure_nothing


def test_history_in_pieces_holds_the_same_rows() -> None:
    whole = XCSF.on(LAKE, SMALL, seed=1).train(LAKE, 6000, evaluate=measure, every=1000)
    pieces = XCSF.on(LAKE, SMALL, seed=1)
    for steps in (2000, 1500, 2500):
        pieces.train(LAKE, steps, evaluate=measure, every=1000)
    assert whole.history["step"].to_list() == [1000, 2000, 3000, 4000, 5000, 6000]
    assert pieces.history["step"].to_list() == [1000, 2000, 3000, 3500, 4000, 5000, 6000]
    marks = pieces.history.filter(pieces.history["step"] % 1000 == 0)
    assert marks.equals(whole.history)
    assert whole.history.columns == [
        "step",
        "n_rules",
        "n_microclassifiers",
        "n_covered",
        "value",
        "undefined",
    ]
    last = whole.history.row(-1, named=True)
    assert last["n_rules"] == len(whole.rules)
    assert last["n_microclassifiers"] == whole.rules.n_microclassifiers
    assert last["n_covered"] == whole.events["covered"]
    assert last["value"] == whole.q_values(PLACES).max()
    assert last["undefined"] is None


def test_history_of_different_measures_is_one_table() -> None:
    agent = learner()
    assert agent.history.is_empty()
    agent.train(LAKE, 100)
    agent.train(LAKE, 100, evaluate=constantly(mae=np.float64(0.5), n_holes=np.int64(3)))
    assert agent.history["mae"].to_list() == [None, 0.5]
    assert agent.history["n_holes"].to_list() == [None, 3]
    assert agent.train(LAKE, 0).history.height == 2
    state_of(agent)


@pytest.mark.parametrize("measured", [5, None, [("mae", 0.5)], {5: 0.5}])
def test_what_is_measured_is_a_table(measured: Any) -> None:
    def measure_nothing(_: XCSF) -> Any:
        return measured

    with pytest.raises(ConfigurationError, match="a measurement is a table"):
        learner().train(LAKE, 100, evaluate=measure_nothing)


@pytest.mark.parametrize("name", ["step", "n_rules", "n_microclassifiers", "n_covered"])
def test_what_is_measured_hides_nothing_of_the_history(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"needs other names than {name}"):
        learner().train(LAKE, 100, evaluate=constantly(**{name: 1}))


@pytest.mark.parametrize("mdp", ["8x8", None, LAKE.space])
def test_a_learner_is_made_on_a_model(mdp: Any) -> None:
    with pytest.raises(ConfigurationError, match="mdp is of class TabularMdp"):
        XCSF.on(mdp)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5", True, np.array([1.0])])
def test_what_is_measured_is_a_number_or_nothing(value: Any) -> None:
    agent = learner()
    with pytest.raises(ConfigurationError, match="measured mae"):
        agent.train(LAKE, 100, evaluate=constantly(mae=value))
    assert agent.steps == 100
    assert state_of(agent.train(LAKE, 0))


def test_a_callback_stops_training_early_and_it_can_go_on() -> None:
    seen: list[int] = []

    def stop_at_3000(agent: XCSF) -> bool:
        seen.append(agent.steps)
        return agent.steps == 3000

    agent = learner().train(LAKE, 10_000, every=1000, callback=stop_at_3000)
    assert seen == [1000, 2000, 3000]
    assert agent.steps == 3000
    agent.train(LAKE, 7000, every=1000, callback=seen.append)
    assert agent.steps == 10_000
    assert state_of(agent) == state_of(learner().train(LAKE, 10_000, every=1000))


@pytest.mark.parametrize(("answer", "steps"), [(np.True_, 100), (np.False_, 300), (1, 300)])
def test_a_callback_may_answer_as_numpy_does(answer: object, steps: int) -> None:
    def give_answer(_: XCSF) -> object:
        return answer

    agent = learner().train(LAKE, 300, every=100, callback=give_answer)
    assert agent.steps == steps


def test_an_error_in_a_callback_leaves_a_learner_that_goes_on() -> None:
    def fail(_: XCSF) -> None:
        raise LookupError

    agent = learner()
    with pytest.raises(LookupError):
        agent.train(LAKE, 3000, every=1000, callback=fail)
    agent.train(LAKE, 2000, every=1000)
    assert state_of(agent) == state_of(learner().train(LAKE, 3000, every=1000))


def test_snapshots_are_the_rules_of_their_steps() -> None:
    agent = learner(500).train(LAKE, 2500, every=700, snapshot_every=1000)
    assert sorted(agent.snapshots) == [1000, 2000, 3000]
    for step, rules in agent.snapshots.items():
        assert rules == learner(step).rules
        assert rules.metadata["steps"] == step
    assert agent.history["step"].to_list() == [500, 700, 1400, 2100, 2800, 3000]
    assert learner(1000).snapshots == {}


def test_a_finished_learner_goes_on() -> None:
    agent = learner().train(LAKE, 5000, every=2500)
    agent.train(LAKE, 5000, every=2500)
    assert state_of(agent) == state_of(learner().train(LAKE, 10_000, every=2500))


def test_rules_carry_where_they_come_from() -> None:
    rules = learner(700).rules
    assert rules.metadata["seed"] == 1
    assert rules.metadata["steps"] == 700
    assert rules.metadata["configuration"] == SMALL.to_dict()
    assert rules.action_names == LAKE.action_names
    assert repr(learner(700)).startswith(f"XCSF(4 actions over x, y; {len(rules)} rules, ")


# ---- Progress, interruption, logging ----


def test_progress_is_told_to_a_function() -> None:
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    agent = learner(100).train(LAKE, 9000, progress=tell)
    done = [steps for steps, _ in told]
    assert done == sorted(set(done))
    assert done[-1] == 9000
    assert {total for _, total in told} == {9000}
    assert state_of(agent) == state_of(learner(100).train(LAKE, 9000))


@pytest.mark.parametrize("steps", [0, 2000])
def test_a_progress_bar_where_there_is_no_terminal(
    steps: int, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = learner().train(LAKE, steps, progress=True)
    out, err = capfd.readouterr()
    assert agent.steps == steps
    assert out == ""
    assert "\x1b" not in err


def test_a_bar_says_why_the_first_step_takes_long(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(True, 10) as advance:
        before = capfd.readouterr().err
        advance(10)
    assert "first use compiles" in before
    assert capfd.readouterr().err.rstrip().split("\r")[-1].count("training") == 1


@pytest.mark.parametrize("at", [1, 3])
def test_an_interruption_leaves_a_learner_that_goes_on(at: int) -> None:
    calls = 0

    def interrupt(_done: int, _total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt

    agent = learner()
    with pytest.raises(KeyboardInterrupt):
        agent.train(LAKE, 20_000, every=20_000, progress=interrupt)
    assert 0 < agent.steps < 20_000
    agent.train(LAKE, 20_000 - agent.steps, every=20_000)
    assert state_of(agent) == state_of(learner().train(LAKE, 20_000, every=20_000))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_ctrl_c_ends_a_training_without_end(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    program = f"""
        import signal

        from xcskit.learner import XCSF, XcsfConfig
        from xcskit.mdp import frozen_lake

        lake = frozen_lake("4x4", slip=0.1)
        agent = XCSF.on(lake, XcsfConfig(population_size=300), seed=1).train(lake, 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            print("begun", flush=True)
            agent.train(lake, 2**52, every=2**52)
        except KeyboardInterrupt:
            agent.save({str(path)!r})
            print(agent.steps, flush=True)
    """
    with subprocess.Popen(  # noqa: S603 - the program above
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    assert process.returncode == 0
    agent = XCSF.load(path)
    assert agent.steps == int(output)
    straight = XCSF.on(LAKE, XcsfConfig(population_size=300), seed=1).train(LAKE, 1)
    straight.train(LAKE, agent.steps + 100 - 1, every=2**52)
    assert agent.train(LAKE, 100, every=2**52).rules == straight.rules


def test_logging_is_quiet_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    learner(4000)
    assert capfd.readouterr() == ("", "")


def test_logging_tells_of_late_covering_and_holes(caplog: pytest.LogCaptureFixture) -> None:
    """So few rules cannot cover the lake: each visit makes new ones in place of others."""
    config = XcsfConfig(population_size=8)
    silent = XCSF.on(LAKE, config, seed=1).train(LAKE, 2000, every=500)
    with caplog.at_level(logging.INFO, logger="xcskit"):
        agent = XCSF.on(LAKE, config, seed=1).train(LAKE, 2000, every=500)
    messages = [record.getMessage() for record in caplog.records]
    late = agent.history.filter(agent.history["step"] > 1000)
    for step, n_covered in late.select("step", "n_covered").iter_rows():
        assert f"covering late in training: {n_covered} rules by step {step}" in messages
    n_holes = int(np.isnan(agent.read_values(PLACES)).sum())
    total = PLACES.shape[0] * 4
    expected = f"holes at step 2000: {n_holes} of {total} state-action pairs are matched by no rule"
    assert n_holes > 0
    assert expected in messages
    assert {record.name for record in caplog.records} == {"xcskit.learner"}
    assert state_of(agent) == state_of(silent)


def test_logging_in_detail_tells_every_row(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="xcskit.learner"):
        agent = learner().train(LAKE, 1000, every=500)
    messages = [record.getMessage() for record in caplog.records]
    assert [message.split(":")[0] for message in messages] == ["step 500", "step 1000"]
    assert f"'n_rules': {len(agent.rules)}" in messages[-1]


# ---- Divergence ----


def assert_dead(agent: Any, world: TabularMdp) -> None:
    for use in (
        lambda: agent.train(world, 1),
        lambda: agent.act(world.observations[0]),
        lambda: agent.q_values(world.observations),
        lambda: state_of(agent),
    ):
        with pytest.raises(TrainingError, match="diverged; make a new one"):
            use()


def test_rewards_beyond_what_doubles_hold() -> None:
    world = random_world((0, 0), (7, 7), 4, reward=1e307)
    agent = XCSF.on(world, SMALL.replace(discount=1.0, prediction=Nlms(eta=1.99)), seed=1)
    with pytest.raises(TrainingError, match="values diverged at step"):
        agent.train(world, 100_000)
    assert_dead(agent, world)


def test_rewards_beyond_what_doubles_hold_step_by_step() -> None:
    agent = learner()

    def live() -> None:
        for _ in range(50):
            agent.act((0, 0), explore=False)
            agent.learn(1.7e308, (0, 0), terminated=False)

    with pytest.raises(TrainingError, match="values diverged at step"):
        live()
    assert_dead(agent, LAKE)


@pytest.mark.slow
def test_least_squares_that_forget_too_fast_diverge() -> None:
    """Covariance winds up in the directions that a rule does not see, with ordinary rewards."""
    world = random_world((0, 0), (7, 7), 4)
    wild = SMALL.replace(prediction=Rls(forgetting=0.9))
    agent = XCSF.on(world, wild, seed=1)
    with pytest.raises(TrainingError, match="raise the forgetting"):
        agent.train(world, 1_000_000)
    assert_dead(agent, world)
    tame = SMALL.replace(prediction=Rls(forgetting=1.0))
    values = XCSF.on(world, tame, seed=1).train(world, 100_000).q_values(world.observations)
    assert np.abs(values).max() < 10.0


# ---- Shapes and sizes ----

SHAPES: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = [
    ("one action", (0, 0), (3, 3), 1),
    ("two actions", (0, 0), (9, 4), 2),
    ("64 actions", (-3, 100), (4, 104), 64),
]
SLOW_SHAPES: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = [
    ("one dimension", (-20,), (20,), 3),
    ("three dimensions", (0, -2, 5), (5, 3, 6), 4),
    ("one value in a dimension", (3, 0, 0), (3, 9, 0), 4),
    ("a wide space", (-(10**6), 0), (10**6, 2**53), 4),
]


def check_shape(lower: tuple[int, ...], upper: tuple[int, ...], n_actions: int) -> XCSF:
    world = random_world(lower, upper, n_actions)
    agent = XCSF.on(world, SMALL.replace(population_size=800), seed=4).train(world, 6000)
    rules = agent.rules
    assert rules.n_microclassifiers == 800
    assert agent.events["removed"] > 0
    assert set(rules.actions.tolist()) <= set(range(n_actions))
    values = agent.read_values(world.observations)
    expected = np.ma.filled(rules.q_values(world.observations, holes="mask"), np.nan)
    np.testing.assert_array_equal(values, expected)
    action = agent.act(world.observations[0])
    assert action in range(n_actions)
    agent.learn(1.0, world.observations[-1], terminated=True)
    return agent


@pytest.mark.parametrize(("lower", "upper", "n_actions"), [s[1:] for s in SHAPES], ids=str)
def test_shapes(lower: tuple[int, ...], upper: tuple[int, ...], n_actions: int) -> None:
    agent = check_shape(lower, upper, n_actions)
    assert isinstance(agent.system.population.matcher, CellIndex)


@pytest.mark.slow
@pytest.mark.parametrize(("lower", "upper", "n_actions"), [s[1:] for s in SLOW_SHAPES], ids=str)
def test_shapes_that_compile_anew(
    lower: tuple[int, ...], upper: tuple[int, ...], n_actions: int
) -> None:
    agent = check_shape(lower, upper, n_actions)
    is_wide = sum(agent.space.sizes) > 10**6
    assert isinstance(agent.system.population.matcher, PageIndex if is_wide else CellIndex)


def test_a_population_of_a_million() -> None:
    world = random_world((0, 0), (60, 60), 4)
    agent = XCSF.on(world, XcsfConfig(population_size=10**6, ga_threshold=0.0), seed=1)
    system = agent.system
    arrays = [*system.population, *system.population.condition, *system.population.prediction]
    arrays += [*system.population.matcher, *system.sets]
    n_bytes = sum(part.nbytes for part in arrays if isinstance(part, np.ndarray))
    assert n_bytes < 400 * 10**6
    agent.train(world, 30_000)
    assert 20_000 < agent.rules.n_microclassifiers < 70_000
    assert agent.events["n_used"] == len(agent.rules)
    index = system.population.matcher
    assert isinstance(index, BitIndex)
    assert index.rows.shape[1] * 64 >= 10**6


def test_a_population_that_fills_up_stays_full() -> None:
    agent = learner(20_000)
    assert agent.rules.n_microclassifiers == SMALL.population_size
    assert agent.events["n_used"] <= SMALL.population_size + 2 * 4 + 4
