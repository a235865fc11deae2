"""One trial: what determines it, and what it gives."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from xcskit.experiments.board import Reporter
from xcskit.experiments.plain import Entry, canonical

__all__ = ["Trial", "TrialFunction", "TrialResult", "Value", "key_of"]

Value: TypeAlias = bool | int | float | str | bytes | pl.DataFrame | None
TrialResult: TypeAlias = Mapping[str, Value]

_KEY_DIGITS = 32


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One environment, one configuration, one seed, and what is measured.

    Parameters
    ----------
    environment_name, configuration_name
        How the specification calls them. Names determine nothing: renaming keeps the results.
    environment, configuration, measurements
        Plain data, whose meaning is the trial function's.
    seed
        At least 0.
    """

    environment_name: str
    configuration_name: str
    environment: Entry
    configuration: Entry
    measurements: Entry
    seed: int

    def __str__(self) -> str:
        """Name the trial as messages do."""
        return f"{self.environment_name}, {self.configuration_name}, seed {self.seed}"

    def identity(self, engine: str) -> str:
        """Give everything that determines the result, as canonical JSON.

        Parameters
        ----------
        engine
            The fingerprint of the code that performs the trial.
        """
        return canonical(
            {
                "configuration": self.configuration,
                "engine": engine,
                "environment": self.environment,
                "measurements": self.measurements,
                "seed": self.seed,
            }
        )


TrialFunction: TypeAlias = Callable[[Trial, Reporter], TrialResult]


def key_of(identity: str) -> str:
    """Give the name under which a trial of this identity is stored."""
    return hashlib.sha256(identity.encode()).hexdigest()[:_KEY_DIGITS]
