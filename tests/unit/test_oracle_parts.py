"""The oracle's parts against cases worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from oracle.arithmetic import first_beyond, power
from oracle.conditions import (
    Space,
    contains,
    cover,
    cross,
    generality,
    matches,
    mutate,
    repair,
    to_intervals,
)
from oracle.deletion import choose_victim, lane_sum, mean_fitness
from oracle.gnmc import gnmc
from oracle.parameters import Parameters
from oracle.predictions import inputs, learn_constant, learn_nlms, learn_rls
from oracle.rule import Rule, subsumes
from oracle.selection import select_parent
from oracle.streams import draw_outcome, new_streams

GRID = Space((0, 0), (7, 7))


class Scripted:
    """A stream that gives the doubles it was told."""

    def __init__(self, draws: Sequence[float]) -> None:
        self.draws = list(draws)

    def random(self) -> float:
        return self.draws.pop(0)


def make_rule(
    alleles: Sequence[int] = (0, 7, 0, 7),
    *,
    action: int = 0,
    fitness: float = 0.1,
    error: float = 0.0,
    experience: int = 0,
    action_set_size: float = 1.0,
    numerosity: int = 1,
) -> Rule:
    return Rule(
        alleles=list(alleles),
        intervals=to_intervals(Parameters(), alleles),
        action=action,
        weights=[0.0, 0.0, 0.0],
        covariance=[],
        error=error,
        minimum_error=0.0,
        fitness=fitness,
        time_stamp=0,
        experience=experience,
        action_set_size=action_set_size,
        numerosity=numerosity,
    )


# ---- Streams ----


def test_streams_are_the_spawned_children_of_a_seed() -> None:
    streams = new_streams(7)
    child = np.random.SeedSequence(7).spawn(4)[2]
    raw = np.random.PCG64(child).random_raw(3)
    assert [streams["discovery"].random() for _ in range(3)] == [
        int(word >> 11) * 2.0**-53 for word in raw.tolist()
    ]


@pytest.mark.parametrize(("u", "index"), [(0.0, 1), (0.49, 1), (0.5, 2), (0.99, 2), (0.9999, 2)])
def test_an_outcome_is_the_first_whose_cumulative_probability_exceeds_u(
    u: float, index: int
) -> None:
    assert draw_outcome(Scripted([u]), [0.0, 0.5, 0.9999]) == index


# ---- Arithmetic ----


def test_whole_powers_square_repeatedly_from_the_low_bit() -> None:
    base = 0.3
    assert power(base, 5.0) == base * ((base * base) * (base * base))
    assert power(base, 6) == (base * base) * ((base * base) * (base * base))
    assert power(base, 0.0) == 1.0
    assert power(base, 2.5) == pytest.approx(0.3**2.5)


def test_a_wheel_stops_at_the_first_running_sum_beyond_the_target() -> None:
    assert first_beyond([1.0, 0.0, 2.0], 0.9) == (0, 0.0)
    assert first_beyond([1.0, 0.0, 2.0], 1.0) == (2, 1.0)
    assert first_beyond([1.0, 2.0, 0.0], 3.0) == (1, 1.0)
    assert first_beyond([1.0, 2.0], 5.5, running=4.0) == (1, 5.0)


# ---- Conditions ----


def test_covering_draws_both_bounds_apart_and_clips_them() -> None:
    draws = [0.0, 0.99, 0.99, 0.34]
    assert cover(Parameters(), GRID, (1, 6), Scripted(draws)) == [0, 4, 3, 4]
    unordered = Parameters(condition="unordered_bounds")
    assert cover(unordered, GRID, (1, 6), Scripted(draws)) == [0, 4, 3, 7]


def test_covering_with_r0_of_2_reaches_one_value_to_either_side() -> None:
    assert cover(Parameters(r_0=2), GRID, (3, 0), Scripted([0.9, 0.9, 0.1, 0.1])) == [2, 2, 0, 1]


@pytest.mark.parametrize(
    ("alleles", "repaired"),
    [
        ([-2, 3, 5, 9], [0, 3, 5, 2]),
        ([9, 1, 3, -1], [7, 0, 3, 0]),
        ([2, 5, 0, 7], [2, 5, 0, 7]),
    ],
)
def test_min_span_repair_clips_the_minimum_then_the_span(
    alleles: list[int], repaired: list[int]
) -> None:
    assert repair(Parameters(), GRID, alleles) == repaired


def test_unordered_bounds_are_clipped_one_by_one_and_keep_their_order() -> None:
    parameters = Parameters(condition="unordered_bounds")
    assert repair(parameters, GRID, [9, -1, 4, 2]) == [7, 0, 4, 2]
    assert to_intervals(parameters, [7, 0, 4, 2]) == [(0, 7), (2, 4)]


def test_matching_and_generality_of_an_interval() -> None:
    intervals = to_intervals(Parameters(), [2, 3, 0, 1])
    assert intervals == [(2, 5), (0, 1)]
    assert matches(intervals, (2, 1))
    assert matches(intervals, (5, 0))
    assert not matches(intervals, (6, 0))
    assert not matches(intervals, (5, 2))
    assert generality(GRID, intervals) == 6 / 16
    assert contains([(2, 5), (0, 1)], [(2, 5), (1, 1)])
    assert not contains([(2, 5), (0, 1)], [(3, 6), (1, 1)])


def test_uniform_crossover_swaps_each_allele_where_u_is_below_upsilon() -> None:
    stream = Scripted([0.4, 0.5, 0.9, 0.0])
    assert cross(Parameters(), [1, 2, 3, 4], [5, 6, 7, 8], stream) == ([5, 2, 3, 8], [1, 6, 7, 4])


@pytest.mark.parametrize(
    ("draws", "children"),
    [
        ([0.7, 0.3], ([1, 6, 7, 4], [5, 2, 3, 8])),
        ([0.99, 0.0], ([5, 6, 7, 8], [1, 2, 3, 4])),
        ([0.5, 0.5], ([1, 2, 3, 4], [5, 6, 7, 8])),
    ],
)
def test_two_point_crossover_swaps_what_lies_between_the_cuts(
    draws: list[float], children: tuple[list[int], list[int]]
) -> None:
    parameters = Parameters(crossover="two_point")
    assert cross(parameters, [1, 2, 3, 4], [5, 6, 7, 8], Scripted(draws)) == children


def test_mutation_draws_magnitude_then_sign_only_where_an_allele_mutates() -> None:
    stream = Scripted([0.04, 0.99, 0.49, 0.05, 0.0, 0.6, 0.5, 0.9])
    assert mutate(Parameters(), [1, 1, 1, 1], stream) == [4, 1, -1, 1]
    assert stream.draws == []


# ---- Predictions ----


def test_inputs_of_both_degrees() -> None:
    assert inputs(Parameters(), (3, 5)) == [10.0, 3.0, 5.0]
    assert inputs(Parameters(degree=2), (3, 5)) == [10.0, 3.0, 5.0, 9.0, 15.0, 25.0]


def test_one_nlms_step_equals_the_formula() -> None:
    weights, z, d = [0.1, -0.2, 0.3], [10.0, 3.0, 5.0], 0.7
    expected = np.array(weights) + 0.1 * d * np.array(z) / (np.array(z) @ np.array(z))
    np.testing.assert_allclose(learn_nlms(Parameters(), weights, z, d), expected, rtol=1e-15)


def test_rls_solves_the_weighted_regularised_least_squares_problem() -> None:
    parameters = Parameters(prediction="rls", forgetting=0.9, delta_rls=4.0)
    rng = np.random.default_rng(5)
    samples = np.column_stack([np.full(12, 10.0), rng.integers(0, 8, (12, 2))])
    targets = rng.random(12)
    weights, covariance = [0.0] * 3, [[4.0 * (i == j) for j in range(3)] for i in range(3)]
    for z, target in zip(samples.tolist(), targets.tolist(), strict=True):
        d = target - float(np.dot(weights, z))
        weights, covariance = learn_rls(parameters, weights, covariance, z, d)
    discount = 0.9 ** np.arange(11, -1, -1)
    information = samples.T @ (discount[:, None] * samples) + 0.9**12 * np.eye(3) / 4.0
    np.testing.assert_allclose(covariance, np.linalg.inv(information), rtol=1e-8)
    solution = np.linalg.solve(information, samples.T @ (discount * targets))
    np.testing.assert_allclose(weights, solution, rtol=1e-8)


def test_a_constant_averages_and_then_follows() -> None:
    parameters = Parameters(prediction="constant")
    assert learn_constant(parameters, [0.5], 0.3, 3) == [0.5 + 0.3 / 3]
    assert learn_constant(parameters, [0.5], 0.3, 10) == [0.5 + 0.1 * 0.3]


# ---- Subsumption ----


@pytest.mark.parametrize(
    ("parent", "does"),
    [
        (make_rule((0, 4, 0, 4), experience=51, error=0.009), True),
        (make_rule((0, 4, 0, 4), experience=50, error=0.009), False),
        (make_rule((0, 4, 0, 4), experience=51, error=0.01), False),
        (make_rule((0, 4, 0, 4), experience=51, action=1), False),
        (make_rule((1, 2, 1, 2), experience=51), False),
        (make_rule((2, 4, 0, 4), experience=51), False),
    ],
    ids=["subsumes", "young", "inaccurate", "other action", "same interval", "not containing"],
)
def test_when_a_parent_subsumes(parent: Rule, *, does: bool) -> None:
    assert subsumes(Parameters(), GRID, parent, make_rule((1, 2, 1, 2))) is does


# ---- Selection ----


def test_a_tournament_is_won_by_the_fittest_and_on_ties_by_the_first_drawn() -> None:
    rules = [make_rule(fitness=fitness) for fitness in (0.2, 0.5, 0.5, 0.1, 0.9)]
    assert select_parent(Parameters(), rules, Scripted([0.5, 0.3, 0.7])) is rules[2]
    assert select_parent(Parameters(), rules, Scripted([0.0, 0.3, 0.5])) is rules[1]


def test_a_micro_tournament_repeats_until_somebody_takes_part() -> None:
    parameters = Parameters(selection="micro_tournament")
    rules = [
        make_rule(fitness=0.8, numerosity=4),
        make_rule(fitness=0.3, numerosity=1),
        make_rule(fitness=0.3, numerosity=1),
    ]
    nobody, last_two = [0.9375, 0.5, 0.5], [0.94, 0.4, 0.4]
    assert select_parent(parameters, rules, Scripted(nobody + last_two)) is rules[1]
    assert select_parent(parameters, rules, Scripted([0.93, 0.6, 0.6])) is rules[0]


def test_roulette_is_in_proportion_to_fitness() -> None:
    parameters = Parameters(selection="roulette")
    rules = [make_rule(fitness=fitness) for fitness in (0.25, 0.5, 0.25)]
    chosen = [
        rules.index(select_parent(parameters, rules, Scripted([u]))) for u in (0.2, 0.25, 0.74, 0.8)
    ]
    assert chosen == [0, 1, 1, 2]


# ---- Deletion ----


def test_mean_fitness_weighs_by_numerosity_or_not() -> None:
    slots = [make_rule(fitness=0.5, numerosity=3), None, make_rule(fitness=0.25)]
    assert mean_fitness(Parameters(), slots) == 1.75 / 4
    assert mean_fitness(Parameters(deletion_mean="butz_wilson"), slots) == 0.75 / 4


@pytest.mark.parametrize(
    ("u", "victim"), [(0.0, 0), (0.19, 0), (0.21, 2), (0.49, 2), (0.51, 3), (0.99, 3)]
)
def test_the_deletion_wheel_has_the_votes_of_the_page(u: float, victim: int) -> None:
    # Fbar = (1 + 1 + 0.04 * 2) / 4 = 0.52; the last is poor: 0.02 < 0.1 * Fbar, so that its vote
    # of 0.5 * 2 is multiplied by 0.52 / 0.02. Votes 10.4, none, 15.6, 26.
    slots: list[Rule | None] = [
        make_rule(fitness=1.0, action_set_size=10.4, experience=99),
        None,
        make_rule(fitness=1.0, action_set_size=15.6),
        make_rule(fitness=0.04, action_set_size=0.5, numerosity=2, experience=51),
    ]
    assert choose_victim(Parameters(), slots, Scripted([u])) is slots[victim]


def test_a_poor_rule_is_spared_the_penalty_while_it_lacks_experience() -> None:
    slots: list[Rule | None] = [
        make_rule(fitness=1.0, action_set_size=1.0),
        make_rule(fitness=0.04, action_set_size=1.0, experience=50),
    ]
    assert choose_victim(Parameters(), slots, Scripted([0.49])) is slots[0]
    slots[1] = make_rule(fitness=0.04, action_set_size=1.0, experience=51)
    assert choose_victim(Parameters(), slots, Scripted([0.49])) is slots[1]


def test_the_grouped_wheel_agrees_with_a_plain_one() -> None:
    # Whole votes, so that every order of additions gives the same sums.
    rng = np.random.default_rng(11)
    slots: list[Rule | None] = [
        None if u < 0.3 else make_rule(action_set_size=float(int(u * 50)))
        for u in rng.random(64 * 64 + 200).tolist()
    ]
    votes: list[float] = [0.0 if rule is None else rule.action_set_size for rule in slots]
    cumulative = np.array(votes).cumsum()
    wheel = rng.random(40).tolist()
    for u, expected in zip(
        wheel,
        np.searchsorted(cumulative, np.array(wheel) * sum(votes), "right").tolist(),
        strict=True,
    ):
        assert choose_victim(Parameters(), slots, Scripted([u])) is slots[expected]


def test_a_lane_sum_adds_lanes_of_eight_and_then_pairs() -> None:
    values = np.random.default_rng(3).random(64)
    lanes = np.zeros(8)
    for start in range(0, 64, 8):
        lanes += values[start : start + 8]
    pairs = lanes[0::2] + lanes[1::2]
    assert lane_sum(values.tolist()) == (pairs[0] + pairs[1]) + (pairs[2] + pairs[3])
    assert lane_sum(values[:20].tolist()) == lane_sum([*values[:20].tolist(), *[0.0] * 44])


# ---- Compaction ----


@pytest.mark.parametrize(
    ("rho", "kept"),
    [
        (0.0, {0, 1, 2, 3}),
        (0.1, {0, 1, 2, 3}),
        (0.125, {0, 1, 2}),
        (0.24, {0, 1, 2}),
        (0.25, {0, 1}),
        (0.49, {0, 1}),
        (0.5, {1}),
        (0.99, {1}),
    ],
)
def test_gnmc_by_hand(rho: float, kept: set[int]) -> None:
    # Niche one: 1 (2.0), 0 (1.0), 2 (1.0) of 4: kept while the mass before is below (1 - rho) * 4.
    # Niche two: 1 (2.0), 3 (0.25) of 2.25: 3 stays while 2 < (1 - rho) * 2.25.
    assert gnmc([1.0, 2.0, 1.0, 0.25], [[0, 1, 2], [], [1, 3]], rho) == kept


def test_gnmc_keeps_all_of_a_niche_at_rho_0_but_what_rounds_to_nothing() -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        masses: list[float] = rng.uniform(1e-9, 1.0, 9).tolist()
        assert gnmc(masses, [range(9)], 0.0) == set(range(9))
    assert gnmc([1.0, 1e-17], [[0, 1]], 0.0) == {0}
