"""Integer spaces: boxes of whole numbers, in which observations live."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from xcskit.errors import SpaceError
from xcskit.typing import Ints

__all__ = ["IntegerSpace"]

_GRID_NAMES = ("x", "y")
_LIMIT = 2**53


@dataclass(frozen=True)
class IntegerSpace:
    """A box of integers: per dimension a name, a least and a greatest value, both included.

    Examples
    --------
    >>> space = IntegerSpace.grid(8, 8)
    >>> space.names, space.sizes
    (('x', 'y'), (8, 8))
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Validate, and name the dimensions that were given no name."""
        lower, upper = _values("lower", self.lower), _values("upper", self.upper)
        if not lower or len(lower) != len(upper):
            msg = (
                "a space needs as many lower as upper bounds, and at least one: "
                f"got {len(lower)} and {len(upper)}"
            )
            raise SpaceError(msg)
        for dimension, (low, high) in enumerate(zip(lower, upper, strict=True)):
            if not (_is_integer(low) and _is_integer(high)):
                msg = f"bounds are integers: dimension {dimension} has {low!r} to {high!r}"
                raise SpaceError(msg)
            if not -_LIMIT <= low <= high <= _LIMIT:
                msg = (
                    f"dimension {dimension} has bounds {low} to {high}; "
                    "expected lower <= upper, both within 2**53 of 0"
                )
                raise SpaceError(msg)
        object.__setattr__(self, "lower", tuple(map(int, lower)))
        object.__setattr__(self, "upper", tuple(map(int, upper)))
        names = _values("names", self.names) or _default_names(len(lower))
        is_text = all(isinstance(name, str) and name for name in names)
        if not is_text or not len(names) == len(set(names)) == len(lower):
            msg = f"a space of {len(lower)} dimensions needs as many different names: {names}"
            raise SpaceError(msg)
        object.__setattr__(self, "names", names)

    @classmethod
    def grid(cls, width: int, height: int) -> Self:
        """Give the cells of a grid as (x, y), from (0, 0) at the top left."""
        if not (_is_integer(width) and _is_integer(height) and min(width, height) >= 1):
            msg = f"a grid is one cell wide and high or more: got {width!r} x {height!r}"
            raise SpaceError(msg)
        return cls((0, 0), (width - 1, height - 1), _GRID_NAMES)

    @property
    def n_dimensions(self) -> int:
        """Number of dimensions."""
        return len(self.lower)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values in each dimension."""
        return tuple(high - low + 1 for low, high in zip(self.lower, self.upper, strict=True))

    def check(self, observations: object) -> Ints:
        """Give observations as an array of this space, or say what is wrong with them.

        Parameters
        ----------
        observations
            One observation, a sequence of ``n_dimensions`` integers, or many, as rows.

        Returns
        -------
        Ints
            Shape (n, n_dimensions).
        """
        try:
            array = np.asarray(observations)
        except ValueError as reason:
            msg = f"observations are rows of {self.n_dimensions} integers: {reason}"
            raise SpaceError(msg) from None
        if array.dtype.kind not in "iu":
            msg = (
                f"observations are integers, got {array.dtype} values such as "
                f"{array.ravel()[:1].tolist()}; cast or bin them first"
            )
            raise SpaceError(msg)
        rows = np.atleast_2d(array)
        if rows.ndim != 2 or rows.shape[1] != self.n_dimensions:
            msg = (
                f"an observation has {self.n_dimensions} values ({', '.join(self.names)}), "
                f"got an array of shape {array.shape}"
            )
            raise SpaceError(msg)
        outside = (rows < np.array(self.lower)) | (rows > np.array(self.upper))
        if outside.any():
            row, dimension = (int(i) for i in np.argwhere(outside)[0])
            msg = (
                f"observation {tuple(rows[row].tolist())} is outside its space: "
                f"{self.names[dimension]} = {rows[row, dimension]}, expected "
                f"{self.lower[dimension]} to {self.upper[dimension]}"
            )
            raise SpaceError(msg)
        return np.ascontiguousarray(rows, dtype=np.int64)


def _values(field: str, given: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(given)
    except TypeError:
        msg = f"{field} has an entry for each dimension, as (0, 0): got {given!r}"
        raise SpaceError(msg) from None


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _default_names(n_dimensions: int) -> tuple[str, ...]:
    names = [f"x{i + 1}" for i in range(n_dimensions)]
    return _GRID_NAMES if n_dimensions == 2 else tuple(names)
