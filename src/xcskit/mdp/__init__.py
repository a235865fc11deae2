"""Environments as models, solved exactly; knows no rules."""

from xcskit.mdp.lake import frozen_lake, random_lake_map
from xcskit.mdp.model import GridLayout, TabularMdp
from xcskit.mdp.outcomes import Outcomes

__all__ = ["GridLayout", "Outcomes", "TabularMdp", "frozen_lake", "random_lake_map"]
