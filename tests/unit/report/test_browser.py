"""The page in a real browser: nothing loaded, nothing cut off, readable for everybody.

Chromium comes from the system (Debian: chromium); without it these tests are skipped, except
where the environment variable CI is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import liptest as lt
from liptest.report.html import page, report_html
from tests.browsers import CHROMIUM, headless
from tests.unit.report.pages import EVERY, sampled_verdicts

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"),
    reason="no chromium on this machine: install the Debian package chromium",
)
WIDTHS = [360, 1200]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with headless() as running:
        yield running


def noisy(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 0.9))


def real_answer() -> str:
    mechanism = lt.mechanism(noisy)
    found = lt.check_privacy(mechanism, lt.Hypercube(50), epsilon=0.9, delta=1e-6, seed=1)
    return str(report_html(found, mechanism))


def cut_off(data: Any, rng: Any) -> int:
    """Whole noise that stops at 30: many rows, one of them rare."""
    size, sign = 0, 1 if rng.random() < 0.5 else -1
    while size < 30 and rng.random() < 0.6:
        size += 1
    return int(data.sum()) + sign * size


def many_rows() -> str:
    mechanism = lt.mechanism(cut_off)
    found = lt.check_privacy(mechanism, lt.Hypercube(50), epsilon=0.5, seed=1)
    return str(report_html(found, mechanism))


PAGES = {
    "real answer": real_answer,
    "checks": lambda: page(EVERY),
    "samples": lambda: report_html(sampled_verdicts()[0]),
}


@pytest.fixture(scope="module", params=PAGES)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(PAGES[request.param](), encoding="utf-8")
    return path


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=["light", "dark"])
def opened(request: pytest.FixtureRequest, browser: Any, file: Path, width: int) -> Iterator[Any]:
    view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=request.param)
    view.noticed = []
    view.on("console", lambda message: view.noticed.append(message.text))
    view.on("pageerror", lambda error: view.noticed.append(str(error)))
    view.on("request", lambda one: view.noticed.append(one.url))
    view.goto(file.as_uri())
    yield view
    view.close()


@pytest.mark.slow
def test_nothing_is_loaded_and_nothing_complains(opened: Any, file: Path) -> None:
    assert opened.noticed == [file.as_uri()]


@pytest.mark.slow
def test_nothing_is_wider_than_the_screen(opened: Any, width: int) -> None:
    for details in opened.query_selector_all("details"):
        details.evaluate("one => { one.open = true; }")
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    wider = opened.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(one =>
            !one.closest('svg') && !one.closest('.scroll') &&
            one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML)"""
    )
    assert wider == []


@pytest.mark.slow
def test_letters_in_drawings_stay_readable(opened: Any) -> None:
    smallest = opened.evaluate(
        """() => Math.min(...[...document.querySelectorAll('svg text')].map(one =>
            one.getBoundingClientRect().height))"""
    )
    assert smallest >= 9


@pytest.mark.slow
def test_no_rule_of_accessibility_is_broken(opened: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for details in opened.query_selector_all("details"):
        details.evaluate("one => { one.open = true; }")
    found = Axe().run(opened)
    problems = [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found.response["violations"]
    ]
    assert problems == []


@pytest.mark.slow
def test_print_shows_everything_on_white(browser: Any, file: Path) -> None:
    view = browser.new_page(color_scheme="dark")
    view.goto(file.as_uri())
    view.emulate_media(media="print")
    colours = view.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; }"
    )
    view.close()
    assert colours == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]


@pytest.mark.slow
@pytest.mark.parametrize("written", [real_answer, many_rows])
def test_a_report_prints_on_one_page(
    written: Callable[[], str], browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(written(), encoding="utf-8")
    view = browser.new_page()
    view.goto(path.as_uri())
    printed = view.pdf(prefer_css_page_size=True)
    view.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
