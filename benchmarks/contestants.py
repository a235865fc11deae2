"""Who learns beside whom: the same world and the same questions for all of them.

A world in plain Python serves whoever cannot take a model whole. It is kept as cheap as plain
Python allows, and ``Idler`` tells what it costs.
"""

from bisect import bisect
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from random import Random
from typing import Final, NamedTuple, Protocol

import numpy as np

from xcskit.kernels.q_learning import learn_q
from xcskit.kernels.random import STREAMS, new_streams
from xcskit.learner import XCSF, Rls, UnorderedBounds, XcsfConfig, presets
from xcskit.mdp import TabularMdp
from xcskit.typing import Floats

__all__ = [
    "GAMMA",
    "LOOP",
    "OWN",
    "Contestant",
    "Driven",
    "Entry",
    "PlainQ",
    "Pupil",
    "World",
    "driven",
]

GAMMA: Final = 0.95
EXPLORE: Final = 0.5
RATE: Final = 0.1
LOOP: Final = "the Python world alone"


class Contestant(Protocol):
    """What learns, and says what it has learned."""

    def advance(self, n_steps: int) -> None:
        """Go on learning for some steps."""
        ...

    def values(self) -> Floats:
        """Give Qhat of the states that count, NaN where there is none."""
        ...

    def n_rules(self) -> int | None:
        """Count the rules, if there are any."""
        ...


class Entry(NamedTuple):
    """A contestant's name, and how to make one from a model and a seed."""

    name: str
    make: Callable[[TabularMdp, int], Contestant]


class World:
    """A model as plain lists, and where in it the pupil is (-1 between episodes)."""

    def __init__(self, mdp: TabularMdp, seed: int) -> None:
        self._draw = Random(f"world {seed}").random
        self._starts = np.flatnonzero(mdp.training_start).tolist()
        self._start_cumulative = np.cumsum(mdp.training_start[self._starts])[:-1].tolist()
        self._outcomes = [
            [mdp.outcomes_of(state, action) for action in range(mdp.n_actions)]
            for state in range(mdp.n_states)
        ]
        self._cumulative = [
            [list(accumulate(row[0] for row in rows))[:-1] for rows in actions]
            for actions in self._outcomes
        ]
        self.state = -1

    def begin(self) -> int:
        """Draw where an episode begins."""
        return int(self._starts[bisect(self._start_cumulative, self._draw())])

    def step(self, state: int, action: int) -> tuple[float, int, float, bool]:
        """Draw what comes of an action: probability, next state, reward, whether it is the end."""
        row = bisect(self._cumulative[state][action], self._draw())
        return self._outcomes[state][action][row]


class Pupil(Protocol):
    """What learns one step at a time."""

    def begin(self) -> None:
        """Start an episode."""
        ...

    def act(self, state: int) -> int:
        """Choose an action."""
        ...

    def learn(self, reward: float, next_state: int, *, is_end: bool) -> None:
        """Learn from what came of it."""
        ...

    def values(self) -> Floats:
        """Give Qhat of the states that count."""
        ...

    def n_rules(self) -> int | None:
        """Count the rules, if there are any."""
        ...


class Driven:
    """A contestant that plain Python drives through the world, step by step."""

    def __init__(self, pupil: Pupil, mdp: TabularMdp, seed: int) -> None:
        self._pupil = pupil
        self._world = World(mdp, seed)
        self.values = pupil.values
        self.n_rules = pupil.n_rules

    def advance(self, n_steps: int) -> None:
        """Go on learning for some steps."""
        pupil, world = self._pupil, self._world
        state = world.state
        for _ in range(n_steps):
            if state < 0:
                state = world.begin()
                pupil.begin()
            _, next_state, reward, is_end = world.step(state, pupil.act(state))
            pupil.learn(reward, next_state, is_end=is_end)
            state = -1 if is_end else next_state
        world.state = state


def driven(pupil: Callable[[TabularMdp, int], Pupil]) -> Callable[[TabularMdp, int], Contestant]:
    """Give what makes a contestant out of a pupil."""

    def make(mdp: TabularMdp, seed: int) -> Contestant:
        return Driven(pupil(mdp, seed), mdp, seed)

    return make


class Idler:
    """Learns nothing: what is left is the cost of the world and its loop."""

    def __init__(self, mdp: TabularMdp, seed: int) -> None:
        self._draw = Random(f"pupil {seed}").random
        self._n_actions = mdp.n_actions
        self._values = np.zeros((len(mdp.states), mdp.n_actions))

    def begin(self) -> None:
        """Start an episode."""

    def act(self, state: int) -> int:  # noqa: ARG002 - it does not care
        """Choose any action."""
        return int(self._draw() * self._n_actions)

    def learn(self, reward: float, next_state: int, *, is_end: bool) -> None:
        """Learn nothing."""

    def values(self) -> Floats:
        """Give nothing."""
        return self._values

    def n_rules(self) -> int | None:
        """Count nothing."""
        return None


class PlainQ:
    """Tabular Q-learning, written as one would write it in plain Python."""

    def __init__(self, mdp: TabularMdp, seed: int) -> None:
        self._draw = Random(f"pupil {seed}").random
        self._states = mdp.states
        self._n_actions = mdp.n_actions
        self._q = [[0.0] * mdp.n_actions for _ in range(mdp.n_states)]
        self._state, self._action = -1, -1

    def begin(self) -> None:
        """Start an episode."""

    def act(self, state: int) -> int:
        """Choose any action, or a best one, ties broken uniformly."""
        draw = self._draw
        if draw() < EXPLORE:
            action = int(draw() * self._n_actions)
        else:
            values = self._q[state]
            best = max(values)
            ties = [action for action, value in enumerate(values) if value == best]
            action = ties[0] if len(ties) == 1 else ties[int(draw() * len(ties))]
        self._state, self._action = state, action
        return action

    def learn(self, reward: float, next_state: int, *, is_end: bool) -> None:
        """Move the pair's value towards what was found."""
        target = reward if is_end else reward + GAMMA * max(self._q[next_state])
        values = self._q[self._state]
        values[self._action] += RATE * (target - values[self._action])

    def values(self) -> Floats:
        """Give Qhat of the states that count."""
        return np.array(self._q)[self._states]

    def n_rules(self) -> int | None:
        """There are none."""
        return None


class CompiledQ:
    """The same, as ``xcskit.mdp.q_learning`` compiles it."""

    def __init__(self, mdp: TabularMdp, seed: int) -> None:
        streams = new_streams(seed)
        self._environment = streams[STREAMS.index("environment")]
        self._exploration = streams[STREAMS.index("exploration")]
        self._model, self._states = mdp.kernel_model("training"), mdp.states
        self._state = np.full(1, -1)
        self._q = np.zeros((mdp.n_states, mdp.n_actions))
        self._visits = np.zeros(self._q.shape, dtype=np.int64)

    def advance(self, n_steps: int) -> None:
        """Go on learning for some steps."""
        learn_q(
            self._model,
            n_steps,
            GAMMA,
            RATE,
            0.0,
            EXPLORE,
            self._environment,
            self._exploration,
            self._state,
            self._q,
            self._visits,
        )

    def values(self) -> Floats:
        """Give Qhat of the states that count."""
        return self._q[self._states]

    def n_rules(self) -> int | None:
        """There are none."""
        return None


class Compiled:
    """XCSF on the model, in compiled code."""

    def __init__(self, mdp: TabularMdp, seed: int, config: XcsfConfig) -> None:
        self._mdp = mdp
        self._agent = XCSF.on(mdp, config, seed=seed)

    def advance(self, n_steps: int) -> None:
        """Go on learning for some steps."""
        self._agent.train(self._mdp, n_steps, every=n_steps)

    def values(self) -> Floats:
        """Give Qhat of the states that count."""
        return self._agent.read_values(self._mdp.observations[self._mdp.states])

    def n_rules(self) -> int | None:
        """Count the rules."""
        return len(self._agent.rules)


class Stepwise:
    """XCSF as environments that live in Python teach it: one call to act, one to learn."""

    def __init__(self, mdp: TabularMdp, seed: int, config: XcsfConfig) -> None:
        self._mdp = mdp
        self._agent = XCSF.on(mdp, config, seed=seed)
        self._seen: Sequence[object] = list(mdp.observations)

    def begin(self) -> None:
        """Start an episode."""

    def act(self, state: int) -> int:
        """Choose an action."""
        return self._agent.act(self._seen[state])

    def learn(self, reward: float, next_state: int, *, is_end: bool) -> None:
        """Learn from what came of it."""
        self._agent.learn(reward, self._seen[next_state], terminated=is_end)

    def values(self) -> Floats:
        """Give Qhat of the states that count."""
        return self._agent.read_values(self._mdp.observations[self._mdp.states])

    def n_rules(self) -> int | None:
        """Count the rules."""
        return len(self._agent.rules)


PAPER: Final = presets.bishop2020()
LIKE_NEAREST: Final = PAPER.replace(
    condition=UnorderedBounds(),
    error="plain",
    selection="micro_tournament",
    deletion_mean="butz_wilson",
)
LIKE_SUITED: Final = PAPER.replace(population_size=2000, prediction=Rls())

OWN: Final = (
    Entry("xcskit, the paper's setting", partial(Compiled, config=PAPER)),
    Entry("xcskit, options as xcsf has them", partial(Compiled, config=LIKE_NEAREST)),
    Entry("xcskit, RLS and N 2,000", partial(Compiled, config=LIKE_SUITED)),
    Entry(
        "xcskit, the paper's setting, a step at a time from Python",
        driven(partial(Stepwise, config=PAPER)),
    ),
    Entry("Q-learning, compiled", CompiledQ),
    Entry("Q-learning, plain Python", driven(PlainQ)),
    Entry(LOOP, driven(Idler)),
)
"""What this project brings; its settings are the paper's, or Q-learning's customary ones."""
