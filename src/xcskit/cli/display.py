"""What several commands show in a terminal."""

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from xcskit.mdp import TabularMdp
    from xcskit.typing import Bools

__all__ = ["policy_grid"]

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
