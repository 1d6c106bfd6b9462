"""Loops and comprehensions that take each record by a coin: Poisson subsampling.

``[value for value in data if rng.random() < q]`` and ``for value in data: if rng.random() < q: ..``
walk over the records for which a coin falls so. Each record has a coin of its own, which nothing
else reads, so they are ``data[rng.random(len(data)) < q]``, whose loss is known for any number of
records (docs/theory/size.md, S11). What is walked over is known only when it runs: of anything but
records of symbolic data the coins are tossed one by one, as the program is written.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from liptest.enumerate.loops.key_tests import LATER
from liptest.enumerate.loops.plain_loops import WALKING, find_plain_names, without_index
from liptest.enumerate.syntax.called_methods import is_own_code, read_drawing
from liptest.enumerate.syntax.source import (
    OWN_NAMES,
    copy_tree,
    names_stored,
    stored_by_name,
)
from liptest.enumerate.syntax.tree_pieces import lambda_node, name_called, name_node, nodes_in
from liptest.values.array import SymbolicArray
from liptest.values.branching import Branching
from liptest.values.chosen_places import read_mask
from liptest.values.draws.packed_uniforms import draw_one_by_one
from liptest.values.draws.uniform import UniformValue
from liptest.values.faults import raises_as_numpy
from liptest.values.pandas.of_pandas import SeriesOfRecords
from liptest.values.records.record_list import RecordList
from liptest.values.records.record_storage import is_record_array

_TAKEN_BY, _TAKEN_AT = f"{OWN_NAMES}taken_by_coins", f"{OWN_NAMES}taken_at_bits"
# Where the name of a bit stands: it is assigned, and asked.
_USES_OF_BIT = 2
_RECORDS, _RECORD = f"{OWN_NAMES}records", f"{OWN_NAMES}record"
_NUMBER, _BOUND, _METHOD = (f"{OWN_NAMES}{name}" for name in ("number", "bound", "method"))
#: What draws floats between two ends.
DRAWING = frozenset({"random", "rand", "random_sample", "uniform", "sample", "ranf"})
_OPPOSITES = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
# Bounds that nothing changes in place.
_IMMUTABLE = (int, float, np.float64)
# Kept: while a program is analysed, these names may stand for something else.
_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
_ZIP = zip
_STAND_INS = "liptest.enumerate.intercept."
_LEAVING = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
# What a record may be assigned to: names of the function, which nothing else keeps.
_NAMES = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.expr_context)
_NAMING = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def with_coins_first(function: Any) -> Any:
    """The function with coins that choose records before loops; itself where it has none."""
    source = read_drawing(function, DRAWING)
    if source is None:
        return function
    body = list(map(copy_tree, source.body))
    filters = _CoinsFirst(body, find_plain_names(function))
    node = filters.visit(source.with_body(body))
    if not filters.changes:
        return function
    helpers = {_TAKEN_BY: take_by_coins, _TAKEN_AT: take_at_bits}
    return source.compiled_again(node, helpers) or function


def take_by_coins(
    records: Any,
    read_method: Callable[[], Any],
    draw: Callable[[Any], Any],
    read_bound: Callable[[], Any],
    is_taken: Callable[[Any, Any], Any],
    one_by_one: Callable[[Any], Iterable[Any]],
) -> Any:
    """The records whose coins say so, ``one_by_one`` where they are not symbolic data.

    ``is_taken(draw(read_method()), read_bound())`` is one coin. The bound is the same for all
    records, and each number that the method of a generator gives is a new one.
    """
    column = _find_column_of(records)
    if column is None:
        return one_by_one(records)
    bound, method = read_bound(), read_method()
    if type(bound) not in _IMMUTABLE or bound != bound or not _is_of_generator(method):
        return one_by_one(records)
    tree = column.branching
    with _unnoted(tree):  # of this number only the law is asked
        number = draw(method)
    if type(number) is not UniformValue or not _is_new(number):
        return one_by_one(records)
    bits = is_taken(draw_one_by_one(tree, len(column), number.line), bound)
    return _take(column, bits, records)


@raises_as_numpy
def take_at_bits(pair: Any, records: Any, bits: Any, wanted: bool) -> Any:
    """The records whose bits are 1, or 0; one by one where they are not symbolic data.

    ``pair`` is what ``zip`` stands for.
    """
    column = _find_column_of(records)
    if pair is not _ZIP or column is None or read_mask(bits) is None:
        return (record for record, bit in pair(records, bits) if bool(bit) is wanted)
    return _take(column, bits if wanted else np.logical_not(bits), records)


def _find_column_of(records: Any) -> SymbolicArray | None:
    """The column or rows that records are, or a list of; None for all else."""
    column = records.column() if type(records) is RecordList else records
    if issubclass(type(column), SeriesOfRecords):
        column = column.find_numbers()
    return column if is_record_array(column) and column.storage.is_in_parts else None


def _take(column: SymbolicArray, bits: Any, records: Any) -> Any:
    """Those whose bits are 1, as an array or a list, as the records are."""
    taken = column[bits]
    are_numpys = column is records or (type(records) is RecordList and records.is_of_numpy)
    return taken if are_numpys else taken.tolist()


@contextmanager
def _unnoted(tree: Branching) -> Iterator[None]:
    log, tree.draw_log = tree.draw_log, None
    try:
        yield
    finally:
        tree.draw_log = log


def _is_of_generator(method: Any) -> bool:
    """Whether it is what stands for a method of a generator: functions may give a number twice."""
    if type(method) is MethodType:
        function = method.__func__
        return isinstance(method.__self__, _GENERATORS) and _is_of_analysis(function)
    return _is_of_analysis(method) and method.__globals__["__name__"].startswith(_STAND_INS)


def _is_of_analysis(function: Any) -> bool:
    return type(function) is FunctionType and is_own_code(function)


def _is_new(number: UniformValue) -> bool:
    is_whole = number.low == 0 and number.high == number.line.stop
    return is_whole and number.noise is None and number.inverted is None


class _CoinsFirst(ast.NodeTransformer):
    def __init__(self, body: list[ast.stmt], plain: set[str]) -> None:
        self._body = list(body)
        self._parts = list(nodes_in(body, ast.AST))
        self._plain = plain
        self.changes = 0

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node  # functions do not see its names

    def visit_For(self, node: ast.For) -> Any:
        if node in self._body:
            others = [statement for statement in self._body if statement is not node]
            # Of an index that picks entries it is not known here what it picks them from.
            plainer = without_index(copy_tree(node), others, self._plain, set(), set())
            if ast.dump(plainer) != ast.dump(node):
                return self._put_before(plainer) or self.generic_visit(node)
        return self._put_before(node) or self.generic_visit(node)

    def _put_before(self, node: ast.For) -> ast.AST | None:
        """The loop over what coins choose; None where there are none."""
        found = None if node.orelse else _read_body(node.body)
        is_left = any(nodes_in(node.body, *_LEAVING, *LATER))
        if found is not None and not is_left and not self._is_read_behind(node):
            coin, body = found
            if self._put_first(node, coin, _Stored.in_loop(node)):
                node.body = body
                return self.generic_visit(node)
        return None

    def visit_Call(self, node: ast.Call) -> Any:
        """A generator that is walked at once."""
        is_at_once = name_called(node) in WALKING & self._plain
        if is_at_once and node.args and isinstance(node.args[0], ast.GeneratorExp):
            self._take_first(node.args[0])
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        self._take_first(node)
        return self.generic_visit(node)

    def _take_first(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        part = node.generators[0]
        if len(node.generators) > 1 or not part.ifs or part.is_async:
            return
        if any(isinstance(inside, LATER) for inside in ast.walk(node) if inside is not node):
            return
        coin, others = _split(part.ifs[0])
        if self._put_first(part, coin, _Stored.in_loop(node)):
            part.ifs = [*others, *part.ifs[1:]]

    def _is_read_behind(self, loop: ast.For) -> bool:
        """Whether the record of the last pass is read elsewhere, which may not be a chosen one."""
        targets = set(names_stored(loop.target))
        shared = (part for part in self._parts if isinstance(part, (ast.Global, ast.Nonlocal)))
        if any(targets.intersection(part.names) for part in shared):
            return True
        inside = sum(_reads(part, targets) for part in ast.walk(loop))
        return sum(_reads(part, targets) for part in self._parts) > inside

    def _put_first(self, walk: Any, coin: ast.expr, stored: _Stored) -> bool:
        if self._take_at_bits(walk, coin):
            return True
        parts = _read_coin(coin, stored)
        if parts is None or not _are_names(walk.target):
            return False
        self.changes += 1
        draw, bound, is_taken = parts
        chosen = ast.comprehension(
            name_node(_RECORD, ast.Store()), name_node(_RECORDS), [copy_tree(coin)], 0
        )
        arguments = [
            walk.iter,
            lambda_node(None, draw.func),
            lambda_node(_METHOD, ast.Call(name_node(_METHOD), draw.args, [])),
            lambda_node(None, bound),
            lambda_node((_NUMBER, _BOUND), is_taken),
            lambda_node(_RECORDS, ast.GeneratorExp(name_node(_RECORD), [chosen])),
        ]
        walk.iter = ast.copy_location(ast.Call(name_node(_TAKEN_BY), arguments, []), walk.iter)
        return True

    def _take_at_bits(self, walk: Any, coin: ast.expr) -> bool:
        """Of ``for value, bit in zip(data, bits)`` that asks for the bit alone: those it is of."""
        called, target = walk.iter, walk.target
        if not isinstance(called, ast.Call) or name_called(called) != "zip" or called.keywords:
            return False
        is_pair = isinstance(target, ast.Tuple) and len(target.elts) == len(called.args) == 2
        if not is_pair:
            return False
        record, bit = target.elts
        coin, wanted = _without_not(coin)
        if not isinstance(bit, ast.Name) or not isinstance(coin, ast.Name) or coin.id != bit.id:
            return False
        uses = sum(isinstance(part, ast.Name) and part.id == bit.id for part in self._parts)
        starred = any(isinstance(part, ast.Starred) for part in called.args)
        if uses != _USES_OF_BIT or starred or not _are_names(record):
            return False
        self.changes += 1
        arguments = [called.func, *called.args, ast.Constant(wanted)]
        walk.iter = ast.copy_location(ast.Call(name_node(_TAKEN_AT), arguments, []), walk.iter)
        walk.target = record
        return True


def _are_names(target: ast.expr) -> bool:
    return all(isinstance(part, _NAMES) for part in ast.walk(target))


def _without_not(coin: ast.expr) -> tuple[ast.expr, bool]:
    """What a test asks, and whether it is to hold."""
    wanted = True
    while isinstance(coin, ast.UnaryOp) and isinstance(coin.op, ast.Not):
        coin, wanted = coin.operand, not wanted
    return coin, wanted


@dataclass(frozen=True)
class _Stored:
    """What a loop assigns: names, and attributes of any object."""

    names: frozenset[str]
    attributes: frozenset[str]

    @classmethod
    def in_loop(cls, loop: ast.AST) -> _Stored:
        held = (part for part in ast.walk(loop) if isinstance(part, ast.Attribute))
        attributes = (part.attr for part in held if not isinstance(part.ctx, ast.Load))
        return cls(frozenset(stored_by_name(loop)), frozenset(attributes))

    def may_change(self, part: ast.AST) -> bool:
        """Whether a part of an expression may read what is assigned."""
        if isinstance(part, ast.Attribute):
            return part.attr in self.attributes
        return isinstance(part, ast.Name) and part.id in self.names


def _reads(part: ast.AST, names: set[str]) -> bool:
    return isinstance(part, ast.Name) and part.id in names and not isinstance(part.ctx, ast.Store)


def _split(test: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """What a test asks first, and what it asks then."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return test, []
    first, *others = test.values
    if len(others) > 1:
        others = [ast.copy_location(ast.BoolOp(ast.And(), others), test)]
    return first, others


def _read_body(body: list[ast.stmt]) -> tuple[ast.expr, list[ast.stmt]] | None:
    """The coin of ``if coin: ..`` and of ``if not coin: continue``, and what else a pass does."""
    first = body[0]
    if not isinstance(first, ast.If) or first.orelse:
        return None
    if len(body) == 1:
        coin, others = _split(first.test)
        made: list[ast.stmt] = [
            ast.copy_location(ast.If(test, first.body, []), first) for test in others
        ]
        return coin, made or first.body
    if len(first.body) == 1 and isinstance(first.body[0], ast.Continue):
        return ast.copy_location(ast.UnaryOp(ast.Not(), first.test), first.test), body[1:]
    return None


def _read_coin(coin: ast.expr, stored: _Stored) -> tuple[ast.Call, ast.expr, ast.expr] | None:
    """Of ``rng.random() < q`` the draw, the bound, and the test of both; None for all else.

    Nothing of it may read what the loop assigns.
    """
    coin, wanted = _without_not(coin)
    if not isinstance(coin, ast.Compare) or len(coin.ops) > 1:
        return None
    order, parts = type(coin.ops[0]), list(ast.walk(coin))
    if order not in _OPPOSITES or any(map(stored.may_change, parts)):
        return None
    if any(isinstance(part, (*_NAMING, *_LEAVING, ast.Subscript)) for part in parts):
        return None
    sides = [coin.left, coin.comparators[0]]
    drawn = list(map(_is_draw, sides))
    if sum(drawn) != 1 or sum(isinstance(part, ast.Call) for part in parts) != 1:
        return None
    names = [name_node(_NUMBER if is_draw else _BOUND) for is_draw in drawn]
    draw, bound = (copy_tree(sides[drawn.index(is_draw)]) for is_draw in (True, False))
    assert isinstance(draw, ast.Call)
    # The bound is a number, so the opposite holds where this does not.
    order = order if wanted else _OPPOSITES[order]
    return draw, bound, ast.Compare(names[0], [order()], [names[1]])


def _is_draw(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else name_called(node)
    return name in DRAWING and all(isinstance(each, ast.Constant) for each in node.args)
