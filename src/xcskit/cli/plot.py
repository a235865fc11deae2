"""``xcskit plot``: rules as pictures."""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import typer

from xcskit.cli.completion import names_in
from xcskit.cli.display import working
from xcskit.cli.environments import EnvironmentOptions, Slip
from xcskit.cli.files import check_writable
from xcskit.cli.models import Gamma, ModelEnvironment, discount_of, read_model, world_of
from xcskit.errors import ConfigurationError

if TYPE_CHECKING:
    from xcskit.mdp import Solution
    from xcskit.rules import RuleSet
    from xcskit.typing import Bools, Floats

__all__ = ["KINDS", "plot"]

_SUFFIXES: Final = (".png", ".svg")
_HEIGHT, _PANEL, _LOW = 3.4, 2.4, 1.8
_OF_MANY: Final = ("training", "frequency")
"""The kinds that draw several models at once; each other draws one."""

_Figure: TypeAlias = Any
"""Matplotlib's; only ``xcskit.plots`` knows it."""


class _Study(NamedTuple):
    """What there is to draw: rules and, where it is asked for, the optimum they strive for."""

    models: "list[RuleSet]"
    solve: "Callable[[], Solution]"

    @property
    def rules(self) -> "RuleSet":
        return self.models[0]

    @property
    def solution(self) -> "Solution":
        return self.solve()


def plot(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL..",
            help="A saved rule set, or a checkpoint; training and frequency draw several at once.",
        ),
    ],
    *,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            "-k",
            autocompletion=names_in("xcskit.cli.plot", "KINDS"),
            help="policy, value, q, error, rules, cover, generality, path, training or frequency.",
        ),
    ] = "policy",
    env: ModelEnvironment = None,
    slip: Slip = None,
    option: EnvironmentOptions = None,
    gamma: Gamma = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="NAME makes NAME.png and NAME.svg.")
    ] = Path("figure"),
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Draw rules: their policy or values on the grid, their errors, their path of compaction, ..

    Of several runs, training draws mean and spread, and frequency how often each action is optimal.
    Rules, as rectangles on the grid, are best compacted first.

    Example: xcskit plot lake.parquet --env frozenlake-8x8 --slip 0.1 --kind value -o value
    """
    if kind not in KINDS:
        msg = f"--kind is one of {', '.join(KINDS)}: got {kind!r}"
        raise ConfigurationError(msg)
    if len(models) > 1 and kind not in _OF_MANY:
        msg = f"{kind} draws one MODEL, got {len(models)}; {' and '.join(_OF_MANY)} draw several"
        raise ConfigurationError(msg)
    stem = output.with_suffix("") if output.suffix in _SUFFIXES else output
    for suffix in _SUFFIXES:
        check_writable(stem.with_name(stem.name + suffix), force=force)
    from xcskit import mdp, plots

    read = [read_model(model) for model in models]

    @cache
    def solve() -> "Solution":
        return mdp.solve(world_of(read[0], env, slip, option), discount_of(read[0], gamma))

    study = _Study(read, solve)
    with plots.house_style(), working("drawing", is_quiet=as_json):
        files = plots.save_figure(KINDS[kind](study), stem)
    words = {"kind": kind, "files": list(map(str, files))}
    shown = json.dumps(words) if as_json else f"saved {', '.join(words['files'])}"
    sys.stdout.write(f"{shown}\n")


def _values(study: _Study, rules: "RuleSet") -> "Floats":
    """Give Qhat of every state of the model, NaN outside S and in holes."""
    import numpy as np

    from xcskit.compaction.task import check_fit

    mdp = study.solution.mdp
    check_fit(rules, mdp)
    values = np.full((mdp.n_states, mdp.n_actions), np.nan)
    q_hat = rules.q_values(mdp.observations[mdp.states], holes="mask")
    values[mdp.states] = q_hat.filled(np.nan)
    return values


def _new(n_rows: int = 1, n_columns: int = 1, *, height: float = _HEIGHT) -> tuple[_Figure, Any]:
    from xcskit import plots

    made: tuple[_Figure, Any] = plots.new_figure(
        n_rows, n_columns, height=height * n_rows, share_x=n_columns == 1
    )
    return made


def _policy(study: _Study) -> _Figure:
    from xcskit import plots

    values = _values(study, study.rules)
    figure, axes = _new()
    plots.plot_arrows(study.solution.mdp, values == values.max(axis=1, keepdims=True), axes[0, 0])
    return figure


def _value(study: _Study) -> _Figure:
    return _heatmap(study, _values(study, study.rules).max(axis=1), "max Qhat")


def _error(study: _Study) -> _Figure:
    distance = abs(_values(study, study.rules) - study.solution.q).mean(axis=1)
    return _heatmap(study, distance, "mean |Qhat - Q*|")


def _heatmap(study: _Study, image: "Floats", label: str) -> _Figure:
    import numpy as np

    from xcskit import plots

    if np.isnan(image).all():
        msg = "no state has a value for every action: train longer"
        raise ConfigurationError(msg)
    limits = float(np.nanmin(image)), float(np.nanmax(image))
    figure, axes = _new()
    plots.plot_heatmap(study.solution.mdp, image, axes[0, 0], label=label, limits=limits)
    return figure


def _q(study: _Study) -> _Figure:
    from xcskit import plots

    figure, axes = _new()
    plots.plot_action_values(study.solution.mdp, _values(study, study.rules), axes[0, 0])
    return figure


def _rules(study: _Study) -> _Figure:
    from xcskit import plots

    mdp, rules = study.solution.mdp, study.rules
    n_columns = min(2, rules.n_actions)
    n_rows = -(-rules.n_actions // n_columns)
    figure, axes = _new(n_rows, n_columns, height=_PANEL)
    for action, (ax, name) in enumerate(zip(axes.flat, rules.action_names, strict=False)):
        is_for_it: Bools = rules.actions == action
        plots.plot_rules(mdp, rules[is_for_it], ax)
        ax.set_title(name)
    for ax in axes.flat[rules.n_actions :]:
        ax.set_axis_off()
    return figure


def _cover(study: _Study) -> _Figure:
    from xcskit import plots

    figure, axes = _new()
    plots.plot_cover(study.solution.mdp, study.rules, axes[0, 0])
    return figure


def _generality(study: _Study) -> _Figure:
    from xcskit import plots

    figure, axes = _new()
    plots.plot_generality(study.rules, axes[0, 0])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _path(study: _Study) -> _Figure:
    from xcskit import compaction, plots

    niches = compaction.model_niches(study.rules, study.solution.mdp)
    table = compaction.gnmc_path(study.rules, niches).table(study.solution)
    columns = ("n_rules", "policy_accuracy", "mean_absolute_error")
    figure, axes = _new(len(columns), height=_LOW)
    for ax, column in zip(axes.flat, columns, strict=True):
        plots.plot_path(table, column, ax).label_outer()
    return figure


def _training(study: _Study) -> _Figure:
    import polars as pl

    from xcskit import plots

    noted: list[Any] = [rules.metadata.get("history") for rules in study.models]
    if not all(noted):
        msg = "the rules hold no history: it is in what train saves, and in checkpoints"
        raise ConfigurationError(msg)
    histories = [pl.DataFrame(rows, infer_schema_length=None) for rows in noted]
    measures = [
        measure
        for measure in ("n_rules", "policy_accuracy", "mean_absolute_error")
        if all(measure in history for history in histories)
    ]
    figure, axes = _new(len(measures), height=_LOW)
    for ax, measure in zip(axes.flat, measures, strict=True):
        plots.plot_training(histories, measure, ax).label_outer()
    return figure


def _frequency(study: _Study) -> _Figure:
    from xcskit import plots

    found = [_values(study, rules) for rules in study.models]
    figure, axes = _new()
    plots.plot_frequency(study.solution, found, axes[0, 0])
    return figure


KINDS: Final[dict[str, Callable[[_Study], _Figure]]] = {
    "policy": _policy,
    "value": _value,
    "q": _q,
    "error": _error,
    "rules": _rules,
    "cover": _cover,
    "generality": _generality,
    "path": _path,
    "training": _training,
    "frequency": _frequency,
}
"""What can be drawn, by name."""
