"""Small models at random, over spaces of any shape; and the whole state of a learner as bytes."""

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xcskit.learner import XCSF
from xcskit.mdp import Outcomes, TabularMdp
from xcskit.spaces import IntegerSpace

__all__ = ["random_world", "state_of"]

_MOST_STATES = 500


def random_world(
    lower: Sequence[int],
    upper: Sequence[int],
    n_actions: int,
    *,
    seed: int = 0,
    reward: float = 1.0,
    end: float = 0.1,
) -> TabularMdp:
    """Draw a model in which every action leads somewhere at random, and may end the episode there.

    Its states are the cells of a box, or some hundreds of them, the corners included.
    """
    random = np.random.default_rng(seed)
    space = IntegerSpace(tuple(lower), tuple(upper))
    if math.prod(space.sizes) <= _MOST_STATES:
        cells = np.stack([axis.ravel() for axis in np.indices(space.sizes)], axis=1)
        cells += np.array(lower)
    else:
        inside = random.integers(lower, upper, (_MOST_STATES, space.n_dimensions), endpoint=True)
        cells = np.unique(np.vstack([inside, [lower], [upper]]), axis=0)
    n_states = len(cells)
    n_pairs = n_states * n_actions
    ends = random.random(n_pairs) < end
    start = np.full(n_states, 1 / n_states)
    return TabularMdp(
        name="random",
        space=space,
        observations=cells.astype(np.int64),
        action_names=tuple(f"go{a}" for a in range(n_actions)),
        outcomes=Outcomes(
            first=np.arange(n_pairs + 1),
            next_state=(np.arange(n_pairs) // n_actions + random.integers(1, n_states, n_pairs))
            % n_states,
            probability=np.ones(n_pairs),
            reward=reward * np.where(ends, random.random(n_pairs), 0.0),
            is_terminated=ends,
            is_success=np.zeros(n_pairs, dtype=np.bool_),
        ),
        training_start=start,
        test_start=start,
    )


def state_of(agent: XCSF) -> bytes:
    """Give everything that training goes on from, history included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        agent.save(path)
        return path.read_bytes()
