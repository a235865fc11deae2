import re
from collections.abc import Callable, Iterable
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from xcskit.errors import ConfigurationError, FileFormatError, ModelError
from xcskit.mdp import (
    ENVIRONMENTS,
    TabularMdp,
    from_arrays,
    from_gymnasium,
    frozen_lake,
    load_arrays,
    load_environment,
    maze,
    random_lake_map,
    solve,
)

COIN_P = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
COIN_R = np.array([[1.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "n_states", "n_decisions"),
    [
        ("frozenlake-4x4", 11, 11),
        ("frozenlake-8x8", 53, 53),
        ("cliffwalking", 38, 37),
        ("cliffwalking-slippery", 38, 37),
        ("taxi", 404, 400),
        ("woods1", 16, 16),
        ("woods14", 18, 18),
        ("maze4", 26, 26),
        ("maze5", 36, 36),
        ("maze6", 36, 36),
    ],
)
def test_s_is_as_the_algorithm_page_defines_it(name: str, n_states: int, n_decisions: int) -> None:
    mdp = load_environment(name)
    assert len(mdp.states) == n_states
    assert len(mdp.decision_states) == n_decisions
    assert set(mdp.decision_states.tolist()) <= set(mdp.states.tolist())


@pytest.mark.parametrize(
    ("name", "mean_steps"),
    [("woods1", 1.6875), ("woods14", 9.5), ("maze4", 3.5), ("maze5", 4.611), ("maze6", 5.194)],
)
def test_mazes_have_their_mean_optimal_steps_to_food(name: str, mean_steps: float) -> None:
    mdp = maze(name)
    steps = 1.0 + np.log(solve(mdp, gamma=0.5).v[mdp.states]) / np.log(0.5)
    assert steps.mean() == pytest.approx(mean_steps, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "value"), [("taxi", 7.93), ("cliffwalking", -13.0), ("cliffwalking-slippery", -64.71)]
)
def test_gymnasium_models_have_their_undiscounted_values(name: str, value: float) -> None:
    mdp = load_environment(name)
    assert mdp.test_start @ solve(mdp, gamma=1.0).v == pytest.approx(value, abs=5e-3)


def test_every_named_environment_is_a_model_whose_names_fit() -> None:
    for name in ENVIRONMENTS:
        mdp = load_environment(name)
        assert mdp.observations.shape == (mdp.n_states, mdp.space.n_dimensions)
        if mdp.layout is not None:
            x, y = mdp.layout.positions.T
            assert x.max() < len(mdp.layout.rows[0])
            assert y.max() < len(mdp.layout.rows)


def test_gymnasiums_environment_itself_agrees_with_the_model() -> None:
    env = gymnasium.make("Taxi-v4")
    mdp = from_gymnasium(env)
    generator = np.random.default_rng(3)
    observation, _ = env.reset(seed=1)
    for _ in range(300):
        action = int(generator.integers(6))
        after, reward, terminated, truncated, _ = env.step(action)
        assert (1.0, int(after), float(reward), terminated) in mdp.outcomes_of(observation, action)
        observation = env.reset()[0] if terminated or truncated else after


def test_taxi_is_seen_as_gymnasium_decodes_it() -> None:
    mdp = load_environment("taxi")
    decode: Callable[[int], Iterable[int]] = gymnasium.make("Taxi-v4").get_wrapper_attr("decode")
    for state in (0, 1, 123, 499):
        assert mdp.observations[state].tolist() == list(decode(state))


def test_a_lakes_neighbours_are_those_of_its_grid() -> None:
    lake = frozen_lake(["SFF", "HFG"])
    assert [lake.outcomes_of(0, action)[0][1] for action in range(4)] == [0, 3, 1, 0]
    assert [lake.outcomes_of(4, action)[0][1] for action in range(4)] == [3, 4, 5, 1]
    assert lake.outcomes_of(4, 2) == [(1.0, 5, 1.0, True)]
    assert lake.outcomes_of(4, 0) == [(1.0, 3, 0.0, True)]


def test_outcomes_of_a_slip_come_in_the_stated_order() -> None:
    lake = frozen_lake(["SFF", "FFF", "FFG"], slip=0.2)
    left, down, right, up = 3, 7, 5, 1
    assert [row[1] for row in lake.outcomes_of(4, 0)] == [up, left, down]
    assert [row[1] for row in lake.outcomes_of(4, 1)] == [left, down, right]
    assert [row[0] for row in lake.outcomes_of(4, 2)] == [0.1, 0.8, 0.1]


def test_a_lakes_starts_are_its_own() -> None:
    assert np.flatnonzero(frozen_lake("4x4").test_start).tolist() == [0]
    assert np.flatnonzero(frozen_lake(["FF", "SG"]).test_start).tolist() == [2]
    assert np.flatnonzero(frozen_lake(["FF", "FG"]).test_start).tolist() == [0]
    assert frozen_lake(["FS", "SG"]).test_start.tolist() == [0.0, 0.5, 0.5, 0.0]


def test_woods1_goes_around() -> None:
    bottom_right, top_right, top_left, south, east = 16, 4, 0, 4, 2
    assert maze("woods1").outcomes_of(bottom_right, south)[0][1] == top_right
    assert maze("woods1").outcomes_of(top_right, east)[0][1] == top_left
    assert maze("woods1", toroidal=False).outcomes_of(bottom_right, south)[0][1] == bottom_right


def test_sensors_see_the_eight_cells_around() -> None:
    mdp = maze(["OOO", "O*F", "O**"], view="sensors")
    assert mdp.space.names[:3] == ("north", "northeast", "east")
    assert mdp.observations[0].tolist() == [1, 1, 2, 0, 0, 1, 1, 1]
    assert maze("woods1", view="sensors").observations.max() == 2


def test_a_slipping_maze_turns_to_the_neighbouring_directions() -> None:
    mdp = maze(["***", "***", "**F"], slip=0.2)
    assert [row[1] for row in mdp.outcomes_of(4, 0)] == [0, 1, 2]


@pytest.mark.parametrize("shape", [(2, 1), (1, 5), (8, 8), (40, 7)])
@pytest.mark.parametrize("hole_probability", [0.0, 0.3, 0.7, 1.0])
def test_random_lakes_are_solvable(shape: tuple[int, int], hole_probability: float) -> None:
    for seed in range(5):
        rows = random_lake_map(*shape, seed=seed, hole_probability=hole_probability)
        assert (len(rows[0]), len(rows)) == shape
        lake = frozen_lake(rows)
        assert solve(lake, gamma=0.9).v[0] > 0.0


def test_random_lakes_open_no_more_holes_than_needed() -> None:
    rows = random_lake_map(6, 4, seed=0, hole_probability=1.0)
    assert sum(row.count("F") for row in rows) == 6 + 4 - 3
    assert rows == random_lake_map(6, 4, seed=0, hole_probability=1.0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["SFF", "FXG"], "row 1, column 1 of the lake is 'X'; expected 'S' start"),
        (["SFF", "FG"], "row 1 of the lake has 2 characters, row 0 has 3"),
        ([], "at least one row"),
        (["SF", "FF"], "unsolvable"),
        (["SH", "HG"], "unsolvable"),
        (["HF", "FG"], "no start"),
        ("no/such/file.txt", "cannot read a map from 'no/such/file.txt'"),
    ],
)
def test_a_bad_lake_is_refused(rows: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        frozen_lake(rows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["*F", "*x"], "row 1, column 1 of the maze is 'x'"),
        (["*OF"], "no way leads from column 0, row 0"),
        (["FF"], "no free cell"),
    ],
)
def test_a_bad_maze_is_refused(rows: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        maze(rows)


@pytest.mark.parametrize("slip", [-0.1, 1.0, float("nan"), "much", True])
def test_slip_is_a_probability_below_one(slip: object) -> None:
    for build in (frozen_lake, maze):
        with pytest.raises(ConfigurationError, match="slip"):
            build(slip=slip)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("build", [frozen_lake, maze])
def test_a_slip_too_small_to_be_halved_is_none(build: Callable[..., TabularMdp]) -> None:
    assert build(slip=5e-324).fingerprint == build().fingerprint
    assert build(slip=1e-323).outcomes.probability.min() == 5e-324
    build(slip=np.nextafter(1.0, 0.0))


@pytest.mark.parametrize("seed", [-1, 1.5, "one", True])
def test_the_seed_of_a_random_lake_is_checked(seed: object) -> None:
    with pytest.raises(ConfigurationError, match="seed"):
        load_environment("frozenlake-random", seed=seed)


def test_maps_come_from_files(tmp_path: Path) -> None:
    lake_file, maze_file = tmp_path / "lake.txt", tmp_path / "maze.txt"
    lake_file.write_text("SFF\nFHG\n")
    maze_file.write_text("**\n*F\n")
    assert load_environment(lake_file).fingerprint == frozen_lake(["SFF", "FHG"]).fingerprint
    assert load_environment(str(maze_file)).fingerprint == maze(["**", "*F"]).fingerprint
    assert frozen_lake("SFF\nFHG").fingerprint == frozen_lake(["SFF", "FHG"]).fingerprint
    lake_file.write_text("SFF\r\nFHG\r\n", encoding="utf-8-sig")
    assert load_environment(lake_file).fingerprint == frozen_lake(["SFF", "FHG"]).fingerprint
    lake_file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="cannot read a map"):
        load_environment(lake_file)


def test_arrays_make_the_model_that_they_say() -> None:
    mdp = from_arrays(COIN_P, COIN_R, action_names=("toss", "wait"))
    assert mdp.is_terminal.tolist() == [False, True]
    assert mdp.outcomes_of(0, 0) == [(0.5, 0, 1.0, False), (0.5, 1, 1.0, True)]
    assert mdp.outcomes_of(0, 1) == [(1.0, 0, 0.0, False)]
    assert mdp.training_start.tolist() == [1.0, 0.0]


def test_what_leaves_a_terminal_state_does_not_count() -> None:
    p = COIN_P.copy()
    p[1] = [[7.0, np.nan], [0.0, 0.0]]
    mdp = from_arrays(p, COIN_R + np.array([[0.0], [9.0]]), terminal=[1])
    assert mdp.fingerprint == from_arrays(COIN_P, COIN_R).fingerprint


def test_arrays_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "coin.npz"
    np.savez(path, P=COIN_P, R=COIN_R, terminal=[1], action_names=["toss", "wait"])
    mdp = load_environment(path)
    assert (mdp.name, mdp.action_names) == ("coin", ("toss", "wait"))
    expected = from_arrays(COIN_P, COIN_R, action_names=("toss", "wait"))
    assert mdp.fingerprint == expected.fingerprint


@pytest.mark.parametrize(
    ("p", "r", "message"),
    [
        (COIN_P[0], COIN_R, "p has shape (2, 2)"),
        (COIN_P[:1], COIN_R, "swap the first axes"),
        (COIN_P, COIN_R[0], "r has shape (2,)"),
        (COIN_P * 0.5, COIN_R, "sum to 0.5"),
        (COIN_P, [[np.inf, 0.0], [0.0, 0.0]], "expected a finite number"),
        (np.full((1, 1, 1), 1.0), [[0.0]], "every state is terminal"),
        ([["a"]], COIN_R, "p is no array of numbers"),
        (COIN_P.astype(str), COIN_R, "p is no array of numbers"),
        (COIN_P, COIN_R * 1j, "r is no array of numbers: it has complex128 values"),
        (COIN_P, [[object()]], "r is no array of numbers"),
    ],
)
def test_bad_arrays_are_refused(p: object, r: object, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        from_arrays(p, r)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_action_names_are_as_many_as_actions() -> None:
    with pytest.raises(ModelError, match="action_names are 1; expected 2"):
        from_arrays(COIN_P, COIN_R, action_names=["toss"])
    assert from_arrays(COIN_P, COIN_R, action_names=["toss", "wait"]).action_names[1] == "wait"


def save_text(path: Path) -> None:
    path.write_text("no arrays")


def save_truncated(path: Path) -> None:
    np.savez(path, p=COIN_P, r=COIN_R)
    path.write_bytes(path.read_bytes()[:100])


def save_objects(path: Path) -> None:
    np.savez(path, p=np.array([{}], dtype=object), r=COIN_R)


def save_strange(path: Path) -> None:
    np.savez(path, p=COIN_P, r=COIN_R, extra=COIN_R)


def save_one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, COIN_P)


def save_without_rewards(path: Path) -> None:
    np.savez(path, p=COIN_P)


@pytest.mark.parametrize(
    "save",
    [save_text, save_truncated, save_objects, save_strange, save_one_array, save_without_rewards],
)
def test_bad_files_of_arrays_are_refused(save: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save(path)
    with pytest.raises(FileFormatError, match=r"model\.npz"):
        load_arrays(path)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("frozenlke-8x8", {}, ModelError, "did you mean frozenlake-8x8"),
        ("qqq", {}, ModelError, "known are frozenlake-4x4"),
        ("CartPole-v1", {}, ModelError, "exposes no model"),
        ("taxi", {"slip": 0.1}, ModelError, "unexpected keyword argument 'slip'"),
        ("maze5", {"slipp": 0.1}, ConfigurationError, "does not take ['slipp']"),
    ],
)
def test_what_cannot_be_loaded_says_what_to_do(
    name: str, options: dict[str, float], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        load_environment(name, **options)


class Broken:
    """Looks like an environment with a model, and is not."""

    P: object = {0: {0: [(1.0, 0)]}}
    initial_state_distrib = (1.0,)


def test_a_malformed_gymnasium_model_is_refused() -> None:
    with pytest.raises(ModelError, match="malformed"):
        from_gymnasium(Broken())
    ragged = Broken()
    ragged.P = {0: {0: [(1.0, 0, 0.0, True)]}, 1: {}}
    with pytest.raises(ModelError, match="equally many actions"):
        from_gymnasium(ragged)
