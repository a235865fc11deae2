"""``xcskit paper``: the whole paper, with a verdict on every claim."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xcskit.errors import ExperimentError

if TYPE_CHECKING:
    from xcskit.paper import PaperRun

__all__ = ["paper"]

_INSTANCES, _QUICK_INSTANCES = 30, 8


def paper(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for everything.")] = Path(
        "runs/paper"
    ),
    instances: Annotated[
        int | None, typer.Option(min=2, help="How many seeds a variant; 30, or 8 with --quick.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many threads; one a core unless given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    map_: Annotated[
        str,
        typer.Option("--map", help="8x8, 4x4, another WIDTHxHEIGHT (drawn at random), or a file."),
    ] = "8x8",
    fresh: Annotated[bool, typer.Option("--fresh", help="Train anew what is there.")] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="An eighth of the steps, and fewer instances: a demonstration."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Train all instances, draw every figure and table, judge every claim, write a report.

    Example: xcskit paper --out runs/paper
    """
    from xcskit.paper import run_paper
    from xcskit.paper.specification import lake_of

    try:
        made = run_paper(
            out,
            instances=instances or (_QUICK_INSTANCES if quick else _INSTANCES),
            jobs=jobs,
            seed=seed,
            fresh=fresh,
            quick=quick,
            lake=lake_of(map_),
        )
    except KeyboardInterrupt:
        msg = f"interrupted; {str(out)!r} keeps what is finished, and the same command goes on"
        raise ExperimentError(msg) from None
    if as_json:
        claims = [item.to_dict() for item in made.judged]
        words = {"report": str(made.report), "seconds": dict(made.seconds), "claims": claims}
        sys.stdout.write(json.dumps(words, allow_nan=False) + "\n")
        return
    _print(made, is_quick=quick)


def _print(made: "PaperRun", *, is_quick: bool) -> None:
    """Say the verdicts, a line a claim that does not simply hold, and where the report is."""
    lines = [
        f"{item.verdict}: {item.claim.gist} [{item.claim.id}]"
        for item in made.judged
        if item.verdict != "holds"
    ]
    counts = Counter(item.verdict for item in made.judged)
    lines.append("; ".join(f"{n} of {len(made.judged)} {name}" for name, n in counts.items()))
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in made.seconds.items())
    lines.append(f"{sum(made.seconds.values()):.1f} s: {stages}")
    lines.append(f"report: {made.report}")
    if is_quick:
        lines.append("QUICK RUN: fewer instances and steps. A demonstration, no evidence.")
    sys.stdout.write("\n".join(lines) + "\n")
