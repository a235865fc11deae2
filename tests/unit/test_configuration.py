"""The configuration: every field checked, nothing unknown, round trips, and the paper's numbers."""

import dataclasses
import itertools
import json
import math
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xcskit.errors import ConfigurationError
from xcskit.learner import Constant, MinSpan, Nlms, Rls, UnorderedBounds, XcsfConfig, presets

BEYOND = math.nextafter
"""The next double: the closest value that is out of range."""

# Per field: the smallest and the greatest value allowed, and the nearest ones that are not.
INTEGERS: dict[str, tuple[int, int, int, int]] = {
    "population_size": (1, 10**8, 0, 10**8 + 1),
    "deletion_experience": (0, 2**53, -1, 2**53 + 1),
    "subsumption_experience": (0, 2**53, -1, 2**53 + 1),
    "minimum_actions": (1, 10**8, 0, 10**8 + 1),
}
TINY = BEYOND(0.0, 1.0)
HUGE = 1.7e308
REALS: dict[str, tuple[float, float, float, float]] = {
    "learning_rate": (TINY, 1.0, 0.0, BEYOND(1.0, 2.0)),
    "minimum_error_rate": (TINY, 1.0, 0.0, BEYOND(1.0, 2.0)),
    "accuracy_slope": (TINY, 1.0, 0.0, BEYOND(1.0, 2.0)),
    "target_error": (TINY, HUGE, 0.0, math.inf),
    "accuracy_power": (TINY, 1000.0, 0.0, BEYOND(1000.0, 2000.0)),
    "discount": (0.0, 1.0, -TINY, BEYOND(1.0, 2.0)),
    "ga_threshold": (0.0, 2.0**53, -TINY, 2.0**53 + 2.0),
    "tournament_fraction": (1e-4, 1.0, BEYOND(1e-4, 0.0), BEYOND(1.0, 2.0)),
    "crossover_probability": (0.0, 1.0, -TINY, BEYOND(1.0, 2.0)),
    "allele_swap_probability": (0.0, 1.0, -TINY, BEYOND(1.0, 2.0)),
    "mutation_probability": (0.0, 1.0, -TINY, BEYOND(1.0, 2.0)),
    "deletion_fraction": (0.0, 1.0, -TINY, BEYOND(1.0, 2.0)),
    "initial_error": (0.0, HUGE, -TINY, math.inf),
    "initial_fitness": (TINY, 1.0, 0.0, BEYOND(1.0, 2.0)),
    "exploration_probability": (0.0, 1.0, -TINY, BEYOND(1.0, 2.0)),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "exploration": ("step", "episode"),
    "selection": ("tournament", "micro_tournament", "roulette"),
    "crossover": ("uniform", "two_point"),
    "error": ("xcs_mu", "plain"),
    "deletion_mean": ("numerosity", "butz_wilson"),
}
FLAGS = ("ga_subsumption", "action_set_subsumption")
PARTS = ("condition", "prediction")

Make = Callable[..., Any]
any_config: Make = XcsfConfig
any_condition: Make = MinSpan
COMPONENT_INTEGERS: list[tuple[Make, str, tuple[int, int, int, int]]] = [
    (MinSpan, "cover_range", (2, 2**31, 1, 2**31 + 1)),
    (MinSpan, "mutation_range", (1, 2**31, 0, 2**31 + 1)),
    (UnorderedBounds, "cover_range", (2, 2**31, 1, 2**31 + 1)),
    (UnorderedBounds, "mutation_range", (1, 2**31, 0, 2**31 + 1)),
    (Nlms, "degree", (1, 2, 0, 3)),
    (Rls, "degree", (1, 2, 0, 3)),
]
COMPONENT_REALS: list[tuple[Make, str, tuple[float, float, float, float]]] = [
    (Nlms, "x_0", (TINY, 1e6, 0.0, BEYOND(1e6, 2e6))),
    (Nlms, "eta", (TINY, BEYOND(2.0, 0.0), 0.0, 2.0)),
    (Rls, "x_0", (TINY, 1e6, 0.0, BEYOND(1e6, 2e6))),
    (Rls, "initial_covariance", (TINY, 1e9, 0.0, BEYOND(1e9, 2e9))),
    (Rls, "forgetting", (0.5, 1.0, BEYOND(0.5, 0.0), BEYOND(1.0, 2.0))),
    (Constant, "initial", (-1e300, 1e300, BEYOND(-1e300, -math.inf), BEYOND(1e300, math.inf))),
]

ALL_INTEGERS = [(XcsfConfig, name, ends) for name, ends in INTEGERS.items()] + COMPONENT_INTEGERS
ALL_REALS = [(XcsfConfig, name, ends) for name, ends in REALS.items()] + COMPONENT_REALS
NO_NUMBERS: list[Any] = ["1", b"1", True, np.True_, None, [1], (1,), {"a": 1}, 1j, np.array([1, 2])]
NEVER: list[Any] = [math.nan, math.inf, -math.inf, 10**400, -(10**400)]


def label(value: object) -> str | None:
    return getattr(value, "__name__", None)


def refused(make: Make, name: str, value: object) -> str:
    """Give the message with which a value is refused; it names the field and shows the value."""
    with pytest.raises(ConfigurationError) as caught:
        make(**{name: value})
    message = str(caught.value)
    assert name in message
    assert repr(value) in message or str(value) in message
    return message


@pytest.mark.parametrize("make", [any_config, any_condition])
def test_numbers_too_long_to_be_printed(make: Make) -> None:
    name = "population_size" if make is any_config else "cover_range"
    with pytest.raises(ConfigurationError, match=f"{name} must be .* a number of thousands of dig"):
        make(**{name: 10**10_000})


def test_the_tables_cover_every_field() -> None:
    fields = {field.name for field in dataclasses.fields(XcsfConfig)}
    assert fields == {*INTEGERS, *REALS, *CHOICES, *FLAGS, *PARTS}
    for make in (MinSpan, UnorderedBounds, Nlms, Rls, Constant):
        listed = {name for kind, name, _ in [*ALL_INTEGERS, *ALL_REALS] if kind is make}
        assert {field.name for field in dataclasses.fields(make)} == listed


@pytest.mark.parametrize(("make", "name", "ends"), [*ALL_INTEGERS, *ALL_REALS], ids=label)
def test_the_ends_of_a_range(make: Make, name: str, ends: tuple[float, ...]) -> None:
    least, greatest, below, above = ends
    assert getattr(make(**{name: least}), name) == least
    assert getattr(make(**{name: greatest}), name) == greatest
    assert "must be" in refused(make, name, below)
    assert "must be" in refused(make, name, above)


@pytest.mark.parametrize(("make", "name", "ends"), [*ALL_INTEGERS, *ALL_REALS], ids=label)
def test_what_no_number_is(make: Make, name: str, ends: tuple[float, ...]) -> None:
    for value in NO_NUMBERS:
        if not (name == "minimum_actions" and value is None):
            refused(make, name, value)
    for value in NEVER:
        refused(make, name, value)
    if isinstance(ends[0], int):
        refused(make, name, float(ends[0]))


@pytest.mark.parametrize(("make", "name", "ends"), [*ALL_INTEGERS, *ALL_REALS], ids=label)
def test_numbers_become_plain(make: Make, name: str, ends: tuple[float, ...]) -> None:
    is_whole = isinstance(ends[0], int)
    kinds: list[Any] = [np.int64, np.uint64] if is_whole else [np.float64, np.float32, Fraction]
    value = ends[0] if is_whole else 0.5
    for kind in kinds:
        stored = getattr(make(**{name: kind(value)}), name)
        assert type(stored) is (int if is_whole else float)
        assert stored == value


@pytest.mark.parametrize(("name", "choices"), CHOICES.items())
def test_choices(name: str, choices: tuple[str, ...]) -> None:
    for choice in choices:
        assert getattr(any_config(**{name: choice}), name) == choice
    wrong: list[Any] = ["", "Step", "best", 0, True, None, ["step"], ("uniform",)]
    for value in wrong:
        message = refused(XcsfConfig, name, value)
        assert all(choice in message for choice in choices)


@pytest.mark.parametrize("name", FLAGS)
def test_flags(name: str) -> None:
    assert getattr(any_config(**{name: np.True_}), name) is True
    wrong: list[Any] = [0, 1, 1.0, "yes", None, [True]]
    for value in wrong:
        refused(XcsfConfig, name, value)


@pytest.mark.parametrize("name", PARTS)
def test_components_are_instances_of_the_right_table(name: str) -> None:
    class Lookalike(MinSpan):
        pass

    other: dict[str, Any] = {"condition": Nlms(), "prediction": MinSpan()}
    wrong: list[Any] = ["min_span", MinSpan, Nlms, None, 3, {"type": "nlms"}, Lookalike()]
    for value in [*wrong, other[name]]:
        with pytest.raises(ConfigurationError, match=name):
            any_config(**{name: value})


PLAIN = XcsfConfig().to_dict()
BAD_TABLES: list[tuple[Any, str]] = [
    ({"popsize": 5}, "popsize"),
    ({"a": 1, "b": 2}, "a, b"),
    ({1: 2}, "no 1"),
    ({None: 2}, "no None"),
    (None, "table of settings"),
    ([("discount", 0.5)], "table of settings"),
    ("discount = 0.5", "table of settings"),
    ({"condition": "min_span"}, "table with a type"),
    ({"condition": None}, "table with a type"),
    ({"condition": {}}, "condition is one of min_span, unordered_bounds"),
    ({"condition": {"type": "ternary"}}, "condition is one of min_span, unordered_bounds"),
    ({"condition": {"type": ["min_span"]}}, "condition is one of"),
    ({"condition": {"type": "nlms"}}, "condition is one of"),
    ({"condition": {"type": "min_span", "reach": 4}}, "min_span has no reach"),
    ({"condition": {"type": "min_span", 3: 4}}, "min_span has no 3"),
    ({"condition": {"type": "min_span", "cover_range": "4"}}, "cover_range"),
    ({"prediction": {"type": "constant", "eta": 0.1}}, "constant has no eta"),
    ({"prediction": {"type": "neural"}}, "prediction is one of constant, nlms, rls"),
    ({"prediction": {"type": "nlms", "eta": 2.0}}, "eta must be > 0 and < 2"),
    ({"discount": None}, "discount"),
    ({"ga_subsumption": 1}, "ga_subsumption"),
]


@pytest.mark.parametrize(("plain", "message"), BAD_TABLES, ids=str)
def test_tables_that_are_no_configuration(plain: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        XcsfConfig.from_dict(plain)


BAD_TOML: list[Any] = [
    "discount = ",
    "discount 0.5",
    "discount = nan",
    "discount = 1" + "0" * 10_000,
    "x = 1",
    "[condition]",
    5,
]


@pytest.mark.parametrize("text", [*BAD_TOML, b"discount = 0.5", "a = " + "[" * 10**5])
def test_toml_that_is_no_configuration(text: Any) -> None:
    with pytest.raises(ConfigurationError):
        XcsfConfig.from_toml(text)


def test_replace_checks_names_and_values() -> None:
    config = XcsfConfig()
    assert config.replace(discount=0.5) == XcsfConfig(discount=0.5)
    with pytest.raises(ConfigurationError, match="popsize"):
        config.replace(popsize=3)
    with pytest.raises(ConfigurationError, match="discount"):
        config.replace(discount=2)


OTHER = XcsfConfig(
    population_size=321,
    learning_rate=0.2,
    minimum_error_rate=1 / 3,
    accuracy_slope=1e-5,
    target_error=1e22,
    accuracy_power=4.5,
    discount=1,
    ga_threshold=2.5e-7,
    tournament_fraction=0.4,
    crossover_probability=0,
    allele_swap_probability=0.25,
    mutation_probability=0.04,
    deletion_experience=20,
    deletion_fraction=0.2,
    subsumption_experience=2**53,
    initial_error=0,
    initial_fitness=0.01,
    minimum_actions=2,
    exploration_probability=1,
    exploration="episode",
    selection="roulette",
    crossover="two_point",
    error="plain",
    ga_subsumption=False,
    action_set_subsumption=True,
    deletion_mean="butz_wilson",
    condition=UnorderedBounds(cover_range=9, mutation_range=2),
    prediction=Rls(degree=2, x_0=1, initial_covariance=1000, forgetting=1),
)
CONFIGS = [XcsfConfig(), OTHER, XcsfConfig(prediction=Constant(initial=-1)), presets.bishop2020()]


def test_the_other_configuration_differs_in_every_field() -> None:
    default = XcsfConfig()
    same = [
        f.name
        for f in dataclasses.fields(OTHER)
        if getattr(OTHER, f.name) == getattr(default, f.name)
    ]
    assert same == []


@pytest.mark.parametrize("config", CONFIGS, ids=["default", "other", "constant", "paper"])
def test_round_trips(config: XcsfConfig) -> None:
    plain = config.to_dict()
    assert XcsfConfig.from_dict(plain) == config
    assert XcsfConfig.from_dict(json.loads(json.dumps(plain))) == config
    text = config.to_toml()
    assert XcsfConfig.from_toml(text) == config
    assert XcsfConfig.from_toml(text).digest == config.digest
    told = {key: value for key, value in plain.items() if value is not None}
    assert tomllib.loads(text) == told


def test_keys_left_out_keep_their_defaults() -> None:
    assert XcsfConfig.from_toml("") == XcsfConfig()
    text = 'discount = 0.9\n[prediction]\ntype = "nlms"\ndegree = 2\n'
    assert XcsfConfig.from_toml(text) == XcsfConfig(discount=0.9, prediction=Nlms(degree=2))


def test_the_digest_is_canonical() -> None:
    expected = "565463625e2828f8b0e375655bdc721ef41920e26119aada67b0e69edffcd2ef"
    assert presets.bishop2020().digest == expected
    written = XcsfConfig.from_dict(dict(reversed(PLAIN.items())))
    assert written.digest == expected
    as_integers: dict[str, Any] = {
        "accuracy_power": 5,
        "ga_threshold": 50,
        "crossover_probability": 1,
        "population_size": np.int64(5000),
        "condition": any_condition(cover_range=np.int64(4)),
        "prediction": Nlms(x_0=10),
    }
    assert any_config(**as_integers).digest == expected


def test_different_configurations_have_different_digests() -> None:
    default = XcsfConfig()
    changed = [
        default.replace(**{field.name: getattr(OTHER, field.name)})
        for field in dataclasses.fields(OTHER)
    ]
    assert len({config.digest for config in [default, *changed]}) == len(changed) + 1


PAPER: dict[str, Any] = {
    "population_size": 5000,  # N
    "learning_rate": 0.1,  # beta
    "minimum_error_rate": 0.05,  # beta_epsilon
    "accuracy_slope": 0.1,  # alpha
    "target_error": 0.01,  # epsilon_0
    "accuracy_power": 5.0,  # nu
    "discount": 0.95,  # gamma
    "ga_threshold": 50.0,  # theta_GA
    "tournament_fraction": 0.5,  # tau
    "crossover_probability": 1.0,  # chi
    "allele_swap_probability": 0.5,  # upsilon
    "mutation_probability": 0.05,  # mu
    "deletion_experience": 50,  # theta_del
    "deletion_fraction": 0.1,  # delta
    "subsumption_experience": 50,  # theta_sub
    "initial_error": 1e-3,  # epsilon_I
    "initial_fitness": 1e-3,  # f_I
    "minimum_actions": None,  # theta_mna, 4: the number of actions
    "exploration_probability": 0.5,
    "exploration": "step",
    "selection": "tournament",
    "crossover": "uniform",
    "error": "xcs_mu",
    "ga_subsumption": True,
    "action_set_subsumption": False,
    "deletion_mean": "numerosity",
    "condition": {"type": "min_span", "cover_range": 4, "mutation_range": 4},  # r_0, m_0
    "prediction": {"type": "nlms", "degree": 1, "x_0": 10.0, "eta": 0.1},
}


def test_the_preset_is_the_papers_setting() -> None:
    """The list of algorithm.md, "Symbols and defaults"."""
    assert presets.bishop2020().to_dict() == PAPER
    assert presets.bishop2020().settings(4).minimum_actions == 4


def test_configurations_are_frozen_and_keyword_only() -> None:
    for thing in (XcsfConfig(), MinSpan(), UnorderedBounds(), Nlms(), Rls(), Constant()):
        name = dataclasses.fields(thing)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, getattr(thing, name))
        positional: Any = type(thing)
        with pytest.raises(TypeError):
            positional(4)
        assert hash(thing) == hash(dataclasses.replace(thing))


@pytest.mark.parametrize(
    ("changes", "n_actions", "message"),
    [
        ({"minimum_actions": 5}, 4, "minimum_actions is at most the number of actions, 4: got 5"),
        ({"population_size": 3}, 4, "population_size must hold a rule for each of the 4 actions"),
    ],
)
def test_what_does_not_fit_the_number_of_actions(
    changes: dict[str, Any], n_actions: int, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        any_config(**changes).settings(n_actions)


def test_the_page_of_options_names_every_field_and_choice() -> None:
    page = (Path(__file__).parents[2] / "docs" / "options.md").read_text()
    for field in dataclasses.fields(XcsfConfig):
        assert f"`{field.name}`" in page
    for make, name, _ in [*COMPONENT_INTEGERS, *COMPONENT_REALS]:
        part = "condition" if make in {MinSpan, UnorderedBounds} else "prediction"
        assert f"`{part}.{name}`" in page
    for choice in itertools.chain(*CHOICES.values()):
        assert f"`{choice}`" in page
    example = page.split("```toml\n")[1].split("```")[0]
    expected = XcsfConfig(
        population_size=2000,
        selection="roulette",
        condition=UnorderedBounds(cover_range=3),
        prediction=Rls(degree=2),
    )
    assert XcsfConfig.from_toml(example) == expected
