"""The columns of a rule table: their names, types and bounds."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from xcskit.errors import SpaceError
from xcskit.kernels.components import Component, ConditionScheme, PredictionScheme
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints

__all__ = ["GENERALITY", "check_columns", "expected_columns"]

GENERALITY = "generality"
"""A column that is derived from the condition, and never stored."""


class _Kind(NamedTuple):
    """A type and its bounds; ``is_open`` leaves out ``low`` itself."""

    type: type[np.float64 | np.int64]
    low: float
    is_open: bool = False
    high: float = 2.0**53


_STATISTICS = {
    "fitness": _Kind(np.float64, 0.0, is_open=True, high=np.inf),
    "prediction_error": _Kind(np.float64, 0.0, high=np.inf),
    "minimum_error": _Kind(np.float64, 0.0, high=np.inf),
    "experience": _Kind(np.int64, 0),
    "time_stamp": _Kind(np.int64, 0),
    "action_set_size": _Kind(np.float64, 0.0, is_open=True, high=np.inf),
    "numerosity": _Kind(np.int64, 1, high=2.0**31),
}


def _part_types(scheme: Component, space: IntegerSpace) -> dict[str, np.dtype[np.generic]]:
    no_rows = np.empty(0, dtype=np.int64)
    columns = scheme.columns(scheme.storage(0, space), no_rows, space)
    return {name: data.dtype for name, data in columns.items()}


def expected_columns(
    condition: ConditionScheme, prediction: PredictionScheme, space: IntegerSpace
) -> dict[str, np.dtype[np.generic]]:
    """Give the names and types of all stored columns, in the table's order."""
    parts = (condition, prediction)
    names = ["action", *_STATISTICS, GENERALITY]
    names += [name for scheme in parts for name in scheme.column_names(space)]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        msg = f"two columns would be named {twice[0]!r}; rename the dimensions {space.names}"
        raise SpaceError(msg)
    return {
        "action": np.dtype(np.int64),
        **_part_types(condition, space),
        **_part_types(prediction, space),
        **{name: np.dtype(kind.type) for name, kind in _STATISTICS.items()},
    }


def check_columns(
    columns: Mapping[str, Ints | Floats],
    expected: Mapping[str, np.dtype[np.generic]],
    n_actions: int,
) -> dict[str, Ints | Floats]:
    """Give read-only copies of the columns in the table's order, or say what is wrong."""
    missing = [name for name in expected if name not in columns]
    unknown = [name for name in columns if name not in expected and name != GENERALITY]
    if missing or unknown:
        parts = [f"lack {', '.join(missing)}"] if missing else []
        parts += [f"have the unknown {', '.join(unknown)}"] if unknown else []
        msg = f"the columns {' and '.join(parts)}; expected {', '.join(expected)}"
        raise SpaceError(msg)
    checked = {name: _convert(name, columns[name], kind) for name, kind in expected.items()}
    lengths = {name: len(data) for name, data in checked.items()}
    if len(set(lengths.values())) > 1:
        msg = f"columns must be equally long: got {lengths}"
        raise SpaceError(msg)
    bounds = {"action": _Kind(np.int64, 0, high=n_actions - 1), **_STATISTICS}
    for name, data in checked.items():
        _check_bounds(name, data, bounds.get(name, _Kind(np.float64, -np.inf, high=np.inf)))
    return checked


def _convert(name: str, values: object, expected: np.dtype[np.generic]) -> Ints | Floats:
    data = np.asarray(values)
    if data.ndim != 1:
        msg = f"column {name!r} is a row of numbers: got an array of shape {data.shape}"
        raise SpaceError(msg)
    if data.size and data.dtype.kind not in ("iu" if expected.kind == "i" else "iuf"):
        msg = f"column {name!r} holds {expected} values: got {data.dtype}"
        raise SpaceError(msg)
    is_whole = expected.kind == "i"
    copy = np.array(data, dtype=np.int64) if is_whole else np.array(data, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def _check_bounds(name: str, data: Ints | Floats, kind: _Kind) -> None:
    below = data <= kind.low if kind.is_open else data < kind.low
    wrong = below | (data > kind.high) | ~np.isfinite(data)
    if wrong.any():
        rule = int(np.argmax(wrong))
        low = f"{'above' if kind.is_open else 'at least'} {kind.low:g}" * (kind.low > -np.inf)
        high = f"at most {kind.high:g}" * (kind.high < np.inf)
        expected = ", ".join(part for part in (low, high, "finite") if part)
        msg = f"rule {rule} has {name} {data[rule]}; expected {expected}"
        raise SpaceError(msg)
