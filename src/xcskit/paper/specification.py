"""What the paper runs, as a specification; on its own map or on another one."""

from pathlib import Path

from xcskit.errors import ConfigurationError
from xcskit.experiments import Specification
from xcskit.mdp import random_lake_map
from xcskit.mdp.grids import read_rows
from xcskit.validation import check_integer

__all__ = ["PAPER_MAP", "VARIANTS", "lake_of", "paper_specification"]

PAPER_MAP = "8x8"

VARIANTS = {"p0": 0.0, "p0.1": 0.1}
"""The slip of each variant of the environment."""

_STEPS = {"p0": 400_000, "p0.1": 800_000}
_EVERY = 5_000
_QUICK = 8
"""By how much a quick run trains shorter."""


def paper_specification(
    *, instances: int = 30, seed: int = 1, lake: str | list[str] = PAPER_MAP, quick: bool = False
) -> Specification:
    """Give the paper's experiment: both variants, its hyperparameters and its budgets.

    Parameters
    ----------
    instances
        How many seeds; spreads need at least two.
    seed
        The first seed.
    lake
        A map's name, or its rows (see ``lake_of``).
    quick
        Whether to train for an eighth of the steps, for a demonstration.

    Notes
    -----
    Bishop and Gallagher (2020), Section "Training Experiments", Setup.

    Examples
    --------
    >>> specification = paper_specification()
    >>> len(specification.trials())
    60
    """
    check_integer("instances", instances, 2, 10_000)
    check_integer("seed", seed, 0)
    shrink = _QUICK if quick else 1
    return Specification(
        name="paper, quick" if quick else "paper",
        environments={
            name: {"lake": lake, "slip": slip, "steps": _STEPS[name] // shrink}
            for name, slip in VARIANTS.items()
        },
        configurations={"bishop2020": {"preset": "bishop2020"}},
        seeds=range(seed, seed + instances),
        measurements={"every": _EVERY // shrink},
    )


def lake_of(text: str, seed: int = 0) -> str | list[str]:
    """Give the lake that a person names.

    Parameters
    ----------
    text
        ``8x8`` or ``4x4``, Gymnasium's maps; any other ``WIDTHxHEIGHT``, a random map of that size;
        or the path of a text file with the rows of a map.
    seed
        What a random map is drawn from.

    Returns
    -------
    str or list of str
        A name, or rows.
    """
    if text in {"8x8", "4x4"}:
        return text
    width, cross, height = text.partition("x")
    if cross and width.isdecimal() and height.isdecimal():
        return random_lake_map(int(width), int(height), seed=seed)
    if not Path(text).is_file():
        msg = f"map {text!r} is neither a size, such as 12x12, nor a file; name one of these"
        raise ConfigurationError(msg)
    return read_rows(Path(text))
