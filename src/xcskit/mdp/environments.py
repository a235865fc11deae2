"""Environments by name: a table, then files, then whatever Gymnasium knows."""

import difflib
import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from xcskit.errors import ConfigurationError, ModelError
from xcskit.mdp.arrays import load_arrays
from xcskit.mdp.from_gymnasium import from_gymnasium
from xcskit.mdp.grids import read_rows
from xcskit.mdp.lake import frozen_lake, random_lake_map
from xcskit.mdp.maze import MAZES, maze
from xcskit.mdp.model import TabularMdp

__all__ = ["ENVIRONMENTS", "load_environment"]


def _random_lake(
    *,
    width: int = 8,
    height: int = 8,
    seed: int = 0,
    hole_probability: float = 0.2,
    slip: float = 0.0,
) -> TabularMdp:
    rows = random_lake_map(width, height, seed=seed, hole_probability=hole_probability)
    return frozen_lake(rows, slip=slip)


ENVIRONMENTS: Final[dict[str, Callable[..., TabularMdp]]] = {
    "frozenlake-4x4": partial(frozen_lake, "4x4"),
    "frozenlake-8x8": partial(frozen_lake, "8x8"),
    "frozenlake-random": _random_lake,
    **{name: partial(maze, name) for name in MAZES},
    "cliffwalking": partial(from_gymnasium, "CliffWalking-v1"),
    "cliffwalking-slippery": partial(from_gymnasium, "CliffWalking-v1", is_slippery=True),
    "taxi": partial(from_gymnasium, "Taxi-v4"),
}


def load_environment(
    name: str | Path,
    /,
    **options: Any,  # noqa: ANN401 - each environment has its own
) -> TabularMdp:
    """Give the model that a name stands for.

    Parameters
    ----------
    name
        A name in ``ENVIRONMENTS``; or a file: a map of a lake or a maze as text, or arrays
        (``.npz``); or the id of a Gymnasium environment that exposes its model.
    **options
        For whatever builds it, as ``slip`` for lakes and mazes.

    Examples
    --------
    >>> load_environment("frozenlake-8x8", slip=0.1)
    TabularMdp('frozenlake-8x8', 64 states, 4 actions, 680 outcomes)
    """
    given = cast("object", name)
    if not isinstance(given, (str, Path)):
        msg = f"an environment is named by a text or a path: got {given!r} ({type(given).__name__})"
        raise ConfigurationError(msg)
    build = _find(name)
    try:
        inspect.signature(build).bind(**options)
    except TypeError:
        known = [key for key, kind in inspect.signature(build).parameters.items()
                 if kind.kind is kind.KEYWORD_ONLY]  # fmt: skip
        msg = (
            f"environment {str(name)!r} does not take {sorted(set(options) - set(known))}; "
            f"its options are {known}"
        )
        raise ConfigurationError(msg) from None
    return build(**options)


def _find(name: str | Path) -> Callable[..., TabularMdp]:
    if str(name).lower() in ENVIRONMENTS:
        return ENVIRONMENTS[str(name).lower()]
    path = Path(name)
    if _is_file(path):
        return partial(load_arrays, path) if path.suffix == ".npz" else _map_builder(path)
    if _is_gymnasium_id(str(name)):
        return partial(from_gymnasium, str(name))
    near = difflib.get_close_matches(str(name).lower(), ENVIRONMENTS, n=3, cutoff=0.5)
    msg = (
        f"no environment is called {str(name)!r}, and no file or Gymnasium environment is; "
        f"{'did you mean ' + ' or '.join(near) if near else 'known are ' + ', '.join(ENVIRONMENTS)}"
    )
    raise ModelError(msg)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for one, or a folder that may not be read
        return False


def _map_builder(path: Path) -> Callable[..., TabularMdp]:
    rows = read_rows(path)
    characters = set("".join(rows))
    build = maze if characters & {"*", "O"} and not characters & {"S", "H", "G"} else frozen_lake
    return partial(build, rows)


def _is_gymnasium_id(name: str) -> bool:
    import gymnasium  # noqa: PLC0415 - slow to import

    return name in gymnasium.registry
