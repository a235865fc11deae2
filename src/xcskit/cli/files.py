"""Files that commands write, and do not overwrite unasked."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xcskit.errors import ConfigurationError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TABLES", "check_writable", "table_bytes"]

TABLES: Final = (".parquet", ".csv")
"""The endings of files that hold a table."""


def check_writable(path: Path, *, force: bool, suffixes: tuple[str, ...] = ()) -> None:
    """Say what keeps a command from writing a file, before the work rather than after it.

    Parameters
    ----------
    path
        The file.
    force
        Whether an existing file may be replaced.
    suffixes
        The endings that the command can write; none given means any.
    """
    if suffixes and path.suffix not in suffixes:
        msg = f"cannot write {str(path)!r}: the name has to end with {' or '.join(suffixes)}"
        raise ConfigurationError(msg)
    if not path.parent.is_dir():
        msg = f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}"
        raise ConfigurationError(msg)
    if path.is_dir():
        msg = f"cannot write {str(path)!r}: it is a folder"
        raise ConfigurationError(msg)
    if not os.access(path.parent, os.W_OK):
        msg = f"cannot write {str(path)!r}: no permission to write in {str(path.parent)!r}"
        raise ConfigurationError(msg)
    if path.exists() and not force:
        msg = f"{str(path)!r} exists; --force replaces it"
        raise ConfigurationError(msg)


def table_bytes(table: "pl.DataFrame", suffix: str) -> bytes:
    """Give the bytes of a table's file, by one of the endings ``TABLES``."""
    buffer = io.BytesIO()
    if suffix == ".csv":
        table.write_csv(buffer)
    else:
        table.write_parquet(buffer)
    return buffer.getvalue()
