"""Which rules match which state-action pairs, and what they predict there."""

from typing import Any, NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.conditions.generics import n_covered
from xcskit.kernels.matching import flip, match
from xcskit.kernels.population import Rules
from xcskit.kernels.predictions.generics import predict, write_terms
from xcskit.kernels.slots import Slots
from xcskit.typing import Bools, Floats, Ints

__all__ = [
    "NicheRows",
    "count_covered",
    "count_niches",
    "fill_niches",
    "index_rules",
    "niche_value",
    "value_niches",
]


@kernel
def count_covered(condition: Any, out_covered: Ints) -> None:  # noqa: ANN401 - any storage
    """Count the values that each rule's condition admits, summed over the dimensions."""
    for rule in range(out_covered.size):
        out_covered[rule] = n_covered(condition, rule)


@kernel
def index_rules(index: Any, condition: Any, actions: Ints) -> None:  # noqa: ANN401 - any storage
    """Enter every rule into an empty index."""
    for rule in range(actions.size):
        flip(index, condition, rule, actions[rule])


@kernel
def count_niches(
    index: Any,  # noqa: ANN401 - any index
    condition: Any,  # noqa: ANN401 - any storage
    rules: Rules,
    n_rules: int,
    observations: Ints,
    matched: Slots,
    first: Ints,
    out_sizes: Ints,
) -> None:
    """Count the rules in the niche of each pair ``observation * n_actions + action``."""
    n_actions = first.size - 1
    for i in range(observations.shape[0]):
        match(index, condition, rules, n_rules, observations[i], matched, first)
        for action in range(n_actions):
            out_sizes[i * n_actions + action] = first[action + 1] - first[action]


@kernel
def fill_niches(
    index: Any,  # noqa: ANN401 - any index
    condition: Any,  # noqa: ANN401 - any storage
    prediction: Any,  # noqa: ANN401 - any storage
    rules: Rules,
    n_rules: int,
    observations: Ints,
    matched: Slots,
    first: Ints,
    z: Floats,
    out_members: Ints,
    out_predictions: Floats,
) -> None:
    """Write the rules of each niche, niche after niche, and their predictions there."""
    place = 0
    for i in range(observations.shape[0]):
        match(index, condition, rules, n_rules, observations[i], matched, first)
        write_terms(prediction, observations[i], z)
        for k in range(first[first.size - 1]):
            rule = int(matched[k])
            out_members[place] = rule
            out_predictions[place] = predict(prediction, rule, z)
            place += 1


class NicheRows(NamedTuple):
    """The rules of niche n are ``members[first[n]:first[n + 1]]``, with ``predictions`` there.

    ``fitness``: (n_rules,).
    """

    first: Ints
    members: Ints
    predictions: Floats
    fitness: Floats


@kernel
def niche_value(rows: NicheRows, kept: Bools, niche: int) -> float:
    """Give the mean prediction of a niche's rules, weighted by fitness; NaN if none is kept.

    Both sums run in rule order from 0.0, as the prediction array of the engine does.
    """
    numerator = 0.0
    denominator = 0.0
    for k in range(rows.first[niche], rows.first[niche + 1]):
        rule = rows.members[k]
        if kept[rule]:
            weight = float(rows.fitness[rule])
            numerator += weight * float(rows.predictions[k])
            denominator += weight
    return np.nan if denominator == 0.0 else numerator / denominator


@kernel
def value_niches(rows: NicheRows, kept: Bools, niches: Ints, out_values: Floats) -> None:
    """Give the values of some niches."""
    for i in range(niches.size):
        out_values[i] = niche_value(rows, kept, niches[i])
