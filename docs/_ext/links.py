"""The last step of a build: every link inside of the site leads somewhere, nothing comes from
elsewhere.

Links in text to other sites are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Attributes whose value a browser fetches by itself.
_LOADED = {"src", "srcset", "poster", "data"}
# Where a browser is told to go, and fetches nothing before.
_NAMED = {"canonical", "next", "prev", "search", "author", "index", "license"}


class Page(HTMLParser):
    """Anchors of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the attributes of one tag say."""
        told = {name: value or "" for name, value in attrs}
        self.anchors.update(value for name, value in told.items() if name == "id" and value)
        self.loads.extend(value for name, value in told.items() if name in _LOADED)
        target = told.get("href")
        if target is None:
            return
        fetched = tag == "link" and not set(told.get("rel", "").split()) & _NAMED
        (self.loads if fetched else self.links).append(target)


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the built site, a sentence each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        where = path.relative_to(folder)
        for target in page.loads:
            if urlsplit(target).netloc:
                yield f"{where} loads {target} from elsewhere"
            elif not target.startswith("data:") and not _file(path, target).is_file():
                yield f"{where} loads {target}, which is not there"
        for target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            aim = _file(path, target)
            if not aim.is_file():
                yield f"{where} links to {target}, which is not there"
            elif (
                parts.fragment
                and aim in pages
                and unquote(parts.fragment) not in pages[aim].anchors
            ):
                yield f"{where} links to {target}; the page has no such place"
    for sheet in folder.rglob("*.css"):
        if "url(http" in sheet.read_text(encoding="utf-8").replace('"', "").replace("'", ""):
            yield f"{sheet.relative_to(folder)} loads something from elsewhere"


def _file(page: Path, target: str) -> Path:
    path = unquote(urlsplit(target).path)
    return (page.parent / path).resolve() if path else page


def check_site(app: Sphinx, exception: Exception | None) -> None:
    """End the build with an error when a link is broken."""
    if exception is None and app.builder.format == "html":
        found = list(problems(Path(app.outdir).resolve()))
        if found:
            from sphinx.errors import SphinxError

            raise SphinxError("\n".join(found))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", check_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
