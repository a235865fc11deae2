"""Specifications: validated, copied, read from TOML and written to it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from xcskit.errors import ConfigurationError
from xcskit.experiments import Specification

TEXT = """
name = "slip"
seeds = {first = 1, count = 3}

[environments.p0]
slip = 0.0
size = [8, 8]

[environments."p 0.1"]
slip = 0.1

[configurations.paper]
preset = "bishop2020"

[configurations.small]
n = 1_000
[configurations.small.mutation]
rate = 0.04

[measurements.history]
every = 5_000
"""


def settings(**changes: object) -> dict[str, Any]:
    return {
        "name": "slip",
        "environments": {"p0": {"slip": 0.0}},
        "configurations": {"paper": {}},
        "seeds": [1, 2],
        **changes,
    }


def test_toml_is_read_as_it_says() -> None:
    specification = Specification.from_toml(TEXT)
    assert specification == Specification(
        name="slip",
        environments={"p0": {"slip": 0.0, "size": (8, 8)}, "p 0.1": {"slip": 0.1}},
        configurations={
            "paper": {"preset": "bishop2020"},
            "small": {"n": 1000, "mutation": {"rate": 0.04}},
        },
        seeds=[1, 2, 3],
        measurements={"history": {"every": 5000}},
    )


def test_a_file_is_read_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "slip.toml"
    path.write_text(TEXT, encoding="utf-8")
    assert Specification.load(path) == Specification.from_toml(TEXT)
    path.write_text(TEXT + "[extra]\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"slip\.toml.*no setting 'extra'"):
        Specification.load(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Specification.load(tmp_path / "none.toml")


def test_trials_are_the_product_in_order() -> None:
    trials = Specification.from_toml(TEXT).trials()
    assert [(t.environment_name, t.configuration_name, t.seed) for t in trials] == [
        (environment, configuration, seed)
        for environment in ("p0", "p 0.1")
        for configuration in ("paper", "small")
        for seed in (1, 2, 3)
    ]
    assert str(trials[-1]) == "p 0.1, small, seed 3"
    assert len({trial.identity("engine") for trial in trials}) == len(trials)


def test_identity_is_what_determines_a_trial_and_nothing_else() -> None:
    (trial,) = Specification(**settings(seeds=[1])).trials()
    (renamed,) = Specification(
        **settings(name="other", seeds=[1], environments={"calm": {"slip": 0.0}})
    ).trials()
    assert trial.identity("engine") == renamed.identity("engine")
    assert trial.identity("engine") != trial.identity("other engine")
    changes: list[dict[str, object]] = [
        {"seeds": [2]},
        {"environments": {"p0": {"slip": 0.1}}},
        {"configurations": {"paper": {"n": 1}}},
        {"measurements": {"history": {}}},
    ]
    for change in changes:
        (changed,) = Specification(**settings(**{"seeds": [1], **change})).trials()
        assert changed.identity("engine") != trial.identity("engine")


def test_nobody_else_holds_the_data() -> None:
    environment: dict[str, object] = {"slip": 0.0}
    specification = Specification(**settings(environments={"p0": environment}))
    environment["slip"] = 0.5
    specification.trials()[0].environment["slip"] = 0.5
    assert specification.trials()[0].environment == {"slip": 0.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "name is ''"),
        ({"name": "two\nlines"}, "one line"),
        ({"environments": {}}, "environments is empty"),
        ({"environments": {"a": 1}}, r"environments\.a is 1; expected a table"),
        ({"environments": [1]}, "environments is .*expected a table"),
        ({"environments": {"a": {"x": 1}, "b": {"x": 1}}}, r"environments\.a and environments\.b"),
        ({"environments": {"a": {"x": float("nan")}}}, r"environments\.a\.x is nan"),
        ({"environments": {"a": {"x": [1, None]}}}, r"environments\.a\.x\[1\] is None"),
        ({"environments": {"a": {1: 1}}}, "key 1"),
        ({"environments": {"a": {"x": "\ud800"}}}, r"environments\.a\.x"),
        ({"measurements": {"x": b""}}, r"measurements\.x is b''"),
        ({"seeds": []}, "at least one"),
        ({"seeds": "12"}, "seeds is '12'"),
        ({"seeds": [1.0]}, r"holds 1\.0"),
        ({"seeds": [True]}, "holds True"),
        ({"seeds": [-1]}, "holds -1"),
        ({"seeds": [2**63]}, "holds 9223372036854775808"),
        ({"seeds": [3, 1, 3]}, "holds 3 more than once"),
    ],
)
def test_what_is_wrong_is_said(change: Mapping[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Specification(**settings(**change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not TOML"),
        ('name = "a"\nseeds = [1]\nsteps = 3', "no setting 'steps'.*lacks 'configurations'"),
        (TEXT.replace("count", "number"), "seeds has no setting 'number'; seeds lacks 'count'"),
        (TEXT.replace("count = 3", 'count = "3"'), "expected integers first and count"),
        (TEXT.replace("count = 3", "count = 0"), "at least one integer"),
        (TEXT.replace("0.1", "1979-05-27"), "type date"),
    ],
)
def test_what_is_wrong_in_toml_is_said(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Specification.from_toml(text)
