"""Where a function does not treat its records one by one, its parts are not run again."""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

import pytest

import liptest as lt
from liptest.enumerate import python_function
from liptest.enumerate.records.refused_places import (
    find_expressions,
    find_place_in,
    is_evaluated,
)
from liptest.verdicts import Decision
from tests.unit.written_programs import program


def parse(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def refused(text: str, part: str) -> set[Any]:
    [node] = [
        node for node in ast.walk(ast.parse(text)) if ast.get_source_segment(text, node) == part
    ][:1]
    assert isinstance(node, ast.expr)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    return find_expressions(parse(text), place)


def test_the_same_expression_at_the_same_place_is_evaluated() -> None:
    places = refused("x = data.sum() + 1", "data.sum()")
    assert is_evaluated(parse("x = data.sum() + 1\nreturn_ = x"), places)
    assert is_evaluated(parse("x = data.sum()"), places)
    assert not is_evaluated(parse("x = data.max() + 1"), places)
    assert not is_evaluated(parse("y = 1\nx = data.sum() + 1"), places)


@pytest.mark.parametrize(
    "text",
    ["for v in data: x = data.sum()", "x = [data.sum() for v in data]", "f = lambda: data.sum()"],
)
def test_what_may_be_evaluated_often_or_never_is_not_known(text: str) -> None:
    assert not refused(text, "data.sum()")


def test_a_place_is_that_of_the_functions_own_call() -> None:
    places: list[Any] = []

    def note() -> None:
        frame: FrameType | None = sys._getframe()
        places.append(find_place_in(frame, outer.__code__))

    def inner() -> None:
        note()

    def outer() -> None:
        inner()

    outer()
    [(first, last, start, end)] = places
    assert first == last == outer.__code__.co_firstlineno + 1
    assert end - start == len("inner()")


def count_analyses(monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[int, Decision]:
    """How often the program is looked through in one check."""
    begun: list[int] = []
    own = python_function.intercept_randomness

    def counting(*arguments: Any, **options: Any) -> Any:
        begun.append(1)
        return own(*arguments, **options)

    monkeypatch.setattr(python_function, "intercept_randomness", counting)
    claim: Any = {"epsilon": 1.0, "floats": "ideal", "seed": 1}
    verdict = lt.check_privacy(program(text), lt.Hypercube(50), **claim)
    return len(begun), verdict.decision


def test_a_sum_is_looked_at_once_as_records(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = data.sum()\nnoisy = x + rng.laplace(0, 1)\nreturn max(0, noisy)"
    count, decision = count_analyses(monkeypatch, text)
    assert decision is Decision.YES
    assert count <= 4
