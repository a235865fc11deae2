"""Rule sets as Parquet files: the table as columns, all else as JSON in the file's metadata.

polars writes them. A file may come from anywhere, though, and a decoder of Parquet trusts what it
decodes: one flipped bit in a count can end the process. So a checksum of the whole file is verified
first, on the raw bytes; and as whoever writes a checksum can write anything, the columns are read
by ``pages``, which trusts nothing. The file's size bounds what that allocates: columns are written
uncompressed, so that a file is never much smaller than its table, and the number of rows is checked
before a row is read.
"""

import dataclasses
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xcskit.errors import FileFormatError, XcskitError
from xcskit.files import UNREADABLE, in_words
from xcskit.kernels.components import Component, Table
from xcskit.kernels.conditions import CONDITIONS
from xcskit.kernels.predictions import PREDICTIONS
from xcskit.rules.columns import expected_columns
from xcskit.rules.pages import read_footer
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints
from xcskit.version import __version__

if TYPE_CHECKING:
    from xcskit.rules.ruleset import RuleSet

__all__ = ["pack", "unpack"]

FORMAT = "xcskit rules"
VERSION = 1
_KEY = "xcskit"
_MAGIC = b"PAR1"
_TAIL = 8
"""A Parquet file ends with the length of its footer in 4 bytes, and the magic again."""
_OPENING = json.dumps({"format": FORMAT})[:-1].encode()
_UNSEALED = "0" * 64
_MAX_FILE = 2**32
_MAX_FOOTER = 2**25
_MAX_DIMENSIONS = 1024
_BYTES_PER_RULE = 8
"""A file holds at least one column of plain doubles."""


def pack(rules: "RuleSet") -> bytes:
    """Give the bytes of a rule set's file."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": _UNSEALED,
        "package_version": __version__,
        "space": dataclasses.asdict(rules.space),
        "action_names": rules.action_names,
        "condition": _describe(rules.condition),
        "prediction": _describe(rules.prediction),
        "metadata": dict(rules.metadata),
    }
    text = json.dumps(header, allow_nan=False)
    if len(text) > _MAX_FOOTER // 2:
        msg = f"metadata of {len(text)} characters is too long; at most {_MAX_FOOTER // 2} fit"
        raise FileFormatError(msg)
    import polars as pl  # noqa: PLC0415 - slow to import

    buffer = io.BytesIO()
    pl.DataFrame(dict(rules.columns)).write_parquet(
        buffer, compression="uncompressed", statistics=False, metadata={_KEY: text}
    )
    content = buffer.getvalue()
    try:
        _columns(content, expected_columns(rules.condition, rules.prediction, rules.space))
    except (XcskitError, *UNREADABLE) as reason:
        msg = (
            f"nothing was saved: polars {pl.__version__} writes Parquet in a form that xcskit "
            f"{__version__} would not read again ({in_words(reason)}); install polars as in "
            "constraints.txt, or a newer xcskit"
        )
        raise FileFormatError(msg) from None
    return seal(content)


def seal(content: bytes) -> bytes:
    """Enter the checksum of a file into its header."""
    checksum = _checksum(content)
    place = _checksum_place(content)
    return content[: place.start] + checksum.encode() + content[place.stop :]


def unpack(path: str | Path) -> dict[str, Any]:
    """Give the parts of the rule set in a file, as arguments of ``RuleSet``."""
    content = _read(Path(path))
    try:
        return _parts(content)
    except FileFormatError as reason:
        msg = f"{path} {reason}"
        raise FileFormatError(msg) from None
    except (XcskitError, *UNREADABLE) as reason:
        msg = f"{path} holds no valid rule set: {in_words(reason)}"
        raise FileFormatError(msg) from None


def _describe(scheme: Component) -> dict[str, Any]:
    parameters: Any = scheme
    return {"name": scheme.name, "parameters": dataclasses.asdict(parameters)}


def _read(path: Path) -> bytes:
    """Read a file that begins and ends as Parquet does."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size > _MAX_FILE or file.read(len(_MAGIC)) != _MAGIC:
            msg = f"{path} is not a rule set that xcskit saved: it is no Parquet file of its kind"
            raise FileFormatError(msg)
        file.seek(0)
        content = file.read()
    room = size - len(_MAGIC) - _TAIL
    if content[-len(_MAGIC) :] != _MAGIC or not 0 < _footer_length(content) <= room:
        msg = f"{path} is cut off: a Parquet file ends with its table of contents"
        raise FileFormatError(msg)
    return content


def _footer_length(content: bytes) -> int:
    return int.from_bytes(content[-_TAIL : -len(_MAGIC)], "little")


def _parts(content: bytes) -> dict[str, Any]:
    header = _header(content)
    if content[_checksum_place(content)] != _checksum(content).encode():
        msg = "is damaged or was edited: its bytes do not agree with its checksum"
        raise FileFormatError(msg)
    space = _space(header["space"])
    condition = _scheme(CONDITIONS, header["condition"])
    prediction = _scheme(PREDICTIONS, header["prediction"])
    return {
        "columns": _columns(content, expected_columns(condition, prediction, space)),
        "space": space,
        "action_names": tuple(header["action_names"]),
        "condition": condition,
        "prediction": prediction,
        "metadata": header["metadata"],
    }


def _header_start(content: bytes) -> int:
    """Find the header, which stands as plain text in the file's footer."""
    length = _footer_length(content)
    if length > _MAX_FOOTER:
        msg = f"has {length} bytes of metadata; at most {_MAX_FOOTER} are read"
        raise FileFormatError(msg)
    start = content.find(_OPENING, len(content) - _TAIL - length)
    if start < 0:
        msg = "is not a rule set that xcskit saved: it has none of its metadata"
        raise FileFormatError(msg)
    return start


def _header(content: bytes) -> dict[str, Any]:
    text = content[_header_start(content) : -_TAIL].decode("latin-1")
    try:
        header: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
    except RecursionError:
        msg = "has metadata nested too deeply to be a rule set's"
        raise FileFormatError(msg) from None
    except ValueError as reason:
        msg = f"is damaged: its metadata cannot be read ({in_words(reason)})"
        raise FileFormatError(msg) from None
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        msg = f"has format version {version!r}, which never existed"
        raise FileFormatError(msg)
    if version > VERSION:
        msg = (
            f"has format version {version}, written by xcskit {header.get('package_version')!r}; "
            f"this is xcskit {__version__}, which reads up to {VERSION}: upgrade it"
        )
        raise FileFormatError(msg)
    return header


def _checksum_place(content: bytes) -> slice:
    key = b'"checksum": "'
    found = content.find(key, _header_start(content))
    if found < 0:
        msg = "is damaged: it has no checksum"
        raise FileFormatError(msg)
    return slice(found + len(key), found + len(key) + len(_UNSEALED))


def _checksum(content: bytes) -> str:
    """Hash a file as it is without its checksum."""
    place = _checksum_place(content)
    digest = hashlib.sha256(content[: place.start])
    digest.update(_UNSEALED.encode())
    digest.update(content[place.stop :])
    return digest.hexdigest()


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
    table = read_footer(content, len(content) - _TAIL - _footer_length(content))
    if list(table.types.items()) != list(expected.items()):
        wrong = sorted(set(expected.items()) ^ set(table.types.items()), key=str)
        names = ", ".join(dict.fromkeys(name for name, _ in wrong)) or "the order"
        msg = f"has other columns than its metadata says; see {names[:200]}"
        raise FileFormatError(msg)
    if table.n_rows * _BYTES_PER_RULE > len(content):
        msg = f"claims {table.n_rows} rules, which do not fit into its {len(content)} bytes"
        raise FileFormatError(msg)
    return table.columns()
