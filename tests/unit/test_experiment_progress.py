"""Progress: what trials write on the board, and how it is shown."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from xcskit.experiments import Reporter, TrialCancelled
from xcskit.experiments.board import Board, TrialProgress
from xcskit.experiments.display import Bars, Lines, Silence, Snapshot, display_for

SNAPSHOT = Snapshot(
    n_trials=10,
    n_skipped=2,
    n_finished=2,
    n_failed=1,
    running={
        "p0, paper, seed 7": TrialProgress(done=300, total=400, seconds=0.5),
        "p1, paper, seed 7": TrialProgress(done=200, total=800, seconds=0.5),
    },
    seconds=60.0,
)


def test_a_board_shows_what_its_reporters_write(tmp_path: Path) -> None:
    with Board(tmp_path, 3) as board:
        assert board.read() == {}
        reporters = [board.reporter(slot) for slot in range(3)]
        for reporter in reporters[1:]:
            reporter.start()
        reporters[2].report(5, 20)
        seen = board.read()
        assert {slot: (p.done, p.total, p.fraction) for slot, p in seen.items()} == {
            1: (0, 0, 0.0),
            2: (5, 20, 0.25),
        }
        assert seen[2].speed == 5 / seen[2].seconds
        board.clear(2)
        assert list(board.read()) == [1]
    assert not list(tmp_path.iterdir())


def test_a_stopped_board_stops_trials(tmp_path: Path) -> None:
    with Board(tmp_path, 1) as board:
        reporter = board.reporter(0)
        reporter.start()
        board.stop()
        with pytest.raises(TrialCancelled):
            reporter.report(1, 2)
        with pytest.raises(TrialCancelled):
            reporter.start()


def test_a_reporter_without_a_run_reports_to_nobody(tmp_path: Path) -> None:
    with Board(tmp_path, 1) as board:
        reporter = board.reporter(0)
    reporter.report(1, 2)
    Reporter().report(1, 2)
    assert not list(tmp_path.iterdir())


def test_a_snapshot_reckons_with_parts_of_trials() -> None:
    # Done in this run: 2 finished, 1 failed, 3/4 and 1/4 of running ones: 4 trials in 60 s.
    assert SNAPSHOT.done == 6.0
    assert SNAPSHOT.seconds_left == 60.0
    assert SNAPSHOT.speed == 300 / 0.5 + 200 / 0.5
    assert str(SNAPSHOT) == "4/10 trials, 1 failed, 0:01:00 left"
    start = replace(SNAPSHOT, n_finished=0, n_failed=0, running={})
    assert start.seconds_left is None
    assert str(start) == "2/10 trials"
    assert str(replace(SNAPSHOT, seconds=3600.0 * 5)) == "4/10 trials, 1 failed, 5:00:00 left"


def test_lines_come_with_trials_and_every_ten_seconds() -> None:
    now, file = [100.0], io.StringIO()
    lines = Lines(file, lambda: now[0])
    for now[0] in (101.0, 109.9, 110.0, 115.0):
        lines.refresh(SNAPSHOT)
    lines.finished("p0, paper, seed 3 finished")
    for now[0] in (124.0, 125.0):
        lines.refresh(SNAPSHOT)
    running = "4/10 trials, 1 failed, 0:01:00 left; 2 running, 1,000 steps/s"
    assert file.getvalue().splitlines() == [
        running,
        "4/10 trials, 1 failed, 0:01:00 left: p0, paper, seed 3 finished",
        running,
    ]


def test_bars_show_the_run_and_each_running_trial() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    columns = [TextColumn("{task.description}|{task.fields[note]}", markup=False)]
    progress = Progress(*columns, console=console, auto_refresh=False)
    bars = Bars(progress, "slip")
    bars.refresh(SNAPSHOT)
    bars.finished("p0 [x], paper, seed 2 finished")
    bars.failed("p0 [x], paper, seed 3 failed")
    tasks = [(t.description, t.completed, t.total, t.fields["note"]) for t in progress.tasks]
    assert tasks == [
        ("slip", 6.0, 10, "4/10 trials, 1 failed, 0:01:00 left"),
        ("  p0, paper, seed 7", 0.75, 1.0, "600 steps/s"),
        ("  p1, paper, seed 7", 0.25, 1.0, "400 steps/s"),
    ]
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == ["p0 [x], paper, seed 3 failed"]
    bars.refresh(replace(SNAPSHOT, running={}))
    assert [task.description for task in progress.tasks] == ["slip"]


def test_the_display_follows_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with display_for("slip", is_shown=False) as display:
        assert isinstance(display, Silence)
    with display_for("slip", is_shown=True) as display:
        assert isinstance(display, Lines)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with display_for("slip", is_shown=True) as display:
        assert isinstance(display, Bars)
        display.refresh(SNAPSHOT)
