"""``xcskit show``: the rules, to be read."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xcskit.cli.models import ModelFile, read_model
from xcskit.errors import ConfigurationError

if TYPE_CHECKING:
    from xcskit.rules import RuleSet
    from xcskit.typing import Bools

__all__ = ["show"]


def show(
    model: ModelFile,
    *,
    where: Annotated[
        str | None,
        typer.Option(
            help="Only rules for which this holds, as 'numerosity > 5 AND fitness > 0.1'."
        ),
    ] = None,
    action: Annotated[str | None, typer.Option(help="Only rules for this action.")] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Only rules that match this observation, its numbers as 3,4."),
    ] = None,
    sort: Annotated[str, typer.Option(help="The column to sort by.")] = "numerosity",
    ascending: Annotated[
        bool, typer.Option("--ascending", help="Sort from the least value up.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="How many rules to show; 0 for all.")] = 20,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Show each rule as a sentence.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Show rules: all or some, as a table or as sentences, sorted by any column.

    Example: xcskit show lake.parquet --action right --where "fitness > 0.1" --sort generality
    """
    rules = read_model(model)
    chosen = _chosen(rules, where, action, at)
    ordered = _ordered(chosen, sort, is_ascending=ascending)
    shown = ordered[:limit] if limit else ordered
    if as_json:
        rows = [{**_words(shown, row), **row} for row in _rows(shown)]
        sys.stdout.write(json.dumps(rows) + "\n")
    elif sentences:
        sys.stdout.write("".join(f"{sentence}\n" for sentence in shown.sentences()))
    else:
        _print(shown, len(chosen), len(rules), sort)


def _chosen(rules: "RuleSet", where: str | None, action: str | None, at: str | None) -> "RuleSet":
    if action is not None:
        if action not in rules.action_names:
            msg = f"--action is one of {', '.join(rules.action_names)}: got {action!r}"
            raise ConfigurationError(msg)
        is_for_it: Bools = rules.actions == rules.action_names.index(action)
        rules = rules[is_for_it]
    if at is not None:
        rules = _matching(rules, at)
    return rules if where is None else _filtered(rules, where)


def _matching(rules: "RuleSet", at: str) -> "RuleSet":
    import numpy as np

    from xcskit.rules import Niches

    try:
        observation = [int(value) for value in at.split(",")]
    except ValueError:
        msg = f"--at takes whole numbers with commas between them: got {at!r}"
        raise ConfigurationError(msg) from None
    return rules[np.sort(Niches.of(rules, observation).members)]


def _filtered(rules: "RuleSet", where: str) -> "RuleSet":
    import polars as pl

    try:
        condition: pl.Expr = pl.sql_expr(where)
        return rules.filter(condition)
    except pl.exceptions.PolarsError as reason:
        columns = ", ".join(rules.to_polars().columns)
        msg = f"--where {where!r} is no condition over the columns {columns}: {reason}"
        raise ConfigurationError(msg) from None


def _ordered(rules: "RuleSet", sort: str, *, is_ascending: bool) -> "RuleSet":
    import numpy as np

    columns = rules.to_polars().columns
    if sort not in columns:
        msg = f"--sort is one of {', '.join(columns)}: got {sort!r}"
        raise ConfigurationError(msg)
    key = rules[sort]
    return rules[np.argsort(key if is_ascending else -key, kind="stable")]


def _rows(rules: "RuleSet") -> list[dict[str, Any]]:
    return rules.to_polars().rows(named=True)


def _words(rules: "RuleSet", row: dict[str, Any]) -> dict[str, str]:
    return {
        "if": rules.condition.sentence(row, rules.space),
        "then": rules.action_names[row["action"]],
        "predict": rules.prediction.sentence(row, rules.space),
    }


def _print(shown: "RuleSet", n_chosen: int, n_rules: int, sort: str) -> None:
    from xcskit.cli.display import new_console
    from xcskit.rules.display import table

    chosen = "" if n_chosen == n_rules else f"{n_chosen} chosen, "
    title = f"{n_rules} rules, {chosen}{len(shown)} shown"
    console = new_console()
    console.print(table(shown, console, console.width, title=title, sort=sort))
