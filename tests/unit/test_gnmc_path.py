"""The whole path of GNMC, against the paper's Algorithm 1 taken literally."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

from oracle.gnmc import gnmc
from populations import grid_observations, lake_observations, random_rules, trained_rules
from xcskit.compaction import MASSES, Gnmc, GnmcPath, Pdrc, compact, gnmc_path, model_niches
from xcskit.compaction.masses import rule_masses
from xcskit.errors import CompactionError, ConfigurationError, HoleError
from xcskit.learner import XCSF
from xcskit.mdp import Solution, frozen_lake, policy_iteration
from xcskit.rules import Niches, RuleSet
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Floats

HUNDREDTHS = [k / 100 for k in range(100)]
PAPER_MASSES = ("fitness", "tan", "inverse_fitness")
FITNESS_COUNTS = (None, 3, 1)
"""How many values fitness takes: any, three, one. The last two make most masses tie."""


@pytest.fixture(scope="module")
def solution() -> Solution:
    return policy_iteration(frozen_lake("8x8", slip=0.1), 0.95)


def everywhere(rules: RuleSet) -> Niches:
    return Niches.of(rules, grid_observations(rules.space))


def fixed(masses: Floats) -> Callable[[pl.DataFrame], Floats]:
    return lambda _table: masses


def assert_equals_literal(path: GnmcPath, rhos: Sequence[float]) -> None:
    first, members = path.niches.first, path.niches.members
    lists = [members[first[k] : first[k + 1]].tolist() for k in range(path.niches.n_niches)]
    masses = rule_masses(path.rules, path.mass).tolist()
    for rho in rhos:
        assert set(np.flatnonzero(path.kept(rho)).tolist()) == gnmc(masses, lists, rho)


def telling_rhos(path: GnmcPath, seed: int, n: int) -> list[float]:
    """Give random rho, and breakpoints with their neighbours, where rounding would show."""
    random = np.random.default_rng(seed)
    near = random.choice(path.breakpoints, n)
    below = np.nextafter(near, 0.0)
    above = np.minimum(np.nextafter(near, 1.0), 1.0 - 2.0**-53)
    return [*random.random(n).tolist(), *near.tolist(), *below.tolist(), *above.tolist()]


@pytest.mark.parametrize("seed", range(150))
def test_random_populations_equal_the_literal_algorithm(seed: int) -> None:
    n_fitnesses = FITNESS_COUNTS[seed % 3]
    rules = random_rules(seed, 25, n_fitnesses=n_fitnesses, space=IntegerSpace.grid(3, 4))
    for mass in PAPER_MASSES:
        path = gnmc_path(rules, everywhere(rules), mass)
        assert_equals_literal(path, telling_rhos(path, seed, 8))
    assert_equals_literal(gnmc_path(rules, everywhere(rules), PAPER_MASSES[seed % 3]), HUNDREDTHS)


@pytest.mark.parametrize("seed", range(5))
def test_trained_populations_equal_the_literal_algorithm(seed: int) -> None:
    rules = trained_rules(seed)
    niches = Niches.of(rules, lake_observations())
    for mass in PAPER_MASSES:
        path = gnmc_path(rules, niches, mass)
        assert_equals_literal(path, telling_rhos(path, seed, 10))
    assert_equals_literal(gnmc_path(rules, niches), HUNDREDTHS)


@pytest.mark.slow
@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_populations_of_the_papers_setting_equal_the_literal_algorithm(slip: float) -> None:
    lake = frozen_lake("8x8", slip=slip)
    for seed in range(10):
        rules = XCSF.on(lake, seed=seed).train(lake, 400_000).rules
        for mass in PAPER_MASSES:
            path = gnmc_path(rules, model_niches(rules, lake), mass)
            assert_equals_literal(path, HUNDREDTHS + telling_rhos(path, seed, 25))


def test_masses_of_extreme_sizes_equal_the_literal_algorithm() -> None:
    for seed in range(60):
        random = np.random.default_rng(seed)
        rules = random_rules(seed, 20, space=IntegerSpace.grid(2, 3))
        masses = np.power(10.0, random.integers(-200, 200, 20), dtype=np.float64)
        masses[random.random(20) < 0.2] = 0.0
        masses[:2] = 10.0 ** random.integers(-240, 300, 2)
        path = gnmc_path(rules, everywhere(rules), fixed(masses))
        assert_equals_literal(path, [*HUNDREDTHS[::9], 2.0**-53, *telling_rhos(path, seed, 8)])


@pytest.mark.parametrize("mass", PAPER_MASSES)
def test_sets_are_nested_and_never_open_a_hole(mass: str) -> None:
    rules = trained_rules(1)
    niches = Niches.of(rules, lake_observations())
    path = gnmc_path(rules, niches, mass)
    previous = np.ones(len(rules), dtype=bool)
    for rho in path.breakpoints:
        kept = path.kept(float(rho))
        assert (kept <= previous).all()
        assert niches.keep(kept).sizes.min() >= 1
        previous = kept
    assert previous.sum() < len(rules)


def test_drop_out_is_the_least_rho_that_drops_the_rule() -> None:
    rules = random_rules(3)
    path = gnmc_path(rules, everywhere(rules))
    inner = np.flatnonzero((path.drop_out > 0.0) & (path.drop_out < 1.0))
    assert inner.size > 10
    for rule in inner:
        rho = float(path.drop_out[rule])
        assert not path.kept(rho)[rule]
        assert path.kept(float(np.nextafter(rho, 0.0)))[rule]


def test_rules_that_match_no_state_of_the_model_go_at_rho_0() -> None:
    """Such as one that matches nothing but the hole at (3, 2)."""
    rules = trained_rules(2)
    lonely = rules[[*range(len(rules)), 0]]
    columns = {name: data.copy() for name, data in lonely.columns.items()}
    for name, value in {"x_lower": 3, "x_upper": 3, "y_lower": 2, "y_upper": 2}.items():
        columns[name][-1] = value
    lonely = dataclasses.replace(lonely, columns=columns)
    for mass in PAPER_MASSES:
        path = gnmc_path(lonely, Niches.of(lonely, lake_observations()), mass)
        assert path.drop_out[-1] == 0.0
        assert path.at(0.0) == gnmc_path(rules, Niches.of(rules, lake_observations()), mass).at(0.0)


@pytest.mark.parametrize("mass", PAPER_MASSES)
@pytest.mark.parametrize("seed", range(4))
def test_values_are_unchanged_at_rho_0(mass: str, seed: int) -> None:
    """To the last bit where only rules without a niche go; else within 4 ulp a rule of the niche.

    At rho 0 a rule goes from a niche only when its mass is lost in the rounding of the total.
    """
    rules = trained_rules(seed) if seed < 2 else random_rules(seed, 200)
    niches = Niches.of(rules, lake_observations() if seed < 2 else grid_observations(rules.space))
    kept = gnmc_path(rules, niches, mass).kept(0.0)
    matches = np.bincount(niches.members, minlength=len(rules)) > 0
    before = niches.q_values(rules.fitness).ravel()
    after = niches.keep(kept).q_values(rules.fitness[kept]).ravel()
    if (kept == matches).all():
        assert (before == after).all()
    greatest = np.maximum.reduceat(np.abs(niches.predictions), niches.first[:-1])
    assert (np.abs(before - after) <= 4 * niches.sizes * np.finfo(float).eps * greatest).all()


def test_pdrc_is_gnmc_with_the_tan_mass_and_rho_near_1() -> None:
    """The paper's claim: "sufficiently high so as to keep only a single classifier"."""
    for seed in range(30):
        rules = random_rules(seed, n_fitnesses=FITNESS_COUNTS[seed % 3])
        niches = everywhere(rules)
        kept = Pdrc().select(rules, niches, None)
        assert (kept == gnmc_path(rules, niches, "tan").kept(1.0 - 2.0**-53)).all()
        assert (kept == Gnmc(mass="tan", rho=0.9999).select(rules, niches, None)).all()
        assert not (kept == gnmc_path(rules, niches, "tan").kept(0.2)).all()


# ---- The table ----


def scratch_row(rules: RuleSet, niches: Niches, kept: Bools, solution: Solution) -> list[float]:
    """Value a compacted set from nothing."""
    states = solution.mdp.states
    values = rules[kept].q_values(niches.observations)
    is_best = values == values.max(axis=1, keepdims=True)
    return [
        int(kept.sum()),
        int(rules.numerosity[kept].sum()),
        float(np.abs(solution.q[states] - values).mean()),
        float((is_best & solution.advocacy[states]).any(axis=1).mean()),
    ]


@pytest.mark.parametrize("mass", PAPER_MASSES)
def test_the_table_equals_an_evaluation_from_nothing(mass: str, solution: Solution) -> None:
    rules = trained_rules(3)
    niches = model_niches(rules, solution.mdp)
    path = gnmc_path(rules, niches, mass)
    table = path.table(solution)
    assert table["rho"].to_list() == path.breakpoints.tolist()
    assert len(table) > 50
    for row in table.rows():
        expected = scratch_row(rules, niches, path.kept(row[0]), solution)
        assert row[1:] == pytest.approx(tuple(expected), rel=1e-12, abs=0.0)


def test_the_table_lists_any_rho(solution: Solution) -> None:
    rules = trained_rules(3)
    path = gnmc_path(rules, model_niches(rules, solution.mdp))
    table = path.table(solution, rhos=HUNDREDTHS)
    assert table["rho"].to_list() == HUNDREDTHS
    assert table["n_rules"].to_list() == [len(path.at(rho)) for rho in HUNDREDTHS]
    every = path.table(solution)
    later = every.filter(pl.col("rho") <= 0.5).tail(1).drop("rho")
    assert table.filter(pl.col("rho") == 0.5).drop("rho").equals(later)
    assert path.table().columns == ["rho", "n_rules", "n_microclassifiers"]


def test_one_method_one_set(solution: Solution) -> None:
    rules = trained_rules(4)
    niches = model_niches(rules, solution.mdp)
    small = compact(rules, niches, Gnmc(mass="tan", rho=0.3))
    on_path = gnmc_path(rules, niches, "tan").at(0.3)
    assert small == on_path
    assert small.metadata == on_path.metadata
    assert small.metadata["compaction"] == {"method": "gnmc", "mass": "tan", "rho": 0.3}
    assert small.metadata["seed"] == 4


# ---- Masses ----


def test_masses_are_the_papers() -> None:
    rules = random_rules(1)
    table = rules.to_polars()
    expected = table["fitness"] * table["numerosity"] * table["generality"]
    assert rule_masses(rules, "tan").tolist() == expected.to_list()
    assert rule_masses(rules, "fitness").tolist() == rules.fitness.tolist()
    assert rule_masses(rules, "inverse_fitness").tolist() == (1.0 / rules.fitness).tolist()
    assert set(PAPER_MASSES) <= set(MASSES)


def test_a_mass_may_be_any_function_of_the_rule_table() -> None:
    rules = random_rules(1)
    niches = everywhere(rules)
    ours = gnmc_path(rules, niches, lambda table: table["fitness"] * 2.0)
    assert (ours.drop_out == gnmc_path(rules, niches, "fitness").drop_out).all()
    assert "<lambda>" in repr(ours)


def broken_mass(table: pl.DataFrame, value: float) -> Floats:
    masses = table["fitness"].to_numpy().copy()
    masses[3] = value
    return masses


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, -np.inf])
def test_a_mass_that_is_negative_or_not_finite_names_the_rule(value: float) -> None:
    rules = random_rules(1)
    with pytest.raises(CompactionError, match=r"rule 3 has mass .*: IF"):
        gnmc_path(rules, everywhere(rules), lambda table: broken_mass(table, value))


@pytest.mark.parametrize("scale", [0.0, 1e-320])
def test_a_niche_without_mass_is_named_with_its_rules(scale: float) -> None:
    rules = random_rules(1)
    with pytest.raises(CompactionError, match=r"\(x=0, y=0\) left is .* in total \(rules 0"):
        gnmc_path(rules, everywhere(rules), lambda table: table["fitness"] * scale)


def test_masses_whose_sum_overflows_are_refused() -> None:
    rules = random_rules(1)
    with pytest.raises(CompactionError, match="inf in total"):
        gnmc_path(rules, everywhere(rules), lambda table: np.full(len(table), 1.7e308))


@pytest.mark.parametrize("given", [np.ones(3), 1.0, ["a"] * 60, np.ones((60, 1))])
def test_a_mass_gives_one_number_for_each_rule(given: object) -> None:
    rules = random_rules(1)
    with pytest.raises(CompactionError, match=r"number for each"):
        gnmc_path(rules, everywhere(rules), lambda _table: given)


def test_masses_and_rhos_are_checked() -> None:
    rules = random_rules(1)
    niches = everywhere(rules)
    with pytest.raises(ConfigurationError, match=r"mass is one of .*fitness"):
        gnmc_path(rules, niches, "weight")
    path = gnmc_path(rules, niches)
    for rho in (1.0, -0.01, np.nan, 7.0):
        with pytest.raises(ConfigurationError, match="rho must be >= 0 and < 1"):
            path.at(rho)
        with pytest.raises(ConfigurationError, match="rho"):
            Gnmc(rho=rho)
    with pytest.raises(ConfigurationError, match="rho"):
        path.table(rhos=[0.5, 1.0])


def test_what_does_not_fit_is_refused(solution: Solution) -> None:
    rules = random_rules(1)
    niches = everywhere(rules)
    with pytest.raises(CompactionError, match="empty rule set"):
        gnmc_path(rules[[]], niches)
    with pytest.raises(CompactionError, match="belong to a rule set of 60 rules"):
        gnmc_path(rules[:5], niches)
    with pytest.raises(CompactionError, match=r"does not fit .*: space"):
        model_niches(rules, solution.mdp)
    renamed = dataclasses.replace(trained_rules(1), action_names=("w", "s", "e", "n"))
    with pytest.raises(CompactionError, match=r"does not fit .*: actions"):
        model_niches(renamed, solution.mdp)
    with pytest.raises(CompactionError, match=r"\(4, 0\) is seen in 0 states|fit"):
        gnmc_path(rules, niches).table(policy_iteration(frozen_lake("4x4"), 0.95))
    patchy = random_rules(1, 5, covers_all=False)
    with pytest.raises(HoleError, match="matched by no rule"):
        gnmc_path(patchy, everywhere(patchy))


def test_a_path_says_what_it_is() -> None:
    rules = random_rules(1)
    assert repr(gnmc_path(rules, everywhere(rules))).startswith("GnmcPath(mass='fitness', 60 rules")
