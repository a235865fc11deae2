"""The training loop on a tabular model, and reading values out of a population."""

import numpy as np

from xcskit.kernels.compiler import kernel
from xcskit.kernels.covering import match_state
from xcskit.kernels.model import Model, draw_start, sample_outcome
from xcskit.kernels.performance import fill_prediction_array
from xcskit.kernels.settings import Settings
from xcskit.kernels.step import DIVERGED, OK, UNDECIDED, System, act, learn
from xcskit.typing import Floats, Ints

__all__ = ["read_values", "train_on_model"]

_ENVIRONMENT = 0


@kernel
def train_on_model(system: System, settings: Settings, model: Model, n_steps: int) -> int:
    """Train for a number of steps; give ``OK``, or ``DIVERGED`` as soon as values do."""
    population, episodes = system.population, system.episodes
    n_environments = system.sets.sizes.shape[0]
    n_actions = system.sets.values.size
    stream = system.streams[_ENVIRONMENT]
    turn = population.tally[0].time % n_environments
    for _ in range(n_steps):
        environment = turn
        turn = turn + 1 if turn + 1 < n_environments else 0
        episode = episodes[environment]
        if episode.state < 0:
            episode.state = draw_start(model, stream)
        state = episode.state
        action = act(system, settings, environment, model.observation[state], UNDECIDED)
        if action < 0:
            return DIVERGED
        row = sample_outcome(model, n_actions, state, action, stream)
        next_state = model.next_state[row]
        is_terminated = model.is_terminated[row]
        status = learn(
            system,
            settings,
            environment,
            model.reward[row],
            model.observation[next_state],
            is_terminated,
            False,
        )
        if status != OK:
            return status
        episode.state = -1 if is_terminated else next_state
    return OK


@kernel
def read_values(system: System, observations: Ints, out_values: Floats) -> None:
    """Write PA of each observation, NaN where no rule matches; changes nothing."""
    for i in range(observations.shape[0]):
        match_state(system.population, system.sets, observations[i])
        fill_prediction_array(system.population, system.sets, observations[i])
        for action in range(system.sets.values.size):
            value = system.sets.values[action]
            out_values[i, action] = value if np.isfinite(value) else np.nan
