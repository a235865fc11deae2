"""The model of a tabular environment: every outcome of every state-action pair, in one table."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy

from xcskit.errors import ModelError, SpaceError
from xcskit.kernels.model import Model
from xcskit.kernels.outcomes import cumulate_within_pairs, mark_visited
from xcskit.mdp.outcomes import (
    Outcomes,
    check_outcomes,
    end_in_terminal_states,
    frozen,
    terminal_states,
)
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import (
    as_array,
    check_choice,
    check_instance,
    check_integer,
    distinct_words,
    shown,
)

__all__ = ["GridLayout", "Starts", "TabularMdp", "check_action_names", "check_mdp"]

Starts: TypeAlias = Literal["training", "test"]

_PROBABILITY_TOLERANCE = 1e-9


class GridLayout(NamedTuple):
    """Where the states of a model lie on a grid, for figures and printed policies.

    ``rows``: the characters of the map. ``positions``: (n_states, 2), the (x, y) of each state,
    from (0, 0) at the top left. ``moves``: the (dx, dy) of each action.
    """

    rows: tuple[str, ...]
    positions: Ints
    moves: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class TabularMdp:
    """A Markov decision process whose states, actions and outcomes are listed.

    Parameters
    ----------
    name
        What to call it in tables and messages.
    space
        The space of the observations.
    observations
        What an agent sees in each state: shape (n_states, n_dimensions).
    action_names
        A name for each action, in the order of the actions.
    outcomes
        What can follow each pair.
    training_start, test_start
        The probability of starting in each state, shape (n_states,).
    layout
        Where the states lie on a grid, if they do.

    Notes
    -----
    A state is *terminal* when every outcome of every action there ends the episode at once where
    it is, as in the holes of Gymnasium's FrozenLake. Nobody acts in such a state: an outcome that
    leads to it ends the episode, flagged so or not, and its own rewards do not count.

    Arrays are copied and read-only. Two models with equal content have equal fingerprints.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake
    >>> lake = frozen_lake("8x8", slip=0.1)
    >>> lake.n_states, lake.n_actions, len(lake.states)
    (64, 4, 53)
    >>> lake.outcomes_of(0, 2)
    [(0.05, 8, 0.0, False), (0.9, 1, 0.0, False), (0.05, 0, 0.0, False)]
    """

    name: str
    space: IntegerSpace
    observations: Ints
    action_names: tuple[str, ...]
    outcomes: Outcomes
    training_start: Floats
    test_start: Floats
    layout: GridLayout | None = None

    def __post_init__(self) -> None:
        """Validate, copy and freeze."""
        put = object.__setattr__
        check_instance("name", self.name, str)
        check_instance("space", self.space, IntegerSpace)
        check_instance("outcomes", self.outcomes, Outcomes, "Outcomes.from_rows makes one")
        put(self, "action_names", check_action_names(self.action_names))
        try:
            put(self, "observations", frozen(self.space.check(self.observations), np.int64))
        except SpaceError as reason:
            msg = f"the observations of {self.name!r} do not fit its space: {reason}"
            raise ModelError(msg) from None
        try:
            outcomes = check_outcomes(self.outcomes, self.n_states, self.n_actions)
        except ModelError as reason:
            msg = f"the outcomes of {self.name!r} are malformed: {reason}"
            raise ModelError(msg) from None
        put(self, "outcomes", end_in_terminal_states(outcomes, self.n_actions))
        for field, values in (
            ("training_start", self.training_start),
            ("test_start", self.test_start),
        ):
            put(self, field, self._check_start(field, values))
        if self.layout is not None:
            put(self, "layout", _check_layout(self.layout, self.n_states, self.n_actions))

    def _check_start(self, field: str, values: Floats) -> Floats:
        given = as_array(values)
        if given.shape != (self.n_states,) or given.dtype.kind not in "biuf":
            msg = (
                f"{field} of {self.name!r} has shape {given.shape} and {given.dtype} values; "
                f"expected ({self.n_states},), a probability a state"
            )
            raise ModelError(msg)
        start = given.astype(np.float64)
        if not (start >= 0.0).all() or abs(start.sum() - 1.0) > _PROBABILITY_TOLERANCE:
            msg = (
                f"{field} of {self.name!r} is no distribution: "
                f"least entry {start.min()}, sum {start.sum()}; expected at least 0, and 1"
            )
            raise ModelError(msg)
        if start[self.is_terminal].any():
            state = int(np.argmax(self.is_terminal & (start > 0.0)))
            msg = (
                f"{field} of {self.name!r} starts in state {state} with probability "
                f"{start[state]:g}, which is terminal; start where an agent can act"
            )
            raise ModelError(msg)
        return frozen(start, np.float64)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what makes the model, not what was computed from it, so that copies are frozen."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return partial(type(self), **values), ()

    def __repr__(self) -> str:
        """Name and size."""
        return (
            f"TabularMdp({self.name!r}, {self.n_states} states, {self.n_actions} actions, "
            f"{self.outcomes.next_state.size} outcomes)"
        )

    @property
    def n_states(self) -> int:
        """Number of states, terminal ones included."""
        return len(self.observations)

    @property
    def n_actions(self) -> int:
        """Number of actions, the same in every state."""
        return len(self.action_names)

    @cached_property
    def is_terminal(self) -> Bools:
        """Which states are terminal, shape (n_states,)."""
        return terminal_states(self.outcomes, self.n_actions)

    @cached_property
    def states(self) -> Ints:
        """S: the non-terminal states that a training episode can visit, ascending.

        The state in which an episode ends counts, unless it is terminal: the goal of Gymnasium's
        CliffWalking and the four delivered states of its Taxi have ordinary moves out of them, so
        that S is 38 of 48 and 404 of 500 there, and 53 of 64 on the 8x8 lake.
        """
        visited, _ = self._visits
        return frozen(np.flatnonzero(visited & ~self.is_terminal), np.int64)

    @cached_property
    def decision_states(self) -> Ints:
        """The states in which a training episode can ask for an action, ascending.

        A subset of ``states``: 37 of CliffWalking's 38 and 400 of Taxi's 404.
        """
        _, acting = self._visits
        return frozen(np.flatnonzero(acting), np.int64)

    @cached_property
    def _visits(self) -> tuple[Bools, Bools]:
        is_visited = np.zeros(self.n_states, dtype=np.bool_)
        is_acting = np.zeros(self.n_states, dtype=np.bool_)
        table = self.outcomes
        mark_visited(
            table.first,
            table.next_state,
            table.is_terminated,
            self.n_actions,
            np.flatnonzero(self.training_start),
            is_visited,
            is_acting,
            np.empty(self.n_states, dtype=np.int64),
        )
        return is_visited, is_acting

    @cached_property
    def expected_reward(self) -> Floats:
        """The mean reward of each pair, shape (n_states, n_actions)."""
        table = self.outcomes
        sums = np.add.reduceat(table.probability * table.reward, table.first[:-1])
        return frozen(sums.reshape(self.n_states, self.n_actions), np.float64)

    @cached_property
    def continuation(self) -> "scipy.sparse.csr_array[np.float64]":
        """The probability that the episode goes on, and where: (n_states * n_actions, n_states)."""
        table = self.outcomes
        goes_on = ~table.is_terminated
        before = np.concatenate([[0], np.cumsum(goes_on)])
        index_type = np.int32 if table.next_state.size < 2**31 else np.int64
        return scipy.sparse.csr_array(
            (
                table.probability[goes_on],
                table.next_state[goes_on].astype(index_type),
                before[table.first].astype(index_type),
            ),
            shape=(self.n_states * self.n_actions, self.n_states),
            dtype=np.float64,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content: equal for equal models, on any machine. Names do not count."""
        digest = hashlib.sha256(b"xcskit model 1")
        digest.update(repr((self.space, self.action_names)).encode())
        for array in (self.observations, *self.outcomes, self.training_start, self.test_start):
            digest.update(repr(array.shape).encode())
            digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
        return digest.hexdigest()

    @cached_property
    def _cumulative(self) -> Floats:
        cumulative = np.empty_like(self.outcomes.probability)
        cumulate_within_pairs(self.outcomes.first, self.outcomes.probability, cumulative)
        return frozen(cumulative, np.float64)

    def kernel_model(self, starts: Starts = "training") -> Model:
        """Give the model as compiled code takes it.

        Parameters
        ----------
        starts
            Which start distribution episodes begin with.
        """
        check_choice("starts", starts, get_args(Starts))
        start = self.training_start if starts == "training" else self.test_start
        states = np.flatnonzero(start)
        return Model(
            first=self.outcomes.first,
            next_state=self.outcomes.next_state,
            cumulative=self._cumulative,
            reward=self.outcomes.reward,
            is_terminated=self.outcomes.is_terminated,
            observation=self.observations,
            start=frozen(states, np.int64),
            start_cumulative=frozen(_cumulative_start(start[states]), np.float64),
        )

    def outcomes_of(self, state: int, action: int) -> list[tuple[float, int, float, bool]]:
        """List the outcomes of a pair as (probability, next state, reward, terminated)."""
        check_integer("state", state, 0, self.n_states - 1)
        check_integer("action", action, 0, self.n_actions - 1)
        pair = state * self.n_actions + action
        rows = slice(self.outcomes.first[pair], self.outcomes.first[pair + 1])
        _, successors, probabilities, rewards, flags, _ = self.outcomes
        return list(
            zip(
                probabilities[rows].tolist(),
                successors[rows].tolist(),
                rewards[rows].tolist(),
                flags[rows].tolist(),
                strict=True,
            )
        )

    def select_states(self, states: Sequence[int] | Ints | None = None) -> Ints:
        """Check a list of states; none given means S."""
        if states is None:
            return self.states
        chosen = as_array(states)
        if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
            msg = f"states are a list of at least one state index, got {shown(states)}"
            raise ModelError(msg)
        if chosen.min() < 0 or chosen.max() >= self.n_states:
            msg = f"states of {self.name!r} are 0 to {self.n_states - 1}, got {shown(states)}"
            raise ModelError(msg)
        if self.is_terminal[chosen].any():
            wrong = int(chosen[self.is_terminal[chosen]][0])
            msg = f"state {wrong} of {self.name!r} is terminal: nobody acts there; leave it out"
            raise ModelError(msg)
        return chosen.astype(np.int64)

    def describe_state(self, state: int) -> str:
        """Name a state by what an agent sees there."""
        check_integer("state", state, 0, self.n_states - 1)
        seen = zip(self.space.names, self.observations[state].tolist(), strict=True)
        return "(" + ", ".join(f"{name}={value}" for name, value in seen) + ")"


def _cumulative_start(probability: Floats) -> Floats:
    n = probability.size
    if (probability == probability[0]).all():
        return np.arange(1, n + 1) / n
    return np.cumsum(probability)


def check_mdp(mdp: object) -> TabularMdp:
    """Give a model, or raise an error that says how to make one."""
    return check_instance("mdp", mdp, TabularMdp, "load_environment and from_arrays make one")


def check_action_names(names: object) -> tuple[str, ...]:
    """Give the names of actions, or say what they have to be."""
    words = distinct_words(names)
    if not words:
        msg = f"action names are at least one, all different, none empty: got {shown(names)}"
        raise ModelError(msg)
    return words


def _check_layout(layout: object, n_states: int, n_actions: int) -> GridLayout:
    given = check_instance("layout", layout, GridLayout)
    rows, positions, moves = map(as_array, given)
    is_map = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind == "U"
    size = (len(given.rows[0]), rows.size) if is_map else (0, 0)
    if not is_map or any(len(row) != size[0] for row in given.rows):
        msg = f"the rows of a layout are texts of one length: got {shown(given.rows)}"
        raise ModelError(msg)
    is_whole = positions.dtype.kind in "iu" and moves.dtype.kind in "iu"
    if not is_whole or positions.shape != (n_states, 2) or moves.shape != (n_actions, 2):
        msg = (
            f"a layout gives an (x, y) for each of {n_states} states and a (dx, dy) for each of "
            f"{n_actions} actions; got {positions.dtype} {positions.shape} and {moves.dtype} "
            f"{moves.shape}"
        )
        raise ModelError(msg)
    if (positions < 0).any() or (positions >= size).any():
        msg = f"a layout of {size[0]} x {size[1]} cells has states outside: {shown(positions)}"
        raise ModelError(msg)
    return given._replace(positions=frozen(positions, np.int64))
