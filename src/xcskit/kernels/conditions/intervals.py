"""What the interval conditions share: two integer alleles a dimension, bounds in the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.components import Box, Columns, box
from xcskit.kernels.random import draw, draw_below
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints, Words
from xcskit.validation import check_integer

__all__ = ["IntervalScheme", "IntervalStorage", "clip", "nudge_alleles"]


@kernel
def clip(value: int, low: int, high: int) -> int:
    """Give the value, or the bound that it passes."""
    return max(low, min(value, high))


@kernel
def nudge_alleles(alleles: Ints, rule: int, probability: float, span: int, stream: Words) -> None:
    """Add or subtract U{0..span-1} to each allele, each with the given probability."""
    for allele in range(alleles.shape[1]):
        if draw(stream) < probability:
            magnitude = draw_below(stream, span)
            alleles[rule, allele] += magnitude if draw(stream) < 0.5 else -magnitude


class IntervalStorage(NamedTuple):
    """``alleles``: (capacity, 2 * n_dimensions), two for each dimension."""

    alleles: Ints
    space: Box
    cover_range: int
    mutation_range: int


@dataclass(frozen=True, kw_only=True)
class IntervalScheme:
    """An interval of integers in each dimension. A representation says how alleles stand for it.

    Parameters
    ----------
    cover_range
        r_0: covering reaches 1 to ``cover_range`` - 1 to either side of the state.
    mutation_range
        m_0: a mutation moves an allele by 0 to ``mutation_range`` - 1.
    """

    cover_range: int = 4
    mutation_range: int = 4

    def __post_init__(self) -> None:
        """Check the ranges, and bring them into plain Python types."""
        for name, least in (("cover_range", 2), ("mutation_range", 1)):
            value = check_integer(f"condition.{name}", getattr(self, name), least, 2**31)
            object.__setattr__(self, name, value)

    storage_class: ClassVar[type[IntervalStorage]]

    def encode(self, lower: Ints, upper: Ints) -> tuple[Ints, Ints]:
        """Give the first and the second alleles of intervals."""
        raise NotImplementedError

    def decode(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Give the bounds that alleles stand for."""
        raise NotImplementedError

    def storage(self, capacity: int, space: IntegerSpace) -> IntervalStorage:
        """Allocate alleles for a number of slots."""
        alleles = np.zeros((capacity, 2 * space.n_dimensions), dtype=np.int64)
        return self.storage_class(alleles, box(space), self.cover_range, self.mutation_range)

    def columns(
        self, storage: IntervalStorage, rows: Ints, space: IntegerSpace
    ) -> dict[str, Ints | Floats]:
        """Give the intervals of rules as columns."""
        alleles = storage.alleles[rows]
        lower, upper = self.decode(alleles[:, 0::2], alleles[:, 1::2])
        ends = {"lower": lower, "upper": upper}
        return {
            f"{name}_{end}": np.ascontiguousarray(values[:, dimension])
            for dimension, name in enumerate(space.names)
            for end, values in ends.items()
        }

    def restore(self, columns: Columns, space: IntegerSpace) -> IntervalStorage:
        """Make a storage of intervals from columns."""
        first, second = self.encode(*self.bounds(columns, space))
        storage = self.storage(len(first), space)
        storage.alleles[:, 0::2] = first
        storage.alleles[:, 1::2] = second
        return storage

    def column_names(self, space: IntegerSpace) -> tuple[str, ...]:
        """Name a lower and an upper bound for each dimension."""
        return tuple(f"{name}_{end}" for name in space.names for end in ("lower", "upper"))

    def bounds(self, columns: Columns, space: IntegerSpace) -> tuple[Ints, Ints]:
        """Give the bounds of rules as arrays of shape (n_rules, n_dimensions)."""
        lower = np.column_stack([columns[f"{name}_lower"] for name in space.names])
        upper = np.column_stack([columns[f"{name}_upper"] for name in space.names])
        return lower.astype(np.int64), upper.astype(np.int64)

    def problems(self, columns: Columns, space: IntegerSpace) -> str:
        """Say where bounds are out of order or out of their space."""
        lower, upper = self.bounds(columns, space)
        wrong = (lower < np.array(space.lower)) | (upper > np.array(space.upper)) | (lower > upper)
        if not wrong.any():
            return ""
        rule, dimension = (int(i) for i in np.argwhere(wrong)[0])
        return (
            f"rule {rule} has {space.names[dimension]} from {lower[rule, dimension]} to "
            f"{upper[rule, dimension]}, expected bounds in order and within "
            f"{space.lower[dimension]} to {space.upper[dimension]}"
        )

    def sentence(self, row: Mapping[str, float], space: IntegerSpace) -> str:
        """Put the intervals into words; a dimension that is not restricted is left out."""
        parts: list[str] = []
        for name, least, greatest in zip(space.names, space.lower, space.upper, strict=True):
            low, high = int(row[f"{name}_lower"]), int(row[f"{name}_upper"])
            if low == high:
                parts.append(f"{name} = {low}")
            elif (low, high) != (least, greatest):
                parts.append(f"{low} <= {name} <= {high}")
        return " AND ".join(parts) or "any state"
