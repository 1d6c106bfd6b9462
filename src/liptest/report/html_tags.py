"""Small pieces of HTML; whatever comes from outside is made visible, shortened and escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from liptest.report.svg import number

# Controls, lone surrogates, and marks that turn the direction of writing around.
_UNSEEN = ("Cc", "Cs", "Cf")


def shown(text: str, most: int = 300) -> str:
    """Escaped; of a longer text the beginning, and how long it is."""
    if len(text) > most:
        return f"{escape(visible(text[:most]))}… ({len(text):,} characters)"
    return escape(visible(text))


def visible(text: str) -> str:
    """What cannot be seen or written as UTF-8 as its code point."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"\\u{ord(letter):04x}"
        if unicodedata.category(letter) in _UNSEEN and letter not in "\n\t"
        else letter
        for letter in text
    )


def code(text: str, most: int = 120) -> str:
    """An output or a name, in letters of one width."""
    return f"<code>{shown(text, most)}</code>"


def section(title: str, body: str) -> str:
    """A part of a check under its heading."""
    return f'<section><h3>{title}</h3><div class="body">{body}</div></section>'


def figure(picture: str, caption: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A drawing with its words and, folded, its numbers; caption and cells are HTML."""
    return (
        f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        f"<details><summary>Numbers</summary>{table(names, rows)}</details>"
    )


def table(names: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str = "") -> str:
    """A table; the first column names the rows, cells are HTML."""
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    head = f"<thead><tr>{heads}</tr></thead>" if names else ""
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    return f'<table class="{kind}">{head}<tbody>{body}</tbody></table>'


def figures(*values: float) -> list[str]:
    """Numbers as cells of a table."""
    return [number(value) for value in values]


def legend() -> str:
    """Which bars are whose."""
    return (
        '<p class="legend"><span class="first">first dataset</span> '
        '<span class="second">second dataset</span> <span class="decides">decides</span></p>'
    )
