"""``xcskit plot``: rules as pictures."""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias, cast

import typer

from xcskit.cli.environments import EnvironmentOptions, Slip
from xcskit.cli.files import check_writable
from xcskit.cli.models import Gamma, ModelEnvironment, ModelFile, discount_of, read_model, world_of
from xcskit.errors import ConfigurationError

if TYPE_CHECKING:
    from xcskit.mdp import Solution
    from xcskit.rules import RuleSet
    from xcskit.typing import Floats

__all__ = ["KINDS", "plot"]

_SUFFIXES: Final = (".png", ".svg")
_HEIGHT, _LOW = 3.4, 2.7

_Figure: TypeAlias = Any
"""Matplotlib's; only ``xcskit.plots`` knows it."""


class _Study(NamedTuple):
    """What there is to draw: rules and, where it is asked for, the optimum they strive for."""

    rules: "RuleSet"
    solve: "Callable[[], Solution]"

    @property
    def solution(self) -> "Solution":
        return self.solve()


def plot(
    model: ModelFile,
    *,
    kind: Annotated[
        str,
        typer.Option("--kind", "-k", help="policy, value, q, error, generality, path or training."),
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

    Example: xcskit plot lake.parquet --env frozenlake-8x8 --slip 0.1 --kind value -o value
    """
    if kind not in KINDS:
        msg = f"--kind is one of {', '.join(KINDS)}: got {kind!r}"
        raise ConfigurationError(msg)
    stem = output.with_suffix("") if output.suffix in _SUFFIXES else output
    for suffix in _SUFFIXES:
        check_writable(stem.with_name(stem.name + suffix), force=force)
    from xcskit import mdp, plots  # noqa: PLC0415 - help appears at once

    rules = read_model(model)

    @cache
    def solve() -> "Solution":
        return mdp.solve(world_of(rules, env, slip, option), discount_of(rules, gamma))

    study = _Study(rules, solve)
    with plots.house_style():
        files = plots.save_figure(KINDS[kind](study), stem)
    words = {"kind": kind, "files": list(map(str, files))}
    shown = json.dumps(words) if as_json else f"saved {', '.join(words['files'])}"
    sys.stdout.write(f"{shown}\n")


def _values(study: _Study) -> "Floats":
    """Give Qhat of every state of the model, NaN outside S and in holes."""
    import numpy as np  # noqa: PLC0415 - help appears at once

    mdp = study.solution.mdp
    values = np.full((mdp.n_states, mdp.n_actions), np.nan)
    q_hat = study.rules.q_values(mdp.observations[mdp.states], holes="mask")
    values[mdp.states] = q_hat.filled(np.nan)
    return values


def _new(n_rows: int = 1, n_columns: int = 1, *, height: float = _HEIGHT) -> tuple[_Figure, Any]:
    from xcskit import plots  # noqa: PLC0415 - help appears at once

    made: tuple[_Figure, Any] = plots.new_figure(
        n_rows,
        n_columns,
        height=height * n_rows,
        width=plots.COLUMN_WIDTH * n_columns,
        share_x=n_columns == 1,
    )
    return made


def _policy(study: _Study) -> _Figure:
    from xcskit import plots  # noqa: PLC0415

    values = _values(study)
    figure, axes = _new()
    plots.plot_arrows(study.solution.mdp, values == values.max(axis=1, keepdims=True), axes[0, 0])
    return figure


def _value(study: _Study) -> _Figure:
    return _heatmaps(study, {"max Qhat": _values(study).max(axis=1)})


def _q(study: _Study) -> _Figure:
    names = study.rules.action_names
    return _heatmaps(
        study, {f"Qhat {name}": q for name, q in zip(names, _values(study).T, strict=True)}
    )


def _error(study: _Study) -> _Figure:
    distance = abs(_values(study) - study.solution.q).mean(axis=1)
    return _heatmaps(study, {"mean |Qhat - Q*|": distance})


def _heatmaps(study: _Study, images: "dict[str, Floats]") -> _Figure:
    import numpy as np  # noqa: PLC0415

    from xcskit import plots  # noqa: PLC0415

    stacked = np.stack(list(images.values()))
    if np.isnan(stacked).all():
        msg = "no state has a value for every action: train longer"
        raise ConfigurationError(msg)
    limits = float(np.nanmin(stacked)), float(np.nanmax(stacked))
    n_columns = min(len(images), 2)
    n_rows = -(-len(images) // n_columns)
    figure, axes = _new(n_rows, n_columns)
    for ax, (label, image) in zip(axes.flat, images.items(), strict=False):
        plots.plot_heatmap(study.solution.mdp, image, ax, label=label, limits=limits)
    for ax in axes.flat[len(images) :]:
        ax.set_axis_off()
    return figure


def _generality(study: _Study) -> _Figure:
    from xcskit import plots  # noqa: PLC0415

    rules = study.rules
    errors = cast("Floats", rules["prediction_error"])
    groups = {
        name: (rules.generality[rules.actions == a], errors[rules.actions == a])
        for a, name in enumerate(rules.action_names)
    }
    figure, axes = _new()
    ax: Any = plots.plot_points(groups, axes[0, 0])
    ax.set(xlabel="generality", ylabel="prediction error")
    ax.legend()
    return figure


def _path(study: _Study) -> _Figure:
    from xcskit import compaction, plots  # noqa: PLC0415

    niches = compaction.model_niches(study.rules, study.solution.mdp)
    table = compaction.gnmc_path(study.rules, niches).table(study.solution)
    figure, axes = _new(2, height=_LOW)
    rho = table["rho"].to_numpy()
    plots.plot_lines(rho, {"rules": table["n_rules"].to_numpy()}, axes[0, 0])
    names = ("policy_accuracy", "mean_absolute_error")
    lines = {name.replace("_", " "): table[name].to_numpy() for name in names}
    plots.plot_lines(rho, lines, axes[1, 0]).set(xlabel="rho")
    for ax in axes.flat:
        ax.legend()
    return figure


def _training(study: _Study) -> _Figure:
    import polars as pl  # noqa: PLC0415

    from xcskit import plots  # noqa: PLC0415

    rows: Any = study.rules.metadata.get("history")
    if not rows:
        msg = "the rules hold no history: it is in what train saves, and in checkpoints"
        raise ConfigurationError(msg)
    history = pl.DataFrame(rows, infer_schema_length=None)
    steps = history["step"].to_numpy()
    measured = [name for name in ("policy_accuracy", "mean_absolute_error") if name in history]
    groups = [["n_rules"], measured] if measured else [["n_rules"]]
    figure, axes = _new(len(groups), height=_LOW)
    for ax, names in zip(axes.flat, groups, strict=True):
        lines = {name.replace("_", " "): history[name].to_numpy() for name in names}
        plots.plot_lines(steps, lines, ax)
        ax.legend()
    axes[-1, 0].set(xlabel="step")
    return figure


KINDS: Final[dict[str, Callable[[_Study], _Figure]]] = {
    "policy": _policy,
    "value": _value,
    "q": _q,
    "error": _error,
    "generality": _generality,
    "path": _path,
    "training": _training,
}
"""What can be drawn, by name."""
