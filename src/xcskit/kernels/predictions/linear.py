"""What the linear predictions share: terms of degree 1 or 2, and a weight for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.components import Columns
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints
from xcskit.validation import check_integer, check_real

__all__ = ["LinearScheme", "Terms", "fill_terms", "terms", "weigh_terms"]

Terms: TypeAlias = tuple[tuple[int, int], ...]
"""Per term the dimensions that it multiplies; -1 stands for none. Its length is compiled in."""

_MAX_TERMS = 256


def terms(n_dimensions: int, degree: int) -> Terms:
    """List the terms: the constant, each dimension, and at degree 2 each product of two.

    Examples
    --------
    >>> terms(2, 2)
    ((-1, -1), (0, -1), (1, -1), (0, 0), (0, 1), (1, 1))
    """
    single = [(d, -1) for d in range(n_dimensions)]
    double = list(combinations_with_replacement(range(n_dimensions), 2)) if degree == 2 else []
    return ((-1, -1), *single, *double)


@kernel
def fill_terms(layout: Terms, x_0: float, state: Ints, z: Floats) -> float:
    """Write the terms of a state, and give the sum of their squares in the terms' order."""
    square = 0.0
    for k in range(len(layout)):
        first, second = layout[k]
        if first < 0:
            z[k] = x_0
        elif second < 0:
            z[k] = float(state[first])
        else:
            z[k] = float(state[first]) * float(state[second])
        square += z[k] * z[k]
    return square


@kernel
def weigh_terms(layout: Terms, weights: Floats, rule: int, z: Floats) -> float:
    """Give the sum of weights times terms, in the terms' order."""
    value = weights[rule, 0] * z[0]
    for k in range(1, len(layout)):
        value += weights[rule, k] * z[k]
    return float(value)


@dataclass(frozen=True, kw_only=True)
class LinearScheme:
    """A weighted sum of terms of the state.

    Parameters
    ----------
    degree
        1: a constant and each dimension; 2: also the product of any two dimensions.
    x_0
        The constant input.
    """

    degree: int = 1
    x_0: float = 10.0

    def __post_init__(self) -> None:
        """Check the parameters, and bring them into plain Python types."""
        put = object.__setattr__
        put(self, "degree", check_integer("prediction.degree", self.degree, 1, 2))
        put(self, "x_0", check_real("prediction.x_0", self.x_0, 0.0, 1e6, open_low=True))

    def layout(self, space: IntegerSpace) -> Terms:
        """Give the terms over a space."""
        return terms(space.n_dimensions, self.degree)

    def n_terms(self, space: IntegerSpace) -> int:
        """Count the terms over a space."""
        return len(self.layout(space))

    def column_names(self, space: IntegerSpace) -> tuple[str, ...]:
        """Name a weight for each term: ``weight_constant``, ``weight_x``, ``weight_x_y``."""
        names = [
            "_".join(space.names[d] for d in term if d >= 0) or "constant"
            for term in self.layout(space)
        ]
        return tuple(f"weight_{name}" for name in names)

    def storage(self, capacity: int, space: IntegerSpace) -> Any:  # noqa: ANN401 - its own class
        """Allocate a storage, whose field ``weights`` is (capacity, n_terms)."""
        raise NotImplementedError

    def columns(
        self,
        storage: Any,  # noqa: ANN401 - its own class
        rows: Ints,
        space: IntegerSpace,
    ) -> dict[str, Ints | Floats]:
        """Give the weights of rules as columns."""
        weights: Floats = storage.weights[rows]
        return {
            name: np.ascontiguousarray(weights[:, k])
            for k, name in enumerate(self.column_names(space))
        }

    def restore(self, columns: Columns, space: IntegerSpace) -> Any:  # noqa: ANN401 - its own class
        """Make a storage of weights from columns."""
        stacked = np.column_stack([columns[name] for name in self.column_names(space)])
        weights = np.ascontiguousarray(stacked, dtype=np.float64)
        return self.storage(0, space)._replace(weights=weights)

    def sentence(self, row: Mapping[str, float], space: IntegerSpace) -> str:
        """Put the linear function into words, such as ``0.43 + 0.02 x - 0.01 y``."""
        text = f"{row['weight_constant'] * self.x_0:.3g}"
        for term, name in zip(self.layout(space)[1:], self.column_names(space)[1:], strict=True):
            weight = row[name]
            factors = " ".join(space.names[d] for d in term if d >= 0)
            text += f" {'-' if weight < 0 else '+'} {abs(weight):.3g} {factors}"
        return text
