"""Which code performs a trial, and where and with what it was performed."""

import functools
import hashlib
import importlib.metadata
import inspect
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import scipy

import xcskit
from xcskit.errors import ConfigurationError
from xcskit.experiments.plain import Entry
from xcskit.experiments.trial import TrialFunction
from xcskit.kernels.compiler import cache_directory

__all__ = ["engine_fingerprint", "provenance"]

_PACKAGE = Path(xcskit.__file__).parent
_ABOVE_TRIALS = {"cli", "explorer", "paper", "plots", "__pycache__"}
_VERSIONS = ("xcskit", "numpy", "numba", "scipy", "gymnasium", "polars")
_DIGITS = 16


def engine_fingerprint(function: TrialFunction) -> str:
    """Give a hash of the code that determines what a trial function returns.

    Covers the file that defines the function, the package up to and with the experiments, and the
    compiler's and SciPy's versions. What the function imports from elsewhere is not seen:
    keep what determines a trial in its file, or in the trial.

    Parameters
    ----------
    function
        A plain function. One that holds values (captured variables, defaults, a bound method's
        object) is refused: they determine its trials but could not be seen; so is a lambda, which
        has no name of its own.
    """
    if (
        not inspect.isfunction(function)
        or function.__closure__
        or function.__defaults__
        or function.__kwdefaults__
        or function.__name__ == "<lambda>"
    ):
        msg = (
            f"the trial function is {function!r}; expected a named function that holds no values: "
            "put what it needs into the trial's environment or configuration"
        )
        raise ConfigurationError(msg)
    digest = hashlib.sha256(repr((cache_directory().name, scipy.__version__)).encode())
    for source in _package_sources():
        digest.update(source.relative_to(_PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    digest.update(function.__qualname__.encode())
    digest.update(_source_of(function))
    return digest.hexdigest()[:_DIGITS]


def _package_sources() -> Iterable[Path]:
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and not _ABOVE_TRIALS.intersection(path.relative_to(_PACKAGE).parts):
            yield path


def _source_of(function: TrialFunction) -> bytes:
    try:
        path = Path(inspect.getfile(function))
        return path.read_bytes() if path.is_file() else inspect.getsource(function).encode()
    except (OSError, TypeError):
        msg = (
            f"the source of trial function {function.__qualname__} cannot be found, so its "
            "results could not be told from those of another; define it in a file"
        )
        raise ConfigurationError(msg) from None


@functools.cache
def provenance() -> Entry:
    """Tell the versions, the git commit (empty without one) and the machine of this process."""
    return {
        "versions": {
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in _VERSIONS},
        },
        "git_commit": _git_commit(),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count() or 1,
            "host": platform.node(),
        },
    }


def _git_commit() -> str:
    """Name the commit of the package's own source, with ``-dirty`` after it where it was edited."""
    git = shutil.which("git")
    if git is None:
        return ""

    def ask(*arguments: str) -> str | None:
        answer = subprocess.run(  # noqa: S603 - fixed arguments
            [git, "-C", str(_PACKAGE), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
        return answer.stdout.strip() if answer.returncode == 0 else None

    # An installed package may lie inside a repository that knows nothing of it.
    if ask("ls-files", "--error-unmatch", "__init__.py") is None:
        return ""
    return ask("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty") or ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
