"""The mazes of the classifier system literature: eight moves, and food to find."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import scipy

from xcskit.errors import ModelError
from xcskit.mdp.graphs import graph_of
from xcskit.mdp.grids import Cells, as_cells, grid_outcomes, read_rows, uniform_over
from xcskit.mdp.model import GridLayout, TabularMdp
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Ints
from xcskit.validation import check_choice, check_flag, check_real

__all__ = ["MAZES", "MAZE_CELLS", "View", "maze"]

View: TypeAlias = Literal["cell", "sensors"]

MAZES: Final = ("woods1", "woods14", "maze4", "maze5", "maze6")
MAZE_CELLS: Final = {"*": "free", "O": "obstacle", "F": "food"}

_TOROIDAL = frozenset({"woods1"})
_ACTIONS = (
    "north",
    "northeast",
    "east",
    "southeast",
    "south",
    "southwest",
    "west",
    "northwest",
)
_MOVES = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
_SENSED = {"*": 0, "O": 1, "F": 2}


def maze(
    map: Sequence[str] | str | Path = "maze5",  # noqa: A002 - what everyone calls it
    *,
    slip: float = 0.0,
    view: View = "cell",
    reward: float = 1.0,
    toroidal: bool | None = None,
) -> TabularMdp:
    """Model a maze, one of the literature's or one's own.

    Parameters
    ----------
    map
        ``"woods1"``, ``"woods14"``, ``"maze4"``, ``"maze5"`` or ``"maze6"``; or rows of text; or
        the path of a text file. ``*`` is free, ``O`` an obstacle, ``F`` food.
    slip
        The probability that a move goes to either neighbouring direction, half of it each.
    view
        What is seen of a state: its ``"cell"`` as (x, y), or, as in much of the literature,
        the eight cells around it by ``"sensors"``: 0 free, 1 obstacle, 2 food, in the order of the
        moves. Different cells may look the same then.
    reward
        What reaching food gives. The literature often has 1000.
    toroidal
        Whether the edges are joined. None: as the named maze is, and not otherwise.

    Returns
    -------
    TabularMdp
        The states are the cells that are not obstacles, row by row. The moves are the eight
        directions, clockwise from north; a move into an obstacle or off the grid stays in place.
        Episodes start in any free cell, uniformly, in training and in tests, and end with food.

    Examples
    --------
    >>> maze("woods1")
    TabularMdp('woods1', 17 states, 8 actions, 136 outcomes)
    """
    slip = check_real("slip", slip, 0.0, 1.0, open_high=True)
    reward = check_real("reward", reward)
    check_choice("view", view, get_args(View))
    if toroidal is not None:
        check_flag("toroidal", toroidal)
    is_named = isinstance(map, str) and map in MAZES
    cells = as_cells(_named_rows(str(map)) if is_named else read_rows(map), MAZE_CELLS, "maze")
    height, width = cells.shape
    joined = is_named and map in _TOROIDAL if toroidal is None else toroidal
    around = _cells_around(cells, joined=joined)
    y, x = np.nonzero(cells != "O")
    is_food = cells[y, x] == "F"
    neighbours = _neighbours(cells, around)
    _check_solvable(neighbours, is_food, x, y)
    positions = np.column_stack([x, y])
    start = uniform_over(~is_food)
    sensed = np.vectorize(_SENSED.__getitem__, otypes=[np.int64])
    return TabularMdp(
        name=str(map) if is_named else f"maze-{width}x{height}",
        space=IntegerSpace.grid(width, height)
        if view == "cell"
        else IntegerSpace((0,) * len(_MOVES), (2,) * len(_MOVES), _ACTIONS),
        observations=positions if view == "cell" else sensed(_seen(cells, around)),
        action_names=_ACTIONS,
        outcomes=grid_outcomes(neighbours, is_food, is_food, slip=slip, reward=reward),
        training_start=start,
        test_start=start,
        layout=GridLayout(
            rows=tuple("".join(row) for row in cells.tolist()), positions=positions, moves=_MOVES
        ),
    )


def _named_rows(name: str) -> list[str]:
    text = resources.files("xcskit.mdp").joinpath("layouts", f"{name}.txt").read_text("utf-8")
    return text.split()


def _cells_around(cells: Cells, *, joined: bool) -> tuple[Ints, Bools]:
    """Give the flat index of the cell in each direction of each state, and whether it exists."""
    height, width = cells.shape
    y, x = np.nonzero(cells != "O")
    dx, dy = np.array(_MOVES).T
    to_x, to_y = x[:, np.newaxis] + dx, y[:, np.newaxis] + dy
    exists = (to_x >= 0) & (to_x < width) & (to_y >= 0) & (to_y < height)
    index: Ints = (to_y % height) * width + to_x % width
    return index, np.ones_like(exists) if joined else exists


def _seen(cells: Cells, around: tuple[Ints, Bools]) -> Cells:
    index, exists = around
    return np.where(exists, cells.ravel()[index], "O")


def _neighbours(cells: Cells, around: tuple[Ints, Bools]) -> Ints:
    index, _ = around
    is_open = _seen(cells, around) != "O"
    own = np.flatnonzero(cells.ravel() != "O")
    state_of_cell = np.full(cells.size, -1, dtype=np.int64)
    state_of_cell[own] = np.arange(own.size)
    return np.where(is_open, state_of_cell[index], np.arange(own.size)[:, np.newaxis])


def _check_solvable(neighbours: Ints, is_food: Bools, x: Ints, y: Ints) -> None:
    n_states = len(neighbours)
    sources = np.repeat(np.arange(n_states), len(_MOVES))
    graph = graph_of(sources, neighbours.ravel(), n_states)
    _, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
    is_cut_off = ~np.isin(part, part[is_food])
    if is_food.all() or is_cut_off.any():
        where = (
            f"no way leads from column {x[is_cut_off][0]}, row {y[is_cut_off][0]} to food 'F'"
            if is_cut_off.any()
            else "it has no free cell '*'"
        )
        msg = f"the maze is unsolvable: {where}; open a way, or fill the cells that are cut off"
        raise ModelError(msg)
