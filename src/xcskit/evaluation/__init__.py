"""Values and policies judged against the optimum, exactly and by rollouts; knows no learner."""

from xcskit.evaluation.evaluation import SUMMARY, Evaluation, compare, evaluate_q
from xcskit.evaluation.exact import PolicyValues, StepsToGoal, policy_values, steps_to_goal
from xcskit.evaluation.metrics import (
    against,
    greedy_policy,
    is_correct,
    policy_accuracy,
    value_error,
)
from xcskit.evaluation.rollouts import Rollouts, paper_rollouts, rollouts
from xcskit.evaluation.values import Holes, Values, Valuing, hole_mask

__all__ = [
    "SUMMARY",
    "Evaluation",
    "Holes",
    "PolicyValues",
    "Rollouts",
    "StepsToGoal",
    "Values",
    "Valuing",
    "against",
    "compare",
    "evaluate_q",
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
