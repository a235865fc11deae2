"""Experiments that train XCSF: the learner's own bits, on every executor, and its rules again."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from xcskit.errors import ConfigurationError, StoreError
from xcskit.experiments import Experiment, Reporter, Specification, Trial, TrialCancelled
from xcskit.experiments.board import Board
from xcskit.experiments.runner import ExecutorChoice
from xcskit.experiments.store import Record
from xcskit.experiments.training import (
    configuration_of,
    environment_of,
    result_of,
    rules_of,
    train,
    train_agent,
)
from xcskit.learner import XCSF, presets
from xcskit.mdp import frozen_lake

ROWS = ["SFF", "FHF", "FFG"]


def specification(**changes: object) -> Specification:
    settings: dict[str, Any] = {
        "name": "lakes",
        "environments": {
            "calm": {"lake": "4x4", "steps": 3_000},
            "own": {"lake": ROWS, "slip": 0.1, "steps": 2_000},
        },
        "configurations": {"small": {"preset": "bishop2020", "population_size": 300}},
        "seeds": [1, 2],
        "measurements": {"every": 1_000},
        **changes,
    }
    return Specification(**settings)


def direct(trial: Trial) -> XCSF:
    """What the trial says, by the learner alone."""
    config = presets.bishop2020().replace(population_size=300)
    if trial.environment_name == "calm":
        lake = frozen_lake("4x4")
        return XCSF.on(lake, config, seed=trial.seed).train(lake, 3_000, every=1_000)
    lake = frozen_lake(ROWS, slip=0.1)
    return XCSF.on(lake, config, seed=trial.seed).train(lake, 2_000, every=1_000)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_trials_hold_what_the_learner_alone_would(tmp_path: Path, executor: ExecutorChoice) -> None:
    experiment = Experiment(specification(), train, tmp_path)
    assert experiment.run(executor=executor, progress=False).is_complete
    results = experiment.results()
    for trial, record in results:
        agent = direct(trial)
        history, rules = record.result["history"], rules_of(trial, record)
        assert isinstance(history, pl.DataFrame)
        assert history.equals(agent.history)
        assert rules == agent.rules
    metrics = results.metrics()
    agents = [direct(trial) for trial, _ in results]
    assert metrics["n_rules"].to_list() == [len(agent.rules) for agent in agents]
    assert metrics["n_microclassifiers"].to_list() == [
        agent.rules.n_microclassifiers for agent in agents
    ]
    assert results.summary().filter(pl.col("metric") == "n_rules")["n"].to_list() == [2, 2]


def test_trial_functions_can_measure_more() -> None:
    (trial, *_) = specification().trials()
    agent = train_agent(trial, Reporter(), lambda learner: {"twice": 2.0 * learner.steps})
    assert agent.history["twice"].to_list() == [2_000.0, 4_000.0, 6_000.0]


def test_a_stopped_run_stops_training(tmp_path: Path) -> None:
    endless: dict[str, object] = {"calm": {"lake": "4x4", "steps": 2**53}}
    (trial, *_) = specification(environments=endless).trials()
    with Board(tmp_path, 1) as board:
        board.stop()
        with pytest.raises(TrialCancelled):
            train_agent(trial, board.reporter(0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"environments": {"a": {"lake": "4x4"}}}, "steps is a whole number"),
        ({"environments": {"a": {"lake": "4x4", "steps": 0}}}, "steps must be"),
        ({"environments": {"a": {"lake": "map.txt", "steps": 9}}}, "lake is one of 4x4, 8x8"),
        ({"environments": {"a": {"steps": 9}}}, "lake is one of 4x4, 8x8"),
        ({"environments": {"a": {"lake": "4x4", "steps": 9, "slip": 1}}}, "slip must be"),
        ({"environments": {"a": {"lake": "4x4", "steps": 9, "wind": 1}}}, "no setting wind"),
        ({"configurations": {"a": {"preset": "paper"}}}, "preset is one of bishop2020"),
        ({"configurations": {"a": {"beta": 0.1}}}, "configuration has no beta"),
        ({"measurements": {"often": 3}}, "measurements has no setting often; it has every"),
        ({"measurements": {"every": 0}}, "every must be"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, object], message: str) -> None:
    (trial, *_) = specification(**changes).trials()
    with pytest.raises(ConfigurationError, match=message):
        train(trial, Reporter())


def test_entries_mean_what_they_say() -> None:
    assert configuration_of({"preset": "bishop2020"}) == presets.bishop2020()
    changed = configuration_of({"prediction": {"type": "constant"}, "discount": 0.9})
    assert changed.prediction.name == "constant"
    assert changed.discount == 0.9
    lake = environment_of({"lake": list(ROWS), "slip": 0.1, "steps": 5})
    assert lake.fingerprint == frozen_lake(ROWS, slip=0.1).fingerprint


def test_a_record_without_rules_says_so() -> None:
    (trial, *_) = specification().trials()
    result = result_of(direct(trial))
    del result["rules"]
    with pytest.raises(StoreError, match="seed 1 has no table 'rules'; it has n_rules"):
        rules_of(trial, Record(result=result, provenance={}))
