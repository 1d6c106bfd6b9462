"""``if value in counts: counts[value] += 1``: keys that a loop does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.loops.key_tests import with_plain_loops
from liptest.verdicts import Decision
from tests.unit.written_programs import program

NAMES = ("A", "B", "C")
COLUMN = {"x": lt.Category(["A", "B", "C", "D"])}
TABLE = lt.Table(COLUMN, rows=(0, 300), relation="add_remove")

COUNTED = {
    "tested": "if x in counts:\n        counts[x] += 1",
    "skipped": "if x not in counts:\n        continue\n    counts[x] += 1",
    "with a number": "if x in counts and x != 'B':\n        counts[x] += 2 - 1",
}
END = "return {c: float(counts[c] + rng.laplace(0, 1)) for c in NAMES}"


def counting(loop: str, end: str = END, start: str = "counts = {c: 0 for c in NAMES}") -> Any:
    text = f"{start}\nfor x in data['x'].tolist():\n    {loop}\n{end}"
    return program(text, NAMES=NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_such_loops_are_followed(name: str) -> None:
    mechanism = lt.mechanism(counting(COUNTED[name]), frame="pandas")
    assert lt.check_privacy(mechanism, TABLE, epsilon=1).decision is Decision.YES
    assert lt.check_privacy(mechanism, TABLE, epsilon=0.9, seed=1).decision is Decision.NO


OTHERS = {
    "makes keys": ("if x not in counts:\n        counts[x] = 0\n    counts[x] += 1", ""),
    "another name makes keys": (
        "if x in counts:\n        counts[x] += 1\n    others[x] = 1",
        "others = counts\n",
    ),
    "another name is updated": (
        "if x in counts:\n        counts[x] += 1\n    others |= {x: 1}",
        "others = counts\n",
    ),
    "another entry is updated": (
        "if x in counts:\n        counts[x] += 1\n    box[0] |= {x: 1}",
        "box = [counts]\n",
    ),
    "a function makes keys": (
        "if x in counts:\n        counts[x] += 1\n    note(x)",
        "def note(x): counts.setdefault(x, 0)\n",
    ),
    "a generator makes keys": (
        "pass\nfor x in values:\n    if x in counts:\n        counts[x] += 1",
        "values = (counts.setdefault(v, 0) or v for v in data)\n",
    ),
    "a method that is kept": (
        "pass\nfor x in values:\n    if x in counts:\n        counts[x] += 1",
        "values = map(counts.setdefault, data, data)\n",
    ),
    "a second pass": (
        "pass\nfor _ in range(2):\n    for x in data:\n        if x in counts:\n"
        "            counts[x] += 1\n    counts['Z'] = 0",
        "",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_loops_that_may_make_keys_stay_as_they_are(name: str) -> None:
    loop, start = OTHERS[name]
    function = counting(loop, start="counts = {c: 0 for c in NAMES}\n" + start.rstrip("\n"))
    assert with_plain_loops(function) is function


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("kind", ["dict", "Counter", "defaultdict"])
def test_the_written_function_answers_the_same(name: str, kind: str) -> None:
    """Of dicts that make entries when they are asked, too."""
    start = {
        "dict": "counts = {c: 0 for c in NAMES}",
        "Counter": "counts = Counter({'A': 0})",
        "defaultdict": "counts = defaultdict(int, {'A': 0})",
    }[kind]
    from collections import Counter, defaultdict

    text = f"{start}\nfor x in data:\n    {COUNTED[name]}\nreturn dict(counts)"
    function = program(text, NAMES=NAMES, Counter=Counter, defaultdict=defaultdict)
    written = with_plain_loops(function)
    assert written is not function
    data = list(np.random.default_rng(0).choice(["A", "B", "C", "D"], size=50))
    assert written(data, None) == function(data, None)


EMPTY = {
    "sum": ("sum(v) if v else 0", Decision.YES),
    "float": ("float(np.sum(np.asarray(v, dtype=float))) if v else 0.0", Decision.YES),
    "length": ("sum(v) if len(v) > 0 else 0.0", Decision.YES),
    "another number": ("sum(v) if v else 1000.0", Decision.NO),
    "minus": ("sum(v) + 3 if v else 0.0", Decision.NO),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EMPTY)
def test_values_unless_there_are_none(name: str) -> None:
    written, expected = EMPTY[name]
    text = f"v = data['x'].tolist()\ntotal = {written}\nreturn total + rng.laplace(0, 1)"
    table = lt.Table({"x": lt.Real(0, 1)}, rows=(0, 100), relation="add_remove")
    verdict = lt.check_privacy(
        lt.mechanism(program(text), frame="pandas"), table, epsilon=1, seed=1
    )
    assert verdict.decision is expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop",
    [
        "sum([min(max(float(x), 0.0), 5.0) for x in v])",
        "sum(float(x) if x < 5 else 5.0 for x in v)",
    ],
)
def test_floats_of_real_entries(loop: str) -> None:
    text = f"v = data['x'].tolist()\nreturn float({loop} + rng.laplace(0, 5))"
    table = lt.Table({"x": lt.Real(0, 9)}, rows=(0, 100), relation="add_remove")
    mechanism = lt.mechanism(program(text), frame="pandas")
    assert lt.check_privacy(mechanism, table, epsilon=1).decision is Decision.YES
    assert lt.check_privacy(mechanism, table, epsilon=0.9, seed=1).decision is Decision.NO
