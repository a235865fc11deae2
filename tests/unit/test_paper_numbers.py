"""Published numbers, agreement with them, and the policies that they come from."""

from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xcskit.errors import ConfigurationError
from xcskit.mdp import Solution, TabularMdp, frozen_lake, solve
from xcskit.paper.agreement import agreement_table
from xcskit.paper.evidence import (
    environments_table,
    least_steps,
    random_success,
    rank_correlation,
)
from xcskit.paper.policies import mark_published, policy_facts, slip_states
from xcskit.paper.published import published_actions, published_rollouts
from xcskit.paper.specification import lake_of, paper_specification
from xcskit.paper.tables import policies_summary, table_1


@pytest.fixture(scope="module")
def solution() -> Solution:
    return solve(frozen_lake("8x8", slip=0.1), 0.95)


def test_the_published_tables_are_those_of_the_paper() -> None:
    actions = published_actions()
    assert actions.select("x", "y").rows() == [(0, 2), (1, 2), (6, 0), (6, 1)]
    assert actions.select(
        pl.sum_horizontal("left", "down", "right", "up")
    ).to_series().to_list() == ([30] * 4)
    table = published_rollouts()
    assert table.height == 90
    accuracy = table.group_by("group", maintain_order=True).agg(pl.col("policy_accuracy").mean())
    assert accuracy["policy_accuracy"].round(3).to_list() == [0.832, 0.812, 0.617]
    incomplete = table.group_by("group", maintain_order=True).agg(pl.col("mean_stg").null_count())
    assert incomplete["mean_stg"].to_list() == [0, 2, 11]
    assert table.filter(mean_stg=15.38, max_stg=20, rollouts=116, group="A").height == 14


def test_the_policy_of_the_commonest_published_row_gives_that_row(solution: Solution) -> None:
    policy = solution.policy.copy()
    policy[[6, 14]] = 2
    facts = policy_facts(solution, policy)
    assert (round(facts["mean_stg"], 2), facts["max_stg"], facts["rollouts"]) == (15.38, 20, 116)
    assert facts["sampled_success"] == pytest.approx(facts["exact_success"], abs=0.1)
    assert 0.0 < facts["start_regret"] < 0.01
    row = pl.DataFrame(
        {
            "group": ["A", "A", "C"],
            "mean_stg": [facts["mean_stg"], facts["mean_stg"], None],
            "max_stg": [20, 20, None],
            "rollouts": [116, 117, 150],
            "policy_accuracy": [0.8301, 0.8301, 0.99],
        }
    )
    marked = mark_published(row)
    assert marked["is_published"].to_list() == [True, False, False]
    assert marked["is_published_whole"].to_list() == [True, False, False]


def test_states_that_can_be_left_only_by_slipping(solution: Solution) -> None:
    mdp = solution.mdp
    assert not slip_states(mdp, solution.policy).any()
    policy = solution.policy.copy()
    policy[7] = 2  # into the right wall
    policy[56], policy[57] = 2, 0  # to and fro along the lower edge
    assert np.flatnonzero(slip_states(mdp, policy)).tolist() == [7, 56, 57]


def test_shortest_ways_are_those_of_the_values_without_slip() -> None:
    """There V* = gamma^(n - 1), n steps from the goal; the start is 14 away."""
    calm = solve(frozen_lake("8x8"), 0.95)
    steps = least_steps(calm.mdp)
    assert steps[0] == 14
    states = calm.mdp.states
    assert calm.v[states] == pytest.approx(0.95 ** (steps[states] - 1))
    pocket = least_steps(frozen_lake(["SFG", "HHH", "FFF"]))
    assert pocket[[0, 1, 6, 7, 8]].tolist() == [2, 1, np.inf, np.inf, np.inf]


def test_actions_at_random_reach_the_goal_as_often_as_a_walk_on_a_line_does() -> None:
    """Between a hole and the goal, n steps apart, by chance k / n: the gambler's ruin."""
    line = frozen_lake(["HFSFFG"])
    assert random_success(line)[1:5] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    slippery = frozen_lake(["HFSFFG"], slip=0.3)
    assert random_success(slippery) == pytest.approx(random_success(line))


def test_facts_of_the_environments_are_those_of_the_models(solution: Solution) -> None:
    policies = pl.DataFrame({"variant": "p0.1", "least_stg": [14, 15]})
    facts = environments_table({"p0.1": solution}, policies, 0.01).row(0, named=True)
    assert (facts["n_states"], facts["n_tied"], facts["n_small_gaps"]) == (53, 0, 11)
    assert facts["start_value"] == pytest.approx(0.42559, abs=5e-6)
    assert facts["error_of_zero"] == pytest.approx(0.4446, abs=5e-5)
    default = solve(frozen_lake("8x8", slip=2 / 3), 0.95)
    assert facts["default_start_value"] == default.v[0] < facts["start_value"] / 2
    walks = np.random.default_rng(1)
    assert facts["random_success_anywhere"] == pytest.approx(
        _share_of_random_walks_that_succeed(solution.mdp, walks, 20_000), abs=0.006
    )


def _share_of_random_walks_that_succeed(
    mdp: TabularMdp, random: np.random.Generator, n_walks: int
) -> float:
    """Step many walks at once; the tolerance above is five standard errors."""
    walking = random.choice(mdp.n_states, n_walks, p=mdp.training_start)
    n_successes = 0
    while walking.size:
        table = mdp.outcomes
        pairs = walking * mdp.n_actions + random.integers(mdp.n_actions, size=walking.size)
        rows = table.first[pairs]
        drawn, chance = random.random(walking.size), table.probability[rows]
        while (late := drawn >= chance).any():
            rows = rows + late
            chance = np.where(late, chance + table.probability[rows], chance)
        n_successes += int(table.is_success[rows].sum())
        walking = table.next_state[rows][~table.is_terminated[rows]]
    return n_successes / n_walks


def test_steps_are_means_over_those_that_reach_the_goal() -> None:
    columns = [
        *("policy_accuracy", "sampled_success", "exact_success", "sampled_steps", "regret"),
        *("start_regret", "loss_in_small_gaps", "loss_elsewhere"),
    ]
    policies = pl.DataFrame(
        {
            "variant": "p0",
            "group": ["A", "C", "C"],
            "expected_steps": [14.0, None, 16.0],
            **{name: [0.0, 0.5, 1.0] for name in columns},
        }
    )
    summary = policies_summary({"policies": policies})
    assert summary.select("group", "n", "n_reaching", "expected_steps").rows() == [
        ("A", 1, 1, 14.0),
        ("C", 2, 1, 16.0),
    ]


def test_a_rank_correlation_is_none_where_nothing_varies() -> None:
    assert rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([9.0, 4.0, 1.0])) == -1.0
    assert rank_correlation(np.array([1.0, 1.0]), np.array([1.0, 2.0])) == 0.0
    assert rank_correlation(np.array([]), np.array([])) == 0.0


def test_p_values_of_table_1_are_fishers() -> None:
    """Against 6 of 30 published: 6 of 30 differ in nothing, 30 of 30 in all."""
    seen = {(0, 2): 6, (1, 2): 11, (6, 0): 5, (6, 1): 30, (3, 3): 30}
    actions = pl.DataFrame(
        [
            {
                "variant": "p0.1",
                "seed": seed,
                "state": 8 * y + x,
                "x": x,
                "y": y,
                "optimal_action": (best := "up" if y == 2 else "down"),
                "action": best if seed < n else "right",
                "is_correct": seed < n,
            }
            for (x, y), n in seen.items()
            for seed in range(30)
        ]
    )
    table = table_1({"actions": actions}, is_paper_map=True)
    rows = {(row["x"], row["y"]): row for row in table.iter_rows(named=True)}
    assert set(rows) >= {(0, 2), (1, 2), (6, 0), (6, 1)}
    equal = [rows[place]["p_value"] for place in ((0, 2), (1, 2), (6, 0))]
    assert equal == pytest.approx([1.0] * 3)
    # The two tables this extreme, of all ways to place 39 of 60.
    assert rows[6, 1]["p_value"] == pytest.approx(2 * comb(30, 9) / comb(60, 39), rel=1e-6)
    assert rows[6, 1]["p_adjusted"] == pytest.approx(4 * rows[6, 1]["p_value"])
    assert rows[6, 1]["down"] == 30


def test_the_published_numbers_agree_with_themselves() -> None:
    table = agreement_table(published_rollouts(), np.random.default_rng(1))
    assert table.height == 12
    assert (table["p_adjusted"] == 1.0).all()
    assert (table["effect"] == 0.0).all()
    assert not any(words.startswith("ours are") for words in table["words"])


def test_a_shifted_sample_is_found_different_and_on_which_side() -> None:
    shifted = published_rollouts().with_columns(policy_accuracy=pl.col("policy_accuracy") - 0.1)
    table = agreement_table(shifted, np.random.default_rng(1)).filter(column="policy_accuracy")
    assert all(words.startswith("ours are lower than the published: ") for words in table["words"])
    assert (table["effect_high"] < 0.0).all()


def test_the_specification_is_the_papers() -> None:
    specification = paper_specification()
    trials = specification.trials()
    assert len(trials) == 60
    assert [trials[i].environment["slip"] for i in (0, 30)] == [0.0, 0.1]
    assert [trials[i].environment["steps"] for i in (0, 30)] == [400_000, 800_000]
    quick = paper_specification(instances=2, seed=5, quick=True).trials()
    assert {t.seed for t in quick} == {5, 6}
    assert [t.environment["steps"] for t in quick] == [50_000] * 2 + [100_000] * 2
    with pytest.raises(ConfigurationError, match="instances"):
        paper_specification(instances=1)


def test_maps_by_name_size_and_file(tmp_path: Path) -> None:
    path = tmp_path / "lake.txt"
    path.write_text("SFF\nFHG\n")
    assert lake_of("8x8") == "8x8"
    assert lake_of(str(path)) == ["SFF", "FHG"]
    rows = lake_of("12x5")
    assert (len(rows), len(rows[0])) == (5, 12)
    with pytest.raises(ConfigurationError, match="neither a size"):
        lake_of("atlantis")
