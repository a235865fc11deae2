"""Checks of single settings, each with one clear error."""

import math
import numbers
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from xcskit.errors import ConfigurationError

__all__ = [
    "as_array",
    "check_choice",
    "check_flag",
    "check_instance",
    "check_integer",
    "check_mapping",
    "check_optional_function",
    "check_real",
    "distinct_words",
    "shown",
]

_T = TypeVar("_T")
_FLAGS: tuple[type, ...] = (bool, np.bool_)
_EXACT = 2**53
"""Greater bounds are shown rounded."""
_LONGEST = 500


def _range_text(low: float | None, high: float | None, *, open_low: bool, open_high: bool) -> str:
    left = "" if low is None else f"{'>' if open_low else '>='} {_bound_text(low)}"
    right = "" if high is None else f"{'<' if open_high else '<='} {_bound_text(high)}"
    return " and ".join(part for part in (left, right) if part)


def _bound_text(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) and abs(bound) <= _EXACT else f"{bound:g}"


def shown(value: object) -> str:
    """Show a value that was refused, in one line and not at length.

    Python itself refuses to print whole numbers without end.
    """
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} .."


def check_real(
    name: str,
    value: object,
    low: float | None = None,
    high: float | None = None,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Give a finite number inside its range, or raise an error that names it."""
    expected = _range_text(low, high, open_low=open_low, open_high=open_high) or "finite"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        msg = f"{name} is a number, {expected}: got {shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    below = low is not None and (number <= low if open_low else number < low)
    above = high is not None and (number >= high if open_high else number > high)
    if not math.isfinite(number) or below or above:
        msg = f"{name} must be {expected}: got {shown(value)}"
        raise ConfigurationError(msg)
    return number


def check_integer(name: str, value: object, low: int | None = None, high: int | None = None) -> int:
    """Give a whole number inside its range, or raise an error that names it."""
    expected = _range_text(low, high, open_low=False, open_high=False) or "any"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        msg = f"{name} is a whole number, {expected}: got {shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    number = int(value)
    if (low is not None and number < low) or (high is not None and number > high):
        msg = f"{name} must be {expected}: got {shown(value)}"
        raise ConfigurationError(msg)
    return number


def check_flag(name: str, value: object) -> bool:
    """Give a truth value, or raise an error that names it."""
    if not isinstance(value, _FLAGS):
        msg = f"{name} is True or False: got {shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    return bool(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Give one of several names, or raise an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} is one of {', '.join(sorted(choices))}: got {shown(value)}"
        raise ConfigurationError(msg)
    return value


def check_optional_function(name: str, value: object) -> None:
    """Let only a function or None pass."""
    if not (value is None or callable(value)):
        msg = f"{name} is a function, or None: got {shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)


def check_instance(name: str, value: object, kind: type[_T], remedy: str = "") -> _T:
    """Give an object of a class, or raise an error that names the class and says how to get one."""
    if not isinstance(value, kind):
        msg = f"{name} is of class {kind.__name__}: got {shown(value)} ({type(value).__name__})"
        raise ConfigurationError(f"{msg}; {remedy}" if remedy else msg)
    return value


def check_mapping(name: str, value: object, remedy: str) -> None:
    """Let only a mapping pass."""
    if not isinstance(value, Mapping):
        msg = f"{name} is a mapping, {remedy}: got {shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)


def distinct_words(values: object) -> tuple[str, ...]:
    """Give words that are all different and none empty, as names are; nothing for anything else."""
    is_list = isinstance(values, Iterable) and not isinstance(values, str)
    given = list(cast("Iterable[object]", values)) if is_list else []
    words = tuple(word for word in given if isinstance(word, str) and word)
    return words if len(words) == len(given) == len(set(words)) else ()


def as_array(values: object) -> NDArray[Any]:
    """Give an array; rows of different lengths, which make none, as one that has no dimension."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.asarray(None)
