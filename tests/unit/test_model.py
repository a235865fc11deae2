import copy
import dataclasses
import pickle

import gymnasium
import numpy as np
import pytest

from xcskit.errors import ModelError
from xcskit.mdp import Outcomes, TabularMdp, frozen_lake
from xcskit.spaces import IntegerSpace


def chain(**changes: object) -> TabularMdp:
    """Three states in a row; the one action goes on, and ends in the last."""
    outcomes = Outcomes(
        first=np.arange(4),
        next_state=np.array([1, 2, 2]),
        probability=np.ones(3),
        reward=np.array([0.0, 1.0, 5.0]),
        is_terminated=np.array([False, False, True]),
        is_success=np.array([False, False, False]),
    )
    fields: dict[str, object] = {
        "name": "chain",
        "space": IntegerSpace((0,), (2,)),
        "observations": [[0], [1], [2]],
        "action_names": ("on",),
        "outcomes": outcomes,
        "training_start": np.array([1.0, 0.0, 0.0]),
        "test_start": np.array([1.0, 0.0, 0.0]),
    }
    return TabularMdp(**(fields | changes))  # type: ignore[arg-type]


def test_the_lake_has_its_53_states() -> None:
    lake = frozen_lake("8x8", slip=0.1)
    assert len(lake.states) == len(lake.decision_states) == 53
    assert np.array_equal(lake.states, np.flatnonzero(~lake.is_terminal))


def test_the_lake_is_gymnasiums() -> None:
    lake = frozen_lake("8x8", slip=2 / 3)
    theirs = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
    model: dict[int, dict[int, list[tuple[float, int, float, bool]]]] = theirs.get_wrapper_attr("P")
    for state in lake.states.tolist():
        for action in range(4):
            ours = lake.outcomes_of(state, action)
            for mine, other in zip(ours, model[state][action], strict=True):
                assert mine[0] == pytest.approx(other[0])
                assert mine[1:] == other[1:]


def test_a_way_into_a_terminal_state_ends_the_episode_and_nothing_there_counts() -> None:
    mdp = chain()
    assert mdp.is_terminal.tolist() == [False, False, True]
    assert mdp.outcomes_of(1, 0) == [(1.0, 2, 1.0, True)]
    assert mdp.outcomes_of(2, 0) == [(1.0, 2, 0.0, True)]
    assert mdp.states.tolist() == [0, 1]


def test_uniform_starts_have_the_stated_cumulative_probabilities() -> None:
    model = frozen_lake("8x8").kernel_model()
    assert np.array_equal(model.start_cumulative, np.arange(1, 54) / 53)
    test = frozen_lake("8x8").kernel_model("test")
    assert (test.start.tolist(), test.start_cumulative.tolist()) == ([0], [1.0])


def test_cumulative_probabilities_are_sums_in_order() -> None:
    lake = frozen_lake("8x8", slip=0.3)
    model = lake.kernel_model()
    for pair in range(lake.n_states * lake.n_actions):
        rows = slice(model.first[pair], model.first[pair + 1])
        expected = np.cumsum(lake.outcomes.probability[rows])
        assert np.array_equal(model.cumulative[rows], expected)


def test_models_are_read_only_copies() -> None:
    rewards = np.array([0.0, 1.0, 5.0])
    mdp = chain(outcomes=chain().outcomes._replace(reward=rewards))
    rewards[0] = 9.0
    assert mdp.outcomes.reward[0] == 0.0
    for array in (*mdp.outcomes, mdp.observations, mdp.training_start, mdp.states):
        assert not array.flags.writeable


def test_copies_in_other_processes_are_frozen_too() -> None:
    lake = frozen_lake("8x8", slip=0.1)
    assert len(lake.states) == 53
    for other in (pickle.loads(pickle.dumps(lake)), copy.deepcopy(lake)):  # noqa: S301 - our own
        assert other.fingerprint == lake.fingerprint
        assert not other.kernel_model().first.flags.writeable


def test_equal_content_has_equal_fingerprints_and_any_change_another() -> None:
    lake = frozen_lake("8x8", slip=0.1)
    assert lake.fingerprint == frozen_lake("8x8", slip=0.1).fingerprint
    assert lake.fingerprint == dataclasses.replace(lake, name="other").fingerprint
    others = (
        frozen_lake("8x8", slip=0.2),
        frozen_lake("4x4", slip=0.1),
        dataclasses.replace(lake, action_names=("a", "b", "c", "d")),
        dataclasses.replace(lake, training_start=lake.test_start),
        dataclasses.replace(lake, test_start=lake.training_start),
    )
    assert len({lake.fingerprint, *(other.fingerprint for other in others)}) == 6


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("first", [0, 1, 2], "first has 3 entries; expected 4"),
        ("first", [0, 1, 1, 3], "state 1, action 0 has no outcome"),
        ("next_state", [1, 2, 3], r"state 2, action 0 .* next_state 3; expected 0 to 2"),
        ("next_state", [1.0, 2.0, 2.0], "next_state is an array of shape .* float64"),
        ("next_state", [1, 2], "next_state has 2 rows; expected 3"),
        ("probability", [0.5, 1.0, 1.0], "state 0, action 0 sum to 0.5; expected 1"),
        ("probability", [1.0, 0.0, 1.0], "state 1, action 0 .* probability 0.0"),
        ("probability", [1.0, np.nan, 1.0], "state 1, action 0 .* probability nan"),
        ("reward", [0.0, np.inf, 1.0], "state 1, action 0 .* reward inf; expected a finite"),
        ("is_success", [True, False, False], "is_success True; expected only outcomes that end"),
    ],
)
def test_malformed_outcomes_are_named(column: str, values: list[float], message: str) -> None:
    outcomes = chain().outcomes._replace(**{column: np.array(values)})
    with pytest.raises(ModelError, match=message):
        chain(outcomes=outcomes)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("action_names", (), "action names are at least one"),
        ("action_names", "on", "action names"),
        ("observations", [[0], [1], [7]], "observations of 'chain' do not fit"),
        ("training_start", [0.5, 0.0, 0.0], "training_start of 'chain' is no distribution"),
        ("training_start", [np.nan, 0.5, 0.5], "training_start of 'chain' is no distribution"),
        ("test_start", [1.0], r"test_start of 'chain' has shape \(1,\)"),
        ("test_start", [0.0, 0.0, 1.0], "starts in state 2 .* terminal"),
    ],
)
def test_malformed_models_are_named(field: str, value: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        chain(**{field: value})


@pytest.mark.parametrize(
    ("states", "message"),
    [([], "at least one"), ([0.5], "state index"), ([3], "are 0 to 2"), ([2], "2 .* is terminal")],
)
def test_states_are_checked(states: list[int], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        chain().select_states(states)
