import re

import numpy as np
import pytest

from xcskit.errors import ConfigurationError, SolverError
from xcskit.mdp import (
    FiniteHorizonSolution,
    TabularMdp,
    finite_horizon,
    from_arrays,
    frozen_lake,
    maze,
    modified_policy_iteration,
    policy_iteration,
    solve,
    value_iteration,
)
from xcskit.mdp.solvers import SOLVERS

DISCOUNTED = sorted(SOLVERS)


def corridor(n: int, reward: float = 1.0) -> TabularMdp:
    """States in a row: action 0 goes on, action 1 stays; the last state is the end."""
    p = np.zeros((n, 2, n))
    r = np.zeros((n, 2))
    for state in range(n - 1):
        p[state, 0, state + 1] = p[state, 1, state] = 1.0
    p[n - 1, :, n - 1] = 1.0
    r[n - 2, 0] = reward
    return from_arrays(p, r, terminal=[n - 1])


def loop(stay: float, leave: float, *, there: float = 0.0, back: float = 0.0) -> TabularMdp:
    """Two states that lead to each other, or stay, and an end that the first can choose."""
    p = np.zeros((3, 3, 3))
    r = np.zeros((3, 3))
    p[0, 0, 1], p[0, 1, 0], p[0, 2, 2] = 1.0, 1.0, 1.0
    p[1, 0, 0], p[1, 1, 1], p[1, 2, 0] = 1.0, 1.0, 1.0
    p[2, :, 2] = 1.0
    r[0] = there, stay, leave
    r[1] = back, stay, back
    return from_arrays(p, r, terminal=[2])


@pytest.mark.parametrize("method", DISCOUNTED)
@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.95, 0.999])
def test_a_corridor_has_its_closed_form(method: str, gamma: float) -> None:
    n = 9
    solution = SOLVERS[method](corridor(n), gamma)
    left = np.arange(n - 1, 0, -1)
    on = gamma ** (left - 1.0)
    assert solution.q[:-1, 0] == pytest.approx(on, abs=1e-10)
    assert solution.q[:-1, 1] == pytest.approx(gamma * on, abs=1e-10)
    assert solution.v[-1] == 0.0
    assert np.abs(solution.q[:-1, 0] - on).max() <= solution.error_bound


@pytest.mark.parametrize("method", DISCOUNTED)
def test_a_loop_of_two_states_has_its_closed_form(method: str) -> None:
    gamma = 0.9
    solution = SOLVERS[method](loop(stay=0.0, leave=0.0, there=1.0, back=3.0), gamma)
    v0 = (1.0 + gamma * 3.0) / (1.0 - gamma**2)
    assert solution.v[:2] == pytest.approx([v0, 3.0 + gamma * v0], abs=1e-9)
    assert solution.policy[:2].tolist() == [0, 0]
    assert np.abs(solution.v[0] - v0) <= solution.error_bound


def test_the_lakes_known_values() -> None:
    still, slippery = (solve(frozen_lake("8x8", slip=slip), gamma=0.95) for slip in (0.0, 0.1))
    states = still.mdp.states
    assert still.v[0] == pytest.approx(0.51334, abs=5e-6)
    assert slippery.v[0] == pytest.approx(0.42559, abs=5e-6)
    assert np.abs(still.q[states]).mean() == pytest.approx(0.5643, abs=5e-5)
    assert np.abs(slippery.q[states]).mean() == pytest.approx(0.4446, abs=5e-5)
    assert np.bincount(still.advocacy[states].sum(axis=1)).tolist() == [0, 30, 23]
    assert (slippery.advocacy[states].sum(axis=1) == 1).all()
    assert slippery.action_gaps[states].min() == pytest.approx(0.00067, abs=5e-6)
    assert np.count_nonzero(slippery.action_gaps[states] < 0.01) == 11


@pytest.mark.parametrize(("name", "limit", "chance"), [("4x4", 100, 0.744), ("8x8", 200, 0.913)])
def test_the_best_chance_within_a_limit(name: str, limit: int, chance: float) -> None:
    lake = frozen_lake(name, slip=2 / 3)
    best = finite_horizon(lake, limit)
    assert best.horizon == limit
    assert lake.test_start @ best.v[limit] == pytest.approx(chance, abs=5e-4)
    assert best.error_bound < 1e-11


def test_a_finite_horizon_is_backward_induction() -> None:
    best = finite_horizon(corridor(4), 3, gamma=0.5)
    assert best.v.tolist() == [
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.5, 1.0, 0.0],
        [0.25, 0.5, 1.0, 0.0],
    ]
    assert finite_horizon(corridor(4), 0).v.tolist() == [[0.0] * 4]


@pytest.mark.parametrize("method", DISCOUNTED)
@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_solvers_agree_within_their_bounds(method: str, slip: float) -> None:
    for mdp in (frozen_lake("8x8", slip=slip), maze("maze6", slip=slip)):
        one, other = SOLVERS[method](mdp, 0.97), policy_iteration(mdp, 0.97)
        assert np.abs(one.q - other.q).max() <= one.error_bound + other.error_bound
        assert one.error_bound <= 1e-10


@pytest.mark.parametrize("evaluation_sweeps", [0, 20])
def test_a_tolerance_that_rounding_forbids_ends_with_an_honest_bound(
    evaluation_sweeps: int,
) -> None:
    lake = frozen_lake("8x8", slip=0.1)
    solution = modified_policy_iteration(
        lake, 0.95, tolerance=1e-300, evaluation_sweeps=evaluation_sweeps
    )
    exact = policy_iteration(lake, 0.95)
    assert 0.0 < solution.error_bound < 1e-12
    assert np.abs(solution.q - exact.q).max() <= solution.error_bound + exact.error_bound


def test_a_coarse_tolerance_is_kept_with_fewer_sweeps() -> None:
    lake = frozen_lake("8x8", slip=0.1)
    coarse, exact = value_iteration(lake, 0.95, tolerance=0.01), policy_iteration(lake, 0.95)
    assert np.abs(coarse.q - exact.q).max() <= coarse.error_bound <= 0.011
    assert coarse.n_iterations < value_iteration(lake, 0.95).n_iterations


def test_a_change_that_grows_at_first_does_not_cost_the_tolerance() -> None:
    """Sweeps alternate in direction, and the second may change more than the first."""
    endless = from_arrays([[[1.0, 0.0]], [[1.0, 0.0]]], [[1.0], [1.0]], terminal=[])
    solution = value_iteration(endless, 0.95)
    assert np.abs(solution.v - 20.0).max() <= solution.error_bound <= 1.01e-10


def test_gamma_one_on_a_lake_is_the_chance_to_cross_it() -> None:
    solution = solve(frozen_lake("4x4", slip=2 / 3), gamma=1.0)
    assert solution.v[0] == pytest.approx(14 / 17, abs=1e-12)
    assert solution.error_bound < 1e-10


def test_gamma_one_gives_a_policy_that_ends_where_a_greedy_one_need_not() -> None:
    solution = solve(frozen_lake("8x8"), gamma=1.0)
    assert solution.v[solution.mdp.states].min() == 1.0
    state, steps = 0, 0
    while not solution.mdp.is_terminal[state]:
        state = solution.mdp.outcomes_of(state, int(solution.policy[state]))[0][1]
        steps += 1
    assert steps == 14


def test_gamma_one_takes_a_cost_now_for_a_greater_gain() -> None:
    solution = solve(loop(stay=-1.0, leave=5.0, there=-1.0, back=-1.0), gamma=1.0)
    assert solution.v.tolist() == [5.0, 4.0, 0.0]
    assert solution.policy[0] == 2


@pytest.mark.parametrize(
    ("mdp", "message"),
    [
        (loop(stay=1.0, leave=0.0), "diverges"),
        (loop(stay=-1.0, leave=0.0, there=3.0, back=-2.0), "diverges"),
        (loop(stay=0.0, leave=-1.0), "at no loss"),
        (loop(stay=-1.0, leave=-2.0, there=1.0, back=-1.0), "at no loss"),
        (from_arrays(np.ones((1, 1, 1)), [[0.0]], terminal=[]), "no policy ends"),
        (from_arrays(np.ones((1, 1, 1)), [[1.0]], terminal=[]), "no policy ends"),
    ],
)
def test_gamma_one_explains_where_it_has_no_values(mdp: TabularMdp, message: str) -> None:
    with pytest.raises(SolverError, match=message) as caught:
        solve(mdp, gamma=1.0)
    assert "use a gamma below 1" in str(caught.value)


@pytest.mark.parametrize("gamma", [-0.01, 1.01, float("nan"), float("inf"), "0.9", True, None])
def test_gamma_lies_between_zero_and_one(gamma: object) -> None:
    for solver in (solve, *SOLVERS.values(), horizon_of_three):
        with pytest.raises(ConfigurationError, match="gamma"):
            solver(corridor(3), gamma)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def horizon_of_three(mdp: TabularMdp, gamma: float) -> FiniteHorizonSolution:
    return finite_horizon(mdp, 3, gamma)


@pytest.mark.parametrize("method", ["value-iteration", "modified-policy-iteration"])
def test_a_contraction_needs_a_gamma_below_one(method: str) -> None:
    with pytest.raises(SolverError, match="policy_iteration"):
        SOLVERS[method](corridor(3), 1.0)


def test_other_settings_are_checked() -> None:
    with pytest.raises(ConfigurationError, match="tolerance"):
        value_iteration(corridor(3), 0.9, tolerance=0.0)
    with pytest.raises(ConfigurationError, match="evaluation_sweeps"):
        modified_policy_iteration(corridor(3), 0.9, evaluation_sweeps=-1)
    with pytest.raises(ConfigurationError, match="horizon"):
        finite_horizon(corridor(3), -1)


def test_a_solution_as_a_table() -> None:
    solution = solve(corridor(3), gamma=0.5)
    table = solution.table()
    assert table.columns == ["state", "x1", "action", "q", "is_optimal", "v", "action_gap"]
    assert table.rows()[0] == (0, 0, "a0", 0.5, True, 0.5, 0.25)
    assert len(table) == 4
    assert not solution.advocacy[2].any()
    assert re.fullmatch(r"Solution\('arrays', gamma=0.5, .*\)", repr(solution))


def test_a_single_action_has_an_infinite_gap() -> None:
    solution = solve(from_arrays([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [0.0]]), gamma=0.9)
    assert np.isinf(solution.action_gaps).all()
