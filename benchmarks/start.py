"""Starting up, each in a process of its own, beside processes that load Numba or compile little."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from measurement import Measurement, Taken, least, taken_by

__all__ = ["FIRST_STEP", "measure"]

FIRST_STEP: Final = """
from xcskit import XCSF, frozen_lake, presets
lake = frozen_lake("8x8")
XCSF.on(lake, presets.bishop2020(), seed=1).train(lake, 1)
"""
COLD_ROUNDS: Final = 2
BARE: Final = "pass"
IMPORT: Final = "import xcskit"
NUMBA: Final = "import numba"
COMPILE_LITTLE: Final = """
import numba
import numpy as np

@numba.njit
def spread(values):
    total, squares = 0.0, 0.0
    for value in values:
        total += value
        squares += value * value
    return (squares / values.size - (total / values.size) ** 2) ** 0.5

spread(np.arange(9.0))
"""


def _process(code: str, cache: Path) -> Taken:
    environment = {**os.environ, "XCSKIT_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", code]
    return taken_by(lambda: subprocess.run(command, check=True, env=environment))  # noqa: S603 - the code above


def measure(rounds: int = 5) -> list[Measurement]:
    """Time processes from their start to their end, in turns: the best of several."""
    times: dict[str, list[Taken]] = {}

    def take(name: str, code: str, cache: Path) -> None:
        times.setdefault(name, []).append(_process(code, cache))

    with tempfile.TemporaryDirectory() as folder:
        colds = [Path(folder) / f"cold {number}" for number in range(COLD_ROUNDS)]
        for cold in colds:
            take("cold", FIRST_STEP, cold)
            take("little", COMPILE_LITTLE, cold)
        for _ in range(rounds):
            take("bare", BARE, colds[0])
            take("import", IMPORT, colds[0])
            take("numba", NUMBA, colds[0])
            take("warm", FIRST_STEP, colds[0])
        kept = [path.stat().st_size for path in colds[0].rglob("*") if path.is_file()]
    best = {name: least(taken) for name, taken in times.items()}
    by_clock = {
        "bare": "a process that does nothing",
        "import": "a process that imports xcskit",
        "numba": "a process that imports Numba",
        "little": "a process that compiles ten lines",
        "cold": "to the first step, nothing compiled yet",
        "warm": "to the first step, later",
    }
    beside = {
        "imports xcskit / does nothing": ("import", "bare"),
        "first step, later / imports Numba": ("warm", "numba"),
        "first step ever / compiles ten lines": ("cold", "little"),
    }
    return [
        *(Measurement(what, best[name].seconds, "s") for name, what in by_clock.items()),
        *(
            Measurement(what, best[name].processor / best[other].processor, "x")
            for what, (name, other) in beside.items()
        ),
        Measurement("kernels compiled for it, and kept", len(kept), "files"),
        Measurement("machine code kept for it", sum(kept) / 1e6, "MB"),
    ]
