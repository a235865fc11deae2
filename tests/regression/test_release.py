"""The sdist and the wheel: whole, and at work where nothing else is installed."""

import json
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
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


def test_the_wheel_works_in_an_environment_of_its_own(built: Path, tmp_path: Path) -> None:
    fresh, work = tmp_path / "fresh", tmp_path / "work"
    venv.create(fresh, symlinks=True)
    work.mkdir()
    (wheel,) = built.glob("*.whl")
    python, command = fresh / "bin" / "python", fresh / "bin" / "xcskit"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-compile", "-c", ROOT / "constraints.txt", wheel)
    run(*pip, "check")
    gives_the_readmes_example(python, work)
    makes_a_study(command, work)


def gives_the_readmes_example(python: Path, folder: Path) -> None:
    """Run it there and here: what is printed and what is saved are the same, to the last bit."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    program = folder / "example.py"
    more = "import xcskit\nprint(xcskit.__file__)\nagent.rules.save('lake.parquet')\n"
    program.write_text(f"{example}\n{more}", encoding="utf-8")
    *there, location = run(python, "-I", program, cwd=folder).splitlines()
    saved = (folder / "lake.parquet").read_bytes()
    *here, _ = run(sys.executable, program, cwd=folder).splitlines()
    assert Path(location).is_relative_to(python.parents[1])
    assert there == here
    assert (folder / "lake.parquet").read_bytes() == saved


def makes_a_study(command: Path, folder: Path) -> None:
    """Go once through what needs files or libraries of the package."""

    def xcskit(line: str) -> Any:
        return json.loads(run(command, *line.split(), "--json", cwd=folder))

    assert xcskit("info")["xcskit_version"] == __version__
    xcskit("train frozenlake-4x4 --slip 0.1 --steps 20000 --seed 1 -o pond.parquet")
    assert xcskit("compact pond.parquet -o small.parquet")["after"]["n_holes"] == 0
    assert xcskit("evaluate small.parquet")["policy_accuracy"] > 0.5
    for line in (
        "plot small.parquet --kind policy -o policy",
        "explore small.parquet -o page.html",
        "export small.parquet -o small.py",
    ):
        xcskit(line)
    written = {path.name for path in folder.iterdir()}
    assert {"policy.png", "policy.svg", "page.html", "small.py"} <= written
