"""The paper in one command, small: what it writes, that it goes on, and the page in a browser."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

from xcskit.cli.main import run
from xcskit.paper import PaperRun, run_paper
from xcskit.paper.figures import FIGURES
from xcskit.paper.html import number, scrolling_table

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
in_browser = pytest.mark.skipif(not BROWSER, reason="no Chromium here: apt-get install chromium")

pytestmark = pytest.mark.paper


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> PaperRun:
    folder = tmp_path_factory.mktemp("paper")
    return run_paper(folder, instances=2, quick=True, progress=False)


def test_every_file_is_there_and_readable(made: PaperRun) -> None:
    for name in FIGURES:
        image = imread(made.folder / "figures" / f"{name}.png")
        assert image.shape[1] >= 700
        assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 20
        assert (made.folder / "figures" / f"{name}.svg").read_text().startswith("<?xml")
        assert pl.read_csv(made.folder / "figures" / f"{name}.csv").height > 0
    for name, table in made.tables.items():
        saved = pl.read_csv(made.folder / "tables" / f"{name}.csv", infer_schema=False)
        assert saved.shape == table.shape
    claims = json.loads((made.folder / "claims.json").read_text())
    assert len(claims["claims"]) == len(made.judged) > 30
    assert {"Versions", "Machine", "Trials"} <= set(claims["made"])


def test_what_holds_for_any_population_holds(made: PaperRun) -> None:
    verdicts = {item.claim.id: item.verdict for item in made.judged}
    for claim in ("ties-p0", "ties-p0.1", "no-holes", "idle-rules", "contains-pdrc", "least-steps"):
        assert verdicts[claim] == "holds", claim


def test_the_minimum_is_never_above_gnmc_nor_below_its_proof(made: PaperRun) -> None:
    table = made.tables["minimum"]
    assert (table["minimum"] <= table["gnmc"]).all()
    assert (table["minimum_bound"] <= table["minimum"]).all()


def test_a_second_run_trains_nothing_and_says_the_same(made: PaperRun) -> None:
    stored = {path.stat().st_mtime_ns for path in (made.folder / "store").rglob("*.parquet")}
    again = run_paper(made.folder, instances=2, quick=True, progress=False)
    after = {path.stat().st_mtime_ns for path in (made.folder / "store").rglob("*.parquet")}
    assert after == stored
    assert again.judged == made.judged


def test_the_page_needs_nothing_else_and_says_that_it_is_quick(made: PaperRun) -> None:
    page = made.report.read_text()
    assert "QUICK RUN" in page
    assert page.count("<img ") == len(FIGURES)
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert not re.findall(r"url\((?!data:)|@import|<script", page)
    for item in made.judged:
        assert f'id="claim-{item.claim.id}"' in page
        assert item.claim.untested in page


def test_another_map_has_no_published_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lake.txt").write_text("SFFF\nFHFF\nFFFG\n")
    words = ["paper", "--quick", "--instances", "2", "--map", str(tmp_path / "lake.txt")]
    assert run([*words, "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    told = capsys.readouterr()
    assert "QUICK RUN" in told.out
    assert "4/4 trials" in told.err
    assert told.err.splitlines()[-1] == "report .."
    assert not (tmp_path / "out/tables/agreement.csv").exists()
    page = (tmp_path / "out/report.html").read_text()
    assert "frozenlake-4x3" in page
    assert "published" not in page.lower()
    drawn = pl.read_csv(tmp_path / "out/figures/table-2-distributions.csv")
    assert drawn["source"].unique().to_list() == ["here"]
    assert 'id="claim-worst-states"' not in page


def test_the_command_says_what_is_wrong_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["paper", "--map", "atlantis", "--out", str(tmp_path)]) == 2
    (tmp_path / "lake.txt").write_text("SFH\nHHG\n")
    assert run(["paper", "--map", str(tmp_path / "lake.txt"), "--out", str(tmp_path / "bad")]) == 1
    assert not (tmp_path / "bad").exists()
    assert run(["paper", "--map", "1000000x1000000", "--out", str(tmp_path)]) == 2
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.html").write_text("mine")
    assert run(["paper", "--quick", "--out", str(tmp_path / "other")]) == 1
    assert (tmp_path / "other" / "report.html").read_text() == "mine"
    (tmp_path / "file").write_text("")
    assert run(["paper", "--quick", "--out", str(tmp_path / "file")]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert [line[:15] for line in errors] == ["xcskit: error: "] * 5
    assert "the lake is unsolvable" in errors[1]
    assert "got 1000000 x 1000000" in errors[2]
    assert "holds 'report.html', but no results" in errors[3]


def test_too_little_memory_is_an_error_like_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("xcskit.paper.run_paper", Mock(side_effect=MemoryError("no 7 TiB here")))
    assert run(["paper"]) == 1
    expected = "xcskit: error: not enough memory: no 7 TiB here; ask for something smaller\n"
    assert capsys.readouterr().err == expected


def test_cells_are_escaped_and_short() -> None:
    assert number("<b>") == "&lt;b&gt;"
    assert [number(x) for x in (1 / 3, 2.0**20, float("nan"), False, 7)] == [
        "0.3333",
        "1,048,576",
        "-",
        "no",
        "7",
    ]
    assert 'aria-label="a &quot;b&quot;"' in scrolling_table(["x"], [["1"]], 'a "b"')


# ---- In a browser ----

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">
<body><iframe width="{width}" height="900" style="border:0"></iframe><pre id="found"></pre><script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", async () => {{
  const page = frame.contentDocument;
  await Promise.all([...page.images].map(image => image.decode().catch(() => null)));
  const root = page.documentElement;
  const moved = [...page.querySelectorAll(".scroll")].map(box => {{
    box.scrollLeft = 10000;
    return box.querySelector("td").getBoundingClientRect().left - box.getBoundingClientRect().left;
  }});
  document.getElementById("found").textContent = JSON.stringify({{
    images: page.images.length,
    shown: [...page.images].filter(i => i.complete && i.naturalWidth && i.clientWidth > 200).length,
    width: root.clientWidth,
    needed: Math.max(root.scrollWidth, page.body.scrollWidth),
    headings: page.querySelectorAll("h2").length,
    text: parseFloat(getComputedStyle(page.body).fontSize),
    small: Math.max(0, ...[...page.querySelectorAll(".soft, .claim li, figcaption, td")]
      .map(part => parseFloat(getComputedStyle(part).fontSize))),
    scrolled: Math.max(0, ...[...page.querySelectorAll(".scroll")].map(box => box.scrollLeft)),
    moved: Math.max(0, ...moved.map(Math.abs)),
    ink: getComputedStyle(page.body).color,
    paper: getComputedStyle(page.body).backgroundColor,
  }});
}});
frame.srcdoc = {page};
</script></body>"""


def look(page: str, width: int, folder: Path, *options: str) -> tuple[dict[str, object], str]:
    """Open a page in a frame of some width; give what was measured, and what was logged."""
    harness = folder / "harness.html"
    text = json.dumps(page).replace("</", "<\\/")
    harness.write_text(HARNESS.format(width=width, page=text))
    done = subprocess.run(  # noqa: S603 - a browser found on this machine
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1400,1000",
            "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            "--dump-dom",
            *options,
            harness.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r'<pre id="found">(.+?)</pre>', done.stdout)
    assert found, done.stderr[-2000:]
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return json.loads(found[1]), console


@in_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_every_image_is_shown_and_nothing_overflows(
    made: PaperRun, width: int, tmp_path: Path
) -> None:
    seen, console = look(made.report.read_text(), width, tmp_path)
    assert console == ""
    assert seen["images"] == seen["shown"] == len(FIGURES)
    assert seen["headings"] == 8
    assert isinstance(seen["needed"], int)
    assert isinstance(seen["width"], int)
    assert width - 20 <= seen["width"] <= width
    assert seen["needed"] <= seen["width"]


@in_browser
def test_on_a_phone_the_first_column_stays_while_the_others_scroll(
    made: PaperRun, tmp_path: Path
) -> None:
    seen, _ = look(made.report.read_text(), 390, tmp_path)
    assert float(str(seen["scrolled"])) > 100
    assert float(str(seen["moved"])) <= 1


@in_browser
def test_the_printed_page_has_no_small_print_larger_than_its_text(
    made: PaperRun, tmp_path: Path
) -> None:
    """What a printer gets, shown on a screen as wide as a sheet of A4."""
    page = made.report.read_text().replace("@media print", "@media all")
    seen, _ = look(page, 794, tmp_path)
    assert 10 < float(str(seen["text"])) < 14
    assert float(str(seen["small"])) < float(str(seen["text"]))
    assert int(str(seen["needed"])) <= int(str(seen["width"]))


@in_browser
def test_dark_and_light_swap_paper_and_ink(made: PaperRun, tmp_path: Path) -> None:
    page = made.report.read_text()
    light, _ = look(page, 800, tmp_path, "--blink-settings=preferredColorScheme=1")
    dark, _ = look(page, 800, tmp_path, "--blink-settings=preferredColorScheme=0")

    def brightness(colour: object) -> int:
        return sum(int(part) for part in re.findall(r"\d+", str(colour))[:3])

    assert brightness(light["paper"]) > 700 > brightness(light["ink"])
    assert brightness(dark["paper"]) < 100 < brightness(dark["ink"])


@in_browser
def test_the_browser_test_sees_what_is_wrong(tmp_path: Path) -> None:
    page = (
        '<body><div style="width:3000px">wide</div><img src="data:image/png;base64,AAAA">'
        "<script>console.error('broken')</script></body>"
    )
    seen, console = look(page, 390, tmp_path)
    assert int(str(seen["needed"])) >= 3000
    assert (seen["images"], seen["shown"]) == (1, 0)
    assert "broken" in console
