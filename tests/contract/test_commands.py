"""What every command keeps to; a new one is found by its row in the table of commands.

Its example is its test: what help shows is run word for word.
"""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from xcskit import __version__
from xcskit.cli.main import COMMANDS, app, run
from xcskit.rules import RuleSet

Captured = pytest.CaptureFixture[str]

SHORTER: dict[str, list[str]] = {"paper": ["--quick", "--instances", "2"]}
"""What is added to an example that would take minutes."""

KEEPS_A_STORE = {"paper"}
"""What writes into a folder that it takes up again, and so has no --force."""

MODEL = "lake.parquet"
group: Any = typer.main.get_command(app)


def example_of(name: str) -> list[str]:
    """Give the words of the command line that help shows, without what follows it in a shell."""
    _, _, line = group.commands[name].help.partition("Example: xcskit ")
    words = shlex.split(" ".join(line.split()).split(" && ")[0])
    return [*words, *SHORTER.get(name, [])]


def options_of(name: str) -> dict[str, str]:
    return {
        option: parameter.help
        for parameter in group.commands[name].params
        if parameter.param_type_name == "option"
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


def takes_a_model(name: str) -> bool:
    return any(metavar in {"MODEL", "MODEL.."} for metavar in metavars_of(name))


def metavars_of(name: str) -> list[str]:
    parameters = group.commands[name].params
    return [p.metavar for p in parameters if p.param_type_name == "argument"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("trained")
    words = ["train", "frozenlake-8x8", "--slip", "0.1", "--steps", "200000", "--seed", "1"]
    assert run([*words, "-o", str(folder / MODEL), "--json"]) == 0
    return (folder / MODEL).read_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_table_is_what_the_command_offers() -> None:
    assert list(group.commands) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_and_a_word_for_every_option(name: str) -> None:
    assert example_of(name)[0] == name
    options = options_of(name)
    assert "--json" in options
    assert all(options.values()), options
    if "--output" in options or "--out" in options:
        assert ("--force" in options) is (name not in KEEPS_A_STORE)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_works_and_overwrites_nothing_unasked(
    name: str, folder: Path, trained: bytes, capsys: Captured
) -> None:
    example, before = example_of(name), dict[Path, bytes]()
    if takes_a_model(name):
        (folder / MODEL).write_bytes(trained)
        before = {folder / MODEL: trained}
    assert run([*example, "--json"]) == 0
    json.loads(capsys.readouterr().out)
    written = files_in(folder)
    assert before.items() <= written.items()
    if name in KEEPS_A_STORE:
        return
    again = run(example)
    printed = capsys.readouterr()
    assert files_in(folder) == written
    if written == before:
        assert again == 0
        assert printed.out
        return
    assert again == 2
    assert printed.out == ""
    assert "--force replaces it" in printed.err
    assert run([*example, "--force"]) == 0
    assert files_in(folder) == written


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_line_is_status_2(name: str, folder: Path, capsys: Captured) -> None:
    assert run([*example_of(name), "--no-such-option"]) == 2
    one_line("no-such-option", capsys)
    assert files_in(folder) == {}


@pytest.mark.parametrize("name", [name for name in COMMANDS if metavars_of(name)])
def test_what_is_not_there_is_status_1(name: str, folder: Path, capsys: Captured) -> None:
    _, _, *rest = example_of(name)
    assert run([name, "nowhere.parquet", *rest]) == 1
    one_line("'nowhere.parquet'", capsys)
    assert files_in(folder) == {}
    assert run(["--debug", name, "nowhere.parquet", *rest]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def one_line(part: str, capsys: Captured) -> None:
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("xcskit: error: ")
    assert printed.err.count("\n") == 1
    assert part in printed.err


@pytest.mark.parametrize(
    ("words", "work", "message"),
    [
        (["solve", "frozenlake-4x4"], "xcskit.mdp.solve", "interrupted"),
        (["paper"], "xcskit.paper.run_paper", "interrupted; 'runs/paper' keeps what is finished"),
    ],
)
def test_ctrl_c_is_one_line_and_status_1(
    words: list[str],
    work: str,
    message: str,
    folder: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(work, interrupted)
    # A shell that starts the tests in the background has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run(words) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    one_line(f"xcskit: error: {message}", capsys)
    assert files_in(folder) == {}


# ---- The shell's side ----


def shell(words: str, **environment: str) -> str:
    """Run the command in a process of its own, and give what it prints."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "xcskit", *words.split()],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path), **environment},
    )
    return done.stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("xcskit ", set(COMMANDS)),
        ("xcskit tra", {"train"}),
        *((f"xcskit {name} --js", {"--json"}) for name in COMMANDS),
        ("xcskit train woo", {"woods1", "woods14"}),
        ("xcskit train maze5 --preset bis", {"bishop2020"}),
        ("xcskit evaluate lake.parquet --env max", set[str]()),
        ("xcskit compact lake.parquet --mass inv", {"inverse_fitness"}),
        ("xcskit plot lake.parquet --kind gen", {"generality"}),
    ],
)
def test_tab_completes_commands_options_and_names(line: str, expected: set[str]) -> None:
    position = str(len(line.split(" ")) - 1)
    offered = shell("", _XCSKIT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=position)
    assert set(offered.split()) == expected


def test_completion_is_shown_and_installed(tmp_path: Path) -> None:
    named = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = shell("--show-completion bash", **named)
    assert "complete -o default -F _xcskit_completion xcskit" in shown
    shell("--install-completion bash", **named)
    assert "xcskit" in (tmp_path / ".bashrc").read_text()


def test_the_version_is_told() -> None:
    assert shell("--version") == f"xcskit {__version__}\n"


@pytest.mark.parametrize("words", ["info", "solve frozenlake-8x8", "train --help"])
def test_a_reader_that_leaves_early_sees_no_error(words: str) -> None:
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "xcskit", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    with process:
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    limited = (
        "import resource, signal, sys\n"
        "from xcskit.cli.main import run\n"
        "*words, target = sys.argv[1:]\n"
        "assert run([*words, target]) == 0\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "sys.exit(run([*words, target, '--force']))\n"
    )
    target = tmp_path / "lake.parquet"
    words = ["train", "frozenlake-4x4", "--steps", "2000", "--seed", "1", "-o", str(target)]
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", limited, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"xcskit: error: '{target}': file too large"
    assert list(tmp_path.iterdir()) == [target]
    assert RuleSet.load(target).metadata["steps"] == 2000
