"""A rule set to look into: one page that holds everything, and needs nothing else."""

from xcskit.explorer.page import PAPER_MASSES, Explorer, explore

__all__ = ["PAPER_MASSES", "Explorer", "explore"]
