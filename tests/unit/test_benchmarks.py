"""What the benchmarks rest on: their history, and that all contestants learn the same thing."""

import math
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import contest
import history
import run as benchmark_run
import steps
from contestants import OWN, Driven, PlainQ, World
from measurement import Measurement, Taken, least, shown, taken_by
from xcskit.evaluation import value_error
from xcskit.mdp import frozen_lake, solve
from xcskit.typing import Floats

NUMBERS = (Measurement("engine / oracle", 100.0, "x"), Measurement("engine", 2e6, "steps/s"))


def at(commit: str, factor: float = 1.0, **origin: Any) -> pl.DataFrame:
    """Give a run of other code, whose numbers are greater by a factor."""
    run = history.table_of({"training": NUMBERS})
    known = {"commit": commit, "is_dirty": False, "machine": "this", **origin}
    return run.with_columns(
        pl.col("value") * factor, *(pl.lit(value).alias(name) for name, value in known.items())
    )


def against(folder: Path, run: pl.DataFrame) -> list[float | None]:
    return history.changes(run, history.reference(history.load(folder), run))


def test_a_run_is_kept_whole_and_nothing_before_it_is_touched(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert len(history.load(folder)) == 0
    run = history.table_of({"training": NUMBERS, "start": NUMBERS[:1]})
    first = history.keep(run, folder)
    written = first.read_bytes()
    history.keep(run.with_columns(pl.col("value") * 2.0), folder)
    assert first.read_bytes() == written
    kept = history.load(folder)
    assert kept.schema == history.SCHEMA
    assert kept["value"].to_list() == [100.0, 2e6, 100.0, 200.0, 4e6, 200.0]
    assert kept["versions"].str.contains("numba").all()


def test_only_what_noise_leaves_alone_is_compared(tmp_path: Path) -> None:
    history.keep(at("a"), tmp_path)
    ratio, speed = against(tmp_path, at("b", 1.1))
    assert ratio == pytest.approx(0.1)
    assert speed is None


def test_a_first_run_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    assert against(tmp_path, at("a")) == [None, None]


@pytest.mark.parametrize(
    ("before", "run", "change"),
    [
        pytest.param([at("a"), at("b", 2.0)], at("c"), -0.5, id="the newest commit counts"),
        pytest.param([at("a"), at("b", 2.0)], at("b", 3.0), 2.0, id="not the same commit"),
        pytest.param([at("a"), at("b", 2.0)], at("b", is_dirty=True), -0.5, id="edits: its base"),
        pytest.param([at("a"), at("b", 2.0, is_dirty=True)], at("c"), 0.0, id="no uncommitted"),
        pytest.param([at("a"), at("b", 2.0, machine="that")], at("c"), 0.0, id="this machine's"),
        pytest.param([at(""), at("", 2.0)], at("c"), None, id="code of no commit"),
        pytest.param([at("a", f) for f in (9.0, 1.0, 2.0)], at("b"), -0.5, id="median of several"),
    ],
)
def test_the_last_commit(
    tmp_path: Path, before: Sequence[pl.DataFrame], run: pl.DataFrame, change: float | None
) -> None:
    for earlier in before:
        history.keep(earlier, tmp_path)
    assert against(tmp_path, run)[0] == (None if change is None else pytest.approx(change))


def test_the_command_prints_keeps_and_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Toy:
        """A benchmark: two numbers."""

        @staticmethod
        def measure() -> list[Measurement]:
            return list(NUMBERS)

    monkeypatch.setitem(sys.modules, "training", Toy)
    machine = history.table_of({"training": NUMBERS})["machine"][0]
    history.keep(at("f" * 40, 0.5, machine=machine), tmp_path)
    assert benchmark_run.main(["training", "--history", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "fffffffff" in printed
    assert "+100.0%" in printed
    assert "2,000,000 steps/s" in printed
    assert len(history.load(tmp_path)) == 2 * len(NUMBERS)


def test_numbers_are_shown_with_three_digits() -> None:
    assert [shown(value) for value in (1234567.8, 99.96, 0.01234)] == ["1,234,568", "100", "0.0123"]


def test_waiting_takes_no_processor_and_work_elsewhere_does() -> None:
    assert taken_by(lambda: time.sleep(0.2)).processor < 0.1
    busy = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"]
    elsewhere = taken_by(lambda: subprocess.run(busy, check=True))  # noqa: S603 - as above
    assert elsewhere.processor > 0.25
    assert least([Taken(1.0, 4.0), Taken(2.0, 3.0)]) == (1.0, 3.0)


def test_the_plain_world_is_the_model() -> None:
    """Frequencies of what follows a pair, each within five standard errors of its probability."""
    lake = frozen_lake("8x8", slip=0.1)
    world = World(lake, seed=1)
    n = 20_000
    followed = np.array([world.step(0, 2)[1] for _ in range(n)])
    for probability, state, _, _ in lake.outcomes_of(0, 2):
        deviation = math.sqrt(probability * (1 - probability) / n)
        assert abs((followed == state).mean() - probability) < 5 * deviation
    begun = np.bincount([world.begin() for _ in range(n)], minlength=lake.n_states) / n
    np.testing.assert_array_less(abs(begun - lake.training_start), 0.006)


def test_plain_q_learning_learns_the_optimum() -> None:
    lake = frozen_lake("4x4")
    pupil = Driven(PlainQ(lake, 1), lake, 1)
    pupil.advance(20_000)
    pupil.advance(20_000)
    assert value_error(pupil.values(), solve(lake, gamma=0.95), lake.states) < 0.001


@pytest.mark.parametrize("entry", OWN, ids=lambda entry: entry.name)
def test_contestants_answer_for_every_state_that_counts(entry: Any) -> None:
    lake = frozen_lake("4x4", slip=0.1)
    contestant = entry.make(lake, 1)
    contestant.advance(30)
    contestant.advance(1)
    assert contestant.values().shape == (len(lake.states), lake.n_actions)
    again = entry.make(lake, 1)
    again.advance(31)
    np.testing.assert_array_equal(contestant.values(), again.values())
    assert contestant.n_rules() == again.n_rules()


class Student:
    """Takes a millisecond a step, and knows the optimum after so many steps."""

    def __init__(self, optimum: Floats, n_needed: int) -> None:
        self.steps = 0
        self._optimum, self._n_needed = optimum, n_needed

    def advance(self, n_steps: int) -> None:
        self.steps += n_steps

    def values(self) -> Floats:
        values = self._optimum * (self.steps >= self._n_needed)
        values[0, 0] = np.nan if self.steps < 100 else values[0, 0]
        return values

    def n_rules(self) -> int | None:
        return self.steps


def test_contestants_are_read_at_the_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = solve(frozen_lake("8x8"), gamma=0.95)
    student = Student(solution.q[solution.mdp.states], 1_000)
    monkeypatch.setattr(time, "perf_counter", lambda: student.steps / 1000)
    readings = contest.compete(student, solution, 60_000, 12.0)
    assert readings[-1].seconds == pytest.approx(12.0, abs=2 * contest.SLICE_SECONDS)
    assert all(r.seconds == pytest.approx(r.steps / 1000) for r in readings)
    for mark in contest.TIME_MARKS:
        read = contest.at_time(readings, mark)
        assert mark <= read.seconds < mark + 2 * contest.SLICE_SECONDS
        assert (read.n_holes, read.error == 0.0) == (0, mark == 1.0)
    at_mark = contest.at_steps(readings, 10_000)
    assert at_mark is not None
    assert (at_mark.error, at_mark.accuracy, at_mark.n_rules) == (0.0, 1.0, 10_000)
    assert contest.at_steps(readings, 50_000) is None

    student.steps = 0
    finished = contest.compete(student, solution, 90, 12.0)
    assert [(r.steps, r.n_holes) for r in finished] == [(90, 1)]
    assert contest.at_time(finished, 10.0) == finished[-1]


POPULATION = {
    "classifiers": [
        {
            "fitness": fitness,
            "action": {"action": action},
            "condition": {"bound1": [a, 0.0], "bound2": [b, 1.0]},
            "prediction": {"weights": weights},
        }
        for fitness, action, a, b, weights in (
            (0.75, 0, 0.5, 0.0, [0.1, 1.0, 0.0]),
            (0.25, 0, 0.0, 1.0, [0.2, 0.0, 1.0]),
            (0.5, 1, 0.9, 1.0, [0.3, 0.0, 0.0]),
        )
    ]
}


def test_a_population_of_xcsf_is_read_with_its_holes() -> None:
    peer = pytest.importorskip("peer_xcsf", reason="xcsf is installed by make bench-peers alone")
    found = peer.values_of(POPULATION, np.array([[0.5, 1.0], [1.0, 0.0]]), 2.0, 2)
    mixed = 0.75 * (0.2 + 0.5) + 0.25 * (0.4 + 1.0)
    np.testing.assert_allclose(found, [[mixed, np.nan], [0.4, 0.6]])


def test_what_is_read_from_xcsf_is_what_it_predicts() -> None:
    peer = pytest.importorskip("peer_xcsf", reason="xcsf is installed by make bench-peers alone")
    lake = frozen_lake("4x4", slip=0.1)
    for setting in (peer.NEAREST, peer.SUITED):
        pupil = peer.Peer(lake, 1, setting, 1)
        Driven(pupil, lake, 1).advance(300)
        assert pupil.n_rules() > lake.n_actions
        pupil.check()


def test_each_part_of_a_step_lives_in_files_that_are_there() -> None:
    kernels = {
        path.name for path in (Path(sys.modules["xcskit"].__path__[0]) / "kernels").rglob("*.py")
    }
    assert set(steps.PART_OF) <= kernels


def test_parts_of_a_step_stand_in_a_table_the_dearest_first_and_all_of_it_last() -> None:
    measured = [
        Measurement("rules, p 0", 700.0, "a step"),
        Measurement("update, p 0", 100.0, "ns"),
        Measurement("deletion, p 0", 150.0, "ns"),
        Measurement("all, p 0", 250.0, "ns"),
        Measurement("update, p 0", 2000.0, "bytes"),
    ]
    header, *rows = steps.tabulate(measured)
    assert header[:3] == ("a step's", "p 0: ns", "p 0: bytes at least")
    assert [row[0] for row in rows] == ["deletion", "update", "all"]
    assert rows[1][1:3] == ("100", "2,000")
