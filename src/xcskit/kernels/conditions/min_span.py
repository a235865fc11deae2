"""Integer intervals as minimum and span: the paper's representation."""

from dataclasses import dataclass
from typing import ClassVar

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

__all__ = ["MinSpan"]


class MinSpanStorage(IntervalStorage):
    """``alleles``: (capacity, 2 * n_dimensions), a minimum and a span for each dimension."""


@dataclass(frozen=True, kw_only=True)
class MinSpan(IntervalScheme):
    """Integer intervals ``[minimum, minimum + span]``, after Dam et al.'s min-percentage form.

    Parameters
    ----------
    cover_range
        r_0: covering reaches 1 to ``cover_range`` - 1 to either side of the state.
    mutation_range
        m_0: a mutation moves an allele by 0 to ``mutation_range`` - 1.

    Notes
    -----
    Bishop and Gallagher (2020), Section "XCSF Configuration".
    """

    name: ClassVar[str] = "min_span"

    storage_class: ClassVar[type[IntervalStorage]] = MinSpanStorage

    def encode(self, lower: Ints, upper: Ints) -> tuple[Ints, Ints]:
        """Give the first and the second alleles of intervals."""
        return lower, upper - lower

    def decode(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Give the bounds that alleles stand for."""
        return first, first + second


@cover.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int, state: Ints, stream: Words) -> None:
    for d in range(len(storage.space.lower)):
        low = state[d] - 1 - draw_below(stream, storage.cover_range - 1)
        high = state[d] + 1 + draw_below(stream, storage.cover_range - 1)
        low = max(low, storage.space.lower[d])
        high = min(high, storage.space.upper[d])
        storage.alleles[rule, 2 * d] = low
        storage.alleles[rule, 2 * d + 1] = high - low


@admits.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int, dimension: int, value: int) -> bool:
    low = storage.alleles[rule, 2 * dimension]
    return bool(low <= value <= low + storage.alleles[rule, 2 * dimension + 1])


@reach.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int, dimension: int) -> tuple[int, int]:
    low = int(storage.alleles[rule, 2 * dimension])
    return low, low + int(storage.alleles[rule, 2 * dimension + 1])


@contains.register(MinSpanStorage)
def _(storage: MinSpanStorage, general: int, specific: int) -> bool:
    alleles = storage.alleles
    for d in range(0, 2 * len(storage.space.lower), 2):
        low, high = alleles[general, d], alleles[general, d] + alleles[general, d + 1]
        if alleles[specific, d] < low or alleles[specific, d] + alleles[specific, d + 1] > high:
            return False
    return True


@is_identical.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int, other: int) -> bool:
    difference = 0
    for k in range(2 * len(storage.space.lower)):
        difference |= storage.alleles[rule, k] ^ storage.alleles[other, k]
    return difference == 0


@n_covered.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int) -> int:
    covered = 0
    for d in range(len(storage.space.lower)):
        covered += storage.alleles[rule, 2 * d + 1] + 1
    return covered


@repair.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int) -> None:
    for d in range(len(storage.space.lower)):
        greatest = storage.space.upper[d]
        low = clip(storage.alleles[rule, 2 * d], storage.space.lower[d], greatest)
        storage.alleles[rule, 2 * d] = low
        storage.alleles[rule, 2 * d + 1] = clip(storage.alleles[rule, 2 * d + 1], 0, greatest - low)


@mutate.register(MinSpanStorage)
def _(storage: MinSpanStorage, rule: int, probability: float, stream: Words) -> None:
    nudge_alleles(storage.alleles, rule, probability, storage.mutation_range, stream)
