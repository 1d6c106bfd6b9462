"""Parsing in several threads: an error that is Python's own is not the program's."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from liptest.enumerate.intercept.parsing import parse_text

MISMATCH = SystemError("AST constructor recursion depth mismatch (before=60, after=56)")


def failing(times: int) -> Any:
    original, left = ast.parse, [MISMATCH] * times

    def parse(text: str) -> ast.AST:
        if left:
            raise left.pop()
        return original(text)

    return parse


def test_a_parse_that_another_thread_broke_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast, "parse", failing(3))
    assert ast.dump(parse_text("x = 1")) == ast.dump(ast.parse("x = 1"))


def test_one_that_never_succeeds_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast, "parse", failing(1000))
    with pytest.raises(SystemError, match="mismatch"):
        parse_text("x = 1")


def test_other_errors_are_those_of_the_parser() -> None:
    with pytest.raises(SyntaxError):
        parse_text("x = = 1")
