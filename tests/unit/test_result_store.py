"""The result store: files that appear whole, are read back to the bit, and refuse what is wrong."""

import errno
import json
import os
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from toy_trials import specification, walk
from xcskit.errors import StoreError
from xcskit.experiments import Experiment, Failure, Reporter, Store
from xcskit.experiments.packing import digest_of, pack
from xcskit.experiments.plain import Entry
from xcskit.experiments.trial import TrialResult, key_of

IDENTITY = '{"seed":1}'
KEY = key_of(IDENTITY)
METADATA: Entry = {"identity": IDENTITY, "provenance": {"host": "here"}}


def stored(folder: Path, result: object) -> Store:
    store = Store(folder)
    with store.writing() as writer:
        writer.keep(KEY, pack(result, METADATA))
    return store


def awkward_frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "whole": [1, None, 2**62],
            "real": [float("nan"), -0.0, 5e-324],
            "flag": [True, None, False],
            "text": ["é", "", None],
            "list": [[1.5], [], None],
            "box": pl.Series([[1, 2], [3, 4], [5, 6]], dtype=pl.Array(pl.Int64, 2)),
            "kind": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b"])),
            "small": pl.Series([1, 2, 3], dtype=pl.UInt8),
        }
    )


def test_every_value_comes_back_as_it_was(tmp_path: Path) -> None:
    result = {
        "real": 0.1 + 0.2,
        "nan": float("nan"),
        "whole": -(2**63),
        "flag": False,
        "text": "≤\n",
        "raw": b"\x00\xff",
        "nothing": None,
        "table": awkward_frame(),
        "empty": awkward_frame().clear(),
    }
    record = stored(tmp_path, result).read(KEY)
    assert record.provenance == {"host": "here"}
    assert list(record.result) == list(result)
    for name, value in result.items():
        back = record.result[name]
        if isinstance(value, pl.DataFrame):
            assert isinstance(back, pl.DataFrame)
            assert back.schema == value.schema
            assert back.equals(value)
            assert back["real"].to_numpy().tobytes() == value["real"].to_numpy().tobytes()
        else:
            assert repr(back) == repr(value)


def test_numpy_scalars_become_plain_ones(tmp_path: Path) -> None:
    result = {"a": np.float64(0.1), "b": np.int32(7), "c": np.bool_(True), "d": np.float32(0.5)}
    assert stored(tmp_path, result).read(KEY).result == {"a": 0.1, "b": 7, "c": True, "d": 0.5}


def test_the_digest_sees_every_bit() -> None:
    frame = awkward_frame()
    results: list[TrialResult] = [
        {"a": 1},
        {"a": 1.0},
        {"a": True},
        {"a": "1"},
        {"b": 1},
        {"a": 0.0},
        {"a": -0.0},
        {"a": frame},
        {"a": frame.clear()},
        {"a": frame.rename({"flag": "flags"})},
        {"a": frame.with_columns(pl.col("small").cast(pl.UInt16))},
        {"a": frame.with_columns(pl.col("real").fill_nan(0.0))},
        {"a": frame.with_columns(pl.col("whole").fill_null(0))},
    ]
    assert len({digest_of(result) for result in results}) == len(results)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([1, 2], "returned list; expected a mapping"),
        ({}, "expected a mapping, not empty"),
        ({"": 1}, "named a value ''"),
        ({3: 1}, "named a value 3"),
        ({"seed": 1}, "none of environment, configuration, seed"),
        ({"x": [1, 2]}, "'x' of type list"),
        ({"x": pl.DataFrame()}, "with columns"),
        ({"x": object()}, "'x' of type object"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused(result: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        pack(result, METADATA)


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    store = Store(tmp_path / "none")
    assert store.keys() == []
    assert KEY not in store
    assert store.failure(KEY) is None
    with pytest.raises(StoreError, match="cannot be read: No such file"):
        store.read(KEY)
    assert not (tmp_path / "none").exists()


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    store = stored(tmp_path, {"mae": 0.25, "table": awkward_frame()})
    path = tmp_path / "trials" / f"{KEY}.parquet"
    whole = path.read_bytes()
    dice = random.Random(5)
    for place in dice.sample(range(len(whole)), 300):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match="damaged; remove the file and run"):
            store.read(KEY)
    path.write_bytes(whole)
    assert store.read(KEY).digest == digest_of({"mae": 0.25, "table": awkward_frame()})


def test_values_that_look_like_a_checksum_are_none(tmp_path: Path) -> None:
    text = f'"checksum":"{"ab" * 32}"'
    result: TrialResult = {"note": text, text: 1, "table": pl.DataFrame({text: [text]})}
    assert stored(tmp_path, result).read(KEY).digest == digest_of(result)


@pytest.mark.parametrize("size", [0, 4, 100, -8, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, size: int) -> None:
    store = stored(tmp_path, {"mae": 0.25})
    path = tmp_path / "trials" / f"{KEY}.parquet"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(StoreError, match=r"damaged.*remove the file"):
        store.read(KEY)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    store = stored(tmp_path, {"mae": 0.25})
    path = tmp_path / "trials" / f"{KEY}.parquet"
    other = key_of("other")
    path.rename(tmp_path / "trials" / f"{other}.parquet")
    with pytest.raises(StoreError, match="another trial than its name says"):
        store.read(other)
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(StoreError, match="no trial's file"):
        store.read(KEY)
    path.write_bytes(pack({"a": 1}, {"identity": IDENTITY}))
    with pytest.raises(StoreError, match="how it came about"):
        store.read(KEY)


def test_a_failure_is_recorded_and_forgotten_on_success(tmp_path: Path) -> None:
    failure = Failure(
        trial="a, b, seed 1", error="ValueError", message="no", traceback="...", provenance={}
    )
    store = Store(tmp_path)
    with store.writing() as writer:
        writer.record(KEY, failure)
        assert store.failure(KEY) == failure
        writer.keep(KEY, pack({"a": 1}, METADATA))
    assert store.failure(KEY) is None
    (tmp_path / "failed" / f"{KEY}.json").write_text("[]", encoding="utf-8")
    with pytest.raises(StoreError, match=r"cannot be read.*remove it"):
        store.failure(KEY)


@pytest.mark.parametrize("version", [2, 0, "1", None])
def test_a_store_of_another_version_is_refused_and_untouched(
    tmp_path: Path, version: object
) -> None:
    store = stored(tmp_path, {"a": 1})
    (tmp_path / "store.json").write_text(json.dumps({"format": version}), encoding="utf-8")
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=r"is a store of format.*another folder"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="is a store of format"), store.writing():
        pass
    (tmp_path / "lock").write_text(before["lock"].decode(), encoding="utf-8")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("text", ["", "[]", "{}", "\xff", '{"format": 1'])
def test_a_damaged_format_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "store.json").write_text(text, encoding="latin-1")
    with pytest.raises(StoreError, match="does not say which format"):
        Store(tmp_path)


def test_a_folder_of_other_things_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    before = contents(tmp_path)
    with (
        pytest.raises(StoreError, match=r"holds 'thesis\.tex'; choose an empty folder"),
        Store(tmp_path).writing(),
    ):
        pass
    assert contents(tmp_path) == before


@pytest.mark.parametrize("below", ["file", "file/store"])
def test_a_folder_that_cannot_be_made(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    store = Store(tmp_path / below)
    with pytest.raises(StoreError, match="cannot be written"), store.writing():
        pass
    assert contents(tmp_path) == {"file": b"x"}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_forbids_writing(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="Permission denied"), Store(tmp_path).writing():
            pass
    finally:
        tmp_path.chmod(0o700)


def test_a_forbidden_lock_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("xcskit.experiments.store.fcntl.lockf", refuse)
    with pytest.raises(StoreError, match="cannot be locked"), Store(tmp_path).writing():
        pass


def test_one_run_of_a_process_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with (
        store.writing(),
        pytest.raises(StoreError, match="another run of this process"),
        Store(tmp_path / "." / "").writing(),
    ):
        pass
    with store.writing():
        pass


def test_what_killed_runs_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    store = stored(tmp_path, {"a": 1})
    before = set(contents(tmp_path))
    for left in (
        ".store.json.aa.tmp",
        f"trials/.{KEY}.parquet.bb.tmp",
        f"failed/.{KEY}.json.cc.tmp",
        ".progress-dd",
    ):
        (tmp_path / left).write_bytes(b"half")
    (tmp_path / "trials" / "mine.tmp").write_bytes(b"kept")
    with store.writing():
        assert set(contents(tmp_path)) == before | {"trials/mine.tmp"}


def test_a_full_disk_stops_the_run_and_damages_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = Experiment(specification(), walk, tmp_path / "full")
    real, n_written = os.fsync, 0

    def fill(descriptor: int) -> None:
        nonlocal n_written
        n_written += 1
        if n_written > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    with monkeypatch.context() as disk:
        disk.setattr("xcskit.files.os.fsync", fill)
        with pytest.raises(StoreError, match=r"full cannot be written: No space left.*run again"):
            experiment.run(progress=False)
    # The first file written tells the store's format; the other three are trials.
    assert len(experiment.store.keys()) == 3
    assert not [name for name in contents(tmp_path) if name.endswith(".tmp")]
    outcome = experiment.run(progress=False)
    assert (outcome.n_skipped, outcome.n_finished) == (3, 5)
    for trial, record in experiment.results():
        assert record.digest == digest_of(walk(trial, Reporter()))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
