"""Loops that try places in random order, each with a weight as its chance, and keep the first hit.

``for k in rng.permutation(m): if rng.random() < math.exp(t * (scores[k] - max(scores))): return k``
is permute-and-flip. Where each try draws its place anew (``while True: k = rng.integers(m)``) it is
the exponential mechanism. Both are one choice with weights (docs/theory/size.md, S10).
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.loops.coin_loops import read_coin
from liptest.enumerate.loops.spellings import Spellings, jumps
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    check_expression,
    find_constant,
    find_original,
    is_builtin,
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
    call_of_folds,
    flat_statements,
    is_name,
    lambda_node,
    name_node,
    read_assignment,
    tuple_node,
)


@dataclass(frozen=True)
class FlipLoop:
    """A loop that tries ``item`` with the chance ``weight``, and what follows the first hit."""

    rng: str
    item: str
    count: ast.expr
    weight: ast.expr
    #: Whether each place is tried once, and what is made of a place.
    is_order: bool
    kind: str
    #: What a pass calculates before, and what is done after the hit.
    before: list[ast.stmt]
    leaf: list[ast.stmt]
    #: How a place is taken out of a list (``folds.popped``), where that is not one order at once.
    how: str = ""
    #: The function that throws the coin, and the place of its generator, where one does.
    coin: tuple[ast.expr, int] | None = None

    def parts(self, folding: Spellings, number: int, line: int) -> FlipParts:
        """One choice with weights. Raises NotPure where it is another loop."""
        names_used = folding.own | self._find_given() | {self.item}
        stored = {self.item, *(target for target, _ in map(read_assignment, self.before))}
        if not stored <= folding.source.local_names or self.rng in stored:
            raise NotPure("a name of another function")
        if not self.is_pure(folding.source, names_used):
            raise NotPure("more than a calculation")
        known = {self.item}
        for target, value in map(read_assignment, self.before):
            # It is calculated once, for the hit, and must not tell of tries before.
            check_expression(folding.source, value, names_used | stored)
            if names_loaded(value) & stored - known:
                raise NotPure("what an earlier pass has assigned")
            known.add(target)
        if names_loaded(self.count) & stored or names_loaded(self.weight) & stored - {self.item}:
            raise NotPure("what a pass has assigned")
        found = f"{OWN_NAMES}found_{number}"
        file = folding.source.function.__code__.co_filename
        values = [value for _, value in map(read_assignment, self.before)]
        read = sorted(
            names_loaded(self.count, self.weight, *values) & (names_used - stored - {self.rng})
        )
        call = call_of_folds(
            "flips",
            name_node(self.rng),
            lambda_node(None, folding.visit(copy_tree(self.count))),
            lambda_node(self.item, folding.visit(copy_tree(self.weight))),
            lambda_node(None, tuple_node([name_node(name) for name in read])),
            ast.Constant(self.is_order),
            tuple_node([ast.Constant(file), ast.Constant(line)]),
            ast.Constant(self.how),
            *self._find_coin(),
        )
        kind = ast.Attribute(name_node(found), self.kind, ast.Load())
        hit: list[Any] = [ast.Assign([name_node(self.item, ast.Store())], kind)]
        hit += [folding.visit(copy_tree(one)) for one in (*self.before, *self.leaf)]
        return FlipParts(found, call, flat_statements(hit))

    def is_pure(self, source: FunctionSource, own: frozenset[str] | None = None) -> bool:
        """Whether its count and its weight only calculate."""
        if own is None:
            own = self._find_given() | {self.item, *source.function.__code__.co_varnames}
        try:
            for part in (self.count, self.weight):
                check_expression(source, part, own)
            if self.coin is not None:
                find_constant(source, self.coin[0])
        except NotPure:
            return False
        return True

    def _find_given(self) -> frozenset[str]:
        """The generator, and names that stand for attributes which its numbers are made of."""
        read = names_loaded(self.count, self.weight) - {FOLDS}
        return frozenset({self.rng, *(name for name in read if name.startswith(OWN_NAMES))})

    def _find_coin(self) -> list[ast.expr]:
        """What finds the function that throws the coin, and the place of its generator."""
        if self.coin is None:
            return []
        function, place = self.coin
        return [lambda_node(None, copy_tree(function)), ast.Constant(place)]


@dataclass(frozen=True)
class FlipParts:
    """What finds the place, by which name it is known, and what follows the hit."""

    found: str
    call: ast.expr
    hit: list[ast.stmt]

    def rewritten(self, node: ast.stmt, plain: ast.stmt) -> list[ast.stmt]:
        """The loop; as it is written where the weights are plain."""
        is_none = ast.Compare(name_node(self.found), [ast.Is()], [ast.Constant(None)])
        statements = [
            ast.Assign([name_node(self.found, ast.Store())], self.call),
            ast.If(is_none, [plain], self.hit),
        ]
        return [ast.copy_location(statement, node) for statement in statements]


def read_flips(source: FunctionSource, node: ast.For | ast.While) -> FlipLoop | None:
    """What a loop tries, if it does nothing else."""
    if node.orelse:
        return None
    drawn = _order(node) if isinstance(node, ast.For) else _place(source, node)
    body = node.body if isinstance(node, ast.For) else node.body[1:]
    if drawn is None or not body or not isinstance(body[-1], ast.If):
        return None
    before, hit = body[:-1], body[-1]
    called = _read_coin_call(source, hit.test, drawn[0])
    coin = read_coin(hit.test) if called is None else (called[0], "Lt", called[1])
    leaf = hit.body[:-1] if isinstance(hit.body[-1], ast.Break) else hit.body
    leaves = len(leaf) < len(hit.body) or isinstance(leaf[-1], ast.Return)
    if hit.orelse or not leaves or any(jumps(leaf, (ast.Break, ast.Continue))):
        return None
    if coin is None or coin[0] != drawn[0] or coin[1] not in ("Lt", "LtE"):
        return None
    weight = copy_tree(coin[2])
    names = [read_assignment(statement)[0] for statement in before]
    if not all(names) or max(Counter([*names, drawn[1]]).values()) > 1:
        return None
    # A comprehension may have names of its own, which are other ones.
    if names_stored(weight, *(read_assignment(one)[1] for one in before)) & {drawn[1], *names}:
        return None
    for statement in reversed(before):
        weight = _Put(*read_assignment(statement)).visit(weight)
    rng, item, count, kind = drawn
    how = _how_popped(node.iter) if isinstance(node, ast.For) else ""
    kind = "numpy" if how.rstrip("!") == "choice" else kind
    function = None if called is None else called[2]
    own = rng, item, count, weight, isinstance(node, ast.For), kind, before, leaf
    return FlipLoop(*own, how, function)


def _read_coin_call(
    source: FunctionSource, test: ast.expr, rng: str
) -> tuple[str, ast.expr, tuple[ast.expr, int]] | None:
    """Generator, number and function of ``function(x, rng)``, with the place of the generator."""
    if not isinstance(test, ast.Call) or len(test.args) != 2 or test.keywords:
        return None
    places = [k for k, one in enumerate(test.args) if is_name(one, rng)]
    try:
        function = find_constant(source, test.func)
    except NotPure:
        return None
    if len(places) != 1 or not isinstance(find_original(function), FunctionType):
        return None
    return rng, test.args[1 - places[0]], (test.func, places[0])


def _how_popped(order: ast.expr) -> str:
    """How ``folds.popped`` takes places; "" for other orders."""
    if not _is_of_folds(order, "popped"):
        return ""
    return str(order.args[2].value)  # type: ignore[attr-defined]


def _order(node: ast.For) -> tuple[str, str, ast.expr, str] | None:
    """Generator, item, count and kind of ``for k in rng.permutation(m)``."""
    drawn = node.iter
    rng = _read_generator(drawn)
    if rng is None or not isinstance(node.target, ast.Name):
        return None
    if _is_of_folds(drawn, "shuffled", "popped"):
        is_array = _is_of_folds(drawn, "shuffled") and len(drawn.args) > 2  # type: ignore[attr-defined]
        kind = "numpy" if is_array else "plain"
        return rng, node.target.id, drawn.args[1], kind  # type: ignore[attr-defined]
    permuted = _find_listed_array(drawn)
    call = _read_call(permuted, "permutation")
    assert call is not None
    return rng, node.target.id, call[1], "numpy" if permuted is drawn else "plain"


def _read_generator(order: ast.expr) -> str | None:
    """The generator of ``rng.permutation(m)``, with ``.tolist()`` or not, or of a shuffled list."""
    if _is_of_folds(order, "shuffled", "popped"):
        rng = order.args[0]  # type: ignore[attr-defined]
        return rng.id if isinstance(rng, ast.Name) else None
    call = _read_call(_find_listed_array(order), "permutation")
    return call and call[0]


def _is_of_folds(node: ast.expr, *names: str) -> bool:
    words = [f"{FOLDS}.{name}" for name in names]
    return isinstance(node, ast.Call) and ast.unparse(node.func) in words


def _find_listed_array(node: ast.expr) -> ast.expr:
    """The array of ``array.tolist()``; else what it is."""
    is_call = isinstance(node, ast.Call) and not node.args and not node.keywords
    function = node.func if is_call and isinstance(node, ast.Call) else None
    is_list = isinstance(function, ast.Attribute) and function.attr == "tolist"
    return function.value if is_list and isinstance(function, ast.Attribute) else node


def _place(source: FunctionSource, node: ast.While) -> tuple[str, str, ast.expr, str] | None:
    """The same of ``while True: k = rng.integers(m)``, with ``int`` or without."""
    first = node.body[0]
    is_endless = isinstance(node.test, ast.Constant) and node.test.value is True
    if not is_endless or not isinstance(first, ast.Assign) or len(first.targets) != 1:
        return None
    drawn, kind = first.value, "numpy"
    if isinstance(drawn, ast.Call) and is_builtin(source, drawn.func, int):
        if len(drawn.args) != 1 or drawn.keywords:
            return None
        drawn, kind = drawn.args[0], "plain"
    return _read_draw(drawn, "integers", first.targets[0], kind)


def _read_draw(
    node: ast.expr, method: str, target: ast.expr, kind: str
) -> tuple[str, str, ast.expr, str] | None:
    call = _read_call(node, method)
    if call is None or not isinstance(target, ast.Name):
        return None
    return call[0], target.id, call[1], kind


def _read_call(node: ast.expr, method: str) -> tuple[str, ast.expr] | None:
    """``rng`` and the argument of ``rng.method(argument)``."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr != method:
        return None
    owner = function.value
    is_plain = isinstance(owner, ast.Name) and not isinstance(node.args[0], ast.Starred)
    return (owner.id, node.args[0]) if is_plain and isinstance(owner, ast.Name) else None


class _Put(ast.NodeTransformer):
    """Puts what a name was assigned in its place."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value = name, value

    def visit_Name(self, node: ast.Name) -> Any:
        return copy_tree(self._value) if node.id == self._name else node


def with_orders_in_loops(source: FunctionSource) -> FunctionSource:
    """``order = rng.permutation(m)``, which one loop walks, where it is walked.

    Also ``order = list(range(m))`` and then ``rng.shuffle(order)``, as ``folds.shuffled(rng, m)``;
    of ``np.arange(m)`` it is ``folds.shuffled(rng, m, np.arange)``.
    """
    if not isinstance(source.node, ast.FunctionDef):
        return source
    body = _with_orders(source, list(source.body))
    return source if body is None else replace(source, node=source.with_body(body))


def _with_orders(source: FunctionSource, body: list[ast.stmt]) -> list[ast.stmt] | None:
    uses = Counter(
        inner.id for part in body for inner in ast.walk(part) if isinstance(inner, ast.Name)
    )
    for place, node in enumerate(body):
        name, value = read_assignment(node)
        shuffled = _read_shuffled(source, name, value, body[place + 1 : place + 2])
        order, length = (value, 1) if shuffled is None else (shuffled, 2)
        if not name or uses[name] != length + 1 or name not in source.local_names:
            continue
        rng = _read_generator(order)
        if rng is None or rng not in source.local_names:
            continue
        rest = body[place + length :]
        at = _find_walk(source, name, rest, names_loaded(order))
        if at is not None:
            walk = copy_tree(rest[at])
            assert isinstance(walk, ast.For)
            walk.iter = ast.copy_location(copy_tree(order), walk.iter)
            return [*body[:place], *rest[:at], walk, *rest[at + 1 :]]
    return None


def _find_walk(
    source: FunctionSource, name: str, rest: list[ast.stmt], read: set[str]
) -> int | None:
    """Where the loop over a name is, if nothing before it draws, or changes what it is made of."""
    for place, node in enumerate(rest):
        if isinstance(node, ast.For):
            is_walk = is_name(node.iter, name)
            return place if is_walk else None
        assigned, value = read_assignment(node)
        try:
            check_expression(source, value, frozenset(source.function.__code__.co_varnames))
        except NotPure:
            return None
        if not assigned or assigned in read:
            return None
    return None


def _read_shuffled(
    source: FunctionSource, name: str, value: ast.expr, following: list[ast.stmt]
) -> ast.expr | None:
    """``folds.shuffled(rng, m)`` for a list of the numbers below m that is shuffled at once."""
    expression = following[0] if following else None
    call = _read_call(expression.value, "shuffle") if isinstance(expression, ast.Expr) else None
    arange: tuple[ast.expr, ...] = ()
    count = read_count(source, value)
    if count is None and isinstance(value, ast.Call):
        count, arange = _count_of_array(source, value), (copy_tree(value.func),)
    if count is None or call is None or ast.unparse(call[1]) != name:
        return None
    made = call_of_folds("shuffled", name_node(call[0]), copy_tree(count), *arange)
    return ast.fix_missing_locations(ast.copy_location(made, value))


def read_count(source: FunctionSource, value: ast.expr) -> ast.expr | None:
    """The m of ``list(range(m))``, or of ``[0, .., m - 1]``."""
    if isinstance(value, ast.List):
        entries = [
            element.value if isinstance(element, ast.Constant) else None for element in value.elts
        ]
        is_range = repr(entries) == repr(list(range(len(entries))))
        return ast.copy_location(ast.Constant(len(entries)), value) if is_range else None
    made = _of_builtin(source, value, list)
    return None if made is None else _of_builtin(source, made, range)


def _count_of_array(source: FunctionSource, value: ast.Call) -> ast.expr | None:
    """The m of ``np.arange(m)``."""
    if len(value.args) != 1 or value.keywords:
        return None
    try:
        is_range = find_constant(source, value.func) is np.arange
    except NotPure:
        return None
    return value.args[0] if is_range and not isinstance(value.args[0], ast.Starred) else None


def _of_builtin(source: FunctionSource, node: ast.expr, function: Any) -> ast.expr | None:
    """The one argument of a call of a builtin function."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    is_starred = isinstance(node.args[0], ast.Starred)
    return node.args[0] if is_builtin(source, node.func, function) and not is_starred else None
