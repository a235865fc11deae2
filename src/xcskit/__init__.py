"""Learning classifier systems for reinforcement learning: readable rules, measured exactly.

The names below are imported when they are first used, so that importing the package compiles
nothing and takes a moment only.
"""

import importlib
from typing import TYPE_CHECKING

from xcskit.version import __version__

_HOME = {
    "CONDITIONS": "xcskit.learner",
    "PREDICTIONS": "xcskit.learner",
    "XCSF": "xcskit.learner",
    "Constant": "xcskit.learner",
    "IntegerSpace": "xcskit.spaces",
    "MinSpan": "xcskit.learner",
    "Niches": "xcskit.rules",
    "Nlms": "xcskit.learner",
    "Rls": "xcskit.learner",
    "RuleSet": "xcskit.rules",
    "TabularMdp": "xcskit.mdp",
    "UnorderedBounds": "xcskit.learner",
    "XcsfConfig": "xcskit.learner",
    "XcskitError": "xcskit.errors",
    "against": "xcskit.evaluation",
    "compare": "xcskit.evaluation",
    "evaluate_q": "xcskit.evaluation",
    "explore": "xcskit.explorer",
    "from_arrays": "xcskit.mdp",
    "frozen_lake": "xcskit.mdp",
    "load_environment": "xcskit.mdp",
    "maze": "xcskit.mdp",
    "presets": "xcskit.learner",
    "q_learning": "xcskit.mdp",
    "solve": "xcskit.mdp",
}

__all__ = [
    "CONDITIONS",
    "PREDICTIONS",
    "XCSF",
    "Constant",
    "IntegerSpace",
    "MinSpan",
    "Niches",
    "Nlms",
    "Rls",
    "RuleSet",
    "TabularMdp",
    "UnorderedBounds",
    "XcsfConfig",
    "XcskitError",
    "__version__",
    "against",
    "compare",
    "evaluate_q",
    "explore",
    "from_arrays",
    "frozen_lake",
    "load_environment",
    "maze",
    "presets",
    "q_learning",
    "solve",
]

if TYPE_CHECKING:
    from xcskit.errors import XcskitError
    from xcskit.evaluation import against, compare, evaluate_q
    from xcskit.explorer import explore
    from xcskit.learner import (
        CONDITIONS,
        PREDICTIONS,
        XCSF,
        Constant,
        MinSpan,
        Nlms,
        Rls,
        UnorderedBounds,
        XcsfConfig,
        presets,
    )
    from xcskit.mdp import (
        TabularMdp,
        from_arrays,
        frozen_lake,
        load_environment,
        maze,
        q_learning,
        solve,
    )
    from xcskit.rules import Niches, RuleSet
    from xcskit.spaces import IntegerSpace


def __getattr__(name: str) -> object:
    """Import a public name where it lives."""
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
