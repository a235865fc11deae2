"""What the engine asks of a prediction. Each scheme implements all of these.

``storage`` is the scheme's NamedTuple, ``rule`` a row of it, ``z`` the terms of the input as
``write_terms`` gives them.
"""

from xcskit.kernels.compiler import generic

__all__ = ["adjust", "blend", "inherit", "initialise", "predict", "write_terms"]


@generic
def write_terms(storage: object, state: object, z: object) -> None:
    """Write the terms that a prediction weighs into ``z``, and give the sum of their squares."""


@generic
def initialise(storage: object, rule: object) -> None:
    """Set the prediction of a rule made by covering."""


@generic
def predict(storage: object, rule: object, z: object) -> None:
    """Give the rule's prediction."""


@generic
def adjust(
    storage: object,
    rule: object,
    z: object,
    z_square: object,
    delta: object,
    experience: object,
    rate: object,
) -> None:
    """Move the prediction by the error ``delta``; ``rate`` is the system's learning rate."""


@generic
def inherit(storage: object, parent: object, child: object) -> None:
    """Copy a parent's prediction to its child."""


@generic
def blend(storage: object, child: object, parent_one: object, parent_two: object) -> None:
    """Mix the parents' predictions in a child that crossed over."""
