"""XCSF, step by step as the algorithm page tells it, in plain Python.

This is the meaning of the compiled engine: from one seed both hold the same population, bit for
bit, after every step. Nothing here is meant to be fast.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from oracle import predictions
from oracle.conditions import (
    Space,
    cover,
    cross,
    generality,
    matches,
    mutate,
    repair,
    to_intervals,
)
from oracle.deletion import choose_victim
from oracle.parameters import Parameters
from oracle.rule import Rule, could_subsume, is_more_general, subsumes, weighted_prediction
from oracle.selection import select_parent
from oracle.streams import draw_below, happens, new_streams
from oracle.update import update_set


@dataclass
class Episode:
    """What XCSF remembers of one environment from step to step."""

    observation: tuple[int, ...] = ()
    action_set: list[Rule] = field(default_factory=list[Rule])
    greatest_prediction: float = 0.0
    """max_a PA(a) at the observation."""
    has_explored: bool = False
    """Whether the current step explored."""
    previous_observation: tuple[int, ...] = ()
    previous_set: list[Rule] | None = None
    """[A]-1; None where there is none in this episode."""
    previous_reward: float = 0.0
    explores: bool | None = None
    """With exploration by episode: the decision, once drawn."""


class Xcsf:
    """A population of rules, and what learns it.

    ``slots`` is the population in rule order: a rule or None (a free place). ``t`` counts steps.
    """

    def __init__(
        self,
        parameters: Parameters,
        lower: Sequence[int],
        upper: Sequence[int],
        n_actions: int,
        seed: int,
        n_environments: int = 1,
    ) -> None:
        self.parameters = parameters
        self.space = Space(tuple(lower), tuple(upper))
        self.n_actions = n_actions
        self.streams = new_streams(seed)
        self.slots: list[Rule | None] = []
        self.freed_slots: list[int] = []
        self.episodes = [Episode() for _ in range(n_environments)]
        self.t = 0
        self.events: Counter[str] = Counter()

    @property
    def n_environments(self) -> int:
        return len(self.episodes)

    @property
    def rules(self) -> list[Rule]:
        """[P], in rule order."""
        return [rule for rule in self.slots if rule is not None]

    def q_value(self, observation: Sequence[int], action: int) -> float | None:
        """Give Qhat(s, a), or None where no rule matches the pair."""
        rules = [
            rule
            for rule in self.rules
            if rule.action == action and matches(rule.intervals, observation)
        ]
        z = predictions.inputs(self.parameters, observation)
        return weighted_prediction(self.parameters, rules, z) if rules else None

    # ---- One step: act, then learn ----

    def act(
        self, observation: Sequence[int], environment: int = 0, *, explore: bool | None = None
    ) -> int:
        """Match, cover, predict, and choose an action (steps 1 to 3 of the page).

        ``explore`` None: as the parameters say. True or False: so, without a draw for it.
        """
        episode = self.episodes[environment]
        match_set = self._match(observation)
        prediction_array = self._prediction_array(match_set, observation)
        episode.observation = tuple(observation)
        episode.greatest_prediction = max(prediction_array.values())
        episode.has_explored = self._decide_to_explore(episode) if explore is None else explore
        action = self._choose_action(prediction_array, explore=episode.has_explored)
        episode.action_set = [rule for rule in match_set if rule.action == action]
        return action

    def learn(
        self,
        reward: float,
        next_observation: Sequence[int],
        *,
        terminated: bool,
        truncated: bool,
        environment: int = 0,
    ) -> None:
        """Update what came before, and delete (steps 5 to 7 of the page)."""
        gamma = self.parameters.gamma
        episode = self.episodes[environment]

        if episode.previous_set is not None:
            payoff = episode.previous_reward + gamma * episode.greatest_prediction
            self._reinforce(
                episode.previous_set, payoff, episode.previous_observation, episode.has_explored
            )

        if terminated or truncated:
            payoff = reward
            if not terminated:
                match_set = self._match(next_observation)
                prediction_array = self._prediction_array(match_set, next_observation)
                payoff = reward + gamma * max(prediction_array.values())
            self._reinforce(episode.action_set, payoff, episode.observation, episode.has_explored)
            self.episodes[environment] = Episode()
        else:
            episode.previous_set = episode.action_set
            episode.previous_observation = episode.observation
            episode.previous_reward = reward
            episode.action_set = []

        while sum(rule.numerosity for rule in self.rules) > self.parameters.N:
            self._delete_one()
        self.t += 1

    # ---- Matching and acting ----

    def _match(self, observation: Sequence[int]) -> list[Rule]:
        """Give [M] in rule order, after covering actions that it lacks, one rule at a time."""
        wanted = self.parameters.theta_mna or self.n_actions
        match_set = [rule for rule in self.rules if matches(rule.intervals, observation)]
        while len(present := {rule.action for rule in match_set}) < wanted:
            missing = [action for action in range(self.n_actions) if action not in present]
            rule = self._cover(observation, missing)
            self.add(rule)
            match_set.append(rule)
            match_set.sort(key=lambda rule: rule.slot)
        return match_set

    def _cover(self, observation: Sequence[int], missing: Sequence[int]) -> Rule:
        """Make a rule around the observation, for one of the missing actions."""
        parameters = self.parameters
        stream = self.streams["discovery"]
        action = missing[draw_below(stream, len(missing))]
        alleles = cover(parameters, self.space, observation, stream)
        n_inputs = len(predictions.inputs(parameters, observation))
        self.events["covered"] += 1
        return Rule(
            alleles=alleles,
            intervals=to_intervals(parameters, alleles),
            action=action,
            weights=predictions.new_weights(parameters, n_inputs),
            covariance=predictions.new_covariance(parameters, n_inputs),
            error=parameters.epsilon_i,
            minimum_error=parameters.epsilon_i,
            fitness=parameters.f_i,
            time_stamp=self.t,
            experience=0,
            action_set_size=1.0,
            numerosity=1,
        )

    def _prediction_array(
        self, match_set: Sequence[Rule], observation: Sequence[int]
    ) -> dict[int, float]:
        """Give PA(a) of each action in [M], actions ascending."""
        z = predictions.inputs(self.parameters, observation)
        by_action: dict[int, list[Rule]] = {}
        for rule in match_set:
            by_action.setdefault(rule.action, []).append(rule)
        return {
            action: weighted_prediction(self.parameters, by_action[action], z)
            for action in sorted(by_action)
        }

    def _decide_to_explore(self, episode: Episode) -> bool:
        stream = self.streams["exploration"]
        probability = self.parameters.exploration_probability
        if self.parameters.exploration == "step":
            return happens(stream, probability)
        if episode.explores is None:
            episode.explores = happens(stream, probability)
        return episode.explores

    def _choose_action(self, prediction_array: dict[int, float], *, explore: bool) -> int:
        """Choose uniformly, or the greatest PA; a draw breaks ties, where there are any."""
        stream = self.streams["exploration"]
        if explore:
            candidates = list(prediction_array)
            return candidates[draw_below(stream, len(candidates))]
        greatest = max(prediction_array.values())
        best = [action for action, value in prediction_array.items() if value == greatest]
        return best[0] if len(best) == 1 else best[draw_below(stream, len(best))]

    # ---- Learning in a set ----

    def _reinforce(
        self,
        action_set: list[Rule],
        payoff: float,
        observation: Sequence[int],
        has_explored: bool,  # noqa: FBT001 - a plain fact of the step
    ) -> None:
        """Update a set, subsume in it, and run the genetic algorithm in it where that is due."""
        if not action_set:
            return
        update_set(self.parameters, action_set, payoff, observation)
        self.events["updates"] += 1
        if self.parameters.action_set_subsumption:
            self._subsume_in(action_set)
        micros = sum(rule.numerosity for rule in action_set)
        stamps = sum(rule.time_stamp * rule.numerosity for rule in action_set)
        if has_explored and self.t - stamps / micros > self.parameters.theta_ga:
            self._run_genetic_algorithm(action_set)

    def _subsume_in(self, action_set: list[Rule]) -> None:
        """Let the most general of the accurate rules of a set absorb what it contains."""
        able = [rule for rule in action_set if could_subsume(self.parameters, rule)]
        if not able:
            return
        subsumer = able[0]
        for rule in able[1:]:
            if self._generality(rule) > self._generality(subsumer):
                subsumer = rule
        for rule in list(action_set):
            if is_more_general(self.space, subsumer, rule):
                subsumer.numerosity += rule.numerosity
                self._remove(rule)
                self.events["absorbed"] += 1

    # ---- The genetic algorithm ----

    def _run_genetic_algorithm(self, action_set: Sequence[Rule]) -> None:
        """Make two children of two parents of the set."""
        parameters = self.parameters
        stream = self.streams["discovery"]
        self.events["ga_runs"] += 1
        for rule in action_set:
            rule.time_stamp = self.t
        parents = (
            select_parent(parameters, action_set, stream),
            select_parent(parameters, action_set, stream),
        )
        children = (self.copy(parents[0]), self.copy(parents[1]))
        if happens(stream, parameters.chi):
            self.cross_over(parents, children)
        for child in children:
            alleles = mutate(parameters, child.alleles, stream)
            child.alleles = repair(parameters, self.space, alleles)
            child.intervals = to_intervals(parameters, child.alleles)
        for child in children:
            self._insert(child, parents)

    def copy(self, parent: Rule) -> Rule:
        """Copy a parent as one new microclassifier without experience."""
        return Rule(
            alleles=list(parent.alleles),
            intervals=list(parent.intervals),
            action=parent.action,
            weights=list(parent.weights),
            covariance=predictions.new_covariance(self.parameters, len(parent.weights)),
            error=parent.error,
            minimum_error=parent.minimum_error,
            fitness=parent.fitness,
            time_stamp=self.t,
            experience=0,
            action_set_size=parent.action_set_size,
            numerosity=1,
        )

    def cross_over(self, parents: tuple[Rule, Rule], children: tuple[Rule, Rule]) -> None:
        """Swap alleles between the children, and give both the parents' discounted means."""
        parameters = self.parameters
        one, two = parents
        crossed = cross(parameters, one.alleles, two.alleles, self.streams["discovery"])
        for child, alleles in zip(children, crossed, strict=True):
            child.alleles = repair(parameters, self.space, alleles)
            child.error = 0.25 * ((one.error + two.error) / 2.0)
            child.fitness = 0.1 * ((one.fitness + two.fitness) / 2.0)
            child.minimum_error = (one.minimum_error + two.minimum_error) / 2.0
            if parameters.prediction == "constant":
                child.weights = [(one.weights[0] + two.weights[0]) / 2.0]

    def _insert(self, child: Rule, parents: tuple[Rule, Rule]) -> None:
        """Add a child to a parent that subsumes it, to its like in [P], or as a new rule."""
        if self.parameters.ga_subsumption:
            for parent in parents:
                if subsumes(self.parameters, self.space, parent, child):
                    parent.numerosity += 1
                    self.events["subsumed_by_parent"] += 1
                    return
            self.events["not_subsumed"] += 1
        for rule in self.rules:
            if rule.action == child.action and rule.intervals == child.intervals:
                rule.numerosity += 1
                self.events["merged_with_identical"] += 1
                return
        self.add(child)
        self.events["inserted_new"] += 1

    # ---- Rules come and go ----

    def add(self, rule: Rule) -> None:
        """Give a rule the slot freed last, or else the lowest one never used."""
        if self.freed_slots:
            rule.slot = self.freed_slots.pop()
            self.slots[rule.slot] = rule
            self.events["reused_slot"] += 1
        else:
            rule.slot = len(self.slots)
            self.slots.append(rule)

    def _remove(self, rule: Rule) -> None:
        """Take a rule out of [P], and out of every set that still waits for its update."""
        self.slots[rule.slot] = None
        self.freed_slots.append(rule.slot)
        was_pending = False
        for episode in self.episodes:
            for waiting in (episode.previous_set, episode.action_set):
                if waiting is not None and rule in waiting:
                    waiting.remove(rule)
                    was_pending = True
        self.events["removed_from_pending"] += was_pending

    def _delete_one(self) -> None:
        """Delete one microclassifier."""
        victim = choose_victim(self.parameters, self.slots, self.streams["discovery"])
        victim.numerosity -= 1
        self.events["deleted"] += 1
        if victim.numerosity == 0:
            self._remove(victim)
            self.events["removed"] += 1

    def _generality(self, rule: Rule) -> float:
        return generality(self.space, rule.intervals)
