"""Rule sets as Parquet files: the table as columns, all else as JSON in the file's metadata.

A file may come from anywhere. Its size bounds what reading it allocates: columns are written
uncompressed, so that a file is never much smaller than its table, and the number of rows that it
claims is checked before a row is read.
"""

import dataclasses
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from xcskit import __version__
from xcskit.errors import FileFormatError, XcskitError
from xcskit.kernels.components import Component, Table
from xcskit.kernels.conditions import CONDITIONS
from xcskit.kernels.predictions import PREDICTIONS
from xcskit.rules.columns import expected_columns
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints

if TYPE_CHECKING:
    from xcskit.rules.ruleset import RuleSet

__all__ = ["pack", "unpack"]

_FORMAT = "xcskit rules"
_VERSION = 1
_KEY = "xcskit"
_MAGIC = b"PAR1"
_MAX_FILE = 2**32
_MAX_HEADER = 2**24
_MAX_DIMENSIONS = 1024
_BYTES_PER_RULE = 8
"""A file holds at least one column of plain doubles."""


def pack(rules: "RuleSet") -> bytes:
    """Give the bytes of a rule set's file."""
    header: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "package_version": __version__,
        "space": dataclasses.asdict(rules.space),
        "action_names": rules.action_names,
        "condition": _describe(rules.condition),
        "prediction": _describe(rules.prediction),
        "metadata": dict(rules.metadata),
    }
    header = json.loads(_canonical(header))
    header["digest"] = _digest(header, rules.columns)
    text = _canonical(header)
    if len(text) > _MAX_HEADER:
        msg = f"metadata of {len(text)} characters is too long; at most {_MAX_HEADER} are kept"
        raise FileFormatError(msg)
    buffer = io.BytesIO()
    pl.DataFrame(dict(rules.columns)).write_parquet(
        buffer, compression="uncompressed", statistics=False, metadata={_KEY: text}
    )
    return buffer.getvalue()


def unpack(path: str | Path) -> dict[str, Any]:
    """Give the parts of the rule set in a file, as arguments of ``RuleSet``."""
    content = _read(Path(path))
    try:
        return _parts(content)
    except FileFormatError as reason:
        msg = f"{path} {reason}"
        raise FileFormatError(msg) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as reason:
        msg = f"{path} is a damaged Parquet file: {_first_line(reason)}"
        raise FileFormatError(msg) from None
    except (XcskitError, LookupError, TypeError, ValueError, ArithmeticError) as reason:
        msg = f"{path} holds no valid rule set: {_first_line(reason)}"
        raise FileFormatError(msg) from None


def _first_line(reason: BaseException) -> str:
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _describe(scheme: Component) -> dict[str, Any]:
    parameters: Any = scheme
    return {"name": scheme.name, "parameters": dataclasses.asdict(parameters)}


def _digest(header: Mapping[str, Any], columns: Mapping[str, Ints | Floats]) -> str:
    """Hash all that a file says, so that no flipped bit passes for a weight."""
    digest = hashlib.sha256(_canonical(header).encode())
    for name, data in columns.items():
        digest.update(repr((name, data.shape)).encode())
        digest.update(data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def _read(path: Path) -> bytes:
    """Read a file that is Parquet from its first bytes to its last."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size > _MAX_FILE or file.read(len(_MAGIC)) != _MAGIC:
            msg = f"{path} is not a rule set that xcskit saved: it is no Parquet file of its kind"
            raise FileFormatError(msg)
        file.seek(0)
        content = file.read()
    footer = int.from_bytes(content[-8:-4], "little")
    if content[-4:] != _MAGIC or footer > len(content) - 12:
        msg = f"{path} is cut off: a Parquet file ends with its table of contents"
        raise FileFormatError(msg)
    return content


def _parts(content: bytes) -> dict[str, Any]:
    header = _header(pl.read_parquet_metadata(content).get(_KEY))
    claimed = header.pop("digest", None)
    space = _space(header["space"])
    condition = _scheme(CONDITIONS, header["condition"])
    prediction = _scheme(PREDICTIONS, header["prediction"])
    columns = _columns(content, expected_columns(condition, prediction, space))
    if claimed != _digest(header, columns):
        msg = "is damaged: its content does not agree with its checksum"
        raise FileFormatError(msg)
    return {
        "columns": columns,
        "space": space,
        "action_names": tuple(header["action_names"]),
        "condition": condition,
        "prediction": prediction,
        "metadata": header["metadata"],
    }


def _header(text: str | None) -> dict[str, Any]:
    if text is None:
        msg = "is not a rule set that xcskit saved: it has none of its metadata"
        raise FileFormatError(msg)
    if len(text) > _MAX_HEADER:
        msg = f"has {len(text)} characters of metadata; at most {_MAX_HEADER} are read"
        raise FileFormatError(msg)
    try:
        found: object = json.loads(text)
    except RecursionError:
        msg = "has metadata nested too deeply to be a rule set's"
        raise FileFormatError(msg) from None
    header = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if header.get("format") != _FORMAT:
        msg = "is not a rule set: its metadata describes something else"
        raise FileFormatError(msg)
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        msg = f"has format version {version!r}, which never existed"
        raise FileFormatError(msg)
    if version > _VERSION:
        msg = (
            f"has format version {version}, written by xcskit {header.get('package_version')!r}; "
            f"this is xcskit {__version__}, which reads up to {_VERSION}: upgrade it"
        )
        raise FileFormatError(msg)
    return header


def _space(entry: Mapping[str, Any]) -> IntegerSpace:
    if not len(entry["lower"]) <= _MAX_DIMENSIONS:
        msg = f"has {len(entry['lower'])} dimensions; at most {_MAX_DIMENSIONS} are read"
        raise FileFormatError(msg)
    return IntegerSpace(tuple(entry["lower"]), tuple(entry["upper"]), tuple(entry["names"]))


def _scheme(table: Table[Any], entry: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the table
    return table.named(entry["name"])(**entry["parameters"])


def _columns(
    content: bytes, expected: Mapping[str, np.dtype[np.generic]]
) -> dict[str, Ints | Floats]:
    types = {"i": pl.Int64(), "f": pl.Float64()}
    schema = {name: types[kind.kind] for name, kind in expected.items()}
    found = pl.read_parquet_schema(content)
    if dict(found) != schema:
        wrong = sorted(set(schema.items()) ^ set(found.items()), key=str)
        names = ", ".join(dict.fromkeys(name for name, _ in wrong)) or "the order"
        msg = f"has other columns than its metadata says; see {names[:200]}"
        raise FileFormatError(msg)
    n_rules = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
    if n_rules * _BYTES_PER_RULE > len(content):
        msg = f"claims {n_rules} rules, which do not fit into its {len(content)} bytes"
        raise FileFormatError(msg)
    frame = pl.read_parquet(io.BytesIO(content), use_statistics=False)
    if sum(frame.null_count().row(0)) > 0:
        msg = "has cells without a value"
        raise FileFormatError(msg)
    return {name: frame[name].to_numpy() for name in expected}
