"""A world as plain lists, training on it, and FrozenLake as such a world."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from oracle.streams import Stream, draw_outcome
from oracle.xcsf import Xcsf

MAP_4X4 = ("SFFF", "FHFH", "FFFH", "HFFG")
MAP_8X8 = (
    "SFFFFFFF",
    "FFFFFFFF",
    "FFFHFFFF",
    "FFFFFHFF",
    "FFFHFFFF",
    "FHHFFFHF",
    "FHFFHFHF",
    "FFFHFFFG",
)

LEFT, DOWN, RIGHT, UP = range(4)
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""(dx, dy) of Left, Down, Right, Up."""


@dataclass
class TabularEnvironment:
    """Outcomes of pair ``state * n_actions + action``: rows ``first[pair]..first[pair + 1] - 1``.

    ``next_state``, ``cumulative`` (probability, within the pair), ``reward`` and ``is_terminated``
    have an entry an outcome; ``observation`` has one a state; ``start`` and ``start_cumulative``
    one a state in which an episode may start.
    """

    first: Sequence[int]
    next_state: Sequence[int]
    cumulative: Sequence[float]
    reward: Sequence[float]
    is_terminated: Sequence[bool]
    observation: Sequence[Sequence[int]]
    start: Sequence[int]
    start_cumulative: Sequence[float]
    current: dict[int, int] = field(default_factory=dict[int, int])
    """The state of each environment that is amid an episode."""

    @property
    def n_states(self) -> int:
        return len(self.observation)

    @property
    def n_actions(self) -> int:
        return (len(self.first) - 1) // self.n_states

    def outcomes(self, state: int, action: int) -> range:
        """Give the rows of a pair's outcomes."""
        pair = state * self.n_actions + action
        return range(self.first[pair], self.first[pair + 1])

    def draw_start(self, stream: Stream) -> int:
        return self.start[draw_outcome(stream, self.start_cumulative)]

    def draw_row(self, state: int, action: int, stream: Stream) -> int:
        """Draw the row of what comes of an action."""
        rows = self.outcomes(state, action)
        return rows[draw_outcome(stream, [self.cumulative[row] for row in rows])]


def train(xcsf: Xcsf, world: TabularEnvironment, steps: int) -> None:
    """Go on training for a number of steps, the environments taking turns."""
    stream = xcsf.streams["environment"]
    for _ in range(steps):
        environment = xcsf.t % xcsf.n_environments
        if environment not in world.current:
            world.current[environment] = world.draw_start(stream)
        state = world.current[environment]
        action = xcsf.act(world.observation[state], environment)
        row = world.draw_row(state, action, stream)
        next_state = world.next_state[row]
        xcsf.learn(
            world.reward[row],
            world.observation[next_state],
            terminated=world.is_terminated[row],
            truncated=False,
            environment=environment,
        )
        if world.is_terminated[row]:
            del world.current[environment]
        else:
            world.current[environment] = next_state


def frozen_lake(layout: Sequence[str], slip: float = 0.0) -> TabularEnvironment:
    """Make a lake of a map of S and F (frozen), H (hole) and G (goal).

    States are the cells, row after row; a state is seen as (x, y). Each action has three outcomes:
    slipped to (action - 1) % 4, as intended, slipped to (action + 1) % 4. Terminal cells have none.
    Episodes start in any frozen cell, uniformly.
    """
    width, height = len(layout[0]), len(layout)
    cells = "".join(layout)
    world_observation = [(x, y) for y in range(height) for x in range(width)]
    first, next_states, cumulative = [0], list[int](), list[float]()
    for x, y in world_observation:
        for action in range(4):
            if cells[y * width + x] in "SF":
                for direction in (action - 1, action, action + 1):
                    dx, dy = MOVES[direction % 4]
                    next_x = min(max(x + dx, 0), width - 1)
                    next_y = min(max(y + dy, 0), height - 1)
                    next_states.append(next_y * width + next_x)
                cumulative += accumulate((slip / 2, 1 - slip, slip / 2))
            first.append(len(next_states))
    start = [state for state, cell in enumerate(cells) if cell in "SF"]
    return TabularEnvironment(
        first=first,
        next_state=next_states,
        cumulative=cumulative,
        reward=[1.0 if cells[state] == "G" else 0.0 for state in next_states],
        is_terminated=[cells[state] in "HG" for state in next_states],
        observation=world_observation,
        start=start,
        start_cumulative=[(i + 1) / len(start) for i in range(len(start))],
    )
