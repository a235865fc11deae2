"""What every compaction method owes: all of them run this list."""

import dataclasses
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from populations import grid_observations, random_rules, trained_rules
from xcskit.compaction import (
    LOSSES,
    MASSES,
    METHODS,
    Cra2,
    Fu,
    Gnmc,
    Method,
    Minimal,
    Pdrc,
    Qrc,
    Threshold,
    compact,
    model_niches,
)
from xcskit.compaction.report import method_label
from xcskit.errors import CompactionError, HoleError
from xcskit.mdp import Solution, frozen_lake, policy_iteration
from xcskit.rules import Niches, RuleSet


class Case(NamedTuple):
    """A method, and whether it promises a rule in every niche, and to drop what matches none."""

    method: Method
    keeps_cover: bool = True
    drops_idle: bool = True


CASES = [
    Case(Gnmc()),
    Case(Gnmc(mass="tan", rho=0.3)),
    Case(Gnmc(mass=lambda table: table["fitness"] ** 2)),
    Case(Pdrc()),
    Case(Cra2()),
    Case(Qrc()),
    Case(Qrc(mass="experience")),
    *(Case(Fu(loss=loss, tolerance=0.002)) for loss in LOSSES),
    Case(Fu(tolerance=0.0, order="fitness")),
    Case(Threshold(), drops_idle=False),
    Case(Threshold(column="fitness", at_least=0.2), drops_idle=False),
    Case(Threshold(at_least=1000.0, repair=False), keeps_cover=False, drops_idle=False),
    Case(Minimal(within=0.1)),
    Case(Minimal(within=0.2, weights="microclassifiers")),
]


def label(case: Case) -> str:
    return method_label(case.method)


@pytest.fixture(scope="module")
def solution() -> Solution:
    return policy_iteration(frozen_lake("8x8", slip=0.1), 0.95)


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    """A trained population, and one rule more that matches a terminal cell alone."""
    trained = trained_rules(7, 2000, 200)
    lonely = trained[[*range(len(trained)), 0]]
    columns = {name: data.copy() for name, data in lonely.columns.items()}
    for name, value in {"x_lower": 3, "x_upper": 3, "y_lower": 2, "y_upper": 2}.items():
        columns[name][-1] = value
    return dataclasses.replace(lonely, columns=columns)


@pytest.fixture(scope="module")
def niches(rules: RuleSet, solution: Solution) -> Niches:
    return model_niches(rules, solution.mdp)


def test_every_method_in_the_table_is_tested() -> None:
    assert {case.method.name for case in CASES} == set(METHODS)
    assert all(METHODS[name]().name == name for name in METHODS)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_compaction_keeps_rules_as_they_are_and_in_order(
    case: Case, rules: RuleSet, niches: Niches, solution: Solution
) -> None:
    before = rules.to_polars()
    kept = case.method.select(rules, niches, solution)
    assert kept.shape == (len(rules),)
    assert kept.dtype == np.bool_
    small = compact(rules, niches, case.method, solution)
    assert small == rules[kept]
    assert len(small) < len(rules)
    assert rules.to_polars().equals(before)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_no_hole_is_opened_where_that_is_promised(
    case: Case, rules: RuleSet, niches: Niches, solution: Solution
) -> None:
    kept = case.method.select(rules, niches, solution)
    assert (niches.keep(kept).sizes.min() >= 1) == case.keeps_cover


@pytest.mark.parametrize("case", CASES, ids=label)
def test_rules_that_match_no_state_go_where_that_is_promised(
    case: Case, rules: RuleSet, niches: Niches, solution: Solution
) -> None:
    columns = {name: data.copy() for name, data in rules.columns.items()}
    columns["experience"][-1] = 10_000
    columns["fitness"][-1] = 1.0
    columns["numerosity"][-1] = 100
    strong = dataclasses.replace(rules, columns=columns)
    assert case.method.select(strong, niches, solution)[-1] == (not case.drops_idle)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_compaction_is_deterministic(
    case: Case, rules: RuleSet, niches: Niches, solution: Solution
) -> None:
    once, again = (case.method.select(rules, niches, solution) for _ in range(2))
    assert (once == again).all()


@pytest.mark.parametrize("case", CASES, ids=label)
def test_what_was_done_is_written_down(
    case: Case, rules: RuleSet, niches: Niches, solution: Solution, tmp_path: Path
) -> None:
    small = compact(rules, niches, case.method, solution)
    small.save(tmp_path / "small.parquet")
    loaded = RuleSet.load(tmp_path / "small.parquet")
    assert loaded == small
    words = loaded.metadata["compaction"]
    assert words == json.loads(json.dumps(words))
    assert words["method"] == case.method.name
    assert loaded.metadata["trained by"] == "oracle"


@pytest.mark.parametrize("case", CASES, ids=label)
def test_ties_in_everything_are_handled(case: Case) -> None:
    """A population of equal rules twice over, on any list of states."""
    rules = random_rules(5, 20, n_fitnesses=1)
    rules = rules[np.repeat(np.arange(20), 2)]
    niches = Niches.of(rules, grid_observations(rules.space))
    if isinstance(case.method, Fu) and case.method.loss in {"mean_absolute_error", "regret"}:
        with pytest.raises(CompactionError, match="needs the optimum"):
            compact(rules, niches, case.method)
    else:
        kept = case.method.select(rules, niches, None)
        assert (niches.keep(kept).sizes.min() >= 1) == case.keeps_cover


@pytest.mark.parametrize("case", CASES, ids=label)
def test_bad_input_is_one_clear_error(case: Case, rules: RuleSet, niches: Niches) -> None:
    with pytest.raises(CompactionError, match="an empty rule set cannot be compacted"):
        compact(rules[[]], niches, case.method)
    with pytest.raises(CompactionError, match="these niches belong to"):
        compact(rules[:-1], niches, case.method)
    patchy = rules[:10]
    with pytest.raises(HoleError, match=r"state-action pairs are matched by no rule.*\(x=0, y=0\)"):
        compact(patchy, Niches.of(patchy, niches.observations), case.method)


@pytest.mark.parametrize("mass", MASSES)
def test_methods_that_sort_by_mass_take_every_mass(
    mass: str, rules: RuleSet, niches: Niches
) -> None:
    for method in (Qrc(mass=mass), Fu(order=mass)):
        assert 0 < len(compact(rules, niches, method)) < len(rules)
