"""What a policy to be judged is: an action for each state, and where it starts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, get_args

import numpy as np

from xcskit.errors import ConfigurationError, ModelError
from xcskit.mdp import TabularMdp
from xcskit.mdp.model import Starts
from xcskit.typing import Floats, Ints
from xcskit.validation import as_array, check_choice

__all__ = ["Start", "complete_policy", "starting_from"]

Start: TypeAlias = Starts | int | Sequence[float] | Floats
"""The model's own test or training starts, a state, or a probability for each state."""


def starting_from(mdp: TabularMdp, start: Start) -> TabularMdp:
    """Give the model with other test starts.

    Parameters
    ----------
    mdp
        The model.
    start
        ``"test"`` or ``"training"``, a state, or the probability of starting in each state.
    """
    if isinstance(start, str):
        check_choice("start, if a word,", start, get_args(Starts))
        return mdp if start == "test" else replace(mdp, test_start=mdp.training_start)
    chances = as_array(start)
    if chances.ndim == 0 and chances.dtype.kind in "iu":
        state = mdp.select_states([int(chances)])
        chances = np.zeros(mdp.n_states)
        chances[state] = 1.0
    return replace(mdp, test_start=chances)


def complete_policy(mdp: TabularMdp, policy: Sequence[int] | Ints) -> Ints:
    """Check a policy, and give it as an action for each state of the model.

    Parameters
    ----------
    mdp
        The model; episodes begin with its test starts.
    policy
        An action for each state; or for each of S, ``mdp.states``, which is enough where the starts
        are among the states that training acts in, since an episode never leaves those.

    Returns
    -------
    Ints
        Shape (n_states,); action 0 where no episode comes.
    """
    actions = as_array(policy)
    if actions.ndim != 1 or len(actions) not in {mdp.n_states, len(mdp.states)}:
        msg = (
            f"a policy for {mdp.name!r} names an action for each of its {mdp.n_states} states, or "
            f"for each of the {len(mdp.states)} states of S; got shape {actions.shape} "
            f"({type(policy).__name__})"
        )
        raise ConfigurationError(msg)
    if actions.dtype.kind not in "iu" or actions.min() < 0 or actions.max() >= mdp.n_actions:
        msg = (
            f"a policy for {mdp.name!r} is of actions 0 to {mdp.n_actions - 1}; "
            f"got {actions.dtype} values from {actions.min()} to {actions.max()}"
        )
        raise ConfigurationError(msg)
    if len(actions) == mdp.n_states:
        return actions.astype(np.int64)
    strange = np.setdiff1d(np.flatnonzero(mdp.test_start), mdp.decision_states)
    if strange.size:
        msg = (
            f"episodes start in {mdp.describe_state(int(strange[0]))}, where training on "
            f"{mdp.name!r} never acts; give an action for each of its {mdp.n_states} states"
        )
        raise ModelError(msg)
    complete = np.zeros(mdp.n_states, dtype=np.int64)
    complete[mdp.states] = actions
    return complete
