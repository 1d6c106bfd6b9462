"""What users read: docs, README, help texts and messages of the source, as sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "liptest"
#: Words of a sentence at most.
LONGEST_SENTENCE = 35
# A string of fewer words is a name, a key or a piece of a table.
_FEWEST = 4
# What ends a sentence: a full stop and the like before a space, as in situations.txt.
_END = re.compile(r"(?<=[.;:!?])\s+")
_CODE = re.compile(r"`[^`]*`")
_QUERY = re.compile(r"\s*(SELECT|CREATE|INSERT|BEGIN|UPDATE|DROP|GRANT)\b")
# An empty line, and the next comment of a file that is written.
_PARAGRAPH = re.compile(r"\n(?=#)|\n\s*\n")


def paragraphs(page: str) -> Iterator[tuple[int, str]]:
    """(line, text) of the prose of a Markdown page: without code, tables, figures and formulas."""
    held: list[str] = []
    start, fence = 0, ""
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        text = line.strip()
        if fence:
            fence = "" if text == fence else fence
            continue
        opened = re.match(r"(`{3,}|:{3,}|~{3,})", text)
        is_code = (
            opened or (line.startswith("    ") and not held) or text.startswith(("|", "<", "!["))
        )
        begins = re.match(r"([-*+]|\d+\.|#+|>)\s+", text)
        if (not text or is_code or begins) and held:
            yield start, " ".join(held)
            held = []
        if opened:
            fence = opened[1]
        elif text and not is_code:
            if not held:
                start = number
            held.append(text[begins.end() :] if begins else text)
            if text.startswith("#"):
                yield number, held.pop()


def pages() -> Iterator[Path]:
    """README, the pages of docs, tutorials; theory is written for other readers."""
    docs = ROOT / "docs"
    yield ROOT / "README.md"
    yield from sorted(docs.glob("*.md"))
    yield from sorted((docs / "tutorials").glob("*.md"))


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of the strings of a module that users may read; an X for what is filled in.

    Docstrings are read by users where they are the help of a command.
    """
    skipped: set[int] = set()
    holders: tuple[type[ast.AST], ...] = (ast.Module,)
    if path.parent.name != "cli":
        holders += (ast.ClassDef, ast.FunctionDef)
    # What holds a string comes before it.
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, holders):
            skipped |= set(_docstring(node))
        elif isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in skipped:
            text = ""
            if isinstance(node, ast.JoinedStr):
                skipped |= set(map(id, node.values))
                parts = [one.value if isinstance(one, ast.Constant) else "X" for one in node.values]
                text = "".join(map(str, parts))
            elif isinstance(node.value, str):
                text = node.value
            if len(text.split()) >= _FEWEST and not _QUERY.match(text):
                for paragraph in _PARAGRAPH.split(text):
                    yield node.lineno, paragraph


def _docstring(node: Any) -> Iterator[int]:
    if node.body and isinstance(node.body[0], ast.Expr):
        yield id(node.body[0].value)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph; code counts as one word."""
    plain = re.sub(r"\]\([^)]*\)|\*\*", "", _CODE.sub("X", text))
    for one in _END.split(" ".join(plain.split())):
        if one:
            yield one


@cache
def told() -> tuple[tuple[str, str], ...]:
    """(where, paragraph) of everything."""
    return tuple(_told())


def _told() -> Iterator[tuple[str, str]]:
    for path in pages():
        for line, text in paragraphs(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}", text
    for path in sorted(SOURCE.rglob("*.py")):
        for line, text in literals(path):
            yield f"{path.relative_to(ROOT)}:{line}", text
