"""What the pages say that is no output of the build: names, examples, versions."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

from xcskit import __version__
from xcskit.cli.main import COMMANDS
from xcskit.learner import checkpoint
from xcskit.rules import parquet

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODE = re.compile(r"```(?:python|\{code-cell\} ipython3)\n(?::tags:[^\n]*\n)?(.*?)```", re.DOTALL)


def code_blocks(page: Path) -> list[str]:
    return CODE.findall(page.read_text(encoding="utf-8"))


def find(name: str) -> object:
    """Import the longest part that is a module, and look the rest up in it."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


ALGORITHM = (DOCS / "algorithm.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`((?:xcskit|oracle)\.[\w.]+)`", ALGORITHM)))


def test_the_table_of_the_algorithm_is_found() -> None:
    assert len(NAMES) > 60


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_algorithm_exists(name: str) -> None:
    assert find(name) is not None


def test_every_step_has_a_plain_twin_and_a_source() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.*?) ?\| (.*?) ?\|$", ALGORITHM, re.MULTILINE)
    steps = [row for row in rows if "`xcskit.kernels" in row[1]]
    assert len(steps) > 15
    for step, _, plain, source in steps:
        assert "oracle." in plain, step
        assert source, step


def test_the_first_run_is_the_one_of_the_readme() -> None:
    readme = code_blocks(ROOT / "README.md")
    assert code_blocks(DOCS / "start.md")[0] == readme[0]


@pytest.mark.slow
def test_the_example_of_compaction_runs() -> None:
    (example,) = code_blocks(DOCS / "compaction.md")
    exec(compile(example, "compaction.md", "exec"), {})  # noqa: S102 - our own example


CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_changelog_and_citation_are_of_this_version() -> None:
    released = re.findall(r"^## \[(\d[^]]*)\]", CHANGELOG, re.MULTILINE)
    assert released[0] == __version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == __version__  # type: ignore[index] # fails if None


@pytest.mark.parametrize("name", COMMANDS)
def test_the_changelog_tells_every_command(name: str) -> None:
    assert re.search(rf"\b{name}\b", CHANGELOG)


def test_the_versions_of_files_are_those_that_are_written() -> None:
    page = (DOCS / "reference" / "files.md").read_text(encoding="utf-8")
    told = re.findall(r"\"(xcskit \w+)\"`\), `version` \((\d+)\)", page)
    assert told == [
        (parquet.FORMAT, str(parquet.VERSION)),
        (checkpoint.FORMAT, str(checkpoint.VERSION)),
    ]


def test_the_pythons_of_the_page_are_the_classifiers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    page = (DOCS / "compatibility.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| Python \| (.*?) \|", page, re.MULTILINE)
    assert re.findall(r"3\.\d+", row) == classified
    assert project["requires-python"] == f">={classified[0]}"


def test_every_table_of_performance_is_there_and_none_is_left_over() -> None:
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^:file: (performance/.*\.csv)$", page, re.MULTILINE))
    assert shown == {str(path.relative_to(DOCS)) for path in (DOCS / "performance").rglob("*.csv")}
