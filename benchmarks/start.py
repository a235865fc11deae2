"""Starting up: from a cold cache, and from a warm one in a process of its own."""

import os
import subprocess
import sys
import tempfile
import time

__all__ = ["measure"]

FIRST_STEP = """
from xcskit import XCSF, frozen_lake, presets
lake = frozen_lake("8x8")
XCSF.on(lake, presets.bishop2020(), seed=1).train(lake, 1)
"""


def _seconds(code: str, cache: str) -> float:
    began = time.perf_counter()
    environment = {**os.environ, "XCSKIT_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)  # noqa: S603 - our own code
    return time.perf_counter() - began


def measure(rounds: int = 3) -> list[tuple[str, str]]:
    """Time processes from their start to their end."""
    with tempfile.TemporaryDirectory() as cache:
        cold = _seconds(FIRST_STEP, cache)
        warm = min(_seconds(FIRST_STEP, cache) for _ in range(rounds))
        imports = min(_seconds("import xcskit", cache) for _ in range(rounds))
        bare = min(_seconds("pass", cache) for _ in range(rounds))
    return [
        ("process to first step, cold cache (compiles)", f"{cold:.1f} s"),
        ("process to first step, warm cache", f"{warm:.2f} s"),
        ("process that imports xcskit / one that imports nothing", f"{imports / bare:.1f} x"),
    ]
