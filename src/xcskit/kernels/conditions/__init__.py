"""Conditions: which states a rule applies to. One file a representation, one row in the table."""

from xcskit.kernels.components import ConditionScheme, Table
from xcskit.kernels.conditions.min_span import MinSpan
from xcskit.kernels.conditions.unordered_bounds import UnorderedBounds

__all__ = ["CONDITIONS", "MinSpan", "UnorderedBounds"]

CONDITIONS: Table[ConditionScheme] = Table("condition", MinSpan, UnorderedBounds)
