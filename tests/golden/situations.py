"""What a user reads in sixty situations: help texts, errors, reports; and in some more.

``python -m tests.golden.situations`` writes both files anew; the test compares. situations.txt is
for reading, in ten minutes: whoever changes words sees where they are read. Nobody has to read
more_situations.txt; its words are held to the same rules.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap

from liptest.cli import main
from liptest.cli.app import COMMANDS

FILE = Path(__file__).with_name("situations.txt")
MORE = Path(__file__).with_name("more_situations.txt")
LONGEST_SENTENCE = 35
FILES = {
    "mine.py": """
import time
import numpy as np
import liptest as lt

def count(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))

def small(data, rng):
    return float(data.sum() + rng.laplace(0, 0.9))

def leaks(data, rng):
    return int(data[0]) if rng.random() < 0.5 else 0

def flips(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)

def one_sided(data, rng):
    noise = 0
    while noise < 3 and rng.random() < 0.25:
        noise += 1
    return int(data.sum()) + noise

def histogram(data, rng):
    return np.bincount(data, minlength=3) + rng.laplace(0, 2.0, size=3)

def regions(people, rng):
    counts = people.groupby("region").size().reindex(["north", "south"], fill_value=0)
    return counts + rng.laplace(0, 2.0, size=2)

def loose_keys(people, rng):
    return people.groupby("region").size() + rng.laplace(0, 2.0)

def raises(data, rng):
    raise KeyError("always")

def endless(data, rng):
    while rng.random() < 0.5:
        pass
    return int(data[0])

def logged(data, rng):
    return float(np.log(data.sum() + 1) + rng.laplace(0, 1.0))

def opens(data, rng):
    return len(open("people.csv").read()) + int(rng.integers(2))

@lt.mechanism(max_choices=60)
def tail(data, rng):
    k = 0
    while rng.random() < 0.36787944117144233:
        k = k + 1
    sign = 1 if rng.random() < 0.5 else -1
    return int(data[0]) + sign * k

def clock(data, rng):
    return int(time.time()) % 2 + int(rng.integers(2))

def largest(answers, rng):
    return int(np.argmax([answer + rng.laplace(0, 1.0) for answer in answers]))

def draw(data, n, rng):
    return int(data.sum()) + rng.geometric(0.7, n) - rng.geometric(0.7, n)

def mean(points):
    return points.mean(axis=1)

def prints(data, rng):
    print(data.sum() + rng.laplace(0, 1.0))

NOT_ONE = 3
""",
    "people.csv": "age,region\n3,north\n50,south\n7,north\n",
    "public.csv": "click,item\n0,a\n1,b\n0,a\n1,a\n",
    "private.csv": "click\n0\n1\n1\n",
    "liptest.toml": '[domain]\nrecords = 3\n\n[[check]]\nmechanism = "mine.py:flips"\n'
    'epsilon = "log(3)"\n\n[[check]]\nmechanism = "mine.py:leaks"\nepsilon = 1\n',
    "typo.toml": '[[check]]\nmechanism = "mine.py:flips"\nepsylon = 1\n',
    "broken.toml": "[[check\n",
}
#: Commands, in the order in which they are run: some read what others wrote.
TYPED = (
    "",
    "--help",
    "check --help",
    # right
    "check mine.py:count --epsilon 1 --records 5000 --floats ideal",
    "check mine.py:regions --epsilon 1 --table people.csv --columns age:0..120,region "
    "--floats ideal",
    "check mine.py:flips --epsilon 'log(3)' --records 3 --json flips.json",
    "check mine.py:flips --epsilon 2 --records 3 --probabilities 0.1 --method neighbourhoods "
    "--exception-mass 0.1 --seed 1",
    # refuted
    "check mine.py:small --epsilon 1 --records 5000 --floats ideal",
    "check mine.py:leaks --epsilon 1 --records 3 --json leaks.json",
    "check mine.py:loose_keys --epsilon 1 --table people.csv --columns age:0..120,region "
    "--floats ideal",
    # neither, or broken
    "check mine.py:tail --epsilon 2 --records 1",
    "check mine.py:clock --epsilon 1 --records 3",
    "check mine.py:raises --epsilon 1 --records 3",
    "check mine.py:prints --epsilon 1 --records 3",
    # what is done with answers
    "verify flips.json",
    "verify leaks.json mine.py:flips",
    "law mine.py:flips --dataset 0,1",
    "init mine.py:count --epsilon 1 --records 5000 --output new.toml",
    "init mine.py:count --output blank.toml",
    "release mine.py:leaks --epsilon 1 --records 3 --private private.csv --in-process",
    "samples mine.py:draw --epsilon 0.1 --records 3 --samples 2000 --seed 1",
    # usage
    "chekc mine.py:count",
    "check mine.py:count --epsilom 1",
    "check mine.py:count --epsilon 1",
    "check mine.py:count --records 5000",
    "check mine.py:coumt --epsilon 1 --records 5",
    "check mine --epsilon 1 --records 5",
    "check none.py:count --epsilon 1 --records 5",
    "check mine.py:NOT_ONE --epsilon 1 --records 5",
    "check mine.py:draw --epsilon 1 --records 5",
    "check mine.py:count --epsilon 0 --records 5",
    "check mine.py:count --epsilon much --records 5",
    "check mine.py:count --epsilon 1 --delta 1 --records 5",
    "check mine.py:count --epsilon 1 --records none",
    "check mine.py:count --epsilon 1 --values 8",
    "check mine.py:count --epsilon 1 --records 5 --method guess",
    "check mine.py:regions --epsilon 1 --table people.csv --columns age:0..40,region",
    "check mine.py:regions --epsilon 1 --table people.csv --columns age,region:north",
    "check mine.py:regions --epsilon 1 --columns age:0..40,region",
    "check mine.py:count --epsilon 1 --records 5 --uniform --probabilities 0.1",
    "check mine.py:count --epsilon 1 --records 5 --table public.csv --column clack",
    "check mine.py:count --epsilon 1 --rho 1 --records 5",
    "check mine.py:count --epsilon 1 --records 5 --config liptest.toml",
    "check --config typo.toml",
    "check --config broken.toml",
    "check --config none.toml",
    "check --epsilon 1",
    "release mine.py:count --epsilon 1 --records 3",
    "release mine.py:flips --epsilon 1 --records 3 --private none.csv",
    "law mine.py:count",
    "verify people.csv",
    "verify",
    "ledger show none.db",
    "lipschitz mine.py:mean",
)
#: Those of the other file, after them.
TYPED_MORE = (
    *(f"{name} --help" for name in COMMANDS if name != "check"),
    "check",
    "check mine.py:histogram --epsilon 1 --records 100 --values 3 --floats ideal",
    "check mine.py:flips --rho 1 --records 3",
    "check mine.py:one_sided --epsilon 1 --records 20",
    "check mine.py:flips --epsilon 1 --records 3 --ledger ledger.db --vendor acme",
    "check mine.py:flips --mu 0.1 --records 3",
    "check mine.py:largest --epsilon 1 --domain answers --relation all --records 3 --floats ideal",
    "check mine.py:logged --epsilon 1 --records 100 --floats ideal",
    "check mine.py:opens --epsilon 1 --records 3",
    "verify flips.json mine.py:flips",
    "verify leaks.json mine.py:leaks",
    "ledger show ledger.db",
)
_HEADING = re.compile(r"([A-Z][A-Za-z ]+): ")
# Headings of lists, of which each line is another.
_LISTS = ("Checked", "Wrong")
_BEGINS = "What is printed after each command; in brackets the exit code."


def transcripts() -> Iterator[str]:
    """Both files: situations one after the other, without what differs between machines."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for file, text in FILES.items():
            Path(file).write_text(text)
        for commands in (TYPED, TYPED_MORE):
            parts = [_situation(typed, Path(name)) for typed in commands]
            yield Once().of("\n".join([_BEGINS, "", *parts]))


@dataclass
class Once:
    """A text in which what stood above, word for word, is named and not repeated.

    These are options in the boxes of help, and paragraphs with a heading, such as "Meaning: ..".
    An example is named where it is the last one again.
    """

    seen: set[str] = field(default_factory=set)
    example: str = ""

    def of(self, text: str) -> str:
        """The text, shortened."""
        lines: list[str] = []
        for block in _blocks(text.splitlines()):
            above = self._as_above(block)
            if above and lines[-1].startswith("As above: "):
                lines[-1] = f"{lines[-1][:-1]}, {above}."
            elif above:
                lines.append(f"As above: {above}.")
            else:
                lines += self._of_box(block) if block[0].startswith("╭") else block
        return "\n".join(lines) + "\n"

    def _as_above(self, block: list[str]) -> str:
        """The heading of what stood above; "" of anything else."""
        if block[0].startswith("╭"):
            entries = [self._key(block, entry) for entry in _entries(block[1:-1])]
            return _title(block) if self.seen.issuperset(entries) else ""
        if (heading := _HEADING.match(block[0])) is None or heading[1] in _LISTS:
            return ""
        words = _words(block)
        is_above = words == self.example if heading[1] == "Example" else words in self.seen
        self.seen.add(words)
        if heading[1] == "Example":
            self.example = words
        return heading[1] if is_above else ""

    @staticmethod
    def _key(box: list[str], entry: list[str]) -> str:
        return _title(box) + _words(entry)

    def _of_box(self, box: list[str]) -> list[str]:
        names, kept = [], []
        for entry in _entries(box[1:-1]):
            key = self._key(box, entry)
            if key in self.seen:
                names.append(entry[0].strip("│ *").split()[0])
            else:
                kept += entry
            self.seen.add(key)
        above = [f"│ As above: {', '.join(names)}."] if names else []
        told = wrap(above[0], 78, subsequent_indent="│ ") if above else []
        return [box[0], *kept, *(f"{line:79}│" for line in told), box[-1]]


def _title(box: list[str]) -> str:
    return box[0].strip("╭─╮ ")


def _words(lines: list[str]) -> str:
    return " ".join(" ".join(line.strip("│") for line in lines).split())


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Boxes, paragraphs that begin with a heading, and all other lines one by one."""
    block: list[str] = []
    for line in lines:
        within = block and (
            not block[-1].startswith("╰")
            if block[0].startswith("╭")
            else _HEADING.match(block[0]) and line and not re.match(r"[A-Z][A-Za-z ]+: |\[\d", line)
        )
        if block and not within:
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _entries(lines: list[str]) -> Iterator[list[str]]:
    """The entries of a box: each begins beside its left edge."""
    entry: list[str] = []
    for line in lines:
        if entry and re.match(r"│ (\*  |   )?(--|[A-Za-z])", line):
            yield entry
            entry = []
        entry.append(line)
    if entry:
        yield entry


def _situation(typed: str, folder: Path) -> str:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(shlex.split(typed))
    said = out.getvalue().rstrip() + "\n" + err.getvalue().rstrip()
    lines = [line.rstrip() for line in said.strip("\n").splitlines()]
    text = "\n".join(lines).replace(str(folder.resolve()), "/here").replace(str(folder), "/here")
    for pattern, put in _DIFFERS:
        text = re.sub(pattern, put, text)
    return f"$ liptest {typed}".rstrip() + f"\n{text}\n[{code}]\n"


_DIFFERS = (
    (r"NumPy \d[\w.]* on \w+ \w+", "NumPy VERSION on MACHINE"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"\b[0-9a-f]{32,64}\b", "HASH"),
    # Progress, which is told of runs that take a second.
    (r"(?m)^mine:\w+: [\d,]+ of [\d,]+\n", ""),
    (r"about \d+ h left", "about HOURS left"),
)


def sentences(text: str) -> Iterator[str]:
    """Sentences of prose; commands, tables and numbers are none."""
    for situation in re.split(r"^\$ liptest.*$", text, flags=re.MULTILINE):
        entries: list[str] = []
        for line in situation.splitlines():
            if line.startswith(("Example: ", "liptest ", "[", "Usage: ", "╭", "╰")):
                entries.append("")
                continue
            bare = line.strip("│ ")
            begins = line.startswith(("│ --", "  ")) or re.match(r"│ [A-Z]", line) or not bare
            if begins or not entries:
                entries.append(re.sub(r"^(?:--\S+ ?)+(?:[A-Z]+ )?", "", bare))
            else:
                entries[-1] += " " + bare
        for entry in entries:
            yield from re.split(r"(?<=[.;:!?])\s+", entry)


def write() -> None:
    """Write the files anew, on a terminal of 80 columns without colours."""
    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "LIPTEST_IN_PROCESS": "1"}
    for file, text in zip((FILE, MORE), transcripts(), strict=True):
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
