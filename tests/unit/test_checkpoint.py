"""Checkpoints: the same bits across processes, and no file that breaks anything."""

import contextlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worlds import state_of
from xcskit.errors import FileFormatError, TrainingError, XcskitError
from xcskit.learner import XCSF, Constant, XcsfConfig
from xcskit.learner.checkpoint import seal
from xcskit.mdp import frozen_lake

LAKE = frozen_lake("4x4", slip=0.1)
OTHER_LAKE = frozen_lake("4x4", slip=0.3)
SMALL = XcsfConfig(population_size=120, ga_threshold=10.0, subsumption_experience=10)

N_WILD = 300

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
Edit = Callable[[Header, Arrays], object]


def small_learner() -> XCSF:
    """Give a learner with rules, freed slots, sets that wait, and one that acts."""
    agent = XCSF.on(LAKE, SMALL, seed=5, n_environments=3).train(LAKE, 1500, every=500)
    agent.act((0, 0), environment=0)
    agent.learn(0.1, (0, 1), terminated=False, environment=0)
    agent.act((2, 2), environment=0)
    agent.act((1, 2), environment=1)
    return agent


@pytest.fixture(scope="module")
def content() -> bytes:
    return state_of(small_learner())


def load(content: bytes, folder: Path) -> XCSF:
    path = folder / "checkpoint"
    path.write_bytes(content)
    return XCSF.load(path)


def opened(content: bytes) -> tuple[Header, Arrays]:
    """Take a checkpoint apart."""
    with np.load(io.BytesIO(content)) as archive:
        arrays: Arrays = {name: archive[name].copy() for name in archive.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def closed(header: object, arrays: Arrays, **extra: Any) -> bytes:
    """Put a checkpoint together, with a checksum that is right."""
    buffer = io.BytesIO()
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    parts: Any = {"header": np.frombuffer(text, dtype=np.uint8), **arrays, **extra}
    np.savez(buffer, **parts)
    return seal(buffer)


def assert_refused(content: bytes, folder: Path) -> str:
    with pytest.raises(FileFormatError, match="is no checkpoint of xcskit") as caught:
        load(content, folder)
    return str(caught.value)


# ---- Going on ----


def test_a_checkpoint_holds_everything(content: bytes, tmp_path: Path) -> None:
    agent = load(content, tmp_path)
    original = small_learner()
    assert state_of(agent) == content == state_of(original)
    assert agent.rules == original.rules
    assert agent.history.equals(original.history)
    assert agent.events == original.events
    assert (agent.seed, agent.config, agent.action_names) == (5, SMALL, LAKE.action_names)
    for learner in (agent, original):
        learner.learn(1.0, (0, 0), terminated=True, environment=1)
        learner.learn(0.0, (2, 3), terminated=False, environment=0)
        learner.train(LAKE, 1000, every=500)
    assert state_of(agent) == state_of(original)


PIECE = """
import sys
from pathlib import Path
from xcskit.learner import XCSF, XcsfConfig
from xcskit.mdp import frozen_lake

path, steps, population_size, slip = Path(sys.argv[1]), *map(float, sys.argv[2:])
lake = frozen_lake("8x8", slip=slip)
if path.exists():
    agent = XCSF.load(path)
else:
    agent = XCSF.on(lake, XcsfConfig(population_size=int(population_size)), seed=11)
agent.train(lake, int(steps), every=1000).save(path)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pieces", "population_size"), [((3000, 1, 4999), 400), ((150_000, 130_000, 120_000), 5000)]
)
def test_pieces_in_processes_of_their_own_equal_one_run(
    pieces: tuple[int, ...], population_size: int, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint"
    for steps in pieces:
        arguments = [path, steps, population_size, 0.1]
        subprocess.run(  # noqa: S603 - the program above
            [sys.executable, "-c", PIECE, *map(str, arguments)], check=True
        )
    lake = frozen_lake("8x8", slip=0.1)
    whole = XCSF.on(lake, XcsfConfig(population_size=population_size), seed=11)
    whole.train(lake, sum(pieces), every=1000)
    resumed = XCSF.load(path)
    assert resumed.rules == whole.rules
    np.testing.assert_array_equal(resumed.system.streams, whole.system.streams)
    marks = resumed.history.filter(resumed.history["step"] % 1000 == 0)
    assert marks.equals(whole.history)
    resumed.rows[:] = whole.rows
    assert state_of(resumed) == state_of(whole)


def test_another_model_starts_a_new_episode(tmp_path: Path) -> None:
    agent = XCSF.on(LAKE, SMALL, seed=1).train(LAKE, 200)
    while not agent.system.sets.sizes[0, 1]:
        agent.train(LAKE, 1)
    on_other = load(state_of(agent), tmp_path)
    n_updates = on_other.events["updates"]
    on_other.train(OTHER_LAKE, 1)
    episodes: Any = on_other.system.episodes
    ended = episodes["state"][0] < 0
    assert on_other.events["updates"] == n_updates + ended
    agent.train(OTHER_LAKE, 1)
    assert state_of(agent) == state_of(on_other)


# ---- Writing ----


def test_a_failed_write_leaves_the_file_that_was_there(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    agent = small_learner()
    agent.learn(0.0, (2, 3), terminated=True, environment=0)

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            agent.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]
    assert path.read_bytes() == content
    agent.save(path)
    assert path.read_bytes() == state_of(agent)


def test_a_diverged_learner_is_not_saved(tmp_path: Path) -> None:
    agent = XCSF.on(LAKE, SMALL, seed=1)
    agent.act((0, 0))
    agent.learn(1.7e308, (0, 1), terminated=True)

    def live() -> None:
        for _ in range(50):
            agent.act((0, 0))
            agent.learn(-1.7e308, (0, 1), terminated=True)

    with pytest.raises(TrainingError, match="diverged"):
        live()
    with pytest.raises(TrainingError, match="diverged"):
        agent.save(tmp_path / "checkpoint")
    assert list(tmp_path.iterdir()) == []


# ---- Files that are no checkpoints ----


def npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def zipped(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


class Bomb:
    """What pickle would call if anybody unpickled it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


FOREIGN: dict[str, bytes] = {
    "nothing": b"",
    "a byte": b"P",
    "text": b"IF 2 <= x <= 5 THEN right",
    "zeros": bytes(10_000),
    "zip magic alone": b"PK\x03\x04",
    "an empty zip": zipped({}),
    "another zip": zipped({"a.txt": b"hello"}),
    "another sealed zip": seal(io.BytesIO(zipped({"a.txt": b"hello"}))),
    "an array": npy(np.arange(3)),
    "a pickle": pickle.dumps(Bomb()),
    "parquet": b"PAR1" + bytes(100) + b"PAR1",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files(name: str, tmp_path: Path) -> None:
    assert_refused(FOREIGN[name], tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        XCSF.load(tmp_path / "nowhere")


def test_every_flipped_bit_is_noticed(content: bytes, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    places = np.concatenate([random.integers(0, len(content), 300), np.arange(-200, 0)])
    for place in places.tolist():
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(random.integers(8))
        assert_refused(bytes(damaged), tmp_path)


def test_every_cut_is_noticed(content: bytes, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    lengths = [*range(0, 200, 7), *random.integers(0, len(content), 100).tolist()]
    for length in [*lengths, len(content) - 1]:
        assert_refused(content[:length], tmp_path)
    assert_refused(content + b"\0", tmp_path)
    assert_refused(content + content, tmp_path)


def test_damage_behind_a_right_checksum(content: bytes, tmp_path: Path) -> None:
    """Whoever writes a checksum can write anything: either it is refused, or it goes on sound."""
    random = np.random.default_rng(5)
    bare = content[: -len("0" * 64)]
    n_refused = 0
    for _ in range(400):
        damaged = bytearray(bare + b"0" * 64)
        for place in random.integers(0, len(bare), int(random.integers(1, 4))).tolist():
            damaged[place] = int(random.integers(256))
        buffer = io.BytesIO(bytes(damaged))
        try:
            sealed = seal(buffer)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
            continue
        try:
            agent = load(sealed, tmp_path)
        except FileFormatError:
            n_refused += 1
        else:
            agent.train(LAKE, 50)
    assert n_refused > 100


WILD = [0, 1, -1, 2, 63, 64, 2**31, 2**32 - 1, 2**53, 2**62, -(2**62), 2**63 - 1, -(2**63)]
WILD_FLOATS = [0.0, -0.0, -1.0, 1e-310, 1e-200, 1.0, 1e155, 1e308, -1e308, np.nan, np.inf, -np.inf]


def edit_wildly(arrays: Arrays, random: np.random.Generator) -> None:
    """Change up to three numbers anywhere."""
    for _ in range(int(random.integers(1, 4))):
        array = arrays[list(arrays)[int(random.integers(len(arrays)))]]
        column = array
        if array.dtype.names:
            column = array[array.dtype.names[int(random.integers(len(array.dtype.names)))]]
        if column.size:
            values: Any = WILD_FLOATS if column.dtype.kind == "f" else WILD
            value = np.array(values[int(random.integers(len(values)))])
            column[np.unravel_index(random.integers(column.size), column.shape)] = value.astype(
                column.dtype
            )


def test_wild_edits_are_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    n_refused = 0
    for _ in range(N_WILD):
        header, arrays = opened(content)
        header["world"] = LAKE.fingerprint
        edit_wildly(arrays, random)
        try:
            agent = load(closed(header, arrays), tmp_path)
        except FileFormatError:
            n_refused += 1
            continue
        with contextlib.suppress(XcskitError):
            agent.train(LAKE, 300)
            assert agent.rules.n_microclassifiers <= SMALL.population_size
    assert N_WILD // 4 < n_refused < N_WILD


HEADERS: list[tuple[Header, str | None]] = [
    ({"format": "xcskit rules"}, "another kind of file"),
    ({"format": None}, "another kind of file"),
    ({"version": 2}, "has version 2, this xcskit reads 1"),
    ({"version": "1"}, "has version '1'"),
    ({"version": None}, "has version None"),
    ({"space": None}, "content is damaged"),
    ({"space": [[0, 0], [3], ["x", "y"]]}, "content is damaged"),
    ({"space": [[0.5, 0], [3, 3], ["x", "y"]]}, "content is damaged"),
    ({"space": [[0, 0], [9, 9], ["x", "y"]]}, None),
    ({"space": [[0, 0], [2, 2], ["x", "y"]]}, "content is damaged"),
    ({"space": [[0, 0, 0], [3, 3, 3], ["x", "y", "z"]]}, "content is damaged"),
    ({"action_names": 4}, "content is damaged"),
    ({"action_names": ["a"]}, "an action is out of range"),
    ({"action_names": [{}, [], 1, None]}, "action_names"),
    ({"n_environments": 10**9}, "n_environments"),
    ({"n_environments": 2}, "content is damaged"),
    ({"n_environments": "3"}, "n_environments"),
    ({"seed": "0x1"}, "content is damaged"),
    ({"seed": "9" * 5000}, "content is damaged"),
    ({"seed": "-1"}, "seed"),
    ({"seed": None}, "content is damaged"),
    ({"configuration": None}, "configuration"),
    ({"configuration": {"popsize": 3}}, "popsize"),
    ({"configuration": {"population_size": 40}}, "content is damaged"),
    ({"configuration": {"population_size": 10**30}}, "population_size"),
    ({"configuration": {"condition": {"type": "os.system"}}}, "condition is one of"),
    ({"history": 3}, "content is damaged"),
    ({"history": [3]}, "content is damaged"),
    ({"history": [{"step": 3}]}, "lacks its step"),
    ({"history": [{"step": 3, "n_covered": "x"}]}, "n_covered"),
    ({"history": [{"step": 3, "n_covered": float("nan")}]}, "n_covered"),
    ({"history": [{"step": 3, "n_covered": 1, "mae": [1]}]}, "mae"),
]


@pytest.mark.parametrize(("header", "message"), HEADERS, ids=str)
def test_edited_headers(
    header: Header, message: str | None, content: bytes, tmp_path: Path
) -> None:
    told, arrays = opened(content)
    edited = closed({**told, **header}, arrays)
    if message is None:
        assert load(edited, tmp_path).steps == told["history"][-1]["step"] + 1
    else:
        assert message in assert_refused(edited, tmp_path)


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"3", b"null", b"{", b'"xcskit checkpoint"', b"\xff\xfe\x00", b"[" * 10**5],
    ids=lambda text: repr(text[:20]),
)
def test_headers_that_are_no_tables(text: bytes, content: bytes, tmp_path: Path) -> None:
    _, arrays = opened(content)
    assert_refused(closed(text, arrays), tmp_path)


@pytest.mark.parametrize("name", ["space", "configuration", "seed", "history", "world"])
def test_headers_that_lack_something(name: str, content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    del header[name]
    assert_refused(closed(header, arrays), tmp_path)


NAMES = list(opened(state_of(small_learner()))[1])


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_another_form(name: str, content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    whole = arrays[name]
    plain = whole.view(np.uint8) if whole.dtype.names else whole
    others: list[NDArray[Any]] = [
        whole[:-1],
        whole[None],
        np.concatenate([whole, whole]),
        np.zeros(0, whole.dtype),
        np.array(3),
        np.array(["text"]),
        plain.astype(np.float32),
        plain.astype(np.complex128),
        plain.astype(">i8"),
    ]
    for other in others:
        assert_refused(closed(header, {**arrays, name: other}), tmp_path)
    rest = {key: array for key, array in arrays.items() if key != name}
    assert_refused(closed(header, rest), tmp_path)
    parts = {f"{key}.npy": npy(array) for key, array in rest.items()}
    parts["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    for raw in (b"", b"no array", npy(whole)[:-1], npy(whole)[:20]):
        assert_refused(seal(io.BytesIO(zipped({**parts, f"{name}.npy": raw}))), tmp_path)
    assert_refused(closed(header, {**rest, name: np.array([Bomb()])}), tmp_path)


def put(name: str, row: int, value: float, field: str | None = None) -> Edit:
    """Make an edit of one number of an array."""

    def edit(_: Header, arrays: Arrays) -> None:
        column = arrays[name] if field is None else arrays[name][field]
        column.reshape(-1)[row] = value

    return edit


def put_all(name: str, value: float, field: str) -> Edit:
    def edit(_: Header, arrays: Arrays) -> None:
        arrays[name][field] = value

    return edit


def live(arrays: Arrays) -> NDArray[np.int64]:
    return np.flatnonzero(arrays["rules"]["numerosity"])


def overfill(header: Header, arrays: Arrays) -> None:
    """Claim more rules than there is room for once covering begins."""
    rules = arrays["rules"]
    row = live(arrays)[0]
    rules["numerosity"][row] += 10_000
    arrays["tally"]["n_micros"] += 10_000
    header["configuration"]["population_size"] = 5000


def overflow(_: Header, arrays: Arrays) -> None:
    """Let the sum of numerosities wrap around to what is claimed."""
    rows = live(arrays)[:4]
    arrays["rules"]["numerosity"][rows] += 2**62


def revive(_: Header, arrays: Arrays) -> None:
    """Let a freed slot hold a rule."""
    arrays["rules"]["numerosity"][int(arrays["freed"][0])] = 1


def double_free(_: Header, arrays: Arrays) -> None:
    arrays["freed"][0] = arrays["freed"][1]


def longer_set(_: Header, arrays: Arrays) -> None:
    """Let one set be longer than the population has slots, and no other have any member."""
    n_members = 100_000
    arrays["sizes"][:] = 0
    arrays["sizes"].reshape(-1)[0] = n_members
    arrays["members"] = np.full(n_members, live(arrays)[0], dtype=np.uint32)


def borrowed_sizes(_: Header, arrays: Arrays) -> None:
    """Let sizes add up with a negative one among them."""
    sizes = arrays["sizes"].reshape(-1)
    sizes[1] += sizes[0] + 1
    sizes[0] = -1


EDITS: dict[str, Edit] = {
    "a slot beyond the rules": put("members", 0, 2**32 - 1),
    "a free slot in a set": lambda h, a: put("members", 0, int(a["freed"][0]))(h, a),
    "a negative size": borrowed_sizes,
    "a size too large": put("sizes", 0, 10**6),
    "a set longer than the population": longer_set,
    "a freed slot out of range": put("freed", 0, 10**9),
    "a freed slot below 0": put("freed", 0, -1),
    "a slot freed twice": double_free,
    "a freed slot that holds a rule": revive,
    "more used slots than rules": put("tally", 0, 10**9, "n_used"),
    "fewer used slots than none": put("tally", 0, -1, "n_used"),
    "more freed slots than used": put("tally", 0, 10**6, "n_freed"),
    "a wrong count of rules": put("tally", 0, 1, "n_macros"),
    "a wrong sum of numerosities": put("tally", 0, 1, "n_micros"),
    "a clock before 0": put("tally", 0, -1, "time"),
    "a clock near its end": put("tally", 0, 2**63 - 1, "time"),
    "an event counted below 0": put("tally", 0, -5, "covered"),
    "too many microclassifiers": overfill,
    "numerosities that wrap around": overflow,
    "a negative numerosity": put("rules", 0, -1, "numerosity"),
    "an action out of range": put("rules", 0, 4, "action"),
    "an action below 0": put("rules", 0, -1, "action"),
    "an experience below 0": put_all("rules", -1, "experience"),
    "a time stamp below 0": put_all("rules", -1, "time_stamp"),
    "a fitness of nan": put("rules", 0, np.nan, "fitness"),
    "a fitness of 0": put_all("rules", 0.0, "fitness"),
    "a huge fitness": put_all("rules", 1e308, "fitness"),
    "an error of inf": put("rules", 0, np.inf, "prediction_error"),
    "an error below 0": put_all("rules", -1.0, "prediction_error"),
    "a minimum error of nan": put("rules", 0, np.nan, "minimum_error"),
    "a set size of 0": put_all("rules", 0.0, "action_set_size"),
    "a set size below 0": put_all("rules", -1.0, "action_set_size"),
    "a huge set size": put_all("rules", 1e308, "action_set_size"),
    "a minimum outside the space": lambda h, a: put("condition.alleles", 4 * live(a)[0], -1)(h, a),
    "a huge minimum": lambda h, a: put("condition.alleles", 4 * live(a)[0], 2**62)(h, a),
    "a negative span": lambda h, a: put("condition.alleles", 4 * live(a)[0] + 1, -1)(h, a),
    "a span that wraps around": lambda h, a: put(
        "condition.alleles", 4 * live(a)[0] + 1, 2**63 - 1
    )(h, a),
    "a weight of nan": put("prediction.weights", 0, np.nan),
    "a weight of inf": put("prediction.weights", -1, -np.inf),
    "an observation outside": put("observations", 0, 4),
    "an observation far outside": put("observations", 0, -(2**62)),
    "a state below -1": put("episodes", 0, -2, "state"),
    "a decision that is none": put("episodes", 0, 2, "decision"),
    "an exploration that is none": put("episodes", 0, -1, "is_exploring"),
    "an act that is none": put("episodes", 0, 10**6, "is_acting"),
    "a reward of nan": put("episodes", 0, np.nan, "pending_reward"),
    "a value of inf": put("episodes", 0, np.inf, "best_value"),
    "an even increment of a stream": put("streams", 3, 2),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_arrays(name: str, content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    EDITS[name](header, arrays)
    assert "its content is damaged" in assert_refused(closed(header, arrays), tmp_path)


def test_a_state_that_the_model_does_not_have(content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    header["world"] = LAKE.fingerprint
    arrays["episodes"]["state"] = 10**12
    agent = load(closed(header, arrays), tmp_path)
    agent.train(LAKE, 100)
    episodes: Any = agent.system.episodes
    assert (episodes["state"] < LAKE.n_states).all()


def test_duplicates_in_a_set_do_no_harm(content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    arrays["members"][:] = arrays["members"][0]
    agent = load(closed(header, arrays), tmp_path).train(LAKE, 3000)
    assert agent.rules.n_microclassifiers <= SMALL.population_size


def test_parts_larger_than_the_file(content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    parts = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    parts["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    assert load(seal(io.BytesIO(zipped(parts))), tmp_path).steps == small_learner().steps
    parts["streams.npy"] = npy(np.zeros(10**7))
    bomb = seal(io.BytesIO(zipped(parts, zipfile.ZIP_DEFLATED)))
    assert len(bomb) < 10**6
    assert "compressed" in assert_refused(bomb, tmp_path)


def test_an_array_that_claims_to_be_huge(content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    parts = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    parts["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    for shape in ((2**50,), (2**62, 2**62), (-1,)):
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            buffer, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )
        parts["streams.npy"] = buffer.getvalue() + bytes(64)
        assert_refused(seal(io.BytesIO(zipped(parts))), tmp_path)


def test_a_checkpoint_of_another_prediction(content: bytes, tmp_path: Path) -> None:
    header, arrays = opened(content)
    header["configuration"]["prediction"] = {"type": "constant", "initial": 0.0}
    assert "prediction.value" in assert_refused(closed(header, arrays), tmp_path)
    config = SMALL.replace(prediction=Constant())
    path = tmp_path / "constant"
    agent = XCSF.on(LAKE, config, seed=1)
    agent.save(path)
    assert XCSF.load(path).config == config
