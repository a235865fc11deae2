"""What the engine asks of an index over the rules of a population."""

from xcskit.kernels.compiler import generic

__all__ = ["find_identical", "flip", "match"]


@generic
def match(
    index: object,
    condition: object,
    rules: object,
    n_used: object,
    state: object,
    matched: object,
    first: object,
) -> None:
    """Write the slots of the rules that match a state, action by action, in rule order.

    The slots of action a become ``matched[first[a]:first[a + 1]]``.
    """


@generic
def flip(index: object, condition: object, slot: object, action: object) -> None:
    """Enter a rule into the index, or take out one that is there."""


@generic
def find_identical(
    index: object,
    condition: object,
    rules: object,
    n_used: object,
    rule: object,
    action: object,
) -> None:
    """Give the slot of the rule with the same condition and action, or -1."""
