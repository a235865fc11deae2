"""Where a step's time goes: the training loop sampled, and the least that each part could cost."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from measurement import Measurement, least, shown, taken_by
from xcskit.evaluation import against
from xcskit.kernels.training import train_on_model
from xcskit.learner import XCSF, presets
from xcskit.mdp import TabularMdp, frozen_lake, solve

__all__ = ["UNAVAILABLE", "measure", "tabulate"]

UNAVAILABLE = "not offered here: perf, llvm-symbolizer and nm have to be installed"
TOOLS = ("perf", "llvm-symbolizer", "nm")
SETTINGS = (("p 0", 0.0, 400_000), ("p 0.1", 0.1, 800_000))
EVERY = 5_000
RUNS = 10
UNITS = {"ns": "ns", "bytes": "bytes at least", "operations": "operations at least"}
FREQUENCY = 5_000

LINE_TABLES = {"NUMBA_DEBUGINFO": "1", "NUMBA_BOUNDSCHECK": "0"}
"""Compiled with the lines that instructions come from, and the same instructions otherwise."""


# ---- What a step does, and the least that this could cost ----


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the work of a step depends on: means over a whole training."""

    matched: float
    """Rules that match."""
    acting: float
    """Rules in the set that is updated."""
    rules: float
    """Rules in the population."""
    runs: float
    """Runs of the GA in a step."""
    new: float
    """Rules made in a step."""
    deleted: float
    """Copies deleted in a step."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a step: the files it lives in, and the least of bytes and of operations.

    Bytes are those that have to be read or written once, operations those of the algorithm's
    formulas on numbers; neither counts finding them. A rule has 64 bytes of numbers, 32 of
    condition and 24 of weights (three terms); a draw is ten operations.
    """

    files: tuple[str, ...]
    n_bytes: Callable[[Sizes], float] = lambda _: np.nan
    n_operations: Callable[[Sizes], float] = lambda _: np.nan


LOOP = "the loop itself"
PARTS = {
    "matching": Part(  # a list of slots is copied, 16 at a time
        files=("covering.py",),
        n_bytes=lambda s: 4 * s.matched,
        n_operations=lambda s: s.matched / 16,
    ),
    "prediction": Part(  # fitness and weights of each; five to predict, three to weigh
        files=("performance.py",),
        n_bytes=lambda s: (8 + 24) * s.matched,
        n_operations=lambda s: (5 + 3) * s.matched,
    ),
    "update": Part(  # numbers and weights, read and written; the formulas of the update, counted
        files=("reinforcement.py",),
        n_bytes=lambda s: 2 * (64 + 24) * s.acting,
        n_operations=lambda s: 44 * s.acting,
    ),
    "discovery": Part(  # due, every other step; a run: stamps, fitnesses and 13 draws; new rules
        files=("discovery.py", "subsumption.py"),
        n_bytes=lambda s: (16 / 2 + 16 * s.runs) * s.acting + (64 + 32 + 24) * s.new,
        n_operations=lambda s: (2 / 2 + 10 * s.runs) * s.acting + 130 * s.runs,
    ),
    "deletion": Part(  # votes that changed, entered into a tree of sums; a way down the tree
        files=("deletion.py",),
        n_bytes=lambda s: (32 * s.acting + 16 * s.deleted) * log2(s.rules),
        n_operations=lambda s: (4 + log2(s.rules)) * s.acting + 2 * s.deleted * log2(s.rules),
    ),
    "environment": Part(  # a draw, and a row of the model
        files=("model.py",), n_bytes=lambda _: 41, n_operations=lambda _: 13
    ),
    LOOP: Part(files=("step.py", "training.py")),
}
PART_OF = {file: name for name, part in PARTS.items() for file in part.files}


def _train(mdp: TabularMdp, steps: int, seed: int) -> XCSF:
    return XCSF.on(mdp, presets.bishop2020(), seed=seed).train(mdp, steps)


def _sizes(mdp: TabularMdp, steps: int) -> Sizes:
    """Look a thousand times on the way, and count over all of it."""
    agent = XCSF.on(mdp, presets.bishop2020(), seed=1)
    sets = agent.system.sets
    looks: list[tuple[float, ...]] = []
    for _ in range(1000):
        agent.train(mdp, steps // 1000)
        if sets.sizes.any():  # an episode goes on, and its set waits
            looks.append((sets.first[-1], sets.sizes.max(), agent.events["n_macros"]))
    matched, acting, rules = np.mean(looks, axis=0)
    runs, new, deleted = (agent.events[k] / steps for k in ("ga_runs", "inserted_new", "deleted"))
    return Sizes(matched=matched, acting=acting, rules=rules, runs=runs, new=new, deleted=deleted)


# ---- In a process of its own, which perf watches ----


def _be_watched(slip: float, steps: int, folder: Path) -> None:
    """Train, and leave the machine code and its address where they can be read."""
    mdp = frozen_lake("8x8", slip=slip)
    for seed in range(RUNS):
        _train(mdp, steps, seed)
    dispatcher: Any = train_on_model
    (compiled,) = dispatcher.overloads.values()
    library, name = compiled.library, compiled.fndesc.llvm_func_name
    (folder / "code.o").write_bytes(library._get_compiled_object())  # noqa: SLF001 - no public way
    address = library._codegen._engine._ee.get_function_address(name)  # noqa: SLF001 - as above
    (folder / "place.json").write_text(json.dumps({"address": address, "name": name}))


# ---- What perf saw ----


def _output(*command: str, text: str | None = None) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, input=text)  # noqa: S603 - our own tools
    return done.stdout


def _samples(folder: Path) -> Counter[int]:
    """Count the samples at each place of the machine code."""
    place = json.loads((folder / "place.json").read_text())
    symbols = [line.split() for line in _output("nm", "-S", str(folder / "code.o")).splitlines()]
    start, size = next(
        (int(row[0], 16), int(row[1], 16)) for row in symbols if row[-1] == place["name"]
    )
    seen: Counter[int] = Counter()
    for line in _output("perf", "script", "-i", str(folder / "perf.data"), "-F", "ip").split():
        offset = int(line, 16) - place["address"]
        if 0 <= offset < size:
            seen[start + offset] += 1
    return seen


def _part_of(block: str) -> str:
    """Name the part that called an instruction: the first, from the loop inwards, of its lines."""
    files = [Path(line.split(":")[0]).name for line in reversed(block.splitlines()[1::2])]
    parts = [PART_OF[file] for file in files if file in PART_OF]
    return next((part for part in parts if part != LOOP), LOOP)


def _shares(slip: float, steps: int) -> dict[str, float]:
    """Give each part's share of the samples."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, __file__, str(slip), str(steps), name]
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY)]
        environment = os.environ | LINE_TABLES | {"XCSKIT_CACHE_DIR": name}
        watched = [*record, "-o", str(folder / "perf.data"), "--", *command]
        subprocess.run(watched, check=True, env=environment)  # noqa: S603 - our own tools
        seen = _samples(folder)
        symbolizer = ("llvm-symbolizer", f"--obj={folder / 'code.o'}", "--inlines")
        blocks = _output(*symbolizer, text="\n".join(map(hex, seen))).strip().split("\n\n")
    parts: Counter[str] = Counter()
    for n_samples, block in zip(seen.values(), blocks, strict=True):
        parts[_part_of(block)] += n_samples
    return {part: n / seen.total() for part, n in parts.items()}


# ---- Both together ----


def _seconds_bare(mdp: TabularMdp, steps: int) -> float:
    def train(seed: int) -> Callable[[], object]:
        return lambda: _train(mdp, steps, seed)

    train(0)()
    return least([taken_by(train(seed)) for seed in range(1, 6)]).processor


def _seconds_of_look(mdp: TabularMdp, measured: Callable[[XCSF], object]) -> float:
    agent = _train(mdp, EVERY, seed=1)
    return least([taken_by(lambda: measured(agent)) for _ in range(200)]).processor


def _measure_setting(name: str, slip: float, steps: int) -> list[Measurement]:
    mdp = frozen_lake("8x8", slip=slip)
    bare = _seconds_bare(mdp, steps) / steps
    look = _seconds_of_look(mdp, against(solve(mdp, gamma=0.95))) / EVERY
    sizes = _sizes(mdp, steps)
    parts = {part: share * bare for part, share in _shares(slip, steps).items()}
    seconds = {**parts, "evaluation": look, "all": bare + look}
    rows = [Measurement(f"{what}, {name}", size, "a step") for what, size in vars(sizes).items()]
    rows += [Measurement(f"{part}, {name}", 1e9 * spent, "ns") for part, spent in seconds.items()]
    for part, cost in PARTS.items():
        rows += [
            Measurement(f"{part}, {name}", cost.n_bytes(sizes), "bytes"),
            Measurement(f"{part}, {name}", cost.n_operations(sizes), "operations"),
        ]
    return [row for row in rows if not np.isnan(row.value)]


def measure() -> list[Measurement]:
    """Sample the training of both settings, and set the least cost beside each part."""
    if any(shutil.which(tool) is None for tool in TOOLS):
        return []
    return [row for setting in SETTINGS for row in _measure_setting(*setting)]


def tabulate(measured: list[Measurement]) -> list[tuple[str, ...]]:
    """Put each part of a step into a row, the dearest first."""
    columns = [(name, unit) for name, *_ in SETTINGS for unit in ("ns", "bytes", "operations")]
    cells = {
        (part, name, m.unit): shown(m.value)
        for m in measured
        for part, _, name in [m.quantity.rpartition(", ")]
    }
    parts = [m.quantity.rpartition(", ")[0] for m in sorted(measured, key=_dearest)]
    header = ("a step's", *(f"{name}: {UNITS[unit]}" for name, unit in columns))
    rows = [
        (part, *(cells.get((part, *column), "") for column in columns))
        for part in dict.fromkeys(parts)
        if (part, SETTINGS[0][0], "ns") in cells
    ]
    return [header, *rows]


def _dearest(measurement: Measurement) -> tuple[bool, float]:
    """Order by nanoseconds, the whole last."""
    is_sum = measurement.quantity.startswith("all")
    return is_sum, -measurement.value if measurement.unit == "ns" else 0.0


if __name__ == "__main__":
    _be_watched(float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
