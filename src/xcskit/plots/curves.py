"""Curves: means with a band, lines, and distributions."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from xcskit.plots.style import COLOURS
from xcskit.typing import Floats

__all__ = ["plot_band", "plot_distributions", "plot_lines"]

_DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", "--", ":", "-.")


def plot_band(
    x: Floats, mean: Floats, spread: Floats, ax: Axes, *, colour: str = COLOURS[0]
) -> Axes:
    """Draw a mean with a band of one spread to either side.

    Parameters
    ----------
    x, mean, spread
        Shape (n,) each.
    ax
        Where to draw.
    colour
        Of line and band.
    """
    ax.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.25, linewidth=0)
    ax.plot(x, mean, color=colour)
    return ax


def plot_lines(x: Floats, lines: Mapping[str, Floats], ax: Axes) -> Axes:
    """Draw lines over one x, told apart by colour and dashes.

    Parameters
    ----------
    x
        Shape (n,).
    lines
        By label, shape (n,) each.
    ax
        Where to draw; its legend is the caller's.
    """
    for i, (label, y) in enumerate(lines.items()):
        ax.plot(
            x, y, label=label, color=COLOURS[i % len(COLOURS)], linestyle=_DASHES[i % len(_DASHES)]
        )
    return ax


def plot_distributions(
    samples: Mapping[str, Sequence[Floats]], ax: Axes, *, styles: Sequence[str] = ("-", ":")
) -> Axes:
    """Draw empirical distribution functions: one colour a label, one line style a sample of it.

    Parameters
    ----------
    samples
        By label, one sample for each of the styles; infinite values count, beyond the right end.
    ax
        Where to draw; its legend is the caller's.
    styles
        Matplotlib's line styles.
    """
    for i, (label, parts) in enumerate(samples.items()):
        for part, style in zip(parts, styles, strict=True):
            ordered = np.sort(part)
            share = np.arange(1, ordered.size + 1) / ordered.size
            finite = np.isfinite(ordered)
            name = label if style == styles[0] else None
            ax.step(
                ordered[finite],
                share[finite],
                where="post",
                label=name,
                color=COLOURS[i % len(COLOURS)],
                linestyle=style,
            )
    ax.set_ylim(0.0, 1.02)
    return ax
