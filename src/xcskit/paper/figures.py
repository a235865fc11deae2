"""The paper's figures, and those beyond it: each with the table that it is drawn from."""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xcskit import plots
from xcskit.files import write_atomically
from xcskit.mdp import Solution
from xcskit.paper.instances import MASSES
from xcskit.paper.measurements import Tables
from xcskit.paper.published import GROUPS
from xcskit.typing import Floats

__all__ = ["FIGURES", "FigureFile", "draw_figures"]

Solutions = Mapping[str, Solution]
Drawn = tuple[Any, pl.DataFrame]
"""A figure, and its data."""

_MASS_NAMES = {"fitness": "fitness", "tan": "tan", "inverse_fitness": "inverse fitness"}
_GROUP_NAMES = {group: f"{group}: {words}" for group, words in GROUPS.items()}
_GAP_FLOOR = 1e-4
_ROUND_STEPS = (1, 2, 5, 10, 15, 20, 50, 100, 200)


@dataclass(frozen=True, kw_only=True)
class FigureFile:
    """A figure on disk.

    Parameters
    ----------
    name, title
        Of the files, and for readers.
    caption
        What it shows.
    png, svg, csv
        The files.
    """

    name: str
    title: str
    caption: str
    png: Path
    svg: Path
    csv: Path


@dataclass(frozen=True, kw_only=True)
class _Figure:
    title: str
    caption: str
    draw: Callable[[Tables, Solutions], Drawn]


def draw_figures(tables: Tables, solutions: Solutions, folder: Path) -> list[FigureFile]:
    """Draw every figure that the tables allow, each as PNG, SVG and CSV.

    Parameters
    ----------
    tables
        As ``run_paper`` makes them; figures whose tables are not there are left out.
    solutions
        The optimum of each variant.
    folder
        Where the files go.
    """
    files: list[FigureFile] = []
    with plots.house_style():
        for name, figure in FIGURES.items():
            drawn, data = figure.draw(tables, solutions)
            png, svg = plots.save_figure(drawn, folder / name)
            csv = folder / f"{name}.csv"
            write_atomically(csv, data.write_csv().encode())
            files.append(
                FigureFile(
                    name=name,
                    title=figure.title,
                    caption=figure.caption,
                    png=png,
                    svg=svg,
                    csv=csv,
                )
            )
    return files


def _environment(_: Tables, solutions: Solutions) -> Drawn:
    """Draw the map, and three examples of a move that may slip."""
    mdp = solutions["p0.1"].mdp
    figure, axes = plots.new_figure(1, 4, height=1.9, width_ratios=(1.7, 1, 1, 1))
    plots.plot_cells(mdp, axes[0, 0])
    left, right, down = (mdp.action_names.index(name) for name in ("left", "right", "down"))
    start = int(np.argmax(mdp.test_start))
    examples = [(_beside_wall(mdp, left), left), (start, right), (_inner(mdp), down)]
    for ax, (state, action) in zip(axes[0, 1:], examples, strict=True):
        plots.plot_slips(mdp, state, action, ax)
    rows = [
        (mdp.describe_state(state), mdp.action_names[action], mdp.describe_state(to), chance)
        for state, action in examples
        for chance, to, _, _ in mdp.outcomes_of(state, action)
    ]
    return figure, pl.DataFrame(rows, schema=["state", "action", "to", "chance"], orient="row")


def _beside_wall(mdp: Any, action: int) -> int:  # noqa: ANN401 - a TabularMdp
    """Find a state of S in which an action meets a wall, but slipping does not."""
    for state in mdp.states.tolist():
        outcomes = mdp.outcomes_of(state, action)
        if max(outcomes)[1] == state and len({to for _, to, _, _ in outcomes}) == 3:
            return int(state)
    return int(mdp.states[0])


def _inner(mdp: Any) -> int:  # noqa: ANN401 - a TabularMdp
    """Find a state of S all of whose moves lead elsewhere, to four different cells."""
    for state in mdp.states.tolist():
        ends = {
            to for action in range(mdp.n_actions) for _, to, _, _ in mdp.outcomes_of(state, action)
        }
        if len(ends) == mdp.n_actions and state not in ends:
            return int(state)
    return int(mdp.states[0])


def _policies(_: Tables, solutions: Solutions) -> Drawn:
    """Draw the optimal policies of both variants."""
    figure, axes = plots.new_figure(1, 2, height=2.7)
    for ax, (variant, solution) in zip(axes[0], solutions.items(), strict=True):
        plots.plot_arrows(solution.mdp, solution.advocacy, ax)
        ax.set_title(_variant(variant))
    data = [
        solution.table().with_columns(variant=pl.lit(variant))
        for variant, solution in solutions.items()
    ]
    return figure, pl.concat(data)


def _training(tables: Tables, _: Solutions) -> Drawn:
    """Draw value error and policy accuracy over the steps: mean, one standard deviation."""
    measures = {"mean_absolute_error": "value error (MAE)", "policy_accuracy": "policy accuracy"}
    data = (
        tables["history"]
        .group_by("variant", "step", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("mean_absolute_error").count().alias("n_defined"),
            *(pl.col(m).mean().alias(f"{m}_mean") for m in measures),
            *(pl.col(m).std().alias(f"{m}_sd") for m in measures),
        )
    )
    variants = data["variant"].unique(maintain_order=True).to_list()
    figure, axes = plots.new_figure(2, len(variants), height=3.2, share_x="col", share_y="row")
    for column, variant in enumerate(variants):
        whole = data.filter((pl.col("variant") == variant) & (pl.col("n") == pl.col("n_defined")))
        for row, (measure, label) in enumerate(measures.items()):
            ax = axes[row, column]
            mean, spread = (whole[f"{measure}_{part}"].to_numpy() for part in ("mean", "sd"))
            thousands = whole["step"].to_numpy() / 1000.0
            plots.plot_band(thousands, mean, spread, ax, colour=plots.COLOURS[row])
            if column == 0:
                ax.set_ylabel(label)
        axes[0, column].set_title(_variant(variant))
        axes[1, column].set_xlabel("steps (thousands)")
    axes[0, 0].set_ylim(bottom=0.0)
    axes[1, 0].set_ylim(top=1.02)
    return figure, data


def _heatmap(tables: Tables, solutions: Solutions) -> Drawn:
    """Draw how often each state's action is optimal at p 0.1."""
    mdp = solutions["p0.1"].mdp
    data = (
        tables["actions"]
        .filter(variant="p0.1")
        .group_by("state", "x", "y", maintain_order=True)
        .agg(frequency=pl.col("is_correct").mean(), n=pl.len())
    )
    values = np.full(mdp.n_states, np.nan)
    values[data["state"].to_numpy()] = data["frequency"].to_numpy()
    figure, axes = plots.new_figure(height=3.6)
    plots.plot_heatmap(mdp, values, axes[0, 0], label="frequency of an optimal action")
    return figure, data


def _gnmc(columns: Mapping[str, str]) -> Callable[[Tables, Solutions], Drawn]:
    """Make what draws means along the paths: a row of axes a column of the table."""

    def draw(tables: Tables, _: Solutions) -> Drawn:
        data = (
            tables["gnmc"]
            .group_by("variant", "mass", "rho", maintain_order=True)
            .agg(pl.len().alias("n"), *(pl.col(name).mean() for name in columns))
        )
        variants = data["variant"].unique(maintain_order=True).to_list()
        figure, axes = plots.new_figure(
            len(columns), len(variants), height=3.3, share_x="col", share_y="row"
        )
        for place, variant in enumerate(variants):
            chosen = {_MASS_NAMES[mass]: data.filter(variant=variant, mass=mass) for mass in MASSES}
            rhos = chosen["fitness"]["rho"].to_numpy()
            for row, (name, label) in enumerate(columns.items()):
                lines = {mass: part[name].to_numpy() for mass, part in chosen.items()}
                plots.plot_lines(rhos, lines, axes[row, place])
                if place == 0:
                    axes[row, place].set_ylabel(label)
            axes[0, place].set_title(_variant(variant))
            axes[-1, place].set_xlabel("rho")
        _legend_below(figure, axes[0, 0], title="mass")
        return figure, data

    return draw


def _distributions(tables: Tables, _: Solutions) -> Drawn:
    """Draw Table 2's columns as distributions, with the published ones where the map is theirs."""
    data = tables["table-2"]
    sources = data["source"].unique(maintain_order=True).to_list()
    styles = ("-", ":")[: len(sources)]
    columns = {
        "mean_stg": "mean steps-to-goal",
        "max_stg": "maximum steps-to-goal",
        "rollouts": "rollouts",
        "policy_accuracy": "policy accuracy",
    }
    figure, axes = plots.new_figure(2, 2, height=3.6)
    for ax, (column, label) in zip(axes.ravel(), columns.items(), strict=True):
        samples = {
            _GROUP_NAMES[group]: [
                _column(data.filter(group=group, source=source), column, np.inf)
                for source in sources
            ]
            for group in GROUPS
        }
        plots.plot_distributions(samples, ax, styles=styles)
        ax.set_xlabel(label)
        if column.endswith("stg"):
            _ticks_of_steps(ax, _column(data, column, np.nan))
    for ax in axes[:, 0]:
        ax.set_ylabel("share of instances")
    both = "solid: here, dotted: published"
    _legend_below(figure, axes[0, 0], title=both if len(sources) > 1 else None)
    return figure, data.select("source", "group", "instance", *columns)


def _column(table: pl.DataFrame, name: str, undefined: float) -> Floats:
    return table[name].cast(pl.Float64).fill_null(undefined).to_numpy()


def _ticks_of_steps(ax: Any, steps: Floats) -> None:  # noqa: ANN401 - Matplotlib's
    """Mark round numbers of steps, from below the least to above the most."""
    if np.isnan(steps).all():
        ax.set_xticks([])
        ax.text(0.5, 0.5, "no instance is complete", transform=ax.transAxes, ha="center")
        return
    below = int(np.searchsorted(_ROUND_STEPS, np.nanmin(steps), side="right")) - 1
    above = int(np.searchsorted(_ROUND_STEPS, np.nanmax(steps)))
    ticks = _ROUND_STEPS[below : above + 1]
    ax.set_xscale("log")
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()


def _accuracy_and_steps(tables: Tables, _: Solutions) -> Drawn:
    """Draw exact expected steps-to-goal against policy accuracy, an instance a point."""
    data = tables["policies"].filter(variant="p0.1")
    data = data.select("group", "seed", "policy_accuracy", "expected_steps", "exact_success")
    figure, axes = plots.new_figure(1, 2, height=2.4, share_x=True)
    for ax, name in zip(axes[0], ("expected_steps", "exact_success"), strict=True):
        groups = {
            _GROUP_NAMES[group]: (
                data.filter(group=group)["policy_accuracy"].to_numpy(),
                _column(data.filter(group=group), name, np.nan),
            )
            for group in GROUPS
        }
        plots.plot_points(groups, ax)
        ax.set_xlabel("policy accuracy")
    axes[0, 0].set_ylabel("expected steps-to-goal, exact")
    axes[0, 1].set_ylabel("success probability, exact")
    axes[0, 1].set_ylim(0.0, 1.02)
    _legend_below(figure, axes[0, 0])
    return figure, data


def _gaps(tables: Tables, _: Solutions) -> Drawn:
    """Draw how often a state's action is optimal against its action gap."""
    data = (
        tables["actions"]
        .group_by("variant", "state", "x", "y", "action_gap", maintain_order=True)
        .agg(frequency=pl.col("is_correct").mean())
    )
    groups = {
        _variant(variant): (
            np.maximum(data.filter(variant=variant)["action_gap"].to_numpy(), _GAP_FLOOR),
            data.filter(variant=variant)["frequency"].to_numpy(),
        )
        for variant in data["variant"].unique(maintain_order=True)
    }
    target = float(tables["environments"]["target_error"][0])
    figure, axes = plots.new_figure(height=2.6)
    ax = plots.plot_points(groups, axes[0, 0])
    ax.axvline(target, color="#888888", linewidth=0.8, linestyle="--")
    ax.text(target * 1.06, 0.03, "epsilon_0", fontsize=7, color="#555555")
    ax.set_xscale("log")
    ax.set_xlabel("action gap: best value less the best other")
    ax.set_ylabel("frequency of an optimal action")
    ax.set_ylim(0.0, 1.05)
    _legend_below(figure, ax)
    return figure, data


def _minimum(tables: Tables, _: Solutions) -> Drawn:
    """Draw the fewest rules against GNMC's number, a population a point."""
    data = tables["minimum"]
    groups = {
        _variant(variant): (
            data.filter(variant=variant)["gnmc"].to_numpy(),
            data.filter(variant=variant)["minimum"].to_numpy(),
        )
        for variant in data["variant"].unique(maintain_order=True)
    }
    figure, axes = plots.new_figure(height=3.0)
    ax = plots.plot_points(groups, axes[0, 0], diagonal=True)
    ax.set_xlabel("rules that GNMC keeps (fitness, rho 0.99)")
    ax.set_ylabel("fewest rules as near to Q*")
    both = data.select("gnmc", "minimum").to_numpy()
    ends = int(both.min()) - 3, int(both.max()) + 3
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    _legend_below(figure, ax)
    return figure, data


def _variant(name: str) -> str:
    return f"slip {name.removeprefix('p')}"


def _legend_below(figure: Any, ax: Any, title: str | None = None) -> None:  # noqa: ANN401 - Matplotlib's
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), title=title)


FIGURES: dict[str, _Figure] = {
    "figure-1-environment": _Figure(
        title="Figure 1: the environment",
        caption="The grid, and where three moves lead when the ground slips with probability 0.1: "
        "as intended in blue, slipped in orange. A dark bar is a wall: the agent stays.",
        draw=_environment,
    ),
    "figure-2-optimal-policies": _Figure(
        title="Figure 2: optimal policies",
        caption="Every optimal action of every state, computed exactly.",
        draw=_policies,
    ),
    "figure-3-training": _Figure(
        title="Figure 3: training",
        caption="Value error (MAE to Q*) and policy accuracy over training: mean over the "
        "instances, and one standard deviation. Steps at which some instance has a hole are left "
        "out.",
        draw=_training,
    ),
    "figure-4-optimal-actions": _Figure(
        title="Figure 4: how often the action is optimal, slip 0.1",
        caption="Share of the instances whose greedy action is optimal, at the end of training.",
        draw=_heatmap,
    ),
    "figure-5-gnmc-performance": _Figure(
        title="Figure 5a, b: GNMC, performance",
        caption="Mean over the instances for rho from 0 to 0.99 in steps of 0.01.",
        draw=_gnmc(
            {"mean_absolute_error": "value error (MAE)", "policy_accuracy": "policy accuracy"}
        ),
    ),
    "figure-5-gnmc-population": _Figure(
        title="Figure 5c, d: GNMC, population size",
        caption="Mean over the instances for rho from 0 to 0.99 in steps of 0.01.",
        draw=_gnmc({"n_rules": "macroclassifiers", "n_microclassifiers": "microclassifiers"}),
    ),
    "table-2-distributions": _Figure(
        title="Table 2 as distributions",
        caption="Share of instances up to a value. Lines that end below 1 have incomplete "
        "instances.",
        draw=_distributions,
    ),
    "beyond-accuracy-and-steps": _Figure(
        title="Accuracy and steps-to-goal",
        caption="Slip 0.1, an instance a point; both vertical quantities computed exactly, within "
        "the limit of 200 steps.",
        draw=_accuracy_and_steps,
    ),
    "beyond-action-gaps": _Figure(
        title="Where accuracy is lost",
        caption="A state a point. Left of the dashed line an action that is not optimal costs less "
        "than the error that XCSF aims at.",
        draw=_gaps,
    ),
    "beyond-minimum": _Figure(
        title="Fewest rules against GNMC's rules",
        caption="A population a point; on the dashed line GNMC could not have kept fewer rules "
        "without moving some niche farther from Q*.",
        draw=_minimum,
    ),
}
"""All figures, in the report's order."""
