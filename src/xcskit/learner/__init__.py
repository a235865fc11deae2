"""XCSF itself: configuration, presets, the learner, its checkpoints."""

from xcskit.kernels.conditions import CONDITIONS, MinSpan, UnorderedBounds
from xcskit.kernels.predictions import PREDICTIONS, Constant, Nlms, Rls
from xcskit.learner import presets
from xcskit.learner.config import XcsfConfig
from xcskit.learner.history import Measure, Row
from xcskit.learner.xcsf import XCSF

__all__ = [
    "CONDITIONS",
    "PREDICTIONS",
    "XCSF",
    "Constant",
    "Measure",
    "MinSpan",
    "Nlms",
    "Rls",
    "Row",
    "UnorderedBounds",
    "XcsfConfig",
    "presets",
]
