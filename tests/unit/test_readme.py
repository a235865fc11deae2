"""The README works word for word."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from xcskit.cli.main import COMMANDS, run
from xcskit.rules import RuleSet

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_and_the_shell_give_the_same_rules(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(example.strip().splitlines()) <= 12
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)  # noqa: S102 - our own example
    printed = capsys.readouterr().out
    assert "policy_accuracy" in printed
    assert "THEN right:" in printed
    (shell,) = re.findall(r"```sh\n(xcskit .*?)```", README, re.DOTALL)
    for line in shell.replace("xcskit ", "").splitlines():
        assert run(shlex.split(line, comments=True)) == 0, line
    assert RuleSet.load("lake.parquet") == names["agent"].rules
    assert RuleSet.load("small.parquet") == names["path"].at(0.99)


def test_its_shell_names_commands() -> None:
    (others,) = re.findall(r"# and ([a-z, ]+)$", README, re.MULTILINE)
    assert set(others.split(", ")) < set(COMMANDS)


def test_its_links_and_commands_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)#?([^)]*)\)", README)
    assert len(links) == README.count("](")
    for link, anchor in links:
        page = (ROOT / link).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
        slugs = [re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings]
        assert not anchor or anchor in slugs, (link, anchor)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_its_map_of_the_source_is_complete() -> None:
    named = set(re.findall(r"^  ([a-z]+)/ ", README, re.MULTILINE))
    found = {path.parent.name for path in (ROOT / "src" / "xcskit").glob("*/__init__.py")}
    assert named == found
