"""Iterators over records that are walked later: generators, ``map`` and ``filter`` in variables.

``kept = (v for v in data if v > low)`` reads ``low`` when it is walked, and is walked once. So the
numbers of its records are made then, as for a comprehension in that place, and what it reads of
outside must be constants that no walk of it can change (``reads_fixed_names``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.folded.record_counts import ColumnRows
from liptest.enumerate.intercept.replaceable_names import names_in
from liptest.enumerate.syntax.pure_code import calculates, local_function
from liptest.enumerate.syntax.source import (
    LOOKING,
    OWN_NAMES,
    FunctionSource,
    copy_tree,
    names_loaded,
    names_stored,
    read_source,
)
from liptest.enumerate.syntax.tree_pieces import (
    attribute_node,
    name_node,
    nodes_in,
    place_in_file,
    root_name,
)
from liptest.values.unfollowed import Unfollowed

_FIXED = (int, float, bool, str, bytes, type(None), np.int64, np.float64, np.bool_)


class LaterRecords(Unfollowed):
    """An iterator over the records of a column, of which nothing was walked so far."""

    described = "an iterator over the records"

    def __init__(self, rows: ColumnRows, make: Callable[[], Any]) -> None:
        self.rows = rows
        self._make: Callable[[], Any] | None = make

    def taken(self) -> Any:
        """All its entries, as a list with a number for each record; it is walked once."""
        if self._make is None:
            self.refuse("an iterator over the records that was walked before")
        make, self._make = self._make, None
        return make()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.taken())

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        self.rows.refuse(use)


def find_walked(value: Any) -> Any:
    """What a walk over a value walks."""
    return value.taken() if type(value) is LaterRecords else value


def is_fixed(value: Any) -> bool:
    """Whether nothing can change a value: a number, a text, or a function that calculates."""
    if type(value) is tuple:
        return all(map(is_fixed, value))
    return type(value) in _FIXED or calculates(value)


def reads_fixed_names(
    source: FunctionSource, node: ast.expr, parts: list[ast.expr], own: frozenset[str]
) -> bool:
    """Whether no walk over what ``node`` gives can assign a name of its ``parts``.

    Loops around it do not walk over it. What the names stand for is looked at run time.
    """
    read = names_loaded(*parts) & own
    if any(isinstance(inner, ast.NamedExpr) for part in parts for inner in ast.walk(part)):
        return False
    if any(_reads_part_of(inner, own) for part in parts for inner in ast.walk(part)):
        return False
    loops = nodes_in(source.body, ast.For, ast.While)
    walks = [loop for loop in loops if not _is_in_body(node, loop)]
    return not any(read & names_stored(loop) for loop in walks)


def _reads_part_of(node: ast.AST, own: frozenset[str]) -> bool:
    """Whether it is an attribute of a local name, which a walk might change."""
    if not isinstance(node, ast.Attribute):
        return False
    root = root_name(node)
    return not root or root in own


def _is_in_body(node: ast.expr, loop: ast.For | ast.While) -> bool:
    place = place_in_file(node)
    return any(
        isinstance(inner, ast.expr) and place_in_file(inner) == place
        for statement in loop.body
        for inner in ast.walk(statement)
    )


def is_constant_function(source: FunctionSource, node: ast.expr, own: frozenset[str]) -> bool:
    """Whether ``map`` of it later is ``map`` of it now: it always stands for one function."""
    if isinstance(node, ast.Name) and node.id in own:
        return local_function(source, node.id) is not None
    return isinstance(node, (ast.Lambda, ast.Name)) or node.__class__ is ast.Attribute


_MADE = f"{OWN_NAMES}entries"


def collecting(function: FunctionType) -> FunctionSource | None:
    """The function that returns in a list what a generator function yields; None for all others.

    Only of one that reads no attributes, which whoever walks it might change meanwhile.
    """
    source = read_source(function, gives_generators=True)
    if source is None or not names_in(function.__code__).isdisjoint(LOOKING):
        return None
    code = function.__code__
    local_names = frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
    body = [copy_tree(statement) for statement in source.body]
    if any(
        _reads_part_of(inner, local_names) for statement in body for inner in ast.walk(statement)
    ):
        return None
    appending = _Appending()
    body = [appending.visit(statement) for statement in body]
    if not appending.is_followed or any(name.startswith(OWN_NAMES) for name in local_names):
        return None
    first = ast.Assign([name_node(_MADE, ast.Store())], ast.List([], ast.Load()))
    last = ast.Return(name_node(_MADE))
    for new, old in ((first, body[0]), (last, body[-1])):
        ast.copy_location(new, old)
    node = source.with_body([first, *body, last])
    made = source.compiled(node, {})
    return None if made is None else FunctionSource(made, node, source.imported)


class _Appending(ast.NodeTransformer):
    """Puts ``entries.append(E)`` for the statement ``yield E``."""

    def __init__(self) -> None:
        self.is_followed = True

    def visit_Expr(self, node: ast.Expr) -> Any:
        given = node.value
        if not isinstance(given, ast.Yield):
            return self.generic_visit(node)
        parts = [given.value or ast.Constant(None)]
        call = ast.Call(attribute_node(_MADE, "append"), parts, [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))

    def _left_out(self, node: Any) -> Any:
        self.is_followed = False
        return node

    visit_Yield = visit_YieldFrom = visit_Await = visit_Return = _left_out
    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _left_out
    visit_Global = visit_Nonlocal = visit_NamedExpr = visit_Try = visit_With = _left_out


def is_generator_function(node: ast.FunctionDef) -> bool:
    """Whether a function that is made here gives iterators."""
    return not node.decorator_list and any(nodes_in(node.body, ast.Yield))


def read_around(function: FunctionType) -> list[Any]:
    """What a function reads beside its arguments and global names."""
    cells = function.__closure__ or ()
    held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    try:
        return [*held, *(cell.cell_contents for cell in cells)]
    except ValueError:  # a name that has no value so far
        return [_NOTHING]


_NOTHING: Any = object()
