"""The part of numba that xcskit uses, typed."""

from . import types as types

__version__: str
