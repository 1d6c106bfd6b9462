"""What is printed in some sixty situations is what situations.txt holds; more in another file."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from liptest.cli import main
from tests.golden import situations

# Files of which a suggestion says the name alone.
MADE_UP = {
    "private.csv": "click\n" + "0\n1\n" * 2500,
    "vendor.py": "def draw(data, n, rng):\n    return data[0] ^ (rng.random(n) < 0.25)\n\n"
    "def count(data, rng):\n    return int(data[0]) ^ int(rng.random() < 0.25)\n",
    "query.py": "def mean(points):\n    return points.mean(axis=1)\n",
}
ROOT = Path(__file__).parents[2]
ANEW = "python -m tests.golden.situations writes the files anew; read what changed"
#: What a reviewer reads in ten minutes; and that with all other situations.
TO_READ = situations.FILE.read_text(encoding="utf-8")
TEXT = TO_READ + situations.MORE.read_text(encoding="utf-8")
MOST_WORDS = 2950


def test_there_are_about_sixty_to_read_in_ten_minutes():
    typed = [*situations.TYPED, *situations.TYPED_MORE]
    assert len(typed) == len(set(typed)) > 80
    assert 50 <= len(situations.TYPED) <= 60
    # What is typed is known to who reads, as are the edges of boxes.
    assert len(re.sub(r"(?m)^\$ .*$|[╭╮╰╯─│]", "", TO_READ).split()) <= MOST_WORDS


def test_usage_errors_end_with_an_example():
    for situation in re.split(r"^(?=\$ )", TEXT, flags=re.MULTILINE):
        if situation.endswith("[2]\n\n"):
            assert re.search(r"^(Example: liptest |As above: Example)", situation, re.MULTILINE)


def test_sentences_are_short():
    found = list(situations.sentences(TEXT))
    assert len(found) > 300
    long = [one for one in found if len(one.split()) > situations.LONGEST_SENTENCE]
    assert long == []


@pytest.mark.parametrize(
    ("text", "longest"),
    [("One two. Three four five: six", 3), ("$ liptest x y z\nExample: liptest a b c d\none", 1)],
)
def test_sentences_are_counted(text, longest):
    assert max(len(one.split()) for one in situations.sentences(text)) == longest


def test_nothing_is_written_twice():
    box = "╭─ {} ─╮\n│ --seed INT  Seed of all draws.    │\n│ {}  Other. │\n╰───╯"
    words = "Meaning: " + "word " * 20 + "\nand more.\n[0]"
    text = "\n".join([box.format("Running", "--a"), words, box.format("Running", "--b"), words])
    once = situations.Once().of(text)
    assert once.count("Seed of all draws") == once.count("and more.") == 1
    assert "As above: --seed." in once
    assert "--a" in once
    assert "--b" in once
    assert "As above: Meaning.\n[0]" in once


def test_another_box_or_another_word_is_not_a_repetition():
    box = "╭─ {} ─╮\n│ --seed INT  {} │\n╰───╯"
    text = "\n".join(box.format(*said) for said in [("A", "x"), ("B", "x"), ("A", "y")])
    assert situations.Once().of(text) == text + "\n"


# Words that one thing had in the code, or other words for what has one (docs/design.md).
_NOT_SAID = (
    *("Duck", "settled", "stand-in", "as_born", "honesty", "telling event", "exchangeables"),
    *("leave away", "asked_for", "left away", "output laws asked", "crew", "parcel", "light set"),
    *("Hypergrid", "RecordGrid", "AnswerGrid"),
)


@pytest.mark.parametrize("word", _NOT_SAID)
def test_words_of_the_workshop_are_not_said(word):
    text = " ".join(TEXT.split())
    assert not re.search(rf"\b{re.escape(word)}\b", text)


def test_vocabulary():
    """One word for one thing; what stopped readers is not said any more."""
    text = " ".join(TEXT.split())
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


#: What a reader copies out of the answers: an error's example, the command that goes on.
_SUGGESTION = r"^(?:Example: )?(liptest (?:check|release|law|verify|lipschitz|samples|init) .*)$"
# The help of a command wraps its examples; tests/unit/cli/test_examples_of_help.py runs them.
_ANSWERS = re.sub(r"(?ms)^\$ liptest[^\n]*--help\n.*?^\[\d", "[", TEXT)
SUGGESTED = sorted(set(re.findall(_SUGGESTION, _ANSWERS, re.MULTILINE)))


def test_there_are_suggestions():
    assert len(SUGGESTED) >= 10
    assert not [one for one in SUGGESTED if "NOT_ONE" in one]


@pytest.mark.slow
@pytest.mark.parametrize("command", SUGGESTED)
def test_a_suggested_command_runs(command, tmp_path, monkeypatch, capsys):
    for file, text in {**situations.FILES, **MADE_UP}.items():
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    main(["check", "vendor.py:count", "--epsilon", "2", "--records", "3", "--json", "vendor.json"])
    capsys.readouterr()
    code = main(shlex.split(command)[1:])
    said = capsys.readouterr()
    assert code in (0, 1, 3), said.out + said.err
    assert "Example:" not in said.err


@pytest.mark.slow  # eighty commands
def test_it_is_what_is_printed(tmp_path):
    made = [tmp_path / "situations.txt", tmp_path / "more_situations.txt"]
    program = (
        "import pathlib, sys; from tests.golden import situations as s; "
        "s.FILE, s.MORE = map(pathlib.Path, sys.argv[1:]); s.write()"
    )
    subprocess.run([sys.executable, "-c", program, *map(str, made)], cwd=ROOT, check=True)
    assert "".join(file.read_text("utf-8") for file in made) == TEXT, ANEW
