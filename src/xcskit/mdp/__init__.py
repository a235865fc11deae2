"""Environments as models, solved exactly; knows no rules."""

from xcskit.mdp.lake import frozen_lake, random_lake_map
from xcskit.mdp.model import GridLayout, TabularMdp
from xcskit.mdp.outcomes import Outcomes
from xcskit.mdp.solution import FiniteHorizonSolution, Solution
from xcskit.mdp.solvers import (
    finite_horizon,
    modified_policy_iteration,
    policy_iteration,
    solve,
    value_iteration,
)

__all__ = [
    "FiniteHorizonSolution",
    "GridLayout",
    "Outcomes",
    "Solution",
    "TabularMdp",
    "finite_horizon",
    "frozen_lake",
    "modified_policy_iteration",
    "policy_iteration",
    "random_lake_map",
    "solve",
    "value_iteration",
]
