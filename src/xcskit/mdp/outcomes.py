"""The table of outcomes of a model: a row for everything that can follow a state-action pair."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from xcskit.errors import ModelError
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import as_array

__all__ = ["Outcomes", "check_outcomes", "end_in_terminal_states", "frozen", "terminal_states"]

_PROBABILITY_TOLERANCE = 1e-9

T = TypeVar("T", bound=np.generic)


class Outcomes(NamedTuple):
    """What can follow each state-action pair, a row an outcome, in the environment's own order.

    The outcomes of pair ``state * n_actions + action`` are rows ``first[pair]:first[pair + 1]``.

    ``first``: (n_states * n_actions + 1,). The others: (n_outcomes,). ``is_success`` tells which
    outcomes reach the goal; each of them ends the episode.
    """

    first: Ints
    next_state: Ints
    probability: Floats
    reward: Floats
    is_terminated: Bools
    is_success: Bools

    @classmethod
    def from_rows(
        cls, pairs: Iterable[Iterable[tuple[float, int, float, bool]]], n_actions: int
    ) -> "Outcomes":
        """Build the table from (probability, next state, reward, terminated) rows, pair after pair.

        Outcomes of probability 0 are dropped. Success is to end an episode with the greatest
        reward that an end gives: in FrozenLake the goal, and no hole.
        """
        kept = [[row for row in rows if row[0] != 0.0] for rows in pairs]
        flat = [row for rows in kept for row in rows]
        table = cls(
            first=np.cumsum([0, *map(len, kept)], dtype=np.int64),
            next_state=np.array([row[1] for row in flat], dtype=np.int64),
            probability=np.array([row[0] for row in flat], dtype=np.float64),
            reward=np.array([row[2] for row in flat], dtype=np.float64),
            is_terminated=np.array([row[3] for row in flat], dtype=np.bool_),
            is_success=np.zeros(len(flat), dtype=np.bool_),
        )
        return table.with_best_end_as_success(n_actions)

    def with_best_end_as_success(self, n_actions: int) -> "Outcomes":
        """Call it success to end an episode with the greatest reward that an end gives."""
        is_terminal = terminal_states(self, n_actions)
        counts = self.is_terminated & ~is_terminal[self.states_of_rows(n_actions)]
        best = self.reward[counts].max(initial=-np.inf)
        return self._replace(is_success=counts & (self.reward == best))

    def states_of_rows(self, n_actions: int) -> Ints:
        """Tell the state that each row belongs to, shape (n_outcomes,)."""
        pairs = np.repeat(np.arange(self.first.size - 1, dtype=np.int64), np.diff(self.first))
        return pairs // n_actions


def frozen(values: object, dtype: type[T]) -> NDArray[T]:
    """Give a read-only, contiguous copy of an array."""
    array: NDArray[T] = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array


def terminal_states(outcomes: Outcomes, n_actions: int) -> Bools:
    """Tell the states in which every outcome of every action ends at once where it is."""
    stays = outcomes.is_terminated & (outcomes.next_state == outcomes.states_of_rows(n_actions))
    return frozen(np.logical_and.reduceat(stays, outcomes.first[:-1:n_actions]), np.bool_)


def end_in_terminal_states(outcomes: Outcomes, n_actions: int) -> Outcomes:
    """Let every way into a terminal state end the episode, and nothing there count."""
    is_terminal = terminal_states(outcomes, n_actions)
    idle = is_terminal[outcomes.states_of_rows(n_actions)]
    ends = outcomes.is_terminated | is_terminal[outcomes.next_state]
    return Outcomes(
        first=frozen(outcomes.first, np.int64),
        next_state=frozen(outcomes.next_state, np.int64),
        probability=frozen(outcomes.probability, np.float64),
        reward=frozen(np.where(idle, 0.0, outcomes.reward), np.float64),
        is_terminated=frozen(ends, np.bool_),
        is_success=frozen(outcomes.is_success & ends & ~idle, np.bool_),
    )


def check_outcomes(outcomes: Outcomes, n_states: int, n_actions: int) -> Outcomes:
    """Give the table with its proper types, or say which outcome is wrong."""
    table = Outcomes(
        first=_column("first", outcomes.first, np.int64),
        next_state=_column("next_state", outcomes.next_state, np.int64),
        probability=_column("probability", outcomes.probability, np.float64),
        reward=_column("reward", outcomes.reward, np.float64),
        is_terminated=_column("is_terminated", outcomes.is_terminated, np.bool_),
        is_success=_column("is_success", outcomes.is_success, np.bool_),
    )
    n_pairs = n_states * n_actions
    if table.first.size != n_pairs + 1:
        msg = (
            f"first has {table.first.size} entries; expected {n_pairs + 1}: "
            f"one for each of {n_states} x {n_actions} pairs, and the end"
        )
        raise ModelError(msg)
    n_outcomes = int(table.first[-1])
    for name, column in zip(table._fields[1:], table[1:], strict=True):
        if column.size != n_outcomes:
            msg = f"{name} has {column.size} rows; expected {n_outcomes}, as first ends with it"
            raise ModelError(msg)
    counts = np.diff(table.first)
    if table.first[0] != 0 or (counts < 1).any():
        pair = int(np.argmax(counts < 1))
        msg = (
            f"{_pair(pair, n_actions)} has no outcome; every pair needs at least one, "
            "and first has to start with 0 and grow"
        )
        raise ModelError(msg)
    _check_rows(table, n_states, n_actions)
    return table


def _check_rows(table: Outcomes, n_states: int, n_actions: int) -> None:
    p = table.probability
    checks = (
        ("next_state", (table.next_state < 0) | (table.next_state >= n_states),
         f"0 to {n_states - 1}"),
        ("probability", ~((p > 0.0) & (p <= 1.0 + _PROBABILITY_TOLERANCE)),
         "a number above 0 and at most 1; leave out what cannot happen"),
        ("reward", ~np.isfinite(table.reward), "a finite number"),
        ("is_success", table.is_success & ~table.is_terminated,
         "only outcomes that end the episode"),
    )  # fmt: skip
    columns = table._asdict()
    for name, is_wrong, expected in checks:
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            pair = int(np.searchsorted(table.first, row, side="right")) - 1
            msg = (
                f"{_pair(pair, n_actions)} has an outcome with {name} {columns[name][row]}; "
                f"expected {expected}"
            )
            raise ModelError(msg)
    sums = np.add.reduceat(p, table.first[:-1])
    is_off = np.abs(sums - 1.0) > _PROBABILITY_TOLERANCE
    if is_off.any():
        pair = int(np.argmax(is_off))
        msg = (
            f"the probabilities of {_pair(pair, n_actions)} sum to {sums[pair]:.12g}; "
            f"expected 1 (within {_PROBABILITY_TOLERANCE:g})"
        )
        raise ModelError(msg)


def _pair(pair: int, n_actions: int) -> str:
    return f"state {pair // n_actions}, action {pair % n_actions}"


def _column(name: str, values: object, dtype: type[T]) -> NDArray[T]:
    array = as_array(values)
    if array.ndim != 1 or not np.can_cast(array.dtype, dtype, casting="safe"):
        msg = (
            f"{name} is an array of shape {array.shape} and type {array.dtype}; "
            f"expected one dimension of {np.dtype(dtype)}"
        )
        raise ModelError(msg)
    return array.astype(dtype, copy=False)
