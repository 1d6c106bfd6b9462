"""Every command that a sentence of a message suggests is run.

The sentences are the texts of the source, doc strings left out. A command of each is written below
as a reader would type it, with its files; a new one without an entry fails here.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import liptest
from liptest.cli import main
from liptest.cli.app import COMMANDS

SOURCE = Path(liptest.__file__).parent
_COMMAND = re.compile(rf"(?<![\w./'\[-])liptest ((?:{'|'.join(COMMANDS)}|\{{\}})\b[^;,()`\n]*)")
#: What follows the command in its sentence.
_WORDS = (" checks with the public key.", " makes one", " changes that", " composes them all")
#: As it is said, and as it is typed; a list of several in order.
TYPED = {
    "verify": ["verify no.json mine.py:flips"],
    "check": ["check"],
    "check --config liptest.toml": ["check --config liptest.toml"],
    "check --help": ["check --help"],
    "doctor": ["doctor"],
    "demo clicks": [],  # tests/unit/cli/test_demo.py
    "init": ["init mine.py:flips --epsilon 1 --records 3 --output new.toml"],
    "init file.py:name": ["init mine.py:flips --force"],
    "check {}": ["check mine.py:flips --epsilon 1 --records 3"],
    "check {} --epsilon 1 {}": [
        "check mine.py:rows --epsilon 1 --table people.csv --columns 'age:0..120,region'"
    ],
    "init {}": ["init mine.py:flips --force --output other.toml"],
    "check{}": ["check --config liptest.toml"],
    "init {} {}": ["init mine.py:flips --epsilon 1 --records 5000 --output more.toml"],
    "init {} --epsilon 1{}": ["init mine.py:flips --epsilon 1 --records 5000 --output more.toml"],
    "release": ["release mine.py:right --epsilon 2 --records 3 --private private.csv --in-process"],
    "law": ["law mine.py:flips --ones 1 --records 3"],
    "law {} --dataset 0": ["law mine.py:flips --dataset 0,1,1"],
    "samples": ["samples mine.py:draw --epsilon 1 --records 3 --probabilities 0.5 --samples 2000"],
    "samples {}": [
        "samples mine.py:draw --epsilon 1 --records 3 --probabilities 0.5 --samples 2000"
    ],
    "samples {} --epsilon 1 --records 10 --probabilities 0.5": [
        "samples mine.py:draw --epsilon 1 --records 10 --probabilities 0.5"
    ],
    "samples {}{} --epsilon 1 --records 10 --probabilities 0.5": [
        "samples mine.py:draw --epsilon 1 --records 10 --probabilities 0.5"
    ],
    # Of objects of diffprivlib: tests/golden/test_adapters_diffprivlib.py
    "samples mine.py:draw --scalar --epsilon 1 --records 10 --uniform": [],
    "check {} {} --domain hypergrid --sizes 10": [],
    "ledger verify": ["ledger verify ledger.db"],
    "ledger verify --head HASH": ["ledger verify ledger.db --head {head}"],
    "ledger people": ["ledger people ledger.db visitors private.csv --epsilon 3 --delta 1e-6"],
    "ledger cost": ["ledger cost ledger.db private.csv --delta 1e-6"],
    "sign": [],  # tests/unit/cli/test_examples_of_help.py
    "serve": [],  # tests/unit/service
    "serve --demo --allow-unconfined": [],  # tests/unit/service
    "service account": [],  # tests/unit/service
    "{} --help": [f"{name} --help" for name in COMMANDS],
    "{} {} {} {}{}": [],  # the examples of errors: tests/golden/test_situations.py
    "{}": [],  # told by the page of a command, which is tested there
}


def said() -> Iterator[tuple[str, str]]:
    """(place, command) for each command that a text of the source has."""
    for file in sorted(SOURCE.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        for line, text in _texts(ast.parse(source)) if "liptest " in source else ():
            for found in _COMMAND.findall(text):
                for end in _WORDS:
                    found = found.removesuffix(end)
                found = found.partition(" needs ")[0]
                yield f"{file.relative_to(SOURCE)}:{line}", found.partition("   ")[0].strip(" .:?")


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts of a file without its doc strings; what is put into one is {}."""
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            inside.add(node.value)
        if isinstance(node, ast.JoinedStr):
            inside |= {*ast.walk(node)} - {node}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [
                str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values
            ]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.lineno, node.value


def test_each_is_known_here() -> None:
    found = {command: place for place, command in said()}
    assert len(found) >= 15
    unknown = {command: place for command, place in found.items() if command not in TYPED}
    assert unknown == {}, "write how it is typed into TYPED"


FILES = {
    "mine.py": """
def flips(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)

def right(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)

def rows(frame, rng):
    return frame["age"].clip(18, 90).sum() + rng.laplace(0, 90)

def draw(data, n, rng):
    return data[0] ^ (rng.random(n) < 0.25)
""",
    "people.csv": "age,region\n20,north\n71,south\n44,north\n",
    "private.csv": "click\n0\n1\n1\n",
    "liptest.toml": "[domain]\nrecords = 3\n\n"
    '[[check]]\nmechanism = "mine.py:flips"\nepsilon = 2\n',
}


@pytest.mark.slow
@pytest.mark.parametrize("typed", sorted({one for every in TYPED.values() for one in every}))
def test_it_runs(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    claim = "mine.py:flips --epsilon 1 --records 3 --json no.json --ledger ledger.db --vendor acme"
    main(shlex.split(f"check {claim}"))
    capsys.readouterr()
    if "{head}" in typed:
        main(["ledger", "verify", "ledger.db"])
        [head] = re.findall(r"\b[0-9a-f]{64}\b", capsys.readouterr().out)
        typed = typed.replace("{head}", head)
    code = main(shlex.split(typed))
    told = capsys.readouterr()
    assert code in (0, 1, 3), told.out + told.err
    assert "error:" not in told.err
