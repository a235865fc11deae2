"""Rollouts: a policy followed through many episodes, each with random numbers of its own."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import polars as pl

from xcskit.evaluation.policies import Start, complete_policy, starting_from
from xcskit.kernels.random import stream_words
from xcskit.kernels.rollouts import SUCCESS, Listed, Seeded, roll_out
from xcskit.mdp import TabularMdp
from xcskit.mdp.model import check_mdp
from xcskit.mdp.outcomes import frozen
from xcskit.typing import Floats, Ints
from xcskit.validation import check_integer

__all__ = ["ENDINGS", "Rollouts", "paper_rollouts", "rollouts"]

ENDINGS: Final = ("success", "failure", "limit")
"""How an episode ends: at the goal, elsewhere, or stopped at the step limit."""

_MOST = 2**31
_MOST_THREADS = 1024
_MOST_LISTED = 10**8


@dataclass(frozen=True, kw_only=True, eq=False)
class Rollouts:
    """How the episodes of a policy went.

    Parameters
    ----------
    steps
        How long each episode was, shape (n_episodes,).
    endings
        How it ended, as an index into ``ENDINGS``: shape (n_episodes,).
    wanted_successes
        At how many successes the rollouts were to stop; None for never.
    """

    steps: Ints
    endings: Ints
    wanted_successes: int | None

    def __repr__(self) -> str:
        """Episodes, successes, and mean steps to the goal."""
        mean = self.mean_steps
        steps = "" if mean is None else f", {mean:.2f} steps to the goal on average"
        return f"Rollouts({self.n_episodes} episodes, {self.n_successes} successes{steps})"

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.steps)

    @property
    def steps_to_goal(self) -> Ints:
        """How long each episode was that reached the goal, shape (n_successes,)."""
        steps: Ints = self.steps[self.endings == SUCCESS]
        return steps

    @property
    def n_successes(self) -> int:
        """Number of episodes that reached the goal."""
        return len(self.steps_to_goal)

    @property
    def mean_steps(self) -> float | None:
        """The mean steps-to-goal; None without a success."""
        steps = self.steps_to_goal
        return float(steps.mean()) if len(steps) else None

    @property
    def max_steps(self) -> int | None:
        """The greatest steps-to-goal; None without a success."""
        steps = self.steps_to_goal
        return int(steps.max()) if len(steps) else None

    @property
    def is_complete(self) -> bool:
        """Whether there were as many successes as wanted."""
        return self.wanted_successes is None or self.n_successes >= self.wanted_successes

    def summary(self) -> dict[str, float | int | bool | None]:
        """Give a row for a table of policies."""
        return {
            "mean_steps": self.mean_steps,
            "max_steps": self.max_steps,
            "n_episodes": self.n_episodes,
            "n_successes": self.n_successes,
            "is_complete": self.is_complete,
        }

    def table(self) -> pl.DataFrame:
        """Give a row an episode: its number from 1, its steps, and how it ended."""
        names: list[str] = [ENDINGS[ending] for ending in self.endings.tolist()]
        return pl.DataFrame(
            {
                "episode": range(1, self.n_episodes + 1),
                "steps": self.steps,
                "ending": names,
            }
        )


def rollouts(
    mdp: TabularMdp,
    policy: Sequence[int] | Ints,
    *,
    seed: int,
    n_episodes: int = 1000,
    n_successes: int | None = None,
    step_limit: int = 200,
    start: Start = "test",
    n_threads: int = 1,
) -> Rollouts:
    """Follow a policy through many episodes.

    Parameters
    ----------
    mdp
        The model.
    policy
        An action for each state of the model, or for each of S.
    seed
        What the episodes' streams are spawned from: the first episodes are the same, however many
        there are and however many threads share them.
    n_episodes
        The greatest number of episodes.
    n_successes
        Stop at so many successes; None for never.
    step_limit
        After how many steps an episode is stopped.
    start
        ``"test"`` or ``"training"``, a state, or the probability of starting in each state.
    n_threads
        Number of threads that share the episodes.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake, solve
    >>> lake = frozen_lake("8x8", slip=0.1)
    >>> rollouts(lake, solve(lake).policy, seed=1)
    Rollouts(1000 episodes, 872 successes, 15.39 steps to the goal on average)
    """
    check_integer("seed", seed, 0)
    check_integer("n_episodes", n_episodes, 1, _MOST)
    check_integer("n_threads", n_threads, 1, _MOST_THREADS)
    check_mdp(mdp)
    children = np.random.SeedSequence(seed).spawn(n_episodes)
    source = Seeded(np.stack([stream_words(np.random.PCG64(child)) for child in children]))
    world = starting_from(mdp, start)
    return _roll_out(world, policy, source, n_episodes, n_successes, step_limit, n_threads)


def paper_rollouts(
    mdp: TabularMdp,
    policy: Sequence[int] | Ints,
    *,
    n_episodes: int = 150,
    n_successes: int = 100,
    step_limit: int = 200,
) -> Rollouts:
    """Follow a policy as the paper does, with the very random numbers that it had.

    Parameters
    ----------
    mdp
        The model; episodes begin with its test starts.
    policy
        An action for each state of the model, or for each of S.
    n_episodes, n_successes, step_limit
        At most so many episodes, stopping at so many successes, each at most so long.

    Notes
    -----
    Section "Rollout Analysis" of the paper. Episode i has the stream of seed i: NumPy's legacy
    ``RandomState``, seeded with the first two little-endian 32-bit words of the SHA-512 digest of
    the seed in decimal digits. The start takes one uniform, each step takes one.

    Examples
    --------
    >>> from xcskit.mdp import frozen_lake, solve
    >>> lake = frozen_lake("8x8", slip=0.1)
    >>> paper_rollouts(lake, solve(lake).policy).summary()
    {'mean_steps': 15.44, 'max_steps': 20, 'n_episodes': 115, 'n_successes': 100,
     'is_complete': True}
    """
    check_integer("n_episodes", n_episodes, 1, _MOST_LISTED)
    check_integer("step_limit", step_limit, 0, _MOST_LISTED // n_episodes)
    check_mdp(mdp)
    source = Listed(_paper_uniforms(n_episodes, step_limit + 1))
    return _roll_out(mdp, policy, source, n_episodes, n_successes, step_limit, 1)


@lru_cache(maxsize=4)
def _paper_uniforms(n_episodes: int, n_draws: int) -> Floats:
    return frozen([_paper_stream(seed, n_draws) for seed in range(1, n_episodes + 1)], np.float64)


def _paper_stream(seed: int, n_draws: int) -> Floats:
    digest = hashlib.sha512(str(seed).encode()).digest()
    words = np.frombuffer(digest[:8], dtype="<u4")
    return np.random.RandomState(words).random_sample(n_draws)


def _roll_out(
    mdp: TabularMdp,
    policy: Sequence[int] | Ints,
    source: Listed | Seeded,
    n_episodes: int,
    n_successes: int | None,
    step_limit: int,
    n_threads: int,
) -> Rollouts:
    check_integer("step_limit", step_limit, 0, _MOST)
    if n_successes is not None:
        check_integer("n_successes", n_successes, 1)
    actions = complete_policy(mdp, policy)
    model = mdp.kernel_model("test")
    steps, endings = np.empty((2, n_episodes), dtype=np.int64)

    def follow(episodes: Ints) -> None:
        roll_out(
            source,
            model,
            mdp.outcomes.is_success,
            mdp.n_actions,
            actions,
            step_limit,
            episodes,
            steps,
            endings,
        )

    if n_threads == 1:
        follow(np.arange(n_episodes))
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(follow, np.array_split(np.arange(n_episodes), n_threads)))
    n_kept = n_episodes
    if n_successes is not None:
        n_so_far = np.cumsum(endings == SUCCESS)
        n_kept = min(int(np.searchsorted(n_so_far, n_successes)) + 1, n_episodes)
    return Rollouts(
        steps=frozen(steps[:n_kept], np.int64),
        endings=frozen(endings[:n_kept], np.int64),
        wanted_successes=n_successes,
    )
