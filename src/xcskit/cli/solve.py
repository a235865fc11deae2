"""``xcskit solve``: the optimum of an environment."""

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xcskit.cli.display import working
from xcskit.cli.environments import EnvironmentName, EnvironmentOptions, Slip, read_environment
from xcskit.cli.files import check_writable
from xcskit.files import write_atomically
from xcskit.version import __version__

if TYPE_CHECKING:
    from rich.table import Table

    from xcskit.mdp import Solution

__all__ = ["solve"]

_SHOWN_STATES = 100
_FIGURE_WIDTH, _FIGURE_HEIGHT = 7.2, 3.4
_WRITERS = (".parquet", ".csv")


def solve(
    env: EnvironmentName,
    *,
    slip: Slip = None,
    gamma: Annotated[float, typer.Option(min=0.0, max=1.0, help="Discount factor.")] = 0.95,
    option: EnvironmentOptions = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table of Q* (.parquet, .csv).")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw policy and value: NAME makes NAME.png and NAME.svg.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Solve an environment exactly: Q*, and the optimal policy as arrows on its grid.

    Example: xcskit solve frozenlake-8x8 --slip 0.1 --gamma 0.95 --output lake.parquet
    """
    stem = None if figure is None else _stem(figure)
    if output is not None:
        check_writable(output, force=force, suffixes=_WRITERS)
    if stem is not None:
        for suffix in (".png", ".svg"):
            check_writable(stem.with_name(stem.name + suffix), force=force)
    mdp = read_environment(env, slip, option)
    from xcskit import mdp as models

    with working("solving", is_quiet=as_json):
        solution = models.solve(mdp, gamma)
    if output is not None:
        write_atomically(output, _file_of(solution, output.suffix))
    if stem is not None:
        _draw(solution, stem)
    if as_json:
        sys.stdout.write(json.dumps(_summary(solution) | {"q": _rows(solution)}) + "\n")
    else:
        _print(solution)


def _summary(solution: "Solution") -> dict[str, Any]:
    mdp = solution.mdp
    return {
        "environment": mdp.name,
        "fingerprint": solution.fingerprint,
        "n_states": mdp.n_states,
        "n_states_of_s": len(mdp.states),
        "gamma": solution.gamma,
        "method": solution.method,
        "error_bound": solution.error_bound,
        "value_of_test_start": float(mdp.test_start @ solution.v),
        "package_version": __version__,
    }


def _rows(solution: "Solution") -> list[dict[str, Any]]:
    return solution.table().to_dicts()


def _file_of(solution: "Solution", suffix: str) -> bytes:
    buffer = io.BytesIO()
    if suffix == ".csv":
        solution.table().write_csv(buffer)
    else:
        metadata = {"xcskit": json.dumps(_summary(solution))}
        solution.table().write_parquet(buffer, metadata=metadata)
    return buffer.getvalue()


def _stem(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in {".png", ".svg"} else path


def _draw(solution: "Solution", stem: Path) -> None:
    import numpy as np

    from xcskit import plots

    mdp = solution.mdp
    values = np.where(mdp.is_terminal, np.nan, solution.v)
    limits = float(np.nanmin(values)), float(np.nanmax(values))
    with plots.house_style():
        figure, axes = plots.new_figure(1, 2, height=_FIGURE_HEIGHT, width=_FIGURE_WIDTH)
        plots.plot_arrows(mdp, solution.advocacy, axes[0, 0])
        plots.plot_heatmap(mdp, values, axes[0, 1], label="V*", limits=limits)
        plots.save_figure(figure, stem)


def _print(solution: "Solution") -> None:
    from xcskit.cli.display import new_console, policy_grid

    console = new_console()
    summary = _summary(solution)
    console.print(
        f"[bold]{summary['environment']}[/bold]: {summary['n_states']} states, "
        f"{summary['n_states_of_s']} of them in S\n"
        f"gamma {solution.gamma:g}: the test start is worth {summary['value_of_test_start']:.5f} "
        f"({solution.method}, error at most {solution.error_bound:.1e})",
        highlight=False,
    )
    grid = policy_grid(solution.mdp, solution.advocacy)
    if grid is not None:
        unbounded = console.options.update(width=sys.maxsize)
        fits = console.measure(grid, options=unbounded).maximum <= console.width
        console.print()
        console.print(grid if fits else "(the grid is wider than the terminal; --figure draws it)")
    console.print()
    console.print(_q_table(solution))
    hidden = len(solution.mdp.states) - _SHOWN_STATES
    if hidden > 0:
        console.print(f"and {hidden} more states; --output writes them all", highlight=False)


def _q_table(solution: "Solution") -> "Table":
    from rich.table import Table

    mdp = solution.mdp
    table = Table(title="Q*")
    for name in (*mdp.space.names, *mdp.action_names, "gap"):
        table.add_column(name, justify="right")
    for state in mdp.states[:_SHOWN_STATES].tolist():
        values = [
            f"[bold cyan]{q:.5f}[/bold cyan]" if is_best else f"{q:.5f}"
            for q, is_best in zip(solution.q[state], solution.advocacy[state], strict=True)
        ]
        seen = [str(value) for value in mdp.observations[state].tolist()]
        table.add_row(*seen, *values, f"{solution.action_gaps[state]:.5f}")
    return table
