"""Worlds of any size, number of dimensions, and number of actions; seeded."""

import numpy as np
import scipy

from xcskit.mdp import TabularMdp, frozen_lake, random_lake_map
from xcskit.mdp.outcomes import Outcomes
from xcskit.spaces import IntegerSpace

__all__ = ["lake", "random_walk"]

SLIP = 0.1
GOALS = 0.01
"""One cell in a hundred: lakes of all sizes are then alike from near, and values are not all 0."""

SIDE = 10
CELLS = 4096
STRAY = 0.1


def lake(side: int) -> TabularMdp:
    """Model a lake of side x side cells, a fifth of them holes, a hundredth goals."""
    cells = np.array([list(row) for row in random_lake_map(side, side, seed=1)])
    is_goal = np.random.default_rng(2).random(cells.shape) < GOALS
    cells[is_goal & (cells == "F")] = "G"
    return frozen_lake(["".join(row) for row in cells.tolist()], slip=SLIP)


def random_walk(n_dimensions: int, n_actions: int, seed: int = 0) -> TabularMdp:
    """Model a walk among cells drawn from a box with ten values a dimension.

    A box of 12 dimensions has a million million cells, so that at most 4,096 of them are states.
    Each action is a direction, drawn once: the move goes a fifth of the side that way, to the
    nearest state; one in ten goes to a state drawn at random for the pair. The state nearest to the
    middle is the goal. Episodes start anywhere.
    """
    random = np.random.default_rng(seed)
    cells = np.unique(random.integers(0, SIDE, (CELLS, n_dimensions)), axis=0)
    n_states = len(cells)
    moves = random.normal(size=(n_actions, n_dimensions))
    moves *= SIDE / 5 / np.linalg.norm(moves, axis=1, keepdims=True)
    tree = scipy.spatial.KDTree(cells)
    targets = (cells[:, np.newaxis] + moves).reshape(-1, n_dimensions)
    _, intended = tree.query(targets)
    _, goal = tree.query(np.full(n_dimensions, (SIDE - 1) / 2))
    n_pairs = n_states * n_actions
    next_state = np.column_stack([intended, random.integers(n_states, size=n_pairs)])
    next_state.reshape(n_states, -1)[goal] = goal
    reaches_goal = next_state.ravel() == goal
    start = np.full(n_states, 1.0 / (n_states - 1))
    start[goal] = 0.0
    return TabularMdp(
        name=f"walk-{n_dimensions}d-{n_actions}a",
        space=IntegerSpace((0,) * n_dimensions, (SIDE - 1,) * n_dimensions),
        observations=cells,
        action_names=tuple(f"move{action}" for action in range(n_actions)),
        outcomes=Outcomes(
            first=2 * np.arange(n_pairs + 1),
            next_state=next_state.ravel(),
            probability=np.tile([1.0 - STRAY, STRAY], n_pairs),
            reward=np.where(reaches_goal, 1.0, 0.0),
            is_terminated=reaches_goal,
            is_success=reaches_goal,
        ),
        training_start=start,
        test_start=start,
    )
