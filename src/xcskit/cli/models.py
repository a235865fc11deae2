"""What a command line names by MODEL: rules, and the environment that they were trained on."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from xcskit.cli.environments import ENVIRONMENT_NAMES, read_environment
from xcskit.errors import ConfigurationError

if TYPE_CHECKING:
    from xcskit.mdp import TabularMdp
    from xcskit.rules import RuleSet

__all__ = [
    "Gamma",
    "ModelEnvironment",
    "ModelFile",
    "discount_of",
    "note_environment",
    "read_model",
    "world_of",
]

_NOTED: Final = "environment"
_CHECKPOINT: Final = b"PK"

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A saved rule set, or a checkpoint of training.")
]
ModelEnvironment = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="ENV",
        autocompletion=ENVIRONMENT_NAMES,
        help="The environment of the rules; none given means the one that train noted in MODEL.",
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Discount factor; none given means that of the training."),
]


def note_environment(name: str, slip: float | None, options: list[str] | None) -> dict[str, Any]:
    """Give the metadata that lets ``world_of`` find an environment again."""
    return {_NOTED: {"name": name, "slip": slip, "options": list(options or ())}}


def read_model(path: Path) -> "RuleSet":
    """Read a rule set, from its own file or from a checkpoint."""
    from xcskit.rules import RuleSet

    with path.open("rb") as file:
        is_checkpoint = file.read(len(_CHECKPOINT)) == _CHECKPOINT
    if not is_checkpoint:
        return RuleSet.load(path)
    from xcskit.learner import XCSF

    agent = XCSF.load(path)
    return agent.rules.with_metadata(history=agent.rows)


def world_of(
    rules: "RuleSet", env: str | None, slip: float | None, options: list[str] | None
) -> "TabularMdp":
    """Give the environment that a command line names, or else the one that the rules note."""
    from xcskit.compaction.task import check_fit

    if env is None:
        noted = _mapping(rules.metadata.get(_NOTED))
        env = noted.get("name")
        slip = noted.get("slip") if slip is None else slip
        options = noted.get("options") if options is None else options
    if not isinstance(env, str):
        msg = "the rules do not tell which environment they were trained on: give --env"
        raise ConfigurationError(msg)
    world = read_environment(env, slip, options)
    check_fit(rules, world)
    return world


def discount_of(rules: "RuleSet", gamma: float | None) -> float:
    """Give the discount factor that a command line names, or else that of the training."""
    if gamma is not None:
        return gamma
    noted = _mapping(rules.metadata.get("configuration")).get("discount")
    if not isinstance(noted, float):
        msg = "the rules do not tell with which discount they were trained: give --gamma"
        raise ConfigurationError(msg)
    return noted


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
