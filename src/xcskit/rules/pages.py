"""The columns of a Parquet file, in the few forms that rule sets are written in.

Decoders of Parquet trust what they decode: a count in a file can make them ask for more memory than
there is, which ends the process. A rule set may come from anywhere, so that it is read here: 64-bit
numbers, uncompressed, plain or by a dictionary, and every count held to the bytes that are there.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

import numpy as np

from xcskit.typing import Floats, Ints

__all__ = ["Table", "read_footer"]

_Fields = dict[int, Any]
"""A structure of Thrift's compact protocol: a value for the number of each field."""

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET = range(1, 11)
_STRUCT = 12
_MOST_ELEMENTS = 2**20
_DEEPEST = 16

_TYPES: Final = {2: np.dtype("<i8"), 5: np.dtype("<f8")}
_UNKNOWN: Final = np.dtype(object)
_OPTIONAL = 1
_UNCOMPRESSED = 0
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _BY_DICTIONARY = 0, (2, 8)
_WIDEST = 32


class _Cursor:
    """A place in some bytes, from which Thrift's compact protocol is read."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content = content
        self.at = at

    def take(self, n_bytes: int) -> bytes:
        taken = self.content[self.at : self.at + n_bytes]
        if n_bytes < 0 or self.at < 0 or len(taken) != n_bytes:
            msg = f"{n_bytes} bytes are said to be at {self.at} of {len(self.content)}"
            raise ValueError(msg)
        self.at += n_bytes
        return taken

    def count(self) -> int:
        """Read a number of at most 64 bits, seven a byte, the low ones first."""
        value = 0
        for shift in range(0, 64, 7):
            (byte,) = self.take(1)
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        msg = f"a number before {self.at} has no end"
        raise ValueError(msg)

    def whole(self) -> int:
        value = self.count()
        return (value >> 1) ^ -(value & 1)

    def structure(self, depth: int = 0) -> _Fields:
        fields: _Fields = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.whole()
            fields[number] = self.value(head & 15, depth + 1)
        return fields

    def value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 - what the file says
        if depth > _DEEPEST:
            msg = "its table of contents is nested too deeply"
            raise ValueError(msg)
        if kind in {_I16, _I32, _I64}:
            return self.whole()
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind == _BINARY:
            return self.take(self.count())
        if kind in {_LIST, _SET}:
            return self.elements(depth)
        if kind == _STRUCT:
            return self.structure(depth)
        return self.take({_BYTE: 1, _DOUBLE: 8}[kind])

    def elements(self, depth: int) -> list[Any]:
        head = self.take(1)[0]
        n = head >> 4 if head >> 4 < 15 else self.count()
        if n > _MOST_ELEMENTS:
            msg = f"a list in its table of contents has {n} elements"
            raise ValueError(msg)
        kind = _BYTE if head & 15 in {_TRUE, _FALSE} else head & 15
        return [self.value(kind, depth + 1) for _ in range(n)]


class Table(NamedTuple):
    """What a file says that it holds.

    ``types``: of each column, in order; an object's where it is no column of 64-bit numbers.
    ``n_rows``: of all row groups. ``is_optional``: which columns may lack values.
    """

    content: bytes
    types: Mapping[str, np.dtype[Any]]
    n_rows: int
    is_optional: list[bool]
    row_groups: list[_Fields]

    def columns(self) -> dict[str, Ints | Floats]:
        """Read every column."""
        parts: dict[str, list[Any]] = {name: [np.empty(0, t)] for name, t in self.types.items()}
        for group in self.row_groups:
            chunks = zip(self.types.items(), self.is_optional, group[1], strict=True)
            for (name, kind), is_optional, chunk in chunks:
                values = _chunk_values(self.content, chunk[3], kind, group[3], is_optional)
                parts[name].append(values)
        return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def read_footer(content: bytes, start: int) -> Table:
    """Read the table of contents of a file, which stands at its end.

    Parameters
    ----------
    content
        The whole file.
    start
        Where the table of contents begins.

    Raises
    ------
    ValueError, LookupError, TypeError, AttributeError
        It is none.
    """
    footer = _Cursor(content, start).structure()
    columns: list[_Fields] = footer[2][1:]
    groups: list[_Fields] = footer[4]
    n_rows = sum(group[3] for group in groups)
    if n_rows != footer[3] or any(group[3] < 0 for group in groups):
        msg = f"it says that it has {footer[3]} rows, and {n_rows} in its groups"
        raise ValueError(msg)
    types = {column[4].decode(): _TYPES.get(column.get(1, -1), _UNKNOWN) for column in columns}
    is_optional = [column.get(3) == _OPTIONAL for column in columns]
    return Table(content, types, n_rows, is_optional, groups)


def _chunk_values(
    content: bytes,
    chunk: _Fields,
    kind: np.dtype[Any],
    n_rows: int,
    is_optional: bool,  # noqa: FBT001
) -> np.ndarray[Any, Any]:
    """Read the pages of a column in a row group."""
    if chunk[4] != _UNCOMPRESSED:
        msg = "its columns are compressed"
        raise ValueError(msg)
    first: int = chunk[11] if 11 in chunk else chunk[9]
    cursor = _Cursor(content, first)
    dictionary = values = np.empty(0, kind)
    parts = [values]
    while n_rows > 0:
        header = cursor.structure()
        body = cursor.take(header[3])
        if header[1] == _DICTIONARY_PAGE:
            dictionary = np.frombuffer(body, kind, header[7][1])
            continue
        if header[1] != _DATA_PAGE or not 0 < header[5][1] <= n_rows:
            msg = f"it has a page of kind {header[1]}, where {n_rows} rows are missing"
            raise ValueError(msg)
        n_values, encoding = header[5][1], header[5][2]
        begin = _skip_levels(body, n_values) if is_optional else 0
        if encoding == _PLAIN:
            values = np.frombuffer(body, kind, n_values, begin)
        elif encoding in _BY_DICTIONARY:
            values = dictionary[_runs(body, begin + 1, body[begin], n_values)]
        else:
            msg = f"it has a page with encoding {encoding}"
            raise ValueError(msg)
        parts.append(values)
        n_rows -= n_values
    return np.concatenate(parts)


def _skip_levels(body: bytes, n_values: int) -> int:
    """Give the place after the levels, which say of each value that it is there."""
    if not _runs(body, 4, 1, n_values).all():
        msg = "it has cells without a value"
        raise ValueError(msg)
    return 4 + int.from_bytes(body[:4], "little")


def _runs(body: bytes, begin: int, width: int, n_values: int) -> Ints:
    """Read whole numbers of some bits each, in runs: one repeated, or eights of them packed."""
    values = np.zeros(n_values, dtype=np.int64)
    if width > _WIDEST:
        msg = f"it has numbers of {width} bits in a dictionary page"
        raise ValueError(msg)
    cursor = _Cursor(body, begin)
    done = 0
    while done < n_values and width > 0:
        head = cursor.count()
        if head & 1:
            packed = np.frombuffer(cursor.take((head >> 1) * width), dtype=np.uint8)
            bits = np.unpackbits(packed, bitorder="little").reshape(-1, width)
            run = cast("Ints", bits @ (1 << np.arange(width)))[: n_values - done]
            values[done : done + run.size] = run
            done += run.size
        else:
            value = int.from_bytes(cursor.take((width + 7) // 8), "little")
            values[done : done + (head >> 1)] = value
            done += head >> 1
    return values
