"""The update of a set of rules with a payoff: predictions, errors, set sizes, then fitness."""

from collections.abc import Sequence

from oracle.arithmetic import FLOOR, ordered_sum, power
from oracle.parameters import Parameters
from oracle.predictions import inputs, learn_constant, learn_nlms, learn_rls, predict
from oracle.rule import Rule


def update_set(
    parameters: Parameters, rules: Sequence[Rule], payoff: float, observation: Sequence[int]
) -> None:
    """Update every rule of a set with payoff P at input x."""
    z = inputs(parameters, observation)
    least_error = min(rule.error for rule in rules)
    n_microclassifiers = sum(rule.numerosity for rule in rules)
    for rule in rules:
        rule.experience += 1
        d = payoff - predict(parameters, rule.weights, z)
        learn_prediction(parameters, rule, z, d)
        g = absolute_error(parameters, rule, d, least_error)
        rule.error = toward(rule.error, g, rule.experience, parameters.beta)
        rule.action_set_size = toward(
            rule.action_set_size, n_microclassifiers, rule.experience, parameters.beta
        )
    update_fitness(parameters, rules)


def toward(value: float, target: float, experience: int, rate: float) -> float:
    """Average the targets while exp < 1/rate, then follow them at that rate."""
    if experience < 1.0 / rate:
        return value + (target - value) / experience
    return value + rate * (target - value)


def learn_prediction(parameters: Parameters, rule: Rule, z: Sequence[float], d: float) -> None:
    if parameters.prediction == "constant":
        rule.weights = learn_constant(parameters, rule.weights, d, rule.experience)
    elif parameters.prediction == "nlms":
        rule.weights = learn_nlms(parameters, rule.weights, z, d)
    else:
        rule.weights, rule.covariance = learn_rls(parameters, rule.weights, rule.covariance, z, d)


def absolute_error(parameters: Parameters, rule: Rule, d: float, least_error: float) -> float:
    """Give g: |d|, for XCS-mu less the rule's mu, its estimate of the error that noise makes."""
    if parameters.error == "plain":
        return abs(d)
    rule.minimum_error = toward(
        rule.minimum_error, least_error, rule.experience, parameters.beta_epsilon
    )
    g = abs(d) - rule.minimum_error
    return parameters.epsilon_0 if g < 0.0 else g


def accuracy(parameters: Parameters, rule: Rule) -> float:
    """Give kappa: 1 below epsilon_0, falling steeply above."""
    if rule.error < parameters.epsilon_0:
        return 1.0
    quotient = parameters.epsilon_0 / rule.error
    return max(parameters.alpha * power(quotient, parameters.nu), FLOOR)


def update_fitness(parameters: Parameters, rules: Sequence[Rule]) -> None:
    """Move each fitness toward the rule's share of the set's accuracy."""
    shares = [accuracy(parameters, rule) * rule.numerosity for rule in rules]
    total = ordered_sum(shares)
    for rule, share in zip(rules, shares, strict=True):
        fitness = rule.fitness + parameters.beta * (share / total - rule.fitness)
        rule.fitness = max(fitness, FLOOR)
