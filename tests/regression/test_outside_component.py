"""Components from outside the package, as docs/extending.md shows them, and edits of them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOC = Path(__file__).parents[2] / "docs" / "extending.md"

REPORT = """
import json
import numpy as np
from median import Median
from parity import Parity
from xcskit import XCSF, RuleSet, XcsfConfig, frozen_lake

lake = frozen_lake("4x4", slip=0.1)
config = XcsfConfig(
    population_size=300, ga_threshold=10.0, subsumption_experience=10, target_error=0.05,
    condition=Parity(), prediction=Median(step=0.02),
)
assert XcsfConfig.from_toml(config.to_toml()) == config
agent = XCSF.on(lake, config, seed=1).train(lake, 3_000)

# A scan over the table gives what the index gave.
rules, seen = agent.rules, lake.observations[lake.states]
parity = np.column_stack([rules["x_parity"], rules["y_parity"]])
for state, row in zip(seen, agent.read_values(seen)):
    matches = ((parity < 0) | (parity == state % 2)).all(axis=1)
    for action, value in enumerate(row):
        members = matches & (rules.actions == action)
        weights = rules.fitness[members]
        expected = (weights * rules["median"][members]).sum() / weights.sum()
        assert np.isclose(value, expected, rtol=1e-12, atol=0.0)
assert len(np.unique(np.column_stack([rules.actions, parity]), axis=0)) == len(rules)
assert (rules.generality == np.where(parity < 0, 4, 2).sum(axis=1) / 8).all()

rules.save("rules")
assert RuleSet.load("rules") == rules
agent.save("checkpoint")
resumed = XCSF.load("checkpoint").train(lake, 1_000)
assert resumed.rules == agent.train(lake, 1_000).rules
print(json.dumps({
    "events": agent.events,
    "restricts": bool((parity >= 0).any()),
    "greatest": rules["median"].max(),
    "least": rules["median"].min(),
    "sentences": rules.sentences(),
}))
"""

WHERE = """
import median, parity
from xcskit.kernels.compiler import cache_directory
print(cache_directory())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the files that the page shows, each under the name in its first line."""
    block = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    blocks = block.findall(DOC.read_text())
    assert [name for name, _ in blocks] == ["parity.py", "median.py", "use.py"]
    for name, code in blocks:
        (tmp_path / name).write_text(code)
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    """Run Python with the folder's modules and a machine-code cache of its own."""
    environment = {
        **os.environ,
        "XCSKIT_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }
    done = subprocess.run(  # noqa: S603 - the programs of this module
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(folder, "-c", REPORT))
    return found


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))


@pytest.mark.slow
def test_components_of_the_page_and_edits_of_them(folder: Path) -> None:
    as_shown = report(folder)
    happened = {name for name, count in as_shown["events"].items() if count}
    assert happened >= {"removed", "inserted_new", "merged_with_identical", "subsumed_by_parent"}
    assert as_shown["restricts"]
    assert as_shown["greatest"] > 0.02
    assert as_shown["least"] > -0.01
    assert any(re.match(r"IF x is (odd|even) AND y is", line) for line in as_shown["sentences"])

    printed = run(folder, "use.py")
    assert re.match(r"\d+ rules \(400 microclassifiers\) over .*; parity, median", printed)

    edit(folder / "parity.py", "-1 if is_any else state[d] % 2", "-1 if is_any else -1")
    edit(folder / "parity.py", "draw_below(stream, 3) - 1", "draw_below(stream, 1) - 1")
    edit(folder / "median.py", "value[rule] += storage.step", "value[rule] -= storage.step")
    edited = report(folder)
    assert not edited["restricts"]
    assert edited["greatest"] < 0.01
    assert edited["least"] < -0.1
    assert all(line.startswith("IF any state THEN") for line in edited["sentences"])


def test_an_edit_of_any_file_moves_the_cache(folder: Path) -> None:
    places = [run(folder, "-c", WHERE), run(folder, "-c", WHERE)]
    assert places[0] == places[1]
    for name in ("parity.py", "median.py"):
        with (folder / name).open("a") as file:
            file.write("# one more line\n")
        places.append(run(folder, "-c", WHERE))
    assert len(set(places)) == 3
