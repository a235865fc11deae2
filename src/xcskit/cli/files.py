"""Files that commands write, and do not overwrite unasked."""

from pathlib import Path

from xcskit.errors import ConfigurationError

__all__ = ["check_writable"]


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
    if path.exists() and not force:
        msg = f"{str(path)!r} exists; --force replaces it"
        raise ConfigurationError(msg)
