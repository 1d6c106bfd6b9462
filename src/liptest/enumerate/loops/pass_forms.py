"""Forms in which passes of loops are written, and what they come to.

Reductions that add up: ``reduce(lambda total, item: total + part, items, start)``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from liptest.enumerate.syntax.source import FunctionSource, copy_tree, names_loaded, names_stored
from liptest.enumerate.syntax.tree_pieces import is_name

_ADDING: dict[type, str] = {ast.Add: "add", ast.Sub: "subtract"}


class NotFolded(Exception):
    """A loop that is left as it is written."""


def addition_in(node: ast.stmt) -> tuple[str, str, ast.expr] | None:
    """``(name, "add" or "subtract", value)`` of ``name += value`` and ``name = name + value``.

    The name may be of an attribute: "owner.attribute".
    """
    if isinstance(node, ast.AugAssign):
        name, method = name_accumulator(node.target), _ADDING.get(type(node.op))
        return None if method is None or name is None else (name, method, node.value)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    name, value = name_accumulator(node.targets[0]), node.value
    if name is None or not isinstance(value, ast.BinOp):
        return None
    method = _ADDING.get(type(value.op))
    if method is not None and name_accumulator(value.left) == name:
        return name, method, value.right
    if method == "add" and name_accumulator(value.right) == name:
        return name, method, value.left
    return None


def name_accumulator(node: ast.expr) -> str | None:
    """A name, "owner.attribute", or "owner.part.attribute"; None for all else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and not node.attr.startswith("__") and len(parts) < 2:
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *parts]) if isinstance(node, ast.Name) else None


def append_in(node: ast.stmt) -> tuple[str, ast.expr | None, ast.expr, bool] | None:
    """``(name, key, value, is_new)`` of ``name[key].append(value)``; without a key of a list.

    ``is_new`` of ``name.setdefault(key, []).append(value)``. The name may be of an attribute, as in
    ``addition_in``.
    """
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    function, value = call.func, call.args[0]
    if not isinstance(function, ast.Attribute) or function.attr != "append":
        return None
    owner = function.value
    key = _key_with_default(owner)
    is_new = key is not None
    if isinstance(owner, ast.Subscript):
        key, owner = owner.slice, owner.value
    elif isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and is_new:
        owner = owner.func.value
    name = name_accumulator(owner)
    if name is None or isinstance(value, ast.Starred):
        return None
    return name, key, value, is_new


def _key_with_default(node: ast.expr) -> ast.expr | None:
    """The key of ``owner.setdefault(key, [])``."""
    if not isinstance(node, ast.Call) or len(node.args) != 2 or node.keywords:
        return None
    default = node.args[1]
    is_empty = isinstance(default, ast.List) and not default.elts
    is_it = isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault"
    return node.args[0] if is_it and is_empty else None


def call_in(node: ast.stmt) -> tuple[str, ast.Call] | None:
    """``("owner.method", call)`` of ``owner.method(..)``, whose result is not used."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return None
    name = name_accumulator(call.func)
    is_plain = all(keyword.arg is not None for keyword in call.keywords)
    is_plain &= not any(isinstance(argument, ast.Starred) for argument in call.args)
    return (name, call) if name is not None and "." in name and is_plain else None


def entry_addition(node: ast.stmt) -> tuple[str, str, ast.expr, ast.expr] | None:
    """``(name, "add_item" or "subtract_item", key, value)`` of ``name[key] += value``.

    "count_item" of ``name[key] = name.get(key, 0) + value``; of ``name[key][other] += value``
    "add_inside" or "subtract_inside", with both keys as a tuple.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        method, owner = _ADDING.get(type(node.op)), node.target.value
        keys: list[ast.expr] = [node.target.slice]
        while isinstance(owner, ast.Subscript):
            keys.insert(0, owner.slice)
            owner = owner.value
        name = name_accumulator(owner)
        if method is None or name is None:
            return None
        if len(keys) > 1:
            return name, f"{method}_inside", ast.Tuple(keys, ast.Load()), node.value
        return name, f"{method}_item", keys[0], node.value
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = node.targets[0], node.value
    name = name_accumulator(target.value) if isinstance(target, ast.Subscript) else None
    if not isinstance(target, ast.Subscript) or name is None:
        return None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    key = target.slice
    wanted = ast.dump(ast.parse(f"{name}.get({ast.unparse(key)}, 0)", mode="eval").body)
    for before, added in ((value.left, value.right), (value.right, value.left)):
        if ast.dump(before) == wanted:
            return name, "count_item", key, added
    return None


def count_in_one(body: list[ast.stmt]) -> list[ast.stmt]:
    """Other ways to write ``name[key] = name.get(key, 0) + value``, as that.

    A default before the addition, in a statement of its own; a test whether the key is there, or an
    exception where it is not, with the value alone for a new key.
    """
    statements_out: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.If):
            node.body, node.orelse = count_in_one(node.body), count_in_one(node.orelse)
        before = statements_out[-1] if statements_out else None
        entry = entry_addition(node)
        if entry is not None and entry[1] == "add_item" and before is not None:
            if ast.dump(before) in _defaults(entry[0], entry[2], "0"):
                statements_out.pop()
                node = _counting(*entry, node)
        elif (appended := append_in(node)) is not None and before is not None:
            name, key, value, _ = appended
            if key is not None and ast.dump(before) in _defaults(name, key, "[]"):
                statements_out.pop()
                here, what = ast.unparse(key), ast.unparse(value)
                node = _parse(f"{name}.setdefault({here}, []).append({what})", node)
        else:
            node = _first_or_more(node)
        statements_out.append(node)
    return statements_out


def _defaults(name: str, key: ast.expr, start: str) -> set[str]:
    """Statements that make the entry of a key where there is none, as texts of their trees."""
    here = ast.unparse(key)
    written = (
        f"{name}.setdefault({here}, {start})",
        f"if {here} not in {name}: {name}[{here}] = {start}",
        f"if not {here} in {name}: {name}[{here}] = {start}",
    )
    return {ast.dump(ast.parse(line).body[0]) for line in written}


def _counting(name: str, _: str, key: ast.expr, value: ast.expr, node: ast.stmt) -> ast.stmt:
    here, by = ast.unparse(key), ast.unparse(value)
    return _parse(f"{name}[{here}] = {name}.get({here}, 0) + ({by})", node)


def _parse(line: str, node: ast.stmt) -> ast.stmt:
    """A statement of a text, at the place of another."""
    [made] = ast.parse(line).body
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
    entry = entry_addition(more[0])
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


class MatchesAsTests(ast.NodeTransformer):
    """Puts ``if value == constant`` for ``match value`` whose cases are constants.

    The value of a pass only calculates, so it may be calculated for each case.
    """

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        statements: list[ast.stmt] = []
        for case in reversed(node.cases):
            body = [self.visit(statement) for statement in case.body]
            name = _name_of_all(case.pattern)
            if name is not None:
                # The name is assigned before the guard, whatever that says.
                named = ast.Assign([ast.Name(name, ast.Store())], copy.deepcopy(node.subject))
                guarded = body if case.guard is None else [ast.If(case.guard, body, statements)]
                statements = [named, *guarded]
                continue
            test = _read_test(case.pattern, node.subject)
            tests = [one for one in (test, case.guard) if one is not None]
            if not tests:
                statements = body
                continue
            both = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            statements = [ast.If(both, body, statements)]
        found = (
            statements[0] if len(statements) == 1 else ast.If(ast.Constant(True), statements, [])
        )
        return ast.fix_missing_locations(ast.copy_location(found, node))


def _name_of_all(pattern: ast.pattern) -> str | None:
    """The name of ``case name``, which everything matches."""
    is_all = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
    return pattern.name if is_all else None  # type: ignore[attr-defined]


def _read_test(pattern: ast.pattern, value: ast.expr) -> ast.expr | None:
    """Whether a value matches a pattern of constants; None for one that everything matches."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(copy.deepcopy(value), [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(copy.deepcopy(value), [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchOr):
        tests = [_read_test(one, value) for one in pattern.patterns]
        if None not in tests:
            return ast.BoolOp(ast.Or(), [test for test in tests if test is not None])
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
        return None
    raise NotFolded


class ConditionsAsTests(ast.NodeTransformer):
    """Puts ``if test: total = total + v`` for ``total = total + v if test else total``.

    And ``if not test: raise`` for ``assert test``.
    """

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        value, target = node.value, node.targets[0]
        name = name_accumulator(target)
        if name is None or len(node.targets) > 1 or not isinstance(value, ast.IfExp):
            return node
        ways: list[ast.stmt] = []
        for part in (value.body, value.orelse):
            way = ast.Assign([copy_tree(target)], part)
            ways.append(ast.Pass() if name_accumulator(part) == name else way)
        if {isinstance(way, ast.Pass) or addition_in(way) is not None for way in ways} != {True}:
            return node
        body, orelse = ([way] for way in ways)
        made = ast.If(value.test, body, orelse)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        made = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Raise()], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))


def take_apart(node: ast.stmt) -> list[ast.stmt]:
    """``a, b = a + v, b + 1`` as two statements, where the order of both does not matter.

    All values are calculated first, so none may read a name that was assigned before it.
    """
    for name in ("body", "orelse"):
        inner = getattr(node, name, None)
        if isinstance(node, (ast.If, ast.For)) and inner:
            setattr(node, name, [each for statement in inner for each in take_apart(statement)])
    return split_tuple(node, _are_in_order)


def _are_in_order(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Whether no value reads a name that was assigned before it."""
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    read = [names_loaded(value) & {*names[:place]} for place, value in enumerate(values)]
    return len({*names}) == len(targets) and not any(read)


def split_tuple(
    node: ast.stmt, are_apart: Callable[[list[ast.expr], list[ast.expr]], bool]
) -> list[ast.stmt]:
    """``a, b = 0, []`` as two statements, where targets and values may be taken apart."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return [node]
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return [node]
    if len(target.elts) != len(value.elts) or not are_apart(target.elts, value.elts):
        return [node]
    pairs = zip(target.elts, value.elts, strict=True)
    return [ast.copy_location(ast.Assign([name], part), node) for name, part in pairs]


# ---- names that are assigned within expressions


def name_before(body: list[ast.stmt]) -> list[ast.stmt]:
    """``if (w := f(v)) > 0: ..`` as ``w = f(v)`` and ``if w > 0: ..``, where w comes first."""
    statements_out: list[ast.stmt] = []
    for node in body:
        if isinstance(node, (ast.If, ast.For)):
            node.body, node.orelse = name_before(node.body), name_before(node.orelse)
        part = "test" if isinstance(node, ast.If) else "value"
        # An addition in place reads what it adds to before its value is calculated.
        if isinstance(node, (ast.If, ast.Assign)):
            first = _First()
            setattr(node, part, first.visit(getattr(node, part)))
            named = [ast.Assign([name], value) for name, value in first.found]
            statements_out += [
                ast.fix_missing_locations(ast.copy_location(one, node)) for one in named
            ]
        statements_out.append(node)
    return statements_out


class _First(ast.NodeTransformer):
    """Puts a name for what is assigned to it, where nothing else is calculated before."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.Name, ast.expr]] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self.visit(node.value)
        self.found.append((node.target, value))
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left = self.visit(node.left)
        return node

    visit_BinOp: Any = visit_Compare

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        node.values[0] = self.visit(node.values[0])
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return node


def without_names(
    node: ast.ListComp | ast.GeneratorExp, source: FunctionSource
) -> ast.ListComp | ast.GeneratorExp:
    """``[w for v in data if (w := f(v)) > 0]`` as ``[f(v) for v in data if f(v) > 0]``.

    Where the first condition assigns first, and nothing else in the function reads the name. What
    is put is only used where it calculates, and so may be calculated twice.
    """
    copied = copy_tree(node)
    parts = copied.generators
    if len(parts) != 1 or not parts[0].ifs:
        return node
    first = _First()
    parts[0].ifs[0] = first.visit(parts[0].ifs[0])
    for name, value in reversed(first.found):
        inside = _loads(name.id, node)
        everywhere = sum(_loads(name.id, statement) for statement in source.body)
        if inside != everywhere or not source.is_own(name.id):
            return node
        if _loads(name.id, parts[0].iter) or _loads(name.id, value) or _stores(name.id, node) > 1:
            return node
        copied = _Putting(name.id, value).visit(copied)
    return copied


def _loads(name: str, node: ast.AST) -> int:
    return sum(one.id == name and isinstance(one.ctx, ast.Load) for one in _names(node))


def _stores(name: str, node: ast.AST) -> int:
    return sum(one.id == name and not isinstance(one.ctx, ast.Load) for one in _names(node))


def _names(node: ast.AST) -> list[ast.Name]:
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]


class _Putting(ast.NodeTransformer):
    """Puts an expression for a name that is read."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_it = node.id == self._name and isinstance(node.ctx, ast.Load)
        return copy_tree(self._value) if is_it else node


@dataclass(frozen=True)
class Addition:
    """What a reduction adds for an item, and where it adds it."""

    item: str
    part: ast.expr
    tests: tuple[ast.expr, ...]


def read_addition(node: ast.Call) -> Addition | None:
    """The parts of such a call of ``reduce``; None for all others."""
    function = node.args[0]
    if not isinstance(function, ast.Lambda) or node.keywords or len(node.args) not in (2, 3):
        return None
    names = [parameter.arg for parameter in function.args.args]
    if len(set(names)) != 2 or ast.unparse(function.args) != ", ".join(names):
        return None
    total, item = names
    whole = function.body
    body, tests = whole, tuple[ast.expr, ...]()
    if isinstance(whole, ast.IfExp) and is_name(whole.orelse, total):
        body, tests = whole.body, (whole.test,)
    if not isinstance(body, ast.BinOp) or not isinstance(body.op, ast.Add):
        return None
    part = body.right if is_name(body.left, total) else body.left
    if not (is_name(body.left, total) or is_name(body.right, total)):
        return None
    used = names_loaded(part, *tests) | names_stored(part, *tests)
    # Without a start the first item itself is where it begins.
    is_plain = is_name(part, item) and not tests
    if total in used or (len(node.args) == 2 and not is_plain):
        return None
    return Addition(item, part, tests)
