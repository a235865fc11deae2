"""Checks of single settings, each with one clear error."""

import math
import numbers
from collections.abc import Collection
from typing import TypeVar

import numpy as np

from xcskit.errors import ConfigurationError

__all__ = [
    "check_choice",
    "check_flag",
    "check_instance",
    "check_integer",
    "check_optional_function",
    "check_real",
]

_T = TypeVar("_T")
_FLAGS: tuple[type, ...] = (bool, np.bool_)
_EXACT = 2**53
"""Greater bounds are shown rounded."""


def _range_text(low: float | None, high: float | None, *, open_low: bool, open_high: bool) -> str:
    left = "" if low is None else f"{'>' if open_low else '>='} {_bound_text(low)}"
    right = "" if high is None else f"{'<' if open_high else '<='} {_bound_text(high)}"
    return " and ".join(part for part in (left, right) if part)


def _bound_text(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) and abs(bound) <= _EXACT else f"{bound:g}"


def _shown(value: object) -> str:
    """Show a value that was refused; Python itself refuses to print whole numbers without end."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"


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
        msg = f"{name} is a number, {expected}: got {_shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    below = low is not None and (number <= low if open_low else number < low)
    above = high is not None and (number >= high if open_high else number > high)
    if not math.isfinite(number) or below or above:
        msg = f"{name} must be {expected}: got {_shown(value)}"
        raise ConfigurationError(msg)
    return number


def check_integer(name: str, value: object, low: int | None = None, high: int | None = None) -> int:
    """Give a whole number inside its range, or raise an error that names it."""
    expected = _range_text(low, high, open_low=False, open_high=False) or "any"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        msg = f"{name} is a whole number, {expected}: got {_shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    number = int(value)
    if (low is not None and number < low) or (high is not None and number > high):
        msg = f"{name} must be {expected}: got {_shown(value)}"
        raise ConfigurationError(msg)
    return number


def check_flag(name: str, value: object) -> bool:
    """Give a truth value, or raise an error that names it."""
    if not isinstance(value, _FLAGS):
        msg = f"{name} is True or False: got {_shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    return bool(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Give one of several names, or raise an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} is one of {', '.join(sorted(choices))}: got {_shown(value)}"
        raise ConfigurationError(msg)
    return value


def check_optional_function(name: str, value: object) -> None:
    """Let only a function or None pass."""
    if not (value is None or callable(value)):
        msg = f"{name} is a function, or None: got {_shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)


def check_instance(name: str, value: object, kind: type[_T]) -> _T:
    """Give an object of a class, or raise an error that names the class."""
    if not isinstance(value, kind):
        msg = f"{name} is of class {kind.__name__}: got {_shown(value)} ({type(value).__name__})"
        raise ConfigurationError(msg)
    return value
