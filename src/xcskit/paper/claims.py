"""The paper's claims as data, and the verdict on each."""

import operator
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, Final, Literal, Self, TypeAlias

import numpy as np

from xcskit.errors import ConfigurationError
from xcskit.paper.measurements import MEASUREMENTS, Statistic, Tables
from xcskit.typing import Ints

__all__ = [
    "CONFIDENCE",
    "RESAMPLES",
    "Claim",
    "Condition",
    "Judged",
    "Measured",
    "Verdict",
    "judge",
    "load_claims",
    "measure",
]

Verdict: TypeAlias = Literal["holds", "does not hold", "cannot be told"]

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 2000
_MOST_UNDEFINED = 0.05
_FEWEST = 8
"""With fewer instances than this a bootstrap interval is too narrow to judge by."""
_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A number with the interval in which it would lie, were other seeds drawn.

    Parameters
    ----------
    value
        None where it is undefined.
    low, high
        A bootstrap interval of 95 %; both equal the value where nothing was drawn. None where too
        many resamples have no value, or there are fewer than eight instances.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One number that a claim depends on.

    Parameters
    ----------
    what
        What is measured, in words.
    measure, of
        A name in ``MEASUREMENTS``, and what it is given.
    relation, threshold
        What has to be true of the number.
    """

    what: str
    measure: str
    of: Mapping[str, Any]
    relation: str
    threshold: float

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Read a condition, whose ``is`` holds relation and threshold."""
        relation, _, number = table["is"].partition(" ")
        if table["measure"] not in MEASUREMENTS or relation not in _RELATIONS:
            msg = f"{table} has no measurement of that name, or no such relation"
            raise ConfigurationError(msg)
        return cls(
            what=table["what"],
            measure=table["measure"],
            of=table["of"],
            relation=relation,
            threshold=float(number),
        )

    def verdict(self, measured: Measured) -> Verdict:
        """Judge a number: it is told only where the whole interval lies on one side.

        Examples
        --------
        >>> small = Condition(what="", measure="mean", of={}, relation="<=", threshold=2.0)
        >>> small.verdict(Measured(value=1.5, low=1.0, high=1.9))
        'holds'
        >>> small.verdict(Measured(value=1.5, low=1.0, high=2.1))
        'cannot be told'
        """
        if measured.value is None or measured.low is None or measured.high is None:
            return "cannot be told"
        is_true = _RELATIONS[self.relation]
        answers = {is_true(end, self.threshold) for end in (measured.low, measured.high)}
        if len(answers) == 2 or (self.relation == "==" and measured.low != measured.high):
            return "cannot be told"
        return "holds" if answers == {True} else "does not hold"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the paper says, and what would make it true here.

    Parameters
    ----------
    id, section, gist
        A name, where the paper says it, and what.
    conditions
        All of them have to hold.
    untested
        Why there are none, where a run of the paper's experiments cannot decide the claim.
    only
        The map that the claim is about; any if empty.
    """

    id: str
    section: str
    gist: str
    conditions: tuple[Condition, ...] = ()
    untested: str = ""
    only: str = ""

    def __post_init__(self) -> None:
        """Refuse a claim that is neither tested nor said to be untested."""
        if bool(self.conditions) == bool(self.untested):
            msg = f"claim {self.id!r} needs conditions, or words on why it is untested"
            raise ConfigurationError(msg)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A claim, what was measured for each of its conditions, and the verdicts."""

    claim: Claim
    measured: tuple[Measured, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim: that of its worst condition; untested, it cannot be told."""
        if "does not hold" in self.verdicts:
            return "does not hold"
        if self.claim.untested or "cannot be told" in self.verdicts:
            return "cannot be told"
        return "holds"

    def to_dict(self) -> dict[str, Any]:
        """Give plain data, for JSON."""
        return {
            "id": self.claim.id,
            "section": self.claim.section,
            "gist": self.claim.gist,
            "verdict": self.verdict,
            "untested": self.claim.untested,
            "conditions": [
                {
                    "what": condition.what,
                    "measure": condition.measure,
                    "of": dict(condition.of),
                    "relation": condition.relation,
                    "threshold": condition.threshold,
                    **{name: _plain(number) for name, number in asdict(measured).items()},
                    "verdict": verdict,
                }
                for condition, measured, verdict in zip(
                    self.claim.conditions, self.measured, self.verdicts, strict=True
                )
            ],
        }


def _plain(number: float | None) -> float | str | None:
    """Give a number as JSON takes it: infinity has no place there."""
    return number if number is None or np.isfinite(number) else str(number)


def load_claims() -> tuple[Claim, ...]:
    """Read the table of claims that the package carries."""
    text = resources.files("xcskit.paper").joinpath("claims.toml").read_text(encoding="utf-8")
    return tuple(
        Claim(
            **{key: value for key, value in table.items() if key != "conditions"},
            conditions=tuple(Condition.from_table(row) for row in table.get("conditions", ())),
        )
        for table in tomllib.loads(text)["claims"]
    )


def measure(statistic: Statistic, n_instances: int, resamples: Ints) -> Measured:
    """Measure once on all instances, and on every resample of them.

    Parameters
    ----------
    statistic
        From indices, shape (n, n_instances), to n values.
    n_instances
        How many there are.
    resamples
        Indices drawn with replacement, shape (n_resamples, n_instances).

    Notes
    -----
    A percentile bootstrap. Quantiles are values that occurred, so that infinite ones may be among
    them.
    """
    value = float(statistic(np.arange(n_instances)[np.newaxis])[0])
    if np.isnan(value):
        return Measured(value=None, low=None, high=None)
    drawn = np.asarray(statistic(resamples), dtype=np.float64)
    defined = drawn[~np.isnan(drawn)]
    is_sampled = not (drawn == value).all()
    if defined.size < (1.0 - _MOST_UNDEFINED) * drawn.size or (
        is_sampled and n_instances < _FEWEST
    ):
        return Measured(value=value, low=None, high=None)
    ends = np.quantile(
        defined, [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0], method="inverted_cdf"
    )
    return Measured(value=value, low=float(ends[0]), high=float(ends[1]))


def judge(
    claims: Sequence[Claim], tables: Tables, lake: str, rng: np.random.Generator
) -> tuple[Judged, ...]:
    """Judge every claim that is about a map.

    Parameters
    ----------
    claims
        What to judge.
    tables
        What measurements work on.
    lake
        The name of the map.
    rng
        Draws the resamples.
    """
    n = tables["instances"]["seed"].n_unique()
    resamples = rng.integers(0, n, size=(RESAMPLES, n))
    judged: list[Judged] = []
    for claim in claims:
        if claim.only in {"", lake}:
            measured = tuple(
                measure(MEASUREMENTS[condition.measure](tables, **condition.of), n, resamples)
                for condition in claim.conditions
            )
            verdicts: tuple[Verdict, ...] = tuple(
                condition.verdict(number)
                for condition, number in zip(claim.conditions, measured, strict=True)
            )
            judged.append(Judged(claim=claim, measured=measured, verdicts=verdicts))
    return tuple(judged)
