"""Linear prediction, learned by normalised least mean squares: the paper's."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from xcskit.kernels.predictions.generics import (
    adjust,
    blend,
    inherit,
    initialise,
    predict,
    write_terms,
)
from xcskit.kernels.predictions.linear import LinearScheme, Terms, fill_terms, weigh_terms
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints
from xcskit.validation import check_real

__all__ = ["Nlms"]


class NlmsStorage(NamedTuple):
    """``weights``: (capacity, n_terms)."""

    weights: Floats
    layout: Terms
    x_0: float
    eta: float


@dataclass(frozen=True, kw_only=True)
class Nlms(LinearScheme):
    """Linear prediction, learned by normalised least mean squares.

    Parameters
    ----------
    degree
        1: a constant and each dimension; 2: also the product of any two dimensions.
    x_0
        The constant input.
    eta
        The learning rate of the weights, in (0, 2).

    Notes
    -----
    Bishop and Gallagher (2020), Section "XCSF Configuration", after Wilson (2001).
    """

    name: ClassVar[str] = "nlms"
    eta: float = 0.1

    def __post_init__(self) -> None:
        """Check the parameters, and bring them into plain Python types."""
        super().__post_init__()
        eta = check_real("prediction.eta", self.eta, 0.0, 2.0, open_low=True, open_high=True)
        object.__setattr__(self, "eta", eta)

    def storage(self, capacity: int, space: IntegerSpace) -> NlmsStorage:
        """Allocate weights for a number of slots."""
        layout = self.layout(space)
        weights = np.zeros((capacity, len(layout)))
        return NlmsStorage(weights, layout, self.x_0, self.eta)


@write_terms.register(NlmsStorage)
def _(storage: NlmsStorage, state: Ints, z: Floats) -> float:
    return fill_terms(storage.layout, storage.x_0, state, z)


@initialise.register(NlmsStorage)
def _(storage: NlmsStorage, rule: int) -> None:
    for k in range(len(storage.layout)):
        storage.weights[rule, k] = 0.0


@predict.register(NlmsStorage)
def _(storage: NlmsStorage, rule: int, z: Floats) -> float:
    return weigh_terms(storage.layout, storage.weights, rule, z)


@adjust.register(NlmsStorage)
def _(
    storage: NlmsStorage,
    rule: int,
    z: Floats,
    z_square: float,
    delta: float,
    experience: int,
    rate: float,
) -> None:
    step = storage.eta * delta / z_square
    for k in range(len(storage.layout)):
        storage.weights[rule, k] += step * z[k]


@inherit.register(NlmsStorage)
def _(storage: NlmsStorage, parent: int, child: int) -> None:
    for k in range(len(storage.layout)):
        storage.weights[child, k] = storage.weights[parent, k]


@blend.register(NlmsStorage)
def _(storage: NlmsStorage, child: int, parent_one: int, parent_two: int) -> None:
    pass
