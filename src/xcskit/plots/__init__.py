"""Figures: functions that draw on axes what they are given, and nothing they compute."""

from xcskit.plots.curves import plot_band, plot_distributions, plot_lines
from xcskit.plots.grids import plot_arrows, plot_cells, plot_heatmap, plot_slips
from xcskit.plots.points import plot_points
from xcskit.plots.style import COLOURS, COLUMN_WIDTH, house_style, new_figure, save_figure

__all__ = [
    "COLOURS",
    "COLUMN_WIDTH",
    "house_style",
    "new_figure",
    "plot_arrows",
    "plot_band",
    "plot_cells",
    "plot_distributions",
    "plot_heatmap",
    "plot_lines",
    "plot_points",
    "plot_slips",
    "save_figure",
]
