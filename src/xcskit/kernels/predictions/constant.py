"""A constant for each rule, which makes XCSF Wilson's XCS."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from xcskit.kernels.components import Columns
from xcskit.kernels.predictions.generics import (
    adjust,
    blend,
    inherit,
    initialise,
    predict,
    write_terms,
)
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints
from xcskit.validation import check_real

__all__ = ["Constant"]


class ConstantStorage(NamedTuple):
    """``value``: (capacity,)."""

    value: Floats
    initial: float


@dataclass(frozen=True, kw_only=True)
class Constant:
    """One number for each rule: XCS.

    Parameters
    ----------
    initial
        p_I: the prediction of a new rule.
    """

    name: ClassVar[str] = "constant"
    initial: float = 0.01

    def __post_init__(self) -> None:
        """Check the parameters, and bring them into plain Python types."""
        initial = check_real("prediction.initial", self.initial, -1e300, 1e300)
        object.__setattr__(self, "initial", initial)

    def storage(self, capacity: int, space: IntegerSpace) -> ConstantStorage:
        """Allocate values for a number of slots."""
        return ConstantStorage(np.zeros(capacity), self.initial)

    def n_terms(self, space: IntegerSpace) -> int:
        """Count no terms: the state does not enter."""
        return 0

    def column_names(self, space: IntegerSpace) -> tuple[str, ...]:
        """Name the one column."""
        return ("prediction",)

    def columns(
        self,
        storage: ConstantStorage,
        rows: Ints,
        space: IntegerSpace,
    ) -> dict[str, Ints | Floats]:
        """Give the values of rules as a column."""
        return {"prediction": storage.value[rows]}

    def restore(self, columns: Columns, space: IntegerSpace) -> ConstantStorage:
        """Make a storage of values from a column."""
        value = np.ascontiguousarray(columns["prediction"], dtype=np.float64)
        return ConstantStorage(value, self.initial)

    def sentence(self, row: Mapping[str, float], space: IntegerSpace) -> str:
        """Give the value in words."""
        return f"{row['prediction']:.3g}"


@write_terms.register(ConstantStorage)
def _(storage: ConstantStorage, state: Ints, z: Floats) -> float:
    return 1.0


@initialise.register(ConstantStorage)
def _(storage: ConstantStorage, rule: int) -> None:
    storage.value[rule] = storage.initial


@predict.register(ConstantStorage)
def _(storage: ConstantStorage, rule: int, z: Floats) -> float:
    return float(storage.value[rule])


@adjust.register(ConstantStorage)
def _(
    storage: ConstantStorage,
    rule: int,
    z: Floats,
    z_square: float,
    delta: float,
    experience: int,
    rate: float,
) -> None:
    if experience < 1.0 / rate:
        storage.value[rule] += delta / experience
    else:
        storage.value[rule] += rate * delta


@inherit.register(ConstantStorage)
def _(storage: ConstantStorage, parent: int, child: int) -> None:
    storage.value[child] = storage.value[parent]


@blend.register(ConstantStorage)
def _(storage: ConstantStorage, child: int, parent_one: int, parent_two: int) -> None:
    storage.value[child] = (storage.value[parent_one] + storage.value[parent_two]) / 2.0
