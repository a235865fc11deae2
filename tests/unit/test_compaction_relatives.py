"""What single compaction methods promise, and the report that compares them."""

import io
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from rich.console import Console

from populations import grid_observations, random_rules, trained_rules
from xcskit.compaction import (
    CompactionReport,
    Cra2,
    Fu,
    Gnmc,
    Method,
    Minimal,
    Pdrc,
    Qrc,
    Threshold,
    compact,
    gnmc_path,
    model_niches,
)
from xcskit.compaction.losses import mean_regret
from xcskit.compaction.task import states_of
from xcskit.errors import CompactionError, ConfigurationError
from xcskit.mdp import Solution, frozen_lake, policy_iteration
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Floats


@pytest.fixture(scope="module")
def solution() -> Solution:
    return policy_iteration(frozen_lake("8x8", slip=0.1), 0.95)


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return trained_rules(1)


@pytest.fixture(scope="module")
def niches(rules: RuleSet, solution: Solution) -> Niches:
    return model_niches(rules, solution.mdp)


def losses_from_nothing(
    full: Floats, values: Floats, solution: Solution, niches: Niches
) -> dict[str, float]:
    states = states_of(niches, solution.mdp)
    return {
        "greatest_change": float(np.abs(values - full).max()),
        "mean_change": float(np.abs(values - full).mean()),
        "mean_absolute_error": float(np.abs(values - solution.q[states]).mean()),
        "policy_change": float((values.argmax(axis=1) != full.argmax(axis=1)).mean()),
        "regret": mean_regret(solution, states, values.argmax(axis=1)),
    }


@pytest.mark.parametrize("tolerance", [0.0, 0.001, 0.02])
def test_backward_elimination_stays_within_its_loss(
    tolerance: float, rules: RuleSet, niches: Niches, solution: Solution
) -> None:
    full = niches.q_values(rules.fitness)
    before = losses_from_nothing(full, full, solution, niches)
    for loss, start in before.items():
        kept = Fu(loss=loss, tolerance=tolerance).select(rules, niches, solution)
        values = niches.keep(kept).q_values(rules.fitness[kept])
        after = losses_from_nothing(full, values, solution, niches)
        assert after[loss] <= start + tolerance + 1e-12


def test_backward_elimination_keeps_nothing_that_it_could_have_dropped_last(
    rules: RuleSet, niches: Niches
) -> None:
    """With the mean change, tried in one pass: the last rule tried and kept was needed."""
    method = Fu(loss="mean_change", tolerance=0.001, order="numerosity")
    kept = method.select(rules, niches, None)
    full = niches.q_values(rules.fitness)
    order = np.argsort(rules.numerosity, kind="stable")
    last = int([rule for rule in order if kept[rule]][-1])
    without = kept.copy()
    without[last] = False
    values = niches.values_of(rules.fitness, without, np.arange(niches.n_niches))
    assert np.isnan(values).any() or np.abs(values.reshape(full.shape) - full).mean() > 0.001


def test_regret_is_the_loss_of_value(solution: Solution) -> None:
    mdp, states = solution.mdp, solution.mdp.states
    assert mean_regret(solution, states, solution.policy[states]) == pytest.approx(0.0, abs=1e-12)
    policy = np.random.default_rng(1).integers(0, 4, states.size)
    system, gain = np.eye(mdp.n_states), np.zeros(mdp.n_states)
    for state, action in zip(states.tolist(), policy.tolist(), strict=True):
        for probability, successor, reward, is_terminated in mdp.outcomes_of(state, action):
            gain[state] += probability * reward
            system[state, successor] -= 0.95 * probability * (not is_terminated)
    v = np.linalg.solve(system, gain)
    expected = (solution.v[states] - v[states]).mean()
    assert expected > 0.1
    assert mean_regret(solution, states, policy) == pytest.approx(expected)


def test_regret_without_discount_is_all_that_a_policy_that_never_ends_forgoes() -> None:
    mdp = frozen_lake("4x4")
    undiscounted = policy_iteration(mdp, 1.0)
    up = np.full(mdp.states.size, 3)
    falls = [mdp.outcomes_of(state, 3)[0][3] for state in mdp.states.tolist()]
    assert not all(falls)
    assert mean_regret(undiscounted, mdp.states, up) == pytest.approx(
        undiscounted.v[mdp.states].mean()
    )


def test_qrc_by_fitness_is_gnmc_by_fitness_as_rho_nears_1() -> None:
    """The first rule to cover a niche is the fittest in it, so that both keep the same."""
    for seed in range(20):
        rules = random_rules(seed, n_fitnesses=(None, 3)[seed % 2])
        niches = Niches.of(rules, grid_observations(rules.space))
        kept = Qrc().select(rules, niches, None)
        assert (kept == gnmc_path(rules, niches).kept(1.0 - 2.0**-53)).all()


def test_best_of_each_niche(rules: RuleSet, niches: Niches) -> None:
    for method, mass in ((Pdrc(), rules.fitness * rules.numerosity), (Cra2(), rules.fitness)):
        kept = method.select(rules, niches, None)
        weights = mass * rules.generality
        best: set[int] = set()
        for niche in range(niches.n_niches):
            members = niches.members[niches.first[niche] : niches.first[niche + 1]].tolist()
            best.add(max(members, key=lambda rule: weights[rule]))
        assert set(np.flatnonzero(kept).tolist()) == best


def test_thresholds_open_holes_unless_they_are_repaired(rules: RuleSet, niches: Niches) -> None:
    above = rules["experience"] >= 100
    bare = Threshold(at_least=100.0, repair=False).select(rules, niches, None)
    assert (bare == above).all()
    assert niches.keep(bare).sizes.min() == 0
    repaired = Threshold(at_least=100.0).select(rules, niches, None)
    assert (repaired >= bare).all()
    assert niches.keep(repaired).sizes.min() == 1
    for rule in np.flatnonzero(repaired & ~bare):
        entries = niches.niche_of[niches.members == rule]
        empty = niches.keep(bare).sizes[entries] == 0
        assert empty.any()
    small = compact(rules, niches, Threshold(column="fitness", at_least=0.0))
    assert small == rules


def test_method_settings_are_checked(rules: RuleSet, niches: Niches) -> None:
    with pytest.raises(CompactionError, match="one of action, x_lower"):
        compact(rules, niches, Threshold(column="age"))
    for wrong in (
        lambda: Threshold(at_least=float("nan")),
        lambda: Fu(loss="surprise"),
        lambda: Fu(tolerance=-1.0),
        lambda: Minimal(within=-0.1),
        lambda: Minimal(weights="grams"),
    ):
        with pytest.raises(ConfigurationError):
            wrong()
    given: Any
    for given in ("size", 3, None):
        with pytest.raises(ConfigurationError, match="mass is one of"):
            compact(rules, niches, Qrc(mass=given))
    for given in ("gnmc", Gnmc):
        with pytest.raises(CompactionError, match=r"a method is such as Gnmc\(rho=0.99\)"):
            compact(rules, niches, given)


@dataclass(frozen=True, kw_only=True)
class Careless:
    """A method of one's own that does not give a mask."""

    name: ClassVar[str] = "careless"

    def select(
        self,
        rules: RuleSet,  # noqa: ARG002 - one interface
        niches: Niches,  # noqa: ARG002 - one interface
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Any:
        return [0, 1]


def test_a_method_of_ones_own_gives_a_mask(
    rules: RuleSet, niches: Niches, solution: Solution
) -> None:
    with pytest.raises(ConfigurationError, match="what the method selects is a mask"):
        compact(rules, niches, Careless())
    with pytest.raises(ConfigurationError, match="is a mask"):
        CompactionReport.of([rules], [Careless()], solution)


# ---- The report ----


def test_the_report_compares_methods(rules: RuleSet, niches: Niches, solution: Solution) -> None:
    methods: dict[str, Method] = {
        "gnmc": Gnmc(),
        "bare": Threshold(at_least=100.0, repair=False),
        "same": Threshold(at_least=0.0),
    }
    report = CompactionReport.of({"a": rules, "b": trained_rules(2)}, methods, solution)
    table = report.table
    assert table["population"].to_list() == ["a"] * 4 + ["b"] * 4
    assert table["method"].to_list() == ["(full)", *methods] * 2
    full, gnmc, bare, same = table.rows(named=True)[:4]
    assert full["n_rules"] == len(rules)
    assert full["greatest_change"] == 0.0
    assert same | {"method": "", "seconds": 0.0} == full | {"method": "", "seconds": 0.0}
    expected = gnmc_path(rules, niches).table(solution, [0.99]).rows(named=True)[0]
    assert gnmc["n_rules"] == expected["n_rules"]
    assert gnmc["n_microclassifiers"] == expected["n_microclassifiers"]
    assert gnmc["mean_absolute_error"] == pytest.approx(expected["mean_absolute_error"], rel=1e-12)
    assert gnmc["policy_accuracy"] == expected["policy_accuracy"]
    values = gnmc_path(rules, niches).at(0.99).q_values(niches.observations)
    change = np.abs(values - rules.q_values(niches.observations)).max()
    assert gnmc["greatest_change"] == change
    assert gnmc["regret"] == mean_regret(solution, solution.mdp.states, values.argmax(axis=1))
    assert gnmc["minimum_bound"] == gnmc["minimum"] <= gnmc["n_rules"]
    assert bare["n_holes"] > 0
    assert bare["mean_absolute_error"] is None
    assert bare["minimum"] is None
    assert report.summary()["n_populations"].to_list() == [2, 2, 2, 2]
    means = (table["n_rules"][1] + table["n_rules"][5]) / 2
    assert report.summary()["n_rules"][1] == means


def test_means_over_populations_leave_out_none(solution: Solution) -> None:
    """A method that opens holes in one of two populations has no mean error."""
    some, other = trained_rules(1), trained_rules(2)
    least = [
        int(np.maximum.reduceat(each["experience"][niches.members], niches.first[:-1]).min())
        for each in (some, other)
        for niches in (model_niches(each, solution.mdp),)
    ]
    assert least[0] != least[1]
    bare = Threshold(at_least=float(max(least)), repair=False)
    report = CompactionReport.of([some, other], {"bare": bare}, solution, time_limit=None)
    assert sorted(report.table.filter(method="bare")["n_holes"] > 0) == [False, True]
    summary = report.summary().filter(method="bare").row(0, named=True)
    assert summary["n_holes"] > 0
    assert summary["mean_absolute_error"] is None
    assert summary["n_rules"] > 0


def on_terminal(report: CompactionReport, width: int) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(report)
    return file.getvalue()


def test_a_terminal_of_80_columns_cuts_no_number_short(rules: RuleSet, solution: Solution) -> None:
    methods: list[Method] = [Gnmc(), Threshold(at_least=1000.0), Minimal(within=0.2)]
    report = CompactionReport.of([rules, rules], methods, solution, time_limit=0.5)
    for table in (report.table, report.table.with_columns(n_rules=98_765, seconds=1.5e-5)):
        shown = on_terminal(CompactionReport(table=table), 80)
        assert "…" not in shown
        rows = [line.split() for line in shown.splitlines()]
        assert sum(len(row) == 11 for row in rows) == 1 + 4


def test_the_report_names_methods_by_themselves_and_shows(
    rules: RuleSet, solution: Solution
) -> None:
    report = CompactionReport.of([rules], [Gnmc(), Pdrc()], solution, time_limit=None)
    assert report.table["method"].to_list() == ["(full)", "gnmc(mass=fitness, rho=0.99)", "pdrc"]
    assert report.table["minimum"].null_count() == 3
    assert "pdrc" in repr(report)
    shown = on_terminal(report, 150)
    assert "1 population" in shown
    assert "gnmc(mass=fitness, rho=0.99)" in shown
    n_rules = report.table.filter(method="pdrc")["n_rules"].item()
    assert str(n_rules) in shown
    with pytest.raises(CompactionError, match="needs populations and methods"):
        CompactionReport.of([], [Gnmc()], solution)
