"""The configuration of XCSF: every parameter and every option, by name."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import Any, Self, TypeVar, cast

from xcskit.errors import ConfigurationError
from xcskit.kernels.components import Component, ConditionScheme, PredictionScheme, Table
from xcskit.kernels.conditions import CONDITIONS, MinSpan
from xcskit.kernels.predictions import PREDICTIONS, Nlms
from xcskit.kernels.settings import (
    CROSSOVERS,
    DELETION_MEANS,
    ERRORS,
    EXPLORATIONS,
    SELECTIONS,
    Settings,
)
from xcskit.validation import (
    check_choice,
    check_flag,
    check_instance,
    check_integer,
    check_real,
    shown,
)

__all__ = ["XcsfConfig"]

_MOST_RULES = 10**8
_MOST_STEPS = 2**53
_C = TypeVar("_C", bound=Component)


@dataclass(frozen=True, kw_only=True)
class XcsfConfig:
    """Parameters and options of XCSF. The defaults are the setting of Bishop and Gallagher (2020).

    Parameters
    ----------
    population_size
        N, the most microclassifiers.
    learning_rate
        beta, of error, fitness and action set size.
    minimum_error_rate
        beta_epsilon, of the minimum error (XCS-mu).
    accuracy_slope
        alpha, the accuracy of a rule just above the target error.
    target_error
        epsilon_0: below it a rule counts as accurate.
    accuracy_power
        nu, how steeply accuracy falls with error. Whole numbers are computed by multiplication.
    discount
        gamma.
    ga_threshold
        theta_GA: mean steps since a set's last GA that make the next one due.
    tournament_fraction
        tau, at least 1e-4: a micro tournament goes on until somebody takes part.
    crossover_probability
        chi.
    allele_swap_probability
        upsilon, of uniform crossover.
    mutation_probability
        mu, for each allele.
    deletion_experience
        theta_del: only rules of more experience can be judged poor.
    deletion_fraction
        delta: a rule is poor below this fraction of the mean fitness.
    subsumption_experience
        theta_sub: only rules of more experience can subsume.
    initial_error
        epsilon_I, of covered rules.
    initial_fitness
        f_I, of covered rules.
    minimum_actions
        theta_mna: actions that a match set must have; none given means all.
    exploration_probability
        How often to explore.
    exploration
        "step": decided at each step; "episode": once, at an episode's first step.
    selection
        "tournament" over macroclassifiers, "micro_tournament" (Butz), or "roulette" on fitness.
    crossover
        "uniform" or "two_point".
    error
        "xcs_mu" (Lanzi and Colombetti, 1999), or "plain" XCS.
    ga_subsumption
        Whether parents subsume their children.
    action_set_subsumption
        Whether the most general accurate rule of an action set absorbs the rules inside it.
    deletion_mean
        Mean fitness in deletion: "numerosity", weighted by it as in the authors' program, or
        "butz_wilson".
    condition
        How rules say where they apply.
    prediction
        How rules foretell the value.

    Examples
    --------
    >>> config = XcsfConfig(population_size=2000)
    >>> XcsfConfig.from_toml(config.to_toml()) == config
    True
    >>> XcsfConfig(discount=1.5)
    Traceback (most recent call last):
    ...
    xcskit.errors.ConfigurationError: discount must be >= 0 and <= 1: got 1.5
    """

    population_size: int = 5000
    learning_rate: float = 0.1
    minimum_error_rate: float = 0.05
    accuracy_slope: float = 0.1
    target_error: float = 0.01
    accuracy_power: float = 5.0
    discount: float = 0.95
    ga_threshold: float = 50.0
    tournament_fraction: float = 0.5
    crossover_probability: float = 1.0
    allele_swap_probability: float = 0.5
    mutation_probability: float = 0.05
    deletion_experience: int = 50
    deletion_fraction: float = 0.1
    subsumption_experience: int = 50
    initial_error: float = 1e-3
    initial_fitness: float = 1e-3
    minimum_actions: int | None = None
    exploration_probability: float = 0.5
    exploration: str = "step"
    selection: str = "tournament"
    crossover: str = "uniform"
    error: str = "xcs_mu"
    ga_subsumption: bool = True
    action_set_subsumption: bool = False
    deletion_mean: str = "numerosity"
    condition: ConditionScheme = field(default_factory=MinSpan)
    prediction: PredictionScheme = field(default_factory=Nlms)

    def __post_init__(self) -> None:
        """Check every value, and bring numbers into plain Python types."""
        for name, ends in _INTEGERS.items():
            if not (name == "minimum_actions" and self.minimum_actions is None):
                self._put(name, check_integer(name, getattr(self, name), *ends))
        for name, (low, high, kinds) in _REALS.items():
            is_open = {"open_low": kinds[0] == "(", "open_high": kinds[1] == ")"}
            self._put(name, check_real(name, getattr(self, name), low, high, **is_open))
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name in ("ga_subsumption", "action_set_subsumption"):
            self._put(name, check_flag(name, getattr(self, name)))
        _check_component("condition", self.condition, CONDITIONS)
        _check_component("prediction", self.prediction, PREDICTIONS)

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401 - any field
        """Give the same configuration with some values changed."""
        unknown = sorted(set(changes) - {f.name for f in fields(self)})
        if unknown:
            raise ConfigurationError(_unknown_keys("configuration", unknown, self._names()))
        return replace(self, **changes)

    @classmethod
    def _names(cls) -> list[str]:
        return [f.name for f in fields(cls)]

    def to_dict(self) -> dict[str, Any]:
        """Give the configuration as plain data; a component is a table with its ``type``."""
        plain = {name: getattr(self, name) for name in self._names()}
        for part in ("condition", "prediction"):
            plain[part] = {"type": plain[part].name, **asdict(plain[part])}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read plain data, as ``to_dict`` gives it; keys left out keep their defaults."""
        _check_mapping(plain)
        unknown = sorted(map(str, set(plain) - set(cls._names())))
        if unknown:
            raise ConfigurationError(_unknown_keys("configuration", unknown, cls._names()))
        values = dict(plain)
        if "condition" in values:
            values["condition"] = _read_component("condition", values["condition"], CONDITIONS)
        if "prediction" in values:
            values["prediction"] = _read_component("prediction", values["prediction"], PREDICTIONS)
        return cls(**values)

    def to_toml(self) -> str:
        """Give the configuration as TOML."""
        plain = self.to_dict()
        tables = {name: plain.pop(name) for name in ("condition", "prediction")}
        lines = _toml_lines(plain)
        for name, table in tables.items():
            lines += ["", f"[{name}]", *_toml_lines(table)]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read TOML, as ``to_toml`` gives it."""
        check_instance("TOML", text, str)
        try:
            plain = tomllib.loads(text)
        except (ValueError, RecursionError) as reason:
            msg = f"the configuration is no TOML: {reason}"
            raise ConfigurationError(msg) from None
        return cls.from_dict(plain)

    @property
    def digest(self) -> str:
        """A hash of the canonical form: equal for equal configurations, on any machine."""
        canonical = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def settings(self, n_actions: int) -> Settings:
        """Give the configuration as the kernels read it."""
        minimum = n_actions if self.minimum_actions is None else self.minimum_actions
        if minimum > n_actions:
            msg = f"minimum_actions is at most the number of actions, {n_actions}: got {minimum}"
            raise ConfigurationError(msg)
        if self.population_size < minimum:
            msg = (
                f"population_size must hold a rule for each of the {minimum} actions that a match "
                f"set needs: got {self.population_size}"
            )
            raise ConfigurationError(msg)
        nu = self.accuracy_power
        return Settings(
            population_size=self.population_size,
            beta=self.learning_rate,
            beta_epsilon=self.minimum_error_rate,
            alpha=self.accuracy_slope,
            epsilon_0=self.target_error,
            nu=nu,
            whole_nu=int(nu) if nu.is_integer() else -1,
            gamma=self.discount,
            theta_ga=self.ga_threshold,
            tau=self.tournament_fraction,
            chi=self.crossover_probability,
            upsilon=self.allele_swap_probability,
            mutation=self.mutation_probability,
            theta_del=self.deletion_experience,
            delta=self.deletion_fraction,
            theta_sub=self.subsumption_experience,
            initial_error=self.initial_error,
            initial_fitness=self.initial_fitness,
            minimum_actions=minimum,
            exploration_probability=self.exploration_probability,
            exploration=EXPLORATIONS.index(self.exploration),
            selection=SELECTIONS.index(self.selection),
            crossover=CROSSOVERS.index(self.crossover),
            error=ERRORS.index(self.error),
            deletion_mean=DELETION_MEANS.index(self.deletion_mean),
            subsumes_in_ga=self.ga_subsumption,
            subsumes_in_action_set=self.action_set_subsumption,
        )


_INTEGERS: dict[str, tuple[int, int]] = {
    "population_size": (1, _MOST_RULES),
    "deletion_experience": (0, _MOST_STEPS),
    "subsumption_experience": (0, _MOST_STEPS),
    "minimum_actions": (1, _MOST_RULES),
}

_REALS: dict[str, tuple[float, float | None, str]] = {
    "learning_rate": (0.0, 1.0, "(]"),
    "minimum_error_rate": (0.0, 1.0, "(]"),
    "accuracy_slope": (0.0, 1.0, "(]"),
    "target_error": (0.0, None, "()"),
    "accuracy_power": (0.0, 1000.0, "(]"),
    "discount": (0.0, 1.0, "[]"),
    "ga_threshold": (0.0, float(_MOST_STEPS), "[]"),
    "tournament_fraction": (1e-4, 1.0, "[]"),
    "crossover_probability": (0.0, 1.0, "[]"),
    "allele_swap_probability": (0.0, 1.0, "[]"),
    "mutation_probability": (0.0, 1.0, "[]"),
    "deletion_fraction": (0.0, 1.0, "[]"),
    "initial_error": (0.0, None, "[)"),
    "initial_fitness": (0.0, 1.0, "(]"),
    "exploration_probability": (0.0, 1.0, "[]"),
}

_CHOICES = {
    "exploration": EXPLORATIONS,
    "selection": SELECTIONS,
    "crossover": CROSSOVERS,
    "error": ERRORS,
    "deletion_mean": DELETION_MEANS,
}


def _toml_lines(plain: Mapping[str, Any]) -> list[str]:
    """Give a line a value; JSON's numbers, texts and lists of these are TOML's too."""
    return [f"{key} = {json.dumps(v)}" for key, v in plain.items() if v is not None]


def _check_mapping(plain: object) -> None:
    if not isinstance(plain, Mapping):
        msg = f"a configuration is a table of settings: got {plain!r}"
        raise ConfigurationError(msg)


def _unknown_keys(where: str, unknown: list[str], known: list[str]) -> str:
    return f"{where} has no {', '.join(unknown)}; it has {', '.join(known)}"


def _check_component(part: str, component: Component, table: Table[_C]) -> None:
    if type(component) not in table.values():
        schemes = ", ".join(f"{table[name].__name__}()" for name in sorted(table))
        msg = f"{part} is one of {schemes}, with their parameters: got {shown(component)}"
        raise ConfigurationError(msg)


def _read_component(part: str, plain: object, table: Table[_C]) -> _C:
    if not isinstance(plain, Mapping):
        msg = f"{part} is a table with a type, one of {', '.join(sorted(table))}: got {plain!r}"
        raise ConfigurationError(msg)
    entries = dict(cast("Mapping[str, Any]", plain))
    scheme: Any = table.named(entries.pop("type", None))
    known = {f.name: f for f in fields(scheme)}
    unknown = sorted(map(str, set(entries) - set(known)))
    if unknown:
        raise ConfigurationError(_unknown_keys(f"{part} {scheme.name}", unknown, list(known)))
    missing = sorted(
        name
        for name, f in known.items()
        if name not in entries and f.default is MISSING and f.default_factory is MISSING
    )
    if missing:
        msg = f"{part} {scheme.name} also needs {', '.join(missing)}"
        raise ConfigurationError(msg)
    component: _C = scheme(**entries)
    return component
