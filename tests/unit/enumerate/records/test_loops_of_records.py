"""Draws that are made again for each record: the law of one record has the rules of loops."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.records.by_records import RowFunction
from liptest.errors import LiptestError
from tests.unit.written_programs import program

COUNT = 5_000

# Randomised response: the value with probability p, else another one, each as likely.
AGAIN = {
    "called for each record": """def one(v):
    if rng.random() < {p}:
        return v
    x = rng.integers(0, {k})
    while x == v:
        x = rng.integers(0, {k})
    return x
return [one(v) for v in data]""",
    "given the generator": """def one(v, rng):
    if rng.random() < {p}:
        return int(v)
    x = int(rng.integers({k}))
    while x == v:
        x = int(rng.integers({k}))
    return x
return [one(v, rng) for v in data]""",
    "in a loop": """out = []
for v in data:
    if rng.random() < {p}:
        out.append(v)
    else:
        x = rng.integers(0, {k})
        while x == v:
            x = rng.integers(0, {k})
        out.append(x)
return np.array(out)""",
    "left by break": """out = []
for v in data:
    x = v
    if rng.random() >= {p}:
        while True:
            x = rng.integers({k})
            if x != v:
                break
    out.append(int(x))
return out""",
}


def _law(made: Any, value: int, count: int = COUNT) -> dict[Any, Fraction]:
    function = lt.mechanism(made, max_leaves=5_000)
    mechanism = function.of_one_record(np.zeros(count, dtype=np.int64))
    assert mechanism is not None
    law = mechanism.fresh_law(np.array([value]))
    assert law.fractions is not None
    assert law.unexplored == 0
    return {int(one): mass for one, mass in zip(law.outputs, law.fractions, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("spelling", AGAIN)
@pytest.mark.parametrize(("kinds", "kept"), [(3, "0.5"), (4, "0.25"), (7, "0.625")])
def test_the_law_is_that_of_randomised_response(spelling: str, kinds: int, kept: str) -> None:
    made = program(AGAIN[spelling].format(k=kinds, p=kept))
    keeping = Fraction(kept)
    for value in (0, kinds - 1):
        law = _law(made, value)
        assert law.pop(value) == keeping
        assert law == {
            other: (1 - keeping) / (kinds - 1) for other in range(kinds) if other != value
        }


@pytest.mark.slow
@pytest.mark.parametrize("spelling", AGAIN)
def test_the_claim_holds_exactly_for_any_number_of_records(spelling: str) -> None:
    made = program(AGAIN[spelling].format(k=4, p="0.5"))
    domain = lt.RecordGrid([4] * 500)
    right = lt.check_privacy(made, domain, epsilon=math.log(3) + 1e-9)
    assert right.decision == "YES", str(right)
    assert "start over" in str(right)
    wrong = lt.check_privacy(made, domain, epsilon=math.log(3) - 1e-6)
    assert wrong.decision == "NO", str(wrong)


def test_code_is_rewritten_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[RowFunction] = []
    renewed = RowFunction.with_rewritten

    def noted(self: RowFunction, rewrite: Any) -> RowFunction:
        made.append(renewed(self, rewrite))
        return made[-1]

    monkeypatch.setattr(RowFunction, "with_rewritten", noted)
    _law(program(AGAIN["in a loop"].format(k=3, p="0.5")), 0)
    # Two only count loops and are never run; the third is run for all branches of the law.
    assert [len(one.rewriting._made) for one in made if one.rewriting] == [0, 0, 1]


class _Open(Exception):
    """A run that is not walked to its end."""


class _Replay:
    """Gives numbers along a path, and notes how many there were to choose from."""

    def __init__(self, path: list[int]) -> None:
        self.path, self.counts = path, list[int]()

    def integers(self, low: int, high: int | None = None) -> int:
        first, end = (0, low) if high is None else (low, high)
        self.counts.append(end - first)
        if math.prod(self.counts) > 3**8:
            raise _Open
        if len(self.counts) > len(self.path):
            self.path.append(0)
        return first + self.path[len(self.counts) - 1]


def _brute(made: Any, data: list[int]) -> tuple[dict[Any, Fraction], Fraction]:
    """Lower bounds of a law, from the program as it is written, and what is left open."""
    masses: dict[Any, Fraction] = {}
    path: list[int] = []
    while True:
        rng = _Replay(path)
        with suppress(_Open):
            told = made(np.array(data), rng)
            output = tuple(map(int, told))
            masses[output] = masses.get(output, Fraction(0)) + Fraction(1, math.prod(rng.counts))
        del path[len(rng.counts) :]
        while path and path[-1] + 1 == rng.counts[len(path) - 1]:
            path.pop()
        if not path:
            return masses, 1 - sum(masses.values())
        path[-1] += 1


_ALIKE = {
    "some tries": """def one(v):
    x = rng.integers(0, 2)
    tries = 0
    while x != v and tries < 2:
        tries += 1
        x = rng.integers(0, 2)
    return x
return [one(v) for v in data]""",
    "a guard of one value": """out = []
for v in data:
    x = rng.integers(3)
    if v == 1:
        while x == 0:
            x = rng.integers(3)
    out.append(x)
return out""",
    "two loops": """out = []
for v in data:
    x = rng.integers(3)
    while x == v:
        x = rng.integers(3)
    y = rng.integers(2)
    while y > x:
        y = rng.integers(2)
    out.append(2 * x + y)
return out""",
    "a loop in a loop": """out = []
for v in data:
    while True:
        x = rng.integers(3)
        while x == v:
            x = rng.integers(3)
        if rng.integers(3) <= x:
            break
    out.append(x)
return out""",
    "a function of a function": """def other(v):
    x = rng.integers(3)
    while x == v:
        x = rng.integers(3)
    return x
def one(v):
    return v if rng.integers(2) else other(v)
return [one(v) for v in data]""",
}
_OTHERS = {
    "a name that the record before left": """x, out = 0, []
for v in data:
    while x == v:
        x = rng.integers(3)
    out.append(x)
return out""",
    "several entries of a record": """out = []
for v in data:
    x = v
    while x == v:
        x = rng.integers(3)
        out.append(x)
return out""",
    "a list that records share": """seen, out = [], []
for v in data:
    x = rng.integers(3)
    while x in seen:
        x = rng.integers(3)
    seen.append(x)
    out.append(x)
return out""",
    "a list in a default": """def one(v, seen=[]):
    x = rng.integers(3)
    while x == v and len(seen) % 2:
        x = rng.integers(3)
    seen.append(x)
    return x
return [one(v) for v in data]""",
    "a cell that a record changes": """t = 0
def one(v):
    nonlocal t
    x = rng.integers(3)
    while x == t:
        x = rng.integers(3)
    t = v
    return x
return [one(v) for v in data]""",
    "an object with a state": """class One:
    t = 0
    def of(self, v):
        x = rng.integers(3)
        while x == self.t:
            x = rng.integers(3)
        self.t = v
        return x
one = One()
return [one.of(v) for v in data]""",
    "a generator in a default": """def one(v, g=rng):
    x = g.integers(3)
    while x == v:
        x = g.integers(3)
    return x
return [one(v) for v in data]""",
    "a number that records share": """t, out = rng.integers(3), []
for v in data:
    x = rng.integers(3)
    while x == t:
        x = rng.integers(3)
    out.append(x)
return out""",
    "else": """out = []
for v in data:
    x = rng.integers(3)
    while x == v:
        x = rng.integers(3)
    else:
        x = 2 - x
    out.append(x)
return out""",
    "an exception": """out = []
for v in data:
    x = v
    while x == v:
        try:
            x = (0, 1)[rng.integers(3)]
        except IndexError:
            x = v
    out.append(x)
return out""",
    "functions that are made in a loop": """out, fs = [], []
for t in (0, 1):
    def one(v):
        x = rng.integers(3)
        while x == t:
            x = rng.integers(3)
        return x
    fs.append(one)
return [fs[0](v) for v in data]""",
    "a call of itself": """def one(v):
    x = rng.integers(3)
    return one(v) if x == v else x
return [one(v) for v in data]""",
    "a loop around all records": """while True:
    out = [rng.integers(3) for v in data]
    if rng.integers(2):
        return out""",
    "another generator": """g = np.random.default_rng()
out = []
for v in data:
    x = rng.integers(3)
    while x == v and rng.integers(2):
        x = rng.integers(3)
    out.append(x)
return out""",
}


def _laws_of_one(made: Any, count: int, kinds: int) -> list[dict[Any, Fraction]] | None:
    """The laws of one record among so many; None where records are not seen to be alike."""
    try:
        return [_law(made, value, count) for value in range(kinds)]
    except LiptestError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("name", [*_ALIKE, *_OTHERS])
def test_laws_are_those_of_the_program_itself(name: str) -> None:
    kinds = 2 if name == "some tries" else 3
    made = program((_ALIKE | _OTHERS)[name])
    for count in (1, 2):
        laws = _laws_of_one(made, count, kinds)
        assert name in _OTHERS or laws is not None
        for data in product(range(kinds), repeat=count) if laws else ():
            masses, rest = _brute(made, list(data))
            assert rest < Fraction(3 * count, 10)
            of_all = {
                outputs: math.prod(laws[v][y] for v, y in zip(data, outputs, strict=True))
                for outputs in product(*(laws[v] for v in data))
            }
            assert sum(of_all.values()) == 1
            for output in masses.keys() | of_all:
                known = masses.get(output, Fraction(0))
                assert known <= of_all.get(output, 0) <= known + rest, (data, output)
