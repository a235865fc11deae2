"""Instructions that a training step takes: a number that repeats, whatever else the machine does.

Two processes train, one of them longer: the difference is the training's alone. They are counted by
the processor (``perf``) where it lets itself be asked, else by valgrind, for which the kernels are
compiled to a target that it knows, x86-64-v3 (AVX2).
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from measurement import Measurement

__all__ = ["UNAVAILABLE", "measure"]

UNAVAILABLE: Final = "this machine counts none: neither `perf stat` nor valgrind works here"
N_STEPS: Final = 100_000
SETTINGS: Final = (("p 0", 0.0), ("p 0.1", 0.1))
TRAIN: Final = """
import sys
from xcskit import XCSF, frozen_lake
from xcskit.kernels.training import train_on_model
lake = frozen_lake("8x8", slip=float(sys.argv[1]))
agent = XCSF.on(lake, seed=1)
train_on_model(agent.system, agent.settings, lake.kernel_model("training"), int(sys.argv[2]))
"""
SAME: Final = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
TARGET: Final = "x86-64-v3"
KNOWN_TO_VALGRIND: Final = {"NUMBA_CPU_NAME": TARGET, "NUMBA_CPU_FEATURES": ""}

Counter = Callable[[Sequence[str]], int | None]


def _run(command: Sequence[str], settings: Mapping[str, str]) -> str | None:
    """Give what a command says on its error stream, None where it fails or is not there."""
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(  # noqa: S603 - the commands below
        command,
        env={**os.environ, **SAME, **settings},
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stderr if done.returncode == 0 else None


def _by_processor(program: Sequence[str]) -> int | None:
    told = _run(["perf", "stat", "-x,", "-e", "instructions:u", *program], {})
    found = re.search(r"^(\d+),", told or "", re.MULTILINE)
    return int(found[1]) if found else None


def _by_valgrind(program: Sequence[str]) -> int | None:
    options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    told = _run(["valgrind", *options, *program], KNOWN_TO_VALGRIND)
    found = re.search(r"I\s+refs:\s+([\d,]+)", told or "")
    return int(found[1].replace(",", "")) if found else None


COUNTERS: Final[tuple[tuple[str, Counter, dict[str, str]], ...]] = (
    ("perf", _by_processor, {}),
    (f"valgrind, {TARGET}", _by_valgrind, KNOWN_TO_VALGRIND),
)


def measure() -> list[Measurement]:
    """Count by the first counter that works; none gives no measurement."""
    for name, count, settings in COUNTERS:
        if count([sys.executable, "-c", "pass"]) is None:
            continue
        rows: list[Measurement] = []
        for setting, slip in SETTINGS:
            program = [sys.executable, "-c", TRAIN, str(slip)]
            _run([*program, "1"], settings)  # compiles, and fills the cache
            short, long = count([*program, "1"]), count([*program, str(N_STEPS + 1)])
            if short is None or long is None:
                return []
            what = f"{setting}, a step of the first {N_STEPS:,} ({name})"
            rows.append(Measurement(what, (long - short) / N_STEPS, "instructions"))
        return rows
    return []
