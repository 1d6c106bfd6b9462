"""What is printed in some sixty situations is what situations.txt holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import situations

ROOT = Path(__file__).parents[2]
ANEW = "python -m tests.golden.situations writes the file anew; read what changed"


def test_there_are_about_sixty():
    assert len(situations.TYPED) == len(set(situations.TYPED)) >= 60


def test_sentences_are_short():
    found = list(situations.sentences(situations.FILE.read_text(encoding="utf-8")))
    assert len(found) > 400
    long = [one for one in found if len(one.split()) > situations.LONGEST_SENTENCE]
    assert long == []


@pytest.mark.parametrize(
    ("text", "longest"),
    [("One two. Three four five: six", 3), ("$ liptest x y z\nExample: liptest a b c d\none", 1)],
)
def test_sentences_are_counted(text, longest):
    assert max(len(one.split()) for one in situations.sentences(text)) == longest


def test_vocabulary():
    """One word for one thing; what stopped readers is not said any more."""
    text = " ".join(situations.FILE.read_text(encoding="utf-8").split())
    for words in (
        "off no lighter set",
        "laws asked for",
        "that any of them was",
        "the outputs that tell,",
        "is no mechanism",
        "[default: False]",
        "[default: None]",
        "Unused Tokens",
    ):
        assert words not in text


@pytest.mark.slow  # sixty commands
def test_it_is_what_is_printed(tmp_path):
    made = tmp_path / "situations.txt"
    program = (
        "import pathlib, sys; from tests.golden import situations as s; "
        "s.FILE = pathlib.Path(sys.argv[1]); s.write()"
    )
    subprocess.run([sys.executable, "-c", program, str(made)], cwd=ROOT, check=True)
    assert made.read_text("utf-8") == situations.FILE.read_text("utf-8"), ANEW
