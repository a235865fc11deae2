"""Integer intervals as two bounds in any order: the representation of the later papers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import (
    admits,
    contains,
    cover,
    is_identical,
    mutate,
    n_covered,
    reach,
    repair,
)
from xcskit.kernels.conditions.intervals import IntervalScheme, IntervalStorage, clip, nudge_alleles
from xcskit.kernels.random import draw_below
from xcskit.typing import Ints, Words

__all__ = ["UnorderedBounds"]


class UnorderedBoundsStorage(IntervalStorage):
    """``alleles``: (capacity, 2 * n_dimensions), two bounds p and q for each dimension."""


@dataclass(frozen=True, kw_only=True)
class UnorderedBounds(IntervalScheme):
    """Integer intervals ``[min(p, q), max(p, q)]``.

    Parameters
    ----------
    cover_range
        r_0: covering reaches 1 to ``cover_range`` - 1 to either side of the state.
    mutation_range
        m_0: a mutation moves an allele by 0 to ``mutation_range`` - 1.

    Notes
    -----
    Two rules are identical when their intervals are, whatever the order of p and q.
    """

    name: ClassVar[str] = "unordered_bounds"

    storage_class: ClassVar[type[IntervalStorage]] = UnorderedBoundsStorage

    def encode(self, lower: Ints, upper: Ints) -> tuple[Ints, Ints]:
        """Give the first and the second alleles of intervals."""
        return lower, upper

    def decode(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Give the bounds that alleles stand for."""
        return np.minimum(first, second), np.maximum(first, second)


@kernel
def _interval(alleles: Ints, rule: int, dimension: int) -> tuple[int, int]:
    p, q = int(alleles[rule, 2 * dimension]), int(alleles[rule, 2 * dimension + 1])
    return min(p, q), max(p, q)


@cover.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int, state: Ints, stream: Words) -> None:
    for d in range(len(storage.space.lower)):
        low = state[d] - 1 - draw_below(stream, storage.cover_range - 1)
        high = state[d] + 1 + draw_below(stream, storage.cover_range - 1)
        storage.alleles[rule, 2 * d] = max(low, storage.space.lower[d])
        storage.alleles[rule, 2 * d + 1] = min(high, storage.space.upper[d])


@admits.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int, dimension: int, value: int) -> bool:
    low, high = _interval(storage.alleles, rule, dimension)
    return low <= value <= high


@reach.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int, dimension: int) -> tuple[int, int]:
    return _interval(storage.alleles, rule, dimension)


@contains.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, general: int, specific: int) -> bool:
    for d in range(len(storage.space.lower)):
        low, high = _interval(storage.alleles, general, d)
        least, greatest = _interval(storage.alleles, specific, d)
        if least < low or greatest > high:
            return False
    return True


@is_identical.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int, other: int) -> bool:
    for d in range(len(storage.space.lower)):
        low, high = _interval(storage.alleles, rule, d)
        least, greatest = _interval(storage.alleles, other, d)
        if least != low or greatest != high:
            return False
    return True


@n_covered.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int) -> int:
    covered = 0
    for d in range(len(storage.space.lower)):
        low, high = _interval(storage.alleles, rule, d)
        covered += high - low + 1
    return covered


@repair.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int) -> None:
    for d in range(len(storage.space.lower)):
        for k in (2 * d, 2 * d + 1):
            storage.alleles[rule, k] = clip(
                storage.alleles[rule, k], storage.space.lower[d], storage.space.upper[d]
            )


@mutate.register(UnorderedBoundsStorage)
def _(storage: UnorderedBoundsStorage, rule: int, probability: float, stream: Words) -> None:
    nudge_alleles(storage.alleles, rule, probability, storage.mutation_range, stream)
