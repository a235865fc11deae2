"""Starting up: importing compiles nothing, the first step compiles what it uses, and that once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FIRST_STEP = """
import json, sys
import xcskit

imported = sorted({name.partition(".")[0] for name in sys.modules})
from numba.core import event

class Listener(event.Listener):
    compiled = []

    def on_start(self, happened):
        function = happened.data["dispatcher"].py_func
        self.compiled.append(f"{function.__module__}.{function.__qualname__}")

    def on_end(self, happened):
        pass

event.register("numba:compile", Listener())
lake = xcskit.frozen_lake("8x8")
agent = xcskit.XCSF.on(lake, xcskit.presets.bishop2020(), seed=1).train(lake, 1)
loaded = sorted({name.partition(".")[0] for name in sys.modules})
could_compile = not {"numba.np.npyimpl", "numba.np.arraymath"}.isdisjoint(sys.modules)
print(json.dumps({
    "imported": imported,
    "loaded": loaded,
    "compiled": Listener.compiled,
    "could_compile": could_compile,
}))
"""

LIBRARIES = {"gymnasium", "matplotlib", "numba", "numpy", "polars", "rich", "scipy", "typer"}


def first_step(cache: Path) -> Any:
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", FIRST_STEP],
        env={**os.environ, "XCSKIT_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_first_step_compiles_what_it_uses_and_only_once(tmp_path: Path) -> None:
    cold = first_step(tmp_path)
    assert "xcskit" in cold["imported"]
    assert not LIBRARIES & set(cold["imported"])
    assert not {"matplotlib", "polars"} & set(cold["loaded"])

    used = [name.split(".") for name in cold["compiled"] if name.startswith("xcskit.kernels.")]
    assert {"training", "discovery", "deletion"} <= {name[2] for name in used}
    by_kind = {
        kind: {name[3] for name in used if name[2] == kind and len(name) > 4}
        for kind in ("conditions", "predictions", "matching")
    }
    assert by_kind == {
        "conditions": {"intervals", "min_span"},
        "predictions": {"linear", "nlms"},
        "matching": {"cells"},
    }

    warm = first_step(tmp_path)
    assert warm["compiled"] == []
    # What Numba compiles with takes long to load: only who compiles loads it.
    assert cold["could_compile"]
    assert not warm["could_compile"]
