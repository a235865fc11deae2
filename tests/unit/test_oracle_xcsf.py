"""The oracle as a whole: single steps by hand, options, several environments, and a short run."""

import dataclasses
from typing import Any

import pytest

from oracle.environment import MAP_4X4, MAP_8X8, TabularEnvironment, frozen_lake, train
from oracle.parameters import Parameters
from oracle.rollouts import roll_out
from oracle.rule import Rule
from oracle.xcsf import Xcsf

GAMMA = 0.95
OPTIONS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "unordered bounds": {"condition": "unordered_bounds"},
    "degree 2": {"degree": 2},
    "rls": {"prediction": "rls"},
    "rls of degree 2": {"prediction": "rls", "degree": 2},
    "constant": {"prediction": "constant"},
    "explore by episode": {"exploration": "episode"},
    "micro tournament": {"selection": "micro_tournament"},
    "roulette": {"selection": "roulette"},
    "two-point crossover": {"crossover": "two_point"},
    "rare crossover": {"chi": 0.5},
    "plain error": {"error": "plain"},
    "no GA subsumption": {"ga_subsumption": False},
    "action set subsumption": {"action_set_subsumption": True},
    "mean of Butz & Wilson": {"deletion_mean": "butz_wilson"},
    "theta_mna 3": {"theta_mna": 3},
    "broken nu": {"nu": 4.5},
}


def q_star(world: TabularEnvironment) -> dict[int, list[float]]:
    """Solve a world by value iteration."""
    values = [0.0] * world.n_states
    q: dict[int, list[float]] = {}
    for _ in range(400):
        for state in world.start:
            q[state] = [0.0] * world.n_actions
            for action in range(world.n_actions):
                before = 0.0
                for row in world.outcomes(state, action):
                    probability, before = world.cumulative[row] - before, world.cumulative[row]
                    later = 0.0 if world.is_terminated[row] else values[world.next_state[row]]
                    q[state][action] += probability * (world.reward[row] + GAMMA * later)
        for state in world.start:
            values[state] = max(q[state])
    return q


def policy_of(q: dict[int, list[float]], n_states: int) -> list[int]:
    return [q[state].index(max(q[state])) if state in q else 0 for state in range(n_states)]


def columns(xcsf: Xcsf) -> list[dict[str, Any] | None]:
    return [None if rule is None else dataclasses.asdict(rule) for rule in xcsf.slots]


def stream_states(xcsf: Xcsf) -> list[Any]:
    return [stream.bit_generator.state for stream in xcsf.streams.values()]


def lake_learner(parameters: Parameters, seed: int, n_environments: int = 1) -> Xcsf:
    return Xcsf(parameters, (0, 0), (3, 3), 4, seed, n_environments)


def only_rule(xcsf: Xcsf, action: int) -> Rule:
    (rule,) = [rule for rule in xcsf.rules if rule.action == action]
    return rule


# ---- Steps by hand ----


def test_the_first_update_by_hand() -> None:
    xcsf = Xcsf(Parameters(), (0,), (7,), 2, seed=3)
    action = xcsf.act((4,), explore=True)
    rule = only_rule(xcsf, action)
    assert (rule.error, rule.fitness, rule.experience, rule.time_stamp) == (1e-3, 1e-3, 0, 0)
    xcsf.learn(0.5, (5,), terminated=True, truncated=False)
    # z = (10, 4), |z|^2 = 116, d = 0.5; exp 1, so that each estimate jumps to its first target.
    assert rule.experience == 1
    assert rule.weights == [(0.1 * 0.5) / 116 * 10, (0.1 * 0.5) / 116 * 4]
    assert rule.minimum_error == 1e-3
    assert rule.error == pytest.approx(0.499, rel=1e-14)
    assert rule.action_set_size == 1.0
    # It is alone: its share is 1 whatever its accuracy.
    assert rule.fitness == 1e-3 + 0.1 * (1.0 - 1e-3)
    assert xcsf.t == 1


def test_two_rules_share_fitness_by_accuracy() -> None:
    xcsf = Xcsf(Parameters(), (0,), (7,), 1, seed=0)
    xcsf.act((4,))
    (one,) = xcsf.rules
    two = dataclasses.replace(one, weights=[0.05, 0.0], error=0.004, numerosity=2, experience=40)
    two.minimum_error = 0.002
    xcsf.add(two)
    xcsf.act((4,))
    xcsf.learn(0.51, (4,), terminated=True, truncated=False)
    # Rule two: d = 0.51 - 0.5; mu = 0.002 + 0.05 (0.001 - 0.002) = 0.00195;
    # error = 0.004 + 0.1 (0.01 - 0.00195 - 0.004) = 0.004405, accurate: kappa = 1.
    assert two.minimum_error == pytest.approx(0.00195, rel=1e-14)
    assert two.error == pytest.approx(0.004405, rel=1e-13)
    assert two.action_set_size == pytest.approx(1.0 + 0.1 * 2.0, rel=1e-15)
    # Rule one: its error is 0.51 - 0.001, so that kappa = 0.1 (0.01 / 0.509)^5.
    kappa = 0.1 * (0.01 / 0.509) ** 5
    assert one.error == pytest.approx(0.509, rel=1e-14)
    assert one.action_set_size == 3.0
    assert one.fitness == pytest.approx(0.9e-3 + 0.1 * kappa / (2.0 + kappa), rel=1e-12)
    assert two.fitness == pytest.approx(0.9e-3 + 0.1 * 2.0 / (2.0 + kappa), rel=1e-12)


def test_a_negative_error_after_the_minimum_is_taken_off_becomes_epsilon_0() -> None:
    xcsf = Xcsf(Parameters(), (0,), (7,), 1, seed=0)
    xcsf.act((4,))
    (rule,) = xcsf.rules
    xcsf.learn(0.0, (4,), terminated=True, truncated=False)
    assert rule.error == pytest.approx(0.01, rel=1e-14)
    assert rule.fitness == pytest.approx(0.1009, rel=1e-14)


def test_what_a_step_pays_to_the_set_before_it() -> None:
    xcsf = Xcsf(Parameters(eta=1.0), (0,), (7,), 1, seed=1)
    xcsf.act((4,))
    (rule,) = xcsf.rules
    xcsf.learn(0.25, (4,), terminated=False, truncated=False)
    assert rule.experience == 0
    rule.weights = [0.04, 0.0]
    xcsf.act((4,))
    xcsf.learn(0.0, (4,), terminated=False, truncated=False)
    assert rule.experience == 1
    assert xcsf.q_value((4,), 0) == pytest.approx(0.25 + GAMMA * 0.4, rel=1e-14)


@pytest.mark.parametrize(
    ("terminated", "payoff"), [(True, 0.5), (False, 0.5 + GAMMA * 0.4)], ids=["both", "truncated"]
)
def test_a_truncated_step_looks_ahead_unless_it_terminated(
    *, terminated: bool, payoff: float
) -> None:
    xcsf = Xcsf(Parameters(eta=1.0), (0,), (7,), 1, seed=1)
    xcsf.act((4,))
    (rule,) = xcsf.rules
    rule.weights = [0.04, 0.0]
    xcsf.learn(0.5, (4,), terminated=terminated, truncated=True)
    assert rule.experience == 1
    assert xcsf.q_value((4,), 0) == pytest.approx(payoff, rel=1e-14)
    xcsf.act((4,))
    xcsf.learn(0.0, (4,), terminated=False, truncated=False)
    assert rule.experience == 1, "a new episode has no previous set"


def test_a_truncated_step_covers_the_next_state() -> None:
    xcsf = Xcsf(Parameters(r_0=2), (0,), (7,), 2, seed=1)
    xcsf.act((0,))
    assert xcsf.q_value((7,), 0) is None
    xcsf.learn(0.0, (7,), terminated=False, truncated=True)
    assert xcsf.q_value((7,), 0) == xcsf.q_value((7,), 1) == 0.0
    assert xcsf.events["covered"] == 4


def test_a_rule_deleted_out_of_the_previous_set_gets_no_update() -> None:
    xcsf = Xcsf(Parameters(N=1), (0,), (7,), 2, seed=5)
    action = xcsf.act((4,), explore=True)
    rule, other = only_rule(xcsf, action), only_rule(xcsf, 1 - action)
    rule.action_set_size, other.action_set_size = 1e9, 1e-9
    xcsf.learn(0.0, (4,), terminated=False, truncated=False)
    assert xcsf.rules == [other]
    assert xcsf.events["removed_from_pending"] == xcsf.events["removed"] == 1
    xcsf.act((4,), explore=True)
    xcsf.learn(0.0, (4,), terminated=False, truncated=False)
    assert xcsf.events["updates"] == 0
    assert xcsf.events["reused_slot"] == 1


def test_the_ga_is_due_after_theta_ga_and_only_on_a_step_that_explores() -> None:
    xcsf = Xcsf(Parameters(theta_ga=2.0), (0,), (7,), 1, seed=5)
    runs: list[int] = []
    for explore in (True, True, True, False, True):
        xcsf.act((4,), explore=explore)
        xcsf.learn(0.0, (4,), terminated=True, truncated=False)
        runs.append(xcsf.events["ga_runs"])
    assert runs == [0, 0, 0, 0, 1]


def test_children_of_crossover_take_discounted_means() -> None:
    xcsf = Xcsf(Parameters(mu=0.0, theta_ga=-1.0), (0,), (7,), 1, seed=2)
    xcsf.act((4,), explore=True)
    (parent,) = xcsf.rules
    parent.alleles, parent.intervals = [4, 0], [(4, 4)]
    parent.weights, parent.error, parent.minimum_error = [0.5, 0.25], 0.08, 0.02
    parent.fitness, parent.numerosity, parent.action_set_size = 0.6, 3, 7.0
    one, two = xcsf.copy(parent), xcsf.copy(dataclasses.replace(parent, error=0.04, fitness=0.2))
    xcsf.cross_over((parent, dataclasses.replace(parent, error=0.04, fitness=0.2)), (one, two))
    for child in (one, two):
        assert child.error == 0.25 * ((0.08 + 0.04) / 2)
        assert child.fitness == 0.1 * ((0.6 + 0.2) / 2)
        assert (child.minimum_error, child.weights) == (0.02, [0.5, 0.25])
        assert (child.numerosity, child.experience, child.action_set_size) == (1, 0, 7.0)
    xcsf.learn(0.0, (4,), terminated=True, truncated=False)
    # Without mutation both children equal their only possible parent, and join it.
    assert parent.numerosity == 5
    assert xcsf.events["merged_with_identical"] == xcsf.events["not_subsumed"] == 2


def test_action_set_subsumption_moves_numerosity_to_the_most_general() -> None:
    xcsf = Xcsf(Parameters(action_set_subsumption=True), (0,), (7,), 1, seed=2)
    xcsf.act((4,), explore=False)
    (wide,) = xcsf.rules
    wide.alleles, wide.intervals, wide.experience = [1, 5], [(1, 6)], 60
    narrow = dataclasses.replace(wide, alleles=[3, 2], intervals=[(3, 5)], numerosity=4)
    beside = dataclasses.replace(wide, alleles=[4, 3], intervals=[(4, 7)], numerosity=2)
    xcsf.add(narrow)
    xcsf.add(beside)
    xcsf.act((4,), explore=False)
    xcsf.learn(0.0, (4,), terminated=True, truncated=False)
    assert xcsf.slots == [wide, None, beside]
    assert (wide.numerosity, xcsf.events["absorbed"]) == (5, 1)


def test_a_forced_choice_takes_no_draw_for_itself() -> None:
    forced, free = (Xcsf(Parameters(), (0,), (7,), 4, seed=9) for _ in range(2))
    forced.act((4,), explore=True)
    free.streams["exploration"].random()
    free.act((4,), explore=True)
    twin = Xcsf(Parameters(exploration_probability=1.0), (0,), (7,), 4, seed=9)
    twin.act((4,))
    assert stream_states(twin) == stream_states(free) != stream_states(forced)


# ---- Whole runs ----


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_each_option_trains_within_its_bounds(options: dict[str, Any]) -> None:
    world = frozen_lake(MAP_4X4, 0.1)
    xcsf = lake_learner(
        Parameters(N=200, theta_ga=10, theta_sub=5, epsilon_0=0.05, **options), seed=4
    )
    for _ in range(10):
        train(xcsf, world, 150)
        assert sum(rule.numerosity for rule in xcsf.rules) <= 200
        structures = [(rule.action, tuple(rule.intervals)) for rule in xcsf.rules]
        assert len(set(structures)) == len(structures)
        for place, rule in enumerate(xcsf.slots):
            if rule is not None:
                assert rule.slot == place
                assert all(0 <= low <= high <= 3 for low, high in rule.intervals)
    assert xcsf.events["inserted_new"] > 0
    assert xcsf.events["deleted"] > 0
    assert (xcsf.events["subsumed_by_parent"] > 0) is (options.get("ga_subsumption", True))
    assert (xcsf.events["absorbed"] > 0) is options.get("action_set_subsumption", False)


def test_options_change_what_is_learned() -> None:
    populations: list[list[dict[str, Any] | None]] = []
    for options in OPTIONS.values():
        world = frozen_lake(MAP_4X4, 0.1)
        xcsf = lake_learner(
            Parameters(N=200, theta_ga=10, theta_sub=5, epsilon_0=0.05, **options), seed=4
        )
        train(xcsf, world, 1500)
        assert columns(xcsf) not in populations
        populations.append(columns(xcsf))


@pytest.mark.parametrize("n_environments", [1, 3])
def test_training_in_pieces_equals_training_at_once(n_environments: int) -> None:
    learners: list[Xcsf] = []
    for pieces in ([3000], [1, 999, 1500, 500]):
        world = frozen_lake(MAP_4X4, 0.1)
        xcsf = lake_learner(Parameters(N=300), 6, n_environments)
        for steps in pieces:
            train(xcsf, world, steps)
        learners.append(xcsf)
    at_once, in_pieces = learners
    assert columns(at_once) == columns(in_pieces)
    assert stream_states(at_once) == stream_states(in_pieces)
    assert at_once.events == in_pieces.events


def test_each_environment_has_its_own_episode() -> None:
    xcsf = Xcsf(Parameters(), (0,), (7,), 1, seed=1, n_environments=2)
    for environment, position in ((0, 1), (1, 6)):
        xcsf.act((position,), environment, explore=False)
        xcsf.learn(0.0, (position,), terminated=False, truncated=False, environment=environment)
    assert (xcsf.t, xcsf.events["updates"]) == (2, 0)
    xcsf.act((1,), 0, explore=False)
    xcsf.learn(1.0, (1,), terminated=True, truncated=False, environment=0)
    assert xcsf.events["updates"] == 2
    assert xcsf.episodes[0].previous_set is None
    assert xcsf.episodes[1].previous_observation == (6,)


def test_another_seed_gives_another_population() -> None:
    populations: list[Any] = []
    for seed in (1, 2):
        xcsf = lake_learner(Parameters(), seed)
        train(xcsf, frozen_lake(MAP_4X4), 200)
        populations.append(columns(xcsf))
    assert populations[0] != populations[1]


@pytest.mark.slow
def test_the_way_of_the_authors_program_at_slip_0() -> None:
    """One instance beside one of the authors' (0.155, 0.74, 658 at 20,000 steps; 0.132, 0.81, 578).

    The bands are wide for one instance against one: half to one and a half of the MAE, 0.2 of
    accuracy, and 150 rules. They catch an algorithm that is wrong, not a seed.
    """
    world = frozen_lake(MAP_8X8)
    q = q_star(world)
    xcsf = Xcsf(Parameters(), (0, 0), (7, 7), 4, seed=1)
    for mae, accuracy, n_rules in ((0.155, 0.74, 658), (0.132, 0.81, 578)):
        train(xcsf, world, 20_000)
        error, right = 0.0, 0
        for state in world.start:
            row = [xcsf.q_value(world.observation[state], action) for action in range(4)]
            learned = [value for value in row if value is not None]
            assert len(learned) == 4
            error += sum(abs(a - b) for a, b in zip(learned, q[state], strict=True)) / 4
            right += q[state][learned.index(max(learned))] > max(q[state]) - 1e-9
        assert error / 53 == pytest.approx(mae, rel=0.5)
        assert right / 53 == pytest.approx(accuracy, abs=0.2)
        assert len(xcsf.rules) == pytest.approx(n_rules, abs=150)
        assert sum(rule.numerosity for rule in xcsf.rules) == 5000


# ---- The world and rollouts ----


def test_the_lake_has_the_values_of_the_page() -> None:
    for slip, value, n_double in ((0.0, 0.51334, 23), (0.1, 0.42559, 0)):
        q = q_star(frozen_lake(MAP_8X8, slip))
        assert len(q) == 53
        assert max(q[0]) == pytest.approx(value, abs=5e-6)
        doubles = [row for row in q.values() if sum(v > max(row) - 1e-9 for v in row) > 1]
        assert len(doubles) == n_double


def test_rollouts_to_the_digit() -> None:
    policy = policy_of(q_star(frozen_lake(MAP_8X8, 0.1)), 64)
    rolled = roll_out(policy, 0.1)
    assert rolled.mean_steps == pytest.approx(15.44, abs=1e-12)
    assert (rolled.max_steps, rolled.rollouts, rolled.successes) == (20, 115, 100)
    policy[6] = policy[8 + 6] = 2
    rolled = roll_out(policy, 0.1)
    assert rolled.mean_steps == pytest.approx(15.38, abs=1e-12)
    assert (rolled.max_steps, rolled.rollouts, rolled.successes) == (20, 116, 100)


def test_a_policy_that_never_arrives_has_no_steps_to_goal() -> None:
    rolled = roll_out([0] * 64, 0.0)
    assert (rolled.mean_steps, rolled.max_steps) == (None, None)
    assert (rolled.rollouts, rolled.successes) == (150, 0)
