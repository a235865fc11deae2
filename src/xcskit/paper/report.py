"""The report: one page that holds everything, and needs nothing else."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

import polars as pl

from xcskit.paper.claims import CONFIDENCE, Judged, Measured, Verdict
from xcskit.paper.compacted import MINIMUM_SECONDS
from xcskit.paper.figures import FigureFile
from xcskit.paper.html import data_image, number, scrolling_table, table_of
from xcskit.paper.published import GROUPS

__all__ = ["Report", "render"]

_SIGNS: dict[Verdict, str] = {"holds": "✓", "does not hold": "✗", "cannot be told": "?"}
_VARIANTS = {"p0": "slip 0", "p0.1": "slip 0.1"}


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
        "Beyond the paper": _beyond(report),
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
        '<p class="soft">A claim holds if all of its conditions do. Each number stands with its '
        f"{CONFIDENCE:.0%} bootstrap interval over the instances; where the interval has values on "
        "both sides of the threshold, it cannot be told. What a word such as “slightly” means is a "
        "choice, stated with each condition.</p>" + "".join(_claim(item) for item in judged)
    )


def _claim(item: Judged) -> str:
    conditions = "".join(
        f"<li>{escape(condition.what)}: {_measured(measured)}, "
        f"asked: {escape(_relation(condition.relation))} {condition.threshold:g} "
        f'<span class="{_anchor(verdict)}">{_SIGNS[verdict]} {verdict}</span></li>'
        for condition, measured, verdict in zip(
            item.claim.conditions, item.measured, item.verdicts, strict=True
        )
    )
    return (
        f'<article class="claim" id="claim-{escape(item.claim.id)}">'
        f"<p>{_verdict(item.verdict)} {escape(item.claim.gist)}</p>"
        f'<p class="soft">{escape(item.claim.section)} · <code>{escape(item.claim.id)}</code></p>'
        f"<ul>{conditions}</ul></article>"
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
        head += [*(f"Published {name}" for name in actions), "p (Fisher)"]
    rows: list[list[str]] = []
    for row in table.iter_rows(named=True):
        cells = [f"({row['x']}, {row['y']})"]
        cells += [_bold(row[name], is_bold=name == row["optimal_action"]) for name in actions]
        cells += [row["optimal_action"], number(row["frequency"])]
        if has_published:
            cells += [number(row[f"published_{name}"]) for name in actions]
            cells.append(number(row["p_value"], 2))
        rows.append(cells)
    note = "The four states of lowest frequency here" + (
        ", and the paper's four, with the published counts." if has_published else "."
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
        "p_value": "p (Mann-Whitney)",
        "p_adjusted": "p, adjusted",
    }
    rows = [
        {
            **row,
            "measure": row["column"].replace("_", " ").replace("stg", "STG"),
            "ours": _quartiles(row, "ours"),
            "published": _quartiles(row, "published"),
            "effect_text": f"{row['effect']:+.2f} [{row['effect_low']:+.2f}, "
            f"{row['effect_high']:+.2f}]",
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
        "the chance that it is exceeded (Cliff's delta), with a bootstrap interval. Incomplete "
        "instances have infinite steps. p is adjusted over the table by Benjamini and Hochberg.</p>"
        + table_of(
            pl.DataFrame(rows), columns, "Agreement with the published Table 2", {"words": _words}
        )
    )


def _quartiles(row: Mapping[str, Any], whose: str) -> str:
    low, median, high = (number(row[f"{whose}_{part}"]) for part in ("low", "median", "high"))
    return f"{median} ({low} to {high})"


def _words(value: object) -> str:
    return f'<span class="words">{number(value)}</span>'


# ---- Beyond the paper ----

_ON_POLICIES = (
    "Means over the instances. Sampled: the rollouts of Table 2. Exact: solved on the model, "
    "within 200 steps; steps are given success. Regret: V* less the policy's value, mean over S "
    "and at the start. A row for each instance: <code>tables/policies.csv</code>."
)
_ON_MINIMA = (
    "The fewest rules that leave no niche farther from Q* than GNMC (fitness, rho 0.99) leaves it, "
    f"by mixed-integer programming with a proof. Each program has {MINIMUM_SECONDS:g} s; where "
    "they end, the bound proven until then stands."
)


def _beyond(report: Report) -> str:
    policies = report.tables["policies-summary"]
    parts = [
        "<h3>Policies, sampled and exact</h3>",
        f'<p class="soft">{_ON_POLICIES}</p>',
        table_of(
            policies,
            {
                "variant": "Variant",
                "group": "Group",
                "policy_accuracy": "Accuracy",
                "sampled_success": "Success, sampled",
                "exact_success": "Success, exact",
                "sampled_steps": "Steps, sampled",
                "expected_steps": "Steps, exact",
                "regret": "Regret, mean",
                "start_regret": "Regret, start",
            },
            "Policies, sampled and exact",
            {"variant": _variant},
        ),
        _figures(report, "beyond-accuracy"),
        _examples(report.tables["examples"]),
        "<h3>Action gaps</h3>",
        f"<p>{_gap_sentence(policies, report)}</p>",
        _figures(report, "beyond-action"),
        "<h3>GNMC and the certified minimum</h3>",
        f"<p>{_ON_MINIMA}</p>",
        table_of(
            report.tables["minimum-summary"],
            {
                "variant": "Variant",
                "populations": "Populations",
                "gnmc_rules": "Rules, GNMC",
                "fewest_found": "Fewest found",
                "fewest_proven": "Fewest possible, proven",
                "certified": "Certified",
                "gnmc_is_minimal": "GNMC is minimal",
                "longest_seconds": "Longest, s",
            },
            "GNMC and the certified minimum",
            {"variant": _variant},
        ),
        _figures(report, "beyond-minimum"),
        "<h3>GNMC and its relatives</h3>",
        '<p class="soft">Means over the instances; - where some instance has holes.</p>',
        table_of(
            report.tables["relatives-summary"],
            {
                "method": "Method",
                "variant": "Variant",
                "n_rules": "Rules",
                "n_microclassifiers": "Micros",
                "mean_absolute_error": "Value error",
                "policy_accuracy": "Accuracy",
                "regret": "Regret",
                "greatest_change": "Greatest change of Q̂",
                "n_holes": "Holes",
                "seconds": "Seconds",
            },
            "GNMC and its relatives",
            {
                "variant": _variant,
                "regret": _short,
                "seconds": _short,
                "n_rules": _short,
                "n_microclassifiers": _short,
            },
        ),
    ]
    return "".join(parts)


def _examples(table: pl.DataFrame) -> str:
    note = (
        "Instances at slip 0.1 whose accuracy changes by 0.05 at most between groups A and B, but "
        "whose exact expected steps-to-goal by 5 at least"
    )
    if table.is_empty():
        return f"<p>{note}: none.</p>"
    columns = {
        "seed": "Instance",
        "A_policy_accuracy": "A: accuracy",
        "B_policy_accuracy": "B: accuracy",
        "A_expected_steps": "A: steps",
        "B_expected_steps": "B: steps",
    }
    return f"<p>{note}:</p>{table_of(table, columns, note)}"


def _gap_sentence(policies: pl.DataFrame, report: Report) -> str:
    facts = report.tables["environments"].filter(variant="p0.1").row(0, named=True)
    row = policies.filter(variant="p0.1", group="A").row(0, named=True)
    small, rest = row["loss_in_small_gaps"], row["loss_elsewhere"]
    total = small + rest
    share = f" ({small / total:.0%} of the loss)" if total else ""
    return (
        f"At slip 0.1, {facts['n_small_gaps']} of the {facts['n_states']} states have an action "
        f"gap below epsilon_0 ({facts['target_error']:g}), the error that XCSF aims at. Of the "
        f"accuracy that it lacks without compaction, {total:.3f} on average, {small:.3f} lies in "
        f"these states{share}, {rest:.3f} in the other {facts['n_states'] - facts['n_small_gaps']}."
    )


def _variant(name: object) -> str:
    return _VARIANTS.get(str(name), escape(str(name)))


def _short(value: object) -> str:
    return number(value, 3)


def _facts(facts: Mapping[str, str]) -> str:
    return f"<dl>{''.join(_pairs(facts.items()))}</dl>"


def _pairs(items: Iterable[tuple[str, Any]]) -> Iterable[str]:
    for name, text in items:
        yield f"<dt>{escape(name)}</dt><dd>{escape(str(text))}</dd>"
