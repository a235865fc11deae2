import sys
from itertools import accumulate

import numpy as np
import pytest

from xcskit.errors import ConfigurationError
from xcskit.kernels.q_learning import learn_q
from xcskit.mdp import TabularMdp, frozen_lake, load_environment, maze, q_learning, solve
from xcskit.typing import Floats


def plain_q_learning(mdp: TabularMdp, steps: int, seed: int, exploration: float) -> Floats:
    """The same in plain Python, with NumPy's own generators."""
    children = np.random.SeedSequence(seed).spawn(4)
    world, chance = (np.random.Generator(np.random.PCG64(child)) for child in children[:2])
    model = mdp.kernel_model("training")
    starts = list(zip(model.start.tolist(), model.start_cumulative.tolist(), strict=True))
    q = np.zeros((mdp.n_states, mdp.n_actions))
    state = -1
    for _ in range(steps):
        if state < 0:
            u = world.random()
            state = next(start for start, total in starts if total > u)
        if chance.random() < exploration:
            action = int(chance.random() * mdp.n_actions)
        else:
            best = [a for a in range(mdp.n_actions) if q[state, a] == max(q[state])]
            action = best[int(chance.random() * len(best))] if len(best) > 1 else best[0]
        u = world.random()
        outcomes = mdp.outcomes_of(state, action)
        totals = accumulate(row[0] for row in outcomes)
        _, next_state, reward, is_terminated = next(
            row for row, total in zip(outcomes, totals, strict=True) if total > u
        )
        target = reward if is_terminated else reward + 0.95 * max(q[next_state])
        q[state, action] += 0.1 * (target - q[state, action])
        state = -1 if is_terminated else next_state
    return q


@pytest.mark.parametrize("exploration", [0.0, 0.5, 1.0])
def test_the_kernel_equals_its_plain_twin(exploration: float) -> None:
    for mdp in (frozen_lake("8x8", slip=0.1), maze("maze4"), load_environment("taxi")):
        learned = q_learning(mdp, 3000, seed=7, exploration_probability=exploration)
        assert np.array_equal(learned.q, plain_q_learning(mdp, 3000, 7, exploration))


def test_learning_in_pieces_is_learning_at_once() -> None:
    mdp = frozen_lake("8x8", slip=0.1)
    once, pieces = q_learning(mdp, 10_000, seed=3), q_learning(mdp, 10_000, seed=3, every=999)
    assert np.array_equal(once.q, pieces.q)
    assert np.array_equal(once.visits, pieces.visits)
    assert pieces.history_steps.tolist() == [*range(999, 10_000, 999), 10_000]
    assert np.array_equal(pieces.history_q[-1], pieces.q)
    assert once.visits.sum() == 10_000


def test_where_ctrl_c_is_looked_for_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = q_learning(frozen_lake("8x8", slip=0.1), 10_000, seed=3, every=3000)
    monkeypatch.setattr(sys.modules["xcskit.mdp.q_learning"], "_CHUNK", 777)
    parts = q_learning(frozen_lake("8x8", slip=0.1), 10_000, seed=3, every=3000)
    assert np.array_equal(parts.history_q, whole.history_q)


def test_without_chance_it_reaches_the_optimum() -> None:
    mdp = maze("maze6")
    learned = q_learning(mdp, 300_000, seed=1, learning_rate=1.0)
    assert learned.q == pytest.approx(solve(mdp).q, abs=1e-9)


@pytest.mark.statistical
def test_with_decay_it_nears_the_optimum_and_the_longer_the_nearer() -> None:
    # Seeds 0 to 9 ended with errors of 0.0052 (sd 0.0009, greatest 0.0069). The bound lies six
    # standard deviations above: a false alarm has a probability of about 1e-9, were they normal.
    mdp = frozen_lake("8x8", slip=0.1)
    learned = q_learning(
        mdp,
        2_000_000,
        seed=5,
        learning_rate=1.0,
        decay=0.7,
        exploration_probability=1.0,
        every=10_000,
    )
    errors = np.abs(learned.history_q - solve(mdp).q)[:, mdp.states].mean(axis=(1, 2))
    assert errors[-1] < 0.0108
    assert errors[0] > 5 * errors[-1]


def test_one_signature_is_compiled() -> None:
    before = {str(signature) for signature in learn_q.signatures}  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
    q_learning(frozen_lake("4x4"), 10)
    q_learning(maze("maze4"), 10, decay=1.0, every=3)
    q_learning(load_environment("taxi"), 10, gamma=1)
    after = {str(signature) for signature in learn_q.signatures}  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
    assert len(before | after) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", -1),
        ("every", 0),
        ("gamma", 1.1),
        ("learning_rate", 0.0),
        ("decay", -0.5),
        ("exploration_probability", 2.0),
        ("initial_value", float("nan")),
        ("seed", -1),
    ],
)
def test_settings_are_checked(name: str, value: float) -> None:
    settings: dict[str, float] = {"steps": 5, name: value}
    with pytest.raises(ConfigurationError, match=name):
        q_learning(frozen_lake("4x4"), **settings)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
