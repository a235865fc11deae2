"""Compaction in compiled code: masses in niches, and values as rules leave."""

from typing import NamedTuple

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.niches import NicheRows, niche_value
from xcskit.typing import Bools, Floats, Ints

__all__ = [
    "Optimum",
    "PathWork",
    "RuleRows",
    "best_in_niches",
    "greatest_remainders",
    "path_work",
    "trace_path",
]

_IRRELEVANT = 2.0**-60
"""1 - rho is never below 2**-53, so that lesser remainders need no exact neighbour."""


@kernel
def _greatest_remainder(before: float, total: float) -> float:
    """Give the largest double u with fl(u * total) <= before.

    At most one neighbour away from the quotient while products are normal numbers.
    """
    if before >= total:
        return 1.0
    u = before / total
    if u < _IRRELEVANT:
        return float(u)
    while u * total > before:
        u = np.nextafter(u, 0.0)
    following = np.nextafter(u, 2.0)
    while following * total <= before:
        u = following
        following = np.nextafter(u, 2.0)
    return float(u)


@kernel
def greatest_remainders(first: Ints, sorted_members: Ints, masses: Floats, out_u: Floats) -> None:
    """Give for each rule the least u*, over its niches, at or below which 1 - rho drops it.

    ``sorted_members`` holds the rules of each niche by descending mass. Masses are summed one
    after the other in that order, as Algorithm 1 sums them. A rule without a niche gets infinity.
    """
    out_u[:] = np.inf
    for niche in range(first.size - 1):
        total = 0.0
        for k in range(first[niche], first[niche + 1]):
            total += float(masses[sorted_members[k]])
        before = 0.0
        for k in range(first[niche], first[niche + 1]):
            rule = sorted_members[k]
            out_u[rule] = min(out_u[rule], _greatest_remainder(before, total))
            before += float(masses[rule])


@kernel
def best_in_niches(
    first: Ints, members: Ints, masses: Floats, niches: Ints, out_best: Ints
) -> None:
    """Give the rule of greatest mass in some niches, the first in rule order on ties."""
    for i in range(niches.size):
        niche = niches[i]
        best = members[first[niche]]
        for k in range(first[niche] + 1, first[niche + 1]):
            if masses[members[k]] > masses[best]:
                best = members[k]
        out_best[i] = best


class RuleRows(NamedTuple):
    """Rule r stands in the niches ``niches[first[r]:first[r + 1]]``."""

    first: Ints
    niches: Ints


class Optimum(NamedTuple):
    """``values``: Q* of each niche; ``is_optimal``: whether its action is optimal in its state."""

    values: Floats
    is_optimal: Bools


class PathWork(NamedTuple):
    """Work space of ``trace_path``: a tree of sums with a leaf a niche, and what is kept so far."""

    tree: Floats
    values: Floats
    kept: Bools


def path_work(n_niches: int, n_rules: int) -> PathWork:
    """Allocate the work space of a path on which no rule has left yet."""
    n_leaves = 1 << max(n_niches - 1, 1).bit_length()
    return PathWork(np.zeros(2 * n_leaves), np.zeros(n_niches), np.ones(n_rules, dtype=np.bool_))


@kernel
def _plant(tree: Floats, leaf: int, value: float) -> None:
    """Set a leaf of a tree of sums, and the sums above it; the total is ``tree[1]``.

    The total depends on the leaves alone, not on the order in which they were set.
    """
    node = tree.size // 2 + leaf
    tree[node] = value
    node //= 2
    while node >= 1:
        tree[node] = tree[2 * node] + tree[2 * node + 1]
        node //= 2


@kernel
def _is_correct(values: Floats, optimum: Optimum, begin: int, end: int) -> bool:
    """Tell whether a greatest value of ``values[begin:end]`` is that of an optimal action."""
    greatest = -np.inf
    is_correct = False
    for niche in range(begin, end):
        if values[niche] > greatest:
            greatest = values[niche]
            is_correct = False
        if values[niche] == greatest:
            is_correct = is_correct or optimum.is_optimal[niche]
    return bool(is_correct)


@kernel
def trace_path(
    rows: NicheRows,
    by_rule: RuleRows,
    optimum: Optimum,
    n_actions: int,
    leaving: Ints,
    group_first: Ints,
    work: PathWork,
    out_error: Floats,
    out_correct: Ints,
) -> None:
    """Let groups of rules leave, and give the error and the correct states after each group.

    Group g is ``leaving[group_first[g]:group_first[g + 1]]``. A rule that leaves costs only its
    niches: they alone are valued anew. ``out_error`` is the sum of |Q* - Qhat| over the niches;
    ``out_correct`` counts the states in which a greedy action is optimal.
    """
    tree, values, kept = work.tree, work.values, work.kept
    n_niches = values.size
    n_correct = 0
    for niche in range(n_niches):
        values[niche] = niche_value(rows, kept, niche)
        _plant(tree, niche, abs(float(optimum.values[niche] - values[niche])))
    for begin in range(0, n_niches, n_actions):
        n_correct += _is_correct(values, optimum, begin, begin + n_actions)
    for group in range(group_first.size - 1):
        for j in range(group_first[group], group_first[group + 1]):
            kept[leaving[j]] = False
        for j in range(group_first[group], group_first[group + 1]):
            rule = int(leaving[j])
            for k in range(by_rule.first[rule], by_rule.first[rule + 1]):
                niche = int(by_rule.niches[k])
                begin = niche // n_actions * n_actions
                n_correct -= _is_correct(values, optimum, begin, begin + n_actions)
                values[niche] = niche_value(rows, kept, niche)
                n_correct += _is_correct(values, optimum, begin, begin + n_actions)
                _plant(tree, niche, abs(float(optimum.values[niche] - values[niche])))
        out_error[group] = tree[1]
        out_correct[group] = n_correct
