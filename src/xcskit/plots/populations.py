"""Rule sets: where their rules lie, how many match, and how general and how wrong they are."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from xcskit.compaction import model_niches
from xcskit.errors import ModelError
from xcskit.mdp import TabularMdp
from xcskit.plots.grids import ENDS, layout_of, plot_cells, plot_heatmap
from xcskit.plots.points import plot_points
from xcskit.plots.style import COLOURS
from xcskit.rules import RuleSet
from xcskit.typing import Floats

__all__ = ["plot_cover", "plot_generality", "plot_rules"]

_INSET = 0.08
_FILL = 0.5
"""How opaque the fill of the fittest rule is; its edge is fully so."""


def plot_rules(mdp: TabularMdp, rules: RuleSet, ax: Axes) -> Axes:
    """Draw each rule as a rectangle on the grid: its colour the action, its opacity the fitness.

    Parameters
    ----------
    mdp
        A model with a grid layout, whose agent sees the cell that it is in.
    rules
        The rules, with conditions that are intervals. Many at once are hard to read: choose, as
        with ``rules.filter``, or compact them first.
    ax
        Where to draw; its legend is the caller's.

    Notes
    -----
    Opacity is relative to the greatest fitness among these rules. The fittest lie on top.
    """
    corners = _corners(mdp, rules)
    plot_cells(mdp, ax, letters=ENDS)
    for action, name in enumerate(rules.action_names):
        ax.fill([], [], color=COLOURS[action % len(COLOURS)], label=name)
    opacity = rules.fitness / rules.fitness.max(initial=np.finfo(float).tiny)
    for rule in np.argsort(opacity, kind="stable").tolist():
        (left, right), (top, bottom) = corners[:, :, rule].tolist()
        colour = COLOURS[rules.actions[rule] % len(COLOURS)]
        ax.add_patch(
            Rectangle(
                (left - 0.5 + _INSET, top - 0.5 + _INSET),
                right - left + 1.0 - 2.0 * _INSET,
                bottom - top + 1.0 - 2.0 * _INSET,
                facecolor=to_rgba(colour, _FILL * opacity[rule]),
                edgecolor=to_rgba(colour, opacity[rule]),
                zorder=2,
            )
        )
    return ax


def _corners(mdp: TabularMdp, rules: RuleSet) -> Floats:
    """Give the least and the greatest x and y of each rule, shape (2, 2, n_rules)."""
    if rules.space != mdp.space or not np.array_equal(mdp.observations, layout_of(mdp).positions):
        msg = (
            f"rules over {rules.space} are no rectangles on the grid of {mdp.name!r}, whose agent "
            "would have to see the cell that it is in"
        )
        raise ModelError(msg)
    names = [[f"{name}_{end}" for end in ("lower", "upper")] for name in rules.space.names]
    if not {name for pair in names for name in pair} <= set(rules.columns):
        msg = f"conditions {rules.condition.name!r} are no intervals, so they are no rectangles"
        raise ModelError(msg)
    return np.array([[rules[name] for name in pair] for pair in names], dtype=np.float64)


def plot_cover(mdp: TabularMdp, rules: RuleSet, ax: Axes) -> Axes:
    """Draw how many rules match each state, over all actions.

    Parameters
    ----------
    mdp
        A model with a grid layout.
    rules
        The rules.
    ax
        Where to draw.
    """
    sizes = model_niches(rules, mdp).sizes.reshape(len(mdp.states), -1)
    counts = np.full(mdp.n_states, np.nan)
    counts[mdp.states] = sizes.sum(axis=1)
    limits = 0.0, max(1.0, float(np.nanmax(counts)))
    return plot_heatmap(mdp, counts, ax, label="rules that match", limits=limits, text="{:.0f}")


def plot_generality(rules: RuleSet, ax: Axes) -> Axes:
    """Draw the prediction error of each rule against its generality, told apart by action.

    Parameters
    ----------
    rules
        The rules.
    ax
        Where to draw; its legend is the caller's.
    """
    errors = cast("Floats", rules["prediction_error"])
    groups = {
        name: (rules.generality[rules.actions == action], errors[rules.actions == action])
        for action, name in enumerate(rules.action_names)
    }
    plot_points(groups, ax)
    ax.set_xlabel("generality")
    ax.set_ylabel("prediction error")
    return ax
