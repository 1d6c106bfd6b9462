"""One pass of a loop over records: what it adds to, and its statements with additions noted."""

from __future__ import annotations

import ast
import builtins
import collections
from collections.abc import Iterator
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from liptest.enumerate.loops.pass_forms import (
    ConditionsAsTests,
    MatchesAsTests,
    NotFolded,
    addition_in,
    append_in,
    call_in,
    count_in_one,
    entry_addition,
    name_before,
    take_apart,
)
from liptest.enumerate.loops.start_over import join_assigned
from liptest.enumerate.syntax.liveness import free_names
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    find_constant,
    is_builtin,
    is_object,
    local_function,
)
from liptest.enumerate.syntax.source import (
    OWN_NAMES,
    FunctionSource,
    copy_tree,
    names_loaded,
    names_stored,
)
from liptest.enumerate.syntax.tree_pieces import (
    FOLDS,
    attribute_node,
    call_of_folds,
    lambda_node,
    name_node,
    nodes_in,
    place_in_file,
    reads_keys,
    target_node,
)

Assigned = frozenset[str]
_LEAVING = (ast.Break, ast.Return, ast.Raise)
_LOOKED_FOR = (ast.For, ast.While, ast.Expr)
_BLOCKS = (ast.If, ast.Try)
# What is not followed raises TypeError, which a program must not catch.
_CAUGHT = (ValueError, KeyError, IndexError, LookupError, ZeroDivisionError)
_NEW = (np.zeros, np.ones, np.full, collections.defaultdict, collections.Counter)


class Rewriting(Protocol):
    """The rewriting of the function that a loop is part of."""

    source: FunctionSource

    @property
    def own(self) -> Assigned:
        """Names of the function's own."""
        ...

    def check(self, node: ast.expr, own: Assigned, *, calls: bool = False) -> None:
        """Raise NotPure unless an expression of a pass only calculates."""
        ...

    def names_read_later(self, node: ast.stmt) -> Assigned:
        """Names that may be read after a loop, or by what is called later."""
        ...


class Pass:
    """The body of one loop: what it adds to, and its statements with additions noted."""

    def __init__(
        self,
        folding: Rewriting,
        node: ast.stmt,
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
        self._lists: set[str] = set()
        self._temporary: set[str] = set()
        #: Methods that are called for what they add: "owner.method".
        self.calls: set[str] = set()
        # Within a loop of a pass.
        self._is_inner = False
        self._fresh: Assigned = frozenset()

    def rewritten(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a pass; raises where they do more than add up."""
        body = [MatchesAsTests().visit(copy_tree(statement)) for statement in body]
        body = [ConditionsAsTests().visit(statement) for statement in body]
        body = [inner for statement in name_before(body) for inner in take_apart(statement)]
        body = count_in_one(body)
        own = self._folding.source.function.__code__.co_varnames
        cells = self._folding.source.function.__code__.co_cellvars
        stored = names_stored(*body)
        stored -= _names_in_comprehensions(body) - {*own, *cells}
        if self._hidden & (names_loaded(*body) | stored):
            raise NotFolded
        added = {name for statement in body for name in _find_added_to(statement)}
        others = {name for statement in body for name in _find_assigned_otherwise(statement)}
        self._sums = added - others - set(self.fields)
        self._temporary = stored - self._sums
        self._items = {name for statement in body for name in _items_added_to(statement)}
        self._lists = {name for statement in body for name in _find_appended_to(statement)}
        forgotten = self._temporary | set(self.fields) | (self._hidden - self._read_later)
        tables = self._items | self._lists
        owners = {name.partition(".")[0] for name in self._sums | tables if "." in name}
        if not stored | owners <= {*own, *cells} or (self._items | self._lists) & stored:
            raise NotFolded
        if owners & (stored | set(self.fields) | self._hidden):
            raise NotFolded
        if forgotten & self._folding.names_read_later(self._node):
            raise NotFolded
        if self._items & self._lists:
            raise NotFolded
        in_tables = self._tables_of_tables(body)
        for name in tables:
            depth = 2 if name in in_tables else 1
            # Of an attribute it is looked at run time who holds its value.
            if "." not in name and not is_fresh_before(self._folding, self._node, name, depth):
                raise NotFolded
        if (self._sums | self._items | self._lists) & _find_loaded_otherwise(body):
            raise NotFolded
        if (stored | self._items | self._lists) & self._read_by_local_functions(body):
            raise NotFolded
        made, _ = self._block(body, frozenset(self.fields))
        return made

    def _tables_of_tables(self, body: list[ast.stmt]) -> set[str]:
        """Names whose entries are added to, or appended to, themselves."""
        statements = [inner for statement in body for inner in _statements_in(statement)]
        entries = [entry for entry in map(entry_addition, statements) if entry is not None]
        if any(len(keys.elts) > 2 for _, how, keys, _ in entries if how.endswith("_inside")):  # type: ignore[attr-defined]
            raise NotFolded
        appended = [one for one in map(append_in, statements) if one is not None]
        return {name for name, how, _, _ in entries if how.endswith("_inside")} | {
            name for name, key, *_ in appended if key is not None
        }

    def _read_by_local_functions(self, body: list[ast.stmt]) -> Assigned:
        """Names that functions which are made beside the loop read, whenever they are called."""
        found = Assigned()
        source = self._folding.source
        for one in names_loaded(*source.body):
            node = local_function(source, one)
            found |= Assigned() if node is None else free_names(node)
        called = {call.func.id for call in nodes_in(body, ast.Call) if type(call.func) is ast.Name}
        if any(local_function(source, name) is None for name in called & self._folding.own):
            # It may be any function that is made here.
            found |= Assigned(source.function.__code__.co_cellvars)
        return found

    def accumulators(self) -> Iterator[tuple[str, str]]:
        """What is added to, each with what tells it after the loop."""
        for names, method in (
            (self._sums, "total"),
            (self._items, "total_items"),
            (self._lists, "appended"),
        ):
            yield from ((method, name) for name in sorted(names))

    def guarded(self, made: list[ast.stmt]) -> ast.Try:
        """All passes of a rewritten body and the sums of them; what one raises ends the run."""
        walk = ast.For(target_node(self.fields), name_node(self.loop), made or [ast.Pass()], [])
        failing: list[ast.stmt] = [ast.Expr(ast.Call(attribute_node(self.loop, "fail"), [], []))]
        handler = ast.ExceptHandler(name_node(f"{OWN_NAMES}exception"), None, failing)
        return ast.Try([*self.changing(), walk, *self.totals()], [handler], [], [])

    def totals(self) -> Iterator[ast.stmt]:
        """What follows the loop: each sum as it is then."""
        for method, name in self.accumulators():
            owner, _, attribute = name.rpartition(".")
            if owner:
                parts = [ast.Constant(one) for one in (method, name, attribute)]
                yield self._noted("total_held", [*parts, self._object(owner)])
                continue
            value = ast.Call(
                attribute_node(self.loop, method), [ast.Constant(name), name_node(name)], []
            )
            yield ast.Assign([name_node(name, ast.Store())], value)
        if self.calls:
            yield self._noted("totals_of_calls", [])

    def changing(self) -> Iterator[ast.stmt]:
        """What is told before the first pass: attributes that are added to, and methods that do."""
        names = {name.rpartition(".")[2] for _, name in self.accumulators() if "." in name}
        if names:
            yield self._noted("changes", [ast.Constant(name) for name in sorted(names)])
        for name in sorted(self.calls):
            owner, _, method = name.rpartition(".")
            parts = [ast.Constant(name), self._object(owner), ast.Constant(method)]
            yield self._noted("will_call", parts)

    def _object(self, path: str) -> ast.expr:
        """The object of a name, or one that it holds: ``self.sums``."""
        owner, _, attribute = path.partition(".")
        if not attribute:
            return name_node(owner)
        parts = [name_node(owner), ast.Constant(attribute)]
        return ast.Call(attribute_node(self.loop, "part"), parts, [])

    def _block(
        self, body: list[ast.stmt], assigned: Assigned | None
    ) -> tuple[list[ast.stmt], Assigned | None]:
        """Statements rewritten, and the names assigned after them; None for a place not reached."""
        made: list[ast.stmt] = []
        outside, self._fresh = self._fresh, frozenset()
        for statement in body:
            if assigned is None:
                break  # after continue
            folded, assigned = self._statement(statement, assigned)
            made.append(ast.copy_location(folded, statement))
            self._fresh = _fresh_after(self._folding.source, statement, self._fresh)
        self._fresh = outside
        return made, assigned

    def _statement(self, node: ast.stmt, assigned: Assigned) -> tuple[ast.stmt, Assigned | None]:
        if isinstance(node, ast.Pass):
            return node, assigned
        if isinstance(node, ast.Continue):
            return node, None
        if isinstance(node, ast.Break) and self._is_inner:
            return node, None
        if isinstance(node, _LEAVING):
            # For all records that get here the loop would end, or the function.
            return self._noted("leave", [ast.Constant(type(node).__name__.lower())]), None
        if isinstance(node, ast.Try):
            return self._guard_statement(node, assigned)
        if isinstance(node, ast.AnnAssign) and node.value is not None and node.simple:
            plain = ast.Assign([node.target], node.value)
            return self._statement(ast.copy_location(plain, node), assigned)
        collecting = self._collecting(node, assigned)
        if collecting is not None:
            return collecting, assigned
        if isinstance(node, ast.AugAssign):
            return self._in_place(node, assigned)
        if isinstance(node, ast.Assign):
            names = list(_find_names(node.targets))
            if not set(names) <= self._temporary:
                raise NotFolded
            return ast.Assign(node.targets, self._value(node.value, assigned)), assigned | set(
                names
            )
        chosen = choice_in(node, self._fresh)
        if chosen is not None and set(_find_names(chosen.targets)) <= assigned:
            return self._statement(ast.copy_location(chosen, node), assigned)
        if isinstance(node, ast.If):
            body, after = self._block(node.body, assigned)
            other, after_other = self._block(node.orelse, assigned)
            both = join_assigned(after, after_other)
            return ast.If(self._value(node.test, assigned), body or [ast.Pass()], other), both
        if isinstance(node, ast.For) and not node.orelse:
            return self._inner_loop(node, assigned), assigned
        raise NotFolded

    def _collecting(self, node: ast.stmt, assigned: Assigned) -> ast.stmt | None:
        """What notes that a pass adds to a sum or an entry, appends, or calls a method."""
        addition = addition_in(node)
        if addition is not None and addition[0] in self._sums:
            name, method, value = addition
            return self._noted(method, [ast.Constant(name), self._value(value, assigned)])
        entry = entry_addition(node)
        if entry is not None:
            name, method, key, value = entry
            parts = [self._value(key, assigned), self._value(value, assigned)]
            return self._noted(method, [ast.Constant(name), *parts])
        appended = append_in(node)
        if appended is not None:
            name, place, value, is_new = appended
            parts = [ast.Constant(name), self._value(value, assigned)]
            parts += [] if place is None else [self._value(place, assigned)]
            return self._noted("append_new" if is_new else "append", parts)
        called = call_in(node)
        return None if called is None else self._call(*called, assigned)

    def _call(self, name: str, call: ast.Call, assigned: Assigned) -> ast.stmt:
        """``acc.add(v)``, of an object that no pass assigns."""
        owner = name.partition(".")[0]
        is_own = owner in self._folding.own and owner not in {*self._temporary, *self.fields}
        if not is_own or owner in self._hidden | self._sums | self._items | self._lists:
            raise NotFolded
        self.calls.add(name)
        parts = [self._value(part, assigned) for part in call.args]
        named = [
            ast.keyword(keyword.arg, self._value(keyword.value, assigned))
            for keyword in call.keywords
        ]
        note = attribute_node(self.loop, "call")
        return ast.Expr(ast.Call(note, [ast.Constant(name), *parts], named))

    def _guard_statement(
        self, node: ast.Try, assigned: Assigned
    ) -> tuple[ast.stmt, Assigned | None]:
        """``try: .. except ValueError: ..``, of exceptions that an analysis itself never raises."""
        if node.orelse or node.finalbody:
            raise NotFolded
        body, after = self._block(node.body, assigned)
        handlers = []
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            if handler.name or not all(self._is_caught(kind) for kind in kinds):
                raise NotFolded
            inner, after_handler = self._block(handler.body, assigned)
            handlers.append(ast.ExceptHandler(handler.type, None, inner or [ast.Pass()]))
            after = join_assigned(after, after_handler)
        return ast.Try(body or [ast.Pass()], handlers, [], []), after

    def _is_caught(self, kind: ast.expr | None) -> bool:
        source = self._folding.source
        return kind is not None and any(is_builtin(source, kind, one) for one in _CAUGHT)

    def _in_place(self, node: ast.AugAssign, assigned: Assigned) -> tuple[ast.stmt, Assigned]:
        target, value = node.target, self._value(node.value, assigned)
        if not isinstance(target, ast.Name) or target.id not in assigned:
            raise NotFolded
        how = "own_row" if target.id in self._fresh else "number"
        before = call_of_folds(how, name_node(target.id))
        number = ast.BinOp(before, node.op, value)
        return ast.Assign([target], ast.copy_location(number, node)), assigned

    def _inner_loop(self, node: ast.For, assigned: Assigned) -> ast.stmt:
        names = frozenset(_find_names([node.target]))
        if not names <= self._temporary:
            raise NotFolded
        iterable = self._value(node.iter, assigned)
        was_inner, self._is_inner = self._is_inner, True
        body, _ = self._block(node.body, assigned | names)
        self._is_inner = was_inner
        return ast.For(node.target, iterable, body or [ast.Pass()], [])

    def _noted(self, method: str, arguments: list[ast.expr]) -> ast.stmt:
        return ast.Expr(ast.Call(attribute_node(self.loop, method), arguments, []))

    def _value(self, node: ast.expr, assigned: Assigned) -> ast.expr:
        """An expression of a pass: what it reads was assigned in it, or is constant data."""
        mine = self._temporary | set(self.fields)
        self._folding.check(node, frozenset(mine), calls=True)
        if (names_loaded(node) & mine) - assigned:
            raise NotFolded
        made = Wrapping(self._folding.source, self._folding.own - mine).visit(copy_tree(node))
        assert isinstance(made, ast.expr)
        return made


class Wrapping(ast.NodeTransformer):
    """Puts ``folds.plain(name)`` for names that are assigned outside, and ``folds.attribute``."""

    def __init__(self, source: FunctionSource, outside: Assigned) -> None:
        self._source = source
        self._outside = outside

    def _is_outside(self, name: str) -> bool:
        return name in self._outside or is_object(self._source, name)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._outside or not isinstance(node.ctx, ast.Load):
            return node
        call = call_of_folds("plain", node)
        return ast.copy_location(call, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        owner = node.value
        if not isinstance(owner, ast.Name) or not self._is_outside(owner.id):
            return self.generic_visit(node)  # type: ignore[return-value]
        call = call_of_folds("attribute", owner, ast.Constant(node.attr))
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> Any:
        method = node.func
        if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name):
            owner = method.value
            if self._is_outside(owner.id):
                of_owner = call_of_folds("method", owner, ast.Constant(method.attr))
                node.func = ast.copy_location(of_owner, method)
                node.args = [self.visit(argument) for argument in node.args]
                for keyword in node.keywords:
                    keyword.value = self.visit(keyword.value)
                return node
        end = self._end_in(node)
        is_function = isinstance(method, ast.Name) and self._is_function(method)
        made = self.generic_visit(node)
        if end or is_function:
            called = attribute_node(FOLDS, end) if end else call_of_folds("plain", method)
            node.func = ast.copy_location(called, method)
            return node
        if len(node.args) == 1 and is_builtin(self._source, node.func, builtins.len):
            inner = node.args[0]
            # Of a column it is the number of records that is read, if it is a number.
            if isinstance(inner, ast.Call) and ast.dump(inner.func) == ast.dump(_PLAIN):
                inside = call_of_folds("len", inner.args[0])
                return ast.copy_location(
                    ast.Call(attribute_node(FOLDS, "plain"), [inside], []), node
                )
        return made

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Where a norm is compared neither side need be taken for all records of a cell."""
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.IfExp)
        if not _is_one_comparison(visited.test):
            return visited
        assert isinstance(visited.test, ast.Compare)
        name, value = f"{OWN_NAMES}above", visited.test.left
        if isinstance(value, ast.Constant):
            value = visited.test.comparators[0]
        putting = _Putting(ast.dump(value), name)
        sides = [
            lambda_node(name, putting.visit(copy_tree(side)))
            for side in (visited.body, visited.orelse)
        ]
        return ast.copy_location(call_of_folds("either", visited.test, value, *sides), node)

    def _end_in(self, node: ast.Call) -> str:
        """Of ``max(a, b)``, or ``min``, what takes its place."""
        if len(node.args) != 2 or node.keywords:
            return ""
        ends = {"larger": builtins.max, "smaller": builtins.min}
        found = (n for n, one in ends.items() if is_builtin(self._source, node.func, one))
        return next(found, "")

    def _is_function(self, node: ast.Name) -> bool:
        """Whether it is a global name of a function of the program."""
        try:
            return type(find_constant(self._source, node)) is FunctionType
        except NotPure:
            return False

    def _comprehension(self, node: Any) -> Any:
        before = self._outside
        for part in node.generators:
            part.iter = self.visit(part.iter)
            self._outside -= names_stored(part.target)
            part.ifs = [self.visit(test) for test in part.ifs]
        node.elt = self.visit(node.elt)
        self._outside = before
        return node

    visit_ListComp = visit_GeneratorExp = _comprehension


def _names_in_comprehensions(body: list[ast.stmt]) -> set[str]:
    """Names that are assigned in comprehensions, whose scope is their own."""
    parts = nodes_in(body, ast.ListComp, ast.GeneratorExp)
    return {name for one in parts for part in one.generators for name in names_stored(part.target)}


def _statements_in(node: ast.stmt) -> Iterator[ast.stmt]:
    yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.stmt))


def _find_added_to(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        addition = addition_in(statement)
        if addition is not None:
            yield addition[0]


def _find_assigned_otherwise(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        if addition_in(statement) is None and not isinstance(statement, (*_LEAVING, *_BLOCKS)):
            inner = [statement.target] if isinstance(statement, ast.For) else [statement]
            yield from names_stored(*inner)


def _items_added_to(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        entry = entry_addition(statement)
        if entry is not None:
            yield entry[0]


def _find_appended_to(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        appended = append_in(statement)
        if appended is not None:
            yield appended[0]


def _find_loaded_otherwise(body: list[ast.stmt]) -> set[str]:
    """Names that are read by more than the additions to them."""
    names: set[str] = set()
    for statement in body:
        addition = addition_in(statement)
        if addition is not None:
            names |= names_loaded(addition[2])
        elif (entry := entry_addition(statement)) is not None:
            names |= names_loaded(entry[2], entry[3])
        elif (appended := append_in(statement)) is not None:
            names |= names_loaded(*(part for part in appended[1:3] if part is not None))
        elif isinstance(statement, (ast.If, ast.For)):
            first = statement.test if isinstance(statement, ast.If) else statement.iter
            inner = [*statement.body, *statement.orelse]
            names |= names_loaded(first) | _find_loaded_otherwise(inner)
        elif isinstance(statement, ast.Try):
            handled = [each for handler in statement.handlers for each in handler.body]
            names |= _find_loaded_otherwise([*statement.body, *handled])
        elif (called := call_in(statement)) is not None:
            names |= names_loaded(
                *called[1].args, *(keyword.value for keyword in called[1].keywords)
            )
        elif not isinstance(statement, _LEAVING):
            names |= names_loaded(statement)
    return names


def is_fresh_before(folding: Rewriting, node: ast.stmt, name: str, depth: int = 1) -> bool:
    """Whether a name is of a list or dict that was made just before, and that nothing else has.

    With a ``depth`` of 2 so are its entries.
    """
    block = _block_with(folding.source.body, place_in_file(node))
    if block is None:
        return False
    statements, place = block
    for statement in reversed(statements[:place]):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in names_stored(statement):
            value = _value_assigned_to(statement, name)
            is_new = value is not None and _makes_new(folding, value, depth)
            return is_new and name not in names_loaded(statement)
        if name in names_loaded(statement) | names_stored(statement) and not reads_keys(statement):
            return False
    return False


def _value_assigned_to(node: ast.Assign | ast.AnnAssign, name: str) -> ast.expr | None:
    """What a name alone is assigned, by itself or as one of several; None where that is unclear."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    target, value = targets[0], node.value
    if len(targets) == 1 and isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if len(target.elts) != len(value.elts):
            return None
        pairs = zip(target.elts, value.elts, strict=True)
        found = [part for to, part in pairs if name in names_stored(to) or name in names_loaded(to)]
        is_one = len(found) == 1 and all(isinstance(to, ast.Name) for to in target.elts)
        return found[0] if is_one else None
    return value if len(targets) == 1 and isinstance(target, ast.Name) else None


def _makes_new(folding: Rewriting, node: ast.expr, depth: int) -> bool:
    """Whether it is a list or dict of its own: a display, a repeated one, a comprehension."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = [side for side in (node.left, node.right) if isinstance(side, ast.List)]
        return bool(sides) and _makes_new(folding, sides[0], depth)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "fromkeys":
            return depth == 1 and is_builtin(folding.source, function.value, builtins.dict)
        makers = _NEW if node.args or node.keywords else (*_NEW, builtins.dict, builtins.list)
        return any(is_builtin(folding.source, function, maker) for maker in makers)
    entries: list[ast.expr] = []
    if isinstance(node, (ast.List, ast.Dict)):
        entries = node.elts if isinstance(node, ast.List) else node.values
    elif isinstance(node, (ast.ListComp, ast.DictComp)):
        entries = [node.elt if isinstance(node, ast.ListComp) else node.value]
    else:
        return False
    return depth == 1 or all(_makes_new(folding, entry, depth - 1) for entry in entries)


def _block_with(body: list[ast.stmt], place: tuple[int, int]) -> tuple[list[ast.stmt], int] | None:
    for number, statement in enumerate(body):
        if place_in_file(statement) == place and isinstance(statement, _LOOKED_FOR):
            return body, number
        for _, inner in ast.iter_fields(statement):
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                block = _block_with(inner, place)
                if block is not None:
                    return block
    return None


def _fresh_after(source: FunctionSource, node: ast.stmt, fresh: Assigned) -> Assigned:
    """Names of what has just been calculated, and is not known under another name."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return fresh - _may_be(source, node.value)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return frozenset()
    [target], value = node.targets, node.value
    if not isinstance(target, ast.Name):
        return frozenset()
    own = {target.id} if isinstance(value, ast.BinOp) else set()
    return (fresh - {target.id} - _may_be(source, value)) | own


def _may_be(source: FunctionSource, node: ast.expr) -> set[str]:
    """Names of what an expression may give, or hold: an operation gives something new."""
    if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.Constant)):
        return set()
    if isinstance(node, ast.Call) and is_builtin(source, node.func, np.linalg.norm):
        return set()
    return names_loaded(node)


def choice_in(node: ast.stmt, fresh: Assigned = frozenset()) -> ast.Assign | None:
    """``if norm > c: row = row * (c / norm)`` as a choice between that and ``row``.

    ``fresh`` are names of rows that may be changed in place, as by ``row *= c / norm``.
    """
    if not isinstance(node, ast.If) or len(node.body) != 1 or node.orelse:
        return None
    [statement] = node.body
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        target = statement.target
        if target.id in fresh:
            value = ast.BinOp(name_node(target.id), statement.op, statement.value)
            statement = ast.copy_location(ast.Assign([target], value), statement)
    if not isinstance(statement, ast.Assign) or not _is_one_comparison(node.test):
        return None
    if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        return None
    before = name_node(statement.targets[0].id)
    return ast.Assign(statement.targets, ast.IfExp(node.test, statement.value, before))


def _is_one_comparison(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq))
    )


class _Putting(ast.NodeTransformer):
    """Puts a name for each expression like a given one."""

    def __init__(self, shown: str, name: str) -> None:
        self._shown, self._name = shown, name

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and ast.dump(node) == self._shown:
            return name_node(self._name)
        return self.generic_visit(node)


def _find_names(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _find_names(target.elts)
        elif isinstance(target, ast.Name):
            yield target.id
        else:
            raise NotFolded


_PLAIN = attribute_node(FOLDS, "plain")
