"""One step of XCSF, in two halves: act, and learn from what came of it."""

from typing import NamedTuple, Protocol

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.covering import form_match_set
from xcskit.kernels.deletion import delete_surplus
from xcskit.kernels.discovery import run_ga_if_due
from xcskit.kernels.performance import choose_best, choose_present, fill_prediction_array
from xcskit.kernels.population import Population, Sets
from xcskit.kernels.random import draw
from xcskit.kernels.reinforcement import update_set
from xcskit.kernels.settings import Settings
from xcskit.kernels.slots import copy_slots
from xcskit.kernels.subsumption import absorb_in_set
from xcskit.typing import Ints, Words

__all__ = ["DIVERGED", "EPISODE", "OK", "UNDECIDED", "System", "act", "learn"]

OK, DIVERGED = 0, -1
UNDECIDED = -1
CURRENT, PENDING = 0, 1
_EXPLORATION, _DISCOVERY = 1, 2

EPISODE = np.dtype(
    [
        ("state", np.int64),
        ("decision", np.int64),
        ("is_exploring", np.int64),
        ("is_acting", np.int64),
        ("pending_reward", np.float64),
        ("best_value", np.float64),
    ],
    align=True,
)
"""Where an environment stands: its state in a tabular model (-1 between episodes), the decision
to explore (-1 while there is none), and what the pending action set waits for."""


class Episode(Protocol):
    """A row of ``EPISODE``."""

    state: int
    decision: int
    is_exploring: int
    is_acting: int
    pending_reward: float
    best_value: float


class Episodes(Protocol):
    """An array of ``EPISODE``, a row an environment."""

    def __getitem__(self, environment: int) -> Episode:
        """Give an environment's row, to read and to write."""
        ...


class System(NamedTuple):
    """All that training changes. ``streams``: (4, 4), as ``random.new_streams`` gives them."""

    population: Population
    sets: Sets
    episodes: Episodes
    streams: Words


@kernel
def _decide(settings: Settings, episode: Episode, exploration: Words) -> int:
    """Explore (1) or exploit (0): each step apart, or once an episode."""
    if settings.exploration == 0:
        return int(draw(exploration) < settings.exploration_probability)
    if episode.decision == UNDECIDED:
        episode.decision = int(draw(exploration) < settings.exploration_probability)
    return episode.decision


@kernel
def act(system: System, settings: Settings, environment: int, state: Ints, forced: int) -> int:
    """Match, cover and choose: give an action, or a negative status.

    ``forced`` is 1 to explore, 0 to exploit, ``UNDECIDED`` to let the configuration decide.
    """
    population, sets = system.population, system.sets
    exploration = system.streams[_EXPLORATION]
    form_match_set(population, settings, sets, state, system.streams[_DISCOVERY])
    best = fill_prediction_array(population, sets, state)
    if not np.isfinite(best):
        return DIVERGED
    episode = system.episodes[environment]
    is_exploring = forced
    if forced == UNDECIDED:
        is_exploring = _decide(settings, episode, exploration)
    if is_exploring:
        action = choose_present(sets.first, exploration)
    else:
        action = choose_best(sets.values, best, exploration)
    begin, end = sets.first[action], sets.first[action + 1]
    copy_slots(sets.matched, begin, end - begin, sets.members[environment, CURRENT])
    sets.sizes[environment, CURRENT] = end - begin
    for d in range(state.size):
        sets.observations[environment, CURRENT, d] = state[d]
    episode.is_exploring = is_exploring
    episode.is_acting = 1
    episode.best_value = best
    return action


@kernel
def _revise(system: System, settings: Settings, environment: int, which: int, payoff: float) -> int:
    """Update a set with its payoff, then subsumption and the GA in it."""
    population, sets = system.population, system.sets
    size = int(sets.sizes[environment, which])
    if size == 0:
        return OK
    if not np.isfinite(payoff):
        return DIVERGED
    members = sets.members[environment, which]
    state = sets.observations[environment, which]
    update_set(population, settings, members, size, state, payoff, sets.z, sets.panel)
    if settings.subsumes_in_action_set:
        absorb_in_set(population, settings, sets, environment, which)
    if system.episodes[environment].is_exploring:
        size = int(sets.sizes[environment, which])
        run_ga_if_due(population, settings, members, size, system.streams[_DISCOVERY])
    return OK


@kernel
def _keep_as_pending(sets: Sets, environment: int) -> None:
    """Let the current set wait for the value of the state that follows."""
    size = sets.sizes[environment, CURRENT]
    members = sets.members[environment]
    copy_slots(members[CURRENT], 0, size, members[PENDING])
    for d in range(sets.observations.shape[2]):
        sets.observations[environment, PENDING, d] = sets.observations[environment, CURRENT, d]
    sets.sizes[environment, PENDING] = size


@kernel
def learn(
    system: System,
    settings: Settings,
    environment: int,
    reward: float,
    next_state: Ints,
    is_terminated: bool,
    is_truncated: bool,
) -> int:
    """Learn from the outcome of the action that ``act`` gave, and delete what is too much."""
    population, sets = system.population, system.sets
    episode = system.episodes[environment]
    discovery = system.streams[_DISCOVERY]
    is_over = is_terminated or is_truncated
    status = OK
    for which in (PENDING, CURRENT):
        payoff = reward
        if which == PENDING:
            payoff = episode.pending_reward + settings.gamma * episode.best_value
        elif is_truncated and not is_terminated:
            form_match_set(population, settings, sets, next_state, discovery)
            payoff += settings.gamma * fill_prediction_array(population, sets, next_state)
        if which == PENDING or is_over:
            status = min(status, _revise(system, settings, environment, which, payoff))
            sets.sizes[environment, which] = 0
    if not is_over:
        _keep_as_pending(sets, environment)
        episode.pending_reward = reward
    sets.sizes[environment, CURRENT] = 0
    episode.is_acting = 0
    if is_over:
        episode.decision = UNDECIDED
    delete_surplus(population, settings, sets, discovery)
    population.tally[0].time += 1
    return status
