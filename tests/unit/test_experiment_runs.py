"""Runs: every executor gives the same bits, failures are kept apart, growth runs what is new."""

import importlib.metadata
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from toy_trials import (
    N_CHUNKS,
    Immediate,
    P,
    T,
    deadly_walk,
    endless_walk,
    specification,
    trapped_walk,
    walk,
)
from xcskit.errors import ConfigurationError, ExperimentError, StoreError
from xcskit.experiments import Experiment, Reporter, Trial, TrialResult
from xcskit.experiments.packing import digest_of
from xcskit.experiments.provenance import engine_fingerprint, provenance
from xcskit.experiments.runner import ExecutorChoice


def digests(experiment: Experiment) -> dict[str, str]:
    return {str(trial): record.digest for trial, record in experiment.results()}


@pytest.mark.parametrize("executor", ["threads", "processes", Immediate()])
def test_every_executor_gives_the_same_bits(tmp_path: Path, executor: ExecutorChoice) -> None:
    experiment = Experiment(specification(), walk, tmp_path)
    outcome = experiment.run(executor=executor, progress=False)
    assert outcome.is_complete
    assert (outcome.n_trials, outcome.n_skipped, outcome.n_finished) == (8, 0, 8)
    assert digests(experiment) == {
        str(trial): digest_of(walk(trial, Reporter())) for trial in specification().trials()
    }


def test_a_given_executor_is_left_running(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        experiment = Experiment(specification(), walk, tmp_path)
        assert experiment.run(executor=pool, progress=False).is_complete
        assert pool.submit(int, "3").result() == 3


def test_a_grown_experiment_runs_what_is_new_and_rewrites_nothing(tmp_path: Path) -> None:
    small = Experiment(specification(2), walk, tmp_path)
    small.run(progress=False)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "trials").iterdir()}
    large = Experiment(specification(3), walk, tmp_path)
    outcome = large.run(progress=False)
    assert (outcome.n_skipped, outcome.n_finished) == (4, 2)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(large.results()) == 6
    assert len(small.results()) == 4


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_failed_trial_is_recorded_and_the_rest_goes_on(
    tmp_path: Path, executor: ExecutorChoice
) -> None:
    trap = tmp_path / "trap"
    trap.touch()
    experiment = Experiment(specification(trap=str(trap)), trapped_walk, tmp_path / "store")
    outcome = experiment.run(executor=executor, progress=False)
    assert (outcome.n_finished, len(outcome.failures), outcome.is_complete) == (6, 2, False)
    failure = outcome.failures[0]
    assert (failure.error, failure.message) == ("AwkwardError", "caught in the trap")
    assert "in trapped_walk" in failure.traceback
    status = experiment.status()
    assert status["state"].value_counts(sort=True).rows() == [("finished", 6), ("failed", 2)]
    assert status.filter(pl.col("state") == "failed")["seed"].to_list() == [2, 2]
    with pytest.raises(
        StoreError, match=r"2 of the 8 trials of walks.*still, plain, seed 2 \(AwkwardError: caught"
    ):
        experiment.results()
    trap.unlink()
    again = experiment.run(executor=executor, progress=False)
    assert (again.n_skipped, again.n_finished) == (6, 2)
    assert experiment.status()["error"].null_count() == 8
    assert len(experiment.results()) == 8


def test_results_refuse_missing_trials_and_tell_of_others(tmp_path: Path) -> None:
    Experiment(specification(2), walk, tmp_path).run(progress=False)
    other = Experiment(specification(2, every=5), walk, tmp_path)
    with pytest.raises(StoreError, match=r"4 of the 4.*\(missing\).*4 trials in the folder are of"):
        other.results()
    assert other.status()["state"].to_list() == ["missing"] * 4


def test_a_dead_worker_is_one_clear_error(tmp_path: Path) -> None:
    experiment = Experiment(specification(), deadly_walk, tmp_path)
    with pytest.raises(ExperimentError, match=r"executor could not perform trial.*finished trials"):
        experiment.run(executor="processes", jobs=1, progress=False)
    # One worker took the four trials of seeds 0 and 1, and died of the next.
    assert len(experiment.store.keys()) == 4
    assert experiment.status()["state"].unique().sort().to_list() == ["finished", "missing"]


def test_tables_and_metrics_say_which_trial(tmp_path: Path) -> None:
    experiment = Experiment(specification(), walk, tmp_path)
    experiment.run(progress=False)
    results = experiment.results()
    labels = ["environment", "configuration", "seed"]
    metrics = results.metrics()
    assert metrics.columns == [*labels, "end", "n_steps", "is_ahead", "note"]
    assert metrics.select(labels).rows() == [
        (t.environment_name, t.configuration_name, t.seed) for t in specification().trials()
    ]
    history = results.table("history")
    assert history.columns == [*labels, "step", "place"]
    ends = history.filter(pl.col("step") == N_CHUNKS * 100)
    assert ends["place"].to_list() == metrics["end"].to_list()
    assert results.table("extremes")["side"].dtype == pl.String
    with pytest.raises(StoreError, match=r"seed 0 has no table 'rules'; it has end, .*history"):
        results.table("rules")


def test_summary_is_over_the_seeds(tmp_path: Path) -> None:
    experiment = Experiment(specification(), walk, tmp_path)
    experiment.run(progress=False)
    results = experiment.results()
    summary = results.summary()
    assert summary["metric"].unique().sort().to_list() == ["end", "is_ahead", "n_steps"]
    windy = results.metrics().filter(pl.col("environment") == "windy")["end"]
    row = summary.filter((pl.col("environment") == "windy") & (pl.col("metric") == "end"))
    assert row.select("n", "mean", "sd", "median", "least", "greatest").row(0) == (
        4,
        windy.mean(),
        windy.std(),
        windy.median(),
        windy.min(),
        windy.max(),
    )


def sometimes_undefined(trial: Trial, reporter: Reporter) -> TrialResult:
    reporter.report(1, 1)
    return {"steps_to_goal": None if trial.seed == 3 else 14.0}


def test_summary_refuses_an_undefined_number(tmp_path: Path) -> None:
    experiment = Experiment(specification(), sometimes_undefined, tmp_path)
    experiment.run(progress=False)
    with pytest.raises(StoreError, match=r"steps_to_goal is undefined in 2 trials.*seed 3"):
        experiment.results().summary()


@pytest.mark.parametrize(
    ("executor", "jobs", "message"),
    [
        ("threads", 0, "jobs is 0; expected at least 1"),
        ("thread", None, "executor is 'thread'; expected 'threads', 'processes' or an Executor"),
        (Immediate(), 2, "its own number of workers"),
    ],
)
def test_wrong_executors(
    tmp_path: Path, executor: ExecutorChoice, jobs: int | None, message: str
) -> None:
    experiment = Experiment(specification(), walk, tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        experiment.run(executor=executor, jobs=jobs, progress=False)


class Interrupting(Executor):
    """Two threads; once two trials have ended, the user presses Ctrl-C at the fourth."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(2)
        self._futures: list[Future[Any]] = []

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        if len(self._futures) == 3:
            wait(self._futures[:2])
            raise KeyboardInterrupt
        future = self._pool.submit(fn, *args, **kwargs)
        self._futures.append(future)
        return future


def test_an_interrupted_run_stops_its_trials_and_keeps_the_finished(tmp_path: Path) -> None:
    experiment = Experiment(specification(), endless_walk, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(executor=Interrupting(), progress=False)
    finished = experiment.status().filter(pl.col("state") == "finished")
    assert finished["seed"].to_list() == [0, 0]
    assert not list(tmp_path.glob(".progress-*"))
    with experiment.store.writing():
        pass


def test_provenance_is_kept_with_each_trial(tmp_path: Path) -> None:
    experiment = Experiment(specification(1), walk, tmp_path)
    experiment.run(progress=False)
    for trial, record in experiment.results():
        about = record.provenance
        assert about["trial"] == str(trial)
        assert about["function"] == "walk"
        assert isinstance(about["seconds"], float)
        assert about["seconds"] > 0
        assert about.items() >= provenance().items()


def test_provenance_names_versions_machine_and_commit() -> None:
    provenance.cache_clear()
    about = provenance()
    assert isinstance(about["versions"], dict)
    assert about["versions"]["polars"] == importlib.metadata.version("polars")
    assert isinstance(about["machine"], dict)
    assert about["machine"]["processor"]
    git = shutil.which("git")
    root = Path(__file__).parents[2]
    if git is None or not (root / ".git").exists():
        assert about["git_commit"] == ""
    else:
        commit = subprocess.run(  # noqa: S603 - fixed arguments
            [git, "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        )
        assert str(about["git_commit"]).removesuffix("-dirty") == commit.stdout.strip()


def load(path: Path) -> Callable[[Trial, Reporter], TrialResult]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[[Trial, Reporter], TrialResult] = module.trial
    return function


def test_the_fingerprint_follows_the_functions_file(tmp_path: Path) -> None:
    text = "def trial(trial, reporter):\n    return {'a': 1}\n"
    for name, source in {"one": text, "same": text, "two": text.replace("1", "2")}.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    one, same, two = (
        engine_fingerprint(load(tmp_path / f"{name}.py")) for name in ("one", "same", "two")
    )
    assert one == same
    assert one != two


def test_the_fingerprint_follows_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = ["cli/main.py", "explorer/page.py", "paper/report.py", "plots/style.py"]
    below = ["mdp/lake.py", "experiments/training.py"]
    for name in above + below:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("a = 1\n", encoding="utf-8")
    monkeypatch.setattr("xcskit.experiments.provenance._PACKAGE", tmp_path)
    for name in above + below:
        before = engine_fingerprint(walk)
        (tmp_path / name).write_text("a = 2\n", encoding="utf-8")
        assert (engine_fingerprint(walk) == before) == (name in above)


NAMELESS: Callable[[Trial, Reporter], TrialResult] = lambda _trial, _reporter: {"a": 1}  # noqa: E731


def test_functions_that_hold_values_are_refused() -> None:
    number = 3

    def captures(_trial: Trial, _reporter: Reporter) -> TrialResult:
        return {"a": number}

    def defaults(_trial: Trial, _reporter: Reporter, number: int = 3) -> TrialResult:
        return {"a": number}

    functions: list[Any] = [captures, defaults, NAMELESS, Reporter().report]
    for function in functions:
        with pytest.raises(ConfigurationError, match="a named function that holds no values"):
            engine_fingerprint(function)


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Callable[[Trial, Reporter], TrialResult]] = {}
    exec("def trial(trial, reporter): return {'a': 1}", names)  # noqa: S102 - as at a prompt
    with pytest.raises(ConfigurationError, match="define it in a file"):
        engine_fingerprint(names["trial"])


def test_lines_where_there_is_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trap = tmp_path / "trap"
    trap.touch()
    Experiment(specification(3, trap=str(trap)), trapped_walk, tmp_path / "store").run(jobs=1)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 6
    assert lines[0].startswith("1/6 trials, 0:00:0")
    assert "left: still, plain, seed 0 finished in" in lines[0]
    assert lines[0].endswith(" steps/s")
    assert lines[-1].startswith("4/6 trials, 2 failed")
    assert lines[-1].endswith("windy, plain, seed 2 failed: AwkwardError: caught in the trap")
