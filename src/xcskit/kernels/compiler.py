"""How kernels are compiled, dispatched by component, and cached on disk.

Numba keys its cache on the caller's own file: an edit of a kernel that *another* file calls would
silently run the old machine code. Here the cache directory itself is named by a fingerprint of
every kernel source, of every file outside the package that brings in code to compile, and of the
compiler's versions, so that machine code and source cannot part.
"""

import hashlib
import inspect
import logging
import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import llvmlite
import numba
import numpy as np
import platformdirs
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.extending import overload

from xcskit.kernels.cache import DiskCache

__all__ = ["Generic", "cache_directory", "generic", "kernel"]

_LOG = logging.getLogger("xcskit.kernels")
_SOURCES = Path(__file__).resolve().parent
_DIGITS = 16

F = TypeVar("F", bound=Callable[..., Any])


class Generic(Protocol):
    """A function whose implementation the class of its first argument chooses."""

    def __call__(self, *args: Any) -> Any:  # noqa: ANN401 - each implementation has its own types
        """Call the implementation, from Python or from a kernel."""
        ...

    def register(self, component: type) -> Callable[[F], F]:
        """Give the implementation for a component, a NamedTuple class."""
        ...


_NO_DOOR = "no_cpython_wrapper"
_OPTIONS: dict[str, object] = {
    "error_model": "numpy",
    "nogil": True,
    "forceinline": True,
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_GENERIC_OPTIONS = {name: _OPTIONS[name] for name in ("error_model", "_nrt", "no_cfunc_wrapper")}

_outside: set[Path] = set()


def _fingerprint() -> str:
    digest = hashlib.sha256()
    toolchain = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
    digest.update(repr((toolchain, platform.machine())).encode())
    for source in [*sorted(_SOURCES.rglob("*.py")), *sorted(_outside)]:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:_DIGITS]


def cache_directory() -> Path:
    """Tell where machine code is kept; ``XCSKIT_CACHE_DIR`` moves it.

    Returns
    -------
    Path
        A directory of its own for every state of the kernel sources.
    """
    root = os.environ.get("XCSKIT_CACHE_DIR") or platformdirs.user_cache_dir("xcskit")
    return Path(root) / _fingerprint()


@cache
def _directory() -> Path | None:
    missing = [str(source) for source in _outside if not source.is_file()]
    if missing:
        _LOG.info("compiling without a cache: %s is no file to watch", missing[0])
        return None
    return cache_directory()


def _include_source(function: Callable[..., Any]) -> None:
    """Add the file of a function from outside the package to the cache's fingerprint.

    Code typed at a prompt has no file that could tell of an edit: nothing is kept on disk then.
    """
    source = Path(inspect.getfile(function)).resolve()
    if source in _outside or _SOURCES in source.parents:
        return
    _outside.add(source)
    _directory.cache_clear()


class _Kernel(CPUDispatcher):
    """A compiled function that gets a door to Python only when Python calls it.

    The door takes the arguments of a call out of Python objects: for a population forty arrays.
    Most kernels are called by kernels alone, and their doors were a third of all compiling.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, object]) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options})
        self._without_door: set[tuple[object, ...]] = set()
        if function.__closure__ is None:
            code = function.__code__
            name = f"{function.__module__}.{function.__qualname__}:{code.co_firstlineno}"
            self._cache = DiskCache(name, _directory, self._variant)

    def _variant(self) -> str:
        return "no door" if self.targetoptions[_NO_DOOR] else "door"

    def compile(self, sig: tuple[object, ...]) -> object:
        """Compile for the types of a call, or load; give what Python can call, if Python asks."""
        with global_compiler_lock:
            is_called_by_kernel = ConfigStack.top_or_none() is not None
            if not is_called_by_kernel and sig in self._without_door:
                self._without_door.remove(sig)
                del self.overloads[sig]
            self.targetoptions[_NO_DOOR] = is_called_by_kernel
            return super().compile(sig)

    def add_overload(self, cres: CompileResult) -> None:
        """Enter what was compiled; without a door, no call from Python may find it."""
        if self.targetoptions[_NO_DOOR]:
            types = tuple(cres.signature.args)
            self._without_door.add(types)
            self.overloads[types] = cres
        else:
            super().add_overload(cres)


def kernel(function: F) -> F:
    """Compile a function on first call, without the interpreter lock, and cache it on disk.

    Neither fast-math nor parallel loops: sums keep the order in which they are written. Kernels
    own no memory: arrays are handed in by the caller, and none may be made inside. So Numba's
    reference counts can be left out, and every call inlined; without either the training loop
    ran at 0.26 instead of 0.92 million steps a second (one machine, one run each). A kernel that
    holds values of an enclosing function is not kept on disk: no file tells them.
    """
    _include_source(function)
    return cast("F", _Kernel(function, _OPTIONS))


def generic(stub: Callable[..., Any]) -> Generic:
    """Declare a function that the class of its first argument implements.

    As ``functools.singledispatch``, but resolved by Numba when it compiles the caller, so that a
    call costs nothing. The stub's body is never run.
    """
    table: dict[type, Callable[..., Any]] = {}

    def resolve(*arguments: object) -> Callable[..., Any] | None:
        component = getattr(arguments[0], "instance_class", None)
        return None if component is None else table.get(component)

    def dispatch(*arguments: Any) -> Any:  # noqa: ANN401 - each implementation has its own types
        return table[type(arguments[0])](*arguments)

    def register(component: type) -> Callable[[F], F]:
        def keep(implementation: F) -> F:
            _include_source(implementation)
            table[component] = implementation
            return implementation

        return keep

    resolve.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]
    dispatch.__doc__ = stub.__doc__
    dispatch.__name__ = stub.__name__
    dispatch.register = register  # type: ignore[attr-defined]
    overload(dispatch, jit_options=_GENERIC_OPTIONS, strict=False)(resolve)
    return cast("Generic", dispatch)
