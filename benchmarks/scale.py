"""What a step costs as population, world, dimensions and actions grow: times, bytes, exponents.

``python benchmarks/scale.py [AXIS ..] [--publish]`` measures the axes that are named, or all and a
lake of a million cells. Each point is trained in a process of its own until deletion holds its
population at N, then timed. Tables and figures go to ``.bench/scale``; ``--publish`` copies what
the documentation shows.
"""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import argparse
import ctypes
import os
import platform
import resource
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from rich.console import Console
from rich.table import Table

import million
from landscapes import lake, random_walk
from xcskit.learner import XCSF, presets
from xcskit.mdp import TabularMdp
from xcskit.plots.style import COLOURS, INK, house_style, new_figure, save_figure

FOLDER = Path(__file__).parents[1] / ".bench" / "scale"
DOCS = Path(__file__).parents[1] / "docs" / "performance" / "scale"

ROUNDS = 5
SETTLING, LEAST_SETTLING = 0.25, 100_000
"""How much longer than to reach N a population trains, before it is timed, in parts and steps."""
MOST_STEPS = 5_000_000
SAMPLES = 500
_MMAP_THRESHOLD = -3
"""As ``malloc.h`` numbers it."""
RESOLUTION = 0.1
"""Megabytes that the allocator may have had left."""


@dataclass(frozen=True)
class Point:
    """What is trained: a lake of so many cells a side, or (side 0) a walk."""

    axis: str
    value: int
    population_size: int
    side: int = 0
    n_dimensions: int = 2
    n_actions: int = 4

    def world(self) -> TabularMdp:
        """Make the model."""
        return lake(self.side) if self.side else random_walk(self.n_dimensions, self.n_actions)


class Axis(NamedTuple):
    """What grows, and what stays as it is."""

    title: str
    unit: str
    points: tuple[Point, ...]


SIDES = (4, 8, 16, 32, 64, 128, 256, 512, 1000)
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DIMENSIONS = (2, 3, 4, 6, 8, 10, 12)
ACTIONS = (2, 4, 8, 16, 32, 64)

AXES = {
    "population": Axis(
        "population, on a lake of 100 x 100",
        "N",
        tuple(Point("population", n, n, side=100) for n in SIZES),
    ),
    "both": Axis(
        "lake and population, N = cells",
        "side of the lake",
        tuple(Point("both", side, side * side, side=side) for side in SIDES[3:]),
    ),
    "world": Axis(
        "lake, N = 5,000",
        "side of the lake",
        tuple(Point("world", side, 5_000, side=side) for side in SIDES),
    ),
    "dimensions": Axis(
        "dimensions of a walk, N = 20,000",
        "dimensions",
        tuple(Point("dimensions", n, 20_000, n_dimensions=n) for n in DIMENSIONS),
    ),
    "actions": Axis(
        "actions of a walk, N = 20,000",
        "actions",
        tuple(Point("actions", n, 20_000, n_dimensions=3, n_actions=n) for n in ACTIONS),
    ),
}


def _resident() -> int:
    """Give the bytes of this process that are in memory, but for what could be given back."""
    ctypes.CDLL(None).malloc_trim(0)
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


def _tally(agent: XCSF, name: str) -> int:
    tally: Any = agent.system.population.tally
    return int(tally[name][0])


def _seconds(agent: XCSF, world: TabularMdp, steps: int) -> float:
    began = time.thread_time()
    agent.train(world, steps)
    return time.thread_time() - began


def _fill(agent: XCSF, world: TabularMdp, size: int) -> None:
    """Train until deletion holds the population at N, and a while longer."""
    while (missing := size - _tally(agent, "n_micros")) > 0 and agent.steps < MOST_STEPS:
        agent.train(world, max(10_000, missing // 2))
    agent.train(world, max(LEAST_SETTLING, int(SETTLING * agent.steps)))


def measure_point(point: Point) -> dict[str, object]:
    """Train one point, and give what it took."""
    ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 2**16)  # large arrays come and go by themselves
    world = point.world()
    config = presets.bishop2020().replace(population_size=point.population_size)
    warm = XCSF.on(world, config, seed=0).train(world, 1)  # kept, so that its memory is not reused
    before = _resident()
    agent = XCSF.on(world, config, seed=1)
    training = time.thread_time()
    _fill(agent, world, point.population_size)
    training = time.thread_time() - training
    trained = agent.steps
    steps = max(2_000, int(0.1 * trained / training))
    seconds = min(_seconds(agent, world, steps) for _ in range(ROUNDS)) / steps
    bytes_taken = _resident() - before
    del warm
    population = agent.system.population
    sizes: list[int] = []
    for _ in range(SAMPLES):
        agent.train(world, 1)
        sizes.append(int(agent.system.sets.first[-1]))
    return {
        **asdict(point),
        "n_states": int(world.states.size),
        "index": type(population.matcher).__name__.removesuffix("Index").lower(),
        "n_steps": trained,
        "training_seconds": training,
        "n_rules": _tally(agent, "n_macros"),
        "n_microclassifiers": _tally(agent, "n_micros"),
        "match_set": float(np.mean(sizes)),
        "ns_a_step": seconds * 1e9,
        "steps_a_second": 1.0 / seconds,
        "megabytes": max(bytes_taken / 1e6, RESOLUTION),
    }


def measure_axis(axis: Axis, console: Console) -> list[dict[str, object]]:
    """Measure the points of an axis, each in a process of its own."""
    rows: list[dict[str, object]] = []
    for point in axis.points:
        with ProcessPoolExecutor(1) as fresh:
            rows.append(fresh.submit(measure_point, point).result())
        console.print(
            f"{axis.unit} {point.value:,}: {rows[-1]['ns_a_step']:,.0f} ns a step, "
            f"[M] {rows[-1]['match_set']:.1f}",
            highlight=False,
        )
    return rows


def exponent(rows: pl.DataFrame, column: str) -> float:
    """Fit the power of the value with which a column grows."""
    x, y = np.log(rows["value"].to_numpy()), np.log(rows[column].to_numpy())
    return float(np.polyfit(x, y, 1)[0])


QUANTITIES = {
    "ns_a_step": "ns a step",
    "match_set": "rules in [M]",
    "megabytes": "MB",
}


def shown(rows: pl.DataFrame, axis: Axis) -> pl.DataFrame:
    """Give the columns of an axis that a reader wants, in words, the fitted powers as last row."""
    table = rows.select(
        _words("value", axis.unit),
        *([_words("population_size", "N")] if axis.unit != "N" else []),
        _words("n_states", "states"),
        "index",
        _words("n_steps", "trained"),
        _words("n_rules", "rules"),
        _words("match_set", "rules in [M]", ",.1f"),
        _words("ns_a_step", "ns a step"),
        _words("steps_a_second", "steps a second"),
        _words("megabytes", "MB", ",.1f"),
    )
    powers = dict.fromkeys(table.columns, "")
    powers[axis.unit] = "power"
    for column, name in QUANTITIES.items():
        powers[name] = f"{exponent(rows, column):+.2f}"
    return pl.concat([table, pl.DataFrame([powers])])


def _words(column: str, name: str, style: str = ",.0f") -> pl.Expr:
    return pl.col(column).map_elements(lambda x: format(x, style), pl.String).alias(name)


def draw(rows: pl.DataFrame) -> Figure:
    """Draw every quantity of every axis, both scales logarithmic, with the fitted power."""
    names = rows["axis"].unique(maintain_order=True).to_list()
    figure, grid = new_figure(
        len(QUANTITIES),
        len(names),
        height=5.4,
        width=1.9 * len(names),
        share_x="col",
        share_y="row",
    )
    for column, name in enumerate(names):
        found = rows.filter(axis=name)
        for row, (quantity, label) in enumerate(QUANTITIES.items()):
            ax = cast("Axes", grid[row, column])
            x, y = found["value"].to_numpy(), found[quantity].to_numpy()
            power, offset = np.polyfit(np.log(x), np.log(y), 1)
            ax.plot(x, np.exp(offset) * x**power, color=INK, linewidth=0.8, linestyle="--",
                    label=f"power {power:.2f}")  # fmt: skip
            ax.plot(x, y, "o-", color=COLOURS[row], markersize=3)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xticks(x[:: -(-x.size // 4)])
            ax.xaxis.set_major_formatter(EngFormatter(sep=""))
            ax.minorticks_off()
            ax.margins(y=0.3)
            ax.legend(loc="upper left", frameon=True, framealpha=0.8, edgecolor="none")
            if column == 0:
                ax.set_ylabel(label)
            if row == 0:
                ax.set_title(AXES[name].title.replace(", ", ",\n", 1))
            if row == len(QUANTITIES) - 1:
                ax.set_xlabel(AXES[name].unit)
    return figure


def circumstances(load_before: float) -> str:
    """Say on what this was measured, and how busy that was."""
    about = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    known = {
        key.strip(): value.strip()
        for key, _, value in (line.partition(":") for line in about.split("\n\n")[0].splitlines())
    }
    return (
        f"Measured on {os.cpu_count()} cores of {known['model name']} "
        f"(family {known['cpu family']}, model {known['model']}), "
        f"Python {platform.python_version()}, "
        f"Numba {version('numba')}; load average {load_before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after (what else runs takes caches and memory); populations "
        f"trained for at least {LEAST_SETTLING:,} steps after they had reached N.\n"
    )


def main(arguments: list[str]) -> int:
    """Measure, print, write tables and figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("axes", nargs="*", help=f"of {', '.join(AXES)}; none: all")
    parser.add_argument("--publish", action="store_true", help="copy it to the documentation")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.axes) - set(AXES)):
        parser.error(f"axes are {', '.join(AXES)}: got {', '.join(unknown)}")
    if options.axes and options.publish:
        parser.error("--publish needs all axes: name none")
    console = Console()
    FOLDER.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    tables: list[pl.DataFrame] = []
    for name in options.axes or AXES:
        axis = AXES[name]
        rows = pl.DataFrame(measure_axis(axis, console))
        tables.append(rows)
        words = shown(rows, axis)
        words.write_csv(FOLDER / f"{name}.csv")
        table = Table(*words.columns, title=axis.title)
        for row in words.iter_rows():
            table.add_row(*row)
        console.print(table)
    measured = pl.concat(tables)
    measured.write_parquet(FOLDER / "scale.parquet")
    with house_style():
        save_figure(draw(measured), FOLDER / "scale")
    if not options.axes:
        parts = pl.DataFrame(million.measure(), schema=["what", "measured"], orient="row")
        parts.write_csv(FOLDER / "million.csv")
        for what, took in parts.iter_rows():
            console.print(f"{what}: {took}", highlight=False)
    (FOLDER / "about.txt").write_text(circumstances(load), encoding="utf-8")
    if options.publish:
        DOCS.mkdir(parents=True, exist_ok=True)
        for path in (*FOLDER.glob("*.csv"), FOLDER / "about.txt", FOLDER / "scale.svg"):
            shutil.copy(path, DOCS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
