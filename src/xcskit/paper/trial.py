"""The paper's trial, in a file of its own: this file is part of what names a stored trial."""

from xcskit.evaluation import against
from xcskit.experiments import Reporter, Trial
from xcskit.experiments.training import (
    configuration_of,
    environment_of,
    result_of,
    train_agent,
)
from xcskit.experiments.trial import Value
from xcskit.mdp import solve

__all__ = ["train_and_measure"]


def train_and_measure(trial: Trial, reporter: Reporter) -> dict[str, Value]:
    """Train one instance, measuring it against the optimum along the way.

    Parameters
    ----------
    trial
        As for ``experiments.training.train``.
    reporter
        Told of progress.

    Returns
    -------
    dict
        As of ``train``; the history has the value error and the policy accuracy too.
    """
    gamma = configuration_of(trial.configuration).discount
    solution = solve(environment_of(trial.environment), gamma)
    return result_of(train_agent(trial, reporter, against(solution)))
