"""The trial of most experiments: train XCSF on a model, keep its history and its rules."""

from collections.abc import Callable

import polars as pl

from xcskit.errors import ConfigurationError, StoreError
from xcskit.experiments.board import Reporter
from xcskit.experiments.plain import Entry, is_list
from xcskit.experiments.store import Record
from xcskit.experiments.trial import Trial, Value
from xcskit.learner import XCSF, Measure, XcsfConfig, presets
from xcskit.mdp import TabularMdp, frozen_lake
from xcskit.rules import RuleSet
from xcskit.validation import check_choice, check_integer, check_real

__all__ = [
    "configuration_of",
    "environment_of",
    "result_of",
    "rules_of",
    "train",
    "train_agent",
]

_PRESETS: dict[str, Callable[[], XcsfConfig]] = {"bishop2020": presets.bishop2020}
_LAKES = ("4x4", "8x8")
_MOST_STEPS = 2**53


def train(trial: Trial, reporter: Reporter) -> dict[str, Value]:
    """Train XCSF as a trial says; the trial function of experiments that measure only the rules.

    Parameters
    ----------
    trial
        ``environment``: ``lake`` (a name of Gymnasium's, or rows of text), ``slip`` and ``steps``,
        how long to train there. ``configuration``: ``preset``, and whatever differs from it, as
        ``XcsfConfig`` calls it. ``measurements``: ``every``, the steps between two rows of the
        history.
    reporter
        Told of every tenth of a second.

    Returns
    -------
    dict
        ``n_rules`` and ``n_microclassifiers`` at the end, the tables ``history`` and ``rules``.

    Examples
    --------
    >>> from xcskit.experiments import Specification
    >>> specification = Specification(
    ...     name="small",
    ...     environments={"calm": {"lake": "4x4", "slip": 0.0, "steps": 2_000}},
    ...     configurations={"paper": {"preset": "bishop2020", "population_size": 500}},
    ...     seeds=[1],
    ...     measurements={"every": 1_000},
    ... )
    >>> result = train(specification.trials()[0], Reporter())
    >>> result["history"]["step"].to_list()
    [1000, 2000]
    """
    return result_of(train_agent(trial, reporter))


def train_agent(trial: Trial, reporter: Reporter, evaluate: Measure | None = None) -> XCSF:
    """Train XCSF as a trial says, for trial functions that measure more.

    Parameters
    ----------
    trial, reporter
        As for ``train``.
    evaluate
        Makes the rows of the history.
    """
    _refuse_unknown("measurements", trial.measurements, {"every"})
    steps = check_integer("steps", trial.environment.get("steps"), 1, _MOST_STEPS)
    every = check_integer("every", trial.measurements.get("every", 5000), 1, _MOST_STEPS)
    mdp = environment_of(trial.environment)
    agent = XCSF.on(mdp, configuration_of(trial.configuration), seed=trial.seed)
    return agent.train(mdp, steps, evaluate=evaluate, every=every, progress=reporter.report)


def result_of(agent: XCSF) -> dict[str, Value]:
    """Give a trained learner as a trial's result, from which ``rules_of`` makes its rules."""
    rules = agent.rules
    return {
        "n_rules": len(rules),
        "n_microclassifiers": rules.n_microclassifiers,
        "history": agent.history,
        "rules": rules.to_polars(),
    }


def rules_of(trial: Trial, record: Record) -> RuleSet:
    """Give the rule set that a trial ended with."""
    table = record.result.get("rules")
    if not isinstance(table, pl.DataFrame):
        msg = f"trial {trial} has no table 'rules'; it has {', '.join(record.result)}"
        raise StoreError(msg)
    mdp, config = environment_of(trial.environment), configuration_of(trial.configuration)
    return RuleSet(
        columns={column.name: column.to_numpy() for column in table.drop("generality")},
        space=mdp.space,
        action_names=mdp.action_names,
        condition=config.condition,
        prediction=config.prediction,
        metadata={
            "configuration": config.to_dict(),
            "seed": trial.seed,
            "steps": trial.environment["steps"],
        },
    )


def environment_of(entry: Entry) -> TabularMdp:
    """Give the model that an environment's entry names."""
    _refuse_unknown("environment", entry, {"lake", "slip", "steps"})
    slip = check_real("slip", entry.get("slip", 0.0), 0.0, 1.0, open_high=True)
    lake = entry.get("lake")
    if is_list(lake):
        return frozen_lake([str(row) for row in lake], slip=slip)
    # Rows, not the path of a file: what a file holds would not be part of the trial.
    return frozen_lake(check_choice("lake", lake, _LAKES), slip=slip)


def configuration_of(entry: Entry) -> XcsfConfig:
    """Give the configuration that an entry names: a preset, or the defaults, and its changes."""
    changes = dict(entry)
    base = XcsfConfig()
    if "preset" in changes:
        base = _PRESETS[check_choice("preset", changes.pop("preset"), _PRESETS)]()
    return XcsfConfig.from_dict({**base.to_dict(), **changes})


def _refuse_unknown(where: str, entry: Entry, known: set[str]) -> None:
    unknown = sorted(set(entry) - known)
    if unknown:
        msg = f"{where} has no setting {', '.join(unknown)}; it has {', '.join(sorted(known))}"
        raise ConfigurationError(msg)
