"""Points: one quantity against another."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping

from matplotlib.axes import Axes

from xcskit.plots.style import COLOURS
from xcskit.typing import Floats

__all__ = ["plot_points"]

_MARKERS = ("o", "^", "s", "D", "v", "P")


def plot_points(
    groups: Mapping[str, tuple[Floats, Floats]], ax: Axes, *, diagonal: bool = False
) -> Axes:
    """Draw points, told apart by colour and marker.

    Parameters
    ----------
    groups
        By label: x and y, shape (n,) each.
    ax
        Where to draw; its legend is the caller's.
    diagonal
        Whether to draw the line of equal x and y.
    """
    for i, (label, (x, y)) in enumerate(groups.items()):
        ax.scatter(
            x,
            y,
            label=label,
            color=COLOURS[i % len(COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)],
            s=14,
            alpha=0.75,
            linewidths=0,
            zorder=3,
        )
    if diagonal:
        ax.axline((0.0, 0.0), slope=1.0, color="#888888", linewidth=0.8, linestyle="--")
    return ax
