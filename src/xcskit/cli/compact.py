"""``xcskit compact``: fewer rules, and what that costs."""

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xcskit.cli.completion import names_in
from xcskit.cli.display import print_table, working
from xcskit.cli.environments import EnvironmentOptions, Slip
from xcskit.cli.files import TABLES, check_writable, table_bytes
from xcskit.cli.models import Gamma, ModelEnvironment, ModelFile, discount_of, read_model, world_of
from xcskit.errors import ConfigurationError
from xcskit.files import write_atomically

if TYPE_CHECKING:
    from xcskit.compaction import GnmcPath, Method
    from xcskit.mdp import Solution
    from xcskit.rules import Niches, RuleSet
    from xcskit.typing import Bools

__all__ = ["compact"]


def compact(
    model: ModelFile,
    *,
    env: ModelEnvironment = None,
    method: Annotated[
        str,
        typer.Option(
            autocompletion=names_in("xcskit.compaction", "METHODS"),
            help="gnmc, pdrc, cra2, qrc, fu, threshold or minimal.",
        ),
    ] = "gnmc",
    mass: Annotated[
        str | None,
        typer.Option(
            autocompletion=names_in("xcskit.compaction", "MASSES"),
            help="gnmc, qrc: fitness, tan, inverse_fitness, dixon, numerosity or experience.",
        ),
    ] = None,
    rho: Annotated[
        float | None, typer.Option(help="gnmc: the mass removal factor, in [0, 1).")
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="minimal: how far Qhat may move anywhere.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="minimal: what to make least, rules or microclassifiers.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="minimal: seconds.")] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            autocompletion=names_in("xcskit.compaction", "LOSSES"),
            help="fu: greatest_change, mean_change, mean_absolute_error, policy_change or regret.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="fu: by how much the loss may grow.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="fu: the mass by which rules are tried, lightest first.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="threshold: a column of the rule table.")
    ] = None,
    at_least: Annotated[
        float | None, typer.Option(help="threshold: from which value a rule stays.")
    ] = None,
    repair: Annotated[
        bool | None, typer.Option(help="threshold: put rules back where none is left.")
    ] = None,
    slip: Slip = None,
    option: EnvironmentOptions = None,
    gamma: Gamma = None,
    path: Annotated[
        bool, typer.Option("--path", help="gnmc: every rho instead of one; --output takes a table.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the rules that are kept (.parquet).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Compact a rule set, and say what it was before and what it is after.

    Example: xcskit compact lake.parquet --env frozenlake-8x8 --slip 0.1 --rho 0.99 -o small.parquet
    """
    if output is not None:
        check_writable(output, force=force, suffixes=TABLES if path else (".parquet",))
    given = {
        "mass": mass,
        "rho": rho,
        "within": within,
        "weights": weights,
        "time_limit": time_limit,
        "loss": loss,
        "tolerance": tolerance,
        "order": order,
        "column": column,
        "at_least": at_least,
        "repair": repair,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    if path and (method != "gnmc" or rho is not None):
        msg = "--path shows every rho of gnmc; it goes with --mass, not with --rho or other methods"
        raise ConfigurationError(msg)
    chosen = _method(method, settings)
    from xcskit import compaction, mdp
    from xcskit.compaction.task import check_task

    full = read_model(model)
    world = world_of(full, env, slip, option)
    niches = compaction.model_niches(full, world)
    check_task(full, niches)
    solution = mdp.solve(world, discount_of(full, gamma))
    if path:
        trace = compaction.gnmc_path(full, niches, mass or "fitness")
        _report_path(trace, solution, output, as_json=as_json)
    else:
        _report_set(chosen, full, niches, solution, output, as_json=as_json)


def _method(name: str, settings: dict[str, Any]) -> "Method":
    from xcskit.compaction import METHODS

    if name not in METHODS:
        msg = f"--method is one of {', '.join(METHODS)}: got {name!r}"
        raise ConfigurationError(msg)
    kind: Any = METHODS[name]
    known = [field.name for field in fields(kind)]
    strange = [setting for setting in settings if setting not in known]
    if strange:
        takes = ", ".join(_flag(setting) for setting in known) or "no settings"
        msg = f"method {name} does not take {_flag(strange[0])}; it takes {takes}"
        raise ConfigurationError(msg)
    chosen: Method = kind(**settings)
    return chosen


def _flag(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def _report_set(
    method: "Method",
    rules: "RuleSet",
    niches: "Niches",
    solution: "Solution",
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    from xcskit.compaction.report import measure
    from xcskit.compaction.task import describe

    with working("compacting", is_quiet=as_json):
        kept, proof = _select(method, rules, niches, solution)
    before = measure(rules, niches, kept | True, solution)
    after = measure(rules, niches, kept, solution)
    if output is not None:
        rules[kept].with_metadata(compaction=describe(method)).save(output)
    if as_json:
        words = {**describe(method), "before": before, "after": after, **proof}
        sys.stdout.write(json.dumps(words) + "\n")
        return
    rows = [(name.replace("_", " "), before[name], after[name]) for name in before]
    rows += [(name.replace("_", " "), "", value) for name, value in proof.items()]
    print_table(str(describe(method)["method"]), ("", "before", "after"), rows)


def _select(
    method: "Method", rules: "RuleSet", niches: "Niches", solution: "Solution"
) -> tuple["Bools", dict[str, Any]]:
    """Choose the rules, and tell what is proven of their number, where anything is."""
    from xcskit.compaction import Minimal

    if not isinstance(method, Minimal):
        return method.select(rules, niches, solution), {}
    found = method.solve(rules, niches)
    return found.kept, {"status": found.status, f"fewest_{method.weights}_proven": found.bound}


def _report_path(
    path: "GnmcPath", solution: "Solution", output: Path | None, *, as_json: bool
) -> None:
    table = path.table(solution)
    if output is not None:
        write_atomically(output, table_bytes(table, output.suffix))
    if as_json:
        sys.stdout.write(json.dumps(table.to_dicts()) + "\n")
        return
    print_table(repr(path), tuple(table.columns), table.rows())
