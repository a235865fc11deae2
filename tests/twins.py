"""The engine beside its oracle: one configuration for both, and equality to the last bit."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.environment import TabularEnvironment
from oracle.parameters import Parameters
from oracle.rule import Rule
from oracle.xcsf import Xcsf
from xcskit.kernels.components import ConditionScheme, PredictionScheme
from xcskit.kernels.predictions.constant import ConstantStorage
from xcskit.kernels.predictions.rls import RlsStorage
from xcskit.kernels.random import STREAMS, stream_words
from xcskit.learner import XCSF, Constant, MinSpan, Nlms, Rls, UnorderedBounds, XcsfConfig
from xcskit.mdp import TabularMdp


def configuration(p: Parameters) -> XcsfConfig:
    """Give the engine's configuration for the oracle's parameters."""
    conditions: dict[str, ConditionScheme] = {
        "min_span": MinSpan(cover_range=p.r_0, mutation_range=p.m_0),
        "unordered_bounds": UnorderedBounds(cover_range=p.r_0, mutation_range=p.m_0),
    }
    predictions: dict[str, PredictionScheme] = {
        "nlms": Nlms(degree=p.degree, x_0=p.x_0, eta=p.eta),
        "rls": Rls(
            degree=p.degree,
            x_0=p.x_0,
            initial_covariance=p.delta_rls,
            forgetting=p.forgetting,
        ),
        "constant": Constant(initial=p.p_i),
    }
    return XcsfConfig(
        population_size=p.N,
        learning_rate=p.beta,
        minimum_error_rate=p.beta_epsilon,
        accuracy_slope=p.alpha,
        target_error=p.epsilon_0,
        accuracy_power=p.nu,
        discount=p.gamma,
        ga_threshold=p.theta_ga,
        tournament_fraction=p.tau,
        crossover_probability=p.chi,
        allele_swap_probability=p.upsilon,
        mutation_probability=p.mu,
        deletion_experience=int(p.theta_del),
        deletion_fraction=p.delta,
        subsumption_experience=int(p.theta_sub),
        initial_error=p.epsilon_i,
        initial_fitness=p.f_i,
        minimum_actions=p.theta_mna,
        exploration_probability=p.exploration_probability,
        exploration=p.exploration,
        selection=p.selection,
        crossover=p.crossover,
        error=p.error,
        ga_subsumption=p.ga_subsumption,
        action_set_subsumption=p.action_set_subsumption,
        deletion_mean=p.deletion_mean,
        condition=conditions[p.condition],
        prediction=predictions[p.prediction],
    )


def world_of(mdp: TabularMdp) -> TabularEnvironment:
    """Give the oracle's form of a model."""
    arrays: tuple[NDArray[Any], ...] = mdp.kernel_model("training")
    return TabularEnvironment(*(array.tolist() for array in arrays))


def twins(p: Parameters, mdp: TabularMdp, seed: int, n_environments: int = 1) -> tuple[XCSF, Xcsf]:
    """Give an engine and an oracle that start from the same seed."""
    agent = XCSF.on(mdp, configuration(p), seed=seed, n_environments=n_environments)
    oracle = Xcsf(p, mdp.space.lower, mdp.space.upper, mdp.n_actions, seed, n_environments)
    return agent, oracle


def _assert_same_bits(found: NDArray[Any], expected: list[Any]) -> None:
    """Hold an array equal to what the oracle has, the sign of a zero included."""
    values = np.array(expected, dtype=found.dtype).reshape(found.shape)
    np.testing.assert_array_equal(found, values)
    assert found.tobytes() == values.tobytes()


def _assert_same_predictions(storage: Any, live: list[int], rules: list[Rule]) -> None:
    is_constant = isinstance(storage, ConstantStorage)
    weights: NDArray[Any] = storage.value if is_constant else storage.weights
    _assert_same_bits(weights[live], [rule.weights for rule in rules])
    if isinstance(storage, RlsStorage):
        _assert_same_bits(storage.covariance[live], [rule.covariance for rule in rules])


def _row(rule: Rule) -> tuple[float, ...]:
    return (
        rule.fitness,
        rule.error,
        rule.minimum_error,
        rule.action_set_size,
        rule.numerosity,
        rule.experience,
        rule.time_stamp,
        rule.action,
    )


def assert_equal(agent: XCSF, oracle: Xcsf) -> None:
    """Hold the two populations, their places, what waits for its value, and all streams equal."""
    population, sets = agent.system.population, agent.system.sets
    records: Any = population.rules
    n_used = agent.events["n_used"]
    assert agent.steps == oracle.t
    assert n_used == len(oracle.slots)
    live = [slot for slot, rule in enumerate(oracle.slots) if rule is not None]
    assert np.flatnonzero(records["numerosity"][:n_used]).tolist() == live

    rules = oracle.rules
    found = np.column_stack([records[name][live].astype(float) for name in records.dtype.names])
    _assert_same_bits(found, [_row(rule) for rule in rules])
    _assert_same_bits(population.condition.alleles[live], [rule.alleles for rule in rules])
    _assert_same_predictions(population.prediction, live, rules)

    assert population.freed[: agent.events["n_freed"]].tolist() == oracle.freed_slots
    for number, episode in enumerate(oracle.episodes):
        size = int(sets.sizes[number, 1])
        pending = episode.previous_set or []
        assert sets.members[number, 1, :size].tolist() == [rule.slot for rule in pending]
        if pending:
            assert sets.observations[number, 1].tolist() == list(episode.previous_observation)
            waits: Any = agent.system.episodes[number]
            assert waits["pending_reward"] == episode.previous_reward

    for row, name in enumerate(STREAMS):
        generator: Any = oracle.streams[name].bit_generator
        assert agent.system.streams[row].tolist() == stream_words(generator).tolist(), name


def assert_same_events(agent: XCSF, oracle: Xcsf) -> None:
    """Hold the counts of what happened equal."""
    counted: Mapping[str, int] = Counter(oracle.events)
    for name, count in agent.events.items():
        if name not in {"time", "n_freed", "n_used", "n_macros", "n_micros"}:
            assert count == counted[name], name
