"""Loops of which each pass writes to a place of its own: ``for i in range(k): out[i] = E``.

A pass reads and writes ``out[i]`` alone, ``i`` being what the loop counts. Seen as a pass that is
given this entry, and tells it at its end, it is one that fills a list.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from liptest.enumerate.records.record_code import is_fresh
from liptest.enumerate.syntax.source import OWN_NAMES, FunctionSource, copy_tree, names_stored
from liptest.enumerate.syntax.tree_pieces import is_name, name_called, nodes_in, place_in_file

_ENTRY, _TOLD = f"{OWN_NAMES}entry", f"{OWN_NAMES}told"


@dataclass(frozen=True)
class OwnPlace:
    """An array of which each pass of a loop has a place; ``loop`` fills a list instead.

    ``is_first``: what counts is the first of several names of the loop. ``is_fresh``: the function
    has made the array, and nothing else holds it.
    """

    array: str
    loop: ast.For
    is_first: bool
    is_fresh: bool


def own_place(loop: ast.For, source: FunctionSource) -> OwnPlace | None:
    """The array that a loop writes to, place by place; None for other loops."""
    target = loop.target
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    written = written_arrays(loop)
    if not isinstance(first, ast.Name) or len(written) != 1 or loop.orelse:
        return None
    [array] = written
    entries = EntriesAt(array, first.id, _ENTRY)
    body = [entries.visit(copy_tree(statement)) for statement in loop.body]
    if entries.is_left or first.id in names_stored(*loop.body):
        return None
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    told = ast.Attribute(ast.Name(_TOLD, ast.Load()), "append", ast.Load())
    body.append(ast.Expr(ast.Call(told, [ast.Name(_ENTRY, ast.Load())], [])))
    given = ast.Tuple([*map(copy_tree, names), ast.Name(_ENTRY, ast.Store())], ast.Store())
    made = ast.For(given, ast.Name(_TOLD, ast.Load()), body, [])
    ast.fix_missing_locations(ast.copy_location(made, loop))
    is_several = isinstance(target, ast.Tuple)
    return OwnPlace(array, made, is_several, _is_alone(array, source, loop))


def written_arrays(loop: ast.For) -> set[str]:
    """The names of what a loop writes to, place by place."""
    return {
        part.value.id
        for part in ast.walk(loop)
        if isinstance(part, ast.Subscript)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
    }


class EntriesAt(ast.NodeTransformer):
    """``array[i]`` as a name; whether the array is left in another use."""

    def __init__(self, array: str, index: str, entry: str) -> None:
        self.array, self.index, self.entry = array, index, entry
        self.is_left = False

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        base, place = node.value, node.slice
        if is_name(base, self.array):
            if is_name(place, self.index):
                return ast.copy_location(ast.Name(self.entry, node.ctx), node)
            self.is_left = True
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        self.is_left = self.is_left or node.id == self.array
        return node


def _is_alone(array: str, source: FunctionSource, loop: ast.For) -> bool:
    """Whether a function has made an array, once, and reads of it but entries before a loop."""
    if not source.is_own(array) or array in source.function.__code__.co_cellvars:
        return False
    every = [part for statement in source.body for part in ast.walk(statement)]
    stored = [part for part in every if _is_store(part, array)]
    made = [part for part in every if isinstance(part, ast.Assign) and _is_made(part, array)]
    if len(stored) != 1 or len(made) != 1:
        return False
    around = [p for p in every if isinstance(p, (ast.For, ast.While)) and _holds(p, loop)]
    if any(not any(part is made[0] for part in ast.walk(outer)) for outer in around):
        return False
    before = [p for p in every if is_name(p, array) and _comes(p, loop)]
    entries = [
        part.value
        for part in every
        if isinstance(part, ast.Subscript)
        and not isinstance(part.slice, (ast.Slice, ast.Tuple))
        and isinstance(part.ctx, ast.Store)
    ]
    lengths = [
        part.args[0]
        for part in every
        if isinstance(part, ast.Call) and name_called(part) == "len" and part.args
    ]
    fine = [*stored, *entries, *lengths]
    return all(any(name is one for one in fine) for name in before)


def _is_store(node: ast.AST, name: str) -> bool:
    return is_name(node, name) and not isinstance(node.ctx, ast.Load)


def _is_made(node: ast.Assign, name: str) -> bool:
    target, value = node.targets[0], node.value
    calls = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    is_copy = calls and ast.unparse(value).endswith(".copy()")
    is_new = is_copy or is_fresh(value)
    return len(node.targets) == 1 and _is_store(target, name) and is_new


def _holds(outer: ast.For | ast.While, loop: ast.For) -> bool:
    """Whether a loop is within another one."""
    place = place_in_file(loop)
    return any(place_in_file(inner) == place for inner in nodes_in(outer.body, ast.For))


def _comes(node: ast.Name, loop: ast.For) -> bool:
    """Whether it stands before a loop, in line or around it."""
    return (node.lineno, node.col_offset) < (loop.lineno, loop.col_offset)
