"""The cache of machine code: many processes at once, no right to write, no room, damaged files."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xcskit

PROGRAM = """
import json, logging, sys, time
from pathlib import Path
import numpy as np
import xcskit
from xcskit.kernels.random import draw, draw_below, new_streams

logging.basicConfig(format="%(message)s")
go = Path(sys.argv[1])
while not go.exists():
    time.sleep(0.0005)
drawn = {}
for name in sys.argv[2:]:
    stream = new_streams(3)[0]
    bound = getattr(np, name)(100)
    drawn[name] = [int(draw_below(stream, bound)) for _ in range(20)]
print(json.dumps({
    "package": xcskit.__file__,
    "drawn": drawn,
    "from_disk": sum(draw_below.stats.cache_hits.values()),
}))
"""

pytestmark = pytest.mark.slow

TYPES = ("int64", "float64", "int8", "float32", "uint16")
N_FILES = len(TYPES) + 1
"""``draw_below`` for each type, and the ``draw`` that it calls."""

Outcome = dict[str, Any]


def start(
    go: Path, types: Sequence[str], prefix: Sequence[str] = (), **environment: str
) -> "subprocess.Popen[str]":
    """Start a process that compiles or loads for some types once the file ``go`` is there."""
    return subprocess.Popen(  # noqa: S603 - the program above
        [*prefix, sys.executable, "-c", PROGRAM, str(go), *types],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: "subprocess.Popen[str]") -> tuple[Outcome, str]:
    """Wait for its end; what it drew has to be right, whatever happened to the cache."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    found: Outcome = json.loads(out)
    generator = np.random.default_rng(np.random.SeedSequence(3).spawn(4)[0])
    expected = np.floor(generator.random(20) * 100).astype(int).tolist()
    assert found["drawn"] == dict.fromkeys(found["drawn"], expected)
    return found, err


def run(cache: Path, prefix: Sequence[str] = (), **environment: str) -> tuple[Outcome, str]:
    go = cache.parent / "go"
    go.touch()
    return end(start(go, TYPES, prefix, XCSKIT_CACHE_DIR=str(cache), **environment))


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def read_only(*folders: Path) -> list[str]:
    """Make folders read-only; give what starts a process that this also binds if it is root's."""
    for folder in folders:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o222)
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to take that right away")
    return ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]


def test_many_processes_at_once(tmp_path: Path) -> None:
    """All compile the same and different signatures of one kernel into one empty cache."""
    cache, go = tmp_path / "cache", tmp_path / "go"
    orders = [TYPES[i:] + TYPES[:i] for i in range(len(TYPES))]
    processes = [start(go, order, XCSKIT_CACHE_DIR=str(cache)) for order in orders]
    go.touch()
    for process in processes:
        _, err = end(process)
        assert err == ""
    assert len(files(cache)) == N_FILES
    later, _ = run(cache)
    assert later["from_disk"] == len(TYPES)


def test_a_cache_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(cache)
    prefix = read_only(cache)
    found, err = run(cache, prefix)
    assert found["from_disk"] == len(TYPES)
    assert err == ""


def test_a_read_only_installation_with_nowhere_to_write(tmp_path: Path) -> None:
    """One warning, which names the folder and what to do; everything works."""
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(
        Path(xcskit.__file__).parent, tmp_path / "site" / "xcskit", ignore=ignored
    )
    home = tmp_path / "home"
    home.mkdir()
    prefix = read_only(package.parent, home)
    environment = {"XCSKIT_CACHE_DIR": "", "XDG_CACHE_HOME": str(home / "cache")}
    (tmp_path / "go").touch()
    process = start(tmp_path / "go", TYPES, prefix, PYTHONPATH=str(package.parent), **environment)
    found, err = end(process)
    assert Path(found["package"]).parent == package
    assert found["from_disk"] == 0
    assert err.count("cannot be written") == 1
    assert err.count(str(home / "cache")) == 1
    assert "XCSKIT_CACHE_DIR" in err
    assert files(package.parent) == [path for path in files(package) if path.suffix != ".pyc"]


def test_a_full_disk(tmp_path: Path) -> None:
    """A file system with room for one file or two: a real one, which only root can mount."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can mount a small file system")
    cache = tmp_path / "cache"
    cache.mkdir()
    mount = f'mount -t tmpfs -o size=20k tmpfs {cache} && "$@" && ls -A {cache}/* >&2'
    prefix = ["unshare", "--mount", "sh", "-c", mount, "sh"]
    tried = subprocess.run([*prefix, "true"], check=False, capture_output=True)  # noqa: S603 - as above
    if b"denied" in tried.stderr or b"permitted" in tried.stderr:
        pytest.skip("this machine lets nobody mount a file system")
    found, err = run(cache, prefix)
    assert found["from_disk"] == 0
    assert err.count("No space left on device") == 1
    assert "XCSKIT_CACHE_DIR" in err
    assert ".tmp" not in err


def test_a_file_that_is_cut_off_while_it_is_written(tmp_path: Path) -> None:
    """The system lets no file grow beyond a limit: what is written stops in the middle."""
    cache = tmp_path / "cache"
    limited = ["sh", "-c", 'ulimit -f 4 && exec "$@"', "sh"]
    found, err = run(cache, limited, PYTHONDONTWRITEBYTECODE="1")
    assert found["from_disk"] == 0
    assert err.count("cannot be written") == 1
    assert files(cache) == []
    run(cache)
    assert len(files(cache)) == N_FILES


def test_damaged_files_are_compiled_anew(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(cache)
    sound = files(cache)
    for number, path in enumerate(sound):
        content = path.read_bytes()
        middle = len(content) // 2
        damaged = (
            b"",
            content[:middle],
            content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            b"\x80\x04K\x01." * 20,
        )
        path.write_bytes(damaged[number % len(damaged)])
    found, _ = run(cache)
    assert found["from_disk"] == 0
    found, _ = run(cache)
    assert found["from_disk"] == len(TYPES)
    assert files(cache) == sound
