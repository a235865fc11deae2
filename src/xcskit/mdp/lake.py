"""FrozenLake: cross the ice to the goal, not into a hole, on ground that may slip."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import scipy

from xcskit.errors import ConfigurationError, ModelError
from xcskit.mdp.grids import (
    Cells,
    as_cells,
    grid_outcomes,
    read_rows,
    uniform_over,
)
from xcskit.mdp.model import GridLayout, TabularMdp
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Ints
from xcskit.validation import check_integer, check_real

__all__ = ["LAKE_CELLS", "frozen_lake", "random_lake_map"]

LAKE_CELLS: Final = {"S": "start", "F": "frozen", "H": "hole", "G": "goal"}

_ACTIONS = ("left", "down", "right", "up")
_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
_MOST_CELLS = 10**8


def frozen_lake(
    map: Sequence[str] | str | Path = "8x8",  # noqa: A002 - what everyone calls it
    *,
    slip: float = 0.0,
) -> TabularMdp:
    """Model FrozenLake on a map of any rectangular shape.

    Parameters
    ----------
    map
        ``"8x8"`` or ``"4x4"``, Gymnasium's own maps; or rows of text; or the path of a text file.
        ``S`` is the start (more than one: either; none: the top left cell), ``F`` frozen, ``H`` a
        hole, ``G`` a goal.
    slip
        The probability that a move goes to either perpendicular direction, half of it each. What
        Gymnasium calls slippery is 2/3.

    Returns
    -------
    TabularMdp
        State ``y * width + x`` is the cell in column x and row y, and seen as (x, y). Actions are
        left 0, down 1, right 2, up 3. A move off the grid stays in place. Entering a goal gives
        reward 1, anything else 0. Training starts are uniform over the non-terminal cells; the test
        start is ``S``.

    Notes
    -----
    Section "Training Experiments" of the paper, with its p_slip as ``slip``.

    Examples
    --------
    >>> frozen_lake(["SFF", "FHG"], slip=0.2)
    TabularMdp('frozenlake-3x2', 6 states, 4 actions, 56 outcomes)
    """
    slip = check_real("slip", slip, 0.0, 1.0, open_high=True)
    known = _gymnasium_maps().get(map) if isinstance(map, str) else None
    cells = as_cells(known or read_rows(map), LAKE_CELLS, "lake")
    height, width = cells.shape
    flat = cells.ravel()
    is_goal = flat == "G"
    is_end = is_goal | (flat == "H")
    is_start = _starts(cells)
    if known is None:
        _check_solvable(cells, is_start)
    y, x = np.divmod(np.arange(flat.size), width)
    return TabularMdp(
        name=f"frozenlake-{width}x{height}",
        space=IntegerSpace.grid(width, height),
        observations=np.column_stack([x, y]),
        action_names=_ACTIONS,
        outcomes=grid_outcomes(_neighbours(width, height), is_end, is_goal, slip=slip, reward=1.0),
        training_start=uniform_over(~is_end),
        test_start=uniform_over(is_start),
        layout=GridLayout(
            rows=tuple("".join(row) for row in cells.tolist()),
            positions=np.column_stack([x, y]),
            moves=_MOVES,
        ),
    )


def _gymnasium_maps() -> dict[str, list[str]]:
    from gymnasium.envs.toy_text.frozen_lake import MAPS  # noqa: PLC0415 - slow to import

    return MAPS


def _starts(cells: Cells) -> Bools:
    is_start: Bools = cells.ravel() == "S"
    if not is_start.any():
        is_start[0] = True
    if cells[0, 0] in "HG" and is_start[0]:
        msg = (
            f"the lake has no start: no cell is 'S', and the top left one is {str(cells[0, 0])!r}; "
            "mark a frozen cell with 'S'"
        )
        raise ModelError(msg)
    return is_start


def _check_solvable(cells: Cells, is_start: Bools) -> None:
    if not _is_solvable(cells, is_start):
        msg = (
            "the lake is unsolvable: no way over the ice leads from every start 'S' to a goal 'G'; "
            "open a way, or let random_lake_map draw a map that has one"
        )
        raise ModelError(msg)


def _is_solvable(cells: Cells, is_start: Bools) -> bool:
    parts, _ = scipy.ndimage.label(cells != "H")
    with_goal = np.unique(parts[cells == "G"])
    return bool(np.isin(parts.ravel()[is_start], with_goal).all())


def _neighbours(width: int, height: int) -> Ints:
    y, x = np.divmod(np.arange(width * height), width)
    dx, dy = np.array(_MOVES).T
    to_x = np.clip(x[:, np.newaxis] + dx, 0, width - 1)
    to_y = np.clip(y[:, np.newaxis] + dy, 0, height - 1)
    targets: Ints = to_y * width + to_x
    return targets


def random_lake_map(
    width: int, height: int, *, seed: int, hole_probability: float = 0.2
) -> list[str]:
    """Draw a map of a lake that is sure to be solvable, of any size.

    Parameters
    ----------
    width, height
        Size in cells; at least two cells in all. The start is the top left cell, the goal the
        bottom right one.
    seed
        Equal seeds give equal maps.
    hole_probability
        The probability that a cell is a hole. Where the holes leave no way, those of a way with the
        fewest holes are frozen over.

    Returns
    -------
    list of str
        Rows for ``frozen_lake``.

    Examples
    --------
    >>> random_lake_map(4, 2, seed=0)
    ['SFHH', 'FFFG']
    """
    check_integer("width", width, 1)
    check_integer("height", height, 1)
    check_integer("seed", seed, 0)
    check_real("hole_probability", hole_probability, 0.0, 1.0)
    if not 2 <= width * height <= _MOST_CELLS:
        msg = (
            f"a lake has from 2 cells, a start and a goal, to {_MOST_CELLS}: got {width} x {height}"
        )
        raise ConfigurationError(msg)
    draws = np.random.default_rng(seed).random((height, width))
    cells = np.where(draws < hole_probability, "H", "F")
    cells[0, 0], cells[-1, -1] = "S", "G"
    if not _is_solvable(cells, _starts(cells)):
        cells.ravel()[_cheapest_way(cells)] = "F"
        cells[0, 0], cells[-1, -1] = "S", "G"
    return ["".join(row) for row in cells.tolist()]


def _cheapest_way(cells: Cells) -> list[int]:
    """Find a way from the first to the last cell with the fewest holes, then the fewest moves."""
    height, width = cells.shape
    n = cells.size
    cost = np.where(cells.ravel() == "H", n + 1.0, 1.0)
    targets = _neighbours(width, height).ravel()
    graph = scipy.sparse.csr_array(
        (cost[targets], targets, np.arange(0, targets.size + 1, len(_MOVES))), shape=(n, n)
    )
    _, previous = scipy.sparse.csgraph.dijkstra(graph, indices=[0], return_predecessors=True)
    way = [n - 1]
    while way[-1] != 0:
        way.append(int(previous[0, way[-1]]))
    return way
