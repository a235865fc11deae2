"""``xcskit train``: rules from an environment."""

import json
import signal
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from xcskit.cli.completion import names_in
from xcskit.cli.environments import EnvironmentName, EnvironmentOptions, Slip, read_environment
from xcskit.cli.files import check_writable
from xcskit.cli.models import note_environment
from xcskit.errors import ConfigurationError, ModelError, TrainingError

if TYPE_CHECKING:
    from xcskit.learner import XCSF, XcsfConfig
    from xcskit.learner.gymnasium import Environment
    from xcskit.mdp import TabularMdp

__all__ = ["train"]

_STEPS: Final = 400_000
_MOST_MARKS: Final = 10_000
"""Rows of a history, and snapshots: more would be a slip of the keyboard."""


def train(
    env: EnvironmentName,
    *,
    steps: Annotated[
        int, typer.Option(min=1, help="Steps in all, those before --resume included.")
    ] = _STEPS,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Where all random numbers start; told if not given.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            autocompletion=names_in("xcskit.learner.presets", "__all__"),
            help="The setting of a paper, as bishop2020, the default.",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A setting of your own (TOML), as XcsfConfig.to_toml gives.")
    ] = None,
    slip: Slip = None,
    option: EnvironmentOptions = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the rules (.parquet).")
    ] = Path("rules.parquet"),
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Save the whole state of training here at the end. Ctrl-C saves it in any case, "
            "beside the rules (.checkpoint) unless this says where."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")] = False,
    every: Annotated[
        int, typer.Option(min=1, help="Steps between two measurements, for the history.")
    ] = 5000,
    snapshot_every: Annotated[
        int | None,
        typer.Option(min=1, help="Steps between two rule sets, saved as OUTPUT-STEP.parquet."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Train XCSF on an environment and save its rules, which show, evaluate, .. take up.

    Ctrl-C leaves a checkpoint: the same command with --resume goes on from it, to the same rules.

    Example: xcskit train frozenlake-8x8 --slip 0.1 --steps 800000 --seed 1 -o lake.parquet
    """
    kept = checkpoint or output.with_suffix(".checkpoint")
    check_writable(output, force=force, suffixes=(".parquet",))
    check_writable(kept, force=force or resume)
    if max(steps // every, steps // (snapshot_every or steps)) > _MOST_MARKS:
        msg = (
            f"{steps} steps would be measured or saved more than {_MOST_MARKS} times: "
            "raise --every or --snapshot-every"
        )
        raise ConfigurationError(msg)
    chosen = _config(preset, config)
    world = _world(env, slip, option)
    agent = _resumed(kept, world, chosen, seed) if resume else _new(world, chosen, seed)
    if agent.steps >= steps:
        msg = f"{str(kept)!r} is {agent.steps} steps old; --steps is their sum: give more"
        raise ConfigurationError(msg)
    snapshots = {
        step: output.with_name(f"{output.stem}-{step:09d}.parquet")
        for step in range(snapshot_every or steps + 1, steps + 1, snapshot_every or steps)
        if step > agent.steps
    }
    for file in snapshots.values():
        check_writable(file, force=force)
    began, seconds = agent.steps, time.perf_counter()
    _run(agent, world, steps, every, snapshot_every, is_quiet=as_json)
    seconds = time.perf_counter() - seconds
    notes = note_environment(env, slip, option)
    for step, rules in agent.snapshots.items():
        rules.with_metadata(**notes).save(snapshots[step])
    if agent.steps < steps or checkpoint is not None:
        agent.save(kept)
    if agent.steps < steps:
        msg = (
            f"interrupted at step {agent.steps} of {steps}; "
            f"the same command with --resume goes on from {str(kept)!r}"
        )
        raise TrainingError(msg)
    agent.rules.with_metadata(**notes, history=agent.rows).save(output)
    files = [output, *snapshots.values(), *([checkpoint] if checkpoint else [])]
    words = {
        "environment": env,
        "seed": agent.seed,
        **agent.rows[-1],
        "steps_per_second": round((steps - began) / seconds),
        "files": list(map(str, files)),
    }
    _tell(words, as_json=as_json)


def _config(preset: str | None, config: Path | None) -> "XcsfConfig | None":
    from xcskit.learner import XcsfConfig, presets

    if preset is not None and config is not None:
        msg = "--preset and --config both give the setting; leave one of them out"
        raise ConfigurationError(msg)
    if config is not None:
        return XcsfConfig.from_toml(config.read_text(encoding="utf-8"))
    if preset is None:
        return None
    if preset not in presets.__all__:
        msg = f"--preset is one of {', '.join(presets.__all__)}: got {preset!r}"
        raise ConfigurationError(msg)
    made: XcsfConfig = getattr(presets, preset)()
    return made


def _world(name: str, slip: float | None, options: list[str] | None) -> "TabularMdp | Environment":
    """Give the model of an environment or, where it shows none, the environment itself."""
    try:
        return read_environment(name, slip, options)
    except ModelError:
        import gymnasium

        if name not in gymnasium.registry or slip is not None or options:
            raise
        return gymnasium.make(name)


def _new(
    world: "TabularMdp | Environment", config: "XcsfConfig | None", seed: int | None
) -> "XCSF":
    from xcskit.learner import XCSF, presets
    from xcskit.mdp import TabularMdp

    setting = config or presets.bishop2020()
    if isinstance(world, TabularMdp):
        return XCSF.on(world, setting, seed=seed)
    return XCSF.for_gymnasium(world, setting, seed=seed)


def _resumed(
    path: Path,
    world: "TabularMdp | Environment",
    config: "XcsfConfig | None",
    seed: int | None,
) -> "XCSF":
    """Read a checkpoint, and refuse to go on with other settings than it was begun with."""
    from xcskit.learner import XCSF

    if not path.is_file():
        msg = f"there is no checkpoint {str(path)!r} to resume; leave --resume out to begin"
        raise ConfigurationError(msg)
    agent = XCSF.load(path)
    for what, ours, given in (
        ("seed", agent.seed, seed),
        ("setting", agent.config, config),
        ("environment", agent.world, getattr(world, "fingerprint", None)),
    ):
        if given is not None and given != ours:
            msg = f"{str(path)!r} was trained with another {what}; leave --resume out to begin anew"
            raise ConfigurationError(msg)
    return agent


def _run(
    agent: "XCSF",
    world: "TabularMdp | Environment",
    steps: int,
    every: int,
    snapshot_every: int | None,
    *,
    is_quiet: bool,
) -> None:
    """Train until the end or until Ctrl-C, which is taken where nothing is lost by it.

    That is between two chunks of steps or, where a row of the history is due, after it.
    """
    from xcskit.evaluation import against
    from xcskit.learner.progress import progress_bar
    from xcskit.mdp import TabularMdp, solve

    begin, told = agent.steps, 0
    is_shown = sys.stderr.isatty() and not is_quiet
    with _asked_to_stop() as is_asked, progress_bar(is_shown, steps - begin) as advance:

        def count(done: int, total: int) -> None:
            nonlocal told
            advance(done - told)
            told = done
            if is_asked() and done < total and (begin + done) % every:
                raise KeyboardInterrupt

        def is_enough(_: "XCSF") -> bool:
            return is_asked()

        if not is_quiet:
            sys.stderr.write(f"training with seed {agent.seed} from step {begin} to {steps}\n")
            sys.stderr.flush()
        settings: dict[str, Any] = {
            "every": every,
            "callback": is_enough,
            "snapshot_every": snapshot_every,
            "progress": count,
        }
        try:
            if isinstance(world, TabularMdp):
                measure = against(solve(world, agent.config.discount))
                agent.train(world, steps - begin, evaluate=measure, **settings)
            else:
                agent.learn_from(world, steps - begin, **settings)
        except KeyboardInterrupt:
            if not is_asked():
                raise
            if snapshot_every is not None and agent.steps % snapshot_every == 0:
                agent.snapshots[agent.steps] = agent.rules


@contextmanager
def _asked_to_stop() -> Generator[Callable[[], bool]]:
    """Give what tells whether Ctrl-C was pressed; pressed again, it interrupts at once."""
    n_pressed = 0

    def note(_signal: int, _frame: object) -> None:
        nonlocal n_pressed
        n_pressed += 1
        if n_pressed > 1:
            n_pressed = 0
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: n_pressed > 0
    finally:
        signal.signal(signal.SIGINT, before)


def _tell(words: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(words) + "\n")
        return
    from xcskit.cli.display import print_numbers

    files = ", ".join(words.pop("files"))
    print_numbers(str(words.pop("environment")), words)
    sys.stdout.write(f"saved {files}\n")
