"""Measurements along the paths of GNMC."""

import numpy as np
import polars as pl
from scipy import stats

from xcskit.paper.measurements.base import Statistic, Tables, column_of, measurement, ratio
from xcskit.typing import Floats, Ints


def _curves(tables: Tables, variant: str, mass: str, column: str) -> Floats:
    """Give a column of the paths, shape (n_instances, n_rhos)."""
    chosen = tables["gnmc"].filter(variant=variant, mass=mass).sort("seed", "rho")
    return chosen[column].to_numpy().reshape(chosen["seed"].n_unique(), -1).astype(np.float64)


def _mean_curves(tables: Tables, variant: str, mass: str, column: str) -> Statistic:
    curves = _curves(tables, variant, mass, column)
    every = np.arange(len(curves))

    def average(rows: Ints) -> Floats:
        weights: Floats = np.mean(rows[..., np.newaxis] == every, axis=-2)
        # Rounded, as equal means must tie whatever order they are summed in.
        return np.round(weights @ curves, 12)

    return average


@measurement
def gnmc_greatest_rise(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give by how much the mean curve rises above its value at rho 0, at most, over all rho."""
    curve = _mean_curves(tables, variant, mass, column)
    return lambda rows: (curve(rows) - curve(rows)[..., :1]).max(axis=-1)


@measurement
def gnmc_greatest_fall(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give by how much the mean curve falls below its value at rho 0, at most, over all rho."""
    curve = _mean_curves(tables, variant, mass, column)
    return lambda rows: (curve(rows)[..., :1] - curve(rows)).max(axis=-1)


@measurement
def gnmc_change(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the mean change from rho 0 to the greatest rho."""
    curve = _mean_curves(tables, variant, mass, column)
    return lambda rows: curve(rows)[..., -1] - curve(rows)[..., 0]


@measurement
def gnmc_trend(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the rank correlation of the mean curve with rho."""
    curve = _mean_curves(tables, variant, mass, column)

    def correlate(rows: Ints) -> Floats:
        ranks = stats.rankdata(curve(rows), axis=-1)
        places = np.arange(ranks.shape[-1], dtype=np.float64)
        places -= places.mean()
        centred = ranks - ranks.mean(axis=-1, keepdims=True)
        return ratio(
            centred @ places, np.sqrt((centred**2).sum(axis=-1) * (places**2).sum()), empty=0.0
        )

    return correlate


@measurement
def gnmc_greatest_step(
    tables: Tables, *, variant: str, mass: str, column: str, since: int = 0
) -> Statistic:
    """Give the greatest change between neighbouring rho, as a share of the whole curve's range.

    ``since`` leaves out so many steps at the beginning.
    """
    curve = _mean_curves(tables, variant, mass, column)

    def step(rows: Ints) -> Floats:
        values = curve(rows)
        steps = np.abs(np.diff(values, axis=-1))[..., since:]
        return ratio(steps.max(axis=-1), np.ptp(values, axis=-1))

    return step


@measurement
def gnmc_greatest_growth(tables: Tables, *, variant: str, column: str) -> Statistic:
    """Give by how much a column grows between neighbouring rho, at most, on any path there is."""
    paths = tables["gnmc"].filter(variant=variant).sort("mass", "seed", "rho")
    values = paths[column].cast(pl.Float64).to_numpy().reshape(-1, paths["rho"].n_unique())
    growth = float(np.diff(values, axis=1).max())
    return lambda rows: np.full(len(rows), growth)


@measurement
def gnmc_left(tables: Tables, *, variant: str, mass: str, column: str) -> Statistic:
    """Give the share of a size that is left at the greatest rho, of that before compaction."""
    curves = _curves(tables, variant, mass, column)
    full = column_of(tables, "instances", column, variant=variant)
    return lambda rows: curves[rows, -1].mean(axis=-1) / full[rows].mean(axis=-1)


@measurement
def gnmc_between(
    tables: Tables, *, variant: str, mass: str, over: str, column: str, per: str = ""
) -> Statistic:
    """Compare two masses at the greatest rho: the ratio of a size, or of a size per another."""
    first, second = (_mean_curves(tables, variant, name, column) for name in (mass, over))
    if not per:
        return lambda rows: first(rows)[..., -1] / second(rows)[..., -1]
    bases = [_mean_curves(tables, variant, name, per) for name in (mass, over)]
    return lambda rows: (
        (first(rows)[..., -1] / bases[0](rows)[..., -1])
        / (second(rows)[..., -1] / bases[1](rows)[..., -1])
    )
