"""Models that Gymnasium's environments carry in them."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import numpy as np

from xcskit.errors import ConfigurationError, ModelError
from xcskit.mdp.model import GridLayout, TabularMdp
from xcskit.mdp.outcomes import Outcomes
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints

__all__ = ["from_gymnasium"]

_Row = tuple[float, int, float, bool]


class _View(NamedTuple):
    """What an agent sees of the states of an environment, and what its actions are called."""

    space: IntegerSpace
    observations: Ints
    action_names: tuple[str, ...]
    layout: GridLayout | None = None


def from_gymnasium(
    environment: object,
    **options: Any,  # noqa: ANN401 - each environment has its own
) -> TabularMdp:
    """Take the model out of a Gymnasium environment that exposes one.

    Parameters
    ----------
    environment
        An id, as ``"Taxi-v4"``, or an environment. It has to have the attribute ``P``: for each
        state and action a list of (probability, next state, reward, terminated).
    **options
        For ``gymnasium.make``, with an id.

    Returns
    -------
    TabularMdp
        Both start distributions are the environment's own. CliffWalking and FrozenLake are seen as
        (x, y), Taxi as (row, column, passenger, destination), others as the number of the state.

    Notes
    -----
    An outcome that Gymnasium flags as terminated ends the episode, also where the model goes on
    behind it, as in Taxi and CliffWalking. Success is to end an episode with the greatest reward
    that an end gives.

    Examples
    --------
    >>> from_gymnasium("CliffWalking-v1")
    TabularMdp('CliffWalking-v1', 48 states, 4 actions, 192 outcomes)
    """
    if options and not isinstance(environment, str):
        msg = f"options {sorted(options)} are for an id; this environment is made: leave them out"
        raise ConfigurationError(msg)
    made = _make(environment, options) if isinstance(environment, str) else environment
    core = getattr(made, "unwrapped", made)
    carried = getattr(core, "mdp", None)
    if isinstance(carried, TabularMdp):
        return carried
    spec = getattr(made, "spec", None)
    name = str(spec.id) if spec is not None else type(core).__name__
    model = getattr(core, "P", None)
    if not hasattr(model, "__getitem__"):
        msg = (
            f"environment {name!r} exposes no model (no attribute P), so it cannot be solved "
            "exactly; train on it by learn_from and judge by rollouts, or give its model to "
            "from_arrays"
        )
        raise ModelError(msg)
    start = getattr(core, "initial_state_distrib", None)
    if start is None:
        msg = f"environment {name!r} tells no initial_state_distrib; give its model to from_arrays"
        raise ModelError(msg)
    rows = _rows(name, model)
    n_states, n_actions = len(rows), len(rows[0])
    kind = (str(core.__class__.__module__), type(core).__name__)
    view = _VIEWS.get(kind, _plain_view)(core, n_states, n_actions)
    return TabularMdp(
        name=name,
        space=view.space,
        observations=view.observations,
        action_names=view.action_names,
        outcomes=Outcomes.from_rows((pair for state in rows for pair in state), n_actions),
        training_start=cast("Floats", start),
        test_start=cast("Floats", start),
        layout=view.layout,
    )


def _make(name: str, options: dict[str, Any]) -> object:
    import gymnasium  # noqa: PLC0415 - slow to import

    try:
        return gymnasium.make(name, **options)
    except Exception as reason:  # noqa: BLE001 - whatever the environment's own code raises
        why = str(reason) if isinstance(reason, gymnasium.error.Error) else repr(reason)
        msg = f"Gymnasium cannot make {name!r} with options {options}: {why}"
        raise ModelError(msg) from None


def _rows(name: str, model: Any) -> list[list[list[_Row]]]:  # noqa: ANN401 - checked here
    try:
        rows = [
            [
                [(float(p), int(t), float(r), bool(end)) for p, t, r, end in model[state][action]]
                for action in range(len(model[state]))
            ]
            for state in range(len(model))
        ]
    except (KeyError, IndexError, TypeError, ValueError) as reason:
        msg = (
            f"the model of {name!r} is malformed: {type(reason).__name__} {reason}; expected "
            "P[state][action] to list (probability, next state, reward, terminated)"
        )
        raise ModelError(msg) from None
    if not rows or len({len(pairs) for pairs in rows}) != 1 or not rows[0]:
        msg = f"the model of {name!r} needs states, with equally many actions in each, at least one"
        raise ModelError(msg)
    if not all(outcomes for pairs in rows for outcomes in pairs):
        msg = f"the model of {name!r} has a state and an action without an outcome"
        raise ModelError(msg)
    return rows


def _plain_view(_core: object, n_states: int, n_actions: int) -> _View:
    return _View(
        space=IntegerSpace((0,), (n_states - 1,)),
        observations=np.arange(n_states)[:, np.newaxis],
        action_names=tuple(f"a{action}" for action in range(n_actions)),
    )


def _grid_view(rows: tuple[str, ...], moves: dict[str, tuple[int, int]]) -> _View:
    height, width = len(rows), len(rows[0])
    y, x = np.divmod(np.arange(width * height), width)
    positions = np.column_stack([x, y])
    layout = GridLayout(rows=rows, positions=positions, moves=tuple(moves.values()))
    return _View(IntegerSpace.grid(width, height), positions, tuple(moves), layout)


def _frozen_lake(core: Any, _n_states: int, _n_actions: int) -> _View:  # noqa: ANN401
    rows = tuple(b"".join(row).decode() for row in core.desc.tolist())
    return _grid_view(rows, {"left": (-1, 0), "down": (0, 1), "right": (1, 0), "up": (0, -1)})


def _cliff_walking(_core: object, _n_states: int, _n_actions: int) -> _View:
    rows = ("." * 12,) * 3 + ("S" + "C" * 10 + "G",)
    return _grid_view(rows, {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)})


def _taxi(_core: object, n_states: int, _n_actions: int) -> _View:
    sizes = (5, 5, 5, 4)
    return _View(
        space=IntegerSpace(
            (0, 0, 0, 0), (4, 4, 4, 3), ("row", "column", "passenger", "destination")
        ),
        observations=np.column_stack(np.unravel_index(np.arange(n_states), sizes)),
        action_names=("south", "north", "east", "west", "pickup", "dropoff"),
    )


_VIEWS: Final[dict[tuple[str, str], Callable[[Any, int, int], _View]]] = {
    ("gymnasium.envs.toy_text.frozen_lake", "FrozenLakeEnv"): _frozen_lake,
    ("gymnasium.envs.toy_text.cliffwalking", "CliffWalkingEnv"): _cliff_walking,
    ("gymnasium.envs.toy_text.taxi", "TaxiEnv"): _taxi,
}
"""Gymnasium's own, by module and name, since other environments may be called the same."""
