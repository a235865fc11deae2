"""Files appear whole or not at all."""

import os
import secrets
from pathlib import Path

__all__ = ["write_atomically"]


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
