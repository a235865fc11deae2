"""``xcskit compact`` from the shell's side."""

import json
from pathlib import Path

import polars as pl
import pytest

from populations import trained_rules
from xcskit.cli.main import run
from xcskit.compaction import LOSSES, MASSES, METHODS, Gnmc, compact, gnmc_path, model_niches
from xcskit.mdp import frozen_lake, solve
from xcskit.rules import RuleSet

LAKE = ["--env", "frozenlake-8x8", "--slip", "0.1", "--gamma", "0.95"]


@pytest.fixture
def model(tmp_path: Path) -> str:
    trained_rules(1).save(tmp_path / "lake.parquet")
    return str(tmp_path / "lake.parquet")


def test_the_rules_that_are_kept_are_saved(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small.parquet"
    options = ["--method", "gnmc", "--mass", "tan", "--rho", "0.5", "-o", str(small)]
    assert run(["compact", model, *LAKE, *options]) == 0
    rules = trained_rules(1)
    lake = frozen_lake("8x8", slip=0.1)
    expected = compact(rules, model_niches(rules, lake), Gnmc(mass="tan", rho=0.5))
    saved = RuleSet.load(small)
    assert saved == expected
    assert saved.metadata == expected.metadata
    shown = capsys.readouterr().out
    for number in (len(rules), len(expected), 400, expected.n_microclassifiers):
        assert f" {number} " in shown
    assert run(["compact", model, *LAKE, "-o", str(small)]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert run(["compact", model, *LAKE, "-o", str(small), "--force"]) == 0


def test_machines_get_json(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--method", "minimal", "--within", "0.1", "--json"]
    assert run(["compact", model, *LAKE, *options]) == 0
    words = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert words["method"] == "minimal"
    assert words["status"] == "optimal"
    assert words["fewest_rules_proven"] == words["after"]["n_rules"] < words["before"]["n_rules"]
    assert words["after"]["greatest_change"] <= 0.1
    assert words["before"]["greatest_change"] == 0.0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_path_is_a_table(
    model: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"path{suffix}"
    assert run(["compact", model, *LAKE, "--path", "--mass", "tan", "-o", str(file)]) == 0
    rules = trained_rules(1)
    lake = frozen_lake("8x8", slip=0.1)
    expected = gnmc_path(rules, model_niches(rules, lake), "tan").table(solve(lake, gamma=0.95))
    assert (pl.read_csv(file) if suffix == ".csv" else pl.read_parquet(file)).equals(expected)
    shown = capsys.readouterr().out
    assert "mass='tan'" in shown
    assert shown.count("\n") > len(expected)
    assert run(["compact", model, *LAKE, "--path", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) > 50


def test_holes_leave_metrics_undefined(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--method", "threshold", "--at-least", "1000", "--no-repair"]
    assert run(["compact", model, *LAKE, *options]) == 0
    assert "undefined" in capsys.readouterr().out
    assert run(["compact", model, *LAKE, "--method", "fu", "--loss", "regret"]) == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([*LAKE, "--rho", "1"], 2, "rho must be >= 0 and < 1: got 1.0"),
        ([*LAKE, "--mass", "weight"], 2, "mass is one of"),
        ([*LAKE, "--method", "best"], 2, "--method is one of gnmc, pdrc"),
        ([*LAKE, "--within", "0.1"], 2, "does not take --within; it takes --mass, --rho"),
        ([*LAKE, "--method", "pdrc", "--rho", "0.1"], 2, "it takes no settings"),
        ([*LAKE, "--path", "--rho", "0.5"], 2, "--path shows every rho"),
        ([*LAKE, "-o", "small.txt"], 2, "has to end with .parquet"),
        ([], 2, "give --env"),
        (["--env", "frozenlake-8x8"], 2, "give --gamma"),
        (["--env", "maze5"], 1, "does not fit"),
        (["--env", "nowhere"], 1, "no environment is called"),
    ],
)
def test_mistakes_are_one_line(
    model: str,
    arguments: list[str],
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["compact", model, *arguments]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert message in printed.err


def test_files_that_are_no_rule_sets_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "foreign.parquet"
    foreign.write_text("hello")
    for file, message in ((foreign, "not a rule set"), (tmp_path / "none", "no such file")):
        assert run(["compact", str(file), *LAKE]) == 1
        assert message in capsys.readouterr().err


def test_the_help_lists_what_there_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["compact", "--help"]) == 0
    words = set(capsys.readouterr().out.replace(",", " ").replace(".", " ").split())
    assert {*METHODS, *MASSES, *LOSSES} <= words
