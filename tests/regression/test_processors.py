"""Equal seeds give equal bits whatever the processor offers: vectors, fused products, other BLAS.

The same program runs as this machine would, and as the plainest processor of its kind would: Numba
compiles for the architecture alone, NumPy and the C library use none of their dispatched features,
OpenBLAS the oldest of its kernels. The C library's ``pow`` gives other bits then, and so would a
setting whose accuracy power is no whole number.
"""

import json
import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, json
from numba.core.registry import cpu_target
from xcskit import Rls, UnorderedBounds, XCSF, against, frozen_lake, presets, solve

lake = frozen_lake("8x8", slip=0.1)
optimum = solve(lake, gamma=0.95)
paper = presets.bishop2020()
settings = {
    "paper": paper,
    "rls": paper.replace(condition=UnorderedBounds(), prediction=Rls(degree=2)),
}
bits = {"optimum": optimum.q.tobytes().hex()}
for name, setting in settings.items():
    agent = XCSF.on(lake, setting, seed=1)
    agent.train(lake, 12_000, evaluate=against(optimum), every=4_000)
    columns = b"".join(column.tobytes() for column in agent.rules.columns.values())
    bits[name] = hashlib.sha256(columns).hexdigest()
    bits[name + " history"] = agent.rows
print(json.dumps({"bits": bits, "features": cpu_target.target_context.codegen().magic_tuple()}))
"""

PLAINEST = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}


def outcome(**environment: str) -> tuple[dict[str, object], list[str]]:
    """Give what a process of its own trains, and what its processor is said to be."""
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["bits"], found["features"]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names features of x86-64")
def test_the_plainest_processor_trains_the_same_bits() -> None:
    native, features = outcome()
    plain, fewer = outcome(**PLAINEST)
    assert fewer != features
    assert plain == native
