"""The reference of a layer: everything that it exports, under the name that users import."""

import importlib
import inspect
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import desc_annotation, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

LAYERS = (
    "xcskit.typing",
    "xcskit.spaces",
    "xcskit.rules",
    "xcskit.mdp",
    "xcskit.evaluation",
    "xcskit.learner",
    "xcskit.compaction",
    "xcskit.experiments",
    "xcskit.plots",
    "xcskit.explorer",
    "xcskit.paper",
    "xcskit.errors",
)
ARRAYS = {
    f"~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.{kind}]]": alias
    for kind, alias in {
        "float64": "Floats",
        "int64": "Ints",
        "bool": "Bools",
        "uint64": "Words",
    }.items()
}
"""Array types as autodoc spells them, and as ``xcskit.typing`` does."""


class Layer(SphinxDirective):
    """``.. layer:: xcskit.rules`` documents the names in a layer's ``__all__``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write what autodoc then reads."""
        layer = self.arguments[0]
        lines = ["```{eval-rst}", f".. automodule:: {layer}", "", f".. currentmodule:: {layer}", ""]
        for name in sorted(importlib.import_module(layer).__all__, key=str.lower):
            lines += [*_entry(layer, name), ""]
        lines += ["```"]
        return self.parse_text_to_nodes(StringList(lines, layer), allow_section_headings=False)


def _entry(layer: str, name: str) -> list[str]:
    thing = getattr(importlib.import_module(layer), name)
    if inspect.isclass(thing):
        return [f".. autoclass:: {name}", "   :members:", *_parents(thing)]
    if inspect.ismodule(thing):
        return [
            f".. automodule:: {thing.__name__}",
            "   :members:",
            "",
            f".. currentmodule:: {layer}",
        ]
    if callable(thing) and not hasattr(thing, "__args__"):
        return [f".. autofunction:: {name}"]
    return [f".. autodata:: {name}", "   :no-value:"]


def _parents(thing: type) -> list[str]:
    """Show what comes from a parent that has no entry of its own."""
    return ["   :inherited-members: Exception, tuple, dict, list, int, str, Protocol, Env, Generic"]


def public_names() -> dict[str, str]:
    """Give the exported name of everything, by the name that it was defined under."""
    found: dict[str, str] = {}
    for layer in LAYERS:
        module = importlib.import_module(layer)
        for name in module.__all__:
            thing = getattr(module, name)
            if hasattr(thing, "__qualname__"):
                found.setdefault(f"{thing.__module__}.{name}", f"{layer}.{name}")
            found.setdefault(name, f"{layer}.{name}")
    return found


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """Find what an annotation names by the module that defines it."""
    target = PUBLIC.get(str(node.get("reftarget")))
    if node.get("refdomain") != "py" or target is None:
        return None
    domain: Any = env.get_domain("py")
    found: nodes.Node | None = domain.resolve_xref(
        env, node["refdoc"], app.builder, "obj", target, node, content
    )
    return found


def _shorten(
    app: Sphinx,
    what: str,
    name: str,
    thing: object,
    options: object,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    return _short(signature), _short(returns)


def _shorten_properties(app: Sphinx, doctree: nodes.document) -> None:
    """Do the same to the types of properties, which no other hook shows."""
    for annotation in doctree.findall(desc_annotation):
        text = annotation.astext()
        for long, short in ARRAYS.items():
            text = text.replace(long.replace("~numpy.", "").replace("~typing.", ""), short)
        if text != annotation.astext():
            annotation.children = [nodes.Text(text)]


def _short(text: str | None) -> str | None:
    for long, short in ARRAYS.items():
        text = text and text.replace(long, short)
    return text


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and the hooks that give names back their users' spelling."""
    app.add_directive("layer", Layer)
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-signature", _shorten)
    app.connect("doctree-read", _shorten_properties)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


PUBLIC = public_names()
