"""Rule sets for other programs: as CSV, as JSON, and as a Python file that needs nothing else."""

import dataclasses
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xcskit.errors import ConfigurationError
from xcskit.files import write_atomically
from xcskit.kernels.components import Component
from xcskit.kernels.conditions import MinSpan, UnorderedBounds
from xcskit.kernels.predictions import Constant, Nlms, Rls
from xcskit.kernels.predictions.linear import LinearScheme
from xcskit.version import __version__

if TYPE_CHECKING:
    from xcskit.rules.ruleset import RuleSet
    from xcskit.typing import Bools

__all__ = ["EXPORTS", "export_rules"]


def export_rules(rules: "RuleSet", path: str | Path) -> None:
    """Write a rule set in the form that the file's ending asks for, one of ``EXPORTS``."""
    target = Path(path)
    if target.suffix not in EXPORTS:
        msg = f"cannot export to {str(path)!r}: the name has to end with {' or '.join(EXPORTS)}"
        raise ConfigurationError(msg)
    write_atomically(target, EXPORTS[target.suffix](rules).encode())


def _csv(rules: "RuleSet") -> str:
    return rules.to_polars().write_csv()


def _json(rules: "RuleSet") -> str:
    words = {
        "xcskit": __version__,
        "space": dataclasses.asdict(rules.space),
        "action_names": rules.action_names,
        "condition": _describe(rules.condition),
        "prediction": _describe(rules.prediction),
        "metadata": dict(rules.metadata),
        "rules": rules.to_polars().to_dicts(),
    }
    return json.dumps(words, allow_nan=False, indent=1) + "\n"


def _describe(scheme: Component) -> dict[str, Any]:
    parameters: Any = scheme
    return {"type": scheme.name, **dataclasses.asdict(parameters)}


_INTERVALS: Final = (MinSpan, UnorderedBounds)
_PREDICTIONS: Final = (Constant, Nlms, Rls)

_PROGRAM: Final = '''

def q_values(observation):
    """Give the value of each action: the rules' mean prediction, weighted by fitness."""
    state = [index(value) for value in observation]
    if len(state) != len(DIMENSIONS) or any(
        not low <= value <= high for value, low, high in zip(state, LOWER, UPPER)
    ):
        raise ValueError(f"{DIMENSIONS} are {LOWER} to {UPPER}: got {observation}")
    z = [X_0 if not term else float(state[term[0]]) for term in TERMS]
    for k, term in enumerate(TERMS):
        if len(term) == 2:
            z[k] *= float(state[term[1]])
    values = []
    for name, rules in zip(ACTIONS, RULES):
        numerator = denominator = 0.0
        for intervals, weights, fitness in rules:
            if all(low <= value <= high for value, (low, high) in zip(state, intervals)):
                prediction = weights[0] * z[0]
                for k in range(1, len(z)):
                    prediction += weights[k] * z[k]
                numerator += fitness * prediction
                denominator += fitness
        if denominator == 0.0:
            raise LookupError(f"no rule for {name} matches {tuple(state)}")
        values.append(numerator / denominator)
    return values


def policy(observation):
    """Give the number of the best action, the lowest among exact ties."""
    values = q_values(observation)
    return values.index(max(values))


if __name__ == "__main__":
    seen = [int(word) for word in sys.argv[1:]]
    if len(seen) != len(DIMENSIONS):
        sys.exit(f"usage: {sys.argv[0]} {' '.join(DIMENSIONS)}")
    print(ACTIONS[policy(seen)])
'''


def _python(rules: "RuleSet") -> str:
    """Write a program; only numbers and quoted words of the rule set go into it."""
    terms, x_0 = _terms(rules)
    head = [
        f'"""What {len(rules)} rules of XCSF say: q_values(observation), policy(observation).',
        "",
        f"Made by xcskit {__version__}, whose answers these are to the last bit. An observation is",
        "a sequence of whole numbers, an action a place in ACTIONS. Needs Python 3 alone.",
        '"""',
        "",
        "import sys",
        "from operator import index",
        "",
        f"DIMENSIONS = {rules.space.names!r}",
        f"LOWER = {rules.space.lower!r}",
        f"UPPER = {rules.space.upper!r}",
        f"ACTIONS = {rules.action_names!r}",
        f"X_0 = {x_0!r}",
        f"TERMS = {terms!r}",
        "# For each action its rules: intervals of the dimensions, weights of the terms, fitness.",
        "RULES = (",
    ]
    for action in range(rules.n_actions):
        is_for_it: Bools = rules.actions == action
        lines = _rule_lines(rules[is_for_it])
        head += ["    (", *(f"        {line}," for line in lines), "    ),"]
    return "\n".join([*head, ")"]) + "\n" + _PROGRAM


def _terms(rules: "RuleSet") -> tuple[tuple[tuple[int, ...], ...], float]:
    """Give the dimensions that each term multiplies, none for the constant, and that constant."""
    prediction = rules.prediction
    # Schemes from outside may inherit these and mean something else.
    if type(rules.condition) not in _INTERVALS:
        raise ConfigurationError(_unknown(rules.condition, "conditions"))
    if type(prediction) not in _PREDICTIONS:
        raise ConfigurationError(_unknown(prediction, "predictions"))
    if not isinstance(prediction, LinearScheme):
        return ((),), 1.0
    layout = prediction.layout(rules.space)
    return tuple(tuple(d for d in term if d >= 0) for term in layout), prediction.x_0


def _unknown(scheme: Component, kind: str) -> str:
    return (
        f"a Python file can hold the {kind} that xcskit brings along: got {scheme.name!r}; "
        "export to .csv or .json"
    )


def _rule_lines(rules: "RuleSet") -> Iterable[str]:
    names = rules.space.names
    weights = rules.prediction.column_names(rules.space)
    for row in rules.to_polars().rows(named=True):
        intervals = tuple((row[f"{name}_lower"], row[f"{name}_upper"]) for name in names)
        yield repr((intervals, tuple(row[name] for name in weights), row["fitness"]))


EXPORTS: Final[dict[str, Callable[["RuleSet"], str]]] = {
    ".csv": _csv,
    ".json": _json,
    ".py": _python,
}
"""The endings of files that rules are exported to, and what writes them."""
