"""Rules for other programs: CSV, JSON, and a Python file that needs nothing else."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from populations import grid_observations, random_rules, trained_rules
from xcskit.cli.main import run
from xcskit.errors import ConfigurationError, HoleError
from xcskit.kernels.components import ConditionScheme, PredictionScheme
from xcskit.kernels.conditions import MinSpan, UnorderedBounds
from xcskit.kernels.predictions import Constant, Nlms, Rls
from xcskit.rules import RuleSet
from xcskit.rules.export import EXPORTS
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools

ODD = IntegerSpace((-3, 1, 0), (2, 3, 1), ('a"b', "c\n", "{d}'''\\"))

ASK = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
answers = []
for seen in json.load(sys.stdin):
    try:
        answers.append([[q.hex() for q in module["q_values"](seen)], module["policy"](seen)])
    except LookupError as reason:
        answers.append(str(reason))
third_party = {"numpy", "xcskit", "site"} & set(sys.modules)
assert not third_party, third_party
json.dump(answers, sys.stdout)
"""


def ask(file: Path, observations: Any) -> list[Any]:
    """Ask an exported program in an interpreter that knows the standard library alone."""
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-I", "-S", "-W", "error", "-c", ASK, str(file)],
        input=json.dumps(observations.tolist()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("condition", [MinSpan(), UnorderedBounds()])
@pytest.mark.parametrize(
    "prediction", [Constant(), Nlms(x_0=3.7), Nlms(degree=2), Rls(), Rls(degree=2)]
)
def test_a_python_file_answers_the_same_to_the_last_bit(
    condition: ConditionScheme, prediction: PredictionScheme, tmp_path: Path
) -> None:
    rules = random_rules(5, 300, space=ODD, n_actions=3, condition=condition, prediction=prediction)
    rules.export(tmp_path / "rules.py")
    observations = grid_observations(ODD)
    answers = ask(tmp_path / "rules.py", observations)
    expected = rules.q_values(observations)
    assert [answer[0] for answer in answers] == [[q.hex() for q in row] for row in expected]
    assert [answer[1] for answer in answers] == rules.policy(observations).tolist()


def test_trained_rules_answer_the_same_and_the_file_is_a_command(tmp_path: Path) -> None:
    rules = trained_rules(1)
    file = tmp_path / "lake.py"
    rules.export(file)
    observations = grid_observations(rules.space)
    values = rules.q_values(observations, holes="mask").filled(np.nan)
    is_hole: Bools = np.isnan(values).max(axis=1)
    answers = ask(file, observations)
    for seen, answer, has_hole in zip(observations, answers, is_hole, strict=True):
        if has_hole:
            assert "no rule for" in answer
            with pytest.raises(HoleError):
                rules.q_values(seen)
        else:
            assert answer[0] == [q.hex() for q in rules.q_values(seen)[0]]
    command = [sys.executable, "-I", "-S", str(file)]
    told = subprocess.run(  # noqa: S603 - the file above
        [*command, "7", "6"], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"{rules.action_names[int(rules.policy([7, 6])[0])]}\n"
    wrong = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert wrong.returncode == 1
    assert wrong.stderr.endswith("lake.py x y\n")


def test_ties_and_wrong_observations(tmp_path: Path) -> None:
    rules = random_rules(1, 2, prediction=Constant())
    equal = RuleSet(
        columns={**rules.columns, "prediction": np.array([0.5, 0.5])},
        space=rules.space,
        action_names=("left", "right"),
        condition=rules.condition,
        prediction=rules.prediction,
    )
    equal.export(tmp_path / "equal.py")
    module: dict[str, Any] = {"__name__": "equal"}
    exec((tmp_path / "equal.py").read_text(), module)  # noqa: S102 - written by us just now
    assert module["policy"]((0, 0)) == 0
    assert module["policy"](np.array([0, 0])) == 0
    for wrong in ((0,), (0, 0, 0), (5, 0), (-1, 0)):
        with pytest.raises(ValueError, match="'x', 'y'"):
            module["q_values"](wrong)
    with pytest.raises(TypeError):
        module["q_values"]((0.5, 0))


def test_csv_and_json_hold_every_number(tmp_path: Path) -> None:
    rules = trained_rules(1)
    table = rules.to_polars()
    rules.export(tmp_path / "rules.csv")
    assert pl.read_csv(tmp_path / "rules.csv").equals(table)
    rules.export(tmp_path / "rules.json")
    words = json.loads((tmp_path / "rules.json").read_text())
    assert pl.DataFrame(words["rules"]).equals(table)
    assert words["space"] == {"lower": [0, 0], "upper": [7, 7], "names": ["x", "y"]}
    assert words["action_names"] == list(rules.action_names)
    assert words["prediction"] == {"type": "nlms", "degree": 1, "x_0": 10.0, "eta": 0.1}
    assert words["condition"]["type"] == "min_span"
    assert words["metadata"] == dict(rules.metadata)


def test_an_empty_rule_set_is_exported(tmp_path: Path) -> None:
    none = trained_rules(1)[[]]
    for suffix in EXPORTS:
        none.export(tmp_path / f"none{suffix}")
    answers = ask(tmp_path / "none.py", np.array([[0, 0]]))
    assert answers == ["no rule for left matches (0, 0)"]


def test_other_forms_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"end with \.csv or \.json or \.py"):
        trained_rules(1).export(tmp_path / "rules.pkl")

    class Other(MinSpan):
        pass

    class Doubled(Nlms):
        pass

    for strange in (
        random_rules(1, condition=Other()),
        random_rules(1, prediction=Doubled()),
    ):
        with pytest.raises(ConfigurationError, match=r"export to \.csv or \.json"):
            strange.export(tmp_path / "rules.py")
    assert not list(tmp_path.iterdir())


def test_the_command_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = trained_rules(1)
    rules.save(tmp_path / "lake.parquet")
    for suffix in EXPORTS:
        rules.export(tmp_path / f"expected{suffix}")
        command = ["export", str(tmp_path / "lake.parquet"), "-o", str(tmp_path / f"lake{suffix}")]
        assert run(command) == 0
        assert f": {len(rules)} rules\n" in capsys.readouterr().out
        written = (tmp_path / f"lake{suffix}").read_bytes()
        assert written == (tmp_path / f"expected{suffix}").read_bytes()
        assert run(command) == 2
        assert "--force replaces it" in capsys.readouterr().err
        assert run([*command, "--force", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["n_rules"] == len(rules)
    assert run(["export", str(tmp_path / "lake.parquet"), "-o", "lake.pkl"]) == 2
    assert ".csv or .json or .py" in capsys.readouterr().err
