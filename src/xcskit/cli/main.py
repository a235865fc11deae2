"""The command ``xcskit``: a table of commands, and how errors end."""

import importlib
import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, Final

import typer

from xcskit.errors import ConfigurationError, XcskitError
from xcskit.version import __version__

__all__ = ["COMMANDS", "app", "main", "run"]

COMMANDS: Final = {
    "train": "xcskit.cli.train",
    "solve": "xcskit.cli.solve",
    "show": "xcskit.cli.show",
    "evaluate": "xcskit.cli.evaluate",
    "compact": "xcskit.cli.compact",
    "rollout": "xcskit.cli.rollout",
    "plot": "xcskit.cli.plot",
    "explore": "xcskit.cli.explore",
    "export": "xcskit.cli.export",
    "paper": "xcskit.cli.paper",
    "info": "xcskit.cli.info",
}
"""Each command, and the module whose function of that name it is."""

OK, FAILED, BAD_USAGE = 0, 1, 2
_INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""What a wrong command line raises; Typer does not name it."""

app = typer.Typer(
    help="Learning classifier systems for reinforcement learning: "
    "rules you can read, measured against the optimum.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _tell_version(is_wanted: bool) -> None:  # noqa: FBT001 - as Typer calls it
    if is_wanted:
        sys.stdout.write(f"xcskit {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Tell the version.", is_eager=True, callback=_tell_version),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Take the options that every command has; ``run`` looks for them itself."""


for _name, _module in COMMANDS.items():
    app.command(_name)(getattr(importlib.import_module(_module), _name))


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit status: 0, 1 (the work failed) or 2 (bad usage).

    Parameters
    ----------
    arguments
        As a shell gives them, without the program's name.
    """
    is_debugging = "--debug" in arguments
    rest = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    try:
        status = int(app(rest, prog_name="xcskit", standalone_mode=False) or OK)
    except UsageError as error:
        message = _naming_what_was_given(_in_words(error), error, rest)
        return _fail(message, BAD_USAGE, is_debugging=is_debugging)
    except ConfigurationError as error:
        return _fail(str(error), BAD_USAGE, is_debugging=is_debugging)
    except (XcskitError, OSError, MemoryError) as error:
        return _fail(_in_words(error), FAILED, is_debugging=is_debugging)
    except Exception as error:  # noqa: BLE001 - a person at a shell gets one line, whatever broke
        message = f"unexpected {error!r}; --debug shows where"
        return _fail(message, FAILED, is_debugging=is_debugging)
    if status == _INTERRUPTED:
        return _fail("interrupted", FAILED, is_debugging=is_debugging)
    return status


def main() -> None:
    """Run the command that the shell gave."""
    given: object = sys.stdout
    if given is None:
        sys.exit(_fail("standard output is closed", FAILED, is_debugging=False))
    sys.exit(run(sys.argv[1:]))


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        file = "" if error.filename is None else f"{str(error.filename)!r}: "
        return f"{file}{error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}; ask for something smaller"
    words: Callable[[], str] = getattr(error, "format_message", error.__str__)
    return words()


def _naming_what_was_given(message: str, error: Exception, arguments: Sequence[str]) -> str:
    """Add the value of the option that an error is about, which newer Typers leave out."""
    names: Sequence[str] = getattr(getattr(error, "param", None), "opts", ())
    split = [word for argument in arguments for word in argument.split("=", 1)]
    values = [value for name, value in pairwise(split) if name in names]
    return f"{message}: got {values[-1]!r}" if values and values[-1] not in message else message


def _fail(message: str, status: int, *, is_debugging: bool) -> int:
    if is_debugging:
        traceback.print_exc()
    sys.stderr.write(f"xcskit: error: {' '.join(message.split())}\n")
    return status
