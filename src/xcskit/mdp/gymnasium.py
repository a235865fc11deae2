"""Models as Gymnasium environments; importing ``xcskit.mdp`` registers ours under ``xcskit/``."""

# Gymnasium leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from bisect import bisect_right
from typing import Any, ClassVar, Final, get_args

import gymnasium
import numpy as np
from gymnasium import spaces

from xcskit.errors import SpaceError
from xcskit.mdp.environments import load_environment
from xcskit.mdp.model import Starts, TabularMdp
from xcskit.typing import Ints
from xcskit.validation import check_choice

__all__ = ["IDS", "TabularEnv"]

IDS: Final = {
    "xcskit/FrozenLake4x4-v0": "frozenlake-4x4",
    "xcskit/FrozenLake8x8-v0": "frozenlake-8x8",
    "xcskit/FrozenLakeRandom-v0": "frozenlake-random",
    "xcskit/Woods1-v0": "woods1",
    "xcskit/Woods14-v0": "woods14",
    "xcskit/Maze4-v0": "maze4",
    "xcskit/Maze5-v0": "maze5",
    "xcskit/Maze6-v0": "maze6",
}
"""Gymnasium's ids of the environments that are xcskit's own, and their names in ``ENVIRONMENTS``.

They have no time limit unless ``gymnasium.make`` is given one.
"""


class TabularEnv(gymnasium.Env[Ints, np.int64]):
    """A Gymnasium environment that behaves as a model says.

    Parameters
    ----------
    environment
        A model, or what ``load_environment`` makes one of.
    starts
        Which of the model's start distributions episodes begin with.
    render_mode
        ``"ansi"`` for text: the map with the agent's cell in brackets, or what the agent sees.
    **options
        For ``load_environment``.

    Notes
    -----
    **Observations** are rows of the model's space, as ``MultiDiscrete``. **Actions** are the
    model's, as ``Discrete``. ``info`` has the number of the model's ``state``, and ``is_success``.
    A start and a step take one uniform each from ``np_random``, and find the outcome as training
    on the model does.

    Examples
    --------
    >>> import gymnasium
    >>> env = gymnasium.make("xcskit/FrozenLake8x8-v0", slip=0.1, starts="test")
    >>> env.reset(seed=2)
    (array([0, 0]), {'state': 0, 'is_success': False})
    >>> env.step(2)
    (array([1, 0]), 0.0, False, False, {'state': 1, 'is_success': False})
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - as Gymnasium declares it

    _NOWHERE: ClassVar = -1

    def __init__(
        self,
        environment: str | TabularMdp,
        *,
        starts: Starts = "training",
        render_mode: str | None = None,
        **options: Any,  # noqa: ANN401 - each environment has its own
    ) -> None:
        self.mdp: TabularMdp = (
            environment
            if isinstance(environment, TabularMdp)
            else load_environment(environment, **options)
        )
        check_choice("starts", starts, get_args(Starts))
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        space = self.mdp.space
        self.observation_space = spaces.MultiDiscrete(list(space.sizes), start=list(space.lower))
        self.action_space = spaces.Discrete(self.mdp.n_actions)
        model = self.mdp.kernel_model(starts)
        self._first: list[int] = model.first.tolist()
        self._cumulative: list[float] = model.cumulative.tolist()
        self._start: list[int] = model.start.tolist()
        self._start_cumulative: list[float] = model.start_cumulative.tolist()
        self._state = self._NOWHERE
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Ints, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed, options=options)
        row = bisect_right(self._start_cumulative, self.np_random.random())
        self._state = self._start[min(row, len(self._start) - 1)]
        self._is_over = False
        return self._observe(), {"state": self._state, "is_success": False}

    def step(self, action: np.int64 | int) -> tuple[Ints, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        if self._is_over:
            msg = f"the episode on {self.mdp.name!r} is over, or none has begun: call reset"
            raise gymnasium.error.ResetNeeded(msg)
        if not self.action_space.contains(action):
            msg = f"actions of {self.mdp.name!r} are 0 to {self.mdp.n_actions - 1}: got {action!r}"
            raise SpaceError(msg)
        pair = self._state * self.mdp.n_actions + int(action)
        first, last = self._first[pair], self._first[pair + 1] - 1
        row = bisect_right(self._cumulative, self.np_random.random(), first, last)
        table = self.mdp.outcomes
        self._state = int(table.next_state[row])
        self._is_over = bool(table.is_terminated[row])
        info = {"state": self._state, "is_success": bool(table.is_success[row])}
        return self._observe(), float(table.reward[row]), self._is_over, False, info

    def _observe(self) -> Ints:
        seen: Ints = self.mdp.observations[self._state].copy()
        return seen

    def render(self) -> str | None:
        """Show where the agent is, as text."""
        if self.render_mode is None or self._state == self._NOWHERE:
            return None
        layout = self.mdp.layout
        if layout is None:
            return self.mdp.describe_state(self._state)
        cells = [[f" {letter} " for letter in row] for row in layout.rows]
        x, y = layout.positions[self._state].tolist()
        cells[y][x] = f"[{layout.rows[y][x]}]"
        return "\n".join("".join(row) for row in cells)


for _id, _name in IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(_id, entry_point=f"{__name__}:TabularEnv", kwargs={"environment": _name})
