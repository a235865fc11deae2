"""Environments as models, solved exactly; knows no rules."""

from xcskit.mdp.arrays import from_arrays, load_arrays
from xcskit.mdp.environments import ENVIRONMENTS, load_environment
from xcskit.mdp.from_gymnasium import from_gymnasium
from xcskit.mdp.gymnasium import TabularEnv
from xcskit.mdp.lake import frozen_lake, random_lake_map
from xcskit.mdp.maze import maze
from xcskit.mdp.model import GridLayout, TabularMdp
from xcskit.mdp.outcomes import Outcomes
from xcskit.mdp.q_learning import QLearning, q_learning
from xcskit.mdp.solution import FiniteHorizonSolution, Solution
from xcskit.mdp.solvers import (
    finite_horizon,
    modified_policy_iteration,
    policy_iteration,
    solve,
    value_iteration,
)

__all__ = [
    "ENVIRONMENTS",
    "FiniteHorizonSolution",
    "GridLayout",
    "Outcomes",
    "QLearning",
    "Solution",
    "TabularEnv",
    "TabularMdp",
    "finite_horizon",
    "from_arrays",
    "from_gymnasium",
    "frozen_lake",
    "load_arrays",
    "load_environment",
    "maze",
    "modified_policy_iteration",
    "policy_iteration",
    "q_learning",
    "random_lake_map",
    "solve",
    "value_iteration",
]
