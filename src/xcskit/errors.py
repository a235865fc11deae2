"""The errors that xcskit raises; each message says what to do."""

__all__ = [
    "CompactionError",
    "ConfigurationError",
    "ExperimentError",
    "FileFormatError",
    "HoleError",
    "ModelError",
    "SolverError",
    "SpaceError",
    "StoreError",
    "TrainingError",
    "XcskitError",
]


class XcskitError(Exception):
    """The root of every error that xcskit raises on purpose."""


class ConfigurationError(XcskitError, ValueError):
    """A setting is out of range, of a wrong type, or unknown."""


class SpaceError(XcskitError, ValueError):
    """An observation or an action does not belong to its space."""


class ModelError(XcskitError, ValueError):
    """A model of an environment is malformed, unreadable or unsolvable."""


class SolverError(XcskitError, ValueError):
    """A solver was asked for what does not exist, or could not keep its guarantee."""


class HoleError(XcskitError, ValueError):
    """A state-action pair is matched by no rule, so that its value is undefined."""


class FileFormatError(XcskitError, ValueError):
    """A file is not what its reader expects: foreign, damaged or too new."""


class TrainingError(XcskitError, RuntimeError):
    """Training cannot go on: weights diverged, or calls came out of order."""


class CompactionError(XcskitError, ValueError):
    """A rule set cannot be compacted as asked."""


class ExperimentError(XcskitError, RuntimeError):
    """An experiment cannot go on: what runs its trials broke."""


class StoreError(XcskitError, RuntimeError):
    """A result store cannot be read or written safely."""
