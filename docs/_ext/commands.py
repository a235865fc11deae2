"""The reference of the command, read off the functions that Typer makes it of."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.models import OptionInfo, ParameterInfo

from xcskit.cli.main import COMMANDS

WORDS = {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}


class Commands(SphinxDirective):
    """``{commands}`` documents every command: what it does, an example, what it takes."""

    def run(self) -> list[nodes.Node]:
        """Write a section for each."""
        lines: list[str] = []
        for name, module in COMMANDS.items():
            lines += _section(name, getattr(importlib.import_module(module), name))
        return self.parse_text_to_nodes(StringList(lines, "commands"), allow_section_headings=True)


def _section(name: str, function: Any) -> list[str]:  # noqa: ANN401 - any command
    words, _, example = (inspect.getdoc(function) or "").partition("Example: ")
    lines = [f"## xcskit {name}", "", _as_code(words.strip()), ""]
    if example:
        lines += ["```console", f"$ {example.strip()}", "```", ""]
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind, info = _parts(hints[parameter.name])
        lines += [_usage(parameter.name, kind, info), f": {_help(parameter, info)}", ""]
    return lines


def _as_code(text: str) -> str:
    return re.sub(r"(?<![`-])(--[a-z][a-z-]*)", r"`\1`", text)


def _parts(hint: Any) -> tuple[Any, ParameterInfo]:  # noqa: ANN401 - any annotation
    """Give the plain type of a parameter, and what Typer is told of it."""
    if get_origin(hint) is not Annotated:
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return _parts(kinds[0])
    kind, info = get_args(hint)[:2]
    while get_args(kind):
        kind = get_args(kind)[0]
    return kind, info


def _usage(name: str, kind: type, info: ParameterInfo) -> str:
    if not isinstance(info, OptionInfo):
        return f"`{info.metavar or name.upper()}`"
    # Within Annotated, Typer keeps the first name where a default would stand.
    first = [info.default] if isinstance(info.default, str) else [f"--{name.replace('_', '-')}"]
    names = [*first, *(info.param_decls or ())]
    listed = ", ".join(f"`{option}`" for option in names)
    return listed if kind is bool else f"{listed} {info.metavar or WORDS[kind]}"


def _help(parameter: inspect.Parameter, info: ParameterInfo) -> str:
    text = _as_code(" ".join((info.help or "").split()))
    default = parameter.default
    is_told = default not in (inspect.Parameter.empty, None, False)
    return f"{text} Default: `{default}`." if is_told else text


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
