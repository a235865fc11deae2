"""How figures look, and how they become files."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from xcskit.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

__all__ = ["COLOURS", "COLUMN_WIDTH", "INK", "house_style", "new_figure", "save_figure"]

COLUMN_WIDTH = 4.8
"""The width of a text column in inches: that of Springer's proceedings, 122 mm."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, told apart with any colour vision; in order of use."""

INK = "#333333"

_STYLE: "dict[RcKeyType, Any]" = {
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "xcskit",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}
_DOTS_PER_INCH = 200


@contextmanager
def house_style() -> Generator[None]:
    """Give the context in which figures are made, drawn on and saved.

    Only what it sets is set back: in a notebook, Matplotlib's first figure changes other settings
    for good, and without these no later figure would be shown.
    """
    before: dict[RcKeyType, Any] = {key: rcParams[key] for key in _STYLE}
    rcParams.update(_STYLE)
    try:
        yield
    finally:
        rcParams.update(before)


def new_figure(
    n_rows: int = 1,
    n_columns: int = 1,
    *,
    height: float,
    width: float = COLUMN_WIDTH,
    share_x: bool | str = False,
    share_y: bool | str = False,
    width_ratios: Sequence[float] | None = None,
) -> tuple[Figure, NDArray[np.object_]]:
    """Make a figure of one column's width, and its axes.

    Parameters
    ----------
    n_rows, n_columns
        How many axes.
    height, width
        In inches.
    share_x, share_y, width_ratios
        As for Matplotlib's ``subplots``.

    Returns
    -------
    tuple
        The figure, and an array of axes of shape (n_rows, n_columns).

    Examples
    --------
    >>> with house_style():
    ...     figure, axes = new_figure(1, 2, height=2.0)
    >>> axes.shape
    (1, 2)
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(
        n_rows,
        n_columns,
        squeeze=False,
        sharex=cast("Any", share_x),
        sharey=cast("Any", share_y),
        width_ratios=width_ratios,
    )
    return figure, cast("NDArray[np.object_]", axes)


def save_figure(figure: Figure, stem: str | Path) -> tuple[Path, Path]:
    """Write a figure as PNG and SVG, and give both paths.

    Equal figures give equal files: nothing in them tells the time.

    Parameters
    ----------
    figure
        The figure.
    stem
        The path without a suffix; its folder must exist.
    """
    paths: list[Path] = []
    layout = figure.get_layout_engine()
    for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
        buffer = io.BytesIO()
        figure.savefig(
            buffer, format=suffix[1:], dpi=_DOTS_PER_INCH, metadata=cast("Any", metadata)
        )
        path = Path(stem).with_name(Path(stem).name + suffix)
        write_atomically(path, buffer.getvalue())
        paths.append(path)
        # Laid out once, which takes as long as drawing; so both files show the very same places.
        figure.set_layout_engine("none")
    figure.set_layout_engine(layout)
    return paths[0], paths[1]


def quiet(ax: Axes) -> Axes:
    """Take ticks, frame and grid away: what is drawn explains itself."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax
