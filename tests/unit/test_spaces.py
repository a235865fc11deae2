"""Spaces: what they take, and one clear error for what they do not."""

from typing import Any

import numpy as np
import pytest

from xcskit.errors import SpaceError
from xcskit.spaces import IntegerSpace

make: Any = IntegerSpace
"""Typed so that a test may call it wrongly."""


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (((), ()), "at least one"),
        (((0,), (1, 2)), "got 1 and 2"),
        (((1,), (0,)), "expected lower <= upper"),
        (((0,), (2**53 + 1,)), "within 2"),
        (((-(2**60),), (0,)), "within 2"),
        (((0.0,), (1,)), "bounds are integers: dimension 0 has 0.0 to 1"),
        (((0, 0), (1, "2")), "bounds are integers: dimension 1"),
        (((False,), (True,)), "bounds are integers"),
        (((0,), (None,)), "bounds are integers"),
        ((0, 7), r"lower has an entry for each dimension, as \(0, 0\): got 0"),
        (((0,), 7), "upper has an entry for each dimension"),
        (((0, 0), (7, 7), 5), "names has an entry"),
        (((0, 0), (7, 7), ("x",)), "needs as many different names"),
        (((0, 0), (7, 7), ("x", "x")), "needs as many different names"),
        (((0, 0), (7, 7), ("x", "")), "needs as many different names"),
        (((0, 0), (7, 7), ("x", 1)), "needs as many different names"),
    ],
    ids=str,
)
def test_what_no_space_is(bounds: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        make(*bounds)


def test_bounds_of_any_kind_become_plain() -> None:
    space = make(np.array([0, -2], dtype=np.int8), np.array([7, 3]), iter(["x", "y"]))
    assert space == IntegerSpace((0, -2), (7, 3))
    assert {type(bound) for bound in (*space.lower, *space.upper)} == {int}
    assert hash(space) == hash(IntegerSpace((0, -2), (7, 3), ("x", "y")))
    assert (space.sizes, space.n_dimensions) == ((8, 6), 2)


def test_the_greatest_space() -> None:
    space = IntegerSpace((-(2**53),), (2**53,))
    assert space.check([[2**53], [-(2**53)]]).tolist() == [[2**53], [-(2**53)]]
    with pytest.raises(SpaceError, match="outside its space"):
        space.check([2**53 + 1])
