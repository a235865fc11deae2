"""Bishop and Gallagher (2020), run again, measured, and every claim judged."""

from xcskit.paper.run import PaperRun, run_paper
from xcskit.paper.specification import paper_specification

__all__ = ["PaperRun", "paper_specification", "run_paper"]
