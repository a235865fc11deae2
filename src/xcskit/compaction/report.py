"""Methods of compaction side by side, on many populations, in one table."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from rich.table import Table
from rich.text import Text

from xcskit.compaction.bounds import no_farther_than
from xcskit.compaction.losses import mean_regret
from xcskit.compaction.minimal import minimal_rules
from xcskit.compaction.task import Method, check_task, describe, model_niches, states_of
from xcskit.errors import CompactionError
from xcskit.evaluation import greedy_policy, policy_accuracy, value_error
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools

__all__ = ["CompactionReport", "mean_of_all", "measure", "method_label"]

_FULL = "(full)"
_FIDELITY = ("mean_absolute_error", "policy_accuracy", "regret", "greatest_change")

_SCHEMA = {
    "population": pl.String,
    "method": pl.String,
    "n_rules": pl.Int64,
    "n_microclassifiers": pl.Int64,
    "mean_absolute_error": pl.Float64,
    "policy_accuracy": pl.Float64,
    "regret": pl.Float64,
    "greatest_change": pl.Float64,
    "n_holes": pl.Int64,
    "seconds": pl.Float64,
    "minimum": pl.Int64,
    "minimum_bound": pl.Int64,
}

_LEAST_WIDTH = 11
_MANY, _LITTLE = 1e3, 1e-3
_HEADINGS = {
    "method": "method",
    "n_rules": "rules",
    "n_microclassifiers": "micros",
    "mean_absolute_error": "MAE",
    "policy_accuracy": "acc.",
    "regret": "regret",
    "greatest_change": "change",
    "n_holes": "holes",
    "minimum": "min.",
    "minimum_bound": "proven",
    "seconds": "s",
}


def method_label(method: Method) -> str:
    """Give a method's name and parameters as text, such as ``gnmc(mass=fitness, rho=0.99)``."""
    words = describe(method)
    name = words.pop("method")
    inside = ", ".join(f"{key}={value}" for key, value in words.items())
    return f"{name}({inside})" if inside else str(name)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CompactionReport:
    """What methods of compaction keep, and what it costs.

    Parameters
    ----------
    table
        A row a population and method, and one for the full rule set, with the columns

        - ``n_rules``, ``n_microclassifiers``;
        - ``mean_absolute_error`` (of Qhat), ``policy_accuracy``, ``regret`` (the mean over S of
          V* - V of the greedy policy, exact), ``greatest_change`` (of Qhat by the compaction): null
          where there are holes;
        - ``n_holes``, ``seconds`` (of the method);
        - ``minimum``: the fewest rules found with no niche farther from Q*, and
          ``minimum_bound``: the fewest that are possible, as proven. They are equal where the
          minimum is certified, and null where there are holes or none was asked for.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> from xcskit import solve
    >>> from xcskit.compaction import Gnmc, Pdrc
    >>> report = CompactionReport.of([rules], [Gnmc(), Pdrc()], solve(lake, gamma=0.95))
    >>> report.table["method"].to_list()
    ['(full)', 'gnmc(mass=fitness, rho=0.99)', 'pdrc']
    """

    table: pl.DataFrame

    @classmethod
    def of(
        cls,
        populations: Mapping[str, RuleSet] | Sequence[RuleSet],
        methods: Mapping[str, Method] | Sequence[Method],
        solution: Solution,
        *,
        time_limit: float | None = 10.0,
    ) -> Self:
        """Compact every population by every method.

        Parameters
        ----------
        populations, methods
            Each with names, or without.
        solution
            The optimum of the model that the populations were trained on.
        time_limit
            Seconds for each certified minimum; None leaves the minima out.
        """
        named = populations if isinstance(populations, Mapping) else _numbered(populations)
        ways = methods if isinstance(methods, Mapping) else {method_label(m): m for m in methods}
        if not named or not ways:
            msg = f"a report needs populations and methods: got {len(named)} and {len(ways)}"
            raise CompactionError(msg)
        rows: list[dict[str, Any]] = []
        for name, rules in named.items():
            niches = model_niches(rules, solution.mdp)
            check_task(rules, niches)
            every = np.ones(len(rules), dtype=np.bool_)
            rows.append(_row(name, _FULL, rules, niches, every, 0.0, solution, time_limit))
            for way, method in ways.items():
                began = time.perf_counter()
                kept = method.select(rules, niches, solution)
                seconds = time.perf_counter() - began
                rows.append(_row(name, way, rules, niches, kept, seconds, solution, time_limit))
        return cls(table=pl.DataFrame(rows, schema=_SCHEMA))

    def summary(self) -> pl.DataFrame:
        """Give the mean of every column over the populations, a row a method.

        Null where it is null for some population, as the others would not be a fair sample.
        """
        numbers = [name for name in _SCHEMA if name not in {"population", "method"}]
        return self.table.group_by("method", maintain_order=True).agg(
            pl.len().alias("n_populations"), *map(mean_of_all, numbers)
        )

    def __repr__(self) -> str:
        """Sizes, and the table."""
        return f"CompactionReport\n{self.table}"

    def __rich__(self) -> Table:
        """Show the means over the populations as a table in a terminal."""
        n_populations = self.table["population"].n_unique()
        means = "1 population" if n_populations == 1 else f"means of {n_populations} populations"
        # For 80 columns, and only the method folds: a number cut short would be another number.
        shown = Table(title=f"Compaction: {means}", box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for name, heading in _HEADINGS.items():
            if name == "method":
                shown.add_column(heading, overflow="fold", min_width=_LEAST_WIDTH)
            else:
                shown.add_column(heading, justify="right", no_wrap=True)
        for row in self.summary().select(*_HEADINGS).rows():
            shown.add_row(*(Text(_cell(value)) for value in row))
        return shown


def mean_of_all(name: str) -> pl.Expr:
    """Average a column, giving null where any of its values is."""
    column = pl.col(name)
    return pl.when(column.null_count() == 0).then(column.mean()).alias(name)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if value >= _MANY:
        return f"{value:.0f}"
    return f"{value:.0e}" if 0.0 < value < _LITTLE else f"{value:.3g}"


def _numbered(populations: Sequence[RuleSet]) -> dict[str, RuleSet]:
    return {str(number): rules for number, rules in enumerate(populations)}


def _row(
    population: str,
    method: str,
    rules: RuleSet,
    niches: Niches,
    kept: Bools,
    seconds: float,
    solution: Solution,
    time_limit: float | None,
) -> dict[str, Any]:
    row = {
        "population": population,
        "method": method,
        **measure(rules, niches, kept, solution),
        "seconds": seconds,
    }
    if time_limit is not None and not row["n_holes"]:
        bounds = no_farther_than(rules, niches, kept, solution)
        least = minimal_rules(rules, niches, *bounds, time_limit=time_limit, start=kept)
        row |= {"minimum": round(least.weight), "minimum_bound": round(least.bound)}
    return row


def measure(rules: RuleSet, niches: Niches, kept: Bools, solution: Solution) -> dict[str, Any]:
    """Give the size of a compaction and how far it is from Q* and from the full rule set.

    Returns
    -------
    dict
        ``n_rules``, ``n_microclassifiers``, ``n_holes`` and, None where there are holes,
        ``mean_absolute_error``, ``policy_accuracy``, ``regret`` and ``greatest_change``.
    """
    values = niches.values_of(rules.fitness, kept, np.arange(niches.n_niches))
    values = values.reshape(-1, niches.n_actions)
    n_holes = int(np.count_nonzero(np.isnan(values)))
    sizes = {
        "n_rules": int(np.count_nonzero(kept)),
        "n_microclassifiers": int(rules.numerosity[kept].sum()),
        "n_holes": n_holes,
    }
    if n_holes:
        return {**sizes, **dict.fromkeys(_FIDELITY)}
    states = states_of(niches, solution.mdp)
    fidelity = (
        value_error(values, solution, states),
        policy_accuracy(values, solution, states),
        mean_regret(solution, states, greedy_policy(values)),
        float(np.abs(values - niches.q_values(rules.fitness)).max()),
    )
    return {**sizes, **dict(zip(_FIDELITY, fidelity, strict=True))}
