"""``xcskit evaluate``: rules beside the optimum."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xcskit.cli.display import print_numbers, working
from xcskit.cli.environments import EnvironmentOptions, Slip
from xcskit.cli.files import TABLES, check_writable, table_bytes
from xcskit.cli.models import Gamma, ModelEnvironment, ModelFile, discount_of, read_model, world_of
from xcskit.files import write_atomically

if TYPE_CHECKING:
    from xcskit.evaluation import Evaluation

__all__ = ["evaluate"]


def evaluate(
    model: ModelFile,
    *,
    env: ModelEnvironment = None,
    slip: Slip = None,
    option: EnvironmentOptions = None,
    gamma: Gamma = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a row for each state (.parquet, .csv)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Judge rules by the optimum: value error, policy accuracy, regret, success, steps to the goal.

    All numbers are exact; nothing is sampled. Pairs that no rule matches are counted and named.

    Example: xcskit evaluate lake.parquet --env frozenlake-8x8 --slip 0.1
    """
    if output is not None:
        check_writable(output, force=force, suffixes=TABLES)
    from xcskit import mdp
    from xcskit.evaluation import evaluate_q

    rules = read_model(model)
    world = world_of(rules, env, slip, option)
    discount = discount_of(rules, gamma)
    with working("evaluating", is_quiet=as_json):
        found = evaluate_q(rules, mdp.solve(world, discount), holes="mask")
    if output is not None:
        write_atomically(output, table_bytes(found.table(), output.suffix))
    words: dict[str, Any] = {
        "environment": world.name,
        "gamma": found.solution.gamma,
        "n_rules": len(rules),
        "n_microclassifiers": rules.n_microclassifiers,
        "n_states": len(found.states),
        **found.summary(),
        "max_regret": None if found.n_holes else float(found.regret.max()),
    }
    holes = _name_holes(found)
    if as_json:
        sys.stdout.write(json.dumps({**words, "holes": holes}) + "\n")
        return
    print_numbers(str(words.pop("environment")), words)
    if holes:
        sys.stdout.write("".join(f"matched by no rule: {hole}\n" for hole in holes))


def _name_holes(found: "Evaluation") -> list[str]:
    mdp = found.solution.mdp
    rows, actions = found.is_hole.nonzero()
    return [
        f"{mdp.describe_state(int(found.states[row]))} {mdp.action_names[action]}"
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True)
    ]
