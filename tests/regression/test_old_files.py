"""Rule sets of every format version that was ever released still load.

``formats/rules-VERSION.parquet`` was written by a release that had this version, and the JSON file
beside it was exported by the same. A new version adds its pair, and never takes one away.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from xcskit.rules import RuleSet, parquet

FORMATS = Path(__file__).parent / "formats"
VERSIONS = range(1, parquet.VERSION + 1)


def content(path: Path) -> dict[str, Any]:
    """Give what was exported, but for the version of the package that did it."""
    return {**json.loads(path.read_text(encoding="utf-8")), "xcskit": None}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_rule_set_of_each_version_loads(version: int, tmp_path: Path) -> None:
    rules = RuleSet.load(FORMATS / f"rules-{version}.parquet")
    rules.export(tmp_path / "again.json")
    assert content(tmp_path / "again.json") == content(FORMATS / f"rules-{version}.json")
