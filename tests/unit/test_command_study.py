"""A whole study from the shell: train, show, evaluate, roll out, compact, evaluate again, plot."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from populations import trained_rules
from xcskit.cli.main import COMMANDS, run
from xcskit.cli.plot import KINDS
from xcskit.compaction import Gnmc, compact, model_niches
from xcskit.evaluation import evaluate_q, paper_rollouts, rollouts
from xcskit.kernels.compiler import cache_directory
from xcskit.kernels.training import train_on_model
from xcskit.learner import XCSF, presets
from xcskit.mdp import frozen_lake, solve
from xcskit.rules import RuleSet
from xcskit.typing import Bools

Captured = pytest.CaptureFixture[str]

WORLD = frozen_lake("8x8")
STEPS = 20_000
TRAIN = ["train", "frozenlake-4x4", "--slip", "0.1", "--seed", "1", "--steps", str(STEPS)]


def answer(capsys: Captured, *arguments: str) -> Any:
    """Run a command that has to succeed, and give the JSON that it prints."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "lake.parquet"
    assert run([*TRAIN, "-o", str(path), "--json"]) == 0
    return path


@pytest.fixture
def lake(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the name of a rule set in the current folder, which is the test's own."""
    monkeypatch.chdir(tmp_path)
    Path("lake.parquet").write_bytes(trained.read_bytes())
    return "lake.parquet"


def test_a_whole_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*TRAIN, "-o", "lake.parquet"]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"training with seed 1 from step 0 to {STEPS}\n"
    assert printed.out.endswith("saved lake.parquet\n")
    world = frozen_lake("4x4", slip=0.1)
    agent = XCSF.on(world, presets.bishop2020(), seed=1).train(world, STEPS)
    rules = RuleSet.load("lake.parquet")
    assert rules == agent.rules
    assert f" {len(rules)} " in printed.out

    assert run(["show", "lake.parquet"]) == 0
    assert f"{len(rules)} rules, 20 shown" in capsys.readouterr().out

    solution = solve(world, gamma=0.95)
    before = answer(capsys, "evaluate", "lake.parquet", "--env", "frozenlake-4x4", "--slip", "0.1")
    expected = evaluate_q(rules, solution).summary()
    assert {name: before[name] for name in expected} == expected
    assert before["policy_accuracy"] > 0.5

    assert run(["compact", "lake.parquet", "--rho", "0.9", "-o", "small.parquet"]) == 0
    after = answer(capsys, "evaluate", "small.parquet")
    kept = compact(rules, model_niches(rules, world), Gnmc(rho=0.9))
    expected = evaluate_q(kept, solution).summary()
    assert {name: after[name] for name in expected} == expected
    assert after["n_rules"] == len(kept) < before["n_rules"]

    for kind in KINDS:
        assert run(["plot", "small.parquet", "--kind", kind, "-o", kind]) == 0
        assert Path(f"{kind}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in Path(f"{kind}.svg").read_text()
    assert len({Path(f"{kind}.png").read_bytes() for kind in KINDS}) == len(KINDS)


# ---- train ----


@pytest.mark.parametrize("at_call", [1, 2, 3, 7])
@pytest.mark.parametrize("every", [700, 10**6])
def test_ctrl_c_loses_nothing(
    at_call: int, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--every", str(every), "--snapshot-every", "900", "--steps", "20000"]
    n_calls = 0

    def interrupted(*arguments: Any) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls == at_call:
            signal.raise_signal(signal.SIGINT)
        return train_on_model(*arguments)

    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr("xcskit.learner.xcsf.train_on_model", interrupted)
        assert run([*TRAIN, *options, "-o", "lake.parquet"]) == 1
    assert signal.getsignal(signal.SIGINT) is before
    assert not Path("lake.parquet").exists()
    error = capsys.readouterr().err.splitlines()[-1]
    assert "with --resume goes on from 'lake.checkpoint'" in error
    stopped = int(re.findall(r"at step (\d+) of 20000", error)[0])
    assert stopped == XCSF.load("lake.checkpoint").steps < 20_000
    assert run([*TRAIN, *options, "-o", "lake.parquet", "--resume"]) == 0
    world = frozen_lake("4x4", slip=0.1)
    whole = XCSF.on(world, presets.bishop2020(), seed=1)
    whole.train(world, 20_000, every=every, snapshot_every=900)
    rules = RuleSet.load("lake.parquet")
    assert rules == whole.rules
    steps = [row["step"] for row in rules.metadata["history"]]
    assert steps == whole.history["step"].to_list()
    for step, snapshot in whole.snapshots.items():
        assert RuleSet.load(f"lake-{step:09d}.parquet") == snapshot


def test_ctrl_c_in_a_process_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from xcskit.cli.main import main; main()", *TRAIN]
    command += ["--steps", "30000000", "--every", "10000", "-o", "lake.parquet"]
    process = subprocess.Popen(  # noqa: S603 - the command above
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process:
        assert process.stderr.readline() == "training with seed 1 from step 0 to 30000000\n"
        process.send_signal(signal.SIGINT)
        message = process.stderr.read()
    assert process.returncode == 1
    assert message.startswith("xcskit: error: interrupted at step ")
    assert message.count("\n") == 1
    stopped = XCSF.load(tmp_path / "lake.checkpoint")
    end = stopped.steps + 10_000
    resumed = [*command, "--steps", str(end), "--resume"]
    subprocess.run(resumed, cwd=tmp_path, check=True, capture_output=True)  # noqa: S603
    world = frozen_lake("4x4", slip=0.1)
    whole = XCSF.on(world, presets.bishop2020(), seed=1).train(world, end)
    assert RuleSet.load(tmp_path / "lake.parquet") == whole.rules


def test_settings_come_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    config = presets.bishop2020().replace(population_size=200, discount=0.8)
    Path("mine.toml").write_text(config.to_toml())
    arguments = [*TRAIN[:-1], "3000", "--config", "mine.toml", "--checkpoint", "lake.checkpoint"]
    told = answer(capsys, *arguments)
    assert told["files"] == ["rules.parquet", "lake.checkpoint"]
    assert told["n_microclassifiers"] <= 200
    agent = XCSF.load("lake.checkpoint")
    assert agent.config == config
    assert (agent.steps, agent.seed) == (3000, 1)
    assert answer(capsys, "evaluate", "rules.parquet")["gamma"] == 0.8
    by_checkpoint = ["lake.checkpoint", "--env", "frozenlake-4x4", "--slip", "0.1"]
    assert answer(capsys, "evaluate", *by_checkpoint) == answer(capsys, "evaluate", "rules.parquet")
    assert run(["plot", *by_checkpoint, "--kind", "training"]) == 0


def test_environments_without_a_model_are_trained_on_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    cards = ["train", "Blackjack-v1", "--seed", "1", "--every", "500", "--snapshot-every", "400"]
    told = answer(capsys, *cards, "--steps", "1000")
    assert told["files"] == ["rules.parquet", "rules-000000400.parquet", "rules-000000800.parquet"]
    assert told["step"] == 1000
    assert "policy_accuracy" not in told
    rules = RuleSet.load("rules.parquet")
    assert rules.space.upper == (31, 10, 1)
    assert run(["plot", "rules.parquet", "--kind", "training"]) == 0
    assert run(["evaluate", "rules.parquet"]) == 1
    assert "exposes no model" in capsys.readouterr().err


# ---- show, evaluate, rollout, info ----


def test_rules_are_chosen_sorted_and_counted(lake: str, capsys: Captured) -> None:
    rules = RuleSet.load(lake)
    table = rules.to_polars()
    rows = answer(capsys, "show", lake, "--limit", "0")
    assert len(rows) == len(rules)
    counts = [row["numerosity"] for row in rows]
    assert counts == sorted(counts, reverse=True)
    first = rows[0]
    sentence = f"IF {first['if']} THEN {first['then']}: {first['predict']} "
    assert any(line.startswith(sentence) for line in rules.sentences())

    strong = ["--where", "fitness > 0.1 AND numerosity >= 5", "--action", "right"]
    rows = answer(capsys, "show", lake, *strong, "--sort", "generality", "--ascending")
    mask = (table["fitness"] > 0.1) & (table["numerosity"] >= 5) & (table["action"] == 2)
    expected = table.filter(mask).sort("generality", maintain_order=True)
    assert [row["generality"] for row in rows] == expected["generality"].to_list()[:20]
    assert {row["then"] for row in rows} == {"right"}

    rows = answer(capsys, "show", lake, "--at", "2,3", "--limit", "0")
    x, y = (pl.col(f"{d}_lower") <= v for d, v in (("x", 2), ("y", 3)))
    matching = table.filter(x, y, pl.col("x_upper") >= 2, pl.col("y_upper") >= 3)
    assert len(rows) == len(matching) > 0

    assert run(["show", lake, "--sentences", "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert set(lines) <= set(rules.sentences())
    assert run(["show", lake, "--where", "numerosity < 0"]) == 0
    assert f"{len(rules)} rules, 0 chosen, 0 shown" in capsys.readouterr().out


def test_an_evaluation_names_holes_and_writes_its_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    rules = trained_rules(1)
    is_first_right: Bools = (rules.actions == 2) & (rules["x_lower"] == 0) & (rules["y_lower"] == 0)
    rules[~is_first_right].save("holes.parquet")
    holes = rules[~is_first_right].q_values(WORLD.observations[WORLD.states], holes="mask").mask
    command = ["evaluate", "holes.parquet", "--env", "frozenlake-8x8", "--gamma", "0.95"]
    assert run([*command, "-o", "states.csv"]) == 0
    out = capsys.readouterr().out
    n_holes = int(np.count_nonzero(holes))
    assert out.count("matched by no rule: ") == n_holes
    assert "matched by no rule: (x=0, y=0) right\n" in out
    told = answer(capsys, *command)
    assert told["n_holes"] == len(told["holes"]) == n_holes
    assert told["mean_regret"] is None
    assert pl.read_csv("states.csv")["state"].len() == 53


def test_rollouts_are_the_papers_or_general(lake: str, capsys: Captured) -> None:
    rules = RuleSet.load(lake)
    world = frozen_lake("4x4", slip=0.1)
    policy = rules.policy(world.observations[world.states])
    assert answer(capsys, "rollout", lake, "--paper") == paper_rollouts(world, policy).summary()
    general = ["rollout", lake, "--episodes", "80", "--seed", "4", "--step-limit", "50"]
    found = rollouts(world, policy, seed=4, n_episodes=80, step_limit=50)
    assert answer(capsys, *general) == found.summary()
    assert run([*general, "-o", "episodes.parquet"]) == 0
    assert pl.read_parquet("episodes.parquet").equals(found.table())
    assert answer(capsys, "rollout", lake, "--successes", "3")["n_successes"] == 3
    assert f" {found.n_successes} " in (run(general), capsys.readouterr().out)[1]


def test_info_tells_versions_cache_and_cores(capsys: Captured) -> None:
    told = answer(capsys, "info")
    assert told["numpy_version"] == np.__version__
    assert told["cache_directory"] == str(cache_directory())
    assert told["cores"] >= 1
    assert run(["info"]) == 0
    assert f"numpy version         {np.__version__}\n" in capsys.readouterr().out


# ---- mistakes ----


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["train", "frozenlake-4x4", "-o", "lake.parquet"], 2, "--force replaces it"),
        (["train", "frozenlake-4x4", "-o", "rules.csv"], 2, "has to end with .parquet"),
        (["train", "frozenlake-4x4", "--steps", "0"], 2, "'--steps'"),
        (["train", "frozenlake-4x4", "--every", "1"], 2, "raise --every"),
        (["train", "frozenlake-4x4", "--preset", "best"], 2, "--preset is one of bishop2020"),
        (["train", "frozenlake-4x4", "--config", "none.toml"], 1, "no such file"),
        (["train", "frozenlake-4x4", "--config", "bad.toml"], 2, "configuration has no beta"),
        (
            ["train", "maze5", "--config", "bad.toml", "--preset", "bishop2020"],
            2,
            "leave one of them out",
        ),
        (["train", "frozenlak"], 1, "did you mean"),
        (["train", "CartPole-v1"], 1, "XCSF reads integer observations"),
        (["train", "maze5", "--resume"], 2, "no checkpoint 'rules.checkpoint'"),
        (["train", "maze5", "--checkpoint", "old.checkpoint"], 2, "--force replaces it"),
        (["train", "maze5", "--checkpoint", "old.checkpoint", "--resume"], 2, "another env"),
        (
            [*TRAIN, "--checkpoint", "old.checkpoint", "--resume", "--seed", "2"],
            2,
            "another seed",
        ),
        (
            [*TRAIN, "--checkpoint", "old.checkpoint", "--resume", "--steps", "100"],
            2,
            "100 steps old",
        ),
        (["show", "none.parquet"], 1, "no such file"),
        (["show", "bad.toml"], 1, "not a rule set"),
        (["show", "lake.parquet", "--where", "size > 3"], 2, "is no condition over the columns"),
        (["show", "lake.parquet", "--where", "DROP"], 2, "is no condition"),
        (["show", "lake.parquet", "--action", "jump"], 2, "one of left, down, right, up"),
        (["show", "lake.parquet", "--at", "a,b"], 2, "whole numbers with commas"),
        (["show", "lake.parquet", "--at", "9,0"], 1, "x = 9, expected 0 to 3"),
        (["show", "lake.parquet", "--sort", "size"], 2, "--sort is one of action"),
        (["evaluate", "bare.parquet"], 2, "give --env"),
        (["evaluate", "bare.parquet", "--env", "frozenlake-8x8"], 2, "give --gamma"),
        (["evaluate", "lake.parquet", "--env", "maze5"], 1, "does not fit"),
        (["evaluate", "lake.parquet", "-o", "table.txt"], 2, "has to end with"),
        (["rollout", "lake.parquet", "--paper", "--seed", "1"], 2, "leave --seed out"),
        (["plot", "lake.parquet", "--kind", "pie"], 2, "--kind is one of policy, value"),
        (["plot", "lake.parquet", "-o", "old"], 2, "'old.png' exists"),
        (["plot", "bare.parquet", "--kind", "training"], 2, "hold no history"),
    ],
)
def test_mistakes_are_one_line(
    lake: str, arguments: list[str], status: int, message: str, capsys: Captured
) -> None:
    Path("bad.toml").write_text("beta = 0.1\n")
    Path("old.png").write_text("kept")
    trained_rules(1).save("bare.parquet")
    world = frozen_lake("4x4", slip=0.1)
    XCSF.on(world, seed=1).train(world, 100).save("old.checkpoint")
    before = {path: path.read_bytes() for path in Path.cwd().iterdir()}
    assert run(arguments) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("xcskit: error: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert {path: path.read_bytes() for path in Path.cwd().iterdir()} == before
    assert lake == "lake.parquet"


def test_every_command_helps_at_once_with_an_example() -> None:
    code = (
        "import sys\n"
        "from xcskit.cli.main import COMMANDS, run\n"
        "for name in COMMANDS:\n"
        "    assert run([name, '--help']) == 0\n"
        "heavy = {'numba', 'scipy', 'polars', 'matplotlib', 'gymnasium'} & set(sys.modules)\n"
        "sys.exit(repr(heavy) if heavy else 0)\n"
    )
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in COMMANDS:
        assert f"Example: xcskit {name}" in done.stdout
    assert done.stdout.count("--json") >= len(COMMANDS)
