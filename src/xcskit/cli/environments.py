"""The environment that a command line names."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from xcskit.cli.completion import names_in
from xcskit.errors import ConfigurationError

if TYPE_CHECKING:
    from xcskit.mdp import TabularMdp

__all__ = ["ENVIRONMENT_NAMES", "EnvironmentName", "EnvironmentOptions", "Slip", "read_environment"]

ENVIRONMENT_NAMES = names_in("xcskit.mdp", "ENVIRONMENTS")
"""Completes the name of an environment."""
EnvironmentName = Annotated[
    str,
    typer.Argument(
        metavar="ENV",
        autocompletion=ENVIRONMENT_NAMES,
        help="A name as frozenlake-8x8, maze5, taxi or cliffwalking; the file of a map or of "
        "arrays (.npz); or a Gymnasium id.",
    ),
]
Slip = Annotated[
    float | None, typer.Option(min=0.0, max=1.0, help="Probability that a move slips.")
]
EnvironmentOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        metavar="NAME=VALUE",
        help="Another option of the environment, as view=sensors. Can be repeated.",
    ),
]


def read_environment(name: str, slip: float | None, options: list[str] | None) -> "TabularMdp":
    """Give the model that a command line names."""
    from xcskit.mdp import load_environment

    settings = dict(_setting(option) for option in options or ())
    if slip is not None and settings.setdefault("slip", slip) != slip:
        msg = f"slip is {slip} by --slip, and {settings['slip']} by --option: give one of them"
        raise ConfigurationError(msg)
    return load_environment(name, **settings)


def _setting(option: str) -> tuple[str, object]:
    name, separator, value = option.partition("=")
    if not (name and separator):
        msg = f"--option {option} is not of the form NAME=VALUE"
        raise ConfigurationError(msg)
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
