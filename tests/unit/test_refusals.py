"""What no face of the package takes: one clear error that names it, never one from the depths."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from populations import random_rules
from xcskit import evaluation, learner, mdp, rules
from xcskit.errors import ConfigurationError, ModelError, SolverError, SpaceError, XcskitError
from xcskit.mdp.solvers import SOLVERS
from xcskit.spaces import IntegerSpace

# Typed so that a test may call them wrongly.
e: Any = evaluation
m: Any = mdp
space: Any = IntegerSpace
make_config: Any = learner.XcsfConfig
make_rules: Any = rules.RuleSet

LAKE: Any = mdp.frozen_lake("4x4", slip=0.1)
SOLUTION: Any = mdp.solve(LAKE)
POLICY = SOLUTION.policy
VALUES = np.zeros((16, 4))
RULES: Any = random_rules(1, 30)
PARTS: dict[str, Any] = {
    "columns": RULES.columns,
    "space": RULES.space,
    "action_names": RULES.action_names,
    "condition": RULES.condition,
    "prediction": RULES.prediction,
}
COIN_P, COIN_R = [[[0.5, 0.5]], [[0.0, 1.0]]], [[0.0], [0.0]]
RAGGED = [[1], [1, 2]]
HUGE = 10**5000

Call = Callable[[], object]


def model(**changes: Any) -> object:
    """Give the lake's model with something else in it."""
    names = ("space", "observations", "action_names", "outcomes", "training_start", "test_start")
    parts = {name: getattr(LAKE, name) for name in names}
    return m.TabularMdp(**{"name": "lake", **parts, **changes})


def layout(**changes: Any) -> object:
    """Give the model with another layout than its map's."""
    return model(layout=LAKE.layout._replace(**changes))


def gym(p: Any, start: Any = (1.0, 0.0)) -> object:
    """Take the model out of what looks like an environment."""
    return m.from_gymnasium(SimpleNamespace(P=p, initial_state_distrib=start))


ENVIRONMENTS: list[tuple[Call, str]] = [
    (lambda: m.frozen_lake(None), "a map is a known name, rows of text, .*: got None"),
    (lambda: m.frozen_lake(5), r"a map is .*: got 5 \(int\)"),
    (lambda: m.maze(b"maze5"), r"a map is .*: got b'maze5' \(bytes\)"),
    (lambda: m.frozen_lake(["SF", 5]), r"row 1 of the lake is 5 \(int\); expected a text"),
    (lambda: m.maze([None, "*F"]), r"row 0 of the maze is None .*; expected a text"),
    (lambda: m.frozen_lake(np.array([["S", "G"]])), "row 0 of the lake is array"),
    (lambda: m.frozen_lake(["", ""]), "at least one row and one column"),
    (lambda: m.maze("maze4", toroidal="yes"), "toroidal is True or False: got 'yes'"),
    (lambda: m.maze("maze4", toroidal=1), "toroidal is True or False: got 1"),
    (lambda: m.random_lake_map(10**9, 10**9, seed=0), "to 100000000: got 1000000000 x 1000000000"),
    (lambda: m.random_lake_map(1, 1, seed=0), "a lake has from 2 cells, .*: got 1 x 1"),
    (lambda: m.load_environment(None), r"named by a text or a path: got None \(NoneType\)"),
    (lambda: m.load_environment(["maze5"]), "named by a text or a path"),
    (lambda: m.load_environment("a" * 5000), "no environment is called 'aaa"),
    (lambda: m.load_environment("FrozenLake-v1", map_name="9x9"), "cannot make .*KeyError.*9x9"),
    (lambda: m.TabularEnv(None), "named by a text or a path"),
    (lambda: m.TabularEnv(LAKE, render_mode="human"), "render_mode is one of ansi: got 'human'"),
    (lambda: m.from_gymnasium(m.TabularEnv(LAKE), slip=0.1), r"options \['slip'\] are for an id"),
    (lambda: gym({}), "needs states"),
    (lambda: gym({0: {}}), "equally many actions in each, at least one"),
    (lambda: gym({0: {0: []}}), "a state and an action without an outcome"),
    (lambda: gym({0: {0: [(1.0, 0, 0.0, False)]}}, "x"), r"training_start .* shape \(\)"),
]

MODELS: list[tuple[Call, str]] = [
    (lambda: model(name=None), "name is of class str: got None"),
    (lambda: model(space=None), "space is of class IntegerSpace: got None"),
    (lambda: model(outcomes=None), "outcomes is of class Outcomes: got None .*from_rows makes one"),
    (lambda: model(outcomes=tuple(LAKE.outcomes)), "outcomes is of class Outcomes"),
    (lambda: model(outcomes=LAKE.outcomes._replace(reward=RAGGED)), "reward is an array of shape"),
    (lambda: model(action_names=(1, 2, 3, 4)), r"action names are .*: got \(1, 2, 3, 4\)"),
    (lambda: model(action_names=([], "b", "c", "d")), "action names are"),
    (lambda: model(action_names=7), "action names are .*: got 7"),
    (lambda: model(training_start="x"), r"training_start of 'lake' has shape \(\) and <U1 values"),
    (lambda: model(test_start=["a"] * 16), r"test_start of 'lake' .* <U1 values; expected \(16,\)"),
    (lambda: model(test_start=RAGGED), r"test_start of 'lake' has shape \(\)"),
    (lambda: model(layout="S"), "layout is of class GridLayout"),
    (lambda: layout(rows=None), "rows of a layout are texts of one length: got None"),
    (lambda: layout(rows=("SF", "F")), "rows of a layout are texts of one length"),
    (lambda: layout(positions="x"), "a layout gives an"),
    (lambda: layout(positions=LAKE.layout.positions[:3]), r"for each of 16 states .* \(3, 2\)"),
    (lambda: layout(positions=LAKE.layout.positions + 1), "of 4 x 4 cells has states outside"),
    (lambda: layout(moves=((0, 1),)), r"for each of 4 actions; .* \(1, 2\)"),
    (lambda: LAKE.outcomes_of("a", 0), "state is a whole number, >= 0 and <= 15: got 'a'"),
    (lambda: LAKE.outcomes_of(0, 4), "action must be >= 0 and <= 3: got 4"),
    (lambda: LAKE.describe_state(99), "state must be >= 0 and <= 15: got 99"),
    (lambda: LAKE.select_states(RAGGED), r"states are a list .*, got \[\[1\], \[1, 2\]\]"),
    (lambda: LAKE.kernel_model("tests"), "starts is one of test, training: got 'tests'"),
    (lambda: m.from_arrays(COIN_P, COIN_R, terminal=[[1]]), "expected a list of states"),
    (lambda: m.from_arrays(COIN_P, COIN_R, terminal=1), "expected a list of states"),
    (lambda: m.from_arrays(COIN_P, COIN_R, terminal=RAGGED), "expected a list of states"),
    (lambda: m.from_arrays(COIN_P, COIN_R, training_start={}), r"training_start .* shape \(\)"),
    (lambda: m.from_arrays(COIN_P, COIN_R, observations=RAGGED), r"an array of shape \(\)"),
    (lambda: m.from_arrays(COIN_P, COIN_R, observations=[[0]]), "are 1 rows; expected 2"),
    (lambda: m.from_arrays(COIN_P, COIN_R, action_names=5), "action names are .*: got 5"),
    (lambda: m.from_arrays(COIN_P, COIN_R, action_names="a"), "action names are .*: got 'a'"),
    (lambda: space.grid("a", 2), "a grid is one cell wide and high or more: got 'a' x 2"),
    (lambda: space.grid(0, 2), "a grid is one cell wide and high or more: got 0 x 2"),
]

SOLVING: list[tuple[Call, str]] = [
    (lambda: m.solve("maze5"), "mdp is of class TabularMdp: got 'maze5'.*load_environment"),
    (lambda: m.value_iteration(None), "mdp is of class TabularMdp: got None"),
    (lambda: m.policy_iteration(None), "mdp is of class TabularMdp: got None"),
    (lambda: m.modified_policy_iteration(None), "mdp is of class TabularMdp: got None"),
    (lambda: m.finite_horizon(SOLUTION, 3), "mdp is of class TabularMdp: got Solution"),
    (lambda: m.finite_horizon(LAKE, 10**12), "horizon must be >= 0 and <= 134217728: got 10"),
    (lambda: m.modified_policy_iteration(LAKE, evaluation_sweeps=2**70), "evaluation_sweeps must"),
    (lambda: m.q_learning(None, 10), "mdp is of class TabularMdp"),
    (lambda: m.q_learning(LAKE, 2**70), "steps must be >= 0 and <= 9007199254740992: got 11805"),
]

EVALUATION: list[tuple[Call, str]] = [
    (lambda: e.greedy_policy([["1", "2"]]), "q_hat is an array of values, .*: it has <U1 values"),
    (lambda: e.greedy_policy(RAGGED), "q_hat is an array of values"),
    (lambda: e.against(LAKE), "solution is of class Solution: got TabularMdp"),
    (lambda: e.compare([VALUES], SOLUTION), r"candidates is a mapping, such as .*: got \[array"),
    (lambda: e.compare({"a": VALUES}, None), "solution is of class Solution: got None"),
    (lambda: e.steps_to_goal(LAKE, POLICY, step_limit=2**40), "step_limit must be >= 0 and <= 100"),
    (lambda: e.paper_rollouts(LAKE, POLICY, step_limit=10**6), "step_limit must be .*<= 666666"),
    (lambda: e.rollouts(LAKE, POLICY, seed=1, n_threads=10**6), "n_threads must be .*<= 1024"),
]

RULE_SETS: list[tuple[Call, str]] = [
    (
        lambda: make_rules(**{**PARTS, "columns": None}),
        "columns is a mapping, of names to",
    ),
    (lambda: make_rules(**{**PARTS, "space": None}), "space is of class IntegerSpace"),
    (lambda: make_rules(**{**PARTS, "action_names": None}), "action names are .*: got None"),
    (lambda: make_rules(**{**PARTS, "condition": "min_span"}), r"a scheme, such as MinSpan\(\)"),
    (lambda: make_rules(**{**PARTS, "prediction": learner.Nlms}), r"such as Nlms\(\): got <cl"),
    (lambda: RULES.q_values((0, 0), holes="maks"), "holes is one of mask, raise: got 'maks'"),
    (lambda: make_config(condition=HUGE), r"MinSpan\(\), Unord.*: got a number of thousands of"),
    (lambda: make_config(prediction="nlms"), r"Constant\(\), Nlms\(\), Rls\(\), .*: got 'nlms'"),
]

ALL = [*ENVIRONMENTS, *MODELS, *SOLVING, *EVALUATION, *RULE_SETS]


@pytest.mark.parametrize(("call", "message"), ALL, ids=[message for _, message in ALL])
def test_what_is_refused_is_named(call: Call, message: str) -> None:
    with pytest.raises((ConfigurationError, ModelError, SpaceError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("judge", [e.evaluate_q, e.value_error, e.policy_accuracy])
def test_what_is_judged_and_by_what(judge: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"Solution: got TabularMdp.*; solve makes one"):
        judge(VALUES, LAKE)
    with pytest.raises(ConfigurationError, match="holes is one of mask, raise: got 'maks'"):
        judge(VALUES, SOLUTION, holes="maks")
    with pytest.raises(ConfigurationError, match="it has complex128 values"):
        judge(VALUES * 1j, SOLUTION)


FOLLOWERS: dict[str, Callable[..., object]] = {
    "policy_values": e.policy_values,
    "steps_to_goal": e.steps_to_goal,
    "rollouts": partial(e.rollouts, seed=1),
    "paper_rollouts": e.paper_rollouts,
}


@pytest.mark.parametrize("name", FOLLOWERS)
def test_what_is_followed_and_where(name: str) -> None:
    follow = FOLLOWERS[name]
    with pytest.raises(ConfigurationError, match="mdp is of class TabularMdp: got 'maze5'"):
        follow("maze5", POLICY)
    for policy, kind in ((SOLUTION, "Solution"), (RAGGED, "list"), (None, "NoneType")):
        with pytest.raises(ConfigurationError, match=rf"16 states.* got shape \(\) \({kind}\)"):
            follow(LAKE, policy)


@pytest.mark.parametrize("start", [True, None, 1.5, {}, ["a"] * 16], ids=str)
def test_where_episodes_start(start: Any) -> None:
    with pytest.raises(ModelError, match="test_start of 'frozenlake-4x4' has shape"):
        e.steps_to_goal(LAKE, POLICY, start=start)


@pytest.mark.parametrize("reward", [1e308, -1e308, 1.1e150])
def test_values_that_no_double_holds(reward: float) -> None:
    """They were infinite in silence, or errors of logarithms."""
    endless = mdp.from_arrays(np.ones((1, 1, 1)), [[reward]], terminal=[])
    message = r"has a reward of .*; scale its rewards to at most 1e\+150 in size"
    for solver in SOLVERS.values():
        with pytest.raises(SolverError, match=message):
            solver(endless, 0.5)
    with pytest.raises(SolverError, match=message):
        mdp.finite_horizon(endless, 9)
    with pytest.raises(SolverError, match=message):
        mdp.q_learning(endless, 10)
    with pytest.raises(SolverError, match=message):
        e.policy_values(endless, [0])
    large = mdp.from_arrays(np.ones((1, 1, 1)), [[np.sign(reward) * 1e150]], terminal=[])
    assert abs(mdp.solve(large, 0.5).v[0]) == pytest.approx(2e150)


@pytest.mark.parametrize("selector", [RAGGED, [None], {}, 1.5])
def test_rules_are_selected_as_arrays_are(selector: Any) -> None:
    with pytest.raises(TypeError, match="rules are selected by a mask, by numbers or by a slice"):
        RULES[selector]


@pytest.mark.parametrize("n_actions", [1, 8])
def test_measuring_against_another_environment_is_refused(n_actions: int) -> None:
    """One action broadcasts over four, and gave a number that meant nothing."""
    agent = learner.XCSF(LAKE.space, n_actions, seed=1)
    with pytest.raises(ConfigurationError, match=f"q_hat has values of {n_actions} actions"):
        evaluation.against(SOLUTION)(agent)


def test_an_environment_that_is_called_as_gymnasiums_is_seen_as_it_is() -> None:
    model = {0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    like_taxi = type("TaxiEnv", (), {"P": model, "initial_state_distrib": (1.0, 0.0)})
    assert mdp.from_gymnasium(like_taxi()).space.sizes == (2,)


def test_arrays_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.npz"
    np.savez(path, P=COIN_P, p=COIN_P, r=COIN_R)
    with pytest.raises(XcskitError, match="expected 'p' and 'r', and none but"):
        mdp.load_arrays(path)
