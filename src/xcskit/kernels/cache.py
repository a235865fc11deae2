"""Machine code on disk: a file for each kernel and signature, whole or not at all.

Numba's own cache numbers its files and keeps their signatures in an index. Two processes that
compile different signatures at the same time can both take the first number; what is read later
under one signature is then the code of the other. It also asks for a folder that can be written
even where everything in it is there to be read. Here a file is named after what it holds, says so
inside, and is checked before it is used; a cache that cannot be written is used as far as it goes.
"""

import hashlib
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from xcskit.files import write_atomically

__all__ = ["DiskCache"]

_LOG = logging.getLogger("xcskit.kernels")
_DIGITS = 24
_DIGEST_BYTES = hashlib.sha256().digest_size


class DiskCache:
    """The machine code of one kernel, as a Numba dispatcher asks for it.

    Parameters
    ----------
    name
        What tells the kernel from all others of the same sources.
    directory
        Gives the folder to look in at the time of asking, or None for no cache.
    variant
        Tells apart what is compiled in more than one way for one signature.
    """

    def __init__(
        self, name: str, directory: Callable[[], Path | None], variant: Callable[[], str]
    ) -> None:
        self._name = name
        self._directory = directory
        self._variant = variant

    @property
    def cache_path(self) -> str | None:
        """The folder, for Numba's statistics."""
        directory = self._directory()
        return None if directory is None else str(directory)

    def _path(self, signature: object, context: Any) -> Path | None:  # noqa: ANN401 - Numba's target context
        directory = self._directory()
        if directory is None:
            return None
        processor = context.codegen().magic_tuple()
        content = repr((self._name, str(signature), self._variant(), processor))
        return directory / hashlib.sha256(content.encode()).hexdigest()[:_DIGITS]

    def load_overload(self, sig: object, target_context: Any) -> CompileResult | None:  # noqa: ANN401 - Numba's target context
        """Give the code for a signature, or None where no sound file holds it.

        Unlike Numba's own cache it does not ``refresh`` the target context, which loads all that
        could be compiled with: who compiles does that, and code that is done needs none of it.
        """
        path = self._path(sig, target_context)
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != digest:
            _LOG.info("compiling anew: %s is damaged", path)
            return None
        found, parts = pickle.loads(body)  # noqa: S301 - machine code is code; the folder is the user's
        if found != sig:
            return None
        return CompileResult._rebuild(target_context, *parts)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    def save_overload(self, sig: object, cres: CompileResult) -> None:
        """Keep the code of a signature; where there is no room or no right to, go on without."""
        path = self._path(sig, cres.target_context)
        if path is None or cres.library.has_dynamic_globals:
            return
        body = dumps((sig, cres._reduce()))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, hashlib.sha256(body).digest() + body)
        except OSError as reason:
            _warn_once(path.parent, reason.strerror or str(reason))


_warned: set[Path] = set()


def _warn_once(directory: Path, reason: str) -> None:
    if directory not in _warned:
        _warned.add(directory)
        _LOG.warning(
            "compiled code is not kept, and will be compiled again: %s cannot be written (%s); "
            "XCSKIT_CACHE_DIR names another folder",
            directory,
            reason,
        )
