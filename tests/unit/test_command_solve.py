import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xcskit.cli.main import run
from xcskit.mdp import frozen_lake, maze, solve

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_solve_prints_the_policy_and_q(capsys: Captured) -> None:
    assert run(["solve", "frozenlake-4x4", "--slip", "0.1"]) == 0
    out = capsys.readouterr().out
    solution = solve(frozen_lake("4x4", slip=0.1), gamma=0.95)
    assert "gamma 0.95: the test start is worth 0.66195" in out
    assert "↓ → ↓ ←\n↓ H ↓ H\n→ ↓ ↓ H\nH → → G\n" in out
    for q in solution.q[solution.mdp.states].ravel():
        assert f"{q:.5f}" in out


def test_solve_shows_ties_and_the_moves_of_a_maze(capsys: Captured) -> None:
    assert run(["solve", "maze4", "--gamma", "0.5"]) == 0
    out = capsys.readouterr().out
    assert "O →↘  ↘  O  →↘   →  F  O\nO  O  →  ↗↘  O   ↗  ↑  O\n" in out


def test_solve_writes_a_table_that_holds_q() -> None:
    assert run(["solve", "taxi", "--gamma", "1", "-o", "taxi.parquet"]) == 0
    assert run(["solve", "taxi", "--gamma", "1", "-o", "taxi.csv"]) == 0
    table = pl.read_parquet("taxi.parquet")
    assert table.equals(pl.read_csv("taxi.csv"))
    assert table.columns[:5] == ["state", "row", "column", "passenger", "destination"]
    assert len(table) == 500 * 6
    assert table["q"].is_finite().all()
    about = json.loads(pl.read_parquet_metadata("taxi.parquet")["xcskit"])
    assert about["environment"] == "Taxi-v4"
    assert about["value_of_test_start"] == pytest.approx(7.93)


def test_solve_draws_pictures() -> None:
    assert run(["solve", "maze5", "--figure", "maze.png"]) == 0
    assert Path("maze.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in Path("maze.svg").read_text()


def test_solve_speaks_json(capsys: Captured) -> None:
    assert run(["solve", "frozenlake-8x8", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["value_of_test_start"] == pytest.approx(0.51334, abs=5e-6)
    assert answer["n_states_of_s"] == 53
    assert len(answer["q"]) == 53 * 4


def test_solve_takes_files_and_options(capsys: Captured) -> None:
    Path("lake.txt").write_text("SFF\nFHG\n")
    assert run(["solve", "lake.txt"]) == 0
    np.savez("toss.npz", p=[[[0.5, 0.5]], [[0.0, 1.0]]], r=[[1.0], [0.0]])
    assert run(["solve", "toss.npz", "--gamma", "1"]) == 0
    assert "worth 2.00000" in capsys.readouterr().out
    assert run(["solve", "maze5", "-O", "view=sensors", "-O", "reward=1000", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expected = maze("maze5", view="sensors", reward=1000.0)
    assert answer["fingerprint"] == expected.fingerprint


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["solve"], 2, "Missing argument 'ENV'"),
        (["slove"], 2, "No such command"),
        (["solve", "taxi", "--gamma", "1.5"], 2, "1.5"),
        (["solve", "taxi", "--gamma", "nan"], 2, "nan"),
        (["solve", "taxi", "--gamma=one"], 2, "one"),
        (["solve", "taxi", "--gamma", "0.5", "--gamma", "2.5"], 2, "2.5"),
        (["solve", "maze5", "--slip", "-0.1"], 2, "-0.1"),
        (["solve", "maze5", "--slip", "1"], 2, "slip must be >= 0 and < 1"),
        (["solve", "maze5", "-O", "view"], 2, "not of the form NAME=VALUE"),
        (["solve", "maze5", "-O", "wiew=cell"], 2, "does not take ['wiew']"),
        (["solve", "maze5", "-O", "name=x"], 2, "does not take ['name']"),
        (
            ["solve", "maze5", "--slip", "0.1", "-O", "slip=0.2"],
            2,
            "slip is 0.1 by --slip, and 0.2",
        ),
        (["solve", "maze5", "-O", "toroidal=maybe"], 2, "toroidal is True or False: got 'maybe'"),
        (["solve", "FrozenLake-v1", "-O", "map_name=9x9"], 1, "KeyError('9x9')"),
        (["solve", "maze5", "-o", "q.pkl"], 2, "has to end with .parquet or .csv"),
        (["solve", "maze5", "-o", "no/q.csv"], 2, "there is no folder 'no'"),
        (["solve", "maze5", "-o", "old.csv"], 2, "--force replaces it"),
        (["solve", "frozenlak"], 1, "did you mean frozenlake-8x8"),
        (["solve", "CartPole-v1"], 1, "learn_from"),
        (["solve", "bad.txt"], 1, "row 1, column 1 of the lake is 'X'"),
        (["solve", "shut.txt"], 1, "unsolvable"),
        (["solve", "loop.npz", "--gamma", "1"], 1, "use a gamma below 1"),
    ],
)
def test_what_fails_says_so_in_one_line(
    arguments: list[str], status: int, message: str, capsys: Captured
) -> None:
    Path("old.csv").write_text("kept")
    Path("bad.txt").write_text("SFF\nFXG\n")
    Path("shut.txt").write_text("SHG\n")
    np.savez("loop.npz", p=np.ones((1, 1, 1)), r=[[1.0]])
    assert run(arguments) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("xcskit: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert Path("old.csv").read_text() == "kept"


def test_force_replaces_a_file() -> None:
    Path("q.csv").write_text("old")
    assert run(["solve", "maze5", "-o", "q.csv", "--force"]) == 0
    assert Path("q.csv").read_text().startswith("state,x,y,action,q")


def test_debug_shows_the_traceback(capsys: Captured) -> None:
    assert run(["solve", "CartPole-v1", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_defect_is_one_line_too(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("xcskit.cli.solve.read_environment", break_down)
    assert run(["solve", "maze5"]) == 1
    assert "unexpected ZeroDivisionError" in capsys.readouterr().err


def test_without_arguments_there_is_help(capsys: Captured) -> None:
    assert run([]) == 0
    assert "solve" in capsys.readouterr().out


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from xcskit.cli.main import run\n"
        "run(['solve', '--help'])\n"
        "heavy = {'numba', 'scipy', 'polars', 'matplotlib', 'gymnasium'} & set(sys.modules)\n"
        "sys.exit(repr(heavy) if heavy else 0)\n"
    )
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Example: xcskit solve" in done.stdout
