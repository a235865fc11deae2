"""What lakes and mazes share: maps as text, and moves that may slip."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from xcskit.errors import ModelError
from xcskit.mdp.outcomes import Outcomes
from xcskit.typing import Bools, Floats, Ints

__all__ = ["Cells", "as_cells", "grid_outcomes", "read_rows", "uniform_over"]

Cells = NDArray[np.str_]


def read_rows(source: Sequence[str] | str | Path) -> list[str]:
    """Take the rows of a map from a sequence, a text with line breaks, or a file.

    Parameters
    ----------
    source
        Rows; or one text with a line a row; or the path of a file with such a text.
    """
    if isinstance(source, str) and "\n" in source:
        return source.strip().splitlines()
    if isinstance(source, (str, Path)):
        try:
            return Path(source).read_text(encoding="utf-8-sig").strip().splitlines()
        except (OSError, UnicodeDecodeError) as reason:
            msg = (
                f"cannot read a map from {str(source)!r}: {reason}; give a known name, "
                "rows of text, or the path of a text file"
            )
            raise ModelError(msg) from None
    given = cast("object", source)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        msg = (
            f"a map is a known name, rows of text, or the path of a text file: got {given!r} "
            f"({type(given).__name__})"
        )
        raise ModelError(msg)
    return list(source)


def as_cells(rows: Sequence[str], meanings: dict[str, str], what: str) -> Cells:
    """Give a map as a grid of characters, or say which row and which character is wrong.

    Parameters
    ----------
    rows
        One text a row, all of one length.
    meanings
        What each character stands for.
    what
        What kind of map it is, for messages.

    Returns
    -------
    Cells
        Shape (height, width).
    """
    for y, row in enumerate(rows):
        given = cast("object", row)
        if not isinstance(given, str):
            msg = f"row {y} of the {what} is {given!r} ({type(given).__name__}); expected a text"
            raise ModelError(msg)
        if len(row) != len(rows[0]):
            msg = (
                f"row {y} of the {what} has {len(row)} characters, row 0 has {len(rows[0])}: "
                f"{row!r}; make all rows equally long"
            )
            raise ModelError(msg)
    if not rows or not rows[0]:
        msg = f"a map of a {what} needs at least one row and one column; got {list(rows)!r}"
        raise ModelError(msg)
    cells = np.array([list(row) for row in rows])
    is_known = np.isin(cells, list(meanings))
    if not is_known.all():
        y, x = (int(i) for i in np.argwhere(~is_known)[0])
        legend = ", ".join(f"{key!r} {meaning}" for key, meaning in meanings.items())
        msg = f"row {y}, column {x} of the {what} is {str(cells[y, x])!r}; expected {legend}"
        raise ModelError(msg)
    return cells


def uniform_over(is_possible: Bools) -> Floats:
    """Give the uniform distribution over some states, shape (n_states,)."""
    return is_possible / np.count_nonzero(is_possible)


def grid_outcomes(
    neighbours: Ints, is_end: Bools, is_goal: Bools, *, slip: float, reward: float
) -> Outcomes:
    """Build the outcomes of moves that may slip to either neighbouring direction.

    Parameters
    ----------
    neighbours
        Where each move leads, the directions in circular order: shape (n_states, n_directions).
    is_end, is_goal
        Which states end an episode, and which of them give the reward: shape (n_states,).
    slip
        The probability of not going as intended.
    reward
        What entering a goal gives.

    Notes
    -----
    In order: slipped to direction ``a - 1`` with probability ``slip / 2``, as intended, slipped to
    direction ``a + 1`` with ``slip / 2``, directions counted around the circle. Without slip there
    is one outcome.
    """
    n_directions = neighbours.shape[1]
    aside = slip / 2.0
    turns = [-1, 0, 1] if aside else [0]
    chances = [aside, 1.0 - slip, aside] if aside else [1.0]
    directions = np.array(
        [[(a + turn) % n_directions for turn in turns] for a in range(n_directions)]
    )
    next_state = neighbours[:, directions]
    probability = np.broadcast_to(chances, next_state.shape)
    is_listed = np.ones(next_state.shape, dtype=np.bool_)
    is_listed[is_end, :, 1:] = False
    counts = np.count_nonzero(is_listed, axis=2)
    next_state = next_state[is_listed]
    probability = probability[is_listed]
    idle = np.repeat(is_end, np.sum(counts, axis=1))
    next_state[idle] = np.repeat(np.flatnonzero(is_end), n_directions)
    probability[idle] = 1.0
    is_success = is_goal[next_state] & ~idle
    return Outcomes(
        first=np.concatenate([[0], np.cumsum(counts)]),
        next_state=next_state,
        probability=probability,
        reward=np.where(is_success, reward, 0.0),
        is_terminated=is_end[next_state],
        is_success=is_success,
    )
