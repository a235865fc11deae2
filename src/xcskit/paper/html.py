"""Pieces of HTML: text that is escaped, tables, images inside the page."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

import polars as pl

__all__ = ["data_image", "number", "scrolling_table", "table_of"]

_DIGITS = 4


def number(value: object, digits: int = _DIGITS) -> str:
    """Put a value into a cell: few digits, a dash where there is none.

    Examples
    --------
    >>> number(0.0123456), number(None), number(True), number(float("inf"))
    ('0.01235', '-', 'yes', '∞')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"
    return escape(str(value))


def scrolling_table(head: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> str:
    """Make a table that scrolls within itself where the page is narrow.

    Parameters
    ----------
    head, rows
        HTML of the cells.
    label
        What the table is, for those who hear the page.
    """
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" aria-label="{escape(label)}" tabindex="0">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def table_of(
    frame: pl.DataFrame,
    columns: Mapping[str, str],
    label: str,
    formats: Mapping[str, Callable[[object], str]] | None = None,
) -> str:
    """Make a table of a frame.

    Parameters
    ----------
    frame
        The data.
    columns
        Which columns, and what they are called.
    label
        What the table is.
    formats
        How a column's values are put into cells, where not as by ``number``.
    """
    ways = formats or {}
    rows = [
        [ways.get(name, number)(value) for name, value in zip(columns, row, strict=True)]
        for row in frame.select(list(columns)).rows()
    ]
    return scrolling_table([escape(name) for name in columns.values()], rows, label)


def data_image(path: Path, alt: str) -> str:
    """Put an SVG file into the page."""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(alt)}">'
