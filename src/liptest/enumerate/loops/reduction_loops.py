"""Calls of ``functools.reduce`` with a start, as the loops that they are.

``reduce(step, items, start)`` is ``total = start``, then ``for item in items: total = step(total,
item)``, then total: so Python's library defines it. Here the statements of ``step`` are put into
the loop under names of their own, so that it is looked at as if it had been written (loops.md,
L1). That is done only where nothing is evaluated in another order: the call is what its statement
evaluates first, but for names; and where the step reads the names that it would read.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from itertools import count
from types import FunctionType
from typing import Any

from liptest.enumerate.syntax.called_methods import read_program
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    check_expression,
    find_constant,
    is_builtin,
    is_docstring,
    local_function,
)
from liptest.enumerate.syntax.source import (
    FunctionSource,
    copy_tree,
    names_loaded,
    names_stored,
    read_source,
)
from liptest.enumerate.syntax.tree_pieces import (
    is_name,
    name_node,
    nodes_in,
    root_name,
    tuple_node,
)

_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Return, ast.Pass)
_REFUSED = (
    *(ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await, ast.FunctionDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MOST_STATEMENTS = 40


class _NotALoop(Exception):
    """The call stays as it is written."""


def with_reductions_as_loops(function: Any) -> Any:
    """The function with loops for such calls; itself where it has none.

    To be called within the analysis that runs it: what names stand for is looked up here.
    """
    if type(function) is not FunctionType or not _names_reduce(function):
        return function
    return _make(function) or function


def _names_reduce(function: FunctionType) -> bool:
    code = function.__code__
    return "reduce" in code.co_names or "reduce" in code.co_freevars


def _make(function: FunctionType) -> FunctionType | None:
    source = read_program(function)
    if source is None:
        return None
    rewriting = _Loops(source)
    body = rewriting.block(source.body)
    if not rewriting.changes:
        return None
    return source.compiled_again(source.with_body(body), {})


class _Loops:
    """Rewrites the statements of one function."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source
        self.changes = 0
        code = source.function.__code__
        self._own = frozenset((*code.co_varnames, *code.co_cellvars))
        self._taken = {*code.co_names, *code.co_freevars, *self._own}
        self._taken |= {*source.function.__globals__, *names_stored(*source.body)}
        self._numbers = count(1)

    def block(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Statements, with loops before those that begin with a reduction."""
        statements_out: list[ast.stmt] = []
        for written in body:
            statement = copy_tree(written)
            if not isinstance(statement, _SCOPES):
                self._with_lambdas(statement)
            if isinstance(statement, (ast.If, ast.For, ast.While)):
                statement.body = self.block(statement.body)
                statement.orelse = self.block(statement.orelse)
            elif isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) and statement.value:
                statements_out += self._before(statement, written)
            statements_out.append(statement)
        return statements_out

    def _with_lambdas(self, statement: ast.stmt) -> None:
        """Of ``reduce(add, items)`` an ``add`` that is one expression, as ``lambda``."""
        for call in nodes_in([statement], ast.Call):
            if len(call.args) != 2 or not isinstance(call.args[0], ast.Name):
                continue
            if not is_builtin(self._source, call.func, functools.reduce):
                continue
            try:
                (total, item), body = self._step(call.args[0])
            except (_NotALoop, NotPure):
                continue
            value = body[0].value if isinstance(body[0], ast.Return) else None
            if value is None or not names_loaded(value) <= {total, item}:
                continue
            both = [ast.arg(total), ast.arg(item)]
            arguments = ast.arguments(
                posonlyargs=[], args=both, kwonlyargs=[], kw_defaults=[], defaults=[]
            )
            call.args[0] = ast.copy_location(ast.Lambda(arguments, value), call.args[0])
            self.changes += 1

    def _before(
        self, statement: ast.Assign | ast.Return | ast.Expr, at: ast.stmt
    ) -> list[ast.stmt]:
        owner, field, call = _find_evaluated_first(
            statement, self._source.function.__code__.co_cellvars
        )
        if call is None or not is_builtin(self._source, call.func, functools.reduce):
            return []
        try:
            loop, total = self._loop(call)
        except (_NotALoop, NotPure):
            return []
        if isinstance(owner, list):
            owner[field] = total
        else:
            setattr(owner, field, total)
        self.changes += 1
        for one in loop:
            for node in ast.walk(one):
                ast.copy_location(node, at)
        return loop

    def _loop(self, call: ast.Call) -> tuple[list[ast.stmt], ast.expr]:
        if (
            len(call.args) != 3
            or call.keywords
            or any(isinstance(argument, ast.Starred) for argument in call.args)
        ):
            raise _NotALoop
        step, items, start = call.args
        before: list[ast.stmt] = []
        if not isinstance(items, ast.Name) and not self._only_calculates(start):
            name = self._fresh("items", [])  # they are evaluated before the start
            before = [ast.Assign([name_node(name, ast.Store())], copy_tree(items))]
            items = name_node(name)
        (total, item), body = self._step(step)
        if isinstance(start, ast.Tuple):
            body, totals = _in_parts(body, total, len(start.elts))
            totals = [self._fresh(name, body) for name in totals]
            first: list[ast.stmt] = [
                ast.Assign([name_node(name, ast.Store())], copy_tree(value))
                for name, value in zip(totals, start.elts, strict=True)
            ]
            end: ast.expr = tuple_node([name_node(name) for name in totals])
        else:
            body = _as_assignments(body, total)
            total = self._fresh(total, body)
            first = [ast.Assign([name_node(total, ast.Store())], copy_tree(start))]
            end = name_node(total)
        item = self._fresh(item, body)
        for name in names_stored(*body) - self._taken:
            self._fresh(name, body)
        loop = ast.For(name_node(item, ast.Store()), copy_tree(items), body or [ast.Pass()], [])
        return [*before, *first, loop], end

    def _only_calculates(self, node: ast.expr) -> bool:
        try:
            check_expression(self._source, node, self._own)
        except NotPure:
            return False
        return True

    def _fresh(self, name: str, body: list[ast.stmt]) -> str:
        """A name that is not yet used, put in the place of another."""
        new = next(f"{name}_{k}" for k in self._numbers if f"{name}_{k}" not in self._taken)
        self._taken.add(new)
        for node in nodes_in(body, ast.Name):
            if node.id == name:
                node.id = new
        return new

    def _step(self, step: ast.expr) -> tuple[tuple[str, str], list[ast.stmt]]:
        """Both parameters of the function that is called, and its statements, copied.

        All its own names are new ones, which are not those of the function around it.
        """
        node, seen = self._function(step)
        names = _two_parameters(node.args)
        if isinstance(node, ast.Lambda):
            body: list[ast.stmt] = [ast.Return(copy_tree(node.body))]
        else:
            body = [copy_tree(statement) for statement in node.body if not is_docstring(statement)]
        if any(nodes_in(body, *_REFUSED)):
            raise _NotALoop
        own = {*names, *names_stored(*body)}
        if (names_loaded(*body) - own) & seen:
            raise _NotALoop
        new = {name: self._fresh(name, body) for name in sorted(own)}
        return (new[names[0]], new[names[1]]), body

    def _function(self, step: ast.expr) -> tuple[ast.FunctionDef | ast.Lambda, frozenset[str]]:
        """The tree of a function, and names that mean something else in it."""
        if isinstance(step, ast.Lambda):
            return step, frozenset()
        local = local_function(self._source, step.id) if isinstance(step, ast.Name) else None
        if local is not None:
            return local, frozenset()
        function = find_constant(self._source, step)
        source = read_source(function)
        around = self._source.function
        if source is None or function.__closure__ or function.__globals__ is not around.__globals__:
            raise _NotALoop
        return source.node, self._own | frozenset(around.__code__.co_freevars)


def _find_evaluated_first(
    statement: Any, shared: tuple[str, ...]
) -> tuple[Any, Any, ast.Call | None]:
    """The call of ``reduce`` that a statement evaluates before all but names, and its place."""
    owner: Any = statement
    field: Any = "value"
    node = statement.value
    while node is not None:
        if isinstance(node, ast.BinOp):
            owner, field = node, "right" if isinstance(node.left, ast.Constant) else "left"
        elif isinstance(node, ast.Call):
            if ast.unparse(node.func).rpartition(".")[2] == "reduce":
                return owner, field, node
            root = root_name(node.func)
            if root in shared or (root and not node.args):
                return owner, field, None
            owner, field = (node.args, 0) if root else (node, "func")
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            owner, field = node, "value"
        else:
            return owner, field, None
        node = owner[0] if isinstance(owner, list) else getattr(owner, field)
    return owner, field, None


def _two_parameters(node: ast.arguments) -> list[str]:
    """Their names; annotations change nothing in a call."""
    names = [parameter.arg for parameter in node.args]
    others = (node.posonlyargs, node.kwonlyargs, node.defaults, node.vararg, node.kwarg)
    if len(set(names)) != 2 or any(others):
        raise _NotALoop
    return names


def _as_assignments(body: list[ast.stmt], total: str) -> list[ast.stmt]:
    """The statements with ``total = E`` for ``return E``."""
    return _Returns(lambda value: _make_assignments(total, value)).block(body)


def _make_assignments(name: str, value: ast.expr) -> list[ast.stmt]:
    if is_name(value, name):
        return []
    return [ast.Assign([name_node(name, ast.Store())], value)]


class _Returns:
    """Puts statements for each ``return``; what follows an ``if`` goes into both its ways."""

    def __init__(self, returned: Any) -> None:
        self._returned = returned
        self._left = _MOST_STATEMENTS

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if not body or self._left == 0:
            raise _NotALoop  # it gives None, or is long
        self._left -= 1
        first, rest = body[0], body[1:]
        if not isinstance(first, _STATEMENTS):
            raise _NotALoop
        if isinstance(first, ast.Return):
            return self._at_return(first.value)
        if not isinstance(first, ast.If):
            return [first, *self.block(rest)]
        if not any(isinstance(node, ast.Return) for node in ast.walk(first)):
            return [first, *self.block(rest)]
        ways = (self.block([*map(copy_tree, [*way, *rest])]) for way in (first.body, first.orelse))
        return _either(first.test, *ways)

    def _at_return(self, value: ast.expr | None) -> list[ast.stmt]:
        if isinstance(value, ast.IfExp):
            ways = (self._at_return(way) for way in (value.body, value.orelse))
            return _either(value.test, *ways)
        if value is None:
            raise _NotALoop
        made: list[ast.stmt] = self._returned(value)
        return made


def _either(test: ast.expr, body: list[ast.stmt], other: list[ast.stmt]) -> list[ast.stmt]:
    return [ast.If(test, body or [ast.Pass()], other)]


def _in_parts(body: list[ast.stmt], total: str, size: int) -> tuple[list[ast.stmt], list[str]]:
    """Of a total that is a tuple: a name for each part, of which the next part alone is made."""
    names = [f"{total}_part_{k}" for k in range(size)]
    if body and isinstance(body[0], ast.Assign) and ast.unparse(body[0].value) == total:
        target = body[0].targets[0]
        parts = target.elts if isinstance(target, ast.Tuple) else []
        given = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(body[0].targets) != 1 or not len(given) == len(parts) == size == len({*given}):
            raise _NotALoop
        body, names = body[1:], given
    else:
        body = [_Parts(total, names).visit(one) for one in body]
    if total in names_loaded(*body) | names_stored(*body):
        raise _NotALoop
    if set(names) & names_stored(*body):
        raise _NotALoop

    def make_return(value: ast.expr) -> list[ast.stmt]:
        if not isinstance(value, ast.Tuple) or len(value.elts) != size:
            raise _NotALoop
        made: list[ast.stmt] = []
        for name, part in zip(names, value.elts, strict=True):
            if names_loaded(part) & set(names) - {name}:
                raise _NotALoop
            made += _make_assignments(name, part)
        return made

    return _Returns(make_return).block(body), names


class _Parts(ast.NodeTransformer):
    """Puts a name for ``total[0]``."""

    def __init__(self, total: str, names: list[str]) -> None:
        self._total, self._names = total, names

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        place = node.slice
        is_total = is_name(node.value, self._total)
        if not is_total or not isinstance(place, ast.Constant) or type(place.value) is not int:
            return self.generic_visit(node)
        if not 0 <= place.value < len(self._names) or not isinstance(node.ctx, ast.Load):
            raise _NotALoop
        return name_node(self._names[place.value])
