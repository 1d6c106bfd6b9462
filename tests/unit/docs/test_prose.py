"""Docs, help texts and messages are written plainly: short sentences, today's words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests import prose

# What readers stumbled over, and what is written instead.
OLD = {
    r"(?<!here )\b(?:is|are|was|were) no (?!longer|\w*er\b|more|less|one\b)\w+": "is not a",
    r"\b(?:leav\w+|left) (?:\S+ ){0,3}away\b": "leave out",
    r"\boff (?:no|a|an|any|every|which)\b": "outside",
    r"\b(?:laws|outputs|points|distributions) asked for\b": "requested, computed",
    r"\basks? for (?:\S+ ){0,4}(?:laws|distributions)\b": "computes, needs",
    r"\b(?:is|are) none (?:of|that)\b": "not one of",
    r"\bdear(?:er|est)?\b": "expensive",
    r"\bhow-manieth\b": "number",
    r"\bno such one\b": "not found",
    r"\b(?:can|could|to)(?: not)? be had\b": "exists, was computed",
    r"\bparted by\b": "separated by",
    r"\blet pass\b": "allowed",
    r"\b[Oo]utput laws?\b": "output distribution",
    r"\bof which (?:only|it is not|there may be|rows come)\b": "in brackets, or whose",
    r"\b(?:groupby|group_by|assignment) but (?:by|to)\b": "anything but",
    r"\b(?:held|hold \w+) against\b": "compared with",
    r"\bnothing is left beside\b": "besides",
    r"\bthat any of them was\b|\bthe outputs that tell,|\blight set\b": "",
    r"\b(?:Duck|telling event|crew|parcel|stand-in)\b(?! for)": "see docs/design.md",
}
# Those that are looked for in comments, docstrings and theory, too.
EVERYWHERE = [one for one in OLD if one.startswith((r"(?<!here", r"\b(?:is|are) none"))]
README = prose.ROOT / "README.md"


@cache
def told() -> tuple[tuple[str, str], ...]:
    """(where, sentence)."""
    return tuple((where, one) for where, text in prose.told() for one in prose.sentences(text))


def test_sentences_are_short() -> None:
    assert len(told()) > 5000
    long = [item for item in told() if len(item[1].split()) > prose.LONGEST_SENTENCE]
    assert long == []


@pytest.mark.parametrize("pattern", OLD)
def test_words_of_old_are_not_said(pattern: str) -> None:
    found = [item for item in told() if re.search(pattern, item[1])]
    assert found == [], OLD[pattern]


@pytest.mark.parametrize("pattern", EVERYWHERE)
def test_nor_where_developers_read(pattern: str) -> None:
    files = [one for room in ("src", "tests", "paper") for one in (prose.ROOT / room).rglob("*.py")]
    files += (prose.ROOT / "docs" / "theory").glob("*.md")
    quoting = {"test_prose.py", "test_situations.py"}
    found = [
        (str(file.relative_to(prose.ROOT)), one[0])
        for file in files
        if file.name not in quoting
        for one in re.finditer(pattern, re.sub(r"\n\s*(?:# )?", " ", file.read_text("utf-8")))
    ]
    assert len(files) > 500
    assert found == [], OLD[pattern]


@pytest.mark.parametrize(
    "text",
    [
        "mechanism=X is no mechanism",
        "leave --resume away to begin",
        "computed 65,013 output laws asked for",
        "it holds off any set of mass X",
        "the value X is none of 0 .. 3",
        "there is no such one",
        "the output law of X",
        "data, of which only sums are followed, used in X",
        "Pairs are held against the claim",
    ],
)
def test_words_of_old_are_found(text: str) -> None:
    assert any(re.search(pattern, text) for pattern in OLD)


def test_what_is_prose_of_a_page(tmp_path: Path) -> None:
    page = (
        "# A title\nOne `code here`. Two\ngoes on.\n\n```python\nx = 1. No\n```\n"
        "| a | table |\n\n* item **bold.** [a link](x.md), end\n\n    code = 4\n"
    )
    found = list(prose.paragraphs(page))
    assert [text for _, text in found] == [
        "A title",
        "One `code here`. Two goes on.",
        "item **bold.** [a link](x.md), end",
    ]
    assert [line for line, _ in found] == [1, 2, 10]
    said = [one for _, text in found for one in prose.sentences(text)]
    assert said == ["A title", "One X.", "Two goes on.", "item bold.", "[a link, end"]


def test_what_is_a_message_of_a_module(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""A docstring that nobody prints."""\n'
        "def f(x):\n"
        '    """Nor this one, which is long."""\n'
        '    name = "three words only"\n'
        '    query = "SELECT one two three FROM four"\n'
        '    raise ValueError(f"the value {x} is too "\n'
        '        "large here; give less")\n'
    )
    assert list(prose.literals(module)) == [(6, "the value X is too large here; give less")]
    command = tmp_path / "cli" / "module.py"
    command.parent.mkdir()
    command.write_text(module.read_text())
    assert (3, "Nor this one, which is long.") in prose.literals(command)
