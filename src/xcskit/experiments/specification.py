"""What an experiment consists of: environments x configurations x seeds, and what is measured."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Self

from xcskit.errors import ConfigurationError
from xcskit.experiments.plain import Entry, canonical, is_list, is_table, plain_entry, to_toml
from xcskit.experiments.trial import Trial

__all__ = ["Specification"]

_SEED_END = 2**63


@dataclass(frozen=True, kw_only=True)
class Specification:
    """An experiment as data: every environment with every configuration and every seed.

    Parameters
    ----------
    name
        What messages call the experiment.
    environments, configurations
        Named tables of plain data (booleans, integers, finite floats, text, lists and tables).
        What stands in them is for the trial function to read.
    seeds
        Different integers from 0 to 2**63 - 1.
    measurements
        Named measurements with their settings, the same for every trial.

    Examples
    --------
    >>> specification = Specification(
    ...     name="slip",
    ...     environments={"p0": {"slip": 0.0}, "p1": {"slip": 0.1}},
    ...     configurations={"paper": {"preset": "bishop2020"}},
    ...     seeds=range(1, 31),
    ... )
    >>> len(specification.trials())
    60
    >>> Specification.from_toml(specification.to_toml()) == specification
    True
    """

    name: str
    environments: Mapping[str, Mapping[str, object]]
    configurations: Mapping[str, Mapping[str, object]]
    seeds: Sequence[int]
    measurements: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        """Validate, and copy, so that nobody else holds what determines the trials."""
        _check_name(self.name)
        object.__setattr__(self, "environments", _entries(self.environments, "environments"))
        object.__setattr__(self, "configurations", _entries(self.configurations, "configurations"))
        object.__setattr__(self, "measurements", plain_entry(self.measurements, "measurements"))
        object.__setattr__(self, "seeds", _seeds(self.seeds))

    def trials(self) -> tuple[Trial, ...]:
        """Give every trial, ordered by environment, configuration and seed."""
        return tuple(
            Trial(
                environment_name=environment,
                configuration_name=configuration,
                environment=plain_entry(self.environments[environment], environment),
                configuration=plain_entry(self.configurations[configuration], configuration),
                measurements=plain_entry(self.measurements, "measurements"),
                seed=seed,
            )
            for environment, configuration, seed in product(
                self.environments, self.configurations, self.seeds
            )
        )

    def to_toml(self) -> str:
        """Give the specification as a TOML document."""
        return to_toml(
            plain_entry(
                {f.name: getattr(self, f.name) for f in fields(self)},
                "specification",
            )
        )

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a TOML document; ``seeds`` is a list, or ``{first = 1, count = 30}``."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as reason:
            msg = f"the specification is not TOML: {reason}"
            raise ConfigurationError(msg) from None
        known = {f.name for f in fields(cls)}
        _check_keys(document, known, known - {"measurements"}, "the specification")
        if is_table(document["seeds"]):
            document["seeds"] = _seed_range(plain_entry(document["seeds"], "seeds"))
        return cls(**document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as reason:
            msg = f"the specification {path} cannot be read: {reason}"
            raise ConfigurationError(msg) from None
        try:
            return cls.from_toml(text)
        except ConfigurationError as reason:
            msg = f"{path}: {reason}"
            raise ConfigurationError(msg) from None


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        msg = f"name is {name!r}; expected one line of text"
        raise ConfigurationError(msg)


def _check_keys(table: Mapping[str, object], known: set[str], needed: set[str], where: str) -> None:
    unknown, missing = sorted(set(table) - known), sorted(needed - set(table))
    if unknown or missing:
        problems = [f"{where} has no setting {key!r}" for key in unknown]
        problems += [f"{where} lacks {key!r}" for key in missing]
        msg = f"{'; '.join(problems)}; expected {', '.join(sorted(known))}"
        raise ConfigurationError(msg)


def _entries(tables: object, where: str) -> dict[str, Entry]:
    named = plain_entry(tables, where)
    if not named:
        msg = f"{where} is empty; an experiment needs at least one"
        raise ConfigurationError(msg)
    entries = {name: plain_entry(table, f"{where}.{name}") for name, table in named.items()}
    contents: dict[str, str] = {}
    for name, entry in entries.items():
        _check_name(name)
        twin = contents.setdefault(canonical(entry), name)
        if twin != name:
            msg = (
                f"{where}.{twin} and {where}.{name} are the same; their trials would be equal, "
                "so leave one out"
            )
            raise ConfigurationError(msg)
    return entries


def _seeds(seeds: object) -> tuple[int, ...]:
    if not is_list(seeds) or not seeds:
        msg = f"seeds is {seeds!r}; expected a list of at least one integer"
        raise ConfigurationError(msg)
    values: list[int] = []
    for seed in seeds:
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < _SEED_END:
            msg = f"seeds holds {seed!r}; expected integers from 0 to 2**63 - 1"
            raise ConfigurationError(msg)
        values.append(seed)
    if len(set(values)) < len(values):
        twice = next(seed for seed in values if values.count(seed) > 1)
        msg = f"seeds holds {twice} more than once; every trial is run once"
        raise ConfigurationError(msg)
    return tuple(values)


def _seed_range(table: Entry) -> range:
    names = {"first", "count"}
    _check_keys(table, names, names, "seeds")
    first, count = table["first"], table["count"]
    if not isinstance(first, int) or not isinstance(count, int):
        msg = f"seeds is {table}; expected integers first and count"
        raise ConfigurationError(msg)
    return range(first, first + count)
