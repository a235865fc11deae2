"""What several commands show in a terminal."""

import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from xcskit.mdp import TabularMdp
    from xcskit.typing import Bools

__all__ = ["new_console", "policy_grid", "print_numbers", "print_table", "working"]

_WIDE: Final = 250
"""Columns, where no terminal sets a width."""

_ARROWS: Final = {
    (0, -1): "↑",
    (1, -1): "↗",
    (1, 0): "→",
    (1, 1): "↘",
    (0, 1): "↓",
    (-1, 1): "↙",
    (-1, 0): "←",
    (-1, -1): "↖",
}
_LETTER_STYLE = "dim"
_ARROW_STYLE = "bold cyan"


@contextmanager
def working(what: str, *, is_quiet: bool = False) -> Generator[None]:
    """Show, where a person watches, that work goes on and for how long; nothing stays of it.

    Parameters
    ----------
    what
        What is done, as "solving".
    is_quiet
        Whether to show nothing.
    """
    if is_quiet or not sys.stderr.isatty():
        yield
        return
    from rich.progress import (
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(what, total=None)
        yield


def policy_grid(mdp: "TabularMdp", advocacy: "Bools") -> Table | None:
    """Show a policy as arrows on the grid; None where the states lie on none.

    Parameters
    ----------
    mdp
        The model.
    advocacy
        The actions that the policy advocates, shape (n_states, n_actions).
    """
    layout = mdp.layout
    if layout is None:
        return None
    cells = [[Text(letter, style=_LETTER_STYLE) for letter in row] for row in layout.rows]
    arrows = [_ARROWS[move] for move in layout.moves]
    for state, (x, y) in enumerate(layout.positions.tolist()):
        advocated = "".join(
            arrow for arrow, is_in in zip(arrows, advocacy[state].tolist(), strict=True) if is_in
        )
        if advocated:
            cells[y][x] = Text(advocated, style=_ARROW_STYLE)
    grid = Table.grid(padding=(0, 1))
    for _ in layout.rows[0]:
        grid.add_column(justify="center", no_wrap=True)
    for row in cells:
        grid.add_row(*row)
    return grid


def new_console() -> Console:
    """Give what prints tables: as wide as the terminal, or wide enough for any in a file."""
    return Console() if sys.stdout.isatty() else Console(width=_WIDE)


def print_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table.

    Parameters
    ----------
    title
        What stands above it.
    headings
        A heading a column; only a column without one holds words.
    rows
        The cells.
    """
    shown = Table(title=Text(title), title_justify="left")
    for heading in headings:
        shown.add_column(heading.replace("_", " "), justify="right" if heading else "left")
    for row in rows:
        shown.add_row(*(Text(_cell(value)) for value in row))
    new_console().print(shown)


def print_numbers(title: str, numbers: Mapping[str, Any]) -> None:
    """Print names and what they stand for, a line each."""
    rows = [(name.replace("_", " "), value) for name, value in numbers.items()]
    print_table(title, ("", "value"), rows)


def _cell(value: object) -> str:
    if value is None:
        return "undefined"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
