"""What the package shows at its front door."""

import pytest

import xcskit


def test_every_public_name_is_where_it_is_said_to_be() -> None:
    for name in xcskit.__all__:
        assert getattr(xcskit, name) is not None
    assert dir(xcskit) == sorted(xcskit.__all__)


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="'xcskit' has no attribute 'nothing'"):
        getattr(xcskit, "nothing")  # noqa: B009 - checkers would refuse it otherwise
