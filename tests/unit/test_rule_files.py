"""Saving and loading rule sets; what is foreign, damaged, too new or hostile is one clear error."""

import contextlib
import errno
import io
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

from populations import random_rules
from xcskit.errors import FileFormatError
from xcskit.kernels.conditions import CONDITIONS, MinSpan, UnorderedBounds
from xcskit.kernels.predictions import Constant, Nlms, Rls
from xcskit.rules import RuleSet
from xcskit.rules.pages import read_footer
from xcskit.rules.parquet import pack, seal
from xcskit.spaces import IntegerSpace

RULES = random_rules(1, 30)
CONTENT = pack(RULES)


@dataclass(frozen=True, kw_only=True)
class Tinted(MinSpan):
    """A scheme from outside the package, with a parameter of its own."""

    name: ClassVar[str] = "tinted"
    tint: str = "red"


def load(content: bytes, folder: Path) -> RuleSet:
    path = folder / "rules.parquet"
    path.write_bytes(content)
    return RuleSet.load(path)


def header_of(content: bytes) -> dict[str, Any]:
    return dict(json.loads(pl.read_parquet_metadata(io.BytesIO(content))["xcskit"]))


def crafted(
    header: Mapping[str, object] | None = None,
    change: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
    **options: Any,
) -> bytes:
    """Make a file with a right checksum and whatever else in it."""
    text = json.dumps({**header_of(CONTENT), **(header or {}), "checksum": "0" * 64})
    buffer = io.BytesIO()
    plain: dict[str, Any] = {"compression": "uncompressed", "metadata": {"xcskit": text}}
    change(pl.read_parquet(CONTENT)).write_parquet(buffer, **{**plain, **options})
    return seal(buffer.getvalue())


@pytest.mark.parametrize("condition", [MinSpan(cover_range=3), UnorderedBounds(mutation_range=2)])
@pytest.mark.parametrize("prediction", [Nlms(eta=0.3), Rls(degree=2), Constant(initial=0.5)])
def test_what_is_saved_loads_equal(
    tmp_path: Path, condition: MinSpan | UnorderedBounds, prediction: Nlms | Rls | Constant
) -> None:
    space = IntegerSpace((-3, 0), (2, 5), ("temperature", "größe"))
    rules = random_rules(3, space=space, condition=condition, prediction=prediction)
    rules = rules.with_metadata(
        note="naïve \u2028 \x00 </script>", nested={"format": [1, None, 0.1]}
    )
    rules.save(tmp_path / "a.parquet")
    loaded = RuleSet.load(tmp_path / "a.parquet")
    assert loaded == rules
    assert loaded.metadata == rules.metadata
    assert list(tmp_path.iterdir()) == [tmp_path / "a.parquet"]


def test_empty_and_repetitive_rule_sets_load_again(tmp_path: Path) -> None:
    for rules in (RULES[[]], RULES[np.zeros(50_000, dtype=np.int64)]):
        rules.save(tmp_path / "a.parquet")
        assert RuleSet.load(tmp_path / "a.parquet") == rules


def test_any_data_tool_can_open_the_file(tmp_path: Path) -> None:
    RULES.save(tmp_path / "a.parquet")
    frame = pl.read_parquet(tmp_path / "a.parquet")
    assert frame.equals(RULES.to_polars().drop("generality"))


def test_schemes_from_outside_save_and_load(tmp_path: Path) -> None:
    rules = random_rules(2, condition=Tinted(tint="blue"))
    rules.save(tmp_path / "a.parquet")
    with pytest.raises(FileFormatError, match=r"condition is one of .*: got 'tinted'"):
        RuleSet.load(tmp_path / "a.parquet")
    CONDITIONS.register(Tinted)
    try:
        assert RuleSet.load(tmp_path / "a.parquet") == rules
    finally:
        del CONDITIONS["tinted"]


def test_what_could_not_be_read_again_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later polars may write in another form."""
    write: Callable[..., None] = pl.DataFrame.write_parquet

    def write_otherwise(frame: pl.DataFrame, file: io.BytesIO, **options: object) -> None:
        write(frame, file, **{**options, "compression": "zstd"})

    monkeypatch.setattr(pl.DataFrame, "write_parquet", write_otherwise)
    with pytest.raises(FileFormatError, match=r"^nothing was saved: polars .* compressed"):
        RULES.save(tmp_path / "rules.parquet")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    path = tmp_path / "a.parquet"
    RULES.save(path)
    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match=rf"disk full: '{path}'"):
        RULES[0].save(path)
    assert RuleSet.load(path) == RULES
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RuleSet.load(tmp_path / "none.parquet")


@pytest.mark.parametrize("length", [0, 1, 4, 8, 12, 13, 100, 1000, len(CONTENT) // 2, -9, -8, -1])
def test_truncated_files_are_cut_off(tmp_path: Path, length: int) -> None:
    with pytest.raises(FileFormatError, match=r"cut off|no Parquet file"):
        load(CONTENT[:length], tmp_path)


def test_no_flipped_byte_goes_unnoticed(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for place in random.choice(len(CONTENT), 400, replace=False):
        content = bytearray(CONTENT)
        content[place] ^= int(random.integers(1, 256))
        with pytest.raises(FileFormatError, match=r"rules\.parquet"):
            load(bytes(content), tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1",
        b"PAR1PAR1",
        b"PAR1" + b"\xff" * 4 + b"PAR1",
        b"PAR1" + b"\x00" * 40 + b"\x10\x00\x00\x00PAR1",
        b"hello, world" * 100,
        pickle.dumps({"fitness": [0.5]}),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FileFormatError, match=r"rules\.parquet"):
        load(content, tmp_path)


def test_a_parquet_file_of_something_else_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"fitness": [0.5]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileFormatError, match="not a rule set"):
        RuleSet.load(tmp_path / "a.parquet")


def test_newer_formats_ask_for_an_upgrade(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"version 2, written by xcskit '9\.0'.*upgrade"):
        load(crafted({"version": 2, "package_version": "9.0"}), tmp_path)


def test_an_edited_table_does_not_pass(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    frame = pl.read_parquet(CONTENT).with_columns(numerosity=pl.lit(3, pl.Int64))
    frame.write_parquet(
        buffer, metadata={"xcskit": pl.read_parquet_metadata(io.BytesIO(CONTENT))["xcskit"]}
    )
    with pytest.raises(FileFormatError, match="damaged or was edited"):
        load(buffer.getvalue(), tmp_path)


def test_a_crafted_file_that_is_right_loads(tmp_path: Path) -> None:
    assert load(crafted(), tmp_path) == RULES


HEADERS: list[dict[str, object]] = [
    {"version": "1"},
    {"version": -1},
    {"version": None},
    {"space": None},
    {"space": {"lower": [0], "upper": [3]}},
    {"space": {"lower": [0, 0], "upper": [4, 2**80], "names": ["x", "y"]}},
    {"space": {"lower": [0, 0], "upper": [2, 3], "names": ["x", "y"]}},
    {"space": {"lower": [0, 0], "upper": [4, 3], "names": [["x"], "y"]}},
    {"space": {"lower": [0] * 5000, "upper": [3] * 5000, "names": []}},
    {"space": {"lower": "ab", "upper": "cd", "names": "xy"}},
    {"action_names": []},
    {"action_names": ["left"]},
    {"action_names": [1, 2]},
    {"action_names": 7},
    {"action_names": [["left"], {}]},
    {"condition": {"name": "os.system", "parameters": {}}},
    {"condition": {"name": ["min_span"], "parameters": {}}},
    {"condition": {"name": "min_span", "parameters": {"cover_range": -4}}},
    {"condition": {"name": "min_span", "parameters": {"surprise": 1}}},
    {"condition": {"name": "min_span", "parameters": [1]}},
    {"condition": {"name": "min_span"}},
    {"prediction": {"name": "constant", "parameters": {}}},
    {"prediction": {"name": "nlms", "parameters": {"degree": 2}}},
    {"prediction": "nlms"},
    {"metadata": 5},
    {"metadata": None},
]


@pytest.mark.parametrize("header", HEADERS)
def test_crafted_headers_are_refused(tmp_path: Path, header: dict[str, object]) -> None:
    with pytest.raises(FileFormatError, match=r"rules\.parquet"):
        load(crafted(header), tmp_path)


CELLS: list[dict[str, pl.Expr]] = [
    {"fitness": pl.lit(float("nan"))},
    {"fitness": pl.lit(float("inf"))},
    {"fitness": pl.lit(-0.5)},
    {"fitness": pl.lit(None, pl.Float64)},
    {"fitness": pl.lit("0.5")},
    {"fitness": pl.lit(0.5, pl.Float32)},
    {"fitness": pl.lit([0.5])},
    {"weight_x": pl.lit(float("nan"))},
    {"numerosity": pl.lit(-1, pl.Int64)},
    {"numerosity": pl.lit(2**62, pl.Int64)},
    {"action": pl.lit(2, pl.Int64)},
    {"x_upper": pl.lit(99, pl.Int64)},
    {"x_lower": pl.lit(4, pl.Int64), "x_upper": pl.lit(0, pl.Int64)},
    {"extra": pl.lit(1, pl.Int64)},
]


@pytest.mark.parametrize("cells", CELLS)
def test_crafted_tables_are_refused(tmp_path: Path, cells: dict[str, pl.Expr]) -> None:
    with pytest.raises(FileFormatError, match=r"rules\.parquet"):
        load(crafted(change=lambda frame: frame.with_columns(**cells)), tmp_path)


@pytest.mark.parametrize("column", ["fitness", "x_lower", "action"])
def test_tables_that_lack_a_column_are_refused(tmp_path: Path, column: str) -> None:
    with pytest.raises(FileFormatError, match=f"other columns .* {column}"):
        load(crafted(change=lambda frame: frame.drop(column)), tmp_path)


def test_more_rows_than_bytes_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeat(frame: pl.DataFrame) -> pl.DataFrame:
        return frame[np.zeros(200_000, dtype=np.int64)]

    content = crafted(change=repeat, compression="zstd")
    assert len(content) < 50_000

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("rows were read")

    monkeypatch.setattr("xcskit.rules.pages.Table.columns", refuse)
    with pytest.raises(FileFormatError, match="claims 200000 rules"):
        load(content, tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "NaN", "{"])
def test_crafted_metadata_does_not_break_the_reader(tmp_path: Path, text: str) -> None:
    header = json.dumps({"format": "xcskit rules", "checksum": "0" * 64})[:-1]
    buffer = io.BytesIO()
    frame = pl.read_parquet(CONTENT)
    frame.write_parquet(buffer, metadata={"xcskit": f'{header}, "version": {text}'})
    with pytest.raises(FileFormatError, match=r"rules\.parquet"):
        load(seal(buffer.getvalue()), tmp_path)


def test_enormous_metadata_is_not_parsed(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"a": [1]}).write_parquet(buffer, metadata={"xcskit": " " * 2**25})
    with pytest.raises(FileFormatError, match="bytes of metadata"):
        load(buffer.getvalue(), tmp_path)
    with pytest.raises(FileFormatError, match="too long"):
        RULES.with_metadata(note="x" * 2**25).save(tmp_path / "a.parquet")


def test_compressed_columns_are_refused(tmp_path: Path) -> None:
    """They could hold far more than the file's size; xcskit writes none."""
    with pytest.raises(FileFormatError, match="its columns are compressed"):
        load(crafted(compression="zstd"), tmp_path)


@pytest.mark.parametrize("n_rules", [0, 1, 7, 8, 9, 300, 5000])
@pytest.mark.parametrize("row_group_size", [None, 3, 64])
def test_pages_of_any_size_read_as_polars_reads_them(
    n_rules: int, row_group_size: int | None, tmp_path: Path
) -> None:
    """Few different numbers are written by a dictionary, in runs or packed; many are plain."""
    random = np.random.default_rng(n_rules)
    picked = np.sort(random.integers(0, len(RULES), n_rules))

    def shuffle(frame: pl.DataFrame) -> pl.DataFrame:
        ages = random.integers(0, 2**40, n_rules)
        fitness = random.choice([0.25, 0.5, 1.0], n_rules)
        return frame[picked].with_columns(experience=ages, fitness=fitness)

    content = crafted(change=shuffle, row_group_size=row_group_size)
    rules = load(content, tmp_path)
    assert rules.to_polars().drop("generality").equals(pl.read_parquet(content))


def place_of_levels(content: bytes) -> int:
    """Find the levels of the first column's first page: 4 bytes of length, a run, its value."""
    n_rules = len(RULES)
    levels = (2).to_bytes(4, "little") + bytes([n_rules << 1, 1])
    place = content.find(levels)
    assert place > 0
    return place + 4


@pytest.mark.parametrize("run", [b"\x00", b"\x7e", b"\x01", b"\x03", b"\xff"], ids=repr)
def test_levels_that_lie_are_refused(run: bytes, tmp_path: Path) -> None:
    """A count of values that is a lie has ended the process, in polars' own decoder."""
    place = place_of_levels(CONTENT)
    content = CONTENT[:place] + run + CONTENT[place + 1 :]
    with contextlib.suppress(FileFormatError):
        assert load(seal(content), tmp_path) == RULES


def test_damage_behind_a_right_checksum_ends_in_one_error(tmp_path: Path) -> None:
    """Whoever writes a checksum can write anything: it is refused, or it is a sound rule set."""
    random = np.random.default_rng(1)
    footer = int.from_bytes(CONTENT[-8:-4], "little")
    n_refused = n_sound = 0
    for first in (0, len(CONTENT) - 8 - footer):
        for _ in range(500):
            content = bytearray(CONTENT)
            for place in random.integers(first, len(CONTENT), int(random.integers(1, 5))).tolist():
                content[place] = int(random.integers(256))
            try:
                rules = load(seal(bytes(content)), tmp_path)
            except FileFormatError as reason:
                n_refused += "\n" not in str(reason)
            else:
                n_sound += bool(rules.sentences())
    assert n_refused > 500
    assert n_refused + n_sound == 1000


FOOTERS = [
    b"",
    b"\x00",
    b"\x15\x04",
    b"\x19" * 60,
    b"\x1c" * 60,
    b"\x19\xfc\xff\xff\xff\xff\x0f",
    b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x15" + b"\xff" * 30,
    b"\x1b\x00",
]


@pytest.mark.parametrize("footer", FOOTERS, ids=repr)
def test_tables_of_contents_that_are_none(footer: bytes) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_footer(footer, 0)
