"""The whole path of Greedy Niche Mass Compaction: every rho at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from xcskit.compaction.masses import Mass, check_niche_masses, mass_name, rule_masses
from xcskit.compaction.task import check_task, states_of
from xcskit.kernels.compaction import Optimum, RuleRows, greatest_remainders, path_work, trace_path
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Floats
from xcskit.validation import check_real

__all__ = ["GnmcPath", "gnmc_path"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GnmcPath:
    """For every rule the rho at which GNMC drops it, and so the compacted set for every rho.

    Parameters
    ----------
    rules, niches
        What is compacted.
    mass
        The mass that it was made with.
    drop_out
        The least rho in [0, 1] at which each rule is dropped, shape (n_rules,): a rule is kept at
        rho exactly when rho < ``drop_out``. 1 for rules that are always kept.

    Notes
    -----
    In a niche, Algorithm 1 keeps a rule while the mass before it is less than (1 - rho) of the
    total. So the sets are nested in rho, and each has at least one rule in every niche.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> path = gnmc_path(rules, niches, mass="fitness")
    >>> len(rules) > len(path.at(0.0)) > len(path.at(0.5)) > len(path.at(0.99))
    True
    >>> path.table().columns
    ['rho', 'n_rules', 'n_microclassifiers']
    """

    rules: RuleSet
    niches: Niches
    mass: Mass
    drop_out: Floats

    def __repr__(self) -> str:
        """Sizes."""
        n_first, n_last = (
            np.count_nonzero(self.drop_out > 0.0),
            np.count_nonzero(self.drop_out == 1.0),
        )
        return (
            f"GnmcPath(mass={mass_name(self.mass)!r}, {len(self.rules)} rules, "
            f"{n_first} at rho 0, {n_last} as rho nears 1, {self.breakpoints.size} sets)"
        )

    @cached_property
    def breakpoints(self) -> Floats:
        """0, and every rho in (0, 1) at which the compacted set changes, ascending."""
        return np.unique(np.concatenate([[0.0], self.drop_out[self.drop_out < 1.0]]))

    def kept(self, rho: float) -> Bools:
        """Give a mask of the rules that are kept at rho."""
        return self.drop_out > check_rho(rho)

    def at(self, rho: float) -> RuleSet:
        """Give the compacted rule set at rho, in [0, 1); its metadata tell of it."""
        done = {"method": "gnmc", "mass": mass_name(self.mass), "rho": check_rho(rho)}
        return self.rules[self.kept(rho)].with_metadata(compaction=done)

    def table(
        self, solution: Solution | None = None, rhos: Sequence[float] | Floats | None = None
    ) -> pl.DataFrame:
        """Give the sets along the path, a row each.

        Parameters
        ----------
        solution
            The optimum to compare with.
        rhos
            Which rho to list; none given means every breakpoint.

        Returns
        -------
        pl.DataFrame
            Columns ``rho``, ``n_rules``, ``n_microclassifiers`` and, given a solution,
            ``mean_absolute_error`` and ``policy_accuracy``.

        Notes
        -----
        All breakpoints are valued in one pass: a rule that leaves costs only its niches.
        """
        order = np.argsort(self.drop_out, kind="stable")
        group_first = np.searchsorted(self.drop_out[order], self.breakpoints, side="right")
        micros = np.concatenate([[0], np.cumsum(self.rules.numerosity[order])])
        columns: dict[str, Any] = {
            "rho": self.breakpoints,
            "n_rules": len(self.rules) - group_first,
            "n_microclassifiers": micros[-1] - micros[group_first],
        }
        if solution is not None:
            errors = np.zeros(self.breakpoints.size)
            correct = np.zeros(self.breakpoints.size, dtype=np.int64)
            trace_path(
                self.niches.rows(self.rules.fitness),
                RuleRows(*self.niches.by_rule),
                self._optimum(solution),
                self.niches.n_actions,
                order,
                np.concatenate([[0], group_first]),
                path_work(self.niches.n_niches, len(self.rules)),
                errors,
                correct,
            )
            columns["mean_absolute_error"] = errors / self.niches.n_niches
            columns["policy_accuracy"] = correct / len(self.niches.observations)
        table = pl.DataFrame(columns)
        if rhos is None:
            return table
        listed = np.array([check_rho(rho) for rho in rhos])
        row = np.searchsorted(self.breakpoints, listed, side="right") - 1
        return table[row].with_columns(rho=pl.Series(listed, dtype=pl.Float64))

    def _optimum(self, solution: Solution) -> Optimum:
        states = states_of(self.niches, solution.mdp)
        return Optimum(solution.q[states].ravel(), solution.advocacy[states].ravel())


def check_rho(rho: float) -> float:
    """Check the mass removal factor."""
    return check_real("rho", rho, 0.0, 1.0, open_high=True)


def gnmc_path(rules: RuleSet, niches: Niches, mass: Mass = "fitness") -> GnmcPath:
    """Compute the path of Greedy Niche Mass Compaction.

    Parameters
    ----------
    rules, niches
        A rule set and its niches.
    mass
        A name in ``MASSES``, or a function of the rule table.

    Notes
    -----
    Bishop and Gallagher (2020), Algorithm 1, for all rho at once, and equal to it in floating
    point: masses are summed in sorted order, ties broken by rule order; in each niche u* is the
    greatest double with fl(u* total) <= mass before; a rule is kept at rho exactly when
    fl(1 - rho) > u* in one of its niches.

    Raises
    ------
    CompactionError
        The rule set is empty, or a mass is negative, not finite, or zero in total.
    HoleError
        No rule matches some state-action pair.
    """
    check_task(rules, niches)
    masses = rule_masses(rules, mass)
    check_niche_masses(niches, masses)
    descending = np.lexsort((niches.members, -masses[niches.members], niches.niche_of))
    u = np.empty(len(rules))
    greatest_remainders(niches.first, niches.members[descending], masses, u)
    return GnmcPath(rules=rules, niches=niches, mass=mass, drop_out=_least_rho(u))


def _least_rho(u: Floats) -> Floats:
    """Give the least double rho in [0, 1] with fl(1 - rho) <= u, by bisection of the doubles."""
    low = np.full(u.size, -1, dtype=np.int64)
    high = np.full(u.size, np.float64(1.0).view(np.int64))
    for _ in range(63):
        middle = (low + high) // 2
        drops = 1.0 - np.maximum(middle, 0).view(np.float64) <= u
        is_inner = (middle > low) & (middle < high)
        high = np.where(drops & is_inner, middle, high)
        low = np.where(~drops & is_inner, middle, low)
    return high.view(np.float64)
