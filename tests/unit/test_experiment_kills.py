"""Runs that are really killed, interrupted and started twice, as processes of their own."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import toy_trials
from toy_trials import specification, walk
from xcskit.errors import StoreError
from xcskit.experiments import Reporter, Store
from xcskit.experiments.packing import digest_of
from xcskit.experiments.trial import key_of

N_SEEDS = 40
# A trial sleeps four times: the whole takes two threads 1.6 seconds at least, and many kills.
PAUSE = 0.01
LONGEST_LIFE = 0.25


class Run:
    """A run in a process of its own, which has begun."""

    def __init__(
        self,
        folder: Path,
        *,
        function: str = "walk",
        executor: str = "threads",
        n_seeds: int = N_SEEDS,
        pause: float = PAUSE,
    ) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - fixed arguments
            [
                sys.executable,
                toy_trials.__file__,
                str(folder),
                function,
                executor,
                str(n_seeds),
                str(pause),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "running\n"

    def end(self) -> tuple[int, str]:
        """Wait until the process and all its workers are gone; give exit status and messages.

        The workers hold the other ends of the pipes, which are read to their end.
        """
        _, messages = self.process.communicate()
        return self.process.returncode, messages

    def kill(self) -> int:
        self.process.send_signal(signal.SIGKILL)
        return self.end()[0]


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in (folder / "trials").glob("*.parquet")
    }


def digests(folder: Path) -> dict[str, str]:
    store = Store(folder)
    return {key: store.read(key).digest for key in store.keys()}  # noqa: SIM118 - a Store is no mapping


def uninterrupted(n_seeds: int, pause: float) -> dict[str, str]:
    return {
        key_of(trial.identity("toy")): digest_of(walk(trial, Reporter()))
        for trial in specification(n_seeds, pause=pause).trials()
    }


def wait_for_trials(folder: Path, n: int) -> None:
    while len(list((folder / "trials").glob("*.parquet"))) < n:
        time.sleep(0.001)


@pytest.mark.slow
def test_killed_at_random_moments_loses_nothing_and_ends_with_the_same_bits(tmp_path: Path) -> None:
    dice = random.Random(17)
    n_kills, longest = 0, LONGEST_LIFE
    before = files(tmp_path)
    while True:
        run = Run(tmp_path)
        time.sleep(dice.uniform(0.0, longest))
        status = run.kill()
        after = files(tmp_path)
        # Every finished trial is the very file that it was.
        assert before.items() <= after.items()
        if after == before:
            longest *= 1.2  # or no trial might ever end on a busy machine
        before = after
        if status == 0:
            break
        assert status == -signal.SIGKILL
        n_kills += 1
    assert n_kills >= 5
    assert digests(tmp_path) == uninterrupted(N_SEEDS, PAUSE)
    assert Run(tmp_path).end()[0] == 0
    assert files(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "failed",
        "lock",
        "store.json",
        "trials",
    ]


@pytest.mark.slow
def test_workers_of_a_killed_run_die_with_it(tmp_path: Path) -> None:
    run = Run(tmp_path, executor="processes", n_seeds=4, pause=0.05)
    wait_for_trials(tmp_path, 1)
    assert run.kill() == -signal.SIGKILL
    assert 0 < len(files(tmp_path)) < 8
    assert Run(tmp_path, executor="processes", n_seeds=4, pause=0.05).end()[0] == 0
    assert digests(tmp_path) == uninterrupted(4, 0.05)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_ctrl_c_stops_endless_trials_and_keeps_finished_ones(tmp_path: Path, executor: str) -> None:
    run = Run(tmp_path, function="endless_walk", executor=executor, n_seeds=3, pause=0.0)
    wait_for_trials(tmp_path, 2)
    run.process.send_signal(signal.SIGINT)
    status, messages = run.end()
    assert status == 130
    assert "Traceback" not in messages
    assert len(files(tmp_path)) == 2
    assert not list(tmp_path.glob(".progress-*"))
    assert not list((tmp_path / "failed").iterdir())


def test_two_runs_at_once_in_one_folder(tmp_path: Path) -> None:
    first = Run(tmp_path, function="endless_walk", n_seeds=3, pause=0.0)
    wait_for_trials(tmp_path, 2)
    before = files(tmp_path)
    with (
        pytest.raises(StoreError, match=rf"in use by another run \(process {first.process.pid} on"),
        Store(tmp_path).writing(),
    ):
        pass
    status, messages = Run(tmp_path, n_seeds=3).end()
    assert status == 1
    assert "in use by another run" in messages
    assert files(tmp_path) == before
    # Reading needs no lock.
    assert len(digests(tmp_path)) == 2
    first.kill()
    # The lock died with its holder.
    with Store(tmp_path).writing():
        pass
