"""What a component is: a scheme that a user names, a storage that kernels work on.

A *scheme* is a frozen dataclass with the component's parameters (``MinSpan(cover_range=4)``). It
makes a *storage*, a NamedTuple of arrays with a row for each slot of the population, and it moves
rows between a storage and the columns of a rule table. The storage's class selects the
implementation of each generic function, when the kernels are compiled.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from xcskit.errors import ConfigurationError
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats, Ints

__all__ = ["Box", "Columns", "Component", "ConditionScheme", "PredictionScheme", "Table", "box"]

Columns = Mapping[str, Ints | Floats]


class Box(NamedTuple):
    """The bounds of a space; the tuples' length is known to the compiler."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]


def box(space: IntegerSpace) -> Box:
    """Give the bounds of a space in the kernels' form."""
    return Box(space.lower, space.upper)


class Component(Protocol):
    """What conditions and predictions have in common."""

    name: ClassVar[str]

    def storage(self, capacity: int, space: IntegerSpace) -> Any:  # noqa: ANN401 - its own class
        """Allocate a storage with a row for each of ``capacity`` slots."""
        ...

    def columns(self, storage: Any, rows: Ints, space: IntegerSpace) -> dict[str, Ints | Floats]:  # noqa: ANN401 - its own class
        """Give rows of a storage as columns of a rule table, in the table's order."""
        ...

    def column_names(self, space: IntegerSpace) -> tuple[str, ...]:
        """Name the columns that this component adds to a rule table."""
        ...

    def restore(self, columns: Columns, space: IntegerSpace) -> Any:  # noqa: ANN401 - its own class
        """Make a storage from the columns of a rule table: enough to match and to predict."""
        ...

    def sentence(self, row: Mapping[str, float], space: IntegerSpace) -> str:
        """Put one rule's part into words."""
        ...


class ConditionScheme(Component, Protocol):
    """Which states a rule applies to."""

    def problems(self, columns: Columns, space: IntegerSpace) -> str:
        """Say what is wrong with columns read from a file; an empty text if nothing is."""
        ...


class PredictionScheme(Component, Protocol):
    """What value a rule foretells."""

    def n_terms(self, space: IntegerSpace) -> int:
        """Count the terms that ``write_terms`` writes for a state."""
        ...


S = TypeVar("S", bound=Component)


class Table(dict[str, type[S]]):
    """The schemes that can be named in a configuration or a file."""

    def __init__(self, kind: str, *schemes: type[S]) -> None:
        """List the schemes that the package brings along."""
        super().__init__({scheme.name: scheme for scheme in schemes})
        self._kind = kind

    def register(self, scheme: type[S]) -> type[S]:
        """Add a scheme from outside the package; serves as a class decorator."""
        self[scheme.name] = scheme
        return scheme

    def named(self, name: object) -> type[S]:
        """Give the scheme of a name, or an error that lists the names."""
        if not isinstance(name, str) or name not in self:
            msg = f"{self._kind} is one of {', '.join(sorted(self))}: got {name!r}"
            raise ConfigurationError(msg)
        return self[name]
