"""The certified minimum, against brute force, and on the niches themselves."""

import dataclasses
from itertools import product
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from populations import grid_observations, random_rules, trained_rules
from xcskit.compaction import (
    Minimal,
    compact,
    coverage,
    gnmc_path,
    minimal_rules,
    model_niches,
    no_farther_than,
    same_policy,
    within,
    within_optimum,
)
from xcskit.compaction.bounds import Bounds
from xcskit.errors import CompactionError, ConfigurationError, HoleError, SolverError
from xcskit.kernels.predictions import Constant
from xcskit.mdp import Solution, frozen_lake, policy_iteration
from xcskit.rules import Niches, RuleSet
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Floats

SMALL = IntegerSpace.grid(3, 2)


@pytest.fixture(scope="module")
def solution() -> Solution:
    return policy_iteration(frozen_lake("8x8", slip=0.1), 0.95)


def small_task(seed: int, n_rules: int = 10) -> tuple[RuleSet, Niches]:
    rules = random_rules(seed, n_rules, space=SMALL)
    return rules, Niches.of(rules, grid_observations(SMALL))


def is_valid(rules: RuleSet, niches: Niches, kept: Bools, bounds: Bounds) -> bool:
    values = niches.values_of(rules.fitness, kept, np.arange(niches.n_niches))
    values = values.reshape(niches.is_hole.shape)
    return bool(((values >= bounds[0]) & (values <= bounds[1])).all())


def least_weight(rules: RuleSet, niches: Niches, bounds: Bounds, costs: Floats) -> float | None:
    """Try every selection."""
    selections = (np.array(bits) for bits in product((False, True), repeat=len(rules)))
    valid = [float(costs @ kept) for kept in selections if is_valid(rules, niches, kept, bounds)]
    return min(valid) if valid else None


@pytest.mark.parametrize("seed", range(12))
def test_the_minimum_is_that_of_brute_force(seed: int) -> None:
    rules, niches = small_task(seed)
    values = niches.q_values(rules.fitness)
    random = np.random.default_rng(seed)
    target = values + random.normal(0.0, 0.2, values.shape)
    cases: list[Bounds] = [
        coverage(niches),
        same_policy(rules, niches),
        (np.minimum(target, values), np.full(values.shape, np.inf)),
        *(within(rules, niches, epsilon) for epsilon in (0.0, 0.05, 0.3)),
    ]
    for bounds in cases:
        for weights, costs in (
            ("rules", np.ones(len(rules))),
            ("microclassifiers", rules.numerosity.astype(float)),
            (rules.fitness, rules.fitness),
        ):
            found = minimal_rules(rules, niches, *bounds, weights=weights)
            assert found.status == "optimal"
            assert found.weight == pytest.approx(least_weight(rules, niches, bounds, costs))
            assert found.weight == pytest.approx(costs @ found.kept)
            assert found.gap <= 2e-6
            assert is_valid(rules, niches, found.kept, bounds)
            assert found.rules == rules[found.kept]


def test_bounds_that_no_selection_keeps_are_said_to_be_so() -> None:
    for seed in range(8):
        rules, niches = small_task(seed)
        values = niches.q_values(rules.fitness)
        lower = values.copy()
        lower[0, 0] = niches.predictions[: niches.first[1]].max() + 1e-3
        with pytest.raises(CompactionError, match=r"no selection keeps \(x=0, y=0\) left within"):
            minimal_rules(rules, niches, lower)
        assert least_weight(rules, niches, (lower, np.full_like(values, np.inf)), values) is None


def test_bounds_that_only_contradict_together_are_said_to_be_so() -> None:
    """One rule is all there is of two niches, and cannot be in one and out of the other."""
    rules = random_rules(1, 4, space=SMALL, prediction=Constant())
    columns: dict[str, Any] = {
        "action": [0, 0, 1, 1],
        "x_lower": [0, 0, 0, 0],
        "x_upper": [0, 2, 2, 2],
        "y_lower": [0] * 4,
        "y_upper": [1] * 4,
        "prediction": [0.0, 1.0, 0.0, 0.0],
        "fitness": [0.5] * 4,
    }
    rules = dataclasses.replace(rules, columns={**rules.columns, **columns})
    niches = Niches.of(rules, [[0, 0], [1, 0]])
    upper = np.array([[0.4, 1.0], [1.0, 1.0]])
    with pytest.raises(CompactionError, match="no selection of the rules keeps every niche"):
        minimal_rules(rules, niches, 0.0, upper)
    assert minimal_rules(rules, niches, 0.0, upper + 0.2).weight == 3


def lopsided() -> tuple[RuleSet, Niches, Bounds]:
    """Two niches: rule 1 suits the second, and outweighs rule 2 in the first, where it is wrong.

    Beside rule 0, of a fitness a billion times theirs, neither counts for a solver's tolerance.
    """
    rules = random_rules(1, 4, space=SMALL, n_actions=1, prediction=Constant())
    columns: dict[str, Any] = {
        "prediction": [0.5, 0.9, 0.5, 0.9],
        "fitness": [1.0, 1e-9, 1e-12, 1.0],
        "numerosity": [9, 1, 1, 20],
        "x_lower": [0, 0, 0, 1],
        "x_upper": [0, 1, 0, 1],
        "y_lower": [0] * 4,
        "y_upper": [1] * 4,
    }
    rules = dataclasses.replace(rules, columns={**rules.columns, **columns})
    niches = Niches.of(rules, [[0, 0], [1, 0]])
    return rules, niches, (np.array([[0.49], [0.8]]), np.array([[0.51], [1.0]]))


def test_selections_that_only_the_solvers_tolerance_allows_are_cut_off() -> None:
    rules, niches, bounds = lopsided()
    found = minimal_rules(rules, niches, *bounds, weights="microclassifiers")
    assert found.n_cuts > 0
    assert found.kept.tolist() == [True, True, False, False]
    assert (found.status, found.weight, found.bound) == ("optimal", 10.0, 10.0)
    assert found.weight == least_weight(rules, niches, bounds, rules.numerosity.astype(float))


def test_gnmc_could_have_used_fewer_rules_at_its_own_fidelity(solution: Solution) -> None:
    for seed in range(3):
        rules = trained_rules(seed)
        niches = model_niches(rules, solution.mdp)
        kept = gnmc_path(rules, niches).kept(0.99)
        bounds = no_farther_than(rules, niches, kept, solution)
        found = minimal_rules(rules, niches, *bounds, start=kept)
        assert found.status == "optimal"
        assert found.weight <= kept.sum()
        ours = np.abs(found.rules.q_values(niches.observations) - solution.q[solution.mdp.states])
        theirs = rules[kept].q_values(niches.observations) - solution.q[solution.mdp.states]
        assert (ours <= np.abs(theirs) + 1e-9 + 1e-15).all()


def test_the_policy_can_be_kept(solution: Solution) -> None:
    rules = trained_rules(1)
    niches = model_niches(rules, solution.mdp)
    found = minimal_rules(rules, niches, *same_policy(rules, niches))
    observations = niches.observations
    assert (found.rules.policy(observations) == rules.policy(observations)).all()
    assert found.weight < minimal_rules(rules, niches, *within(rules, niches, 0.001)).weight


def test_ties_of_the_policy_go_to_the_lowest_action() -> None:
    """Action 1 is greedy by a hair; a selection that ties it with action 0 would not do."""
    rules = random_rules(1, 4, space=SMALL, prediction=Constant())
    columns: dict[str, Any] = {
        "action": [0, 1, 1, 0],
        "prediction": [0.5, 0.5, 0.5 + 2e-16, 0.4],
        "fitness": [0.5, 0.5, 1.0, 0.5],
        "x_lower": [0] * 4,
        "x_upper": [2] * 4,
        "y_lower": [0] * 4,
        "y_upper": [1] * 4,
    }
    rules = dataclasses.replace(rules, columns={**rules.columns, **columns})
    niches = Niches.of(rules, grid_observations(SMALL))
    assert set(rules.policy(niches.observations).tolist()) == {1}
    found = minimal_rules(rules, niches, *same_policy(rules, niches))
    assert set(found.rules.policy(niches.observations).tolist()) == {1}


def test_coverage_alone_needs_fewest(solution: Solution) -> None:
    rules = trained_rules(1)
    niches = model_niches(rules, solution.mdp)
    found = minimal_rules(rules, niches)
    assert niches.keep(found.kept).sizes.min() >= 1
    assert found.weight == found.bound < gnmc_path(rules, niches).kept(0.99).sum()
    assert found.weight == minimal_rules(rules, niches, *coverage(niches)).weight


def test_bounds_around_the_optimum(solution: Solution) -> None:
    rules = trained_rules(1)
    niches = model_niches(rules, solution.mdp)
    best = solution.q[solution.mdp.states]
    farthest = float(np.abs(niches.q_values(rules.fitness) - best).max())
    found = minimal_rules(rules, niches, *within_optimum(niches, solution, farthest + 1e-9))
    assert np.abs(found.rules.q_values(niches.observations) - best).max() <= farthest + 2e-9
    with pytest.raises(CompactionError, match="widen the bounds"):
        minimal_rules(rules, niches, *within_optimum(niches, solution, 1e-6))


def test_when_time_ends_the_best_found_is_valid_and_says_what_is_proven(solution: Solution) -> None:
    rules = trained_rules(2)
    niches = model_niches(rules, solution.mdp)
    bounds = within(rules, niches, 0.003)
    found = minimal_rules(rules, niches, *bounds, time_limit=1e-6)
    assert found.status == "time_limit"
    assert is_valid(rules, niches, found.kept, bounds)
    assert 0 <= found.bound <= found.weight < len(rules)
    assert found.gap == found.weight - found.bound
    start = minimal_rules(rules, niches, *within(rules, niches, 0.1), time_limit=20).kept
    loose = within(rules, niches, 0.5)
    assert minimal_rules(rules, niches, *loose, time_limit=1e-6, start=start).weight <= start.sum()


def test_when_time_ends_with_nothing_found_it_is_an_error(solution: Solution) -> None:
    rules = trained_rules(2)
    niches = model_niches(rules, solution.mdp)
    values = niches.q_values(rules.fitness)
    bounds = (values + 1e-9, np.full(values.shape, np.inf))
    with pytest.raises(
        CompactionError, match="no selection within the bounds was found in 1e-06 s"
    ):
        minimal_rules(rules, niches, *bounds, time_limit=1e-6)


def test_a_solver_that_contradicts_a_known_selection_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules, niches = small_task(1)
    for status, message in ((2, "known to keep"), (4, "gave up")):
        answer = SimpleNamespace(status=status, x=None, mip_dual_bound=None, message="")
        monkeypatch.setattr("scipy.optimize.milp", Mock(return_value=answer))
        with pytest.raises(SolverError, match=message):
            minimal_rules(rules, niches)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": np.nan}, "lower must be a number or an array of shape"),
        ({"lower": "low"}, "lower must be a number or an array of shape"),
        ({"weights": None}, "weights are 10 finite numbers"),
        ({"upper": np.ones(3)}, "upper must be a number or an array of shape"),
        ({"lower": 1.0, "upper": 0.0}, r"\(x=0, y=0\) left contradict each other: 1.0 to 0.0"),
        ({"weights": np.ones(3)}, "weights are 10 finite numbers"),
        ({"weights": np.full(10, -1.0)}, "weights are 10 finite numbers"),
        ({"upper": 100.0, "start": np.zeros(10, dtype=bool)}, "start is not within the bounds"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CompactionError, match=message):
        minimal_rules(*small_task(1), **arguments)


@pytest.mark.parametrize(
    "start", [[True], np.ones(10), np.ones((10, 1), dtype=bool), np.zeros(0, dtype=bool), "all"]
)
def test_masks_that_are_none_never_reach_compiled_code(start: Any, solution: Solution) -> None:
    """One too short would be read beyond its end."""
    rules, niches = small_task(1)
    with pytest.raises(ConfigurationError, match="start is a mask, True or False for each of 10"):
        minimal_rules(rules, niches, start=start)
    with pytest.raises(ConfigurationError, match="kept is a mask"):
        no_farther_than(rules, niches, start, solution)
    with pytest.raises(ConfigurationError, match="kept is a mask"):
        niches.keep(start)


def test_niches_check_what_they_are_given() -> None:
    rules, niches = small_task(1)
    every = np.ones(10, dtype=np.bool_)
    with pytest.raises(ConfigurationError, match="fitness is a number for each of 10 rules"):
        niches.q_values(rules.fitness[:3])
    for wrong in (-1, niches.n_niches):
        with pytest.raises(ConfigurationError, match=f"niches are 0 to {niches.n_niches - 1}"):
            niches.values_of(rules.fitness, every, np.array([0, wrong]))


@pytest.mark.parametrize(
    "arguments", [{"weights": "fitness"}, {"time_limit": 0.0}, {"time_limit": np.nan}]
)
def test_bad_settings_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        minimal_rules(*small_task(1), **arguments)
    with pytest.raises(ConfigurationError):
        Minimal(**arguments)


def test_what_does_not_fit_is_refused(solution: Solution) -> None:
    rules, niches = small_task(1)
    with pytest.raises(CompactionError, match="empty"):
        minimal_rules(rules[[]], niches)
    with pytest.raises(ConfigurationError, match="epsilon"):
        within(rules, niches, -0.1)
    patchy = random_rules(1, 5, covers_all=False)
    with pytest.raises(HoleError):
        minimal_rules(patchy, Niches.of(patchy, grid_observations(patchy.space)))
    rules = trained_rules(1)
    niches = model_niches(rules, solution.mdp)
    with pytest.raises(CompactionError, match="without a rule"):
        no_farther_than(rules, niches, np.zeros(len(rules), dtype=bool), solution)


def test_as_a_method() -> None:
    rules, niches = small_task(1)
    small = compact(rules, niches, Minimal(within=0.1))
    expected = minimal_rules(rules, niches, *within(rules, niches, 0.1))
    assert len(small) == expected.weight
    assert small.metadata["compaction"]["within"] == 0.1
    ours, full = (each.q_values(niches.observations) for each in (small, rules))
    assert np.abs(ours - full).max() <= 0.1
