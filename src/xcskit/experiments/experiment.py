"""An experiment: a specification, the function that performs its trials, and their results."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from xcskit.errors import StoreError
from xcskit.experiments.provenance import engine_fingerprint
from xcskit.experiments.runner import ExecutorChoice, Outcome, run_trials
from xcskit.experiments.specification import Specification
from xcskit.experiments.store import Record, Store
from xcskit.experiments.trial import Trial, TrialFunction, Value, key_of

__all__ = ["Experiment", "Results"]

_LISTED = 5


class Experiment:
    """A specification, a function that performs one trial, and a folder of results.

    What a trial gives depends on nothing but its environment, configuration, measurements and
    seed, and on the code: these name its file. So an experiment that grows runs only what is new,
    one that was killed goes on where it was, and results of other code are never taken for these.

    Parameters
    ----------
    specification
        The trials.
    function
        Takes a `Trial` and a `Reporter`, returns a mapping from names to scalars and polars
        DataFrames. It draws random numbers from the trial's seed alone.
    folder
        Where results are kept. Several experiments may share it, one running at a time.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from xcskit.experiments import Experiment, Reporter, Specification, Trial
    >>> def mean_reward(trial: Trial, reporter: Reporter) -> dict[str, float]:
    ...     draws = np.random.default_rng(trial.seed).random(1_000)
    ...     return {"reward": float(np.mean(draws < trial.environment["p"]))}
    >>> specification = Specification(
    ...     name="coins",
    ...     environments={"fair": {"p": 0.5}},
    ...     configurations={"none": {}},
    ...     seeds=range(4),
    ... )
    >>> experiment = Experiment(specification, mean_reward, tempfile.mkdtemp())
    >>> experiment.run(progress=False).n_finished
    4
    >>> experiment.run(progress=False).n_skipped
    4
    >>> experiment.results().summary().select("metric", "n", "mean").rows()
    [('reward', 4, 0.49...)]
    """

    def __init__(
        self, specification: Specification, function: TrialFunction, folder: str | Path
    ) -> None:
        self.specification = specification
        self.store = Store(folder)
        self._function = function
        self._engine = engine_fingerprint(function)

    def __repr__(self) -> str:
        return f"Experiment({self.specification.name!r}, {str(self.store.folder)!r})"

    def key(self, trial: Trial) -> str:
        """Give the name of a trial's file: the hash of all that determines its result."""
        return key_of(trial.identity(self._engine))

    def run(
        self,
        *,
        executor: ExecutorChoice = "threads",
        jobs: int | None = None,
        progress: bool = True,
    ) -> Outcome:
        """Perform the trials that are not there yet; those that failed before are tried again.

        May be killed at any moment and run again: finished trials stay, and the end is the same.

        Parameters
        ----------
        executor
            Threads of this process (compiled code runs beside each other), processes of its own,
            or any executor of ``concurrent.futures``, which is left running.
        jobs
            How many threads or processes; one for each core unless given.
        progress
            Whether to show how far the run is, on standard error.
        """
        return run_trials(
            self.specification.trials(),
            self._function,
            self._engine,
            self.store,
            name=self.specification.name,
            executor=executor,
            jobs=jobs,
            progress=progress,
        )

    def status(self) -> pl.DataFrame:
        """Tell of every trial whether it is finished, failed or missing, and with what error."""
        return pl.DataFrame(
            [_labels(trial) | self._state(trial) for trial in self.specification.trials()],
            schema_overrides={"error": pl.String},
        )

    def results(self) -> "Results":
        """Read every trial.

        Raises
        ------
        StoreError
            Trials are missing or failed: what is left would not be a fair sample.
        """
        states = [(trial, self._state(trial)) for trial in self.specification.trials()]
        unfinished = [
            f"{trial} ({state['error'] or state['state']})"
            for trial, state in states
            if state["state"] != "finished"
        ]
        if unfinished:
            listed = "; ".join(unfinished[:_LISTED])
            more = "; ..." if len(unfinished) > _LISTED else ""
            n_others = len(self.store.keys()) - (len(states) - len(unfinished))
            others = (
                f" ({n_others} trials in the folder are of other code or specifications)"
                if n_others
                else ""
            )
            msg = (
                f"{len(unfinished)} of the {len(states)} trials of {self.specification.name} are "
                f"not finished: {listed}{more}; run the experiment{others}"
            )
            raise StoreError(msg)
        return Results([(trial, self.store.read(self.key(trial))) for trial, _ in states])

    def _state(self, trial: Trial) -> dict[str, str | None]:
        key = self.key(trial)
        if key in self.store:
            return {"state": "finished", "error": None, "key": key}
        failure = self.store.failure(key)
        if failure is None:
            return {"state": "missing", "error": None, "key": key}
        return {"state": "failed", "error": f"{failure.error}: {failure.message}", "key": key}


class Results:
    """All trials of an experiment, as tables whose first columns say which trial."""

    def __init__(self, records: list[tuple[Trial, Record]]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[tuple[Trial, Record]]:
        return iter(self._records)

    def metrics(self) -> pl.DataFrame:
        """Give the scalars: a row for each trial."""
        return pl.DataFrame(
            [_labels(trial) | _scalars(record) for trial, record in self._records],
            infer_schema_length=None,
        )

    def table(self, name: str) -> pl.DataFrame:
        """Give a table that every trial has: the rows of all trials, one trial after the other."""
        frames: list[pl.DataFrame] = []
        for trial, record in self._records:
            table = record.result.get(name)
            if not isinstance(table, pl.DataFrame):
                msg = f"trial {trial} has no table {name!r}; it has {', '.join(record.result)}"
                raise StoreError(msg)
            labels = [
                pl.lit(value, pl.Int64 if isinstance(value, int) else pl.String).alias(key)
                for key, value in _labels(trial).items()
            ]
            frames.append(table.select(*labels, pl.all()))
        return pl.concat(frames, how="vertical_relaxed")

    def summary(self) -> pl.DataFrame:
        """Give mean, standard deviation, median and range of each number over the seeds.

        Raises
        ------
        StoreError
            A number is undefined in some trial: the others would not be a fair sample.
        """
        metrics = self.metrics()
        trials = ["environment", "configuration", "seed"]
        numbers = metrics.select(
            *trials,
            (pl.selectors.numeric() | pl.selectors.boolean()).exclude(trials).cast(pl.Float64),
        )
        long = numbers.unpivot(index=trials, variable_name="metric")
        undefined = long.filter(pl.col("value").is_null())
        if undefined.height:
            environment, configuration, seed, metric, _ = undefined.row(0)
            msg = (
                f"{metric} is undefined in {undefined.height} trials, such as {environment}, "
                f"{configuration}, seed {seed}; select from metrics() what is to be averaged"
            )
            raise StoreError(msg)
        groups = long.group_by(*trials[:2], "metric", maintain_order=True)
        return pl.DataFrame(
            [
                {
                    "environment": environment,
                    "configuration": configuration,
                    "metric": metric,
                    "n": group.height,
                    "mean": group["value"].mean(),
                    "sd": group["value"].std(),
                    "median": group["value"].median(),
                    "least": group["value"].min(),
                    "greatest": group["value"].max(),
                }
                for (environment, configuration, metric), group in groups
            ]
        )


def _labels(trial: Trial) -> dict[str, str | int]:
    return {
        "environment": trial.environment_name,
        "configuration": trial.configuration_name,
        "seed": trial.seed,
    }


def _scalars(record: Record) -> dict[str, Value]:
    return {k: v for k, v in record.result.items() if not isinstance(v, pl.DataFrame)}
