"""How the genetic algorithm chooses a parent out of a set of rules."""

import math
from collections.abc import Sequence

from oracle.arithmetic import first_beyond, ordered_sum, power
from oracle.parameters import Parameters
from oracle.rule import Rule
from oracle.streams import Stream, draw_below, happens


def select_parent(parameters: Parameters, rules: Sequence[Rule], stream: Stream) -> Rule:
    if parameters.selection == "tournament":
        return tournament(parameters, rules, stream)
    if parameters.selection == "micro_tournament":
        return micro_tournament(parameters, rules, stream)
    return roulette(rules, stream)


def tournament(parameters: Parameters, rules: Sequence[Rule], stream: Stream) -> Rule:
    """Draw ceil(tau * n) macroclassifiers with replacement; the fittest wins, the first on ties."""
    size = math.ceil(parameters.tau * len(rules))
    drawn = [rules[draw_below(stream, len(rules))] for _ in range(size)]
    return max(drawn, key=lambda rule: rule.fitness)


def micro_tournament(parameters: Parameters, rules: Sequence[Rule], stream: Stream) -> Rule:
    """Let each microclassifier take part with probability tau; the fittest wins, first on ties."""
    taking_part: list[Rule] = []
    while not taking_part:
        taking_part = [
            rule
            for rule in rules
            if happens(stream, 1.0 - power(1.0 - parameters.tau, rule.numerosity))
        ]
    return max(taking_part, key=lambda rule: rule.fitness / rule.numerosity)


def roulette(rules: Sequence[Rule], stream: Stream) -> Rule:
    """Choose in proportion to fitness."""
    fitnesses = [rule.fitness for rule in rules]
    target = stream.random() * ordered_sum(fitnesses)
    return rules[first_beyond(fitnesses, target)[0]]
