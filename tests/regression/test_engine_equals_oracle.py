"""From one seed, engine and oracle hold equal populations, bit for bit, after every step."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from oracle.environment import MAP_8X8, train
from oracle.environment import frozen_lake as oracles_lake
from oracle.parameters import Parameters
from twins import assert_equal, assert_same_events, twins, world_of
from xcskit.kernels import matching
from xcskit.kernels.matching import BitIndex, CellIndex, PageIndex, pages
from xcskit.kernels.training import train_on_model
from xcskit.learner import XCSF
from xcskit.mdp import TabularMdp, frozen_lake

N_STEPS = 3000
BUSY: dict[str, Any] = {"N": 250, "theta_ga": 10.0, "theta_sub": 5.0, "epsilon_0": 0.05}
"""Small and hasty, so that everything that can happen does within a few thousand steps."""

ALWAYS = frozenset(
    {
        "covered",
        "deleted",
        "removed",
        "reused_slot",
        "merged_with_identical",
        "inserted_new",
        "removed_from_pending",
    }
)
SUBSUMPTION = frozenset({"subsumed_by_parent", "not_subsumed"})

MAPS: dict[str, Any] = {
    "4x4": ("4x4", 0.1),
    "8x8": ("8x8", 0.0),
    "8x8-slippery": ("8x8", 0.3),
    "wide": (("S" + "F" * 119, *["FH" * 60, "F" * 120] * 59, "F" * 119 + "G"), 0.1),
    "oblong": (("SFFFFFFFFF", "FFHFFFHFFF", "FFFFFFFFFG"), 0.1),
}


@dataclass(frozen=True)
class Case:
    """One configuration on one map, and what must have happened in it."""

    name: str
    where: str
    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    expected: frozenset[str] = ALWAYS | SUBSUMPTION
    n_environments: int = 1


COMPONENTS = [
    Case(f"{condition}-{prediction}-{degree}", where, {"condition": condition, **scheme})
    for condition, where_of in (("min_span", ("4x4", "oblong")), ("unordered_bounds", ("8x8",)))
    for i, (prediction, degree) in enumerate(
        [("nlms", 1), ("nlms", 2), ("rls", 1), ("rls", 2), ("constant", 1)]
    )
    for where in [where_of[i % len(where_of)]]
    for scheme in [{"prediction": prediction, "degree": degree}]
]

OPTIONS = [
    Case("explore-by-episode", "4x4", {"exploration": "episode"}),
    Case("micro-tournament", "8x8-slippery", {"selection": "micro_tournament"}),
    Case("roulette", "4x4", {"selection": "roulette"}),
    Case("two-point", "8x8", {"crossover": "two_point"}),
    Case("crosses-sometimes", "4x4", {"chi": 0.5}),
    Case("constant-crosses-sometimes", "4x4", {"chi": 0.5, "prediction": "constant"}),
    Case("rls-crosses-sometimes", "4x4", {"chi": 0.5, "prediction": "rls"}),
    Case("plain-error", "4x4", {"error": "plain", "epsilon_0": 0.1}),
    Case("no-ga-subsumption", "8x8", {"ga_subsumption": False}, ALWAYS),
    Case(
        "action-set-subsumption",
        "4x4",
        {"action_set_subsumption": True},
        ALWAYS | {"absorbed", "not_subsumed"},
    ),
    Case("butz-wilson-deletion", "8x8-slippery", {"deletion_mean": "butz_wilson"}),
    Case("broken-power", "4x4", {"nu": 3.5}),
    Case("other-power", "4x4", {"nu": 10.0}),
    Case("few-actions-needed", "oblong", {"theta_mna": 3, "exploration_probability": 0.9}),
    Case("rates", "4x4", {"beta": 0.2, "beta_epsilon": 0.11, "gamma": 0.8, "eta": 0.5, "x_0": 3.0}),
    Case("ranges", "8x8", {"r_0": 2, "m_0": 7, "mu": 0.3, "upsilon": 0.2, "tau": 0.9}),
    Case("poor-rules", "4x4", {"theta_del": 5.0, "delta": 0.9}),
    Case("three-environments", "8x8-slippery", n_environments=3),
    Case("three-environments-by-episode", "4x4", {"exploration": "episode"}, n_environments=3),
    Case("fitness-ties", "4x4", {"epsilon_0": 10.0}),
    Case("worth-ties", "4x4", {"epsilon_0": 10.0, "selection": "micro_tournament"}),
    Case("N-200", "8x8", {"N": 200}),
    Case("N-1000", "8x8", {"N": 1000}),
]


def lake(where: str) -> TabularMdp:
    """Give the model of a map's name."""
    layout, slip = MAPS[where]
    return frozen_lake(layout, slip=slip)


def run(
    case: Case, *, n_steps: int = N_STEPS, stride: int = 1, seed: int = 7, head_start: int = 0
) -> XCSF:
    """Train both and compare them again and again, after a head start; give the engine.

    What must happen has to happen after the head start.
    """
    mdp = lake(case.where)
    agent, oracle = twins(Parameters(**{**BUSY, **case.changes}), mdp, seed, case.n_environments)
    model, world = mdp.kernel_model(), world_of(mdp)
    train_on_model(agent.system, agent.settings, model, head_start)
    train(oracle, world, head_start)
    before = agent.events
    for _ in range(n_steps // stride):
        assert train_on_model(agent.system, agent.settings, model, stride) == 0
        train(oracle, world, stride)
        assert_equal(agent, oracle)
    assert_same_events(agent, oracle)
    missing = {name for name in case.expected if agent.events[name] == before[name]}
    assert not missing, f"never happened: {missing}"
    return agent


@pytest.mark.parametrize("case", COMPONENTS[:1], ids=lambda case: case.name)
def test_the_papers_components(case: Case) -> None:
    run(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", COMPONENTS[1:], ids=lambda case: case.name)
def test_every_condition_with_every_prediction(case: Case) -> None:
    run(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", OPTIONS, ids=lambda case: case.name)
def test_every_option(case: Case) -> None:
    run(case)


@pytest.mark.slow
@pytest.mark.parametrize("slip", ["8x8", "8x8-slippery"])
def test_the_papers_setting(slip: str) -> None:
    paper = {"N": 5000, "theta_ga": 50.0, "theta_sub": 50.0, "epsilon_0": 0.01}
    run(Case("early", slip, paper, frozenset({"covered", "inserted_new"})))


@pytest.mark.slow
def test_the_papers_setting_when_the_population_is_full() -> None:
    """Once rules are deleted, and accurate enough to subsume: after every one of 3,000 steps."""
    paper = {"N": 5000, "theta_ga": 50.0, "theta_sub": 50.0, "epsilon_0": 0.01}
    agent = run(Case("late", "8x8", paper, ALWAYS - {"covered"} | SUBSUMPTION), head_start=21_000)
    assert agent.events["covered"] > 0


@pytest.mark.slow
def test_deletion_over_more_than_one_superblock() -> None:
    changes = {"N": 5000, "r_0": 2, "theta_del": 2.0, "delta": 0.5}
    expected = frozenset({"covered", "deleted", "removed", "reused_slot"})
    agent = run(Case("superblocks", "wide", changes, expected), n_steps=4000, stride=200)
    assert agent.events["n_used"] > 64 * 64


@pytest.mark.slow
def test_bits_and_rows_that_values_share_give_what_cells_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "_MOST_ROWS", 6)
    for limit, kind in ((None, CellIndex), ("CELLS", BitIndex), ("INDEX_ROWS", PageIndex)):
        if limit is not None:
            monkeypatch.setattr(matching, limit, 0)
        agent = run(Case("indexes", "8x8", {}, ALWAYS), stride=10, seed=3)
        assert isinstance(agent.system.population.matcher, kind)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "changes", "n_steps"),
    [
        ("8x8", {}, N_STEPS),
        ("oblong", {"condition": "unordered_bounds", "r_0": 6, "m_0": 7}, N_STEPS),
        ("wide", {"N": 1500, "r_0": 9, "theta_del": 2.0, "delta": 0.5}, 2000),
    ],
)
def test_pages_give_what_cells_give(
    monkeypatch: pytest.MonkeyPatch, where: str, changes: dict[str, Any], n_steps: int
) -> None:
    """Pages that are split finely, so that rules of many groups come, move up and go."""
    monkeypatch.setattr(matching, "CELLS", 0)
    monkeypatch.setattr(matching, "PAGE_CAPACITY", 0)
    monkeypatch.setattr(matching, "PAGE_PLACES", 1)
    monkeypatch.setattr(pages, "_FINEST", 1)
    monkeypatch.setattr(pages, "_GROUPED", 8)
    expected = frozenset({"covered", "deleted", "removed", "reused_slot"})
    agent = run(Case("pages", where, changes, expected), n_steps=n_steps, stride=20, seed=3)
    index = agent.system.population.matcher
    assert isinstance(index, PageIndex)
    assert np.count_nonzero(index.n_rules) >= 3


@pytest.mark.parametrize("exploration", ["step", "episode"])
def test_step_by_step_with_time_limits_and_several_environments(exploration: Any) -> None:
    """Act and learn from outside: truncation, forced choices, two environments in disorder."""
    mdp = lake("8x8-slippery")
    agent, oracle = twins(Parameters(**BUSY, exploration=exploration), mdp, 5, n_environments=2)
    outside = np.random.default_rng(11)

    states: list[list[int]] = mdp.observations[mdp.states].tolist()

    def somewhere() -> tuple[int, ...]:
        return tuple(states[outside.integers(len(states))])

    seen = [somewhere(), somewhere()]
    for _ in range(1500):
        order: list[int] = outside.permutation(2).tolist()
        for environment in order:
            explore = (None, None, True, False)[int(outside.integers(4))]
            chosen = agent.act(seen[environment], explore=explore, environment=environment)
            twin = oracle.act(seen[environment], environment, explore=explore)
            assert chosen == twin
        for environment in reversed(order):
            after = somewhere()
            terminated, truncated = (outside.random(2) < (0.1, 0.15)).tolist()
            reward = float(outside.random())
            agent.learn(
                reward, after, terminated=terminated, truncated=truncated, environment=environment
            )
            oracle.learn(
                reward,
                after,
                terminated=terminated,
                truncated=truncated,
                environment=environment,
            )
            is_over = terminated or truncated
            seen[environment] = somewhere() if is_over else after
        assert_equal(agent, oracle)
    assert_same_events(agent, oracle)
    assert agent.events["removed_from_pending"] > 0


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_the_oracles_own_lake_teaches_the_same(slip: float) -> None:
    """Nothing is shared here, not even the model: each learns on the lake of its own."""
    agent, oracle = twins(Parameters(**BUSY), frozen_lake("8x8", slip=slip), 4)
    agent.train(frozen_lake("8x8", slip=slip), 2000)
    train(oracle, oracles_lake(MAP_8X8, slip), 2000)
    assert_equal(agent, oracle)
    assert_same_events(agent, oracle)


def test_values_are_the_oracles() -> None:
    mdp = lake("4x4")
    agent, oracle = twins(Parameters(**BUSY), mdp, 2)
    agent.train(mdp, 2500)
    train(oracle, world_of(mdp), 2500)
    seen = mdp.observations[mdp.states]
    expected = [
        [oracle.q_value(tuple(state), action) for action in range(mdp.n_actions)]
        for state in seen.tolist()
    ]
    found: Any = agent.read_values(seen)
    np.testing.assert_array_equal(found, np.array(expected, dtype=np.float64))
    np.testing.assert_array_equal(agent.rules.q_values(seen), found)
