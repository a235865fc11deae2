"""Rule sets for people: as text, as a table in a terminal, as a table in a notebook."""

import html
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from xcskit.rules.ruleset import RuleSet

__all__ = ["Clauses", "clauses", "html_table", "sentences", "table", "table_of_strongest", "text"]

_SHOWN = 12
_WORDS = ("IF", "THEN", "predict")
_NUMBERS = ("fitness", "prediction_error", "numerosity", "experience", "generality")
"""Columns of the rule table beside the words; the first are the last to go for want of width."""


class Clauses(NamedTuple):
    """The parts of a rule's sentence: IF condition THEN action: prediction (standing)."""

    condition: str
    action: str
    prediction: str
    standing: str


def clauses(rules: "RuleSet") -> list[Clauses]:
    """Put each rule into words, in rule order and in parts."""
    return [
        Clauses(*_words(rules, row), f"fitness {row['fitness']:.2g}, x{row['numerosity']}")
        for row in _rows(rules)
    ]


def sentences(rules: "RuleSet") -> list[str]:
    """Put each rule into words, in rule order."""
    return [
        f"IF {condition} THEN {action}: {prediction} ({standing})"
        for condition, action, prediction, standing in clauses(rules)
    ]


def text(rules: "RuleSet") -> str:
    """Say the size and the space, and the rules of the greatest numerosity in words."""
    lines = [_summary(rules), *(f"  {line}" for line in sentences(_strongest(rules)))]
    return "\n".join([*lines, f"  .. {_rest(rules)}"] if _rest(rules) else lines)


def table(
    rules: "RuleSet", console: "Console", width: int, *, title: str, sort: str = "", rest: str = ""
) -> "Table":
    """Show rules as a table for a terminal, with as many numbers as leave the words whole.

    Parameters
    ----------
    rules
        The rules, in the order in which they are shown.
    console, width
        The terminal, and how many of its columns there are.
    title, rest
        What stands above, and what is not shown.
    sort
        The column by which the rules are sorted, whose numbers come first.
    """
    first = () if sort in {"", "action"} else (sort,)
    numbers = [*first, *(name for name in _NUMBERS if name not in first)]
    unbounded = console.options.update(width=sys.maxsize)
    while True:
        hidden = [name for name in _NUMBERS if name not in numbers]
        wider = f"a wider terminal shows {', '.join(map(_heading, hidden))} too" if hidden else ""
        shown = _table(rules, numbers, title, "; ".join(filter(None, (rest, wider))))
        if len(numbers) == 1 or console.measure(shown, options=unbounded).maximum <= width:
            return shown
        numbers.pop()


def _table(rules: "RuleSet", numbers: Sequence[str], title: str, caption: str) -> "Table":
    from rich.table import Table  # noqa: PLC0415 - only where one is shown
    from rich.text import Text  # noqa: PLC0415 - only where one is shown

    shown = Table(
        title=Text(title), caption=Text(caption), title_justify="left", caption_justify="left"
    )
    for heading in _WORDS:
        shown.add_column(heading)
    for name in numbers:
        shown.add_column(_heading(name), justify="right")
    for cells in _cells(rules, numbers):
        shown.add_row(*map(Text, cells))
    return shown


def table_of_strongest(rules: "RuleSet", console: "Console", width: int) -> "Table":
    """Show the rules of the greatest numerosity as a table for a terminal."""
    return table(_strongest(rules), console, width, title=_summary(rules), rest=_rest(rules))


def html_table(rules: "RuleSet") -> str:
    """Show the rules of the greatest numerosity as a table for a notebook."""
    head = "".join(f"<th>{heading}</th>" for heading in (*_WORDS, *map(_heading, _NUMBERS)))
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in _cells(_strongest(rules), _NUMBERS)
    )
    summary, rest = html.escape(_summary(rules)), html.escape(_rest(rules))
    return f"<p>{summary}</p><table><tr>{head}</tr>{body}</table><p>{rest}</p>"


def _rows(rules: "RuleSet") -> list[dict[str, float]]:
    return rules.to_polars().rows(named=True)


def _words(rules: "RuleSet", row: Mapping[str, float]) -> tuple[str, str, str]:
    return (
        rules.condition.sentence(row, rules.space),
        rules.action_names[int(row["action"])],
        rules.prediction.sentence(row, rules.space),
    )


def _cells(rules: "RuleSet", numbers: Sequence[str]) -> list[tuple[str, ...]]:
    return [
        (*_words(rules, row), *(_number(row[name]) for name in numbers)) for row in _rows(rules)
    ]


def _number(value: float) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _heading(name: str) -> str:
    return {"prediction_error": "error"}.get(name, name.replace("_", " "))


def _summary(rules: "RuleSet") -> str:
    space = rules.space
    ranges = ", ".join(
        f"{name} {low} to {high}"
        for name, low, high in zip(space.names, space.lower, space.upper, strict=True)
    )
    return (
        f"{len(rules)} rule{'' if len(rules) == 1 else 's'} "
        f"({rules.n_microclassifiers} microclassifiers) over {ranges}; "
        f"{rules.condition.name}, {rules.prediction.name}"
    )


def _strongest(rules: "RuleSet") -> "RuleSet":
    return rules[np.argsort(-rules["numerosity"], kind="stable")[:_SHOWN]]


def _rest(rules: "RuleSet") -> str:
    n_more = len(rules) - _SHOWN
    return f"{n_more} more, of lesser numerosity" if n_more > 0 else ""
