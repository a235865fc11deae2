import builtins
import dataclasses
import io
import pickle
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from oracle.conditions import generality
from oracle.environment import MAP_8X8, frozen_lake, train
from oracle.parameters import Parameters
from oracle.xcsf import Xcsf
from populations import from_oracle, grid_observations, lake_observations, random_rules
from xcskit.errors import ConfigurationError, HoleError, SpaceError, TrainingError, XcskitError
from xcskit.kernels.conditions import MinSpan, UnorderedBounds
from xcskit.kernels.population import RULE
from xcskit.kernels.predictions import Constant, Nlms, Rls
from xcskit.rules import Niches, RuleSet
from xcskit.rules.display import html_table
from xcskit.spaces import IntegerSpace


def changed(rules: RuleSet, **columns: Any) -> RuleSet:
    return dataclasses.replace(rules, columns={**rules.columns, **columns})


def test_values_equal_the_oracles_to_the_last_bit() -> None:
    system = Xcsf(Parameters(N=300), (0, 0), (7, 7), 4, 5)
    train(system, frozen_lake(MAP_8X8, 0.1), 2000)
    rules = from_oracle(system.rules, 5)
    observations = grid_observations(rules.space)
    values = rules.q_values(observations, holes="mask")
    is_hole = np.ma.getmaskarray(values)
    for i, observation in enumerate(observations.tolist()):
        for action in range(4):
            expected = system.q_value(observation, action)
            assert is_hole[i, action] == (expected is None)
            assert is_hole[i, action] or values[i, action] == expected
    assert values.count() > 53 * 4 * 0.9
    expected_generality = [generality(system.space, rule.intervals) for rule in system.rules]
    assert rules.generality.tolist() == expected_generality


@pytest.mark.parametrize("condition", [MinSpan(), UnorderedBounds()])
@pytest.mark.parametrize("prediction", [Nlms(), Nlms(degree=2), Rls(), Constant()])
def test_storages_make_the_rules_that_they_hold(
    condition: MinSpan | UnorderedBounds, prediction: Nlms | Rls | Constant
) -> None:
    rules = random_rules(1, condition=condition, prediction=prediction)
    rows = np.arange(1, len(rules), 3)
    records = np.zeros(len(rules), RULE)
    for name in RULE.names or ():
        records[name] = rules[name]
    made = RuleSet.from_storages(
        records,
        rules.condition_storage,
        rules.prediction_storage,
        rows,
        space=rules.space,
        action_names=rules.action_names,
        condition=condition,
        prediction=prediction,
    )
    assert made == rules[rows]
    assert made != rules[rows + 1]


def test_selection_keeps_rule_order_and_metadata() -> None:
    rules = random_rules(2)
    strong = rules.filter(pl.col("numerosity") > 10, pl.col("generality") < 0.9)
    mask = (rules.numerosity > 10) & (rules.generality < 0.9)
    assert 0 < len(strong) < len(rules)
    assert strong == rules[mask] == rules[np.flatnonzero(mask)] == rules[mask.tolist()]
    assert strong.metadata == rules.metadata
    assert rules[3] == rules[3:4] == rules[[3]]
    assert rules[-1] == rules[[len(rules) - 1]]
    assert len(rules[[]]) == 0
    assert rules[np.zeros(len(rules), dtype=bool)].n_microclassifiers == 0
    assert rules[[1, 1]].columns["fitness"].tolist() == [rules.fitness[1]] * 2


@pytest.mark.parametrize("selector", [[True, False], [60], [-61], 60])
def test_selection_refuses_what_does_not_fit(selector: list[int]) -> None:
    with pytest.raises(IndexError, match="60"):
        random_rules(2)[selector]


def test_selection_refuses_other_types() -> None:
    with pytest.raises(TypeError, match="mask"):
        random_rules(2)[np.array([1.0])]  # pyright: ignore[reportArgumentType, reportCallIssue] # the mistake under test
    with pytest.raises(KeyError, match="'fitnes'; its columns are action"):
        random_rules(2)["fitnes"]


def test_equality_looks_at_everything_but_metadata() -> None:
    rules = random_rules(3)
    assert rules == random_rules(3)
    assert rules == rules.with_metadata(note="same")
    assert rules.with_metadata(note="same").metadata["note"] == "same"
    assert rules != random_rules(4)
    assert rules != dataclasses.replace(rules, action_names=("a", "b"))
    assert rules != dataclasses.replace(rules, condition=MinSpan(cover_range=5))
    assert rules != dataclasses.replace(rules, prediction=Nlms(eta=0.2))
    assert rules != dataclasses.replace(rules, space=IntegerSpace.grid(5, 5))
    assert rules != "rules"


def test_rule_sets_are_immutable() -> None:
    given = np.array([0.5])
    rules = changed(random_rules(1)[0], fitness=given)
    given[0] = 2.0
    assert rules.fitness[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        rules.fitness[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        rules.generality[0] = 1.0
    with pytest.raises(TypeError):
        rules.columns["fitness"] = given  # type: ignore[index] # the mistake under test
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.space = IntegerSpace.grid(2, 2)  # type: ignore[misc] # the mistake under test
    frame = rules.to_polars()
    frame[0, "fitness"] = 9.0
    assert rules.fitness[0] == 0.5
    assert pickle.loads(pickle.dumps(rules)) == rules  # noqa: S301 - as worker processes do


def test_frames_hold_every_column() -> None:
    rules = random_rules(4)
    frame = rules.to_polars()
    assert frame.columns == [*rules.columns, "generality"]
    assert frame.columns[:5] == ["action", "x_lower", "x_upper", "y_lower", "y_upper"]
    pandas = rules.to_pandas()
    assert list(pandas.columns) == frame.columns
    assert all((pandas[name].to_numpy() == frame[name].to_numpy()).all() for name in frame.columns)
    remade = changed(rules, **frame.to_dict())
    assert remade == rules


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install xcskit\[pandas\]"):
        random_rules(4).to_pandas()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"fitness": [np.nan]}, "rule 0 has fitness nan; expected above 0, finite"),
        ({"fitness": [0.0]}, "rule 0 has fitness 0.0; expected above 0"),
        ({"fitness": ["a"]}, "'fitness' holds float64 values"),
        ({"fitness": [0.1, 0.2]}, "equally long"),
        ({"fitness": [[0.1]]}, "'fitness' is a row of numbers"),
        ({"numerosity": [0]}, "rule 0 has numerosity 0; expected at least 1"),
        ({"numerosity": [-3]}, "numerosity -3"),
        ({"numerosity": [1.5]}, "'numerosity' holds int64 values: got float64"),
        ({"action": [2]}, "action 2; expected at least 0, at most 1"),
        ({"action": [-1]}, "action -1"),
        ({"x_lower": [4], "x_upper": [3]}, "rule 0 has x from 4 to 3"),
        ({"x_upper": [5]}, "within 0 to 4"),
        ({"y_lower": [-1]}, "within 0 to 3"),
        ({"weight_x": [np.inf]}, "weight_x inf; expected finite"),
        ({"action_set_size": [0.0]}, "action_set_size 0.0"),
        ({"experience": [2**60]}, "experience"),
        ({"colour": [1]}, "have the unknown colour; expected action, x_lower"),
    ],
)
def test_bad_columns_are_one_clear_error(columns: Mapping[str, Any], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        changed(random_rules(1)[0], **columns)


def test_a_missing_column_is_named() -> None:
    rules = random_rules(1)
    columns = {name: data for name, data in rules.columns.items() if name != "fitness"}
    with pytest.raises(SpaceError, match="lack fitness"):
        dataclasses.replace(rules, columns=columns)


@pytest.mark.parametrize("names", [(), ("a", "a"), ("a", ""), "ab", ("a", 1)])
def test_action_names_are_checked(names: tuple[str, ...]) -> None:
    with pytest.raises(SpaceError, match="action names"):
        dataclasses.replace(random_rules(1), action_names=names)


def test_dimensions_must_not_name_one_column_twice() -> None:
    space = IntegerSpace((0, 0), (3, 3), ("constant", "y"))
    with pytest.raises(SpaceError, match="'weight_constant'; rename"):
        random_rules(1, space=space)


@pytest.mark.parametrize("metadata", [{"a": np.nan}, {"a": object()}, {"a": {1, 2}}])
def test_metadata_is_what_json_can_hold(metadata: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="JSON"):
        dataclasses.replace(random_rules(1), metadata=metadata)


def test_sentences_read_well() -> None:
    rules = changed(
        random_rules(1, 2)[:2],
        action=[1, 0],
        x_lower=[2, 0],
        x_upper=[4, 4],
        y_lower=[0, 0],
        y_upper=[1, 3],
        weight_constant=[0.043, 0.0],
        weight_x=[0.02, -0.5],
        weight_y=[0.01, 0.0],
        fitness=[0.61, 0.001],
        numerosity=[17, 1],
    )
    assert rules.sentences() == [
        "IF 2 <= x <= 4 AND 0 <= y <= 1 THEN down: 0.43 + 0.02 x + 0.01 y (fitness 0.61, x17)",
        "IF any state THEN left: 0 - 0.5 x + 0 y (fitness 0.001, x1)",
    ]


def test_displays_show_the_greatest_numerosities_and_say_what_is_left_out() -> None:
    rules = random_rules(6, 40)
    strongest = rules[int(np.argmax(rules.numerosity))].sentences()[0]
    text = repr(rules)
    assert text.splitlines()[0].startswith("40 rules (")
    assert strongest in text
    assert "28 more" in text
    console = Console(file=io.StringIO(), width=200)
    console.print(rules)
    assert isinstance(console.file, io.StringIO)
    assert "28 more" in console.file.getvalue()
    assert "generality" in console.file.getvalue()
    assert "1 rule (" in repr(rules[0])
    assert repr(rules[[]]).startswith("0 rules (0 microclassifiers)")


@pytest.mark.parametrize(("width", "n_numbers"), [(200, 5), (100, 2), (80, 1)])
def test_a_narrow_terminal_shows_fewer_numbers_rather_than_broken_words(
    width: int, n_numbers: int
) -> None:
    rules = random_rules(6, 40)
    names = ["fitness", "error", "numerosity", "experience", "generality"]
    console = Console(file=io.StringIO(), width=width)
    console.print(rules)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    head, first = lines[2], lines[4]
    assert [name for name in names if name in head] == names[:n_numbers]
    told = " ".join(" ".join(lines).partition("a wider terminal shows ")[2].split())
    assert told == (f"{', '.join(names[n_numbers:])} too" if n_numbers < len(names) else "")
    strongest = rules[int(np.argmax(rules.numerosity))].sentences()[0]
    condition, prediction = re.split(r" THEN \w+: | \(", strongest.removeprefix("IF "))[:2]
    assert condition in first
    assert prediction in first


def test_displays_take_names_as_text() -> None:
    rules = dataclasses.replace(random_rules(6), action_names=("<b>", "[red]go"))
    assert "&lt;b&gt;" in html_table(rules)
    assert "<b>" not in html_table(rules)
    console = Console(file=io.StringIO(), width=200)
    console.print(rules)
    assert isinstance(console.file, io.StringIO)
    assert "[red]go" in console.file.getvalue()


def test_holes_are_named_or_masked() -> None:
    rules = changed(
        random_rules(1)[0], action=[0], x_lower=[0], x_upper=[4], y_lower=[0], y_upper=[0]
    )
    observations = grid_observations(rules.space)
    message = r"35 of 40 state-action pairs .*: \(x=0, y=0\) down; \(x=0, y=1\) left; .*; \.\.$"
    with pytest.raises(HoleError, match=message):
        rules.q_values(observations)
    with pytest.raises(HoleError):
        rules.policy(observations)
    masked = rules.q_values(observations, holes="mask")
    assert masked.count() == 5
    assert not np.isnan(masked.compressed()).any()
    is_known = ~np.ma.getmaskarray(masked)[:, 0]
    assert is_known.tolist() == (observations[:, 1] == 0).tolist()


def test_policy_takes_the_lowest_of_exact_ties() -> None:
    rules = random_rules(1, 2, prediction=Constant(), n_actions=2)
    tied = changed(rules, prediction=[0.25, 0.25])
    assert tied.policy([[0, 0], [4, 3]]).tolist() == [0, 0]
    assert changed(rules, prediction=[0.25, 0.26]).policy([0, 0]).tolist() == [1]


@pytest.mark.parametrize("observations", [[[0.5, 1.0]], [[9, 0]], [[0]], "a", [[[0, 0]]]])
def test_observations_are_checked(observations: object) -> None:
    with pytest.raises(SpaceError):
        random_rules(1).q_values(observations)


def test_diverged_weights_are_an_error_and_no_silent_number() -> None:
    rules = random_rules(1, 2, prediction=Nlms(degree=2))
    wild = changed(rules, weight_x=[1e308, 0.0], weight_x_y=[-1e308, 0.0])
    with pytest.raises(TrainingError, match="diverged"):
        wild.q_values([[4, 3]])
    assert issubclass(TrainingError, XcskitError)


def test_values_come_in_chunks_that_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = random_rules(8)
    observations = grid_observations(rules.space)
    whole = rules.q_values(observations)
    monkeypatch.setattr("xcskit.rules.ruleset._CHUNK", 3)
    assert (rules.q_values(observations) == whole).all()


def test_observations_stay_the_callers() -> None:
    observations = lake_observations()
    Niches.of(random_rules(1, space=IntegerSpace.grid(8, 8)), observations)
    observations[0, 0] = 3
