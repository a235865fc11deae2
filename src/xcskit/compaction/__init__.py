"""Smaller rule sets that keep what the large one knew. One file a method, one row in the table."""

from xcskit.compaction.bounds import (
    coverage,
    no_farther_than,
    same_policy,
    within,
    within_optimum,
)
from xcskit.compaction.cra2 import Cra2
from xcskit.compaction.fu import Fu
from xcskit.compaction.gnmc import Gnmc
from xcskit.compaction.losses import LOSSES
from xcskit.compaction.masses import MASSES
from xcskit.compaction.minimal import Minimal, MinimalRules, minimal_rules
from xcskit.compaction.path import GnmcPath, gnmc_path
from xcskit.compaction.pdrc import Pdrc
from xcskit.compaction.qrc import Qrc
from xcskit.compaction.report import CompactionReport
from xcskit.compaction.task import Method, compact, model_niches
from xcskit.compaction.threshold import Threshold

__all__ = [
    "LOSSES",
    "MASSES",
    "METHODS",
    "CompactionReport",
    "Cra2",
    "Fu",
    "Gnmc",
    "GnmcPath",
    "Method",
    "Minimal",
    "MinimalRules",
    "Pdrc",
    "Qrc",
    "Threshold",
    "compact",
    "coverage",
    "gnmc_path",
    "minimal_rules",
    "model_niches",
    "no_farther_than",
    "same_policy",
    "within",
    "within_optimum",
]

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Gnmc, Pdrc, Cra2, Qrc, Fu, Threshold, Minimal)
}
"""The methods that can be named."""
