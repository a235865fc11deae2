"""The sdist and the wheel: whole, and at work where nothing else is installed."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xcskit import __version__

ROOT = Path(__file__).parents[2]
NAME = f"xcskit-{__version__}"

pytestmark = pytest.mark.slow


def run(*words: str | Path, cwd: Path | None = None) -> str:
    """Run a program that has to succeed, and give what it prints."""
    done = subprocess.run(  # noqa: S603 - programs that the tests name
        [*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of an sdist, made of the source, and of a wheel, made of that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def fresh(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the programs of a new environment into which pip has installed the wheel alone."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, symlinks=True)
    (wheel,) = built.glob("*.whl")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    run(*pip, "install", "--no-compile", "-c", ROOT / "constraints.txt", wheel)
    run(*pip, "check")
    yield folder / "bin"
    shutil.rmtree(folder)


def test_the_sdist_holds_all_that_git_does(built: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, whose files could be compared")
    with tarfile.open(built / f"{NAME}.tar.gz") as sdist:
        packed = {Path(name).relative_to(NAME).as_posix() for name in sdist.getnames()}
    tracked = set(run("git", "ls-files", cwd=ROOT).splitlines())
    others = set(run("git", "ls-files", "--others", "--exclude-standard", cwd=ROOT).splitlines())
    assert packed - others == tracked | {"PKG-INFO"}


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (metadata,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        text = wheel.read(metadata).decode()
    source = ROOT / "src"
    files = (path for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert packed == {path.relative_to(source).as_posix() for path in files}
    assert "xcskit/py.typed" in packed
    assert f"Version: {__version__}\n" in text
    assert "License-File: LICENSE\n" in text


def test_the_readmes_example_runs_there_and_gives_the_same_bits(
    fresh: Path, tmp_path: Path
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    program = tmp_path / "example.py"
    program.write_text(
        f"{example}\nimport xcskit\nprint(xcskit.__file__)\nagent.rules.save('lake.parquet')\n",
        encoding="utf-8",
    )
    there = run(fresh / "python", "-I", program, cwd=tmp_path)
    saved = (tmp_path / "lake.parquet").read_bytes()
    here = run(sys.executable, program, cwd=tmp_path)
    *printed, location = there.splitlines()
    assert printed == here.splitlines()[:-1]
    assert Path(location).is_relative_to(fresh.parent)
    assert (tmp_path / "lake.parquet").read_bytes() == saved


def test_the_command_makes_a_study_there(fresh: Path, tmp_path: Path) -> None:
    def xcskit(line: str) -> Any:
        return json.loads(run(fresh / "xcskit", *line.split(), "--json", cwd=tmp_path))

    assert xcskit("info")["xcskit_version"] == __version__
    xcskit("train frozenlake-4x4 --slip 0.1 --steps 20000 --seed 1 -o lake.parquet")
    assert xcskit("compact lake.parquet -o small.parquet")["after"]["n_holes"] == 0
    assert xcskit("evaluate small.parquet")["policy_accuracy"] > 0.5
    for line in (
        "plot small.parquet --kind policy -o policy",
        "explore small.parquet -o page.html",
        "export small.parquet -o small.py",
    ):
        xcskit(line)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"policy.png", "policy.svg", "page.html", "small.py"} <= written
