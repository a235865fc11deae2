"""The whole state of training in one file, from which it goes on with the same bits.

A checkpoint is a NumPy archive of plain arrays, uncompressed, with a checksum of all its bytes at
the end, where the format has a place for a comment. What reading allocates is so bounded by the
file's size, and by the size of the population that its configuration asks for.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from xcskit.errors import FileFormatError, XcskitError
from xcskit.files import UNREADABLE, in_words, write_atomically
from xcskit.kernels.population import RULE, TALLY, restore_population
from xcskit.kernels.step import EPISODE, UNDECIDED
from xcskit.learner.config import XcsfConfig
from xcskit.learner.history import Row, plain_row
from xcskit.spaces import IntegerSpace

if TYPE_CHECKING:
    from xcskit.learner.xcsf import XCSF

__all__ = ["read_checkpoint", "restore_checkpoint", "seal", "write_checkpoint"]

FORMAT = "xcskit checkpoint"
VERSION = 1

_MAGIC = b"PK\x03\x04"
_DIGITS = 64
_MOST_STEPS = 2**53

Array = NDArray[Any]
_PARTS = ("condition", "prediction")


def _slot_fields(storage: Any, capacity: int) -> dict[str, Array]:  # noqa: ANN401 - a scheme's own class
    """Give the arrays of a storage that have a row for each slot."""
    fields: dict[str, Any] = storage._asdict()
    arrays = {name: cast("Array", v) for name, v in fields.items() if isinstance(v, np.ndarray)}
    return {name: array for name, array in arrays.items() if len(array) >= capacity}


def write_checkpoint(agent: "XCSF", path: str | Path) -> None:
    """Write the state of a learner; the file appears whole or not at all."""
    system = agent.system
    population, sets = system.population, system.sets
    records, tally = cast("Array", population.rules), cast("Array", population.tally)
    n_used = int(tally[0]["n_used"])
    header = {
        "format": FORMAT,
        "version": VERSION,
        "configuration": agent.config.to_dict(),
        "space": [agent.space.lower, agent.space.upper, agent.space.names],
        "action_names": agent.action_names,
        "n_environments": agent.n_environments,
        "seed": str(agent.seed),
        "world": agent.world,
        "history": agent.rows,
    }
    arrays: dict[str, Array] = {
        "header": np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8),
        "rules": records[:n_used],
        "tally": tally,
        "freed": population.freed[: int(tally[0]["n_freed"])],
        "sizes": sets.sizes,
        "members": np.concatenate(
            [members[:size] for members, size in _each_set(sets.members, sets.sizes)]
        ),
        "observations": sets.observations,
        "episodes": cast("Array", system.episodes),
        "streams": system.streams,
    }
    for part in _PARTS:
        fields = _slot_fields(getattr(population, part), population.freed.size)
        arrays |= {f"{part}.{name}": values[:n_used] for name, values in fields.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **cast("dict[str, Any]", arrays))
    write_atomically(path, seal(buffer))


def seal(archive: io.BytesIO) -> bytes:
    """Give an archive's bytes with their checksum as its comment."""
    with zipfile.ZipFile(archive, "a") as writer:
        writer.comment = b"0" * _DIGITS
    content = archive.getvalue()[:-_DIGITS]
    return content + _checksum(content)


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _each_set(members: Array, sizes: Array) -> list[tuple[Array, int]]:
    rows = members.reshape(-1, members.shape[-1])
    return list(zip(rows, sizes.ravel().tolist(), strict=True))


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read a file's header and arrays; nothing in it is executed."""
    content = Path(path).read_bytes()
    if not content.startswith(_MAGIC):
        _fail(path, "it is another kind of file")
    if content[-_DIGITS:] != _checksum(content[:-_DIGITS]):
        _fail(path, "it is damaged or was edited: its bytes do not agree with its checksum")
    try:
        arrays = _read_archive(content)
        header: Any = json.loads(arrays.pop("header").tobytes())
    except UNREADABLE as reason:
        _fail(path, f"it cannot be read ({in_words(reason)})")
    if not isinstance(header, dict):
        _fail(path, "its header is no table")
    entries = cast("dict[str, Any]", header)
    if entries.get("format") != FORMAT:
        _fail(path, "it is another kind of file")
    if entries.get("version") != VERSION:
        _fail(
            path,
            f"it has version {entries.get('version')!r}, this xcskit reads {VERSION}; "
            "use the xcskit that wrote it, or a newer one",
        )
    return entries, arrays


def _read_archive(content: bytes) -> dict[str, Array]:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        entries: list[zipfile.ZipInfo] = archive.zip.infolist()
        is_plain = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        _expect(is_plain, "its parts are compressed")
        n_bytes = sum(entry.file_size for entry in entries)
        _expect(n_bytes <= len(content), "its parts are larger than the file")
        arrays = {name: archive[name] for name in archive.files}
    for name, array in arrays.items():
        _expect(isinstance(array, np.ndarray), f"{name} is no array")
    return arrays


def _fail(path: str | Path, why: str) -> NoReturn:
    msg = f"{path} is no checkpoint of xcskit: {why}"
    raise FileFormatError(msg)


def restore_checkpoint(learner: type["XCSF"], path: str | Path) -> "XCSF":
    """Make a learner as it was when its state was written."""
    header, arrays = read_checkpoint(path)
    try:
        lower, upper, names = header["space"]
        agent = learner(
            IntegerSpace(tuple(lower), tuple(upper), tuple(names)),
            len(header["action_names"]),
            XcsfConfig.from_dict(header["configuration"]),
            seed=int(header["seed"]),
            action_names=header["action_names"],
            n_environments=header["n_environments"],
        )
        agent.world = header["world"]
        agent.rows = [_checked_row(row) for row in header["history"]]
        _fill(agent, arrays)
        _ = agent.rules
    except (*UNREADABLE, XcskitError) as reason:
        _fail(path, f"its content is damaged ({in_words(reason)})")
    return agent


def _checked_row(row: Row) -> Row:
    _expect({"step", "n_covered"} <= set(row), "a row of the history lacks its step")
    return plain_row(row)


def _expect(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _take(
    arrays: Mapping[str, Array], name: str, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> Array:
    array = arrays[name]
    _expect(
        array.dtype == dtype and array.shape == shape,
        f"{name} is {array.dtype} {array.shape}, expected {dtype} {shape}",
    )
    return array


def _fill(agent: "XCSF", arrays: Mapping[str, Array]) -> None:
    """Copy the arrays into a new learner's, each checked: compiled code trusts them."""
    system = agent.system
    population, sets = system.population, system.sets
    records = cast("Array", population.rules)
    tally = _take(arrays, "tally", TALLY, (1,))
    for name in TALLY.names or ():
        _expect(0 <= tally[0][name] <= _MOST_STEPS, f"{name} is impossible")
    n_used, n_freed = int(tally[0]["n_used"]), int(tally[0]["n_freed"])
    _expect(n_freed <= n_used <= population.freed.size, f"{n_used} slots used, {n_freed} freed")

    rules = _take(arrays, "rules", RULE, (n_used,))
    is_live = rules["numerosity"] > 0
    _check_rules(agent, rules, is_live, tally[0])

    freed = _take(arrays, "freed", population.freed.dtype, (n_freed,))
    _expect(np.array_equal(np.sort(freed), np.flatnonzero(~is_live)), "the free slots are wrong")
    sizes = _take(arrays, "sizes", sets.sizes.dtype, sets.sizes.shape)
    members = arrays["members"]
    _expect((sizes >= 0).all() and sizes.sum() == members.size, "the sets' sizes are wrong")
    _take(arrays, "members", sets.members.dtype, (int(sizes.sum()),))
    _expect((members < n_used).all() and is_live[members].all(), "a set holds a free slot")

    observations = _take(arrays, "observations", np.dtype(np.int64), sets.observations.shape)
    agent.space.check(
        np.where(sizes[:, :, None] > 0, observations, agent.space.lower).reshape(
            -1, agent.space.n_dimensions
        )
    )
    episodes = _take(arrays, "episodes", EPISODE, (agent.n_environments,))
    _expect((episodes["state"] >= -1).all(), "a state is negative")
    for name, least in (("decision", UNDECIDED), ("is_exploring", 0), ("is_acting", 0)):
        values = episodes[name]
        _expect(((values >= least) & (values <= 1)).all(), f"{name} is no truth value")
    room = agent.config.population_size + int(episodes["is_acting"].sum()) * agent.n_actions
    _expect(tally[0]["n_micros"] <= room, f"there are more than {room} microclassifiers")
    _expect(np.isfinite(episodes["best_value"]).all(), "a value is not finite")
    _expect(np.isfinite(episodes["pending_reward"]).all(), "a reward is not finite")
    streams = _take(arrays, "streams", system.streams.dtype, system.streams.shape)
    _expect((streams[:, 3] % 2 == 1).all(), "a random stream is impossible")

    for part in _PARTS:
        for name, values in _slot_fields(getattr(population, part), population.freed.size).items():
            values[:n_used] = _take(
                arrays, f"{part}.{name}", values.dtype, (n_used, *values.shape[1:])
            )
            _expect(np.isfinite(values[:n_used]).all(), f"{part}.{name} is not finite")
    _check_conditions(agent, np.flatnonzero(is_live))

    records[:n_used] = rules
    cast("Array", population.tally)[:] = tally
    population.freed[:n_freed] = freed
    sets.sizes[:] = sizes
    begin = 0
    for row, size in _each_set(sets.members, sizes):
        row[:size] = members[begin : begin + size]
        begin += size
    sets.observations[:] = observations
    cast("Array", system.episodes)[:] = episodes
    system.streams[:] = streams
    restore_population(population, agent.settings)


def _check_rules(agent: "XCSF", rules: Array, is_live: Array, tally: Any) -> None:  # noqa: ANN401 - a row of TALLY
    _expect((rules["numerosity"] >= 0).all(), "a numerosity is negative")
    _expect(is_live.sum() == tally["n_macros"], "the number of rules is wrong")
    _expect(rules["numerosity"].sum() == tally["n_micros"], "the sum of numerosities is wrong")
    actions = rules["action"]
    _expect(((actions >= 0) & (actions < agent.n_actions)).all(), "an action is out of range")
    for name in ("fitness", "prediction_error", "minimum_error", "action_set_size"):
        _expect(np.isfinite(rules[name]).all(), f"a {name} is not finite")
    fitness, set_size = rules["fitness"][is_live], rules["action_set_size"][is_live]
    _expect(((fitness > 0) & (fitness <= 1)).all(), "a fitness is not in (0, 1]")
    most = 2 * agent.system.population.freed.size
    _expect(((set_size > 0) & (set_size <= most)).all(), "an action set size is impossible")


def _check_conditions(agent: "XCSF", rows: Array) -> None:
    condition = agent.config.condition
    columns = condition.columns(agent.system.population.condition, rows, agent.space)
    problem = condition.problems(columns, agent.space)
    _expect(not problem, problem)
