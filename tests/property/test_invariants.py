"""What holds of a population after every step, under any configuration, on any map."""

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from worlds import random_world
from xcskit.kernels.components import ConditionScheme
from xcskit.kernels.matching import CellIndex
from xcskit.kernels.settings import LEAST
from xcskit.kernels.wheel import BLOCK, MASS, PENALISED, PLAIN, WORTH
from xcskit.learner import XCSF, MinSpan, Nlms, UnorderedBounds, XcsfConfig
from xcskit.mdp import TabularMdp
from xcskit.typing import Bools, Floats, Ints

N_CHECKS = 12
"""How often in a run everything is recomputed; the rest is held after every step."""

unit = st.floats(0.0, 1.0)
positive = st.floats(0.01, 1.0)


@st.composite
def configurations(draw: st.DrawFn, n_actions: int) -> XcsfConfig:
    """Draw a configuration; hasty, so that much happens in few steps."""
    ranges = {"cover_range": draw(st.integers(2, 8)), "mutation_range": draw(st.integers(1, 8))}
    conditions: list[ConditionScheme] = [MinSpan(**ranges), UnorderedBounds(**ranges)]
    return XcsfConfig(
        population_size=draw(st.integers(n_actions, 150)),
        learning_rate=draw(positive),
        minimum_error_rate=draw(positive),
        target_error=draw(st.sampled_from([0.001, 0.1, 1.0])),
        accuracy_power=draw(st.sampled_from([1.0, 4.5, 5.0])),
        discount=draw(st.floats(0.0, 0.95)),
        ga_threshold=draw(st.sampled_from([0.0, 3.0, 20.0])),
        tournament_fraction=draw(positive),
        crossover_probability=draw(unit),
        allele_swap_probability=draw(unit),
        mutation_probability=draw(unit),
        deletion_experience=draw(st.integers(0, 10)),
        deletion_fraction=draw(unit),
        subsumption_experience=draw(st.integers(0, 10)),
        minimum_actions=draw(st.one_of(st.none(), st.integers(1, n_actions))),
        exploration_probability=draw(unit),
        exploration=draw(st.sampled_from(["step", "episode"])),
        selection=draw(st.sampled_from(["tournament", "micro_tournament", "roulette"])),
        crossover=draw(st.sampled_from(["uniform", "two_point"])),
        error=draw(st.sampled_from(["xcs_mu", "plain"])),
        ga_subsumption=draw(st.booleans()),
        action_set_subsumption=draw(st.booleans()),
        deletion_mean=draw(st.sampled_from(["numerosity", "butz_wilson"])),
        condition=draw(st.sampled_from(conditions)),
        prediction=Nlms(eta=draw(st.floats(0.01, 1.0))),
    )


@st.composite
def trainings(draw: st.DrawFn) -> tuple[XCSF, TabularMdp, int]:
    """Draw a learner, its world, and how long to watch it."""
    n_actions = draw(st.integers(1, 5))
    lower = (draw(st.integers(-9, 9)), draw(st.integers(-9, 9)))
    upper = (lower[0] + draw(st.integers(0, 8)), lower[1] + draw(st.integers(1, 8)))
    seed = draw(st.integers(0, 2**32))
    world = random_world(lower, upper, n_actions, seed=seed)
    config = draw(configurations(n_actions))
    agent = XCSF.on(world, config, seed=seed, n_environments=draw(st.integers(1, 3)))
    return agent, world, draw(st.integers(30, 250))


class Live:
    """The live rules of a learner, taken from its arrays."""

    def __init__(self, agent: XCSF) -> None:
        system: Any = agent.system
        self.population, self.sets = system.population, system.sets
        records: NDArray[Any] = self.population.rules
        self.slots: Ints = np.flatnonzero(records["numerosity"])
        self.rules = records[self.slots]
        alleles: Ints = self.population.condition.alleles[self.slots]
        first, second = alleles[:, 0::2], alleles[:, 1::2]
        if isinstance(agent.config.condition, MinSpan):
            self.lower, self.upper = first, first + second
        else:
            self.lower, self.upper = np.minimum(first, second), np.maximum(first, second)

    def matches(self, observation: Ints) -> Bools:
        """Scan: which of the live rules match."""
        inside = (self.lower <= observation) & (observation <= self.upper)
        return np.asarray(inside.all(axis=1), dtype=np.bool_)


def check_sizes(agent: XCSF, live: Live, most: int) -> None:
    events = agent.events
    numerosity = live.rules["numerosity"]
    assert events["n_macros"] == len(live.slots)
    assert events["n_micros"] == numerosity.sum() <= most
    n_new = events["covered"] + events["inserted_new"]
    assert events["n_macros"] == n_new - events["removed"] - events["absorbed"]
    n_joined = events["subsumed_by_parent"] + events["merged_with_identical"]
    assert events["n_micros"] == n_new + n_joined - events["deleted"]
    assert 2 * events["ga_runs"] == events["inserted_new"] + n_joined
    judged = events["subsumed_by_parent"] + events["not_subsumed"]
    assert judged == 2 * events["ga_runs"] * agent.config.ga_subsumption
    assert events["reused_slot"] == n_new - events["n_used"]
    freed = live.population.freed[: events["n_freed"]]
    assert sorted([*freed.tolist(), *live.slots.tolist()]) == list(range(events["n_used"]))


def check_conditions(agent: XCSF, live: Live) -> None:
    space = agent.space
    assert (np.array(space.lower) <= live.lower).all()
    assert (live.lower <= live.upper).all()
    assert (live.upper <= np.array(space.upper)).all()
    rows = np.column_stack([live.rules["action"], live.lower, live.upper])
    assert len(np.unique(rows, axis=0)) == len(rows)


def check_index(agent: XCSF, live: Live, world: TabularMdp) -> None:
    """Form the match set of every state by a scan."""
    index = live.population.matcher
    assert isinstance(index, CellIndex)
    for observation in world.observations:
        found = np.flatnonzero(live.matches(observation))
        actions = live.rules["action"][found]
        place: list[int] = (observation - np.array(agent.space.lower)).tolist()
        cell = int(np.ravel_multi_index(place, agent.space.sizes))
        first = index.first[cell]
        row = index.slots[cell, : first[-1]]
        np.testing.assert_array_equal(row, live.slots[found[np.argsort(actions, kind="stable")]])
        sizes = np.bincount(actions, minlength=agent.n_actions)
        np.testing.assert_array_equal(np.diff(first), sizes)


def check_matching(agent: XCSF, live: Live, world: TabularMdp) -> None:
    """Let each state's values be there exactly where a scan finds a rule."""
    found = ~np.isnan(agent.read_values(world.observations))
    for observation, row in zip(world.observations, found, strict=True):
        present = np.unique(live.rules["action"][live.matches(observation)])
        np.testing.assert_array_equal(np.flatnonzero(row), present)


def check_ballot(agent: XCSF, live: Live) -> None:
    rules, config = live.rules, agent.config
    worth = np.maximum(rules["fitness"] / rules["numerosity"], LEAST)
    plain = rules["action_set_size"] * rules["numerosity"]
    is_experienced = rules["experience"] > config.deletion_experience
    by_numerosity = config.deletion_mean == "numerosity"
    expected = np.zeros_like(live.population.wheel.ballot)
    expected[WORTH] = np.inf
    expected[:, live.slots] = (
        plain,
        plain / worth,
        np.where(is_experienced, worth, np.inf),
        rules["fitness"] * rules["numerosity"] if by_numerosity else rules["fitness"],
    )
    np.testing.assert_array_equal(live.population.wheel.ballot, expected)
    np.testing.assert_array_equal(live.population.fitness[live.slots], rules["fitness"])


def lane_sum(values: Floats) -> float:
    """Sum in the order of docs/determinism.md."""
    lanes = np.zeros(8)
    for row in np.append(values, np.zeros(-len(values) % 8)).reshape(-1, 8):
        lanes += row
    while len(lanes) > 1:
        lanes = lanes[0::2] + lanes[1::2]
    return float(lanes[0])


def check_kept_sums(live: Live) -> None:
    """Let what is not stale be the sum of what is below it, of blocks and of superblocks."""
    wheel = live.population.wheel
    is_stale = np.unpackbits(wheel.stale.view(np.uint8), bitorder="little")
    for superblock in np.flatnonzero(wheel.stale == 0):
        inside = wheel.blocks[:, superblock * BLOCK : (superblock + 1) * BLOCK]
        for row in (PLAIN, PENALISED, MASS):
            assert wheel.superblocks[row, superblock] == lane_sum(inside[row])
    for block in np.flatnonzero(is_stale[: wheel.blocks.shape[1]] == 0):
        ballot = wheel.ballot[:, block * BLOCK : (block + 1) * BLOCK]
        is_poor = ballot[WORTH] <= wheel.blocks[WORTH, block]
        assert wheel.blocks[PLAIN, block] == lane_sum(np.where(is_poor, 0.0, ballot[PLAIN]))
        poor = np.where(is_poor, ballot[PENALISED], 0.0)
        assert wheel.blocks[PENALISED, block] == lane_sum(poor)
        assert wheel.blocks[MASS, block] == lane_sum(ballot[MASS])


def check_sets(live: Live) -> None:
    """Let a set that waits hold live rules that match, of one action, in rule order."""
    sets = live.sets
    for environment, which in np.ndindex(*sets.sizes.shape):
        size = sets.sizes[environment, which]
        members: Ints = sets.members[environment, which, :size].astype(np.int64)
        rows = np.searchsorted(live.slots, members)
        np.testing.assert_array_equal(live.slots[rows], members)
        assert (np.diff(members) > 0).all()
        assert len(np.unique(live.rules["action"][rows])) <= 1
        assert live.matches(sets.observations[environment, which])[rows].all()


def check_numbers(agent: XCSF, live: Live) -> None:
    rules = live.rules
    assert ((rules["fitness"] > 0) & (rules["fitness"] <= 1)).all()
    assert (rules["prediction_error"] >= 0).all()
    assert ((rules["action_set_size"] > 0) & (rules["action_set_size"] < 1000)).all()
    assert (rules["experience"] <= 2 * agent.steps).all()
    assert (rules["time_stamp"] <= agent.steps).all()


@settings(
    max_examples=30,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(trainings(), st.data())
def test_what_always_holds(training: tuple[XCSF, TabularMdp, int], data: st.DataObject) -> None:
    agent, world, n_steps = training
    outside = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_environments, size = agent.n_environments, agent.config.population_size
    needed = agent.settings.minimum_actions
    marks = {int(mark) for mark in np.linspace(1, n_steps, N_CHECKS)}
    for step in range(1, n_steps + 1):
        acting = outside.permutation(n_environments)[: int(outside.integers(1, n_environments + 1))]
        for n_acting, environment in enumerate(acting.tolist(), start=1):
            observation = world.observations[outside.integers(world.n_states)]
            action = agent.act(observation, environment=environment)
            live = Live(agent)
            present = np.unique(live.rules["action"][live.matches(observation)])
            assert len(present) >= needed
            assert action in present
            check_sizes(agent, live, size + n_acting * agent.n_actions)
        for environment in acting.tolist():
            after = world.observations[outside.integers(world.n_states)]
            is_terminated, is_truncated = (outside.random(2) < 0.2).tolist()
            agent.learn(
                float(outside.random()),
                after,
                terminated=is_terminated,
                truncated=is_truncated,
                environment=environment,
            )
            check_sizes(agent, Live(agent), size)
        if step in marks:
            live = Live(agent)
            check_conditions(agent, live)
            check_index(agent, live, world)
            check_matching(agent, live, world)
            check_ballot(agent, live)
            check_kept_sums(live)
            check_sets(live)
            check_numbers(agent, live)


@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(trainings(), st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_pieces_equal_the_whole(training: tuple[XCSF, TabularMdp, int], pieces: list[int]) -> None:
    agent, world, _ = training
    whole = XCSF.on(world, agent.config, seed=agent.seed, n_environments=agent.n_environments)
    whole.train(world, sum(pieces))
    for steps in pieces:
        agent.train(world, steps)
    assert agent.rules == whole.rules
    assert agent.events == whole.events
    np.testing.assert_array_equal(agent.system.streams, whole.system.streams)
    check_sizes(agent, Live(agent), agent.config.population_size)
