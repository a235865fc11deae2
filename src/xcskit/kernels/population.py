"""The population: slots of rules, what is kept of each, and how one comes and goes."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.matching import Index, flip
from xcskit.kernels.settings import LEAST, Settings
from xcskit.kernels.slots import Slots
from xcskit.kernels.wheel import MASS, PENALISED, PLAIN, WORTH, Wheel, mark_stale
from xcskit.typing import Floats, Ints

__all__ = [
    "RULE",
    "TALLY",
    "Population",
    "Sets",
    "add_rule",
    "remove_rule",
    "restore_population",
    "take_slot",
    "weigh",
]

RULE = np.dtype(
    [
        ("fitness", np.float64),
        ("prediction_error", np.float64),
        ("minimum_error", np.float64),
        ("action_set_size", np.float64),
        ("numerosity", np.int64),
        ("experience", np.int64),
        ("time_stamp", np.int64),
        ("action", np.int64),
    ],
    align=True,
)
"""What every rule has: one cache line."""

EVENTS = (
    "covered",
    "deleted",
    "removed",
    "subsumed_by_parent",
    "not_subsumed",
    "merged_with_identical",
    "inserted_new",
    "reused_slot",
    "removed_from_pending",
    "absorbed",
    "updates",
    "ga_runs",
)

TALLY = np.dtype(
    [(name, np.int64) for name in ("time", "n_freed", "n_used", "n_macros", "n_micros", *EVENTS)],
    align=True,
)
"""Counters of a population: its clock, its sizes, and what has happened to it."""


class Rule(Protocol):
    """A row of ``RULE``."""

    fitness: float
    prediction_error: float
    minimum_error: float
    action_set_size: float
    numerosity: int
    experience: int
    time_stamp: int
    action: int


class Rules(Protocol):
    """An array of ``RULE``."""

    def __getitem__(self, slot: int) -> Rule:
        """Give the rule in a slot, to read and to write."""
        ...


class Tally(Protocol):
    """The row of ``TALLY``."""

    time: int
    n_freed: int
    n_used: int
    n_macros: int
    n_micros: int
    covered: int
    deleted: int
    removed: int
    subsumed_by_parent: int
    not_subsumed: int
    merged_with_identical: int
    inserted_new: int
    reused_slot: int
    removed_from_pending: int
    absorbed: int
    updates: int
    ga_runs: int


class Tallies(Protocol):
    """An array of ``TALLY``, of length 1."""

    def __getitem__(self, row: int) -> Tally:
        """Give the counters, to read and to write."""
        ...


class Population(NamedTuple):
    """Slots of rules, and what is derived from them.

    ``rules``: (capacity + 1,) of ``RULE``; numerosity 0 marks a free slot. The last one is spare:
    it fills a set up to a multiple of eight. ``fitness``: (capacity,), once more and side by side,
    as the prediction array reads it of all rules that match. ``condition`` has two rows more than
    slots, the cradle of the GA's children. ``freed``: (capacity,), a stack.
    """

    rules: Rules
    fitness: Floats
    condition: Any
    prediction: Any
    matcher: Index
    wheel: Wheel
    freed: Ints
    tally: Tallies


class Sets(NamedTuple):
    """The sets that a step forms, for each of several environments.

    ``matched``: [M], grouped by action; action a's part is ``first[a]:first[a + 1]``.
    ``members``: (n_environments, 2, list length), the current and the pending action set, of
    ``sizes``: (n_environments, 2), formed at ``observations``: (n_environments, 2, n_dimensions).
    ``z`` and ``panel`` are work space.
    """

    matched: Slots
    first: Ints
    values: Floats
    members: Slots
    sizes: Ints
    observations: Ints
    z: Floats
    panel: Floats


@kernel
def weigh(population: Population, settings: Settings, slot: int) -> None:
    """Bring what is derived of a rule up to date with its numbers: its ballot above all."""
    rule = population.rules[slot]
    population.fitness[slot] = rule.fitness
    worth = max(rule.fitness / rule.numerosity, LEAST)
    plain = rule.action_set_size * rule.numerosity
    ballot = population.wheel.ballot
    ballot[PLAIN, slot] = plain
    ballot[PENALISED, slot] = plain / worth
    ballot[WORTH, slot] = worth if rule.experience > settings.theta_del else np.inf
    by_numerosity = settings.deletion_mean == 0
    ballot[MASS, slot] = rule.fitness * rule.numerosity if by_numerosity else rule.fitness
    mark_stale(population.wheel, slot)


@kernel
def take_slot(population: Population) -> int:
    """Give the slot that was freed last, or else the lowest that was never used."""
    tally = population.tally[0]
    if tally.n_freed > 0:
        tally.n_freed -= 1
        tally.reused_slot += 1
        return int(population.freed[tally.n_freed])
    tally.n_used += 1
    return tally.n_used - 1


@kernel
def add_rule(population: Population, settings: Settings, slot: int) -> None:
    """Make the rule in a slot, whose numbers are set, a part of the population."""
    flip(population.matcher, population.condition, slot, population.rules[slot].action)
    weigh(population, settings, slot)
    tally = population.tally[0]
    tally.n_macros += 1
    tally.n_micros += population.rules[slot].numerosity


@kernel
def _leave_sets(sets: Sets, slot: int) -> bool:
    """Take a rule out of every set that waits for an update."""
    was_member = False
    for environment in range(sets.sizes.shape[0]):
        for which in range(2):
            members = sets.members[environment, which]
            size = sets.sizes[environment, which]
            n_kept = 0
            for i in range(size):
                if members[i] != slot:
                    members[n_kept] = members[i]
                    n_kept += 1
            was_member = was_member or n_kept < size
            sets.sizes[environment, which] = n_kept
    return was_member


@kernel
def remove_rule(population: Population, sets: Sets, slot: int) -> None:
    """Free a slot: the rule leaves the population, its index and every set."""
    tally = population.tally[0]
    flip(population.matcher, population.condition, slot, population.rules[slot].action)
    population.rules[slot].numerosity = 0
    ballot = population.wheel.ballot
    ballot[PLAIN, slot] = 0.0
    ballot[PENALISED, slot] = 0.0
    ballot[WORTH, slot] = np.inf
    ballot[MASS, slot] = 0.0
    mark_stale(population.wheel, slot)
    population.freed[tally.n_freed] = slot
    tally.n_freed += 1
    tally.n_macros -= 1
    if _leave_sets(sets, slot):
        tally.removed_from_pending += 1


@kernel
def restore_population(population: Population, settings: Settings) -> None:
    """Derive index and ballots from the rules in their slots, after these were read from a file."""
    for slot in range(population.tally[0].n_used):
        if population.rules[slot].numerosity > 0:
            flip(population.matcher, population.condition, slot, population.rules[slot].action)
            weigh(population, settings, slot)
