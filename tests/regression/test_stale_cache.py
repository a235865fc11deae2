"""Machine code and source cannot part, though Numba's cache looks at the caller's own file only."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xcskit

PROGRAM = """
import json
import numpy as np
import xcskit
from xcskit import frozen_lake
from xcskit.kernels import model
from xcskit.kernels.random import new_streams

lake = frozen_lake("4x4").kernel_model()
streams = new_streams(3)
states = [model.draw_start(lake, streams[0]) for _ in range(20)]
print(json.dumps({
    "package": xcskit.__file__,
    "states": states,
    "from_disk": bool(model.draw_start.stats.cache_hits),
}))
"""

TRAINING = """
import json
import xcskit
from xcskit import XCSF, frozen_lake

lake = frozen_lake("4x4")
agent = XCSF.on(lake, seed=1).train(lake, 500)
print(json.dumps({"package": xcskit.__file__, "q": agent.read_values((2, 3)).tolist()}))
"""

CALLEE = "kernels/random.py"
AS_IT_IS = "return np.float64(raw >> _ELEVEN) * _TO_UNIT"
EDITED = "return 0.0 + 0.0 * np.float64(raw >> _ELEVEN)"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy the package, times and all."""
    sources = Path(xcskit.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(sources, tmp_path / "src" / "xcskit", ignore=ignored))


def run(package: Path, program: str) -> dict[str, Any]:
    """Run a program in a process of its own with the copy, and a cache beside it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "XCSKIT_CACHE_DIR": str(package.parents[1] / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(  # noqa: S603 - the programs above
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert Path(found["package"]).parent == package
    return found


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))


def test_an_edit_of_a_callee_in_another_file_is_seen(package: Path) -> None:
    """``draw_start`` lives in one file, the ``draw`` that it calls in another."""
    first = run(package, PROGRAM)
    assert not first["from_disk"]
    assert len(set(first["states"])) > 5
    again = run(package, PROGRAM)
    assert again["from_disk"]
    assert again["states"] == first["states"]

    edit(package / CALLEE, AS_IT_IS, EDITED)
    assert set(run(package, PROGRAM)["states"]) == {0}


def test_without_the_fingerprint_the_old_code_would_run(package: Path) -> None:
    """The hazard is there: Numba alone does not notice."""
    compiler = package / "kernels" / "compiler.py"
    edit(compiler, "return Path(root) / _fingerprint()", 'return Path(root) / "always"')
    first = run(package, PROGRAM)
    edit(package / CALLEE, AS_IT_IS, EDITED)
    stale = run(package, PROGRAM)
    assert stale["from_disk"]
    assert stale["states"] == first["states"]


@pytest.mark.slow
def test_training_sees_an_edit_of_a_callee(package: Path) -> None:
    first = run(package, TRAINING)
    assert max(first["q"][0]) > 0.0
    edit(package / "kernels" / "reinforcement.py", "delta = payoff -", "delta = 0.0 * payoff -")
    assert run(package, TRAINING)["q"] == [[0.0] * 4]
