"""The report: one page that holds everything, and needs nothing else."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import resources
from typing import Any

import polars as pl

from xcskit.paper.beyond import beyond_the_paper
from xcskit.paper.claims import CONFIDENCE, Judged, Measured, Verdict
from xcskit.paper.figures import FigureFile
from xcskit.paper.html import data_image, number, scrolling_table, table_of
from xcskit.paper.published import GROUPS

__all__ = ["Report", "render"]

_SIGNS: dict[Verdict, str] = {"holds": "✓", "does not hold": "✗", "cannot be told": "?"}


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the page shows.

    Parameters
    ----------
    title, subtitle
        Of the page.
    is_quick
        Whether this is a demonstration only.
    judged
        The claims with their verdicts.
    tables
        ``table-1``, ``table-2``, ``agreement`` (with the published map only), ``policies-summary``,
        ``examples``, ``relatives-summary``, ``minimum-summary``, ``environments``.
    figures
        In the order of the page.
    facts
        How it was made, a name and a text each.
    """

    title: str
    subtitle: str
    is_quick: bool
    judged: Sequence[Judged]
    tables: Mapping[str, pl.DataFrame]
    figures: Sequence[FigureFile]
    facts: Mapping[str, str]


def render(report: Report) -> str:
    """Give the page: HTML with style and images inside."""
    style = resources.files("xcskit.paper").joinpath("report.css").read_text(encoding="utf-8")
    sections = {
        "Claims": _claims(report.judged),
        "Environment": _figures(report, "figure-1", "figure-2"),
        "Training": _figures(report, "figure-3", "figure-4") + _table_1(report.tables["table-1"]),
        "Compaction": _figures(report, "figure-5"),
        "Rollouts": _table_2(report.tables["table-2"]) + _figures(report, "table-2"),
        "Agreement with the published numbers": _agreement(report.tables.get("agreement")),
        "Beyond the paper": beyond_the_paper(report.tables, partial(_figures, report)),
        "How this was made": _facts(report.facts),
    }
    shown = {name: body for name, body in sections.items() if body}
    links = "".join(f'<li><a href="#{_anchor(name)}">{name}</a></li>' for name in shown)
    parts = "".join(
        f'<section><h2 id="{_anchor(name)}">{name}</h2>{body}</section>'
        for name, body in shown.items()
    )
    quick = (
        '<p class="quick">QUICK RUN: fewer instances and steps. A demonstration, no evidence.</p>'
        if report.is_quick
        else ""
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{escape(report.title)}</title><style>{style}</style></head><body>"
        f"<header><h1>{escape(report.title)}</h1>{quick}"
        f"<p>{escape(report.subtitle)}</p>"
        f'<nav aria-label="Contents"><ul>{links}</ul></nav></header>'
        f"<main>{parts}</main></body></html>\n"
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


# ---- Claims ----


def _claims(judged: Sequence[Judged]) -> str:
    counts = Counter(item.verdict for item in judged)
    overview = "".join(
        f"<li>{_verdict(verdict)}: {counts[verdict]} of {len(judged)}</li>" for verdict in _SIGNS
    )
    return (
        f'<ul class="counts">{overview}</ul>'
        f"{_exceptions(judged)}"
        '<p class="soft">A claim holds if all of its conditions do. Each number stands with its '
        f"{CONFIDENCE:.0%} bootstrap interval over the instances; where the interval has values on "
        "both sides of the threshold, it cannot be told. What a word such as “slightly” means is a "
        "choice, stated with each condition.</p>" + "".join(_claim(item) for item in judged)
    )


def _exceptions(judged: Sequence[Judged]) -> str:
    """List the claims that do not simply hold, each a way to its article."""
    links = "".join(
        f'<li>{_verdict(verdict)}: <a href="#claim-{escape(item.claim.id)}">'
        f"{escape(item.claim.gist)}</a></li>"
        for verdict in _SIGNS
        if verdict != "holds"
        for item in judged
        if item.verdict == verdict
    )
    return f"<ul>{links}</ul>" if links else ""


def _claim(item: Judged) -> str:
    conditions = "".join(
        f"<li>{escape(condition.what)}: {_measured(measured)}, "
        f"required: {escape(_relation(condition.relation))} {condition.threshold:g} "
        f'<span class="{_anchor(verdict)}">{_SIGNS[verdict]} {verdict}</span></li>'
        for condition, measured, verdict in zip(
            item.claim.conditions, item.measured, item.verdicts, strict=True
        )
    )
    details = f"<ul>{conditions}</ul>" if conditions else f"<p>{escape(item.claim.untested)}</p>"
    return (
        f'<article class="claim" id="claim-{escape(item.claim.id)}">'
        f"<p>{_verdict(item.verdict)} {escape(item.claim.gist)}</p>"
        f'<p class="soft">{escape(item.claim.section)} · <code>{escape(item.claim.id)}</code></p>'
        f"{details}</article>"
    )


def _verdict(verdict: Verdict) -> str:
    return f'<span class="verdict {_anchor(verdict)}">{_SIGNS[verdict]} {verdict}</span>'


def _relation(relation: str) -> str:
    return {"<=": "at most", ">=": "at least", "<": "below", ">": "above", "==": "exactly"}[
        relation
    ]


def _measured(measured: Measured) -> str:
    if measured.value is None:
        return "undefined here"
    if measured.low is None or measured.high is None:
        return f"{number(measured.value)}, with no interval (too few instances that have a value)"
    if measured.low == measured.high:
        return number(measured.value)
    return f"{number(measured.value)} [{number(measured.low)}, {number(measured.high)}]"


# ---- Figures and the paper's tables ----


def _figures(report: Report, *prefixes: str) -> str:
    chosen = (figure for figure in report.figures if figure.name.startswith(prefixes))
    return "".join(
        f"<figure><h3>{escape(figure.title)}</h3>{data_image(figure.svg, figure.title)}"
        f"<figcaption>{escape(figure.caption)} Data: <code>figures/{figure.csv.name}</code>."
        "</figcaption></figure>"
        for figure in chosen
    )


def _table_1(table: pl.DataFrame) -> str:
    actions = ("left", "down", "right", "up")
    has_published = "published_left" in table.columns
    head = ["State", *(name.capitalize() for name in actions), "Optimal", "Frequency"]
    if has_published:
        head += [*(f"Published {name}" for name in actions), "p, adjusted"]
    rows: list[list[str]] = []
    for row in table.iter_rows(named=True):
        cells = [f"({row['x']}, {row['y']})"]
        cells += [_bold(row[name], is_bold=name == row["optimal_action"]) for name in actions]
        cells += [row["optimal_action"], number(row["frequency"])]
        if has_published:
            cells += [number(row[f"published_{name}"]) for name in actions]
            cells.append(number(row["p_adjusted"], 2))
        rows.append(cells)
    note = "The four states of lowest frequency here" + (
        ", and the paper's four, with the published counts. p: Fisher's exact test of how often "
        "the action is optimal, here against published, adjusted by Benjamini and Hochberg."
        if has_published
        else "."
    )
    title = "Table 1: predicted actions, slip 0.1"
    return f'<h3>{title}</h3><p class="soft">{note}</p>{scrolling_table(head, rows, title)}'


def _bold(value: object, *, is_bold: bool) -> str:
    return f"<b>{number(value)}</b>" if is_bold else number(value)


_STG_COLUMNS = ("mean_stg", "max_stg", "rollouts", "policy_accuracy")


def _table_2(table: pl.DataFrame) -> str:
    title = "Table 2: steps-to-goal, slip 0.1"
    names = ("mean STG", "max STG", "rollouts", "accuracy")
    head = ["Instance", *(f"{group}: {name}" for group in GROUPS for name in names)]
    parts = [f"<h3>{title}</h3>"]
    if "is_published" in table.columns:
        marks = table.filter(source="here").group_by("group").agg(
            pl.len(), pl.col("is_published").sum(), pl.col("is_published_whole").sum()
        ).sort("group")  # fmt: skip
        counts = "; ".join(
            f"{group}: {steps} of {n} ({whole} in the accuracy too)"
            for group, n, steps, whole in marks.rows()
        )
        parts.append(
            "<p>Rollouts use the paper's own random stream, so that equal policies give equal "
            "rows. Complete rows here whose mean, maximum and rollouts equal those of a published "
            f"row of their group to the digit (bold below): {counts}.</p>"
        )
    legend = ", ".join(f"{group}: {words}" for group, words in GROUPS.items())
    parts.append(f'<p class="soft">{legend}. - marks fewer than 100 successes.</p>')
    for source in table["source"].unique(maintain_order=True).to_list():
        rows = _wide_rows(table.filter(source=source))
        label = "Here" if source == "here" else "Published"
        parts.append(f"<h4>{label}</h4>{scrolling_table(head, rows, f'{title}, {label}')}")
    return "".join(parts)


def _wide_rows(table: pl.DataFrame) -> list[list[str]]:
    rows: dict[int, list[str]] = {}
    for row in table.sort("instance", "group").iter_rows(named=True):
        cells = rows.setdefault(row["instance"], [str(row["instance"])])
        is_bold = bool(row.get("is_published"))
        cells += [_fixed(row[name], name, is_bold=is_bold) for name in _STG_COLUMNS]
    return list(rows.values())


def _fixed(value: object, column: str, *, is_bold: bool) -> str:
    is_plain = value is None or column in {"max_stg", "rollouts"}
    text = number(value) if is_plain else f"{value:.2f}"
    return f"<b>{text}</b>" if is_bold and column != "policy_accuracy" else text


def _agreement(table: pl.DataFrame | None) -> str:
    if table is None:
        return ""
    columns = {
        "group": "Group",
        "measure": "Column",
        "words": "In words",
        "ours": "Here: median (quartiles)",
        "published": "Published",
        "effect_text": "Effect [95 %]",
        "p_text": "p (adjusted)",
    }
    rows = [
        {
            **row,
            "measure": row["column"].replace("_", " ").replace("stg", "STG"),
            "ours": _quartiles(row, "ours"),
            "published": _quartiles(row, "published"),
            "effect_text": f"{row['effect']:+.2f} [{row['effect_low']:+.2f}, "
            f"{row['effect_high']:+.2f}]",
            "p_text": f"{row['p_value']:.2f} ({row['p_adjusted']:.2f})",
        }
        for row in table.iter_rows(named=True)
    ]
    n_different = sum(row["words"].startswith("ours are") for row in rows)
    verdict = (
        "No column of any group differs from the published one more than chance explains."
        if n_different == 0
        else f"{n_different} of {len(rows)} columns differ more than chance explains."
    )
    return (
        f"<p>{verdict}</p>"
        '<p class="soft">Effect: the chance that an instance here exceeds a published one, less '
        "the chance that it is exceeded (Cliff's delta), with a bootstrap interval: it tells how "
        "large a difference may have gone unseen. p: two-sided Mann-Whitney test, adjusted over "
        "the table by Benjamini and Hochberg. Incomplete instances have infinite steps.</p>"
        + table_of(
            pl.DataFrame(rows), columns, "Agreement with the published Table 2", {"words": _words}
        )
    )


def _quartiles(row: Mapping[str, Any], whose: str) -> str:
    low, median, high = (number(row[f"{whose}_{part}"]) for part in ("low", "median", "high"))
    return f"{median} ({low} to {high})"


def _words(value: object) -> str:
    return f'<span class="words">{number(value)}</span>'


def _facts(facts: Mapping[str, str]) -> str:
    return f"<dl>{''.join(_pairs(facts.items()))}</dl>"


def _pairs(items: Iterable[tuple[str, Any]]) -> Iterable[str]:
    for name, text in items:
        yield f"<dt>{escape(name)}</dt><dd>{escape(str(text))}</dd>"
