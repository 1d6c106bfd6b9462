"""What code reads of outside may change between its calls: no law that is known is used then."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.syntax.outside_names import exactly
from tests.unit.written_programs import program

_DRAW = """def draw(g):
    x = g.integers(4)
    while x < t:
        x = g.integers(4)
    return int(x)"""
_HALVES = """def low(g):
    x = g.integers(4)
    while x > 1:
        x = g.integers(4)
    return int(x)
def high(g):
    x = g.integers(4)
    while x < 2:
        x = g.integers(4)
    return int(x)
pick = low
def helper():
    return pick(rng)
"""
CHANGING = {
    "a cell": ("t = 0\n" + _DRAW + "\na = draw(rng)\nt = 2\nreturn a, draw(rng)", 4),
    "a global": (
        "global t\nt = 0\n" + _DRAW + "\na = draw(rng)\nt = 2\nb = draw(rng)\nt = 0\nreturn a, b",
        4,
    ),
    "a function": (_HALVES + "a = helper()\npick = high\nreturn a, helper()", 2),
    "a function within a call": (
        _HALVES + "def switch():\n    nonlocal pick\n    pick = high\n"
        "def both():\n    a = pick(rng)\n    switch()\n    return a, pick(rng)\nreturn both()",
        2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGING)
def test_laws_are_of_what_is_there_at_the_time(name: str) -> None:
    text, first = CHANGING[name]
    law = lt.mechanism(program(text), max_leaves=300).law(np.array([0]))
    assert law.fractions is not None
    assert law.unexplored == 0
    masses = dict(zip(law.outputs, law.fractions, strict=True))
    assert masses == {(a, b): Fraction(1, 2 * first) for a in range(first) for b in (2, 3)}


def test_values_that_code_tells_apart_are_not_exactly_alike() -> None:
    values = (0, 0.0, -0.0, False, 1, 1.0, True, "0", (0,), (0.0,), (-0.0,), (False,), np.int64(0))
    assert len({exactly(value) for value in values}) == len(values)
