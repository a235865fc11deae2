"""A rule set: one row a rule, one column a quantity."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from xcskit.errors import ConfigurationError, FileFormatError, SpaceError
from xcskit.files import write_atomically
from xcskit.kernels.components import ConditionScheme, PredictionScheme
from xcskit.kernels.niches import count_covered
from xcskit.rules import display
from xcskit.rules.columns import check_columns, expected_columns
from xcskit.rules.export import export_rules
from xcskit.rules.niches import Niches
from xcskit.spaces import IntegerSpace
from xcskit.typing import Bools, Floats, Ints
from xcskit.validation import (
    as_array,
    check_choice,
    check_instance,
    check_mapping,
    distinct_words,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["RuleSet", "Selector"]

Selector: TypeAlias = int | slice | Sequence[int] | Sequence[bool] | Ints | Bools

_CHUNK = 2**16


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RuleSet:
    """A population of rules as an immutable table.

    Rows are in rule order (the order of the population's slots). The columns, all int64 or float64:
    ``action``, the condition's columns (``x_lower``, ``x_upper``, ..), the prediction's columns
    (``weight_constant``, ``weight_x``, ..), ``fitness``, ``prediction_error``, ``minimum_error``,
    ``experience``, ``time_stamp``, ``action_set_size``, ``numerosity``; and, derived from the
    condition, ``generality``.

    Parameters
    ----------
    columns
        Every column but ``generality``, each of shape (n_rules,). Copied, read-only.
    space
        The space of the observations.
    action_names
        A name for each action, in the order of the actions.
    condition, prediction
        The schemes of the rules' conditions and predictions.
    metadata
        Where the rules come from (configuration, seed, steps, ..): anything that JSON can hold.

    Notes
    -----
    Two rule sets are equal when their rules, spaces, action names and schemes are; metadata does
    not count.

    ``fitness`` is that of the macroclassifier: it already counts numerosity. ``generality`` is the
    sum of the covered values over the dimensions / the sum of the possible values.

    Examples
    --------
    >>> import polars as pl
    >>> from xcskit.kernels.conditions import MinSpan
    >>> from xcskit.kernels.predictions import Constant
    >>> rules = RuleSet(
    ...     columns={
    ...         "action": [1, 0],
    ...         "x_lower": [0, 2], "x_upper": [3, 5], "y_lower": [0, 0], "y_upper": [7, 1],
    ...         "prediction": [0.5, 0.25],
    ...         "fitness": [0.61, 0.2], "prediction_error": [0.0, 0.01],
    ...         "minimum_error": [0.0, 0.0], "experience": [90, 40], "time_stamp": [100, 80],
    ...         "action_set_size": [20.5, 18.0], "numerosity": [17, 2],
    ...     },
    ...     space=IntegerSpace.grid(8, 8),
    ...     action_names=("left", "right"),
    ...     condition=MinSpan(),
    ...     prediction=Constant(),
    ... )
    >>> print(rules)
    2 rules (19 microclassifiers) over x 0 to 7, y 0 to 7; min_span, constant
      IF 0 <= x <= 3 THEN right: 0.5 (fitness 0.61, x17)
      IF 2 <= x <= 5 AND 0 <= y <= 1 THEN left: 0.25 (fitness 0.2, x2)
    >>> rules.filter(pl.col("numerosity") > 5)["generality"]
    array([0.75])
    >>> rules.q_values([2, 0])
    array([[0.25, 0.5 ]])
    """

    columns: Mapping[str, Ints | Floats]
    space: IntegerSpace
    action_names: tuple[str, ...]
    condition: ConditionScheme
    prediction: PredictionScheme
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Validate, copy and freeze."""
        put = object.__setattr__
        check_instance("space", self.space, IntegerSpace)
        check_mapping("columns", self.columns, "of names to arrays")
        _check_component("condition", self.condition, "MinSpan()")
        _check_component("prediction", self.prediction, "Nlms()")
        put(self, "action_names", _check_action_names(self.action_names))
        expected = expected_columns(self.condition, self.prediction, self.space)
        columns = check_columns(self.columns, expected, self.n_actions)
        problem = self.condition.problems(columns, self.space)
        if problem:
            raise SpaceError(problem)
        put(self, "columns", MappingProxyType(columns))
        put(self, "metadata", MappingProxyType(_check_metadata(self.metadata)))

    @classmethod
    def from_storages(
        cls,
        records: NDArray[np.void],
        condition_storage: Any,  # noqa: ANN401 - the scheme's own class
        prediction_storage: Any,  # noqa: ANN401 - the scheme's own class
        rows: Ints,
        *,
        space: IntegerSpace,
        action_names: Sequence[str],
        condition: ConditionScheme,
        prediction: PredictionScheme,
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make a rule set from what kernels work on.

        Parameters
        ----------
        records
            A structured array with the fields ``action``, ``fitness``, ``prediction_error``,
            ``minimum_error``, ``experience``, ``time_stamp``, ``action_set_size`` and
            ``numerosity``, a row a slot (``kernels.population.RULE``).
        condition_storage, prediction_storage
            Storages of the schemes, with a row a slot.
        rows
            The slots in use, ascending.
        space, action_names, condition, prediction, metadata
            As for the class.
        """
        kept = records[rows]
        parts = {
            **condition.columns(condition_storage, rows, space),
            **prediction.columns(prediction_storage, rows, space),
        }
        names = expected_columns(condition, prediction, space)
        columns = {name: parts[name] if name in parts else kept[name] for name in names}
        return cls(
            columns=columns,
            space=space,
            action_names=tuple(action_names),
            condition=condition,
            prediction=prediction,
            metadata=metadata or {},
        )

    # ---- Size and columns ----

    def __len__(self) -> int:
        """Count the rules: macroclassifiers."""
        return len(self.columns["action"])

    @property
    def n_actions(self) -> int:
        """Number of actions, of which each has a name."""
        return len(self.action_names)

    @property
    def n_microclassifiers(self) -> int:
        """The sum of the numerosities."""
        return int(self.numerosity.sum())

    @property
    def actions(self) -> Ints:
        """The action of each rule."""
        return cast("Ints", self.columns["action"])

    @property
    def fitness(self) -> Floats:
        """The fitness of each rule."""
        return cast("Floats", self.columns["fitness"])

    @property
    def numerosity(self) -> Ints:
        """The numerosity of each rule."""
        return cast("Ints", self.columns["numerosity"])

    @cached_property
    def condition_storage(self) -> Any:  # noqa: ANN401 - the scheme's own class
        """The conditions as kernels take them."""
        return self.condition.restore(self.columns, self.space)

    @cached_property
    def prediction_storage(self) -> Any:  # noqa: ANN401 - the scheme's own class
        """The predictions as kernels take them."""
        return self.prediction.restore(self.columns, self.space)

    @cached_property
    def generality(self) -> Floats:
        """The share of the possible values that each condition covers, shape (n_rules,)."""
        covered = np.zeros(len(self), dtype=np.int64)
        count_covered(self.condition_storage, covered)
        share = covered / float(sum(self.space.sizes))
        share.flags.writeable = False
        return share

    @overload
    def __getitem__(self, selector: str) -> Ints | Floats: ...

    @overload
    def __getitem__(self, selector: Selector) -> Self: ...

    def __getitem__(self, selector: str | Selector) -> "Self | Ints | Floats":
        """Give a column by its name, or a rule set of some rules.

        Parameters
        ----------
        selector
            A column's name; or a mask of shape (n_rules,), rule numbers, a slice, or one number.
        """
        if isinstance(selector, str):
            return self._column(selector)
        picked = _rule_numbers(selector, len(self))
        return replace(self, columns={name: data[picked] for name, data in self.columns.items()})

    def _column(self, name: str) -> Ints | Floats:
        if name == "generality":
            return self.generality
        if name not in self.columns:
            known = ", ".join([*self.columns, "generality"])
            msg = f"a rule set has no column {name!r}; its columns are {known}"
            raise KeyError(msg)
        return self.columns[name]

    def filter(self, *predicates: "pl.Expr") -> Self:
        """Give the rules for which polars expressions over the columns hold."""
        numbered = self.to_polars().with_row_index("_rule").filter(*predicates)
        return self[numbered["_rule"].to_numpy().astype(np.int64)]

    def with_metadata(self, **entries: Any) -> Self:  # noqa: ANN401 - whatever JSON can hold
        """Give the same rules with entries added to their metadata."""
        return replace(self, metadata={**self.metadata, **entries})

    # ---- What the rules say ----

    @overload
    def q_values(self, observations: object, *, holes: Literal["raise"] = "raise") -> Floats: ...

    @overload
    def q_values(
        self, observations: object, *, holes: Literal["mask"]
    ) -> "np.ma.MaskedArray[tuple[int, int], np.dtype[np.float64]]": ...

    def q_values(
        self, observations: object, *, holes: Literal["raise", "mask"] = "raise"
    ) -> "Floats | np.ma.MaskedArray[tuple[int, int], np.dtype[np.float64]]":
        """Give Qhat(s, a): the mean prediction of the rules that match, weighted by fitness.

        Parameters
        ----------
        observations
            One observation, or many as rows.
        holes
            What to do where no rule matches a pair: raise an error, or mask the entry.

        Returns
        -------
        Floats
            Shape (n_observations, n_actions); with ``holes="mask"`` a masked array.

        Raises
        ------
        HoleError
            No rule matches some pair, and ``holes`` is "raise".

        Notes
        -----
        The prediction array of XCSF; both sums run in rule order, so that the values equal the
        learner's to the last bit.
        """
        check_choice("holes", holes, ("raise", "mask"))
        rows = self.space.check(observations)
        values = np.empty((len(rows), self.n_actions))
        for begin in range(0, len(rows), _CHUNK):
            niches = Niches.of(self, rows[begin : begin + _CHUNK])
            if holes == "raise":
                niches.check_no_hole()
            values[begin : begin + _CHUNK] = niches.q_values(self.fitness)
        return values if holes == "raise" else np.ma.masked_invalid(values, copy=False)

    def policy(self, observations: object) -> Ints:
        """Give the greedy action for each observation, the lowest among exact ties.

        Raises
        ------
        HoleError
            No rule matches some pair.
        """
        return cast("Ints", self.q_values(observations).argmax(axis=1))

    # ---- Tables and files ----

    def to_polars(self) -> "pl.DataFrame":
        """Give the table with every column, ``generality`` last."""
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame({**self.columns, "generality": self.generality})

    def to_pandas(self) -> "pd.DataFrame":
        """Give the table as a pandas frame; needs the extra ``xcskit[pandas]``."""
        try:
            import pandas as pd  # noqa: PLC0415 - an optional extra
        except ImportError:
            msg = "to_pandas needs pandas: pip install xcskit[pandas], or use to_polars"
            raise ImportError(msg) from None
        return pd.DataFrame({**self.columns, "generality": self.generality})

    def save(self, path: str | Path) -> None:
        """Write one Parquet file, metadata inside; it appears whole or not at all."""
        from xcskit.rules.parquet import pack  # noqa: PLC0415 - slow to import

        write_atomically(path, pack(self))

    def export(self, path: str | Path) -> None:
        """Write the rules for other programs: ``.csv``, ``.json``, or ``.py``.

        The Python file has functions ``q_values`` and ``policy`` that answer as these rules do, to
        the last bit, and need nothing but Python.
        """
        export_rules(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that ``save`` wrote. Nothing in it is executed.

        Raises
        ------
        FileFormatError
            The file is foreign, damaged, or of a newer format; the message says which.
        """
        from xcskit.rules.parquet import unpack  # noqa: PLC0415 - slow to import

        try:
            return cls(**unpack(path))
        except ValueError as reason:
            if isinstance(reason, FileFormatError):
                raise
            msg = f"{path} holds no valid rule set: {reason}"
            raise FileFormatError(msg) from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle for worker processes of one program; files never hold pickles."""
        names = ("space", "action_names", "condition", "prediction")
        parts = {name: getattr(self, name) for name in names}
        make = partial(
            type(self), columns=dict(self.columns), metadata=dict(self.metadata), **parts
        )
        return make, ()

    # ---- Equality and display ----

    def __eq__(self, other: object) -> bool:
        """Tell whether rules, space, action names and schemes are equal."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        return (
            (self.space, self.action_names) == (other.space, other.action_names)
            and (self.condition, self.prediction) == (other.condition, other.prediction)
            and all(np.array_equal(data, other[name]) for name, data in self.columns.items())
        )

    __hash__ = None  # type: ignore[assignment] # equality looks into arrays

    def sentences(self) -> list[str]:
        """Put each rule into words, in rule order."""
        return display.sentences(self)

    def __repr__(self) -> str:
        """Size, space, and the rules of the greatest numerosity in words."""
        return display.text(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        """Show the rules of the greatest numerosity as a table in a terminal."""
        yield display.table_of_strongest(self, console, options.max_width)

    def _repr_html_(self) -> str:
        """Show the rules of the greatest numerosity as a table in a notebook."""
        return display.html_table(self)


def _rule_numbers(selector: Selector, n_rules: int) -> Ints:
    """Give the numbers of the selected rules."""
    if isinstance(selector, slice):
        return np.arange(n_rules)[selector]
    picked = np.atleast_1d(as_array(selector))
    if picked.size == 0:
        return np.empty(0, dtype=np.int64)
    if picked.ndim != 1 or picked.dtype.kind not in "iub":
        msg = f"rules are selected by a mask, by numbers or by a slice: got {shown(selector)}"
        raise TypeError(msg)
    if picked.dtype.kind == "b":
        if picked.size != n_rules:
            msg = f"a mask of {n_rules} rules has as many entries: got {picked.size}"
            raise IndexError(msg)
        return np.flatnonzero(picked)
    if picked.max() >= n_rules or picked.min() < -n_rules:
        msg = (
            f"{n_rules} rules are numbered 0 to {n_rules - 1}: got {picked.min()} to {picked.max()}"
        )
        raise IndexError(msg)
    return picked.astype(np.int64)


def _check_action_names(names: Sequence[str]) -> tuple[str, ...]:
    words = distinct_words(names)
    if not words:
        msg = f"action names are at least one, all different, none empty: got {shown(names)}"
        raise SpaceError(msg)
    return words


def _check_component(part: str, scheme: object, example: str) -> None:
    """Let only instances of schemes pass: their names and classes would be taken for them."""
    if isinstance(scheme, type) or not hasattr(scheme, "column_names"):
        msg = f"{part} is a scheme, such as {example}: got {shown(scheme)}"
        raise ConfigurationError(msg)


def _check_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Copy metadata by way of JSON, so that what is kept is what a file can hold."""
    try:
        copy = json.loads(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError) as reason:
        msg = f"metadata must be what JSON can hold (text, finite numbers, lists, tables): {reason}"
        raise ConfigurationError(msg) from None
    return dict(copy)
