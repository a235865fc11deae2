"""What tab completes beside commands, options and files: names that xcskit keeps in tables."""

import importlib
from collections.abc import Callable, Iterable

__all__ = ["names_in"]


def names_in(module: str, table: str) -> Callable[[str], list[str]]:
    """Give what completes a word by the names in a table, which is imported when tab is pressed.

    Parameters
    ----------
    module, table
        Where the table is, and what it is called there.
    """

    def complete(incomplete: str) -> list[str]:
        names: Iterable[str] = getattr(importlib.import_module(module), table)
        return [name for name in names if name.startswith(incomplete)]

    return complete
