"""What gamma 1 needs: policies that end, and no endless one that does better."""

import numpy as np
import scipy

from xcskit.errors import SolverError
from xcskit.mdp.graphs import graph_of
from xcskit.mdp.model import TabularMdp
from xcskit.typing import Bools, Ints

__all__ = ["check_endless_policies", "check_policy_ends", "ending_policy", "endless_states"]

_UNREACHED = -9999
_NAMED_STATES = 3


def ending_policy(mdp: TabularMdp, wanted: Ints) -> Ints:
    """Give a policy that ends with certainty from every state, and is as wanted where that may be.

    Parameters
    ----------
    mdp
        The model.
    wanted
        A policy, which may not end: shape (n_states,).

    Notes
    -----
    From some states the wanted policy can never end; it is replaced there by one that comes
    nearer to an end with a positive probability in each step. From every state there is then a
    way to an end, and so the policy ends.
    """
    return np.where(endless_states(mdp, _only(mdp, wanted)), _shortest_ways(mdp), wanted)


def _shortest_ways(mdp: TabularMdp) -> Ints:
    every_row = np.ones(mdp.outcomes.next_state.size, dtype=np.bool_)
    onward = _next_on_shortest_way_to_an_end(mdp, every_row)
    is_endless = onward == _UNREACHED
    if is_endless.any():
        msg = (
            f"gamma 1 has no values on {mdp.name!r}: no policy ends an episode from "
            f"{_name_states(mdp, is_endless)}; use a gamma below 1, or a finite horizon"
        )
        raise SolverError(msg)
    states = mdp.outcomes.states_of_rows(mdp.n_actions)
    rows = np.flatnonzero(_targets(mdp) == onward[states])
    _, first_row = np.unique(states[rows], return_index=True)
    pairs = np.searchsorted(mdp.outcomes.first, rows[first_row], side="right") - 1
    policy: Ints = pairs % mdp.n_actions
    return policy


def endless_states(mdp: TabularMdp, is_chosen: Bools) -> Bools:
    """Tell the states from which choosing actions so can never end an episode, shape (n_states,).

    Parameters
    ----------
    mdp
        The model.
    is_chosen
        The pairs that are played with a positive probability, shape (n_states, n_actions).
    """
    is_played = np.repeat(is_chosen.ravel(), np.diff(mdp.outcomes.first))
    is_endless: Bools = _next_on_shortest_way_to_an_end(mdp, is_played) == _UNREACHED
    return is_endless


def check_policy_ends(mdp: TabularMdp, policy: Ints) -> None:
    """Say that values grow without bound where a policy that gained at every change never ends."""
    is_endless = endless_states(mdp, _only(mdp, policy))
    if is_endless.any():
        msg = (
            f"gamma 1 diverges on {mdp.name!r}: going on for ever in "
            f"{_name_states(mdp, is_endless)} gathers reward without bound; "
            "use a gamma below 1, or a finite horizon"
        )
        raise SolverError(msg)


def check_endless_policies(mdp: TabularMdp, is_tight: Bools, is_negative: Bools) -> None:
    """Say where never to end would be better than the best policy that ends.

    Parameters
    ----------
    mdp
        The model.
    is_tight
        The pairs that are optimal among policies that end, shape (n_states, n_actions).
    is_negative
        The states whose value among them is below 0, shape (n_states,).
    """
    is_better = _in_endless_components(mdp, is_tight) & is_negative
    if is_better.any():
        msg = (
            f"gamma 1 has no values on {mdp.name!r}: an episode can go on for ever in "
            f"{_name_states(mdp, is_better)} at no loss, which is better than any policy that "
            "ends; use a gamma below 1, or a finite horizon"
        )
        raise SolverError(msg)


def _only(mdp: TabularMdp, policy: Ints) -> Bools:
    is_chosen = np.zeros((mdp.n_states, mdp.n_actions), dtype=np.bool_)
    is_chosen[np.arange(mdp.n_states), policy] = True
    return is_chosen


def _in_endless_components(mdp: TabularMdp, is_allowed: Bools) -> Bools:
    """Tell the states in which an episode can be kept for ever by allowed pairs.

    These are the end components of the model: sets of states, each with pairs that stay within
    the set, every state of which can be reached from every other.
    """
    table = mdp.outcomes
    states = table.states_of_rows(mdp.n_actions)
    n_rows = np.diff(table.first)
    is_kept = is_allowed.ravel() & ~np.logical_or.reduceat(table.is_terminated, table.first[:-1])
    while is_kept.any():
        rows = np.repeat(is_kept, n_rows)
        labels = _strong_components(states[rows], table.next_state[rows], mdp.n_states)
        is_inside = labels[states] == labels[table.next_state]
        still_kept = is_kept & np.logical_and.reduceat(is_inside, table.first[:-1])
        if np.array_equal(still_kept, is_kept):
            break
        is_kept = still_kept
    stays: Bools = np.logical_or.reduce(is_kept.reshape(mdp.n_states, -1), axis=1)
    return stays


def _strong_components(sources: Ints, targets: Ints, n_states: int) -> Ints:
    graph = graph_of(sources, targets, n_states)
    _, labels = scipy.sparse.csgraph.connected_components(graph, connection="strong")
    return np.asarray(labels, dtype=np.int64)


def _targets(mdp: TabularMdp) -> Ints:
    """Tell where each outcome leads, an end being one more node after the states."""
    return np.where(mdp.outcomes.is_terminated, mdp.n_states, mdp.outcomes.next_state)


def _next_on_shortest_way_to_an_end(mdp: TabularMdp, is_allowed_row: Bools) -> Ints:
    sources = _targets(mdp)[is_allowed_row]
    targets = mdp.outcomes.states_of_rows(mdp.n_actions)[is_allowed_row]
    backwards = graph_of(sources, targets, mdp.n_states + 1)
    _, onward = scipy.sparse.csgraph.breadth_first_order(backwards, mdp.n_states)
    return np.asarray(onward[:-1], dtype=np.int64)


def _name_states(mdp: TabularMdp, is_named: Bools) -> str:
    states = np.flatnonzero(is_named)
    named = ", ".join(mdp.describe_state(int(state)) for state in states[:_NAMED_STATES])
    more = f" and {states.size - _NAMED_STATES} more" if states.size > _NAMED_STATES else ""
    return f"state {named}{more}"
