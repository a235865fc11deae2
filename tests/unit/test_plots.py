"""Figures: what is on them, that they are not blank, and that equal data give equal files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.image import imread

from xcskit import plots
from xcskit.errors import ModelError
from xcskit.mdp import TabularMdp, frozen_lake, solve


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with plots.house_style():
        yield


@pytest.fixture(scope="module")
def lake() -> TabularMdp:
    return frozen_lake("4x4", slip=0.1)


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_the_style_sets_back_what_it_set_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    size = rcParams["font.size"]
    monkeypatch.setitem(rcParams, "font.size", 13)
    monkeypatch.setitem(rcParams, "interactive", False)
    with plots.house_style():
        assert rcParams["font.size"] == size
        rcParams["interactive"] = True  # as a notebook's first figure does
    assert rcParams["interactive"]
    assert rcParams["font.size"] == 13


def test_a_map_shows_every_cell(lake: TabularMdp) -> None:
    _, axes = plots.new_figure(height=2.0)
    ax = plots.plot_cells(lake, axes[0, 0])
    assert texts(ax) == list("SFFFFHFHFFFHHFFG")
    assert len(ax.patches) == 16


def test_a_grid_too_long_either_way_has_no_text_in_its_cells() -> None:
    for rows in (["S" + "F" * 18 + "G"], ["S", *"F" * 18, "G"]):
        long = frozen_lake(rows)
        _, axes = plots.new_figure(1, 2, height=2.0)
        assert texts(plots.plot_cells(long, axes[0, 0])) == []
        values = np.where(long.is_terminal, np.nan, 0.25)
        heatmap = plots.plot_heatmap(long, values, axes[0, 1], label="share")
        assert texts(heatmap) == []
        assert sorted(len(ticks) for ticks in (heatmap.get_xticks(), heatmap.get_yticks())) == [
            1,
            4,
        ]


def test_slips_show_every_outcome_and_a_wall_where_nothing_moves(lake: TabularMdp) -> None:
    _, axes = plots.new_figure(1, 2, height=2.0)
    corner = plots.plot_slips(lake, 0, 0, axes[0, 0])
    assert sorted(texts(corner)) == ["0.05", "0.05", "0.9"]
    assert len(corner.lines) == 3  # two walls and the agent
    calm = plots.plot_slips(frozen_lake("4x4"), 0, 2, axes[0, 1])
    assert texts(calm) == ["1"]


def test_a_policy_has_an_arrow_for_every_action_that_it_advocates(lake: TabularMdp) -> None:
    advocacy = solve(frozen_lake("4x4")).advocacy
    _, axes = plots.new_figure(height=2.0)
    ax = plots.plot_arrows(lake, advocacy, axes[0, 0])
    assert len(ax.patches) == 16 + advocacy.sum()


def test_a_heatmap_prints_each_number_once(lake: TabularMdp) -> None:
    values = np.where(lake.is_terminal, np.nan, 0.25)
    _, axes = plots.new_figure(height=2.0)
    ax = plots.plot_heatmap(lake, values, axes[0, 0], label="share")
    assert sorted(texts(ax)) == ["0.25"] * 11 + ["G"] + ["H"] * 4


def test_what_has_no_grid_cannot_be_drawn_as_one(lake: TabularMdp) -> None:
    plain = TabularMdp(
        name="plain",
        space=lake.space,
        observations=lake.observations,
        action_names=lake.action_names,
        outcomes=lake.outcomes,
        training_start=lake.training_start,
        test_start=lake.test_start,
    )
    _, axes = plots.new_figure(height=2.0)
    with pytest.raises(ModelError, match="no grid layout"):
        plots.plot_cells(plain, axes[0, 0])


def test_curves_points_and_distributions_carry_their_labels() -> None:
    _, axes = plots.new_figure(1, 3, height=2.0)
    x = np.arange(4.0)
    plots.plot_lines(x, {"one": x, "two": x**2}, axes[0, 0])
    plots.plot_points({"one": (x, x), "two": (x, -x)}, axes[0, 1], diagonal=True)
    samples = {"one": [x, x + 1.0], "two": [x * 2.0, np.array([1.0, np.inf])]}
    plots.plot_distributions(samples, axes[0, 2])
    for ax in axes[0]:
        assert ax.get_legend_handles_labels()[1] == ["one", "two"]
    lines = axes[0, 2].lines
    ends = [np.asarray(line.get_ydata())[-1] for line in lines]
    assert ends[:3] == [1.0] * 3
    assert ends[3] == 0.5  # the infinite half lies beyond the end


def test_the_band_is_one_spread_to_either_side() -> None:
    _, axes = plots.new_figure(height=2.0)
    x = np.arange(3.0)
    ax = plots.plot_band(x, x, np.full(3, 0.5), axes[0, 0])
    path: Any = ax.collections[0].get_paths()[0]
    edges = path.vertices[:, 1]
    assert (edges.min(), edges.max()) == (-0.5, 2.5)


def test_files_are_whole_sized_and_the_same_each_time(lake: TabularMdp, tmp_path: Path) -> None:
    contents: list[bytes] = []
    for name in ("one", "two"):
        figure, axes = plots.new_figure(height=2.0)
        plots.plot_cells(lake, axes[0, 0])
        layout = figure.get_layout_engine()
        png, svg = plots.save_figure(figure, tmp_path / name)
        assert figure.get_layout_engine() is layout
        contents += [png.read_bytes(), svg.read_bytes()]
    assert contents[:2] == contents[2:]
    image = imread(tmp_path / "one.png")
    assert image.shape[:2] == (400, 960)
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 20
    assert b"<svg" in contents[1]
