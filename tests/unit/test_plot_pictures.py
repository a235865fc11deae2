"""Every function of ``xcskit.plots`` draws the picture that is kept, and no other.

Pictures are drawn by Agg with Matplotlib's own DejaVu font and own FreeType, so that they differ by
nothing where Matplotlib is the same, and by little where it is another. How much a picture may
differ is the root mean square over its pixels, of 255. Each is drawn a second time with one thing
changed, which has to be told apart: an arrow that turns, a rule that goes, a run that is better.
"""

# Matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.testing.compare import compare_images

from populations import random_rules
from xcskit import plots
from xcskit.compaction import gnmc_path
from xcskit.errors import ConfigurationError, ModelError
from xcskit.mdp import frozen_lake, maze, solve
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Floats

KEPT = Path(__file__).parent / "pictures"
TOLERANCE = 0.5
DOTS_PER_INCH = 80

LAKE = frozen_lake("4x4", slip=0.1)
OPTIMUM = solve(LAKE, gamma=0.95)
Q_STAR: Floats = np.where(LAKE.is_terminal[:, np.newaxis], np.nan, OPTIMUM.q)
RULES = random_rules(7, 24, space=LAKE.space, n_actions=4)
FEW = random_rules(3, 8, space=LAKE.space, n_actions=4, covers_all=False)
X = np.linspace(0.0, 1.0, 6)


def q_values(*, best: int | None = None) -> Floats:
    """Give Q* outside terminal states; in state 14 the given action becomes the best."""
    q = Q_STAR.copy()
    if best is not None:
        q[14, best] = 1.0
    return q


def fewer(n_rules: int, rules: RuleSet = RULES) -> RuleSet:
    """Leave out so many rules, the fittest first."""
    return rules[np.sort(np.argsort(rules.fitness)[: len(rules) - n_rules])]


def histories(n_better: int) -> list[pl.DataFrame]:
    """Give three runs over six steps, of which some end better."""
    random = np.random.default_rng(1)
    errors = 0.5 - 0.4 * X + 0.05 * random.random((3, 6))
    errors[:n_better, -1] *= 0.5
    step = 1000 * np.arange(1, 7)
    return [pl.DataFrame({"step": step, "mean_absolute_error": error}) for error in errors]


def path_table(rules: RuleSet) -> pl.DataFrame:
    return gnmc_path(rules, Niches.of(rules, LAKE.observations[LAKE.states])).table()


def draw_arrows(ax: Any, is_changed: int) -> Any:
    advocacy = OPTIMUM.advocacy.copy()
    if is_changed:
        advocacy[0] = np.roll(advocacy[0], 1)
    return plots.plot_arrows(LAKE, advocacy, ax)


def draw_heatmap(ax: Any, is_changed: int) -> Any:
    values = q_values(best=1 if is_changed else None).max(axis=1)
    return plots.plot_heatmap(LAKE, values, ax, label="V*")


def draw_frequency(ax: Any, is_changed: int) -> Any:
    q_hats = [q_values(), q_values(best=0), q_values(best=0 if is_changed else 2)]
    return plots.plot_frequency(OPTIMUM, q_hats, ax)


PICTURES: dict[str, Callable[[Any, int], Any]] = {
    "plot_action_values": lambda ax, changed: plots.plot_action_values(
        LAKE, q_values(best=0 if changed else None), ax, label="Q*"
    ),
    "plot_arrows": draw_arrows,
    "plot_band": lambda ax, changed: plots.plot_band(X, X**2, 0.1 + 0.05 * changed * X, ax),
    "plot_cells": lambda ax, changed: plots.plot_cells(
        frozen_lake(["SF", "FG"]) if not changed else frozen_lake(["SF", "HG"]), ax
    ),
    "plot_cover": lambda ax, changed: plots.plot_cover(LAKE, fewer(changed), ax),
    "plot_distributions": lambda ax, changed: plots.plot_distributions(
        {"one": [X, X**2], "two": [X + 0.5, X**2 + 0.5 + 0.2 * changed]}, ax
    ),
    "plot_frequency": draw_frequency,
    "plot_generality": lambda ax, changed: plots.plot_generality(fewer(changed), ax),
    "plot_heatmap": draw_heatmap,
    "plot_lines": lambda ax, changed: plots.plot_lines(
        X, {"one": X, "two": X**2 - 0.1 * changed * X}, ax
    ),
    "plot_path": lambda ax, changed: plots.plot_path(path_table(fewer(changed)), "n_rules", ax),
    "plot_points": lambda ax, changed: plots.plot_points(
        {"one": (X, X), "two": (X, X**2 + 0.1 * changed)}, ax, diagonal=True
    ),
    "plot_rules": lambda ax, changed: plots.plot_rules(LAKE, fewer(changed, FEW), ax),
    "plot_slips": lambda ax, changed: plots.plot_slips(LAKE, 1, 1 + changed, ax),
    "plot_training": lambda ax, changed: plots.plot_training(
        histories(changed), "mean_absolute_error", ax
    ),
}
"""What draws each function's picture: as it is kept, or changed in one thing."""


def test_every_function_has_a_picture() -> None:
    functions = {name for name in plots.__all__ if name.startswith("plot_")}
    assert functions == set(PICTURES) == {file.stem for file in KEPT.iterdir()}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_the_one_that_is_kept(name: str, tmp_path: Path) -> None:
    drawn = save(name, tmp_path)
    kept = KEPT / f"{name}.png"
    difference = compare_images(str(kept), str(drawn), TOLERANCE)
    assert difference is None, f"{difference}\nLook at it; if it is meant: cp {drawn} {kept}"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_that_changed_is_told_apart(name: str, tmp_path: Path) -> None:
    drawn = save(name, tmp_path, is_changed=1)
    assert compare_images(str(KEPT / f"{name}.png"), str(drawn), TOLERANCE) is not None


def save(name: str, folder: Path, *, is_changed: int = 0) -> Path:
    with plots.house_style():
        figure, axes = plots.new_figure(height=2.6, width=3.6)
        ax = PICTURES[name](axes[0, 0], is_changed)
        assert ax is axes[0, 0]
        handles, labels = ax.get_legend_handles_labels()
        if labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=DOTS_PER_INCH)
    return path


# ---- What cannot be drawn ----


def blank() -> Any:
    return plots.new_figure(height=2.0)[1][0, 0]


def test_what_is_no_rectangle_is_not_drawn_as_one() -> None:
    woods = maze("woods1", view="sensors")
    rules = random_rules(1, space=woods.space, n_actions=4)
    with pytest.raises(ModelError, match="see the cell that it is in"):
        plots.plot_rules(woods, rules, blank())
    with pytest.raises(ModelError, match="see the cell that it is in"):
        plots.plot_rules(LAKE, random_rules(1), blank())


def test_no_rules_leave_the_map_bare() -> None:
    ax: Any = plots.plot_rules(LAKE, RULES[:0], blank())
    assert len(ax.patches) == 16 + RULES.n_actions  # the cells, and the legend's


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match="'regret' to draw: there is step, mean_abs"):
        plots.plot_training(histories(0), "regret", blank())
    with pytest.raises(ConfigurationError, match="there is no history"):
        plots.plot_training([], "regret", blank())
    undefined = pl.DataFrame({"step": [1000], "mean_absolute_error": [None]})
    with pytest.raises(ConfigurationError, match=r"at no step .* in all 4"):
        plots.plot_training([*histories(0), undefined], "mean_absolute_error", blank())
    with pytest.raises(ConfigurationError, match="its columns are rho, n_rules"):
        plots.plot_path(path_table(RULES), "regret", blank())
    with pytest.raises(ConfigurationError, match="every entry of q is NaN"):
        plots.plot_action_values(LAKE, np.full((16, 4), np.nan), blank())
    with pytest.raises(ConfigurationError, match="at least one run"):
        plots.plot_frequency(OPTIMUM, [], blank())


def test_steps_undefined_in_some_run_are_left_out() -> None:
    first, second, _ = histories(0)
    gap = second.with_columns(
        mean_absolute_error=pl.when(pl.col("step") != 3000).then("mean_absolute_error")
    )
    ax: Any = plots.plot_training([first, gap], "mean_absolute_error", blank())
    steps, means = (np.asarray(values) for values in ax.lines[0].get_data())
    assert steps.tolist() == [1000, 2000, 4000, 5000, 6000]
    expected = (first["mean_absolute_error"] + second["mean_absolute_error"]) / 2.0
    assert means == pytest.approx(expected.to_numpy()[[0, 1, 3, 4, 5]])
