"""Values to be judged, wherever they come from, and their holes: pairs whose value nobody tells."""

from typing import Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from xcskit.errors import ConfigurationError, HoleError
from xcskit.mdp import TabularMdp
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import as_array, check_choice

__all__ = [
    "Holes",
    "Values",
    "Valuing",
    "check_fit",
    "check_holes",
    "check_no_hole",
    "hole_mask",
    "plain_values",
    "values_on",
]

Holes: TypeAlias = Literal["raise", "mask"]

_NAMED = 10


@runtime_checkable
class Valuing(Protocol):
    """What can be asked for its values, such as a learner."""

    def read_values(self, observations: Ints, /) -> Floats:
        """Give Qhat of each observation and action; NaN where there is none."""
        ...


@runtime_checkable
class Masking(Protocol):
    """What gives its values with the holes masked, such as a rule set."""

    def q_values(self, observations: Ints, /, *, holes: Literal["mask"]) -> ArrayLike:
        """Give Qhat of each observation and action."""
        ...


@runtime_checkable
class Tabular(Protocol):
    """What has a value for every state of the model, such as a solution or tabular Q-learning."""

    @property
    def q(self) -> Floats:
        """The values, shape (n_states, n_actions)."""
        ...


Values: TypeAlias = ArrayLike | Valuing | Masking | Tabular
"""Values: an array, NaN or masked in holes; or a learner, a rule set, a solution."""


def hole_mask(q_hat: ArrayLike) -> Bools:
    """Tell the pairs that have no value: NaN, or masked in a masked array.

    Parameters
    ----------
    q_hat
        Values, shape (n, n_actions).
    """
    mask: Bools = np.isnan(plain_values(q_hat))
    return mask


def values_on(q_hat: Values, mdp: TabularMdp, states: Ints) -> Floats:
    """Give the values of some states, NaN in holes, or say why these are no such values.

    Parameters
    ----------
    q_hat
        A row for each of ``states``, or else a row for each state of the model; or what gives them.
    mdp
        The model.
    states
        Which states, shape (n,).

    Returns
    -------
    Floats
        Shape (n, n_actions).
    """
    values = plain_values(_ask(q_hat, mdp.observations[states]))
    check_fit(values, mdp)
    if len(values) not in {len(states), mdp.n_states}:
        msg = (
            f"q_hat has {len(values)} rows; expected {len(states)}, one for each state asked "
            f"about, or {mdp.n_states}, one for each state of {mdp.name!r}"
        )
        raise ConfigurationError(msg)
    if len(values) != len(states):
        values = values[states]
    if np.isinf(values).any():
        row, action = (int(i) for i in np.argwhere(np.isinf(values))[0])
        msg = (
            f"q_hat is {values[row, action]} in {mdp.describe_state(int(states[row]))} "
            f"{mdp.action_names[action]}; expected finite values, or NaN where there is none"
        )
        raise ConfigurationError(msg)
    return values


def check_fit(values: Floats, mdp: TabularMdp) -> None:
    """Raise an error unless values, rows of one a action, are of as many actions as a model has."""
    if values.shape[1] != mdp.n_actions:
        msg = (
            f"q_hat has values of {values.shape[1]} actions; {mdp.name!r} has {mdp.n_actions}: "
            f"{', '.join(mdp.action_names)}"
        )
        raise ConfigurationError(msg)


def check_holes(holes: Holes) -> None:
    """Let only the two ways of treating holes pass."""
    check_choice("holes", holes, get_args(Holes))


def check_no_hole(is_hole: Bools, mdp: TabularMdp, states: Ints) -> None:
    """Raise an error that lists the pairs without a value, if there are any.

    Parameters
    ----------
    is_hole
        Shape (n, n_actions).
    mdp
        The model.
    states
        The state of each row, shape (n,).

    Raises
    ------
    HoleError
        With the first ten, and how many there are.
    """
    if not is_hole.any():
        return
    found = np.argwhere(is_hole)
    named = "; ".join(
        f"{mdp.describe_state(int(states[row]))} {mdp.action_names[action]}"
        for row, action in found[:_NAMED].tolist()
    )
    msg = (
        f"{len(found)} of {is_hole.size} state-action pairs have no value, so that this is "
        f"undefined: {named}{'; ..' if len(found) > _NAMED else ''}. Train longer, or ask with "
        'holes="mask" for what the other pairs give'
    )
    raise HoleError(msg)


def plain_values(q_hat: ArrayLike) -> Floats:
    """Give values as an array with a row a state, NaN where they are masked."""
    expected = "q_hat is an array of values, shape (n_states, n_actions)"
    kind = as_array(q_hat).dtype
    if kind.kind not in "biufO":
        msg = f"{expected}: it has {kind} values"
        raise ConfigurationError(msg)
    try:
        values = np.ma.asarray(q_hat, dtype=np.float64).filled(np.nan)
    except (TypeError, ValueError) as reason:
        msg = f"{expected}: {reason}"
        raise ConfigurationError(msg) from None
    if values.ndim != 2 or values.shape[1] == 0:
        msg = f"q_hat has shape {values.shape}; expected a row a state, a value an action"
        raise ConfigurationError(msg)
    return np.asarray(values, dtype=np.float64)


def _ask(q_hat: Values, observations: Ints) -> ArrayLike:
    if isinstance(q_hat, Valuing):
        return q_hat.read_values(observations)
    if isinstance(q_hat, Masking):
        return q_hat.q_values(observations, holes="mask")
    return q_hat.q if isinstance(q_hat, Tabular) else q_hat
