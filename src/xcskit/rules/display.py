"""Rule sets for people: as text, as a table in a terminal, as a table in a notebook."""

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rich.table import Table

    from xcskit.rules.ruleset import RuleSet

__all__ = ["Clauses", "clauses", "html_table", "sentences", "table", "text"]

_SHOWN = 12
_HEADINGS = ("IF", "THEN", "predict", "fitness", "error", "experience", "numerosity", "generality")
_N_WORDS = 3


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


def table(rules: "RuleSet") -> "Table":
    """Show the rules of the greatest numerosity as a table for a terminal."""
    from rich.table import Table  # noqa: PLC0415 - only where one is shown
    from rich.text import Text  # noqa: PLC0415 - only where one is shown

    shown = Table(title=Text(_summary(rules)), caption=Text(_rest(rules)))
    for k, heading in enumerate(_HEADINGS):
        shown.add_column(heading, justify="left" if k < _N_WORDS else "right")
    for cells in _cells(rules):
        shown.add_row(*(Text(cell) for cell in cells))
    return shown


def html_table(rules: "RuleSet") -> str:
    """Show the rules of the greatest numerosity as a table for a notebook."""
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in _cells(rules)
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


def _cells(rules: "RuleSet") -> list[tuple[str, ...]]:
    strongest = _strongest(rules)
    return [
        (
            *_words(strongest, row),
            f"{row['fitness']:.3g}",
            f"{row['prediction_error']:.3g}",
            str(row["experience"]),
            str(row["numerosity"]),
            f"{row['generality']:.3g}",
        )
        for row in _rows(strongest)
    ]


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
