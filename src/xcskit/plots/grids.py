"""Environments on a grid: cells, slips, policies as arrows, and numbers in the cells."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Collection, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.patheffects import withStroke

from xcskit.errors import ConfigurationError, ModelError
from xcskit.evaluation.metrics import is_correct
from xcskit.mdp import GridLayout, Solution, TabularMdp
from xcskit.plots.style import COLOURS, INK, quiet
from xcskit.typing import Bools, Floats

__all__ = [
    "layout_of",
    "plot_action_values",
    "plot_arrows",
    "plot_cells",
    "plot_frequency",
    "plot_heatmap",
    "plot_slips",
]

_CELL_COLOURS = {"H": "#5b7083", "O": "#5b7083", "C": "#5b7083", "G": "#f2c14e", "S": "#cfe8d5"}
_ICE = "#f4f8fb"
_COLOUR_MAP = "viridis"
"""Even in lightness, which any colour vision tells apart, and never the grey of a hole."""
ENDS = "HG"
"""The letters of cells where an episode ends."""
_HALO = withStroke(linewidth=2.0, foreground="white")
_ARROW_LENGTH = 0.34
_DARK = 0.55
_SMALL_GRID = 12
"""Grids of up to this many cells, either way, have room for text in their cells."""


def plot_cells(mdp: TabularMdp, ax: Axes, *, letters: Collection[str] | None = None) -> Axes:
    """Draw the map of an environment.

    Parameters
    ----------
    mdp
        A model with a grid layout.
    ax
        Where to draw.
    letters
        The letters of the map that cells show, where there is room; none given means all.
    """
    layout = layout_of(mdp)
    _frame(ax, layout)
    for y, row in enumerate(layout.rows):
        for x, letter in enumerate(row):
            _cell(ax, x, y, _CELL_COLOURS.get(letter, _ICE))
            if _length(layout) <= _SMALL_GRID and (letters is None or letter in letters):
                ink = "white" if letter == "H" else INK
                ax.text(x, y, letter, ha="center", va="center", color=ink, zorder=1.5)
    return ax


def plot_slips(mdp: TabularMdp, state: int, action: int, ax: Axes) -> Axes:
    """Draw where a move can lead from a state: as intended in one colour, slipped in another.

    Parameters
    ----------
    mdp
        A model with a grid layout, whose outcomes are those of ``frozen_lake``, in their order.
    state, action
        The pair. Where it cannot move, the arrow ends at a wall.
    ax
        Where to draw.
    """
    layout = layout_of(mdp)
    x, y = layout.positions[state].tolist()
    _frame(ax, layout, around=(x, y))
    for (cell_x, cell_y), letter in _letters(layout).items():
        if abs(cell_x - x) <= 1 and abs(cell_y - y) <= 1:
            _cell(ax, cell_x, cell_y, _CELL_COLOURS.get(letter, _ICE))
    outcomes = mdp.outcomes_of(state, action)
    turns = (-1, 0, 1) if len(outcomes) == 3 else (0,)
    for turn, (probability, successor, _, _) in zip(turns, outcomes, strict=True):
        dx, dy = layout.moves[(action + turn) % mdp.n_actions]
        is_blocked = layout.positions[successor].tolist() == [x, y]
        reach = 0.5 if is_blocked else 1.0
        colour = COLOURS[1] if turn else COLOURS[0]
        ax.add_patch(_arrow((x, y), (x + dx * reach, y + dy * reach), colour))
        if is_blocked:
            wall = [(x + dx / 2 + side * dy / 2, y + dy / 2 + side * dx / 2) for side in (-1, 1)]
            ax.plot(*zip(*wall, strict=True), color=INK, linewidth=2.5, solid_capstyle="butt")
        place = x + dx * (reach + 0.45), y + dy * (reach + 0.3)
        chance = ax.text(*place, f"{probability:g}", ha="center", va="center", fontsize=6)
        chance.set_path_effects([_HALO])  # it may lie upon a dark cell
    ax.plot([x], [y], "o", color=INK, markersize=4)
    ax.set_title(f"({x}, {y}), {mdp.action_names[action]}")
    return ax


def plot_arrows(mdp: TabularMdp, advocacy: Bools, ax: Axes) -> Axes:
    """Draw a policy: in each cell an arrow for every action that it advocates.

    Parameters
    ----------
    mdp
        A model with a grid layout.
    advocacy
        Shape (n_states, n_actions).
    ax
        Where to draw.
    """
    plot_cells(mdp, ax, letters=ENDS)
    layout = layout_of(mdp)
    scale = min(1.0, _SMALL_GRID / _length(layout))
    for state, action in np.argwhere(advocacy).tolist():
        x, y = layout.positions[state].tolist()
        dx, dy = layout.moves[action]
        back = _ARROW_LENGTH * (advocacy[state].sum() == 1)
        tail = x - dx * back, y - dy * back
        tip = x + dx * _ARROW_LENGTH, y + dy * _ARROW_LENGTH
        ax.add_patch(_arrow(tail, tip, COLOURS[0], scale))
    return ax


def plot_heatmap(
    mdp: TabularMdp,
    values: Floats,
    ax: Axes,
    *,
    label: str,
    limits: tuple[float, float] = (0.0, 1.0),
    text: str = "{:.2f}",
) -> Axes:
    """Draw a number in each cell, as a colour and as text.

    Parameters
    ----------
    mdp
        A model with a grid layout.
    values
        Shape (n_states,); NaN where there is none.
    ax
        Where to draw.
    label
        What the numbers are.
    limits
        The values of the first and the last colour.
    text
        The format of a number; empty for colours alone.
    """
    layout = layout_of(mdp)
    plot_cells(mdp, ax, letters=ENDS)
    image = np.full((len(layout.rows), len(layout.rows[0])), np.nan)
    image[layout.positions[:, 1], layout.positions[:, 0]] = values
    _colour_bar(
        ax.imshow(image, cmap=_COLOUR_MAP, vmin=limits[0], vmax=limits[1], zorder=2), ax, label
    )
    middle = limits[0] + _DARK * (limits[1] - limits[0])
    for y, x in np.argwhere(np.isfinite(image)).tolist():
        if _length(layout) <= _SMALL_GRID:
            ink = "white" if image[y, x] < middle else "black"
            number = text.format(image[y, x])
            ax.text(x, y, number, ha="center", va="center", color=ink, fontsize=6, zorder=3)
    return ax


def plot_action_values(mdp: TabularMdp, q: Floats, ax: Axes, *, label: str = "Qhat") -> Axes:
    """Draw the values of all actions: each cell in parts, one towards where each action moves.

    Parameters
    ----------
    mdp
        A model with a grid layout, whose actions are moves in different directions.
    q
        Shape (n_states, n_actions); NaN where there is none. A dot marks the greatest of a state.
    ax
        Where to draw.
    label
        What the numbers are.
    """
    layout = layout_of(mdp)
    plot_cells(mdp, ax, letters=ENDS)
    if not np.isfinite(q).any():
        msg = "there is no value to draw: every entry of q is NaN"
        raise ConfigurationError(msg)
    wedges = [_wedge(move, mdp.n_actions) for move in layout.moves]
    cells = layout.positions[:, np.newaxis, np.newaxis] + np.array(wedges)
    is_known = np.isfinite(q)
    parts = PolyCollection(list(cells[is_known]), cmap=_COLOUR_MAP, zorder=2)
    parts.set(array=q[is_known], edgecolors="white", linewidths=0.3)
    ax.add_collection(parts)
    is_best = is_known & (q == q.max(axis=1, keepdims=True))
    x, y = cells[is_best].mean(axis=1).T
    ax.scatter(x, y, s=7, color="white", edgecolors="black", linewidths=0.5, zorder=3)
    _colour_bar(parts, ax, label)
    return ax


def _wedge(move: tuple[int, int], n_moves: int) -> Floats:
    """Give the part of a unit square around (0, 0) that lies towards a move."""
    angles = np.arctan2(move[1], move[0]) + np.pi / n_moves * np.array([-1.0, 0.0, 1.0])
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    edge = 0.47 * directions / np.abs(directions).max(axis=1, keepdims=True)
    return np.vstack([[0.0, 0.0], edge])


def plot_frequency(solution: Solution, q_hats: Sequence[Floats], ax: Axes) -> Axes:
    """Draw in which share of several runs the best action of each state is optimal.

    Parameters
    ----------
    solution
        The optimum, of a model with a grid layout.
    q_hats
        The values that each run found, shape (n_states, n_actions) each; NaN where there is none.
    ax
        Where to draw.
    """
    if not q_hats:
        msg = "a frequency needs the values of at least one run: got none"
        raise ConfigurationError(msg)
    mdp = solution.mdp
    shares = np.full(mdp.n_states, np.nan)
    correct = [is_correct(q_hat, solution.advocacy)[mdp.states] for q_hat in q_hats]
    shares[mdp.states] = np.mean(correct, axis=0)
    return plot_heatmap(mdp, shares, ax, label="frequency of an optimal action")


def layout_of(mdp: TabularMdp) -> GridLayout:
    """Give where the states of a model lie, or say that they lie on no grid."""
    if mdp.layout is None:
        msg = f"{mdp.name!r} has no grid layout, so it cannot be drawn as one"
        raise ModelError(msg)
    return mdp.layout


def _length(layout: GridLayout) -> int:
    """Give the length of a grid's longer side, in cells."""
    return max(len(layout.rows), len(layout.rows[0]))


def _letters(layout: GridLayout) -> dict[tuple[int, int], str]:
    return {(x, y): letter for y, row in enumerate(layout.rows) for x, letter in enumerate(row)}


def _frame(ax: Axes, layout: GridLayout, around: tuple[int, int] | None = None) -> None:
    """Show the whole grid, or the neighbourhood of a cell, rows going down; number the cells."""
    quiet(ax)
    ax.set_aspect("equal")
    height, width = len(layout.rows), len(layout.rows[0])
    if around is not None:
        x, y = around
        ax.set_xlim(x - 1.75, x + 1.75)
        ax.set_ylim(y + 1.75, y - 1.75)
        return
    ax.set_xlim(-0.52, width - 0.48)
    ax.set_ylim(height - 0.48, -0.52)
    across, down = (
        range(0, length, 1 if length <= _SMALL_GRID else 5) for length in (width, height)
    )
    ax.set_xticks(across)
    ax.set_yticks(down)
    ax.tick_params(length=0)
    ax.set_xlabel("x")
    ax.set_ylabel("y")


def _colour_bar(colours: ScalarMappable, ax: Axes, label: str) -> None:
    ax.figure.colorbar(colours, ax=ax, shrink=0.8).set_label(label)


def _cell(ax: Axes, x: int, y: int, colour: str) -> None:
    ax.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="#c3ced6", linewidth=0.6)
    )


def _arrow(
    start: tuple[float, float], end: tuple[float, float], colour: str, scale: float = 1.0
) -> FancyArrowPatch:
    return FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        mutation_scale=6.0 * scale,
        linewidth=scale,
        color=colour,
        shrinkA=0.0,
        shrinkB=0.0,
        zorder=3,
    )
