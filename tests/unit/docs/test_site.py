"""The site has four parts and at most 25 entries at its side; every page is in one of them."""

from __future__ import annotations

import re
from pathlib import Path

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
