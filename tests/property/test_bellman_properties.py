import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xcskit.mdp import (
    TabularMdp,
    finite_horizon,
    from_arrays,
    frozen_lake,
    modified_policy_iteration,
    random_lake_map,
    value_iteration,
)
from xcskit.mdp.bellman import backup, chain_of, rounding_error, solve_chain
from xcskit.mdp.solvers import SOLVERS
from xcskit.typing import Floats, Ints

with warnings.catch_warnings():
    # quantecon 0.11 imports names that SciPy and NumPy have announced to rename
    warnings.simplefilter("ignore", DeprecationWarning)
    from quantecon.markov import DiscreteDP


@st.composite
def models(draw: st.DrawFn) -> TabularMdp:
    """Random models of a few states, dense or sparse, with or without an end."""
    n_states, n_actions = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = generator.random((n_states, n_actions, n_states))
    p[p < draw(st.floats(0.0, 0.9))] = 0.0
    p[..., 0] += p.sum(axis=-1) == 0.0
    p /= p.sum(axis=-1, keepdims=True)
    scale = draw(st.sampled_from([0.01, 1.0, 100.0]))
    r = scale * generator.standard_normal((n_states, n_actions))
    is_ending = draw(st.booleans()) and n_states > 1
    return from_arrays(p, r, terminal=[n_states - 1] if is_ending else [])


gammas = st.sampled_from([0.0, 0.3, 0.9, 0.99])


@given(models(), gammas, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_backup_is_a_contraction(mdp: TabularMdp, gamma: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    one, other = generator.normal(size=(2, mdp.n_states))
    before = np.abs(one - other).max()
    after = np.abs(
        backup(mdp, gamma, one).max(axis=1) - backup(mdp, gamma, other).max(axis=1)
    ).max()
    assert after <= gamma * before + 1e-12 * (1.0 + np.abs(mdp.outcomes.reward).max())


@given(models(), gammas, st.sampled_from(sorted(SOLVERS)), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_no_policy_beats_the_optimum_and_its_own_reaches_it(
    mdp: TabularMdp, gamma: float, method: str, seed: int
) -> None:
    solution = SOLVERS[method](mdp, gamma)
    own = value_of(mdp, solution.policy, gamma)
    slack = 2.0 * solution.error_bound + 1e-9 / (1.0 - gamma)
    assert np.abs(own - solution.v).max() <= slack
    policy = np.random.default_rng(seed).integers(mdp.n_actions, size=mdp.n_states)
    other = value_of(mdp, policy, gamma)
    assert float((other - solution.v).max()) <= slack


@given(models(), gammas, st.sampled_from(sorted(SOLVERS)))
@settings(max_examples=100, deadline=None)
def test_q_is_as_near_as_its_bound_says(mdp: TabularMdp, gamma: float, method: str) -> None:
    solution = SOLVERS[method](mdp, gamma)
    p, r = as_arrays(mdp)
    q: Floats = np.zeros_like(r)
    for _ in range(6000 if gamma > 0.9 else 600):
        following = gamma * p @ q.max(axis=1)
        before, q = q, r + following
        if np.array_equal(before, q):
            break
    rounding = 1e-13 * (1.0 + np.abs(q).max()) / (1.0 - gamma)
    assert np.abs(solution.q - q).max() <= solution.error_bound + rounding


@given(models(), gammas)
@settings(max_examples=40, deadline=None)
def test_bounds_hold_in_exact_arithmetic(mdp: TabularMdp, gamma: float) -> None:
    """What doubles cannot judge of themselves: the whole model is solved in fractions."""
    exact: list[list[Fraction]] = []
    for solver in SOLVERS.values():
        solution = solver(mdp, gamma)
        exact = exact or q_in_fractions(mdp, Fraction(gamma), solution.policy.tolist())
        bound = Fraction(solution.error_bound)
        for ours, theirs in zip(solution.q.tolist(), exact, strict=True):
            assert all(abs(Fraction(a) - b) <= bound for a, b in zip(ours, theirs, strict=True))


@given(models(), gammas, st.sampled_from([1e-2, 1e-6]), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_a_tolerance_that_doubles_can_keep_is_kept(
    mdp: TabularMdp, gamma: float, tolerance: float, sweeps: int
) -> None:
    for solution in (
        value_iteration(mdp, gamma, tolerance=tolerance),
        modified_policy_iteration(mdp, gamma, tolerance=tolerance, evaluation_sweeps=sweeps),
    ):
        rounding = rounding_error(mdp, gamma, solution.v) / (1.0 - gamma)
        assert solution.error_bound <= tolerance + 2.0 * rounding


@given(models(), gammas)
@settings(max_examples=60, deadline=None)
def test_quantecon_agrees(mdp: TabularMdp, gamma: float) -> None:
    p, r = as_arrays(mdp)
    theirs = DiscreteDP(r, p, gamma).solve(method="policy_iteration")
    for solver in SOLVERS.values():
        ours = solver(mdp, gamma)
        scale = 1.0 + np.abs(theirs.v).max()
        assert ours.v == pytest.approx(theirs.v, abs=ours.error_bound + 1e-11 * scale)


@given(st.integers(1, 9), st.integers(2, 9), st.floats(0.0, 1.0), st.floats(0.0, 0.99), st.data())
@settings(max_examples=60, deadline=None)
def test_rows_of_random_lakes_sum_to_one(
    width: int, height: int, hole_probability: float, slip: float, data: st.DataObject
) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    rows = random_lake_map(width, height, seed=seed, hole_probability=hole_probability)
    lake = frozen_lake(rows, slip=slip)
    sums = np.add.reduceat(lake.outcomes.probability, lake.outcomes.first[:-1])
    assert sums == pytest.approx(np.ones(lake.n_states * 4), abs=1e-12)
    assert lake.kernel_model().cumulative.max() == pytest.approx(1.0, abs=1e-12)


@given(models(), st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_a_long_horizon_nears_the_discounted_optimum(mdp: TabularMdp, extra: int) -> None:
    gamma = 0.5
    solution = SOLVERS["policy-iteration"](mdp, gamma)
    best = finite_horizon(mdp, 40 + extra, gamma)
    reach = gamma ** (40 + extra) * np.abs(mdp.outcomes.reward).max() / (1.0 - gamma)
    slack = reach + best.error_bound + solution.error_bound
    assert np.abs(best.v[-1] - solution.v).max() <= slack


def value_of(mdp: TabularMdp, policy: Ints, gamma: float) -> Floats:
    reward, transition = chain_of(mdp, policy)
    return solve_chain(transition, reward, gamma)


def as_arrays(mdp: TabularMdp) -> tuple[Floats, Floats]:
    """Spell a model out as dense arrays, an end being a loop without reward."""
    p = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_states))
    r = np.zeros((mdp.n_states, mdp.n_actions))
    for state in range(mdp.n_states):
        for action in range(mdp.n_actions):
            for probability, next_state, reward, _ in mdp.outcomes_of(state, action):
                p[state, action, next_state] += probability
                r[state, action] += probability * reward
    return p, r


def q_in_fractions(mdp: TabularMdp, gamma: Fraction, policy: list[int]) -> list[list[Fraction]]:
    """Solve a model by policy iteration, every number of it a fraction and every step exact."""
    states, actions = range(mdp.n_states), range(mdp.n_actions)
    while True:
        own = [spelled_out(mdp, s, policy[s]) for s in states]
        system = [[(s == t) - gamma * own[s][1][t] for t in states] + [own[s][0]] for s in states]
        v = solve_in_fractions(system)
        q = [
            [r + gamma * sum(p[t] * v[t] for t in states) for r, p in pairs]
            for pairs in ([spelled_out(mdp, s, a) for a in actions] for s in states)
        ]
        best = [max(values) for values in q]
        better = [policy[s] if q[s][policy[s]] == best[s] else q[s].index(best[s]) for s in states]
        if better == policy:
            return q
        policy = better


def spelled_out(mdp: TabularMdp, state: int, action: int) -> tuple[Fraction, list[Fraction]]:
    """Give the mean reward of a pair, and where the episode goes on with which probability."""
    reward, onward = Fraction(0), [Fraction(0)] * mdp.n_states
    for probability, next_state, gain, is_terminated in mdp.outcomes_of(state, action):
        reward += Fraction(probability) * Fraction(gain)
        onward[next_state] += 0 if is_terminated else Fraction(probability)
    return reward, onward


def solve_in_fractions(system: list[list[Fraction]]) -> list[Fraction]:
    """Eliminate, after Gauss and Jordan; the last column is the right-hand side."""
    for i in range(len(system)):
        pivot = next(row for row in system[i:] if row[i] != 0)
        system.remove(pivot)
        system.insert(i, [entry / pivot[i] for entry in pivot])
        for k, row in enumerate(system):
            if k != i and row[i] != 0:
                system[k] = [a - row[i] * b for a, b in zip(row, system[i], strict=True)]
    return [row[-1] for row in system]
