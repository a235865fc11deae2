"""The rows of a history: what is measured along the way."""

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from xcskit.errors import ConfigurationError
from xcskit.validation import check_integer, check_real

if TYPE_CHECKING:
    from xcskit.learner.xcsf import XCSF

__all__ = ["Measure", "Row", "is_stop", "measured_row", "plain_row"]

Row = Mapping[str, float | None]
"""One row of a history: a name and a number each; None where a number is undefined."""


class Measure(Protocol):
    """What is measured along the way: anything that turns a learner into a row."""

    def __call__(self, learner: "XCSF", /) -> Row:
        """Measure the learner as it is now."""
        ...


def is_stop(answer: object) -> bool:
    """Tell whether a callback's answer stops training: True does, NumPy's too, and nothing else."""
    return answer is True or answer is np.True_


def measured_row(learner: "XCSF", evaluate: Measure | None) -> Row:
    """Give the row of a learner as it is now: its size, and what there is to measure."""
    measured: Row = {} if evaluate is None else plain_row(evaluate(learner))
    events = learner.events
    row: Row = {
        "step": learner.steps,
        "n_rules": events["n_macros"],
        "n_microclassifiers": events["n_micros"],
        "n_covered": events["covered"],
    }
    taken = sorted(row.keys() & measured.keys())
    if taken:
        msg = f"what is measured needs other names than {', '.join(taken)}, which a history has"
        raise ConfigurationError(msg)
    return {**row, **measured}


def plain_row(measured: object) -> Row:
    """Check what was measured, and bring its numbers into plain Python types."""
    is_table = isinstance(measured, Mapping)
    table = cast("Mapping[object, object]", measured) if is_table else {None: None}
    if not all(isinstance(name, str) for name in table):
        msg = f"a measurement is a table of names and numbers: got {measured!r}"
        raise ConfigurationError(msg)
    return {str(name): _plain_number(f"measured {name}", value) for name, value in table.items()}


def _plain_number(name: str, value: object) -> float | None:
    if value is None:
        return None
    check = check_integer if isinstance(value, numbers.Integral) else check_real
    return check(name, value)
