"""What ends a build of the documentation: broken links, and anything loaded from elsewhere."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GOOD = """<html><head><link rel="stylesheet" href="look.css"><link rel="next" href="b.html">
<script src="search.js?v=1"></script></head><body><h1 id="top">A</h1>
<a href="b.html#section%20two">there</a> <a href="#top">up</a> <a href="https://example.org">away</a>
<img src="data:image/png;base64,AA=="></body></html>"""

Found = Callable[[str], list[str]]


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Found:
    """Problems of a site of two pages, the first of which is given."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    links = importlib.import_module("links")
    (tmp_path / "b.html").write_text('<p id="section two">B</p>')
    (tmp_path / "look.css").write_text("p { color: red }")
    (tmp_path / "search.js").write_text("")

    def problems(page: str) -> list[str]:
        (tmp_path / "a.html").write_text(page)
        return list(links.problems(tmp_path))

    return problems


def test_a_good_site_has_no_problems(found: Found) -> None:
    assert found(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("b.html#section%20two", "c.html", "links to c.html, which is not there"),
        ("b.html#section%20two", "b.html#three", "the page has no such place"),
        ("#top", "#bottom", "the page has no such place"),
        ("look.css", "https://example.org/look.css", "from elsewhere"),
        ("search.js?v=1", "//example.org/search.js", "from elsewhere"),
        ("search.js?v=1", "gone.js", "loads gone.js, which is not there"),
        ("data:image/png;base64,AA==", "http://example.org/x.png", "from elsewhere"),
    ],
)
def test_problems_are_found(found: Found, old: str, new: str, said: str) -> None:
    assert old in GOOD
    [problem] = found(GOOD.replace(old, new, 1))
    assert problem.startswith("a.html ")
    assert said in problem


def test_a_font_from_elsewhere_is_found(found: Found, tmp_path: Path) -> None:
    (tmp_path / "look.css").write_text('@font-face { src: url("https://example.org/font") }')
    assert found(GOOD) == ["look.css loads something from elsewhere"]
