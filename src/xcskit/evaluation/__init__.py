"""Values and policies judged against the optimum, exactly and by rollouts; knows no learner."""

from xcskit.evaluation.exact import PolicyValues, StepsToGoal, policy_values, steps_to_goal
from xcskit.evaluation.holes import Holes, hole_mask
from xcskit.evaluation.metrics import (
    Valuing,
    against,
    greedy_policy,
    is_correct,
    policy_accuracy,
    value_error,
)
from xcskit.evaluation.rollouts import Rollouts, paper_rollouts, rollouts

__all__ = [
    "Holes",
    "PolicyValues",
    "Rollouts",
    "StepsToGoal",
    "Valuing",
    "against",
    "greedy_policy",
    "hole_mask",
    "is_correct",
    "paper_rollouts",
    "policy_accuracy",
    "policy_values",
    "rollouts",
    "steps_to_goal",
    "value_error",
]
