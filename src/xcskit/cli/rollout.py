"""``xcskit rollout``: the rules' policy, followed."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from xcskit.cli.display import print_numbers, working
from xcskit.cli.environments import EnvironmentOptions, Slip
from xcskit.cli.files import TABLES, check_writable, table_bytes
from xcskit.cli.models import ModelEnvironment, ModelFile, read_model, world_of
from xcskit.errors import ConfigurationError
from xcskit.files import write_atomically

__all__ = ["rollout"]


def rollout(
    model: ModelFile,
    *,
    env: ModelEnvironment = None,
    slip: Slip = None,
    option: EnvironmentOptions = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="As Bishop and Gallagher (2020): to 100 successes in at most 150 episodes, with "
            "the random numbers of the authors' program.",
        ),
    ] = False,
    episodes: Annotated[
        int | None, typer.Option(min=1, help="At most so many episodes; 1000, or 150 for --paper.")
    ] = None,
    successes: Annotated[
        int | None, typer.Option(min=1, help="Stop at so many successes; never, or at 100.")
    ] = None,
    step_limit: Annotated[int, typer.Option(min=1, help="The longest episode.")] = 200,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Where random numbers start: 1, or fixed by --paper.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a row for each episode (.parquet, .csv)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Follow the greedy policy of rules through episodes, from the test starts.

    Example: xcskit rollout lake.parquet --env frozenlake-8x8 --slip 0.1 --paper
    """
    if output is not None:
        check_writable(output, force=force, suffixes=TABLES)
    if paper and seed is not None:
        msg = "--paper has random numbers of its own; leave --seed out"
        raise ConfigurationError(msg)
    from xcskit import evaluation

    rules = read_model(model)
    world = world_of(rules, env, slip, option)
    policy = rules.policy(world.observations[world.states])
    with working("rolling out", is_quiet=as_json):
        if paper:
            found = evaluation.paper_rollouts(
                world,
                policy,
                n_episodes=episodes or 150,
                n_successes=successes or 100,
                step_limit=step_limit,
            )
        else:
            found = evaluation.rollouts(
                world,
                policy,
                seed=1 if seed is None else seed,
                n_episodes=episodes or 1000,
                n_successes=successes,
                step_limit=step_limit,
            )
    if output is not None:
        write_atomically(output, table_bytes(found.table(), output.suffix))
    if as_json:
        sys.stdout.write(json.dumps(found.summary()) + "\n")
        return
    print_numbers(world.name, found.summary())
