"""A trial's result as one Parquet file of one row: a column for each value, tables nested in it.

A decoder of Parquet trusts what it decodes, and a flipped bit in a count can end the process. So
the file carries a checksum of itself, which is verified on the raw bytes.
"""

import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.exceptions import PanicException, PolarsError

from xcskit.errors import FileFormatError
from xcskit.experiments.plain import Entry, canonical, is_table, plain_entry
from xcskit.experiments.trial import TrialResult, Value

__all__ = ["digest_of", "pack", "unpack"]

_METADATA = "xcskit.trial"
_UNSEALED = "0" * 64
# The metadata is JSON in the file's footer, as plain text; quotes within its strings are escaped.
_CHECKSUM = re.compile(rb'"checksum":"([0-9a-f]{64})"')
# NumPy's scalars become the built-in ones that the file gives back. A bool is an int: it is first.
_SCALARS: tuple[tuple[tuple[type, ...], Callable[[Any], Value]], ...] = (
    ((bool, np.bool_), bool),
    ((int, np.integer), int),
    ((float, np.floating), float),
    ((str,), str),
    ((bytes,), bytes),
)
_RESERVED = ("environment", "configuration", "seed")


def pack(result: object, metadata: Entry) -> bytes:
    """Give the contents of a trial's file.

    Parameters
    ----------
    result
        What the trial function returned: a mapping from names to scalars and tables.
    metadata
        Kept beside the result in the file, as JSON.
    """
    values = _check(result)
    columns = [
        value.to_struct(name).implode()
        if isinstance(value, pl.DataFrame)
        else pl.Series(name, [value])
        for name, value in values.items()
    ]
    text = canonical({**metadata, "checksum": _UNSEALED})
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, metadata={_METADATA: text})
    contents = buffer.getvalue()
    return _with_checksum(contents, hashlib.sha256(contents).hexdigest())


def unpack(path: Path) -> tuple[dict[str, Value], Entry]:
    """Read a trial's file back, if not a bit of it has changed.

    Returns
    -------
    tuple of dict
        The result and the metadata.
    """
    try:
        contents = path.read_bytes()
        if not _is_intact(contents):
            msg = f"{path} is no trial's file, or is damaged"
            raise FileFormatError(msg)
        text = pl.read_parquet_metadata(io.BytesIO(contents))[_METADATA]
        row = pl.read_parquet(io.BytesIO(contents))
    except OSError as reason:
        msg = f"{path} cannot be read: {reason.strerror}"
        raise FileFormatError(msg) from None
    except (LookupError, PolarsError, PanicException) as reason:
        msg = f"{path} is no trial's file: {reason}"
        raise FileFormatError(msg) from None
    metadata = plain_entry(json.loads(text), "metadata")
    return {column.name: _value(column) for column in row}, metadata


def _is_intact(contents: bytes) -> bool:
    if not _CHECKSUM.search(contents):
        return False
    unsealed = _with_checksum(contents, _UNSEALED)
    return contents == _with_checksum(unsealed, hashlib.sha256(unsealed).hexdigest())


def _with_checksum(contents: bytes, checksum: str) -> bytes:
    *_, place = _CHECKSUM.finditer(contents)
    return contents[: place.start(1)] + checksum.encode() + contents[place.end(1) :]


def digest_of(result: TrialResult) -> str:
    """Give a hash of a result's bits, whatever the file format that carries them."""
    digest = hashlib.sha256()
    for name, value in result.items():
        if isinstance(value, pl.DataFrame):
            digest.update(repr((name, value.shape)).encode())
            for column in value:
                digest.update(repr((column.name, str(column.dtype))).encode())
                digest.update(_bits(column))
        else:
            digest.update(repr((name, value)).encode())
    return digest.hexdigest()


def _bits(column: pl.Series) -> bytes:
    if column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy().tobytes()
    return repr(column.to_list()).encode()


def _value(column: pl.Series) -> Value:
    value: Value | pl.Series = column[0]
    return value.struct.unnest() if isinstance(value, pl.Series) else value


def _check(result: object) -> dict[str, Value]:
    if not is_table(result) or not result:
        msg = (
            f"a trial function returned {type(result).__name__}; expected a mapping, "
            "not empty, from names to scalars and polars DataFrames"
        )
        raise TypeError(msg)
    return {_name(name): _checked(name, value) for name, value in result.items()}


def _name(name: object) -> str:
    if not isinstance(name, str) or not name or name in _RESERVED:
        msg = (
            f"a trial function named a value {name!r}; expected text that is not empty, "
            f"and none of {', '.join(_RESERVED)}"
        )
        raise TypeError(msg)
    return name


def _checked(name: object, value: object) -> Value:
    if value is None or (isinstance(value, pl.DataFrame) and value.width):
        return value
    for kinds, convert in _SCALARS:
        if isinstance(value, kinds):
            return convert(value)
    msg = (
        f"a trial function returned {name!r} of type {type(value).__name__}; expected a "
        "number, text, bytes, None, or a polars DataFrame with columns"
    )
    raise TypeError(msg)
