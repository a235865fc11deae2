"""The whole paper, in one call."""

import json
import os
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from xcskit.errors import ExperimentError, StoreError
from xcskit.experiments import Experiment, Results, Specification
from xcskit.experiments.plain import plain_entry
from xcskit.experiments.provenance import provenance
from xcskit.experiments.training import configuration_of
from xcskit.files import write_atomically
from xcskit.mdp import Solution
from xcskit.paper.agreement import agreement_table
from xcskit.paper.claims import RESAMPLES, Judged, judge, load_claims
from xcskit.paper.compacted import minimum_table, relatives_table
from xcskit.paper.evidence import (
    actions_table,
    environments_table,
    gnmc_table,
    instances_table,
)
from xcskit.paper.figures import draw_figures
from xcskit.paper.instances import Instance, instances_of, solutions_of
from xcskit.paper.policies import policies_table
from xcskit.paper.report import Report, render
from xcskit.paper.specification import PAPER_MAP, paper_specification
from xcskit.paper.tables import (
    examples,
    minimum_summary,
    policies_summary,
    relatives_summary,
    table_1,
    table_2,
)
from xcskit.paper.trial import train_and_measure

__all__ = ["PaperRun", "run_paper"]

_BOOTSTRAP_SEED: Final = 2020
_STORE: Final = "store"
_PRODUCTS: Final = ("report.html", "claims.json", "tables", "figures")


@dataclass(frozen=True, kw_only=True)
class PaperRun:
    """What a run of the paper made.

    Parameters
    ----------
    folder
        Where ``report.html``, ``claims.json``, ``tables`` and ``figures`` are.
    judged
        The claims with their verdicts.
    tables
        All tables by name.
    seconds
        How long each stage took.
    """

    folder: Path
    judged: Sequence[Judged]
    tables: Mapping[str, pl.DataFrame]
    seconds: Mapping[str, float]

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / "report.html"


def run_paper(
    folder: str | Path,
    *,
    instances: int = 30,
    seed: int = 1,
    jobs: int | None = None,
    fresh: bool = False,
    quick: bool = False,
    lake: str | list[str] = PAPER_MAP,
    progress: bool = True,
) -> PaperRun:
    """Train, analyse and judge the whole paper, and write a report of it.

    Trials that the folder holds already are not run again; a run that was killed goes on.

    Parameters
    ----------
    folder
        Where everything goes; made if need be.
    instances, seed, lake, quick
        As for ``paper_specification``.
    jobs
        How many threads; one for each core unless given.
    fresh
        Whether to train anew what is there.
    progress
        Whether to show how far training is, on standard error.

    Raises
    ------
    ExperimentError
        A trial failed.
    HoleError
        An instance has no rule for some state-action pair at the end.
    """
    target = Path(folder)
    specification = paper_specification(instances=instances, seed=seed, lake=lake, quick=quick)
    is_paper_map = lake == PAPER_MAP
    clock = _Clock()
    _refuse_strange(target)
    with clock.stage("training"):
        solutions = solutions_of(specification)  # first, as a map may be none
        results = _train(specification, target / _STORE, jobs, fresh=fresh, progress=progress)
    clock.tells = progress
    with clock.stage("paths and policies"):
        trained = list(instances_of(results, solutions))
        tables = _evidence(results, trained, solutions, _target_error(specification))
    with clock.stage("relatives"):
        tables["relatives"] = relatives_table(trained)
    with clock.stage("certified minima"), ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        tables["minimum"] = minimum_table(trained, pool)
    with clock.stage("claims and agreement"):
        rng = np.random.default_rng(_BOOTSTRAP_SEED)
        name = lake if isinstance(lake, str) else trained[0].solution.mdp.name
        judged = judge(load_claims(), tables, name, rng)
        tables |= _shown(tables, is_paper_map=is_paper_map)
        if is_paper_map:
            slippery = tables["policies"].filter(variant="p0.1")
            tables["agreement"] = agreement_table(slippery, rng)
    with clock.stage("figures"):
        for part in ("tables", "figures"):
            (target / part).mkdir(exist_ok=True)
        for name, table in tables.items():
            write_atomically(target / "tables" / f"{name}.csv", table.write_csv().encode())
        figures = draw_figures(tables, solutions, target / "figures")
    with clock.stage("report"):
        made = _made(specification, results, clock)
        _write_claims(target / "claims.json", judged, made)
        page = Report(
            title=_title(lake, trained[0].solution.mdp.name),
            subtitle=_subtitle(instances),
            is_quick=quick,
            judged=judged,
            tables=tables,
            figures=figures,
            facts=made,
        )
        write_atomically(target / "report.html", render(page).encode())
    return PaperRun(folder=target, judged=judged, tables=tables, seconds=clock.seconds)


def _refuse_strange(folder: Path) -> None:
    """Refuse a folder with files that a run would replace, but none of a run's results."""
    strange = [name for name in _PRODUCTS if (folder / name).exists()]
    if strange and not (folder / _STORE).exists():
        msg = (
            f"{folder} holds {strange[0]!r}, but no results that it could have been made of; "
            "choose another folder, or remove it"
        )
        raise StoreError(msg)


class _Clock:
    """Keeps the seconds of each stage, and tells on standard error when one begins."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.tells = False

    def __str__(self) -> str:
        """Give the whole and its parts."""
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in self.seconds.items())
        return f"{sum(self.seconds.values()):.1f} s: {stages}"

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        if self.tells:
            sys.stderr.write(f"{name} ..\n")
            sys.stderr.flush()
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began


def _train(
    specification: Specification, folder: Path, jobs: int | None, *, fresh: bool, progress: bool
) -> Results:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        msg = f"the folder {folder} cannot be made: {reason.strerror or reason}; name another one"
        raise StoreError(msg) from None
    experiment = Experiment(specification, train_and_measure, folder)
    if fresh:
        with experiment.store.writing() as writer:
            for trial in specification.trials():
                writer.discard(experiment.key(trial))
    outcome = experiment.run(jobs=jobs, progress=progress)
    if outcome.failures:
        first = outcome.failures[0]
        msg = (
            f"{len(outcome.failures)} of {outcome.n_trials} trials failed, the first, "
            f"{first.trial}, with {first.error}: {first.message}"
        )
        raise ExperimentError(msg)
    return experiment.results()


def _target_error(specification: Specification) -> float:
    (entry,) = specification.configurations.values()
    return configuration_of(plain_entry(entry, "configuration")).target_error


def _evidence(
    results: Results,
    trained: Sequence[Instance],
    solutions: dict[str, Solution],
    target_error: float,
) -> dict[str, pl.DataFrame]:
    policies = policies_table(trained, target_error)
    return {
        "environments": environments_table(solutions, policies, target_error),
        "history": results.table("history").rename({"environment": "variant"}),
        "instances": instances_table(trained),
        "actions": actions_table(trained, solutions["p0"]),
        "gnmc": gnmc_table(trained),
        "policies": policies,
    }


def _shown(tables: dict[str, pl.DataFrame], *, is_paper_map: bool) -> dict[str, pl.DataFrame]:
    return {
        "table-1": table_1(tables, is_paper_map=is_paper_map),
        "table-2": table_2(tables, is_paper_map=is_paper_map),
        "policies-summary": policies_summary(tables),
        "examples": examples(tables),
        "relatives-summary": relatives_summary(tables),
        "minimum-summary": minimum_summary(tables),
    }


def _made(specification: Specification, results: Results, clock: _Clock) -> dict[str, str]:
    """Tell how the report came about."""
    about: Any = provenance()
    trials = list(results)
    trained: Any = [record.provenance for _, record in trials]
    seconds = sum(float(row["seconds"]) for row in trained)
    n_steps = sum(int(str(trial.environment["steps"])) for trial, _ in trials)
    commits = sorted({str(row["git_commit"]) or "unknown" for row in trained})
    seeds = specification.seeds
    return {
        "Trials": f"{len(trials)}: {len(seeds)} seeds, {seeds[0]} to {seeds[-1]}, on each of "
        + ", ".join(specification.environments),
        "Steps": f"{n_steps:,}, in {seconds:,.0f} s of all trials together "
        f"({n_steps / seconds:,.0f} a second and trial)",
        "This run": f"{clock} (trials that were there before took no time)",
        "Bootstrap": f"{RESAMPLES:,} resamples, seed {_BOOTSTRAP_SEED}",
        "Versions": ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
        "Trained by git commit": ", ".join(commits),
        "Reported by git commit": str(about["git_commit"]) or "unknown",
        "Machine": f"{about['machine']['processor']}, {about['machine']['cores']} cores, "
        f"{about['machine']['system']}",
        "Written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _write_claims(path: Path, judged: Sequence[Judged], made: Mapping[str, str]) -> None:
    claims = {"claims": [item.to_dict() for item in judged], "made": dict(made)}
    text = json.dumps(claims, indent=1, allow_nan=False, ensure_ascii=False)
    write_atomically(path, text.encode())


def _title(lake: str | list[str], name: str) -> str:
    where = "" if lake == PAPER_MAP else f": {name}"
    return f"XCSF compaction in discrete reinforcement learning, reproduced{where}"


def _subtitle(instances: int) -> str:
    return (
        f"Bishop and Gallagher (2020), Optimality-based Analysis of XCSF Compaction in Discrete "
        f"Reinforcement Learning, trained, analysed and judged again with {instances} instances "
        "of each variant."
    )
