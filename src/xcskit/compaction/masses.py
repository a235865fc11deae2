"""Masses: how much a rule counts for a compaction method."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from xcskit.errors import CompactionError
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Floats
from xcskit.validation import check_choice

__all__ = ["MASSES", "Mass", "check_niche_masses", "mass_name", "rule_masses"]

Mass: TypeAlias = str | Callable[[pl.DataFrame], Any]
"""The name of a mass, or a function of the rule table that gives a number for each rule."""

_LEAST_TOTAL = 1e-250
"""Below this, products with 1 - rho would leave the normal numbers, and rounding its laws."""


def _tan(table: pl.DataFrame) -> pl.Series:
    return table["fitness"] * table["numerosity"] * table["generality"]


def _accuracy_and_generality(table: pl.DataFrame) -> pl.Series:
    return table["fitness"] * table["generality"]


MASSES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "fitness": lambda table: table["fitness"],
    "tan": _tan,
    "inverse_fitness": lambda table: 1.0 / table["fitness"],
    "dixon": _accuracy_and_generality,
    "numerosity": lambda table: table["numerosity"],
    "experience": lambda table: table["experience"],
}
"""The masses that can be named.

``fitness``, ``tan`` (fitness x numerosity x generality, multiplied in this order) and
``inverse_fitness`` are the paper's; ``dixon`` (fitness x generality) is CRA2's.
"""


def mass_name(mass: Mass) -> str:
    """Give a mass's name, for tables and metadata."""
    return mass if isinstance(mass, str) else getattr(mass, "__name__", repr(mass))


def rule_masses(rules: RuleSet, mass: Mass) -> Floats:
    """Give the mass of each rule, finite and not negative.

    Parameters
    ----------
    rules
        The rule set.
    mass
        A name in ``MASSES``, or a function of the rule table (a polars frame with the columns of
        ``RuleSet.to_polars``) that gives a number for each rule.

    Raises
    ------
    CompactionError
        A mass is negative or not finite (the rule is named), or there is not one for each rule.
    """
    function = mass if callable(mass) else MASSES[check_choice("mass", mass, MASSES)]
    given = function(rules.to_polars())
    try:
        masses = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        msg = f"mass {mass_name(mass)!r} must give a number for each rule: {reason}"
        raise CompactionError(msg) from None
    if masses.shape != (len(rules),):
        msg = (
            f"mass {mass_name(mass)!r} must give one number for each of {len(rules)} rules: "
            f"got an array of shape {masses.shape}"
        )
        raise CompactionError(msg)
    wrong = ~np.isfinite(masses) | (masses < 0.0)
    if wrong.any():
        rule = int(np.argmax(wrong))
        msg = (
            f"rule {rule} has mass {masses[rule]} by {mass_name(mass)!r}; "
            f"masses are finite and at least 0: {rules[rule].sentences()[0]}"
        )
        raise CompactionError(msg)
    return masses


def check_niche_masses(niches: Niches, masses: Floats) -> None:
    """Refuse a niche whose rules weigh nothing, or too much to be added up."""
    totals = np.bincount(niches.niche_of, masses[niches.members], niches.n_niches)
    wrong = ~((totals >= _LEAST_TOTAL) & np.isfinite(totals))
    if wrong.any():
        niche = int(np.argmax(wrong))
        members = niches.members[niches.first[niche] : niches.first[niche + 1]]
        msg = (
            f"the mass of {niches.name_pair(niche)} is {totals[niche]:g} in total (rules "
            f"{', '.join(map(str, members[:10].tolist()))}{', ..' if members.size > 10 else ''}); "
            f"each state-action pair needs a total of at least {_LEAST_TOTAL:g}, and finite"
        )
        raise CompactionError(msg)
