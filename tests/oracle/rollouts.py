"""Rollouts of a policy on FrozenLake 8x8, with the very random numbers of the paper's program."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import RandomState

from oracle.environment import MAP_8X8, TabularEnvironment, frozen_lake

N_ROLLOUTS = 150
N_SUCCESSES = 100
STEP_LIMIT = 200


@dataclass(frozen=True)
class Rollouts:
    """Steps to goal over the successful rollouts (None without one), and how many there were."""

    mean_steps: float | None
    max_steps: int | None
    rollouts: int
    successes: int


def paper_stream(seed: int) -> RandomState:
    """Seed NumPy's legacy generator with the first two words of a digest of the seed's digits."""
    digest = hashlib.sha512(str(seed).encode()).digest()
    words = [int.from_bytes(digest[start : start + 4], "little") for start in (0, 4)]
    return RandomState(words)


def steps_to_goal(world: TabularEnvironment, policy: Sequence[int], seed: int) -> int | None:
    """Follow a policy from (0, 0); None where it does not reach the goal within the limit."""
    stream = paper_stream(seed)
    stream.random_sample()
    state = 0
    for step in range(1, STEP_LIMIT + 1):
        u = stream.random_sample()
        row = next(row for row in world.outcomes(state, policy[state]) if world.cumulative[row] > u)
        if world.is_terminated[row]:
            return step if world.reward[row] == 1.0 else None
        state = world.next_state[row]
    return None


def roll_out(policy: Sequence[int], slip: float) -> Rollouts:
    """Roll a policy (an action a cell) out until the 100th success, at most 150 times."""
    world = frozen_lake(MAP_8X8, slip)
    successes: list[int] = []
    seed = 0
    while seed < N_ROLLOUTS and len(successes) < N_SUCCESSES:
        seed += 1
        steps = steps_to_goal(world, policy, seed)
        if steps is not None:
            successes.append(steps)
    return Rollouts(
        mean_steps=sum(successes) / len(successes) if successes else None,
        max_steps=max(successes, default=None),
        rollouts=seed,
        successes=len(successes),
    )
