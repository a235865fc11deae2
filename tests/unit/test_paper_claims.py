"""Claims as data: what measures them, and how numbers become verdicts."""

import json
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from xcskit.errors import ConfigurationError
from xcskit.paper.claims import Claim, Condition, Judged, Measured, judge, load_claims, measure
from xcskit.paper.measurements import MEASUREMENTS, Tables
from xcskit.typing import Floats, Ints

N = 10
VARIANTS = ("p0", "p0.1")


def small_tables() -> dict[str, pl.DataFrame]:
    """Tables of ten instances whose every number is easy to name."""
    seeds = list(range(1, N + 1))
    instances = pl.concat(
        pl.DataFrame(
            {
                "variant": variant,
                "seed": seeds,
                "mean_absolute_error": [scale * (1 + seed / 10) for seed in seeds],
                "policy_accuracy": [0.9] * N,
                "n_rules": [100] * N,
                "n_idle": [0] * (N - 1) + [50],
                "rules_per_pair_open": [0.2] * N,
                "rules_per_pair_near": [0.5] * N,
                "kept_fitness_B": [0.4] * N,
                "kept_fitness_C": [0.1] * (N - 1) + [0.3],
            }
        )
        for variant, scale in zip(VARIANTS, (0.01, 0.02), strict=True)
    )
    rhos = [0.0, 0.5, 0.99]
    gnmc = pl.concat(
        pl.DataFrame(
            {
                "variant": variant,
                "mass": mass,
                "seed": np.repeat(seeds, 3),
                "rho": rhos * N,
                "n_rules": [80, 40, 20] * N,
                "mean_absolute_error": errors * N,
            }
        )
        for variant in VARIANTS
        for mass, errors in (("fitness", [0.03, 0.02, 0.025]), ("tan", [0.01, 0.02, 0.04]))
    )
    actions = pl.DataFrame(
        [
            {
                "variant": "p0.1",
                "seed": seed,
                "state": state,
                "x": x,
                "y": y,
                "action": "right" if is_bad and seed > 3 else "down",
                "is_correct": not is_bad or seed <= 3,
                "cost": 0.04 if seed == 4 else 0.01,
                "is_optimal_without_slip": x == 6,
            }
            for seed in seeds
            for state, (x, y, is_bad) in enumerate(
                [
                    (6, 0, True),
                    (6, 1, True),
                    (0, 2, True),
                    (1, 2, True),
                    (3, 3, False),
                    (4, 3, False),
                ]
            )
        ]
    )
    policies = pl.DataFrame(
        {
            "variant": "p0.1",
            "group": ["A"] * N + ["B"] * N,
            "seed": seeds * 2,
            "mean_stg": [15.0] * (N - 2) + [40.0, None] + [16.0] * N,
            "max_stg": [20] * (N - 1) + [None] + [20] * 4 + [30] * (N - 4),
            "is_complete": [True] * (N - 1) + [False] + [True] * N,
            "expected_steps": [15.0] * N + [15.0] * (N - 1) + [60.0],
            "policy_accuracy": [0.8] * (N - 1) + [0.5] + [0.7] + [0.8] * (N - 2) + [0.5],
            "repaired_share": [None] * N + [0.1] * (N - 1) + [0.9],
        }
    )
    environments = pl.DataFrame(
        {"variant": VARIANTS, "n_tied": [23, 0], "target_error": [0.01] * 2}
    )
    history = pl.DataFrame(
        {
            "variant": "p0",
            "seed": np.repeat(seeds, 20),
            "step": list(range(1, 21)) * N,
            "mean_absolute_error": ([0.5] * 16 + [0.02] * 2 + [0.025] * 2) * N,
        }
    )
    return {
        "history": history,
        "instances": instances,
        "gnmc": gnmc,
        "actions": actions,
        "policies": policies,
        "environments": environments,
    }


TABLES: Tables = small_tables()
EVERY = np.arange(N)[np.newaxis]
INSTANCES = {"table": "instances", "variant": "p0"}
B_OVER_A = {"variant": "p0.1", "group": "B", "over": "A"}


def value_of(name: str, **of: Any) -> float:
    return float(MEASUREMENTS[name](TABLES, **of)(EVERY)[0])


@pytest.mark.parametrize(
    ("name", "of", "expected"),
    [
        ("mean", {"table": "instances", "column": "policy_accuracy", "variant": "p0"}, 0.9),
        ("greatest", {"table": "instances", "column": "n_idle"}, 50),
        ("share_of_all", {"table": "instances", "column": "n_idle", "of": "n_rules"}, 0.05),
        ("rules_in_the_open", {"variant": "p0"}, -0.3),
        ("late_change", {"variant": "p0"}, 0.25),
        ("fact", {"column": "n_tied", "variant": "p0"}, 23),
        (
            "over_fact",
            {"column": "mean_absolute_error", "fact": "target_error", "variant": "p0"},
            1.55,
        ),
        ("between_variants", {"column": "mean_absolute_error", "of": "mean ratio"}, 2.0),
        ("between_variants", {"column": "mean_absolute_error", "of": "spread ratio"}, 0.5),
        ("between_variants", {"column": "policy_accuracy", "of": "mean difference"}, 0.0),
        ("worst_states_gap", {"variant": "p0.1"}, 0.7),
        ("wrong_right", {"variant": "p0.1"}, 1.0),
        ("share_of_often_optimal_states", {"variant": "p0.1", "often": 0.75}, 2 / 6),
        (
            "gnmc_change",
            {"variant": "p0", "mass": "fitness", "column": "mean_absolute_error"},
            -0.005,
        ),
        (
            "gnmc_greatest_rise",
            {"variant": "p0", "mass": "fitness", "column": "mean_absolute_error"},
            0.0,
        ),
        (
            "gnmc_greatest_fall",
            {"variant": "p0", "mass": "fitness", "column": "mean_absolute_error"},
            0.01,
        ),
        ("gnmc_trend", {"variant": "p0", "mass": "tan", "column": "mean_absolute_error"}, 1.0),
        ("gnmc_trend", {"variant": "p0", "mass": "fitness", "column": "mean_absolute_error"}, -0.5),
        (
            "gnmc_greatest_step",
            {"variant": "p0", "mass": "tan", "column": "mean_absolute_error"},
            2 / 3,
        ),
        (
            "gnmc_greatest_step",
            {"variant": "p0", "mass": "fitness", "column": "mean_absolute_error", "since": 1},
            0.5,
        ),
        ("gnmc_left", {"variant": "p0", "mass": "tan", "column": "n_rules"}, 0.2),
        (
            "gnmc_between",
            {"variant": "p0", "mass": "tan", "over": "fitness", "column": "mean_absolute_error"},
            1.6,
        ),
        ("group_median_steps", {"variant": "p0.1", "column": "mean_stg", "group": "A"}, 15.0),
        (
            "group_median_steps",
            {"variant": "p0.1", "column": "max_stg", "group": "B", "over": "A"},
            10.0,
        ),
        ("mean_over", {**INSTANCES, "column": "kept_fitness_C", "over": "kept_fitness_B"}, 0.3),
        ("n_undefined", {"table": "policies", "column": "mean_stg", "group": "A"}, 1),
        ("wrong_cost", {"variant": "p0.1"}, (0.04 + 6 * 0.01) / 7),
        ("share_of_wrong", {"variant": "p0.1", "column": "is_optimal_without_slip"}, 0.5),
        ("named_states_share", {"variant": "p0.1"}, 1.0),
        ("share_degraded", {**B_OVER_A, "column": "mean_stg"}, 0.8),
        ("share_degraded", {**B_OVER_A, "column": "max_stg"}, 0.5),
        ("share_degraded", {**B_OVER_A, "column": "policy_accuracy"}, 0.1),
        ("share_of_outliers", {"variant": "p0.1", "group": "A"}, 0.2),
        ("accuracy_of_incomplete", {"variant": "p0.1", "group": "A"}, -0.3),
        ("n_changed", {**B_OVER_A, "accuracy": [0.0, 0.05], "steps": [0.0, 1.0]}, 8.0),
        ("n_changed", {**B_OVER_A, "accuracy": [0.0, 0.05], "steps": [5.0, 200.0]}, 1.0),
        ("n_changed", {**B_OVER_A, "accuracy": [0.09, 0.2], "steps": [0.0, 0.0]}, 1.0),
        (
            "ratio_of_facts",
            {"column": "target_error", "over": "n_tied", "variant": "p0"},
            0.01 / 23,
        ),
        ("gnmc_greatest_growth", {"variant": "p0", "column": "n_rules"}, -20.0),
        ("gnmc_greatest_growth", {"variant": "p0", "column": "mean_absolute_error"}, 0.02),
        (
            "rank_correlation_with_steps",
            {"variant": "p0.1", "column": "repaired_share", "group": "B"},
            1.0,
        ),
        ("slip_states", {"variant": "p0.1", "column": "repaired_share"}, 0.9),
        (
            "share_where",
            {
                "table": "policies",
                "column": "expected_steps",
                "above": 20.0,
                "variant": "p0.1",
                "group": "B",
            },
            0.1,
        ),
    ],
)
def test_each_measurement_on_numbers_worked_out_by_hand(
    name: str, of: dict[str, Any], expected: float
) -> None:
    assert value_of(name, **of) == pytest.approx(expected)


def test_one_good_state_among_the_named_makes_the_gap_negative() -> None:
    is_named_good = (pl.col("x") == 1) & (pl.col("y") == 2)
    is_other_poor = (pl.col("x") == 4) & (pl.col("seed") <= 2)
    changed = TABLES["actions"].with_columns(
        is_correct=(pl.col("is_correct") | is_named_good) & ~is_other_poor
    )
    statistic = MEASUREMENTS["worst_states_gap"]({"actions": changed}, variant="p0.1")
    assert statistic(EVERY)[0] == pytest.approx(0.8 - 1.0)


def test_few_of_the_wrong_actions_may_be_in_the_named_states() -> None:
    changed = TABLES["actions"].with_columns(is_correct=pl.col("seed") > 6)
    tables = {"actions": changed}
    assert MEASUREMENTS["named_states_share"](tables, variant="p0.1")(EVERY)[0] == 4 / 6
    assert MEASUREMENTS["wrong_right"](tables, variant="p0.1")(EVERY)[0] == 0.5
    never = {"actions": TABLES["actions"].with_columns(is_correct=True)}
    assert np.isnan(MEASUREMENTS["wrong_cost"](never, variant="p0.1")(EVERY)[0])


def test_no_example_found_is_no_proof_that_there_is_none() -> None:
    much = {"accuracy": [0.0, 0.05], "steps": [5.0, 200.0]}
    assert np.isnan(value_of("n_changed", variant="p0.1", group="A", over="A", **much))


def test_medians_leave_out_what_is_undefined() -> None:
    table = pl.DataFrame({"seed": [1, 2, 3, 4], "x": [None, 1.0, 2.0, 5.0]})
    statistic = MEASUREMENTS["median"]({"t": table}, table="t", column="x")
    drawn = statistic(np.array([[0, 1, 2, 3], [0, 0, 0, 0], [0, 1, 2, 2], [0, 0, 1, 3]]))
    assert drawn.tolist() == pytest.approx([2.0, np.nan, 2.0, 3.0], nan_ok=True)


def condition(relation: str, threshold: float) -> Condition:
    return Condition(what="", measure="mean", of={}, relation=relation, threshold=threshold)


@pytest.mark.parametrize(
    ("relation", "low", "high", "verdict"),
    [
        ("<", 0.0, 0.9, "holds"),
        ("<", 0.0, 1.0, "cannot be told"),
        ("<", 1.0, 2.0, "does not hold"),
        ("<=", 0.0, 1.0, "holds"),
        (">", 1.0, 2.0, "cannot be told"),
        (">=", 1.0, np.inf, "holds"),
        ("==", 1.0, 1.0, "holds"),
        ("==", 1.0, 1.1, "cannot be told"),
        ("==", 2.0, 2.0, "does not hold"),
        (">=", None, None, "cannot be told"),
    ],
)
def test_a_condition_is_told_only_where_the_whole_interval_agrees(
    relation: str, low: float | None, high: float | None, verdict: str
) -> None:
    assert condition(relation, 1.0).verdict(Measured(value=1.0, low=low, high=high)) == verdict


def test_a_claim_is_as_good_as_its_worst_condition() -> None:
    claim = Claim(id="a", section="b", gist="c", conditions=(condition("<", 1.0),) * 2)
    number = Measured(value=1.0, low=1.0, high=np.inf)

    def verdict(*verdicts: Any) -> str:
        return Judged(claim=claim, measured=(number,) * 2, verdicts=verdicts).verdict

    assert verdict("holds", "holds") == "holds"
    assert verdict("holds", "cannot be told") == "cannot be told"
    assert verdict("does not hold", "cannot be told") == "does not hold"
    judged = Judged(claim=claim, measured=(number,) * 2, verdicts=("holds", "holds"))
    assert (
        json.loads(json.dumps(judged.to_dict(), allow_nan=False))["conditions"][0]["high"] == "inf"
    )


def mean_of(sample: Floats, rows: Ints) -> Floats:
    means: Floats = sample[rows].mean(axis=-1)
    return means


def test_intervals_cover_the_mean_of_a_known_distribution() -> None:
    """200 samples of 40 normal draws: the 95 % interval has the mean 175 to 199 times.

    A percentile interval of 40 covers 93.6 % (by a t quantile); outside these counts with
    probability below 1e-4 either way.
    """
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        sample = rng.normal(size=40)
        resamples = rng.integers(0, 40, size=(500, 40))
        found = measure(partial(mean_of, sample), 40, resamples)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.0 <= found.high
    assert 175 <= covered <= 199


def test_few_instances_and_undefined_resamples_have_no_interval() -> None:
    resamples = np.random.default_rng(1).integers(0, 4, size=(200, 4))
    values = np.arange(4.0)
    assert measure(lambda rows: values[rows].mean(axis=-1), 4, resamples).low is None
    assert measure(lambda rows: np.full(len(rows), 3.0), 4, resamples).low == 3.0
    assert measure(lambda rows: np.full(len(rows), np.nan), 4, resamples).value is None


def test_every_claim_of_the_table_is_well_formed() -> None:
    claims = load_claims()
    assert len({claim.id for claim in claims}) == len(claims) >= 30
    for claim in claims:
        assert claim.gist.endswith(".")
        assert bool(claim.conditions) != claim.untested.endswith(".")
        assert claim.only in {"", "8x8"}
        assert all(item.what for item in claim.conditions)


def test_an_untested_claim_says_why_and_cannot_be_told() -> None:
    claim = Claim(id="a", section="", gist="", untested="Nothing was trained.")
    (judged,) = judge([claim], TABLES, "8x8", np.random.default_rng(1))
    assert judged.verdict == "cannot be told"
    assert judged.to_dict()["untested"] == "Nothing was trained."
    with pytest.raises(ConfigurationError, match="claim 'b' needs conditions, or words"):
        Claim(id="b", section="", gist="")


def test_every_measurement_decides_some_claim() -> None:
    used = {condition.measure for claim in load_claims() for condition in claim.conditions}
    assert used == set(MEASUREMENTS)


def test_a_condition_names_a_measurement_and_a_relation() -> None:
    good: dict[str, Any] = {"what": "w", "measure": "mean", "of": {}, "is": "<= 2"}
    assert Condition.from_table(good).threshold == 2.0
    for change in ({"measure": "guess"}, {"is": "~ 2"}):
        with pytest.raises(ConfigurationError, match="no measurement of that name"):
            Condition.from_table({**good, **change})


def test_claims_of_another_map_are_left_out() -> None:
    fact = Condition(
        what="w",
        measure="fact",
        of={"column": "n_tied", "variant": "p0"},
        relation=">",
        threshold=0,
    )
    claims = [
        Claim(id="any", section="", gist="", conditions=(fact,)),
        Claim(id="own", section="", gist="", conditions=(fact,), only="8x8"),
    ]
    rng = np.random.default_rng(1)
    assert [item.claim.id for item in judge(claims, TABLES, "12x12", rng)] == ["any"]
    assert [item.verdict for item in judge(claims, TABLES, "8x8", rng)] == ["holds", "holds"]
