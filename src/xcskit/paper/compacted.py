"""GNMC beside its relatives and beside the certified minimum, on every population."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import polars as pl

from xcskit.compaction import (
    CompactionReport,
    Cra2,
    Fu,
    Gnmc,
    Method,
    Pdrc,
    Qrc,
    Threshold,
    minimal_rules,
    model_niches,
    no_farther_than,
)
from xcskit.mdp import Solution
from xcskit.paper.instances import RHO, Instance
from xcskit.rules import RuleSet
from xcskit.typing import Bools

__all__ = ["MINIMUM_SECONDS", "RELATIVES", "minimum_table", "relatives_table"]

MINIMUM_SECONDS = 5.0
"""The time limit of each certified minimum."""

RELATIVES: Mapping[str, Method] = {
    "GNMC, fitness": Gnmc(mass="fitness", rho=RHO),
    "GNMC, tan": Gnmc(mass="tan", rho=RHO),
    "GNMC, inverse fitness": Gnmc(mass="inverse_fitness", rho=RHO),
    "PDRC": Pdrc(),
    "CRA2": Cra2(),
    "QRC": Qrc(),
    "Fu, change at most 0.01": Fu(loss="greatest_change", tolerance=0.01),
    "Fu, value error kept": Fu(loss="mean_absolute_error", tolerance=0.0),
    "Fu, policy kept": Fu(loss="policy_change", tolerance=0.0),
    "Fu, regret kept": Fu(loss="regret", tolerance=0.0),
    "experience at least 20": Threshold(column="experience", at_least=20.0, repair=False),
    "experience at least 500": Threshold(column="experience", at_least=500.0, repair=False),
    "experience at least 500, repaired": Threshold(column="experience", at_least=500.0),
    "fitness at least 0.1": Threshold(column="fitness", at_least=0.1, repair=False),
    "fitness at least 0.1, repaired": Threshold(column="fitness", at_least=0.1),
}
"""What the report compares, by the names that it gives."""


def relatives_table(instances: Sequence[Instance]) -> pl.DataFrame:
    """Give a row for each instance and method: size, fidelity, holes and time."""
    tables = [
        CompactionReport.of([instance.rules], RELATIVES, instance.solution, time_limit=None)
        .table.drop("population", "minimum", "minimum_bound")
        .select(
            pl.lit(instance.variant).alias("variant"),
            pl.lit(instance.seed, pl.Int64).alias("seed"),
            pl.all(),
        )
        for instance in instances
    ]
    return pl.concat(tables)


def minimum_table(instances: Sequence[Instance], pool: Executor) -> pl.DataFrame:
    """Give GNMC's number of rules, and the fewest that keep every niche as near to Q*.

    Parameters
    ----------
    instances
        The trained instances.
    pool
        Where the programs are solved.

    Returns
    -------
    pl.DataFrame
        ``minimum`` is the fewest found and ``minimum_bound`` the fewest possible, as proven; they
        are equal where the minimum is certified.
    """
    found = pool.map(
        _fewest,
        [instance.rules for instance in instances],
        [instance.kept("B") for instance in instances],
        [instance.solution for instance in instances],
    )
    return pl.DataFrame(
        [
            {
                "variant": instance.variant,
                "seed": instance.seed,
                "gnmc": int(instance.kept("B").sum()),
                **row,
            }
            for instance, row in zip(instances, found, strict=True)
        ]
    )


def _fewest(rules: RuleSet, kept: Bools, solution: Solution) -> dict[str, Any]:
    niches = model_niches(rules, solution.mdp)
    bounds = no_farther_than(rules, niches, kept, solution)
    least = minimal_rules(rules, niches, *bounds, time_limit=MINIMUM_SECONDS, start=kept)
    return {
        "minimum": round(least.weight),
        "minimum_bound": round(least.bound),
        "is_certified": least.status == "optimal",
        "seconds": least.seconds,
    }
