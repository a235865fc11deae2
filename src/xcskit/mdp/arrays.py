"""Models from plain arrays of probabilities and rewards, or a file of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xcskit.errors import FileFormatError, ModelError
from xcskit.files import UNREADABLE, in_words
from xcskit.mdp.grids import uniform_over
from xcskit.mdp.model import TabularMdp, check_action_names
from xcskit.mdp.outcomes import Outcomes
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import as_array, shown

__all__ = ["from_arrays", "load_arrays"]

_OPTIONAL = ("terminal", "training_start", "test_start", "observations", "action_names")


def from_arrays(
    p: ArrayLike,
    r: ArrayLike,
    *,
    terminal: Sequence[int] | Ints | None = None,
    training_start: ArrayLike | None = None,
    test_start: ArrayLike | None = None,
    observations: ArrayLike | None = None,
    action_names: Sequence[str] | None = None,
    name: str = "arrays",
) -> TabularMdp:
    """Build a model from arrays of transition probabilities and rewards.

    Parameters
    ----------
    p
        ``p[s, a, t]`` is the probability to come from state s by action a to state t: shape
        (n_states, n_actions, n_states).
    r
        The rewards: shape (n_states, n_actions), or (n_states, n_actions, n_states).
    terminal
        The states in which an episode ends; what ``p`` and ``r`` say of them does not count. None:
        those that every action leaves as they are, with reward 0.
    training_start, test_start
        Probabilities, shape (n_states,). None: uniform over the states that are not terminal, and
        the same as in training.
    observations
        A vector of integers for each state. None: the number of the state.
    action_names
        None: ``a0``, ``a1`` and so on.
    name
        What to call the model.

    Notes
    -----
    Outcomes are in the order of the next states. Success is to end an episode with the greatest
    reward that an end gives.

    Examples
    --------
    A coin that is tossed until it shows heads, which is worth 1:

    >>> from_arrays([[[0.5, 0.5]], [[0.0, 1.0]]], [[[0.0, 1.0]], [[0.0, 0.0]]])
    TabularMdp('arrays', 2 states, 1 actions, 3 outcomes)
    """
    probabilities = _as_floats("p", p)
    if probabilities.ndim != 3 or probabilities.shape[0] != probabilities.shape[2]:
        msg = (
            f"p has shape {probabilities.shape}; expected (n_states, n_actions, n_states): "
            "p[s, a, t] leads from s to t (swap the first axes of p[a, s, t])"
        )
        raise ModelError(msg)
    n_states, n_actions, _ = probabilities.shape
    rewards = _as_floats("r", r)
    if rewards.shape not in {(n_states, n_actions), probabilities.shape}:
        msg = (
            f"r has shape {rewards.shape}; expected ({n_states}, {n_actions}) or "
            f"{probabilities.shape} to go with p"
        )
        raise ModelError(msg)
    if rewards.ndim == 2:
        rewards = np.broadcast_to(rewards[:, :, np.newaxis], probabilities.shape)
    is_terminal = _terminal(terminal, probabilities, rewards)
    start = uniform_over(~is_terminal) if training_start is None else training_start
    names = [f"a{action}" for action in range(n_actions)] if action_names is None else action_names
    words = check_action_names(names)
    if len(words) != n_actions:
        msg = f"action_names are {len(words)}; expected {n_actions}, as p has so many actions"
        raise ModelError(msg)
    numbers: Ints = np.arange(n_states, dtype=np.int64)[:, np.newaxis]
    seen = numbers if observations is None else as_array(observations)
    space = _space_around(seen)
    if len(seen) != n_states:
        msg = f"observations are {len(seen)} rows; expected {n_states}, one for each state of p"
        raise ModelError(msg)
    return TabularMdp(
        name=name,
        space=space,
        observations=seen,
        action_names=words,
        outcomes=_outcomes(probabilities, rewards, is_terminal),
        training_start=as_array(start),
        test_start=as_array(start if test_start is None else test_start),
    )


def load_arrays(path: str | Path) -> TabularMdp:
    """Read a model from a NumPy ``.npz`` file with the arrays ``p`` and ``r``.

    Parameters
    ----------
    path
        The file. It may also hold ``terminal``, ``training_start``, ``test_start``,
        ``observations`` and ``action_names``, as ``from_arrays`` takes them.
    """
    try:
        with Path(path).open("rb") as stream:
            file = np.lib.npyio.NpzFile(stream, allow_pickle=False)
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
    except UNREADABLE as reason:
        why = in_words(reason)
        msg = f"cannot read arrays from {str(path)!r}: {why}; expected a file of numpy.savez"
        raise FileFormatError(msg) from None
    known = {key.lower(): array for key, array in arrays.items()}
    unknown = set(known) - {"p", "r", *_OPTIONAL}
    if unknown or not {"p", "r"} <= set(known) or len(known) < len(arrays):
        msg = (
            f"{str(path)!r} holds the arrays {sorted(arrays)}; expected 'p' and 'r', and none but "
            f"{', '.join(_OPTIONAL)} beside them"
        )
        raise FileFormatError(msg)
    if "action_names" in known:
        known["action_names"] = np.asarray(known["action_names"]).tolist()
    return from_arrays(**known, name=Path(path).stem)


def _as_floats(name: str, values: ArrayLike) -> Floats:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
        problem = f"it has {array.dtype} values"
    except (TypeError, ValueError) as reason:
        problem = str(reason)
    msg = f"{name} is no array of numbers: {problem}"
    raise ModelError(msg)


def _terminal(terminal: Sequence[int] | Ints | None, p: Floats, r: Floats) -> Bools:
    n_states = len(p)
    is_terminal = np.zeros(n_states, dtype=np.bool_)
    if terminal is None:
        own = np.arange(n_states)
        is_terminal[:] = (p[own, :, own] == 1.0).all(axis=1) & (r[own, :, own] == 0.0).all(axis=1)
    else:
        listed = as_array(terminal)
        if listed.ndim != 1 or (
            listed.size
            and (listed.dtype.kind not in "iu" or listed.min() < 0 or listed.max() >= n_states)
        ):
            msg = (
                f"terminal is {shown(terminal)}; expected a list of states, from 0 to "
                f"{n_states - 1}"
            )
            raise ModelError(msg)
        is_terminal[listed.astype(np.int64)] = True
    if is_terminal.all():
        msg = "every state is terminal; expected one at least in which an agent can act"
        raise ModelError(msg)
    return is_terminal


def _outcomes(p: Floats, r: Floats, is_terminal: Bools) -> Outcomes:
    n_actions = p.shape[1]
    is_end = np.flatnonzero(is_terminal)
    p = p.copy()
    p[is_end] = 0.0
    p[is_end, :, is_end] = 1.0
    is_listed = p != 0.0
    _, _, next_state = np.nonzero(is_listed)
    table = Outcomes(
        first=np.concatenate([[0], np.cumsum(np.count_nonzero(is_listed, axis=2))]),
        next_state=next_state,
        probability=p[is_listed],
        reward=r[is_listed],
        is_terminated=is_terminal[next_state],
        is_success=np.zeros(next_state.size, dtype=np.bool_),
    )
    return table.with_best_end_as_success(n_actions)


def _space_around(rows: NDArray[Any]) -> IntegerSpace:
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or rows.size == 0:
        msg = (
            f"observations are an array of shape {rows.shape} and type {rows.dtype}; "
            "expected a row of integers for each state"
        )
        raise ModelError(msg)
    lower, upper = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
    return IntegerSpace(tuple(lower), tuple(upper))
