"""Plain data: what TOML and JSON both hold, so that it can be hashed, sent and read by a person."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard

from xcskit.errors import ConfigurationError

__all__ = ["Entry", "Plain", "canonical", "is_list", "is_table", "plain_entry", "to_toml"]

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain]"
Entry: TypeAlias = dict[str, Plain]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def canonical(value: Plain) -> str:
    """Give plain data as JSON: one text for one value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def plain_entry(value: object, where: str) -> Entry:
    """Copy a table of plain data, or say what in it is not plain.

    Parameters
    ----------
    value
        A mapping from names to booleans, integers, finite floats, text, and lists and mappings
        of these.
    where
        How messages call it.
    """
    if not is_table(value):
        msg = f"{where} is {value!r}; expected a table of named values"
        raise ConfigurationError(msg)
    return {_key(key, where): _plain(item, f"{where}.{key}") for key, item in value.items()}


def is_table(value: object) -> TypeGuard[Mapping[object, object]]:
    """Tell whether a value is a mapping, of whatever to whatever."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Tell whether a value is a sequence that is neither text nor bytes."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _plain(value: object, where: str) -> Plain:
    if is_table(value):
        return plain_entry(value, where)
    if is_list(value):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    match value:
        case bool():
            return value
        case int():
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case str() if _is_text(value):
            return str(value)
        case _:
            msg = (
                f"{where} is {value!r}, of type {type(value).__name__}; expected a boolean, an "
                "integer, a finite float, text, or a list or table of these"
            )
            raise ConfigurationError(msg)


def _key(key: object, where: str) -> str:
    if not isinstance(key, str) or not key or not _is_text(key):
        msg = f"{where} has the key {key!r}; keys are text that is not empty"
        raise ConfigurationError(msg)
    return key


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def to_toml(document: Mapping[str, Plain]) -> str:
    """Write plain data as a TOML document that ``tomllib`` reads back as it was.

    Tables and tables of tables get a heading each; what is deeper is written inline.
    """
    lines: list[str] = []
    tables: list[tuple[str, Entry]] = []
    for key, value in document.items():
        if isinstance(value, dict):
            tables.extend(_headed(_toml_key(key), value))
        else:
            lines.append(f"{_toml_key(key)} = {_toml(value)}")
    for heading, table in tables:
        lines += ["", f"[{heading}]"]
        lines += [f"{_toml_key(key)} = {_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _headed(heading: str, table: Entry) -> list[tuple[str, Entry]]:
    """Split a table into its own heading and those of the tables in it."""
    own: Entry = {}
    inner: list[tuple[str, Entry]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            inner.append((f"{heading}.{_toml_key(key)}", value))
        else:
            own[key] = value
    return [(heading, own), *inner] if own or not inner else inner


def _toml(value: Plain) -> str:
    match value:
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{_toml_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
        case str():
            return _toml_text(value)
        case _:
            return json.dumps(value)


def _toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _toml_text(key)


def _toml_text(text: str) -> str:
    # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
