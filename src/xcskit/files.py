"""Files appear whole or not at all."""

import os
import secrets
import zipfile
import zlib
from pathlib import Path

__all__ = ["UNREADABLE", "in_words", "write_atomically"]

UNREADABLE = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    EOFError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What readers raise over bytes that no writer of theirs has made."""


def in_words(reason: BaseException) -> str:
    """Give the first line of an error, or what it is called where it says nothing."""
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0]


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file that readers see either as it was before or complete.

    Parameters
    ----------
    path
        The file; its folder must exist.
    content
        Everything that the file shall hold.

    Raises
    ------
    OSError
        The file cannot be written, whose name the error tells.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as reason:
        temporary.unlink(missing_ok=True)
        raise OSError(reason.errno, reason.strerror or str(reason), str(path)) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
