"""Curves: means with a band, lines, and distributions."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from xcskit.errors import ConfigurationError
from xcskit.plots.style import COLOURS
from xcskit.typing import Floats

__all__ = ["plot_band", "plot_distributions", "plot_lines", "plot_path", "plot_training"]

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


def plot_training(
    histories: Sequence[pl.DataFrame], measure: str, ax: Axes, *, colour: str = COLOURS[0]
) -> Axes:
    """Draw a measure over the steps of training: the mean of the runs, and a standard deviation.

    Parameters
    ----------
    histories
        A table a run, as ``XCSF.history``. One run has a line and no band.
    measure
        The column to draw. Steps at which it is undefined in some run are left out.
    ax
        Where to draw.
    colour
        Of line and band.
    """
    strange = [history for history in histories if measure not in history.columns]
    if strange or not histories:
        known = ", ".join(strange[0].columns) if strange else "no history"
        msg = f"histories have no column {measure!r} to draw: there is {known}"
        raise ConfigurationError(msg)
    found = (
        pl.concat([history.select("step", pl.col(measure).cast(float)) for history in histories])
        .drop_nulls()
        .group_by("step")
        .agg(n=pl.len(), mean=pl.col(measure).mean(), spread=pl.col(measure).std().fill_null(0.0))
        .filter(pl.col("n") == len(histories))
        .sort("step")
    )
    if found.is_empty():
        msg = f"at no step is {measure!r} defined in all {len(histories)} histories"
        raise ConfigurationError(msg)
    x, mean, spread = (found[name].to_numpy() for name in ("step", "mean", "spread"))
    plot_band(x, mean, spread, ax, colour=colour)
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.set_xlabel("steps")
    ax.set_ylabel(_in_words(measure))
    return ax


def plot_path(table: pl.DataFrame, column: str, ax: Axes, *, colour: str = COLOURS[0]) -> Axes:
    """Draw a path of compaction: what a quantity is at every rho.

    Parameters
    ----------
    table
        As ``GnmcPath.table`` gives it.
    column
        The quantity to draw.
    ax
        Where to draw.
    colour
        Of the line.
    """
    if column not in table.columns:
        msg = f"the path has no column {column!r}: its columns are {', '.join(table.columns)}"
        raise ConfigurationError(msg)
    ax.stairs(table[column].to_numpy(), [*table["rho"], 1.0], baseline=None, color=colour)
    ax.set_xlabel("rho")
    ax.set_ylabel(_in_words(column))
    return ax


def _in_words(column: str) -> str:
    return column.removeprefix("n_").replace("_", " ")


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
