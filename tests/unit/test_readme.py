"""The README works word for word."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(example.strip().splitlines()) <= 12
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own example
    printed = capsys.readouterr().out
    assert "policy_accuracy" in printed
    assert "THEN right:" in printed


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
