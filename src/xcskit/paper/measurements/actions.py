"""Measurements of which actions the policies choose."""

from typing import Any

import numpy as np

from xcskit.paper.measurements.base import Statistic, Tables, measurement, ratio
from xcskit.paper.published import published_actions
from xcskit.typing import Bools


@measurement
def share_of_often_optimal_states(tables: Tables, *, variant: str, often: float) -> Statistic:
    """Give the share of the states in which at least so many of the instances act optimally."""
    correct = _correct(tables, variant)
    return lambda rows: (correct[rows].mean(axis=-2) >= often).mean(axis=-1)


@measurement
def worst_states_gap(tables: Tables, *, variant: str) -> Statistic:
    """Give by how much the paper's four worst states are worse than all others.

    The lowest frequency of an optimal action in any other state less the highest in these four. The
    two states are those of all instances: chosen anew in each resample, they would exaggerate.
    """
    correct, named = _correct(tables, variant), _named_states(tables, variant)
    frequency = correct.mean(axis=0)
    best_named = int(np.argmax(np.where(named, frequency, -np.inf)))
    worst_other = int(np.argmin(np.where(named, np.inf, frequency)))
    difference = correct[:, worst_other].astype(np.float64) - correct[:, best_named]
    return lambda rows: difference[rows].mean(axis=-1)


@measurement
def wrong_right(tables: Tables, *, variant: str) -> Statistic:
    """Give the share of Right among the wrong actions in the paper's four worst states."""
    wrong = ~_correct(tables, variant) & _named_states(tables, variant)
    return _mean_of_wrong(wrong, _by_state(tables, variant, "action") == "right")


@measurement
def wrong_cost(tables: Tables, *, variant: str) -> Statistic:
    """Give the mean of V* - Q* of the wrong actions in the paper's four worst states."""
    wrong = ~_correct(tables, variant) & _named_states(tables, variant)
    return _mean_of_wrong(wrong, _by_state(tables, variant, "cost"))


@measurement
def share_of_wrong(tables: Tables, *, variant: str, column: str) -> Statistic:
    """Give the share of all wrong actions of which a column is true."""
    return _mean_of_wrong(~_correct(tables, variant), _by_state(tables, variant, column))


@measurement
def named_states_share(tables: Tables, *, variant: str) -> Statistic:
    """Give the share of all wrong actions that are in the paper's four worst states."""
    named = np.broadcast_to(_named_states(tables, variant), _correct(tables, variant).shape)
    return _mean_of_wrong(~_correct(tables, variant), named)


def _mean_of_wrong(wrong: Bools, values: Any) -> Statistic:  # noqa: ANN401 - numbers or booleans
    """Average values over the wrong actions, instances pooled; undefined where none is wrong."""
    counts = wrong.sum(axis=1)
    sums = np.where(wrong, values, 0.0).sum(axis=1)
    return lambda rows: ratio(sums[rows].sum(axis=-1), counts[rows].sum(axis=-1))


def _by_state(tables: Tables, variant: str, column: str) -> Any:  # noqa: ANN401 - any column
    chosen = tables["actions"].filter(variant=variant).sort("seed", "state")
    return chosen[column].to_numpy().reshape(chosen["seed"].n_unique(), -1)


def _correct(tables: Tables, variant: str) -> Bools:
    correct: Bools = _by_state(tables, variant, "is_correct")
    return correct


def _named_states(tables: Tables, variant: str) -> Bools:
    first = tables["actions"].filter(variant=variant).sort("seed", "state")
    states = first.unique("state", maintain_order=True).select("x", "y").rows()
    named = set(published_actions().select("x", "y").rows())
    return np.array([state in named for state in states])
