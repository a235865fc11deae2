"""Progress of training: a bar, a function of one's own, or nothing."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, Protocol

from xcskit.errors import ConfigurationError

__all__ = ["Progress", "progress_bar"]

_BEFORE: Final = "starting (first use compiles)"
"""What a bar says before the first step: after an install that takes many seconds."""


class Progress(Protocol):
    """A function that is told how far training has come."""

    def __call__(self, done: int, total: int, /) -> object:
        """Take steps done and steps in all; an error raised here stops training."""
        ...


@contextmanager
def progress_bar(
    progress: bool | Progress,  # noqa: FBT001 - one switch, or a function in its place
    total: int,
) -> Generator[Callable[[int], object]]:
    """Give a function that takes the number of steps just made."""
    given: object = progress
    if not (isinstance(given, bool) or callable(given)):
        msg = f"progress is True, False or a function: got {given!r}"
        raise ConfigurationError(msg)
    if progress is False:
        yield lambda _: None
        return
    done = 0
    if progress is not True:
        tell = progress

        def count(n_steps: int) -> None:
            nonlocal done
            done += n_steps
            tell(done, total)

        yield count
        return
    from rich.console import Console  # noqa: PLC0415 - only where a bar is wanted
    from rich.progress import (  # noqa: PLC0415 - only where a bar is wanted
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    # As text in notebooks too: there Rich would ask for a package of widgets.
    with Progress(*columns, console=Console(stderr=True, force_jupyter=False)) as bar:
        task = bar.add_task(_BEFORE, total=total, rate="")

        def advance(n_steps: int) -> None:
            bar.update(task, advance=n_steps, description="training")
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed or 0.0
            bar.update(task, rate=f"{speed:,.0f} steps/s")

        yield advance
