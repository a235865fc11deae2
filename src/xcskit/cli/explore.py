"""``xcskit explore``: rules to look into, as one page."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from xcskit.cli.completion import names_in
from xcskit.cli.display import working
from xcskit.cli.environments import EnvironmentOptions, Slip
from xcskit.cli.files import check_writable
from xcskit.cli.models import Gamma, ModelEnvironment, ModelFile, discount_of, read_model, world_of

__all__ = ["explore"]


def explore(
    model: ModelFile,
    *,
    env: ModelEnvironment = None,
    slip: Slip = None,
    option: EnvironmentOptions = None,
    gamma: Gamma = None,
    mass: Annotated[
        list[str] | None,
        typer.Option(
            help="A mass to compact by. Can be repeated; none given means fitness, tan and "
            "inverse_fitness.",
            autocompletion=names_in("xcskit.compaction", "MASSES"),
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page (.html).")] = Path(
        "explorer.html"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Make a page to look into rules: state by state, beside the optimum, compacting as you slide.

    The page is one file for any browser, and loads nothing from the network.

    Example: xcskit explore lake.parquet --env frozenlake-8x8 --slip 0.1 -o explorer.html
    """
    check_writable(output, force=force, suffixes=(".html",))
    from xcskit import explorer, mdp

    rules = read_model(model)
    world = world_of(rules, env, slip, option)
    discount, masses = discount_of(rules, gamma), mass or explorer.PAPER_MASSES
    with working("exploring", is_quiet=as_json):
        page = explorer.explore(rules, mdp.solve(world, discount), masses=masses)
    page.save(output)
    words = {"file": str(output), "n_rules": len(rules), "n_states": world.n_states}
    shown = f"saved {output}: {len(rules)} rules in {world.n_states} states"
    sys.stdout.write(f"{json.dumps(words) if as_json else shown}\n")
