"""Peers, side by side: speed, and error against the optimum at equal steps and at equal time.

``python benchmarks/peers.py [--seeds N] [--seconds S] [--publish]`` lets all contestants learn the
paper's two lakes, in turns, each for the paper's number of steps or S seconds of its own, whichever
comes first. Time is learning alone; reading values is not counted. Compiled code is compiled, and
loaded, before.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from contest import STEP_MARKS, TIME_MARKS, Reading, at_steps, at_time, compete
from contestants import GAMMA, LOOP, OWN, Entry, driven
from measurement import taken_by, write_table
from peer_xcsf import DEVIATIONS, NEAREST, SUITED, Peer
from xcskit.mdp import frozen_lake, solve

__all__ = ["main"]

SETTINGS: Final = (("p 0", 0.0, 400_000), ("p 0.1", 0.1, 800_000))
PEERS: Final = (
    ("xcsf, nearest to the paper's setting", NEAREST),
    ("xcsf, RLS and N 2,000", SUITED),
)
TRIAL_STEPS: Final = 4_000


def _entries(console: Console) -> list[Entry]:
    """Give all contestants, the peer with as many threads as serve it best here."""
    lake = frozen_lake("8x8")
    theirs: list[Entry] = []
    for name, setting in PEERS:
        speeds: dict[int, float] = {}
        for n_threads in [*range(1, (os.cpu_count() or 1) + 1)] * 2:
            make = driven(partial(Peer, setting=setting, n_threads=n_threads))
            trial = make(lake, 0)
            seconds = taken_by(partial(trial.advance, TRIAL_STEPS)).seconds
            speeds[n_threads] = max(speeds.get(n_threads, 0.0), TRIAL_STEPS / seconds)
        best = max(speeds, key=lambda n: speeds[n])
        told = ", ".join(f"{speed:,.0f} steps/s with {n}" for n, speed in speeds.items())
        console.print(f"{name}: threads chosen: {best} ({told}; first {TRIAL_STEPS:,} steps)")
        theirs.append(Entry(name, driven(partial(Peer, setting=setting, n_threads=best))))
    return [*OWN[:-3], *theirs, *OWN[-3:]]


def _spread(values: Sequence[float], form: str) -> str:
    low, middle, high = min(values), float(np.median(values)), max(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def _judged(readings: Sequence[Reading | None]) -> str:
    found = [reading for reading in readings if reading is not None]
    if len(found) < len(readings):
        return "not reached"
    holes = max(reading.n_holes for reading in found)
    return (
        f"{_spread([reading.error for reading in found], '.3f')}, "
        f"{np.median([reading.accuracy for reading in found]):.2f}"
        + (f", up to {holes} holes" if holes else "")
    )


def tables(
    name: str, n_steps: int, n_seconds: float, runs: dict[str, list[list[Reading]]]
) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Give the tables of one lake: by steps, and by time."""
    marks = [mark for mark in STEP_MARKS if mark < n_steps]
    times = [mark for mark in TIME_MARKS if mark < n_seconds]
    by_steps: list[tuple[str, ...]] = []
    by_time: list[tuple[str, ...]] = []
    for who, of_seeds in runs.items():
        ends = [readings[-1] for readings in of_seeds]
        speed = _spread([end.steps / end.seconds for end in ends], ",.0f")
        if who == LOOP:
            by_steps.append((who, speed, *[""] * (len(marks) + 2)))
            continue
        rules = [end.n_rules for end in ends if end.n_rules is not None]
        by_steps.append(
            (
                who,
                speed,
                *(_judged([at_steps(r, mark) for r in of_seeds]) for mark in marks),
                _judged([at_steps(r, n_steps) for r in of_seeds]),
                f"{np.median(rules):,.0f}" if rules else "",
            )
        )
        done = float(np.median([end.seconds for end in ends]))
        last = int(np.median([end.steps for end in ends]))
        by_time.append(
            (
                who,
                *(_judged([at_time(r, mark) for r in of_seeds]) for mark in times),
                _judged(ends),
                f"{last:,} steps, {done:.3g} s",
            )
        )
    head_steps = ("who", "steps/s", *(f"{m:,} steps" for m in (*marks, n_steps)), "rules")
    head_time = ("who", *(f"{m:g} s" for m in times), f"{n_seconds:g} s", "ended after")
    return [
        (f"{name}, equal steps", head_steps, by_steps),
        (f"{name}, equal time", head_time, by_time),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Let them compete, and print what they reached."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3, help="how many runs of each")
    parser.add_argument("--seconds", type=float, default=15.0, help="the most that a run learns")
    parser.add_argument("--publish", action="store_true", help="write the documentation's tables")
    given = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 200)
    began = time.perf_counter()
    for entry in OWN:
        entry.make(frozen_lake("8x8"), 0).advance(1)
    entries = _entries(console)
    for lake_name, slip, n_steps in SETTINGS:
        solution = solve(frozen_lake("8x8", slip=slip), gamma=GAMMA)
        runs: dict[str, list[list[Reading]]] = {entry.name: [] for entry in entries}
        for seed in range(1, given.seeds + 1):
            for entry in entries:
                contestant = entry.make(solution.mdp, seed)
                runs[entry.name].append(compete(contestant, solution, n_steps, given.seconds))
        for title, head, rows in tables(lake_name, n_steps, given.seconds, runs):
            _show(console, f"{title}: median error (range), policy accuracy", head, rows)
            if given.publish:
                print("written:", write_table(_file(title), head, rows))
    head = ("", "xcskit, the paper's setting", "xcsf, nearest setting")
    _show(console, "what differs", head, DEVIATIONS)
    if given.publish:
        print("written:", write_table("peers-deviations", head, DEVIATIONS))
    print(f"{given.seeds} seeds; {time.perf_counter() - began:.0f} s in all")
    return 0


def _file(title: str) -> str:
    """Name a table's file: "p 0.1, equal steps" is in ``peers-p-0.1-equal-steps``."""
    return "-".join(["peers", *title.replace(",", "").split()])


def _show(console: Console, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(*head, title=title, show_lines=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
