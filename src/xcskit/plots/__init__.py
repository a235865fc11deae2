"""Figures: functions that draw what they are given on axes, and give the axes back."""

from xcskit.plots.curves import (
    plot_band,
    plot_distributions,
    plot_lines,
    plot_path,
    plot_training,
)
from xcskit.plots.grids import (
    plot_action_values,
    plot_arrows,
    plot_cells,
    plot_frequency,
    plot_heatmap,
    plot_slips,
)
from xcskit.plots.points import plot_points
from xcskit.plots.populations import plot_cover, plot_generality, plot_rules
from xcskit.plots.style import COLOURS, COLUMN_WIDTH, house_style, new_figure, save_figure

__all__ = [
    "COLOURS",
    "COLUMN_WIDTH",
    "house_style",
    "new_figure",
    "plot_action_values",
    "plot_arrows",
    "plot_band",
    "plot_cells",
    "plot_cover",
    "plot_distributions",
    "plot_frequency",
    "plot_generality",
    "plot_heatmap",
    "plot_lines",
    "plot_path",
    "plot_points",
    "plot_rules",
    "plot_slips",
    "plot_training",
    "save_figure",
]
