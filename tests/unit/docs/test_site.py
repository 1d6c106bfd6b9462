"""The site has four parts and at most 25 entries at its side; every page is in one of them."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


def entries(page: Path) -> list[str]:
    """The pages that a page's tables of contents name, as paths from docs."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    found = [line.strip() for line in lines if line.strip() and not line.startswith(":")]
    files = [page.parent / one for one in found if "*" not in one]
    for pattern in (one for one in found if "*" in one):
        files += [
            file.with_suffix("") for file in page.parent.glob(f"{pattern}.md") if file != page
        ]
    return [file.relative_to(DOCS).as_posix() for file in files]


def test_the_side_is_short_and_has_four_parts() -> None:
    index = DOCS / "index.md"
    assert len(entries(index)) <= 25
    captions = re.findall(r"^:caption: (.+)$", index.read_text("utf-8"), re.M)
    assert captions == ["Tutorials", "How to", "Reference", "Explanation"]


def test_every_page_is_named_once() -> None:
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.glob("**/*.md")}
    named = [one for page in DOCS.glob("**/*.md") for one in entries(page)]
    assert sorted(named) == sorted(pages - {"index"})


NUMBERED = (
    r"\[(?:theory )?[A-Z]?\d+[\d., a-zA-Z]*\]\(theory/|\btheory [1-6]\.\d|Numbers in brackets"
)
_CODE = re.compile(r"^```.*?^```", re.M | re.S)


def test_numbers_of_theorems_stand_in_reference_and_explanation_only() -> None:
    """Pages to learn from and to work with link to a proof; they do not number it."""
    blocks = re.split(r"^:caption: ", (DOCS / "index.md").read_text("utf-8"), flags=re.M)[1:3]
    lines = [line for block in blocks for line in block.splitlines()]
    pages = [line for line in lines if (DOCS / f"{line}.md").is_file()]
    pages += entries(DOCS / "more.md")
    pages.remove("extending")  # for developers, whose code names its theorem
    assert len(pages) > 25
    told = {page: _CODE.sub("", (DOCS / f"{page}.md").read_text("utf-8")) for page in pages}
    assert [page for page, text in told.items() if re.search(NUMBERED, text)] == []


@pytest.mark.parametrize("is_known", [True, False])
def test_edit_links_lead_to_the_repository_of_the_build(
    is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = {"GITHUB_SERVER_URL": "https://host.example", "GITHUB_REPOSITORY": "us/liptest"}
    names = {*build, "GITHUB_REF_NAME"}
    environment = {name: text for name, text in os.environ.items() if name not in names}
    environment |= build | ({"GITHUB_REF_NAME": "main"} if is_known else {})
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(sys, "path", [*sys.path])
    options = runpy.run_path(str(DOCS / "conf.py"))["html_theme_options"]
    said = {name: text for name, text in options.items() if name.startswith("source_")}
    known = {
        "source_repository": "https://host.example/us/liptest",
        "source_branch": "main",
        "source_directory": "docs/",
    }
    assert said == (known if is_known else {})
