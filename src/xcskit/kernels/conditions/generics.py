"""What the engine asks of a condition. Each representation implements all of these.

``storage`` is the representation's NamedTuple, ``rule`` a row of it. A storage has a field
``alleles``, (capacity, n_alleles): what crossover swaps, and all that a copy of a rule has to copy.
"""

from xcskit.kernels.compiler import generic

__all__ = [
    "admits",
    "contains",
    "cover",
    "is_identical",
    "mutate",
    "n_covered",
    "reach",
    "repair",
]


@generic
def cover(storage: object, rule: object, state: object, stream: object) -> None:
    """Make a condition that matches the state, drawn at random around it."""


@generic
def admits(storage: object, rule: object, dimension: object, value: object) -> None:
    """Tell whether the condition is fulfilled by a value in one dimension."""


@generic
def reach(storage: object, rule: object, dimension: object) -> None:
    """Give the least and the greatest value that the condition admits in one dimension."""


@generic
def contains(storage: object, general: object, specific: object) -> None:
    """Tell whether one condition matches wherever the other does."""


@generic
def is_identical(storage: object, rule: object, other: object) -> None:
    """Tell whether two conditions match the same states."""


@generic
def n_covered(storage: object, rule: object) -> None:
    """Count the values that the condition admits, summed over the dimensions."""


@generic
def repair(storage: object, rule: object) -> None:
    """Bring a condition back into its space after its alleles were changed."""


@generic
def mutate(storage: object, rule: object, probability: object, stream: object) -> None:
    """Mutate each allele with a probability; the engine repairs afterwards."""
