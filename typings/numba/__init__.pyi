"""The part of numba that xcskit uses, typed."""

from collections.abc import Callable
from typing import Any, TypeVar

from . import config as config
from . import types as types

_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str

def njit(
    *,
    error_model: str = ...,
    nogil: bool = ...,
    forceinline: bool = ...,
    _nrt: bool = ...,
) -> Callable[[_F], _F]: ...
