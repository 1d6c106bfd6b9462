"""Other spellings of loops and of walks over records, written as the one that is followed.

``map`` and ``filter`` of a column are lists with a number for each record.
``counts.update(data)`` of a new Counter is ``Counter(data)``; ``counts[k] if k in counts else 0``
is ``counts.get(k, 0)``.

``while True: z = ..; if fits(z): return E`` is ``while True: z = ..; if fits(z): break`` and then
``return E``: nothing else leads behind a loop without a test and without another ``break``. So E,
which may walk over records, does not belong to a pass of the loop.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from liptest.enumerate.folded.later_records import is_constant_function, reads_fixed_names
from liptest.enumerate.loops.fold_passes import Wrapping, is_fresh_before
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    check_in_loop,
    find_original,
    is_builtin,
    is_plain,
)
from liptest.enumerate.syntax.source import OWN_NAMES, FunctionSource, copy_tree, names_loaded
from liptest.enumerate.syntax.tree_pieces import (
    call_of_folds,
    lambda_node,
    name_node,
    nodes_in,
    read_applied,
    root_name,
    takes_one_name,
    tuple_node,
)

_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp)


def names_when_called(names: list[str]) -> ast.expr:
    """A function that gives the values of names."""
    return lambda_node(None, tuple_node([name_node(name) for name in names]))


class Spellings(ast.NodeTransformer):
    """Part of the rewriting of a function."""

    source: FunctionSource
    changes: int

    @property
    def own(self) -> frozenset[str]:
        """Names of the function's own."""
        raise NotImplementedError

    def is_free(self, node: ast.expr) -> bool:
        """Whether the root of a name is not the function's own."""
        raise NotImplementedError

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Any:
        """One as a column is walked."""
        raise NotImplementedError

    def visit_applied(self, node: ast.Call) -> ast.expr | None:
        """``column.apply(function)``, ``.map``, and ``frame.apply(function, axis=1)``."""
        applied = read_applied(node)
        if applied is None or self.is_free(applied[0]):
            return None
        method, function, by_rows = applied
        made_of_item = self.make_of_items(function)
        if made_of_item is None:
            return None
        item, made = made_of_item
        self.changes += 1
        hidden = f"{OWN_NAMES}iterable"
        owner = self.visit(copy_tree(method.value))
        written = copy_tree(node)
        written.func = ast.Attribute(name_node(hidden), method.attr, ast.Load())
        part = ast.comprehension(name_node(item, ast.Store()), name_node(hidden), [], 0)
        both = [lambda_node(hidden, one) for one in (written, ast.ListComp(made, [part]))]
        call = call_of_folds("applied", owner, ast.Constant(by_rows), *both)
        return ast.copy_location(call, node)

    def set_in(self, node: ast.Call) -> ast.Call | None:
        """The call of ``set`` in ``len(set(values))``."""
        inner = node.args[0]
        if not isinstance(inner, ast.Call) or not self.is_free(inner.func):
            return None
        if not is_builtin(self.source, inner.func, builtins.set):
            return None
        if len(inner.args) != 1 or inner.keywords or isinstance(inner.args[0], ast.Starred):
            return None
        return inner

    def make_of_items(self, function: ast.expr) -> tuple[str, ast.expr] | None:
        """What a function that only calculates makes of an item, and the name of it."""
        item = f"{OWN_NAMES}item"
        called: ast.expr = ast.Call(copy_tree(function), [name_node(item)], [])
        if isinstance(function, ast.Lambda):
            if not takes_one_name(function.args):
                return None
            item, called = function.args.args[0].arg, copy_tree(function.body)
        try:
            check_in_loop(self.source, called, self.own, frozenset({item}), calls=True)
        except NotPure:
            return None
        return item, Wrapping(self.source, self.own - {item}).visit(called)

    def _map(self, node: ast.Call, *, is_later: bool = False) -> ast.expr:
        """``map(function, iterable)`` and ``filter`` as comprehensions; else as it is written."""
        names = [mapper for mapper in (map, filter) if is_builtin(self.source, node.func, mapper)]
        if not names or not self.is_free(node.func) or len(node.args) != 2 or node.keywords:
            return node
        function, iterable = node.args
        if names[0] is filter and isinstance(function, ast.Constant) and function.value is None:
            function = ast.copy_location(lambda_node("item", name_node("item")), function)
        found = self.make_of_items(function)
        if found is None:
            return node
        item, made = found
        if is_later and not (
            is_constant_function(self.source, function, self.own)
            and reads_fixed_names(self.source, node, [function], self.own)
        ):
            return node
        self.changes += 1
        hidden = f"{OWN_NAMES}iterable"
        read = sorted(names_loaded(function) & self.own - {item})
        part = ast.comprehension(name_node(item, ast.Store()), name_node(hidden), [], 0)
        if names[0] is filter:
            part.ifs, made = [made], name_node(item)
        written = ast.Call(node.func, [function, name_node(hidden)], [])
        both = [lambda_node(hidden, version) for version in (written, ast.ListComp(made, [part]))]
        if is_later:
            call = call_of_folds("later", self.visit(iterable), *both, names_when_called(read))
        else:
            call = call_of_folds("comprehension", self.walked(iterable), *both)
        return ast.copy_location(call, node)

    def visit_mapper(self, node: ast.Call) -> ast.expr:
        """``map`` and ``filter`` whose entries are walked later; else as it is written."""
        return self._map(node, is_later=True)

    def walked(self, node: ast.expr) -> Any:
        """What a loop walks over, or a function: ``map`` and ``filter`` of a column are columns."""
        if isinstance(node, ast.GeneratorExp):
            return self.comprehension(node)
        mapped = self._map(node) if isinstance(node, ast.Call) else node
        if mapped is not node:
            return mapped
        visited = self.visit(node)
        if isinstance(node, (ast.Constant, *_DISPLAYS)):
            return visited
        return ast.copy_location(call_of_folds("taken", visited), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """``counts.update(values)``, where nothing else has what ``counts`` stands for."""
        call = node.value
        updated = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(updated, ast.Attribute):
            return self.generic_visit(node)
        is_update = updated.attr == "update" and len(call.args) == 1 and not call.keywords
        name = updated.value.id if isinstance(updated.value, ast.Name) else ""
        if not is_update or isinstance(call.args[0], ast.Starred) or name not in self.own:
            return self.generic_visit(node)
        if not is_fresh_before(self, node, name):  # type: ignore[arg-type]
            return self.generic_visit(node)
        self.changes += 1
        values = self.walked(call.args[0])
        made = call_of_folds("updated", name_node(name), values)
        return ast.copy_location(ast.Assign([name_node(name, ast.Store())], made), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """``rng.choice([-1, 1], size=n) * rng.exponential(scale, size=n)``, drawn on the spot."""
        both = [_read_method(node.left), _read_method(node.right)]
        is_product = isinstance(node.op, ast.Mult) and {name for _, name in both} in _SIGNED
        if not is_product or any(isinstance(part, _BINDING) for part in ast.walk(node)):
            return self.generic_visit(node)
        self.changes += 1
        sources = [copy_tree(owner) for owner, _ in both if owner is not None]
        sides = [lambda_node(None, self.visit(side)) for side in (node.left, node.right)]
        call = call_of_folds("signed", *sides, lambda_node(None, tuple_node(sources)))
        return ast.copy_location(call, node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """``counts[k] if k in counts else 0``, with plain names, and ``.loc`` with ``.index``.

        And ``sum(values) if values else 0``.
        """
        unless_empty = self._visit_unless_empty(node)
        if unless_empty is not None:
            return unless_empty
        test, entry = node.test, node.body
        is_test = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In)
        if not is_test or not isinstance(entry, ast.Subscript):
            return self.generic_visit(node)
        assert isinstance(test, ast.Compare)
        owner, is_labelled = _owner_of_labels(entry.value, ("loc", "at"))
        keys, has_index = _owner_of_labels(test.comparators[0], ("index",))
        pair = [owner, entry.slice]
        others = [keys, *test.comparators[1:], test.left]
        are_alike = list(map(ast.dump, pair)) == list(map(ast.dump, others))
        are_names = all(isinstance(one, (ast.Name, ast.Constant)) for one in pair)
        if not are_alike or not are_names or not isinstance(node.orelse, ast.Constant):
            return self.generic_visit(node)
        self.changes += 1
        written = lambda_node(None, copy_tree(node))
        method = "labelled" if is_labelled or has_index else "entry"
        return ast.copy_location(call_of_folds(method, *pair, node.orelse, written), node)

    def _visit_unless_empty(self, node: ast.IfExp) -> ast.expr | None:
        """``f(values) if values else 0``, where ``f`` reads nothing else of the function's own."""
        name = _name_tested_for_rows(node.test)
        own = names_loaded(node.body) & self.own
        plain = isinstance(node.orelse, ast.Constant)
        if name is None or not plain or own != {name}:
            return None
        if not all(map(self._is_calculation, ast.walk(node.body))):
            return None
        self.changes += 1
        # Of a list without entries as it is written; of others as columns are followed.
        empty = lambda_node(name, copy_tree(node.body))
        written, body = (
            lambda_node(None, self.visit(part)) for part in (copy_tree(node.test), node.body)
        )
        call = call_of_folds("unless_empty", name_node(name), written, empty, body, node.orelse)
        return ast.copy_location(call, node)

    def _is_calculation(self, part: ast.AST) -> bool:
        """Whether a part of an expression does nothing but calculate: it draws nothing."""
        if isinstance(part, ast.Attribute):
            return part.attr != "random"
        if not isinstance(part, ast.Name) or part.id in self.own:
            return not isinstance(part, (*_BINDING, *_NAMING))
        try:
            value = self.source.value_of(part.id)
        except KeyError:
            return False
        value = find_original(value)
        return any(value is one for one in _CALCULATING) or is_plain(value)


_SIGNED = ({"choice", "exponential"}, {"choice", "standard_exponential"})
_CALCULATING = (np, math, sum, len, float, int, abs, round, min, max)
_NAMING = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BINDING = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def _name_tested_for_rows(test: ast.expr) -> str | None:
    """The name in ``name``, ``len(name)`` or ``len(name) > 0``, as a test."""
    match test:
        case ast.Name(id=name):
            return name
        case ast.Compare(ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
            return _name_tested_for_rows(test.left) if isinstance(test.left, ast.Call) else None
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
            return name
    return None


def _read_method(node: ast.expr) -> tuple[ast.expr | None, str]:
    """A name, perhaps with dots, and its method that an expression calls; else none."""
    called = node.func if isinstance(node, ast.Call) else None
    if not isinstance(called, ast.Attribute) or not root_name(called):
        return None, ""
    return called.value, called.attr


def _owner_of_labels(node: ast.expr, names: tuple[str, ...]) -> tuple[ast.expr, bool]:
    """``counts`` of ``counts.loc``, and whether it is that; all else as it is."""
    is_it = isinstance(node, ast.Attribute) and node.attr in names
    return (node.value, True) if is_it else (node, False)  # type: ignore[attr-defined]


_OTHER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def with_returns_behind_loops(source: FunctionSource) -> FunctionSource:
    """The same program; itself where no loop is left so."""
    if not any(map(_returning, nodes_in(source.body, ast.While))):
        return source
    return replace(
        source, node=_Behind().visit(source.with_body(list(map(copy_tree, source.body))))
    )


class _Behind(ast.NodeTransformer):
    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        leaving = _returning(node)
        if leaving is None:
            return node
        left = ast.copy_location(ast.If(leaving.test, [ast.Break()], []), leaving)
        ast.copy_location(left.body[0], leaving.body[0])
        node.body = [left if statement is leaving else statement for statement in node.body]
        return [node, *leaving.body]


def _returning(node: ast.While) -> ast.If | None:
    """The one statement ``if ..: ..; return ..`` of a loop that nothing but returns leave."""
    is_endless = isinstance(node.test, ast.Constant) and node.test.value is True
    if not is_endless or node.orelse or any(jumps(node.body, ast.Break)):
        return None
    ways = [
        statement
        for statement in node.body
        if isinstance(statement, ast.If) and _returns(statement)
    ]
    return ways[0] if len(ways) == 1 and not any(jumps(ways[0].body, ast.Continue)) else None


def _returns(node: ast.If) -> bool:
    return not node.orelse and isinstance(node.body[-1], ast.Return)


def jumps(
    parts: Iterable[ast.AST], kind: type[ast.AST] | tuple[type[ast.AST], ...]
) -> Iterator[ast.AST]:
    """The statements that leave, or go on with, the loop around these parts."""
    for part in parts:
        if isinstance(part, kind):
            yield part
        elif isinstance(part, _LOOPS):
            yield from jumps(part.orelse, kind)
        elif not isinstance(part, _OTHER_SCOPES):
            yield from jumps(ast.iter_child_nodes(part), kind)
