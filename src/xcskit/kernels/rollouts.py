"""Rollouts of a policy on a model, episode by episode."""

from typing import NamedTuple

from xcskit.kernels.compiler import generic, kernel
from xcskit.kernels.model import Model, outcome_at, start_at
from xcskit.kernels.random import draw
from xcskit.typing import Bools, Floats, Ints, Words

__all__ = ["FAILURE", "LIMIT", "SUCCESS", "Listed", "Seeded", "roll_out"]

SUCCESS, FAILURE, LIMIT = 0, 1, 2


class Listed(NamedTuple):
    """Random numbers that were drawn before: ``uniforms``, (n_episodes, step limit + 1)."""

    uniforms: Floats


class Seeded(NamedTuple):
    """A stream for each episode: ``streams``, (n_episodes, 4)."""

    streams: Words


@generic
def uniform(source: object, episode: object, count: object) -> None:
    """Give the random number of an episode after ``count`` others."""


@uniform.register(Listed)
def _(source: Listed, episode: int, count: int) -> float:
    return float(source.uniforms[episode, count])


@uniform.register(Seeded)
def _(source: Seeded, episode: int, count: int) -> float:  # noqa: ARG001 - a stream counts itself
    return draw(source.streams[episode])


@kernel
def roll_out(
    source: Listed | Seeded,
    model: Model,
    is_success: Bools,
    n_actions: int,
    policy: Ints,
    step_limit: int,
    episodes: Ints,
    out_steps: Ints,
    out_endings: Ints,
) -> None:
    """Follow a policy through some episodes.

    One random number for the start and one for each step. ``out_endings`` gets ``SUCCESS``,
    ``FAILURE`` or, where the limit stopped the episode, ``LIMIT``.
    """
    for episode in episodes:
        state = start_at(model, uniform(source, episode, 0))
        out_steps[episode] = step_limit
        out_endings[episode] = LIMIT
        for step in range(1, step_limit + 1):
            u = uniform(source, episode, step)
            row = outcome_at(model, n_actions, state, policy[state], u)
            if model.is_terminated[row]:
                out_steps[episode] = step
                out_endings[episode] = SUCCESS if is_success[row] else FAILURE
                break
            state = model.next_state[row]
