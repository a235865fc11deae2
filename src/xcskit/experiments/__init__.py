"""Many trials, run once each and never lost."""

from xcskit.experiments.board import Reporter, TrialCancelled
from xcskit.experiments.experiment import Experiment, Results
from xcskit.experiments.runner import Outcome
from xcskit.experiments.specification import Specification
from xcskit.experiments.store import Failure, Record, Store
from xcskit.experiments.trial import Trial, TrialFunction, TrialResult

__all__ = [
    "Experiment",
    "Failure",
    "Outcome",
    "Record",
    "Reporter",
    "Results",
    "Specification",
    "Store",
    "Trial",
    "TrialCancelled",
    "TrialFunction",
    "TrialResult",
]
