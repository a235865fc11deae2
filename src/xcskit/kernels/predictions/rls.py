"""Linear prediction, learned by recursive least squares in the Joseph form."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
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

__all__ = ["Rls"]


class RlsStorage(NamedTuple):
    """``weights``: (capacity, n_terms); ``covariance``: (capacity, n_terms, n_terms).

    ``gain``: (2, n_terms), ``scratch``: (3, n_terms, n_terms), reused by every update.
    """

    weights: Floats
    covariance: Floats
    gain: Floats
    scratch: Floats
    layout: Terms
    x_0: float
    initial_covariance: float
    forgetting: float


@dataclass(frozen=True, kw_only=True)
class Rls(LinearScheme):
    """Linear prediction, learned by recursive least squares.

    Parameters
    ----------
    degree
        1: a constant and each dimension; 2: also the product of any two dimensions.
    x_0
        The constant input.
    initial_covariance
        delta_rls: the diagonal of a new rule's covariance.
    forgetting
        lambda: how much of the past is kept at each update, in (0, 1].

    Notes
    -----
    The covariance is updated in the Joseph form, which keeps it symmetric and positive.
    """

    name: ClassVar[str] = "rls"
    initial_covariance: float = 10.0
    forgetting: float = 0.999

    def __post_init__(self) -> None:
        """Check the parameters, and bring them into plain Python types."""
        super().__post_init__()
        diagonal = check_real(
            "prediction.initial_covariance", self.initial_covariance, 0.0, 1e9, open_low=True
        )
        object.__setattr__(self, "initial_covariance", diagonal)
        forgetting = check_real("prediction.forgetting", self.forgetting, 0.5, 1.0)
        object.__setattr__(self, "forgetting", forgetting)

    def storage(self, capacity: int, space: IntegerSpace) -> RlsStorage:
        """Allocate weights and covariances for a number of slots."""
        layout = self.layout(space)
        n = len(layout)
        return RlsStorage(
            weights=np.zeros((capacity, n)),
            covariance=np.zeros((capacity, n, n)),
            gain=np.zeros((2, n)),
            scratch=np.zeros((3, n, n)),
            layout=layout,
            x_0=self.x_0,
            initial_covariance=self.initial_covariance,
            forgetting=self.forgetting,
        )


@kernel
def _reset_covariance(covariance: Floats, rule: int, diagonal: float) -> None:
    covariance[rule] = 0.0
    for k in range(covariance.shape[1]):
        covariance[rule, k, k] = diagonal


@write_terms.register(RlsStorage)
def _(storage: RlsStorage, state: Ints, z: Floats) -> float:
    return fill_terms(storage.layout, storage.x_0, state, z)


@initialise.register(RlsStorage)
def _(storage: RlsStorage, rule: int) -> None:
    storage.weights[rule] = 0.0
    _reset_covariance(storage.covariance, rule, storage.initial_covariance)


@predict.register(RlsStorage)
def _(storage: RlsStorage, rule: int, z: Floats) -> float:
    return weigh_terms(storage.layout, storage.weights, rule, z)


@kernel
def _joseph(covariance: Floats, gain: Floats, scratch: Floats, z: Floats) -> None:
    """Set C to (I - k z^T) C' (I - k z^T)^T + k k^T, with C' in ``scratch[0]``."""
    n = covariance.shape[0]
    for i in range(n):
        for j in range(n):
            scratch[1, i, j] = (1.0 if i == j else 0.0) - gain[i] * z[j]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += scratch[1, i, k] * scratch[0, k, j]
            scratch[2, i, j] = total
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += scratch[2, i, k] * scratch[1, j, k]
            covariance[i, j] = total + gain[i] * gain[j]


@adjust.register(RlsStorage)
def _(
    storage: RlsStorage,
    rule: int,
    z: Floats,
    z_square: float,
    delta: float,
    experience: int,
    rate: float,
) -> None:
    n = len(storage.layout)
    grown = storage.scratch[0]
    direction, gain = storage.gain[0], storage.gain[1]
    for i in range(n):
        for j in range(n):
            grown[i, j] = storage.covariance[rule, i, j] / storage.forgetting
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += grown[i, j] * z[j]
        direction[i] = total
    spread = 0.0
    for i in range(n):
        spread += z[i] * direction[i]
    for i in range(n):
        gain[i] = direction[i] / (1.0 + spread)
        storage.weights[rule, i] += gain[i] * delta
    _joseph(storage.covariance[rule], gain, storage.scratch, z)


@inherit.register(RlsStorage)
def _(storage: RlsStorage, parent: int, child: int) -> None:
    for k in range(len(storage.layout)):
        storage.weights[child, k] = storage.weights[parent, k]
    _reset_covariance(storage.covariance, child, storage.initial_covariance)


@blend.register(RlsStorage)
def _(storage: RlsStorage, child: int, parent_one: int, parent_two: int) -> None:
    pass
