"""One pass of a loop over records: what it adds to, and its statements with additions noted."""

from __future__ import annotations

import ast
import builtins
import collections
import copy
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from liptest.enumerate.liveness import free_names
from liptest.enumerate.pure_code import is_builtin, local_function
from liptest.enumerate.source import OWN_NAMES, FunctionSource, names_loaded, names_stored
from liptest.enumerate.tree_pieces import (
    FOLDS,
    attribute_node,
    call_of_folds,
    name_node,
    place_in_file,
)

Assigned = frozenset[str]
_ADDING: dict[type, str] = {ast.Add: "add", ast.Sub: "subtract"}
_NEW = (np.zeros, collections.defaultdict, collections.Counter)


class NotFolded(Exception):
    """A loop that is left as it is written."""


class Rewriting(Protocol):
    """The rewriting of the function that a loop is part of."""

    source: FunctionSource

    @property
    def own(self) -> Assigned:
        """Names of the function's own."""
        ...

    def check(self, node: ast.expr, own: Assigned) -> None:
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
        self._lists: set[str] = set()
        self._temporary: set[str] = set()

    def rewritten(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a pass; raises where they do more than add up."""
        body = [_MatchesAsTests().visit(copy.deepcopy(statement)) for statement in body]
        body = [inner for statement in body for inner in _taken_apart(statement)]
        body = _counted_in_one(body)
        stored = names_stored(*body)
        if self._hidden & (names_loaded(*body) | stored):
            raise NotFolded
        added = {name for statement in body for name in _added_to(statement)}
        others = {name for statement in body for name in _assigned_otherwise(statement)}
        self._sums = added - others - set(self.fields)
        self._temporary = stored - self._sums
        self._items = {name for statement in body for name in _items_added_to(statement)}
        self._lists = {name for statement in body for name in _appended_to(statement)}
        forgotten = self._temporary | set(self.fields) | (self._hidden - self._read_later)
        own = self._folding.source.function.__code__.co_varnames
        cells = self._folding.source.function.__code__.co_cellvars
        if not stored <= {*own, *cells} or (self._items | self._lists) & stored:
            raise NotFolded
        if forgotten & self._folding.names_read_later(self._node):
            raise NotFolded
        if self._items & self._lists:
            raise NotFolded
        for name in self._items | self._lists:
            if not is_fresh_before(self._folding, self._node, name):
                raise NotFolded
        if (self._sums | self._items | self._lists) & _loaded_otherwise(body):
            raise NotFolded
        if (stored | self._items | self._lists) & self._read_by_local_functions():
            raise NotFolded
        made, _ = self._block(body, frozenset(self.fields))
        return made

    def _read_by_local_functions(self) -> Assigned:
        """Names that functions which are made beside the loop read, whenever they are called."""
        found = Assigned()
        for one in names_loaded(*self._folding.source.body):
            node = local_function(self._folding.source, one)
            found |= Assigned() if node is None else free_names(node)
        return found

    def totals(self) -> Iterator[ast.stmt]:
        """What follows the loop: each sum as it is then."""
        for names, method in (
            (self._sums, "total"),
            (self._items, "total_items"),
            (self._lists, "appended"),
        ):
            for name in sorted(names):
                value = ast.Call(
                    attribute_node(self.loop, method), [ast.Constant(name), name_node(name)], []
                )
                yield ast.Assign([name_node(name, ast.Store())], value)

    def _block(
        self, body: list[ast.stmt], assigned: Assigned | None
    ) -> tuple[list[ast.stmt], Assigned | None]:
        """Statements rewritten, and the names assigned after them; None for a place not reached."""
        made: list[ast.stmt] = []
        for statement in body:
            if assigned is None:
                break  # after continue
            folded, assigned = self._statement(statement, assigned)
            made.append(ast.copy_location(folded, statement))
        return made, assigned

    def _statement(self, node: ast.stmt, assigned: Assigned) -> tuple[ast.stmt, Assigned | None]:
        if isinstance(node, ast.Pass):
            return node, assigned
        if isinstance(node, ast.Continue):
            return node, None
        if isinstance(node, ast.AnnAssign) and node.value is not None and node.simple:
            plain = ast.Assign([node.target], node.value)
            return self._statement(ast.copy_location(plain, node), assigned)
        addition = addition_in(node)
        if addition is not None and addition[0] in self._sums:
            name, method, value = addition
            call = self._noted(method, [ast.Constant(name), self._value(value, assigned)])
            return call, assigned
        entry = _entry_addition(node)
        if entry is not None:
            name, method, key, value = entry
            parts = [self._value(key, assigned), self._value(value, assigned)]
            return self._noted(method, [ast.Constant(name), *parts]), assigned
        appended = _append(node)
        if appended is not None:
            parts = [ast.Constant(appended[0]), self._value(appended[1], assigned)]
            return self._noted("append", parts), assigned
        if isinstance(node, ast.AugAssign):
            return self._in_place(node, assigned)
        if isinstance(node, ast.Assign):
            names = list(_names_of(node.targets))
            if not set(names) <= self._temporary:
                raise NotFolded
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
        raise NotFolded

    def _in_place(self, node: ast.AugAssign, assigned: Assigned) -> tuple[ast.stmt, Assigned]:
        target, value = node.target, self._value(node.value, assigned)
        if not isinstance(target, ast.Name) or target.id not in assigned:
            raise NotFolded
        before = call_of_folds("number", name_node(target.id))
        number = ast.BinOp(before, node.op, value)
        return ast.Assign([target], ast.copy_location(number, node)), assigned

    def _inner_loop(self, node: ast.For, assigned: Assigned) -> ast.stmt:
        if not isinstance(node.target, ast.Name) or node.target.id not in self._temporary:
            raise NotFolded
        iterable = self._value(node.iter, assigned)
        body, _ = self._block(node.body, assigned | {node.target.id})
        return ast.For(node.target, iterable, body or [ast.Pass()], [])

    def _noted(self, method: str, arguments: list[ast.expr]) -> ast.stmt:
        return ast.Expr(ast.Call(attribute_node(self.loop, method), arguments, []))

    def _value(self, node: ast.expr, assigned: Assigned) -> ast.expr:
        """An expression of a pass: what it reads was assigned in it, or is constant data."""
        mine = self._temporary | set(self.fields)
        self._folding.check(node, frozenset(mine))
        if (names_loaded(node) & mine) - assigned:
            raise NotFolded
        made = Wrapping(self._folding.source, self._folding.own - mine).visit(copy.deepcopy(node))
        assert isinstance(made, ast.expr)
        return made


class Wrapping(ast.NodeTransformer):
    """Puts ``folds.plain(name)`` for names that are assigned outside."""

    def __init__(self, source: FunctionSource, outside: Assigned) -> None:
        self._source = source
        self._outside = outside

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._outside or not isinstance(node.ctx, ast.Load):
            return node
        call = call_of_folds("plain", node)
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> Any:
        made = self.generic_visit(node)
        if len(node.args) == 1 and is_builtin(self._source, node.func, builtins.len):
            inner = node.args[0]
            # Of a column it is the number of records that is read, if it is a number.
            if isinstance(inner, ast.Call) and ast.dump(inner.func) == ast.dump(_PLAIN):
                inside = call_of_folds("len", inner.args[0])
                return ast.copy_location(
                    ast.Call(attribute_node(FOLDS, "plain"), [inside], []), node
                )
        return made

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


def addition_in(node: ast.stmt) -> tuple[str, str, ast.expr] | None:
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


def _counted_in_one(body: list[ast.stmt]) -> list[ast.stmt]:
    """Other ways to write ``name[key] = name.get(key, 0) + value``, as that.

    A default before the addition, in a statement of its own; a test whether the key is there, or an
    exception where it is not, with the value alone for a new key.
    """
    made: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.If):
            node.body, node.orelse = _counted_in_one(node.body), _counted_in_one(node.orelse)
        before = made[-1] if made else None
        entry = _entry_addition(node)
        if entry is not None and entry[1] == "add_item" and before is not None:
            if ast.dump(before) in _defaults(entry[0], entry[2]):
                made.pop()
                node = _counting(*entry, node)
        else:
            node = _first_or_more(node)
        made.append(node)
    return made


def _defaults(name: str, key: ast.expr) -> set[str]:
    """Statements that make the entry of a key 0 where there is none, as texts of their trees."""
    here = ast.unparse(key)
    written = (
        f"{name}.setdefault({here}, 0)",
        f"if {here} not in {name}: {name}[{here}] = 0",
        f"if not {here} in {name}: {name}[{here}] = 0",
    )
    return {ast.dump(ast.parse(line).body[0]) for line in written}


def _counting(name: str, _: str, key: ast.expr, value: ast.expr, node: ast.stmt) -> ast.stmt:
    here, by = ast.unparse(key), ast.unparse(value)
    [made] = ast.parse(f"{name}[{here}] = {name}.get({here}, 0) + ({by})").body
    for part in ast.walk(made):
        ast.copy_location(part, node)
    return made


def _first_or_more(node: ast.stmt) -> ast.stmt:
    """An addition to an entry that is there, or else the value as a new one, as one statement."""
    new: list[ast.stmt] = []
    if isinstance(node, ast.If):
        more, new = node.body, node.orelse
        if isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.NotIn):
            more, new = new, more
    elif isinstance(node, ast.Try) and len(node.handlers) == 1:
        more, new = node.body, node.handlers[0].body
    if len(new) != 1 or len(more) != 1:
        return node
    entry = _entry_addition(more[0])
    if entry is None or entry[1] != "add_item":
        return node
    name, _, key, value = entry
    add, here, by = (ast.unparse(part) for part in (more[0], key, value))
    first = ast.unparse(new[0])
    written = {
        f"if {here} in {name}:\n    {add}\nelse:\n    {first}",
        f"if {here} not in {name}:\n    {first}\nelse:\n    {add}",
        f"try:\n    {add}\nexcept KeyError:\n    {first}",
    }
    if first != f"{name}[{here}] = {by}" or ast.unparse(node) not in written:
        return node
    return _counting(*entry, node)


class _MatchesAsTests(ast.NodeTransformer):
    """Puts ``if value == constant`` for ``match value`` whose cases are constants.

    The value of a pass only calculates, so it may be calculated for each case.
    """

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        made: list[ast.stmt] = []
        for case in reversed(node.cases):
            body = [self.visit(one) for one in case.body]
            test = _test_of(case.pattern, node.subject)
            tests = [one for one in (test, case.guard) if one is not None]
            if not tests:
                made = body
                continue
            both = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            made = [ast.If(both, body, made)]
        found = made[0] if len(made) == 1 else ast.If(ast.Constant(True), made, [])
        return ast.fix_missing_locations(ast.copy_location(found, node))


def _test_of(pattern: ast.pattern, value: ast.expr) -> ast.expr | None:
    """Whether a value matches a pattern of constants; None for one that everything matches."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(copy.deepcopy(value), [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(copy.deepcopy(value), [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchOr):
        tests = [_test_of(one, value) for one in pattern.patterns]
        if None not in tests:
            return ast.BoolOp(ast.Or(), [one for one in tests if one is not None])
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
        return None
    raise NotFolded


def _taken_apart(node: ast.stmt) -> list[ast.stmt]:
    """``a, b = a + v, b + 1`` as two statements, where the order of both does not matter.

    All values are calculated first, so none may read a name that was assigned before it.
    """
    for name in ("body", "orelse"):
        inner = getattr(node, name, None)
        if isinstance(node, (ast.If, ast.For)) and inner:
            setattr(node, name, [each for statement in inner for each in _taken_apart(statement)])
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return [node]
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return [node]
    names = [part.id for part in target.elts if isinstance(part, ast.Name)]
    if not len(set(names)) == len(target.elts) == len(value.elts):
        return [node]
    if any(names_loaded(part) & set(names[:place]) for place, part in enumerate(value.elts)):
        return [node]
    pairs = zip(target.elts, value.elts, strict=True)
    made = [ast.Assign([name], part) for name, part in pairs]
    return [ast.copy_location(statement, node) for statement in made]


def _statements_in(node: ast.stmt) -> Iterator[ast.stmt]:
    yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.stmt))


def _added_to(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        addition = addition_in(statement)
        if addition is not None:
            yield addition[0]


def _assigned_otherwise(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        if addition_in(statement) is None and not isinstance(statement, ast.If):
            inner = [statement.target] if isinstance(statement, ast.For) else [statement]
            yield from names_stored(*inner)


def _items_added_to(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        entry = _entry_addition(statement)
        if entry is not None:
            yield entry[0]


def _appended_to(node: ast.stmt) -> Iterator[str]:
    for statement in _statements_in(node):
        appended = _append(statement)
        if appended is not None:
            yield appended[0]


def _append(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """``(name, value)`` of ``name.append(value)``."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    function, value = call.func, call.args[0]
    if not isinstance(function, ast.Attribute) or function.attr != "append":
        return None
    owner = function.value
    if not isinstance(owner, ast.Name) or isinstance(value, ast.Starred):
        return None
    return owner.id, value


def _entry_addition(node: ast.stmt) -> tuple[str, str, ast.expr, ast.expr] | None:
    """``(name, "add_item" or "subtract_item", key, value)`` of ``name[key] += value``.

    "count_item" of ``name[key] = name.get(key, 0) + value``.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        method, owner = _ADDING.get(type(node.op)), node.target.value
        if method is None or not isinstance(owner, ast.Name):
            return None
        return owner.id, f"{method}_item", node.target.slice, node.value
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    name, key = target.value.id, target.slice
    wanted = ast.dump(ast.parse(f"{name}.get({ast.unparse(key)}, 0)", mode="eval").body)
    for before, added in ((value.left, value.right), (value.right, value.left)):
        if ast.dump(before) == wanted:
            return name, "count_item", key, added
    return None


def _loaded_otherwise(body: list[ast.stmt]) -> set[str]:
    """Names that are read by more than the additions to them."""
    names: set[str] = set()
    for statement in body:
        addition = addition_in(statement)
        if addition is not None:
            names |= names_loaded(addition[2])
        elif (entry := _entry_addition(statement)) is not None:
            names |= names_loaded(entry[2], entry[3])
        elif (appended := _append(statement)) is not None:
            names |= names_loaded(appended[1])
        elif isinstance(statement, ast.If):
            names |= names_loaded(statement.test) | _loaded_otherwise(
                [*statement.body, *statement.orelse]
            )
        elif isinstance(statement, ast.For):
            names |= names_loaded(statement.iter) | _loaded_otherwise(
                [*statement.body, *statement.orelse]
            )
        else:
            names |= names_loaded(statement)
    return names


def is_fresh_before(folding: Rewriting, node: ast.stmt, name: str) -> bool:
    """Whether a name is of a list or dict that was made just before, and that nothing else has."""
    block = _block_with(folding.source.body, place_in_file(node))
    if block is None:
        return False
    statements, place = block
    for statement in reversed(statements[:place]):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in names_stored(statement):
            value = _value_assigned_to(statement, name)
            is_new = value is not None and _makes_new(folding, value)
            return is_new and name not in names_loaded(statement)
        if name in names_loaded(statement) | names_stored(statement):
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


def _makes_new(folding: Rewriting, node: ast.expr) -> bool:
    """Whether it is a list or dict of its own: a display, a repeated one, a comprehension."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "fromkeys":
            return is_builtin(folding.source, function.value, builtins.dict)
        return any(is_builtin(folding.source, function, maker) for maker in _NEW)
    return isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp))


def _block_with(body: list[ast.stmt], place: tuple[int, int]) -> tuple[list[ast.stmt], int] | None:
    for number, statement in enumerate(body):
        if isinstance(statement, (ast.For, ast.While)) and place_in_file(statement) == place:
            return body, number
        for _, inner in ast.iter_fields(statement):
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                block = _block_with(inner, place)
                if block is not None:
                    return block
    return None


def _names_of(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if not isinstance(part, ast.Name):
                raise NotFolded
            yield part.id


def _joined(one: Assigned | None, other: Assigned | None) -> Assigned | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


_PLAIN = attribute_node(FOLDS, "plain")
