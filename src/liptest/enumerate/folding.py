"""Loops over records that only add up, rewritten so that a column is walked value by value.

``for v in data: total += E`` adds the same for all records of the same value, whatever their order,
if the pass reads nothing but the record, constants, and what it assigned before itself (definite
assignment), and if nothing that it assigns but the sums is read later. So each possible value is
walked once, and the loop is the sum of its contributions. Everything else is left as it is written;
and what is rewritten asks at run time whether it is given a column (``folds``).
"""

from __future__ import annotations

import ast
import builtins
import collections
import copy
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.folds import Folds
from liptest.enumerate.liveness import captured_names, names_read_after
from liptest.enumerate.pure_code import NotPure, check_expression, is_builtin
from liptest.enumerate.replaceable_names import is_foreign, names_in
from liptest.enumerate.source import (
    LOOKING,
    OWN_NAMES,
    FunctionSource,
    names_loaded,
    names_stored,
    read_source,
)

_FOLDS = f"{OWN_NAMES}folds"
# Functions that call each other so deep are rewritten.
_DEEPEST = 8
_ZEROS = np.zeros
_ADDING: dict[type, str] = {ast.Add: "add", ast.Sub: "subtract"}
_OVER_COLUMNS = {
    "sum": builtins.sum,
    "len": builtins.len,
    "list": builtins.list,
    "counter": collections.Counter,
}
_TAKING_GENERATORS = (builtins.sum, builtins.list, collections.Counter)
_Assigned = frozenset[str]


def fold_loops(function: Any, folds: Folds) -> FunctionType | None:
    """The function with loops that ask ``folds``; None where there is nothing to rewrite.

    What it calls by name, of the program's own, is rewritten, too. To be called within the
    analysis that runs it: what names stand for is looked up here.
    """
    return _folded(function, folds, {}, 0)


def _folded(
    function: Any, folds: Folds, known: dict[FunctionType, FunctionType | None], depth: int
) -> FunctionType | None:
    if type(function) is not FunctionType or depth > _DEEPEST:
        return None
    if function in known:
        return known[function]
    known[function] = None  # while it is looked at: it may call itself
    if is_foreign(function.__globals__.get("__name__")):
        return None
    source = read_source(function)
    if source is None or not names_in(function.__code__).isdisjoint(LOOKING):
        return None
    if any(name.startswith(OWN_NAMES) for name in function.__code__.co_varnames):
        return None
    rewriting = _Folding(source, lambda inner: _folded(inner, folds, known, depth + 1))
    body = [rewriting.visit(copy.deepcopy(statement)) for statement in source.body]
    if not rewriting.changes:
        return None
    helpers = {_FOLDS: folds} | rewriting.functions
    known[function] = source.compiled(source.with_body(_flat(body)), helpers)
    return known[function]


def _flat(parts: list[Any]) -> list[ast.stmt]:
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


class _NotFolded(Exception):
    """A loop that is left as it is written."""


class _Folding(ast.NodeTransformer):
    def __init__(self, source: FunctionSource, fold: Any) -> None:
        self.source = source
        self.changes = 0
        self.functions: dict[str, FunctionType] = {}
        self._fold = fold
        code = source.function.__code__
        #: Names of its own, comprehensions around the place among them.
        self._own = frozenset(code.co_varnames) | frozenset(code.co_cellvars)
        self._loops = 0
        # The statements as they are written: loops are looked for in these.
        self._written = source.body
        self._originals = {_place(one): one for one in _loops_in(source.body)}

    def _left(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _left

    # ---- expressions

    def visit_Call(self, node: ast.Call) -> Any:
        for name, function in _OVER_COLUMNS.items():
            if self._is_free(node.func) and is_builtin(self.source, node.func, function):
                return self._call_of_builtin(node, name, function)
        if isinstance(node.func, ast.Name) and self._is_free(node.func):
            self._replace_function(node)
        return self.generic_visit(node)

    def _call_of_builtin(self, node: ast.Call, name: str, function: Any) -> Any:
        arguments = node.args
        if not arguments or any(isinstance(one, ast.Starred) for one in arguments):
            return self.generic_visit(node)
        if any(one.arg is None for one in node.keywords):
            return self.generic_visit(node)
        if isinstance(arguments[0], ast.GeneratorExp) and function in _TAKING_GENERATORS:
            arguments[0] = self._comprehension(arguments[0])
        self.changes += 1
        made = self.generic_visit(node)
        assert isinstance(made, ast.Call)
        made.func = ast.copy_location(_attribute(_FOLDS, name), node.func)
        return made

    def _replace_function(self, node: ast.Call) -> None:
        assert isinstance(node.func, ast.Name)
        try:
            function = self.source.value_of(node.func.id)
        except KeyError:
            return
        made = self._fold(function)
        if made is not None:
            name = f"{OWN_NAMES}function_{node.func.id}"
            self.functions[name] = made
            self.changes += 1
            node.func = ast.copy_location(_name(name), node.func)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Any:
        """``folds.comprehension(iterable, as written, checked)``, or as it is written."""
        first = node.generators[0]
        try:
            if len(node.generators) > 1 or first.is_async:
                raise NotPure("several iterables")
            own = self._own | names_stored(first.target)
            for part in (node.elt, *first.ifs):
                check_expression(self.source, part, own)
        except NotPure:
            return self._in_scope(node)
        iterable = self.visit(first.iter)
        self.changes += 1
        hidden = f"{OWN_NAMES}iterable"
        checked = copy.deepcopy(node)
        wrap = _Wrapping(self.source, self._own - names_stored(first.target))
        inner = checked.generators[0]
        checked.elt, inner.ifs = wrap.visit(checked.elt), [wrap.visit(one) for one in inner.ifs]
        first.iter, inner.iter = _name(hidden), _name(hidden)
        lambdas = [_function_of(hidden, one) for one in (self._in_scope(node), checked)]
        call = ast.Call(_attribute(_FOLDS, "comprehension"), [iterable, *lambdas], [])
        return ast.copy_location(call, node)

    def _in_scope(self, node: Any) -> Any:
        before = self._own
        for part in node.generators:
            self._own |= names_stored(part.target)
        try:
            return self.generic_visit(node)
        finally:
            self._own = before

    visit_SetComp = visit_DictComp = visit_GeneratorExp = _in_scope

    def _is_free(self, node: ast.expr) -> bool:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id not in self._own

    # ---- loops

    def visit_For(self, node: ast.For) -> Any:
        try:
            return self._folded_for(node)
        except (NotPure, _NotFolded):
            return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> Any:
        try:
            return self._folded_while(node)
        except (NotPure, _NotFolded):
            return self.generic_visit(node)

    def _folded_for(self, node: ast.For) -> list[ast.stmt]:
        if node.orelse:
            raise _NotFolded
        index, record, iterable = self._parts_of(node)
        number = self._next()
        hidden = f"{OWN_NAMES}iterable_{number}"
        if index and not record:
            body, fields, arrays = self._indexed(node.body, index, number)
            found = _call("indexed", _name(hidden), _function_of(None, _tuple(arrays)))
        else:
            body, fields = node.body, [record]
            found = _call("loop", _name(hidden))
        one_pass = _Pass(self, node, fields, number, {index} if index else set())
        made = one_pass.rewritten(body)
        written = copy.deepcopy(node)
        walked: ast.expr = _name(hidden)
        if index and isinstance(iterable, ast.Call):
            walked, iterable = ast.Call(iterable.func, [walked], []), iterable.args[0]
        written.iter = walked
        plain = self._plain_loop(written)
        start = ast.Assign([_name(hidden, ast.Store())], self.visit(copy.deepcopy(iterable)))
        return self._either(node, [start], found, plain, one_pass, made, [])

    def _parts_of(self, node: ast.For) -> tuple[str, str, ast.expr]:
        """The names of index and record, "" for none, and what is walked over."""
        target, iterable = node.target, node.iter
        if isinstance(iterable, ast.Call) and len(iterable.args) == 1 and not iterable.keywords:
            function = iterable.func
            if self._is_free(function) and is_builtin(self.source, function, range):
                if isinstance(target, ast.Name) and isinstance(function, ast.Name):
                    return target.id, "", iterable
                raise _NotFolded
            if self._is_free(function) and is_builtin(self.source, function, enumerate):
                names = target.elts if isinstance(target, ast.Tuple) else []
                both = [one.id for one in names if isinstance(one, ast.Name)]
                if len(both) == len(names) == 2 and isinstance(function, ast.Name):
                    return both[0], both[1], iterable
                raise _NotFolded
        if isinstance(target, ast.Name):
            return "", target.id, iterable
        raise _NotFolded

    def _folded_while(self, node: ast.While) -> list[ast.stmt]:
        """``while i < count: ..; i += 1``, where i is used in ``array[i]`` only."""
        test = node.test
        if node.orelse or not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
            raise _NotFolded
        index, last = test.left.id, node.body[-1]
        limit = test.comparators[0]
        if len(test.ops) > 1 or not isinstance(test.ops[0], ast.Lt):
            raise _NotFolded
        if not _counts_up(last, index) or len(node.body) < 2 or _continues(node.body):
            raise _NotFolded
        if names_loaded(limit) & names_stored(*node.body):
            raise _NotFolded
        if not isinstance(limit, (ast.Name, ast.Constant)):
            if not isinstance(limit, ast.Call) or len(limit.args) != 1 or limit.keywords:
                raise _NotFolded
            if not isinstance(limit.args[0], ast.Name) or not self._is_free(limit.func):
                raise _NotFolded
            if not is_builtin(self.source, limit.func, len):
                raise _NotFolded
        number = self._next()
        body, fields, arrays = self._indexed(node.body[:-1], index, number)
        one_pass = _Pass(self, node, fields, number, {index}, read_later={index})
        made = one_pass.rewritten(body)
        limits = _function_of(None, _tuple([_name(index), self.visit(copy.deepcopy(limit))]))
        found = _call("counted", limits, _function_of(None, _tuple(arrays)))
        plain = self._plain_loop(copy.deepcopy(node))
        end = ast.Assign([_name(index, ast.Store())], _attribute(one_pass.loop, "length"))
        return self._either(node, [], found, plain, one_pass, made, [end])

    def _indexed(
        self, body: list[ast.stmt], index: str, number: int
    ) -> tuple[list[ast.stmt], list[str], list[ast.expr]]:
        """The body with names of its own for ``array[index]``, these names, and the arrays."""
        naming = _Naming(index, f"{OWN_NAMES}record_{number}_")
        made = [naming.visit(copy.deepcopy(one)) for one in body]
        if not naming.fields or index in names_loaded(*made) | names_stored(*made):
            raise _NotFolded
        if set(naming.fields) & names_stored(*made):
            raise _NotFolded
        return made, list(naming.fields.values()), [_name(one) for one in naming.fields]

    def _plain_loop(self, node: ast.For | ast.While) -> ast.stmt:
        """The loop as it is written, with what is inside it rewritten."""
        made = self.generic_visit(node)
        assert isinstance(made, ast.stmt)
        return made

    def _either(
        self,
        node: ast.stmt,
        start: list[ast.stmt],
        found: ast.expr,
        plain: ast.stmt,
        one_pass: _Pass,
        made: list[ast.stmt],
        end: list[ast.stmt],
    ) -> list[ast.stmt]:
        """As it is written where no column is walked, else its passes, and the sums of them."""
        self.changes += 1
        loop = one_pass.loop
        fields: list[ast.expr] = [_name(one, ast.Store()) for one in one_pass.fields]
        target = fields[0] if len(fields) == 1 else ast.Tuple(fields, ast.Store())
        walk = ast.For(target, _name(loop), made or [ast.Pass()], [])
        failing: list[ast.stmt] = [ast.Expr(ast.Call(_attribute(loop, "fail"), [], []))]
        handler = ast.ExceptHandler(_name(f"{OWN_NAMES}exception"), None, failing)
        totals = list(one_pass.totals())
        guarded = ast.Try([walk, *totals], [handler], [], [])
        choice = ast.If(
            ast.Compare(_name(loop), [ast.Is()], [ast.Constant(None)]), [plain], [guarded, *end]
        )
        self.functions.setdefault(f"{OWN_NAMES}exception", Exception)  # type: ignore[arg-type]
        statements = [*start, ast.Assign([_name(loop, ast.Store())], found), choice]
        for one in statements:
            ast.copy_location(one, node)
        return statements

    def _next(self) -> int:
        self._loops += 1
        return self._loops

    def check(self, node: ast.expr, own: _Assigned) -> None:
        """Raise NotPure unless an expression of a pass only calculates."""
        check_expression(self.source, node, self._own | own)

    @property
    def own(self) -> _Assigned:
        """Names of the function's own."""
        return self._own

    def names_read_later(self, node: ast.stmt) -> _Assigned:
        """Names that may be read after a loop, or by what is called later."""
        written = self._originals[_place(node)]
        later = names_read_after(self._written, written)
        return later | captured_names(self._written, written)


class _Pass:
    """The body of one loop: what it adds to, and its statements with additions noted."""

    def __init__(
        self,
        folding: _Folding,
        node: ast.For | ast.While,
        fields: list[str],
        number: int,
        hidden: set[str],
        read_later: set[str] | None = None,
    ) -> None:
        self._folding = folding
        self._node = node
        self.fields = fields
        self.loop = f"{OWN_NAMES}loop_{number}"
        self._hidden = hidden
        self._read_later = read_later or set()
        self._sums: set[str] = set()
        self._items: set[str] = set()
        self._temporary: set[str] = set()

    def rewritten(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a pass; raises where they do more than add up."""
        stored = names_stored(*body)
        if self._hidden & (names_loaded(*body) | stored):
            raise _NotFolded
        added = {name for one in body for name in _added_to(one)}
        others = {name for one in body for name in _assigned_otherwise(one)}
        self._sums = added - others - set(self.fields)
        self._temporary = stored - self._sums
        self._items = {name for one in body for name in _items_added_to(one)}
        forgotten = self._temporary | set(self.fields) | (self._hidden - self._read_later)
        own = self._folding.source.function.__code__.co_varnames
        cells = self._folding.source.function.__code__.co_cellvars
        if not stored <= {*own, *cells} or self._items & stored:
            raise _NotFolded
        if forgotten & self._folding.names_read_later(self._node):
            raise _NotFolded
        for name in self._items:
            if not _is_fresh_before(self._folding, self._node, name):
                raise _NotFolded
        if (self._sums | self._items) & _loaded_otherwise(body):
            raise _NotFolded
        made, _ = self._block(body, frozenset(self.fields))
        return made

    def totals(self) -> Iterator[ast.stmt]:
        """What follows the loop: each sum as it is then."""
        for names, method in ((self._sums, "total"), (self._items, "total_items")):
            for name in sorted(names):
                value = ast.Call(
                    _attribute(self.loop, method), [ast.Constant(name), _name(name)], []
                )
                yield ast.Assign([_name(name, ast.Store())], value)

    def _block(
        self, body: list[ast.stmt], assigned: _Assigned | None
    ) -> tuple[list[ast.stmt], _Assigned | None]:
        """Statements rewritten, and the names assigned after them; None for a place not reached."""
        made: list[ast.stmt] = []
        for statement in body:
            if assigned is None:
                break  # after continue
            one, assigned = self._statement(statement, assigned)
            made.append(ast.copy_location(one, statement))
        return made, assigned

    def _statement(self, node: ast.stmt, assigned: _Assigned) -> tuple[ast.stmt, _Assigned | None]:
        if isinstance(node, ast.Pass):
            return node, assigned
        if isinstance(node, ast.Continue):
            return node, None
        if isinstance(node, ast.AnnAssign) and node.value is not None and node.simple:
            plain = ast.Assign([node.target], node.value)
            return self._statement(ast.copy_location(plain, node), assigned)
        addition = _addition(node)
        if addition is not None and addition[0] in self._sums:
            name, method, value = addition
            call = self._noted(method, [ast.Constant(name), self._value(value, assigned)])
            return call, assigned
        if isinstance(node, ast.AugAssign):
            return self._in_place(node, assigned)
        if isinstance(node, ast.Assign):
            names = list(_names_of(node.targets))
            if not set(names) <= self._temporary:
                raise _NotFolded
            return ast.Assign(node.targets, self._value(node.value, assigned)), assigned | set(
                names
            )
        if isinstance(node, ast.If):
            body, after = self._block(node.body, assigned)
            other, after_other = self._block(node.orelse, assigned)
            both = _joined(after, after_other)
            return ast.If(self._value(node.test, assigned), body or [ast.Pass()], other), both
        if isinstance(node, ast.For) and not node.orelse:
            return self._inner_loop(node, assigned), assigned
        raise _NotFolded

    def _in_place(self, node: ast.AugAssign, assigned: _Assigned) -> tuple[ast.stmt, _Assigned]:
        target, value = node.target, self._value(node.value, assigned)
        if isinstance(target, ast.Subscript):
            method = _ADDING.get(type(node.op))
            if method is None or not isinstance(target.value, ast.Name):
                raise _NotFolded
            key = self._value(target.slice, assigned)
            name = ast.Constant(target.value.id)
            return self._noted(f"{method}_item", [name, key, value]), assigned
        if not isinstance(target, ast.Name) or target.id not in assigned:
            raise _NotFolded
        before = ast.Call(_attribute(_FOLDS, "number"), [_name(target.id)], [])
        number = ast.BinOp(before, node.op, value)
        return ast.Assign([target], ast.copy_location(number, node)), assigned

    def _inner_loop(self, node: ast.For, assigned: _Assigned) -> ast.stmt:
        if not isinstance(node.target, ast.Name) or node.target.id not in self._temporary:
            raise _NotFolded
        iterable = self._value(node.iter, assigned)
        body, _ = self._block(node.body, assigned | {node.target.id})
        return ast.For(node.target, iterable, body or [ast.Pass()], [])

    def _noted(self, method: str, arguments: list[ast.expr]) -> ast.stmt:
        return ast.Expr(ast.Call(_attribute(self.loop, method), arguments, []))

    def _value(self, node: ast.expr, assigned: _Assigned) -> ast.expr:
        """An expression of a pass: what it reads was assigned in it, or is constant data."""
        mine = self._temporary | set(self.fields)
        self._folding.check(node, frozenset(mine))
        if (names_loaded(node) & mine) - assigned:
            raise _NotFolded
        made = _Wrapping(self._folding.source, self._folding.own - mine).visit(copy.deepcopy(node))
        assert isinstance(made, ast.expr)
        return made


class _Wrapping(ast.NodeTransformer):
    """Puts ``folds.plain(name)`` for names that are assigned outside."""

    def __init__(self, source: FunctionSource, outside: _Assigned) -> None:
        self._source = source
        self._outside = outside

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._outside or not isinstance(node.ctx, ast.Load):
            return node
        call = ast.Call(_attribute(_FOLDS, "plain"), [node], [])
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> Any:
        made = self.generic_visit(node)
        if len(node.args) == 1 and is_builtin(self._source, node.func, builtins.len):
            inner = node.args[0]
            # Of a column it is the number of records that is read, if it is a number.
            if isinstance(inner, ast.Call) and ast.dump(inner.func) == ast.dump(_PLAIN):
                inside = ast.Call(_attribute(_FOLDS, "len"), [inner.args[0]], [])
                return ast.copy_location(ast.Call(_attribute(_FOLDS, "plain"), [inside], []), node)
        return made

    def _comprehension(self, node: Any) -> Any:
        before = self._outside
        for part in node.generators:
            part.iter = self.visit(part.iter)
            self._outside -= names_stored(part.target)
            part.ifs = [self.visit(one) for one in part.ifs]
        node.elt = self.visit(node.elt)
        self._outside = before
        return node

    visit_ListComp = visit_GeneratorExp = _comprehension


class _Naming(ast.NodeTransformer):
    """Puts a name for each ``array[index]``."""

    def __init__(self, index: str, prefix: str) -> None:
        self._index, self._prefix = index, prefix
        self.fields: dict[str, str] = {}

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        at_index = isinstance(node.slice, ast.Name) and node.slice.id == self._index
        if at_index and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            array = node.value.id
            field = self.fields.setdefault(array, f"{self._prefix}{len(self.fields)}")
            return ast.copy_location(_name(field), node)
        return self.generic_visit(node)


def _addition(node: ast.stmt) -> tuple[str, str, ast.expr] | None:
    """``(name, "add" or "subtract", value)`` of ``name += value`` and ``name = name + value``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        method = _ADDING.get(type(node.op))
        return None if method is None else (node.target.id, method, node.value)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.BinOp):
        return None
    method = _ADDING.get(type(value.op))
    if method is not None and isinstance(value.left, ast.Name) and value.left.id == target.id:
        return target.id, method, value.right
    if method == "add" and isinstance(value.right, ast.Name) and value.right.id == target.id:
        return target.id, method, value.left
    return None


def _statements_in(node: ast.stmt) -> Iterator[ast.stmt]:
    yield from (one for one in ast.walk(node) if isinstance(one, ast.stmt))


def _added_to(node: ast.stmt) -> Iterator[str]:
    for one in _statements_in(node):
        addition = _addition(one)
        if addition is not None:
            yield addition[0]


def _assigned_otherwise(node: ast.stmt) -> Iterator[str]:
    for one in _statements_in(node):
        if _addition(one) is None and not isinstance(one, ast.If):
            inner = [one.target] if isinstance(one, ast.For) else [one]
            yield from names_stored(*inner)


def _items_added_to(node: ast.stmt) -> Iterator[str]:
    for one in _statements_in(node):
        target = one.target if isinstance(one, ast.AugAssign) else None
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id


def _loaded_otherwise(body: list[ast.stmt]) -> set[str]:
    """Names that are read by more than the additions to them."""
    found: set[str] = set()
    for one in body:
        addition = _addition(one)
        if addition is not None:
            found |= names_loaded(addition[2])
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Subscript):
            found |= names_loaded(one.target.slice, one.value)
        elif isinstance(one, ast.If):
            found |= names_loaded(one.test) | _loaded_otherwise([*one.body, *one.orelse])
        elif isinstance(one, ast.For):
            found |= names_loaded(one.iter) | _loaded_otherwise([*one.body, *one.orelse])
        else:
            found |= names_loaded(one)
    return found


def _is_fresh_before(folding: _Folding, node: ast.stmt, name: str) -> bool:
    """Whether a name is of a list or dict that was made just before, and that nothing else has."""
    block = _block_with(folding.source.body, _place(node))
    if block is None:
        return False
    statements, place = block
    for one in reversed(statements[:place]):
        if isinstance(one, ast.Assign) and name in names_stored(one):
            only = len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)
            return only and _makes_new(folding, one.value) and name not in names_loaded(one)
        if name in names_loaded(one) | names_stored(one):
            return False
    return False


def _makes_new(folding: _Folding, node: ast.expr) -> bool:
    """Whether it is a list or dict of its own: a display, a repeated one, a comprehension."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "fromkeys":
            return is_builtin(folding.source, function.value, builtins.dict)
        return is_builtin(folding.source, function, _ZEROS)
    return isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp))


def _block_with(body: list[ast.stmt], place: tuple[int, int]) -> tuple[list[ast.stmt], int] | None:
    for number, one in enumerate(body):
        if isinstance(one, (ast.For, ast.While)) and _place(one) == place:
            return body, number
        for _, inner in ast.iter_fields(one):
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                found = _block_with(inner, place)
                if found is not None:
                    return found
    return None


def _names_of(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if not isinstance(one, ast.Name):
                raise _NotFolded
            yield one.id


def _joined(one: _Assigned | None, other: _Assigned | None) -> _Assigned | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _counts_up(node: ast.stmt, index: str) -> bool:
    """Whether it is ``index += 1``."""
    addition = _addition(node)
    if addition is None or addition[:2] != (index, "add"):
        return False
    step = addition[2]
    return isinstance(step, ast.Constant) and type(step.value) is int and step.value == 1


def _continues(body: list[ast.stmt]) -> bool:
    return any(isinstance(inner, ast.Continue) for one in body for inner in ast.walk(one))


def _loops_in(body: list[ast.stmt]) -> Iterator[ast.For | ast.While]:
    for one in body:
        yield from (inner for inner in ast.walk(one) if isinstance(inner, (ast.For, ast.While)))


def _place(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def _attribute(owner: str, name: str) -> ast.expr:
    return ast.Attribute(_name(owner), name, ast.Load())


def _call(method: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_attribute(_FOLDS, method), list(arguments), [])


def _tuple(entries: list[ast.expr]) -> ast.expr:
    return ast.Tuple(entries, ast.Load())


def _function_of(argument: str | None, body: ast.expr) -> ast.expr:
    names = [] if argument is None else [ast.arg(argument)]
    arguments = ast.arguments(
        posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.Lambda(arguments, body)


_PLAIN = _attribute(_FOLDS, "plain")
