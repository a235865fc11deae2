"""The niches of a rule set: which rules match which state-action pairs."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from xcskit.errors import ConfigurationError, HoleError, TrainingError
from xcskit.kernels.matching import make_index
from xcskit.kernels.niches import (
    NicheRows,
    count_niches,
    fill_niches,
    index_rules,
    value_niches,
)
from xcskit.kernels.population import RULE, Rules
from xcskit.kernels.slots import list_length
from xcskit.kernels.wheel import BLOCK
from xcskit.typing import Bools, Floats, Ints

if TYPE_CHECKING:
    from xcskit.rules.ruleset import RuleSet

__all__ = ["Niches"]

_NAMED = 10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Niches:
    """The rules that match each pair of an observation and an action, as sparse rows.

    The niche of observation i and action a is row ``i * n_actions + a``: its rules are
    ``members[first[row]:first[row + 1]]``, ascending, and ``predictions`` says what each of them
    predicts there. Computed once, and shared by prediction, metrics and compaction. Read-only.

    Parameters
    ----------
    observations
        Shape (n_observations, n_dimensions).
    action_names, dimension_names
        For messages.
    n_rules
        Number of rules in the rule set.
    first
        Shape (n_observations * n_actions + 1,).
    members, predictions
        Shape (n_entries,), an entry for each rule in each niche.

    Examples
    --------
    >>> from xcskit.kernels.conditions import MinSpan
    >>> from xcskit.kernels.predictions import Constant
    >>> from xcskit.rules import RuleSet
    >>> from xcskit.spaces import IntegerSpace
    >>> one = [1.0, 1.0]
    >>> rules = RuleSet(
    ...     columns={
    ...         "action": [0, 0], "x1_lower": [0, 2], "x1_upper": [2, 3], "prediction": [0.5, 0.1],
    ...         "fitness": [0.75, 0.25], "prediction_error": one, "minimum_error": one,
    ...         "experience": [9, 9], "time_stamp": [9, 9], "action_set_size": one,
    ...         "numerosity": [1, 1],
    ...     },
    ...     space=IntegerSpace((0,), (3,)), action_names=("go",),
    ...     condition=MinSpan(), prediction=Constant(),
    ... )
    >>> niches = Niches.of(rules, [[0], [2]])
    >>> niches
    Niches(2 observations x 1 actions, 2 rules, 3 entries)
    >>> niches.first, niches.members
    (array([0, 1, 3]), array([0, 0, 1]))
    >>> niches.q_values(rules.fitness)
    array([[0.5], [0.4]])
    """

    observations: Ints
    action_names: tuple[str, ...]
    dimension_names: tuple[str, ...]
    n_rules: int
    first: Ints
    members: Ints
    predictions: Floats

    @classmethod
    def of(cls, rules: "RuleSet", observations: object) -> Self:
        """Find the niches of a rule set on one observation or many, as rows."""
        rows = rules.space.check(observations).copy()
        n_rules, n_actions = len(rules), rules.n_actions
        capacity = (n_rules + BLOCK - 1) // BLOCK * BLOCK
        records = np.zeros(capacity, RULE)
        records["action"][:n_rules] = rules.actions
        records["numerosity"][:n_rules] = rules.numerosity
        view = cast("Rules", records)
        condition = rules.condition_storage
        index = make_index(rules.space, n_actions, capacity)
        index_rules(index, condition, rules.actions)
        matched = np.zeros(list_length(capacity), dtype=np.uint32)
        found = np.zeros(n_actions + 1, dtype=np.int64)
        sizes = np.zeros(len(rows) * n_actions, dtype=np.int64)
        count_niches(index, condition, view, n_rules, rows, matched, found, sizes)
        first = np.concatenate([[0], np.cumsum(sizes)])
        members = np.zeros(first[-1], dtype=np.int64)
        predictions = np.zeros(first[-1])
        fill_niches(
            index,
            condition,
            rules.prediction_storage,
            view,
            n_rules,
            rows,
            matched,
            found,
            np.zeros(rules.prediction.n_terms(rules.space)),
            members,
            predictions,
        )
        return cls(
            observations=rows,
            action_names=rules.action_names,
            dimension_names=rules.space.names,
            n_rules=n_rules,
            first=first,
            members=members,
            predictions=predictions,
        )

    def __post_init__(self) -> None:
        """Keep read-only views of the arrays."""
        for name in ("observations", "first", "members", "predictions"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __repr__(self) -> str:
        """Sizes."""
        return (
            f"Niches({len(self.observations)} observations x {self.n_actions} actions, "
            f"{self.n_rules} rules, {self.members.size} entries)"
        )

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.action_names)

    @property
    def n_niches(self) -> int:
        """Number of pairs."""
        return self.first.size - 1

    @cached_property
    def sizes(self) -> Ints:
        """Number of rules in each niche, shape (n_niches,)."""
        return np.diff(self.first)

    @cached_property
    def niche_of(self) -> Ints:
        """The niche of each entry, shape (n_entries,)."""
        return np.repeat(np.arange(self.n_niches), self.sizes)

    @cached_property
    def by_rule(self) -> tuple[Ints, Ints]:
        """The other way round: rule r stands in the niches ``niches[first[r]:first[r + 1]]``.

        Given as (first, niches); niches ascend.
        """
        counts = np.bincount(self.members, minlength=self.n_rules)
        first = np.concatenate([[0], np.cumsum(counts)])
        return first, self.niche_of[np.argsort(self.members, kind="stable")]

    @property
    def is_hole(self) -> Bools:
        """Which pairs no rule matches, shape (n_observations, n_actions)."""
        return np.equal(self.sizes, 0).reshape(-1, self.n_actions)

    def name_pair(self, niche: int) -> str:
        """Put a pair into words."""
        row, action = divmod(int(niche), self.n_actions)
        seen = zip(self.dimension_names, self.observations[row].tolist(), strict=True)
        place = ", ".join(f"{name}={value}" for name, value in seen)
        return f"({place}) {self.action_names[action]}"

    def check_no_hole(self) -> None:
        """Raise an error that names the pairs that no rule matches, if there are any."""
        holes = np.flatnonzero(self.sizes == 0)
        if holes.size:
            named = "; ".join(self.name_pair(niche) for niche in holes[:_NAMED])
            msg = (
                f"{holes.size} of {self.n_niches} state-action pairs are matched by no rule, so "
                f"their values are undefined: {named}{'; ..' if holes.size > _NAMED else ''}"
            )
            raise HoleError(msg)

    def q_values(self, fitness: Floats) -> Floats:
        """Give Qhat of each pair: the rules' mean prediction, weighted by fitness.

        Parameters
        ----------
        fitness
            The fitness of each rule, shape (n_rules,).

        Returns
        -------
        Floats
            Shape (n_observations, n_actions); NaN exactly in the holes.
        """
        values = self.values_of(
            fitness, np.ones(self.n_rules, dtype=np.bool_), np.arange(self.n_niches)
        )
        diverged = ~np.isfinite(values) & (self.sizes > 0)
        if diverged.any():
            niche = int(np.argmax(diverged))
            msg = (
                f"the rules' prediction at {self.name_pair(niche)} is {values[niche]}: "
                "weights have diverged; lower the learning rate of the prediction"
            )
            raise TrainingError(msg)
        return values.reshape(-1, self.n_actions)

    def rows(self, fitness: Floats) -> NicheRows:
        """Give the niches as compiled code takes them: read-only, one signature a kernel."""
        if fitness.shape != (self.n_rules,):
            msg = f"fitness is a number for each of {self.n_rules} rules: got shape {fitness.shape}"
            raise ConfigurationError(msg)
        view = fitness.view()
        view.flags.writeable = False
        return NicheRows(self.first, self.members, self.predictions, view)

    def values_of(self, fitness: Floats, kept: Bools, niches: Ints) -> Floats:
        """Give Qhat of some niches from the rules kept alone; NaN where none of them matches.

        Parameters
        ----------
        fitness, kept
            The fitness of each rule, and which of them count, shape (n_rules,).
        niches
            Shape (n,).
        """
        if niches.size and not 0 <= niches.min() <= niches.max() < self.n_niches:
            msg = f"niches are 0 to {self.n_niches - 1}: got {niches.min()} to {niches.max()}"
            raise ConfigurationError(msg)
        values = np.empty(niches.size)
        value_niches(self.rows(fitness), self.check_mask("kept", kept), niches, values)
        return values

    def check_mask(self, name: str, mask: object) -> Bools:
        """Give a mask of the rules, or raise an error that says what one is."""
        checked = np.asarray(mask)
        if checked.dtype != np.bool_ or checked.shape != (self.n_rules,):
            msg = (
                f"{name} is a mask, True or False for each of {self.n_rules} rules: got "
                f"{checked.dtype} of shape {checked.shape}"
            )
            raise ConfigurationError(msg)
        return checked

    def keep(self, kept: Bools) -> Self:
        """Give the niches of the rule set ``rules[kept]``, without matching again.

        Parameters
        ----------
        kept
            A mask of the rules, shape (n_rules,).
        """
        stays = self.check_mask("kept", kept)[self.members]
        sizes = np.bincount(self.niche_of[stays], minlength=self.n_niches)
        number = np.cumsum(kept) - 1
        return type(self)(
            observations=self.observations,
            action_names=self.action_names,
            dimension_names=self.dimension_names,
            n_rules=int(np.count_nonzero(kept)),
            first=np.concatenate([[0], np.cumsum(sizes)]),
            members=number[self.members[stays]],
            predictions=self.predictions[stays],
        )
