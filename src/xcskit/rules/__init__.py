"""Rule sets as tables: inspect, save, load; knows no environment."""

from xcskit.rules.niches import Niches
from xcskit.rules.ruleset import RuleSet, Selector

__all__ = ["Niches", "RuleSet", "Selector"]
