"""The part of numba that xcskit uses, typed."""

from collections.abc import Callable
from typing import Any, TypeVar

from . import types as types

_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str

def njit(function: _F) -> _F: ...
