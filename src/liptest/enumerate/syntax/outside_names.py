"""Names that code reads of outside, and what they stood for when the code was looked at.

``t = 0; a = draw(rng); t = 2; b = draw(rng)``, where draw() reads t: a law that is known for t = 0
says nothing of t = 2. And a function that was seen to calculate only may be another one later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import is_others
from liptest.enumerate.syntax.pure_code import NotPure, find_constant, find_original, is_plain
from liptest.enumerate.syntax.source import FunctionSource, read_source

_ATOMS = (int, float, bool, str, type(None), Fraction, np.int64, np.float64, np.bool_)


def is_atom(value: Any) -> bool:
    """Whether a value is a number, a text, or a tuple of them."""
    if type(value) is tuple:
        return all(map(is_atom, value))
    return type(value) in _ATOMS


def exactly(value: Any) -> tuple[Any, ...]:
    """Equal for numbers, text and tuples of them that no code tells apart: 0.0 is not -0.0."""
    if type(value) is tuple:
        return tuple(map(exactly, value))
    return type(value), value, str(value) if value == 0 else ""


class OutsideNames:
    """What code reads of outside, with the functions of the program that it calls by name."""

    def __init__(self, source: FunctionSource, nodes: Iterable[ast.AST]) -> None:
        self._read: list[tuple[FunctionSource, ast.expr, Any]] = []
        self._seen: set[Any] = {source.function}
        self._look(source, nodes)

    def _look(self, source: FunctionSource, nodes: Iterable[ast.AST]) -> None:
        for node in (part for each in nodes for part in ast.walk(each)):
            if not isinstance(node, (ast.Name, ast.Attribute)) or not _may_change(source, node):
                continue
            try:
                value = find_original(find_constant(source, node))
            except NotPure:
                continue
            key = source.function, ast.dump(node)
            if key in self._seen or isinstance(value, ModuleType):
                continue
            self._seen.add(key)
            self._read.append((source, node, value))
            self._look_into(value)

    def _look_into(self, function: Any) -> None:
        if type(function) is not FunctionType or function in self._seen:
            return
        self._seen.add(function)
        source = read_source(function)
        if source is not None:
            self._look(source, source.body)

    def _now(self) -> Iterable[tuple[Any, Any]]:
        for source, node, before in self._read:
            try:
                yield before, find_original(find_constant(source, node))
            except NotPure:
                yield before, NotPure

    def atoms(self) -> tuple[Any, ...] | None:
        """Numbers and text as they are now; None where something else is not what it was.

        What stands for a function during an analysis counts as that function.
        """
        parts = []
        for before, value in self._now():
            if is_atom(value):
                parts.append(exactly(value))
            elif value is not before:
                return None
        return tuple(parts)

    def calculate_alike(self) -> bool:
        """Whether all but constant data is what it was."""
        return all(
            value is before or (is_plain(value) and is_plain(before))
            for before, value in self._now()
        )


def _may_change(source: FunctionSource, node: ast.Name | ast.Attribute) -> bool:
    """Whether a name is of the function around, or of a module of the program."""
    function = source.function
    if isinstance(node, ast.Name):
        return node.id in function.__code__.co_freevars or node.id in function.__globals__
    try:
        owner = find_constant(source, node.value)
    except NotPure:
        return False
    return isinstance(owner, ModuleType) and not is_others(owner.__name__)
