"""Published numbers, agreement with them, and the policies that they come from."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xcskit.errors import ConfigurationError
from xcskit.mdp import Solution, frozen_lake, solve
from xcskit.paper.agreement import agreement_table
from xcskit.paper.evidence import least_steps
from xcskit.paper.policies import mark_published, policy_facts, slip_states
from xcskit.paper.published import published_actions, published_rollouts
from xcskit.paper.specification import lake_of, paper_specification


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


def test_the_shortest_way_is_fourteen_steps(solution: Solution) -> None:
    assert least_steps(solution) == 14


def test_the_published_numbers_agree_with_themselves() -> None:
    table = agreement_table(published_rollouts(), np.random.default_rng(1))
    assert table.height == 12
    assert (table["p_adjusted"] == 1.0).all()
    assert (table["effect"] == 0.0).all()
    assert not any(words.startswith("ours are") for words in table["words"])


def test_a_shifted_sample_is_found_different_and_on_which_side() -> None:
    shifted = published_rollouts().with_columns(policy_accuracy=pl.col("policy_accuracy") - 0.1)
    table = agreement_table(shifted, np.random.default_rng(1)).filter(column="policy_accuracy")
    assert all(words.startswith("ours are lower: much lower to ") for words in table["words"])
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
