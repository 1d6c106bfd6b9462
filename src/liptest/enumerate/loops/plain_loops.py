"""Loops and calls written as ``for value in data`` and comprehensions, where they mean the same.

``for i in range(len(data))`` with ``data[i]``, of the function's own data, whose length all rows
share; ``for i, value in enumerate(data)`` with an index that is not used; ``list(map(f, data))``,
``sum(f(value) for value in data)`` and the like.
"""

from __future__ import annotations

import ast
import copy
from types import FunctionType
from typing import Any

from liptest.enumerate.loops.filled_places import fill_lists, measured
from liptest.enumerate.syntax.function_source import list_parameters, names_assigned, names_read
from liptest.enumerate.syntax.tree_pieces import is_name, name_called, plain_name, target_node

#: Functions that walk all of what they are given, before anything else is done.
WALKING = frozenset({"list", "tuple", "sum", "min", "max", "sorted"})
_BUILTINS = WALKING | {"enumerate", "range", "len", "map"}


def with_lists(definition: ast.FunctionDef, function: FunctionType) -> ast.FunctionDef:
    """``sum(f(value) for value in data)`` and ``sum(map(f, data))`` as sums of lists."""
    made = copy.copy(definition)
    lists = _Lists(find_plain_names(function))
    made.body = [lists.visit(copy.deepcopy(node)) for node in definition.body]
    return made


def find_plain_names(function: FunctionType) -> set[str]:
    """Names that stand for the functions of Python, of those that walk, count or measure."""
    code = function.__code__
    taken = {*function.__globals__, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    return set(_BUILTINS - taken)


def simplify(
    body: list[ast.stmt], function: FunctionType, *, is_of_data: bool = True
) -> list[ast.stmt]:
    """Copies of statements with plain loops; those that cannot be are as they were.

    ``is_of_data``: whether the first parameter is an array of a whole number for each record.
    """
    plain = find_plain_names(function)
    data = set(function.__code__.co_varnames[:1]) - names_assigned(*body)
    simplified = []
    if is_of_data:
        body = fill_lists(body, function, data)
    for place, node in enumerate(body):
        others = [other for k, other in enumerate(body) if k != place]
        statement: ast.stmt = copy.deepcopy(node)
        if isinstance(statement, ast.For):
            # Of another kind of data the size may not be how many rows there are.
            lengths = data if is_of_data else set[str]()
            statement = without_index(statement, others, plain, data, lengths)
        simplified.append(_Lists(plain).visit(statement))
    return simplified


def without_index(
    loop: ast.For, others: list[ast.stmt], plain: set[str], data: set[str], lengths: set[str]
) -> ast.For:
    """The loop over values, where its index only picks them; itself for all else.

    ``others`` are the statements beside it, ``plain`` the names that stand for Python's functions,
    ``data`` arrays that are never assigned, and ``lengths`` those whose ``size`` counts the rows.
    """
    call = loop.iter
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) != 1:
        return loop
    inner, name = call.args[0], name_called(call)
    if name == "enumerate" and name in plain:
        return _of_values(loop, inner, others)
    index = plain_name(loop.target) if name == "range" and {"range", "len"} <= plain else ""
    if index and measured(inner) in (data if name_called(inner) == "len" else lengths):
        return _of_rows(loop, index, others)
    return loop


def _of_values(loop: ast.For, values: ast.expr, others: list[ast.stmt]) -> ast.For:
    """``enumerate`` whose index is not used."""
    target = loop.target
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        return loop
    index = target.elts[0]
    if not isinstance(index, ast.Name) or index.id in names_read(*loop.body, *others):
        return loop
    loop.target, loop.iter = target.elts[1], values
    return loop


def _of_rows(loop: ast.For, index: str, others: list[ast.stmt]) -> ast.For:
    """``range(len(data))`` whose index picks entries only."""
    entries = _Entries(index)
    body = [entries.visit(copy.deepcopy(node)) for node in loop.body]
    changed = names_assigned(*loop.body)
    if not entries.names or index in names_read(*body, *others) or index in names_assigned(*body):
        return loop
    if changed & entries.names.keys():
        return loop
    arrays: list[ast.expr] = [ast.Name(name, ast.Load()) for name in entries.names]
    together = ast.Call(ast.Name("zip", ast.Load()), arrays, [])
    walked = arrays[0] if len(arrays) == 1 else together
    made = ast.For(target_node(list(entries.names.values())), walked, body, loop.orelse)
    return ast.fix_missing_locations(ast.copy_location(made, loop))


class _Entries(ast.NodeTransformer):
    """``values[i]`` as a name of its own."""

    def __init__(self, index: str) -> None:
        self.index = index
        self.names: dict[str, str] = {}

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        is_entry = is_name(node.slice, self.index)
        if not is_entry or not isinstance(node.value, ast.Name):
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        name = self.names.setdefault(node.value.id, f"__entry_of_{node.value.id}")
        return ast.copy_location(ast.Name(name, ast.Load()), node)


class _Lists(ast.NodeTransformer):
    """What a function walks at once as a comprehension that makes a list."""

    def __init__(self, plain: set[str]) -> None:
        self.plain = plain

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if name_called(node) not in WALKING & self.plain or len(node.args) != 1:
            return node
        inner = node.args[0]
        if isinstance(inner, ast.GeneratorExp):
            node.args = [ast.copy_location(ast.ListComp(inner.elt, inner.generators), inner)]
            return node
        is_map = name_called(inner) == "map" and "map" in self.plain
        if not is_map or len(inner.args) != 2 or inner.keywords:  # type: ignore[attr-defined]
            return node
        function, values = inner.args  # type: ignore[attr-defined]
        made = _comprehension(function, values)
        if made is None:
            return node
        node.args = [ast.fix_missing_locations(ast.copy_location(made, inner))]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        self.generic_visit(node)
        if len(node.generators) == 1:
            self._without_index(node, node.generators[0])
        return node

    def _without_index(self, node: ast.ListComp, generator: ast.comprehension) -> None:
        """``for i, value in enumerate(data)`` with an index that is not used."""
        call, target = generator.iter, generator.target
        if not isinstance(call, ast.Call) or name_called(call) not in {"enumerate"} & self.plain:
            return
        is_pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
        if not is_pair or len(call.args) != 1 or call.keywords:
            return
        index, value = target.elts  # type: ignore[attr-defined]
        used = names_read(node.elt, *generator.ifs)
        if isinstance(index, ast.Name) and index.id not in used:
            generator.target, generator.iter = value, call.args[0]

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node


def _comprehension(function: ast.expr, values: ast.expr) -> ast.ListComp | None:
    if isinstance(function, ast.Lambda):
        names, given = list_parameters(function.args), function.args
        is_simple = len(names) == 1 == len(given.args) and not given.defaults
        if not is_simple or any(isinstance(part, ast.NamedExpr) for part in ast.walk(function)):
            return None
        name, entry = names[0], function.body
    elif isinstance(function, ast.Name):
        name = "__value"
        entry = ast.Call(function, [ast.Name(name, ast.Load())], [])
    else:
        return None
    generator = ast.comprehension(ast.Name(name, ast.Store()), values, [], 0)
    return ast.ListComp(entry, [generator])
