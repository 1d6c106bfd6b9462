"""Loops that take places out of a list at random, as loops over places in random order.

``left = list(range(m))`` and ``while left: k = left.pop(rng.integers(len(left))); ..`` is
``for k in folds.popped(rng, m, ..): ..``; attributes that the loop reads (``self.rng``,
``self.weights[k]``) get names of their own before it. That is done only where the loop then is one
that tries places (``flip_loops``).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from liptest.enumerate.loops.flip_loops import read_count, read_flips
from liptest.enumerate.syntax.pure_code import NotPure, check_expression, is_builtin
from liptest.enumerate.syntax.source import OWN_NAMES, FunctionSource, copy_tree, names_stored
from liptest.enumerate.syntax.tree_pieces import call_of_folds, name_node, read_assignment

#: Names that stand for attributes which a loop reads.
ATTRIBUTE = f"{OWN_NAMES}attribute_"


class _Popped(NamedTuple):
    """What takes a place out of a list: the generator, how, its name, and the rest of a pass."""

    rng: ast.expr
    how: str
    item: str
    rest: list[ast.stmt]


def with_pops_in_loops(source: FunctionSource) -> FunctionSource:
    """The function with such loops walking over places in random order."""
    if not isinstance(source.node, ast.FunctionDef):
        return source
    body = list(source.body)
    for place, node in enumerate(body):
        if isinstance(node, ast.For):
            rewritten = _with_names(source, node)
            new = (
                [*body[:place], *rewritten, *body[place + 1 :]]
                if rewritten and len(rewritten) > 1
                else None
            )
        else:
            new = _with_walk(source, body, place)
        if new is not None:
            return replace(source, node=source.with_body(new))
    return source


def _with_walk(source: FunctionSource, body: list[ast.stmt], place: int) -> list[ast.stmt] | None:
    """The statements with a walk for the loop that takes all out of the list made at a place."""
    name, value = read_assignment(body[place])
    count = read_count(source, value) if name in source.local_names else None
    at = None if count is None else _loop_after(source, body, place)
    if count is None or at is None:
        return None
    loop = _walk(source, body, name, body[at], count)
    made = None if loop is None else _with_names(source, loop)
    return None if made is None else [*body[:place], *body[place + 1 : at], *made, *body[at + 1 :]]


def _loop_after(source: FunctionSource, body: list[ast.stmt], place: int) -> int | None:
    """Where the next loop is, if nothing between only calculates."""
    own = frozenset(source.function.__code__.co_varnames)
    for at in range(place + 1, len(body)):
        if isinstance(body[at], ast.While):
            return at
        assigned, value = read_assignment(body[at])
        try:
            check_expression(source, value, own)
        except NotPure:
            return None
        if not assigned:
            return None
    return None


def _walk(
    source: FunctionSource, body: list[ast.stmt], name: str, node: ast.stmt, count: ast.expr
) -> ast.For | None:
    """The loop over places that a loop over what is left of a list is."""
    if not isinstance(node, ast.While) or node.orelse:
        return None
    is_endless = isinstance(node.test, ast.Constant) and node.test.value is True
    if not is_endless and ast.unparse(node.test) not in (name, f"len({name})", f"len({name}) > 0"):
        return None
    popped = _find_popped(source, name, node.body)
    uses = _uses(body, name)
    if popped is None or _uses(popped.rest, name) or uses != 1 + _uses([node], name):
        return None
    how = f"{popped.how}{'!' if is_endless else ''}"
    iterable = call_of_folds("popped", copy_tree(popped.rng), copy_tree(count), ast.Constant(how))
    loop = ast.For(name_node(popped.item, ast.Store()), iterable, popped.rest, [])
    return ast.fix_missing_locations(ast.copy_location(loop, node))


def _uses(body: Iterable[ast.stmt], name: str) -> int:
    names = (node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name))
    return Counter(names)[name]


def _find_popped(source: FunctionSource, name: str, body: list[ast.stmt]) -> _Popped | None:
    """What a pass takes out of the list of this name."""
    item, value = read_assignment(body[0])
    rest, index = body[1:], None
    kept, drawn = _index(source, name, value), None
    if kept is not None and rest:
        # i = rng.integers(len(left)); k = left.pop(i)
        index, (item, value) = item, read_assignment(rest[0])
        rest, drawn = rest[1:], kept
        if _uses(rest, index):
            return None
    pop = _pop_place(name, value, index)
    if pop is not None:
        drawn = drawn or _index(source, name, pop)
        return None if drawn is None or not item else _Popped(*drawn, item, rest)
    removes = [part for part in rest if ast.unparse(part) == f"{name}.remove({item})"]
    rest = [part for part in rest if part not in removes]
    if len(removes) != 1 or not item:
        return None
    if isinstance(value, ast.Subscript) and ast.unparse(value.value) == name:
        by_index = index is not None and ast.unparse(value.slice) == index
        drawn = drawn if by_index else _index(source, name, value.slice)
    elif index is None:
        drawn = _choice(source, name, value)
    return None if drawn is None else _Popped(*drawn, item, rest)


def _pop_place(name: str, value: ast.expr, index: str | None) -> ast.expr | None:
    """The place in ``left.pop(place)``."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func) != f"{name}.pop":
        return None
    if len(value.args) != 1 or value.keywords:
        return None
    place = value.args[0]
    if index is not None and ast.unparse(place) != index:
        return None
    return place


def _index(source: FunctionSource, name: str, value: ast.expr) -> tuple[ast.expr, str] | None:
    """Generator and way of ``rng.integers(len(left))`` and ``int(rng.random() * len(left))``."""
    if not isinstance(value, ast.Call) or value.keywords:
        return None
    length = f"len({name})"
    if is_builtin(source, value.func, int) and len(value.args) == 1:
        product = value.args[0]
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            return _index(source, name, product)
        for unit, other in ((product.left, product.right), (product.right, product.left)):
            if ast.unparse(other) == length and isinstance(unit, ast.Call):
                rng = _owner(unit, "random")
                if rng is not None and not (unit.args or unit.keywords):
                    return rng, "unit"
        return None
    rng = _owner(value, "integers")
    arguments = [ast.unparse(argument) for argument in value.args]
    return (rng, "integers") if rng is not None and arguments in ([length], ["0", length]) else None


def _choice(source: FunctionSource, name: str, value: ast.expr) -> tuple[ast.expr, str] | None:
    """The same of ``rng.choice(left)``, with ``int`` or not."""
    if not isinstance(value, ast.Call) or value.keywords or len(value.args) != 1:
        return None
    if is_builtin(source, value.func, int):
        drawn = _choice(source, name, value.args[0])
        return None if drawn is None else (drawn[0], "choice int")
    rng = _owner(value, "choice")
    return (rng, "choice") if rng is not None and ast.unparse(value.args[0]) == name else None


def _owner(call: ast.Call, method: str) -> ast.expr | None:
    function = call.func
    is_it = isinstance(function, ast.Attribute) and function.attr == method
    return function.value if is_it and isinstance(function, ast.Attribute) else None


def _with_names(source: FunctionSource, loop: ast.For) -> list[ast.stmt] | None:
    """The loop after names for the attributes that it reads, where it tries places."""
    naming = _Naming(source, names_stored(loop))
    renamed = copy_tree(loop)
    assert isinstance(renamed, ast.For)
    if not renamed.body or not isinstance(renamed.body[-1], ast.If):
        return None
    renamed.iter = naming.visit(renamed.iter)
    hit = renamed.body[-1]
    renamed.body = [*map(naming.visit, renamed.body[:-1]), hit]
    hit.test = naming.visit(hit.test)
    tries = read_flips(source, renamed)
    if tries is None or not tries.is_pure(source):
        return None
    first = [ast.Assign([name_node(new, ast.Store())], value) for value, new in naming.named()]
    statements = [*first, renamed]
    return [
        ast.fix_missing_locations(ast.copy_location(statement, loop)) for statement in statements
    ]


class _Naming(ast.NodeTransformer):
    """Puts names in the place of attributes of names that stay what they are."""

    def __init__(self, source: FunctionSource, stored: Iterable[str]) -> None:
        self._own = source.local_names - set(stored)
        self._names: dict[str, tuple[ast.expr, str]] = {}

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = node.value
        if not isinstance(owner, ast.Name) or owner.id not in self._own:
            return self.generic_visit(node)
        if node.attr in ("random", "permutation", "size", "shape", "max", "min"):
            return node
        words = ast.unparse(node)
        new = f"{ATTRIBUTE}{len(self._names)}"
        return name_node(self._names.setdefault(words, (copy_tree(node), new))[1])

    def named(self) -> list[tuple[ast.expr, str]]:
        """The attributes with their names."""
        return list(self._names.values())
