"""The page: markup, style, script and content in one text."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final

from xcskit.compaction.masses import Mass
from xcskit.explorer.content import content_of
from xcskit.files import write_atomically
from xcskit.mdp import Solution
from xcskit.rules import RuleSet

__all__ = ["PAPER_MASSES", "Explorer", "explore"]

PAPER_MASSES: Final = ("fitness", "tan", "inverse_fitness")
"""The masses that a page offers unless others are named: the paper's."""

_SCRIPTS: Final = (
    "values.js",
    "paths.js",
    "text.js",
    "states.js",
    "grid.js",
    "list.js",
    "rules.js",
    "controls.js",
    "main.js",
)
_FRAME_HEIGHT: Final = 900


@dataclass(frozen=True, kw_only=True, repr=False)
class Explorer:
    """A page to look into a rule set with. A notebook shows it.

    Parameters
    ----------
    title
        Its title.
    html
        The whole page. It loads nothing from anywhere: its own policy forbids it.
    """

    title: str
    html: str

    def __repr__(self) -> str:
        """Title and size."""
        return f"Explorer({self.title!r}, {len(self.html):,} characters)"

    def save(self, path: str | Path) -> None:
        """Write the page; it appears whole or not at all."""
        write_atomically(path, self.html.encode())

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own."""
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" '
            f'sandbox="allow-scripts" width="100%" height="{_FRAME_HEIGHT}" '
            'style="border:0"></iframe>'
        )


def explore(
    rules: RuleSet, solution: Solution, *, masses: Sequence[Mass] = PAPER_MASSES
) -> Explorer:
    """Make a page that shows a rule set beside the optimum, and compacts it as one looks.

    Parameters
    ----------
    rules
        The rule set, for the model that was solved.
    solution
        The optimum.
    masses
        What Greedy Niche Mass Compaction can go by: names in ``compaction.MASSES``, or functions of
        the rule table.

    Notes
    -----
    The page holds the rho at which each rule drops out (``GnmcPath.drop_out``), so that compacting
    is a filter there. It sums in the order in which this package does: the value error and the
    policy accuracy of every set are those of ``GnmcPath.table``, to the last bit.

    Where some state-action pair is matched by no rule, the page marks the holes, and cannot
    compact.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake, solve
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> page = explore(rules, solve(lake, gamma=0.95))
    >>> page.title
    'frozenlake-4x4'
    >>> page.save("explorer.html")  # doctest: +SKIP
    """
    content = content_of(rules, solution, masses)
    title = str(content["name"])
    return Explorer(title=title, html=_page(title, _as_data(content)))


def _as_data(content: object) -> str:
    r"""Give JSON that can stand inside a script element, whatever its texts say.

    Examples
    --------
    >>> print(_as_data({"name": "</script>"}))
    {"name": "\u003c/script\u003e"}
    """
    text = json.dumps(content, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _page(title: str, content: str) -> str:
    style = _part("explorer.css")
    script = "".join(_part(name) for name in _SCRIPTS)
    policy = (
        f"default-src 'none'; img-src data:; style-src {_fingerprint(style)}; "
        f"script-src {_fingerprint(script)}; base-uri 'none'; form-action 'none'"
    )
    return Template(_part("page.html")).substitute(
        policy=policy, title=escape(title), style=style, script=script, content=content
    )


def _part(name: str) -> str:
    return resources.files("xcskit.explorer").joinpath("assets", name).read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    """Name an inline style or script for the page's policy, which refuses all others."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
