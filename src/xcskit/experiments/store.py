"""Results on plain files: one immutable Parquet file for each finished trial.

A folder holds ``store.json`` (the format), ``lock``, ``trials/KEY.parquet`` and
``failed/KEY.json``. A key is the hash of what determined the trial. Files appear whole, by a
rename, so that a reader needs no lock and a kill leaves nothing half written.
"""

import fcntl
import json
import os
import platform
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from xcskit.errors import FileFormatError, StoreError
from xcskit.experiments.board import Board
from xcskit.experiments.packing import digest_of, unpack
from xcskit.experiments.plain import Entry, Plain, canonical
from xcskit.experiments.trial import Value, key_of
from xcskit.files import write_atomically

__all__ = ["Failure", "Record", "Store", "StoreWriter"]

_FORMAT = 1
_REMEDY = "remove the file and run the experiment again"
_OWN = {"lock", "trials", "failed"}
_TEMPORARY = (".store.json.*.tmp", "trials/.*.parquet.*.tmp", "failed/.*.json.*.tmp")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A finished trial: what it gave, and how it came about."""

    result: dict[str, Value]
    provenance: Entry

    @property
    def digest(self) -> str:
        """A hash of the result's bits: equal wherever and whenever the trial was performed."""
        return digest_of(self.result)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A trial that ended in an error."""

    trial: str
    error: str
    message: str
    traceback: str
    provenance: Entry


class Store:
    """A folder of results; reading one that does not exist finds nothing in it.

    Parameters
    ----------
    folder
        Made when first written to.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> with store.writing():
    ...     "0" * 32 in store
    False
    """

    _held: ClassVar[set[Path]] = set()
    _held_guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._check_format()

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def __contains__(self, key: str) -> bool:
        """Tell whether a trial is finished."""
        return _trial_path(self.folder, key).is_file()

    def keys(self) -> list[str]:
        """Give the keys of all finished trials, of whatever specification and engine, sorted."""
        return sorted(path.stem for path in (self.folder / "trials").glob("*.parquet"))

    def read(self, key: str) -> Record:
        """Read a finished trial, checking that the file is whole and is that trial's."""
        path = _trial_path(self.folder, key)
        try:
            result, metadata = unpack(path)
        except FileFormatError as reason:
            raise StoreError(f"{reason}; {_REMEDY}") from None
        identity, provenance = metadata.get("identity"), metadata.get("provenance")
        if not isinstance(identity, str) or key_of(identity) != key:
            raise StoreError(f"{path} holds another trial than its name says; {_REMEDY}")
        if not isinstance(provenance, dict):
            raise StoreError(f"{path} does not say how it came about; {_REMEDY}")
        return Record(result=result, provenance=provenance)

    def failure(self, key: str) -> Failure | None:
        """Give the error in which a trial ended when it was last run, if it did."""
        path = _failure_path(self.folder, key)
        try:
            return Failure(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as reason:
            msg = f"{path} cannot be read: {reason}; remove it"
            raise StoreError(msg) from None

    @contextmanager
    def writing(self) -> Generator["StoreWriter"]:
        """Hold the folder for one run.

        Raises
        ------
        StoreError
            Another run holds it, or it cannot be written, or something else lives in it.
        """
        with _explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._check_own()
        with self._lock():
            self._check_format()
            with _explained(self.folder):
                self._prepare()
            yield StoreWriter(self.folder)

    def _prepare(self) -> None:
        """Make the folder's parts, and remove what a killed run left half written."""
        for pattern in _TEMPORARY:
            for path in self.folder.glob(pattern):
                path.unlink()
        Board.sweep(self.folder)
        if not (self.folder / "store.json").exists():
            write_atomically(self.folder / "store.json", canonical({"format": _FORMAT}).encode())
        for name in ("trials", "failed"):
            (self.folder / name).mkdir(exist_ok=True)

    def _check_own(self) -> None:
        names = {path.name for path in self.folder.iterdir() if not path.name.startswith(".")}
        if "store.json" not in names and names - _OWN:
            msg = (
                f"{self.folder} is not a result store and holds {min(names - _OWN)!r}; "
                "choose an empty folder"
            )
            raise StoreError(msg)

    def _check_format(self) -> None:
        path = self.folder / "store.json"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            found = document["format"]
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError, KeyError, TypeError) as reason:
            msg = f"{path} does not say which format the store has ({reason}); is it a store?"
            raise StoreError(msg) from None
        if found != _FORMAT:
            msg = (
                f"{self.folder} is a store of format {found!r}, this version of xcskit has format "
                f"{_FORMAT}; use the version that made it, or another folder"
            )
            raise StoreError(msg)

    @contextmanager
    def _lock(self) -> Generator[None]:
        """Hold the folder's lock: the system drops it when the process dies, however it dies.

        A POSIX record lock, since a child forked by the run must not inherit it; such locks do not
        exclude threads of one process, hence the set.
        """
        place = self.folder.resolve()
        path = self.folder / "lock"
        with self._held_guard:
            if place in self._held:
                msg = f"{self.folder} is in use by another run of this process; wait for its end"
                raise StoreError(msg)
            self._held.add(place)
        try:
            with _explained(self.folder):
                lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                self._acquire(lock)
                yield
            finally:
                os.close(lock)
        finally:
            with self._held_guard:
                self._held.discard(place)

    def _acquire(self, lock: int) -> None:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            holder = os.pread(lock, 1000, 0).decode(errors="replace").strip()
            msg = (
                f"{self.folder} is in use by another run ({holder or 'it does not say which'}); "
                "wait for its end, or choose another folder"
            )
            raise StoreError(msg) from None
        except OSError as reason:
            msg = f"{self.folder} cannot be locked: {reason.strerror}; choose a local folder"
            raise StoreError(msg) from None
        with _explained(self.folder):
            since = datetime.now(UTC).isoformat(timespec="seconds")
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"process {os.getpid()} on {platform.node()} since {since}".encode(), 0)


class StoreWriter:
    """What the one run that holds a store may do to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, key: str, contents: bytes) -> None:
        """Keep a finished trial's file, for good; an earlier failure is forgotten."""
        with _explained(self.folder):
            write_atomically(_trial_path(self.folder, key), contents)
            _failure_path(self.folder, key).unlink(missing_ok=True)

    def discard(self, key: str) -> None:
        """Forget a trial, finished or failed, so that it is performed again."""
        with _explained(self.folder):
            _trial_path(self.folder, key).unlink(missing_ok=True)
            _failure_path(self.folder, key).unlink(missing_ok=True)

    def board(self, n_slots: int) -> Board:
        """Put up a board for the run's trials."""
        with _explained(self.folder):
            return Board(self.folder, n_slots)

    def record(self, key: str, failure: Failure) -> None:
        """Record the error in which a trial ended."""
        fields: dict[str, Plain] = asdict(failure)
        with _explained(self.folder):
            write_atomically(_failure_path(self.folder, key), canonical(fields).encode())


def _trial_path(folder: Path, key: str) -> Path:
    return folder / "trials" / f"{key}.parquet"


def _failure_path(folder: Path, key: str) -> Path:
    return folder / "failed" / f"{key}.json"


@contextmanager
def _explained(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as reason:
        msg = (
            f"the result store {folder} cannot be written: {reason.strerror or reason}; "
            "nothing that was stored is lost: mend it and run again"
        )
        raise StoreError(msg) from reason
