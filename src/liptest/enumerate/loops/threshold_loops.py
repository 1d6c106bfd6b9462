"""Loops that tell the values whose noisy count is above a bound: their shape, and what replaces it.

``for value, count in pairs: noisy = count + noise; if noisy > bound: found[value] = noisy``, where
all that a pass assigns is forgotten. What is walked is known when it runs (``passing``).
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from liptest.enumerate.loops.fold_passes import Rewriting, is_fresh_before
from liptest.enumerate.syntax.pure_code import is_builtin
from liptest.enumerate.syntax.source import OWN_NAMES, copy_tree, names_loaded, names_stored
from liptest.enumerate.syntax.tree_pieces import (
    attribute_node,
    call_of_folds,
    is_name,
    lambda_node,
    name_node,
    root_name,
    tuple_node,
)

# What may be asked of the rows of a group, which ``folded.named_entries`` looks at again.
_OF_ROWS = ("clip", "sum", "count", "abs", "round", "astype")
_DRAWING = ("laplace", "normal", "normalvariate", "gauss")
_CALCULATING = (
    *(builtins.int, builtins.float, builtins.round, builtins.max, builtins.min, builtins.str),
)
# Of numbers that no pass has: bounds are made of them.
_FORMULAS = (math.log, math.log2, math.log10, math.log1p, math.sqrt, math.exp, np.log, np.sqrt)
_PARTS = (
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load),
    *(ast.JoinedStr, ast.FormattedValue),
)


@dataclass(frozen=True)
class ThresholdLoop:
    """The parts of such a loop."""

    node: ast.For
    assigned: list[ast.stmt]
    #: What is compared with what; None where all values are kept for later.
    test: Test | None
    found: str
    key: ast.expr
    value: ast.expr
    sources: list[ast.expr]

    @property
    def adds(self) -> bool:
        """Whether a pass adds to an entry, as loops over records do, too."""
        return isinstance(self.node.body[-1], ast.AugAssign)

    def rewritten(
        self, number: int, iterable: ast.expr, plain: Callable[[ast.For], list[ast.stmt]]
    ) -> list[ast.stmt]:
        """Statements that ask whether distinct values are walked, and go on as written if not."""
        hidden, loop = f"{OWN_NAMES}pairs_{number}", f"{OWN_NAMES}passing_{number}"
        written = copy_tree(self.node)
        written.iter = name_node(hidden)

        def call(method: str, *arguments: ast.expr) -> ast.expr:
            return ast.Call(attribute_node(loop, method), list(arguments), [])

        test = self.test
        if test is None:
            told = call("add" if self.adds else "keep", self.key, self.value)
        else:
            compared = test.left, ast.Constant(test.comparison), test.bound
            # It is calculated once the number is told that it is made of.
            told = call("tell", *compared, self.key, lambda_node(None, self.value))
        checks = [ast.Expr(call("draws", copy_tree(source))) for source in self.sources]
        body = [*checks, *map(copy_tree, self.assigned), ast.Expr(told)]
        walk = ast.For(copy_tree(self.node.target), name_node(loop), body, [])
        result = ast.Assign(
            [name_node(self.found, ast.Store())], call("result", name_node(self.found))
        )
        failing = ast.ExceptHandler(name_node("Exception"), None, [ast.Expr(call("fail"))])
        failing.type = name_node(f"{OWN_NAMES}exception")
        guarded = ast.Try([walk], [failing], [], [])
        choice = ast.If(
            ast.Compare(name_node(loop), [ast.Is()], [ast.Constant(None)]),
            plain(written),
            [guarded, result],
        )
        statements: list[ast.stmt] = [
            ast.Assign([name_node(hidden, ast.Store())], iterable),
            ast.Assign([name_node(loop, ast.Store())], call_of_folds("passing", name_node(hidden))),
            choice,
        ]
        for statement in statements:
            ast.copy_location(statement, self.node)
        return statements


def threshold_loop(folding: Rewriting, node: ast.For) -> ThresholdLoop | None:
    """The parts of a loop of this shape; None for all others."""
    names = _read_walked_names(node.target)
    if node.orelse or not node.body or names is None or _walks_places(folding, node.iter):
        return None
    *assigned, last = node.body
    written = _read_told(last)
    if written is None:
        return None
    sources: list[ast.expr] = []
    local_names = set(names)
    later = names_stored(*assigned) - local_names
    for statement in assigned:
        is_plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if not is_plain or not isinstance(statement, ast.Assign):
            return None
        to = statement.targets[0]
        if not isinstance(to, ast.Name) or not _calculates(folding, statement.value, sources):
            return None
        if names_loaded(statement.value) & (later - local_names):
            return None  # of the pass before
        local_names.add(to.id)
    condition, target, key, value = written
    test = None
    if condition is not None:
        test = _read_test(folding, condition, local_names)
        if test is None or not names_loaded(test.left) & local_names:
            return None
    if not (_calculates(folding, key, None) and _calculates(folding, value, sources)):
        return None
    compared = [] if test is None else [test.left, test.bound]
    loaded = names_loaded(key, value, *assigned, *compared)
    if target in local_names or target in loaded or local_names & folding.names_read_later(node):
        return None
    if names_stored(node) - local_names or not local_names <= {
        *folding.source.function.__code__.co_varnames
    }:
        return None
    if not is_fresh_before(folding, node, target):
        return None
    key, value = (_with_counts(part) for part in (key, value))
    body = [_with_counts(statement) for statement in assigned]
    if test is not None:
        test = Test(_with_counts(test.left), test.comparison, test.bound)
    return ThresholdLoop(node, body, test, target, key, value, sources)


def _walks_places(folding: Rewriting, node: ast.expr) -> bool:
    """Whether it is ``range(..)`` or ``enumerate(..)``, which walk no distinct values."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Name) or function.id in folding.own:
        return False
    places = builtins.range, builtins.enumerate
    return any(is_builtin(folding.source, function, one) for one in places)


def fill_dict(
    folding: Rewriting, node: ast.DictComp, written: Callable[[ast.DictComp], ast.expr]
) -> ast.expr | None:
    """``{key: value for value, count in pairs if noisy > bound}``, which asks what is walked.

    ``written`` makes it as it was, of the same iterable by another name. None for other shapes.
    """
    first = node.generators[0]
    names = _read_walked_names(first.target)
    if len(node.generators) > 1 or first.is_async or len(first.ifs) > 1 or names is None:
        return None
    named = {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
    if named and _are_read_elsewhere(folding, node, named):
        return None
    sources: list[ast.expr] = []
    own = set(names) | named
    test = _read_test(folding, first.ifs[0], own, sources) if first.ifs else None
    if (first.ifs and test is None) or not _calculates(folding, node.key, None):
        return None
    if not _calculates(folding, node.value, sources):
        return None
    compared = [] if test is None else [test.left, test.bound]
    parts = [_with_counts(copy_tree(part)) for part in (*compared, node.key, node.value)]
    constant = lambda_node(None, tuple_node(parts))
    assert isinstance(constant, ast.Lambda)
    constant.args.args = [ast.arg(name) for name in names]
    hidden = f"{OWN_NAMES}iterable"
    iterable, first.iter = first.iter, name_node(hidden)
    call = call_of_folds(
        "filled",
        iterable,
        lambda_node(hidden, written(node)),
        lambda_node(None, tuple_node(list(map(copy_tree, sources)))),
        constant,
        ast.Constant("" if test is None else test.comparison),
    )
    return ast.copy_location(call, node)


@dataclass(frozen=True)
class Test:
    """``left > bound``."""

    __test__ = False

    left: ast.expr
    comparison: str
    bound: ast.expr


_MIRRORED = {"Lt": "Gt", "LtE": "GtE"}


def _read_test(
    folding: Rewriting, node: ast.expr, own: set[str], sources: list[ast.expr] | None = None
) -> Test | None:
    """A comparison of what a pass has with a bound that is not its own."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    left, bound, comparison = node.left, node.comparators[0], type(node.ops[0]).__name__
    if comparison in _MIRRORED:
        left, bound, comparison = bound, left, _MIRRORED[comparison]
    if comparison not in ("Gt", "GtE") or names_loaded(bound) & own:
        return None
    is_calculated = _is_formula(folding, bound) and _calculates(folding, left, sources)
    return Test(left, comparison, bound) if is_calculated else None


def _is_formula(folding: Rewriting, node: ast.expr) -> bool:
    """Whether a bound is calculated of names and constants, also by functions such as ``log``."""
    if _calculates(folding, node, None):
        return True
    inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    if isinstance(node, ast.Call):
        if node.keywords or names_loaded(node.func) & {*folding.own}:
            return False
        if not any(is_builtin(folding.source, node.func, one) for one in _FORMULAS):
            return False
        inner = node.args
    elif not isinstance(node, _PARTS):
        return False
    return all(_is_formula(folding, part) for part in inner)


def _read_walked_names(target: ast.expr) -> list[str] | None:
    """``value, count`` or ``value``."""
    entries = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [entry.id for entry in entries if isinstance(entry, ast.Name)]
    is_known = len(set(names)) == len(entries) and len(entries) <= 2
    return names if is_known else None


def _are_read_elsewhere(folding: Rewriting, node: ast.AST, names: set[str]) -> bool:
    """Whether names are read outside of an expression."""

    def reads(*trees: ast.AST) -> int:
        every = (part for tree in trees for part in ast.walk(tree))
        return sum(isinstance(part, ast.Name) and part.id in names for part in every)

    return reads(*folding.source.body) != reads(node)


class _Counted(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return call_of_folds("counted_in", self.visit(node.value), node.slice)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return call_of_folds("part_of_rows", self.visit(node.value), ast.Constant(node.attr))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        node.args = list(map(self.visit, node.args))
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if isinstance(function, ast.Attribute) and function.attr not in _DRAWING:
            node.func = self.visit(function)
        if is_name(function, "len"):
            return call_of_folds("len", *node.args)
        return node


def _with_counts(node: Any) -> Any:
    """The same, where ``counts[key]`` asks what is walked."""
    return ast.fix_missing_locations(_Counted().visit(copy_tree(node)))


def _read_told(node: ast.stmt) -> tuple[ast.expr | None, str, ast.expr, ast.expr] | None:
    """``found[key] = value`` or ``found.append(value)``: the test, the name, key, and value.

    Without a test ``found[key] += value``, too.
    """
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        entry = _entry(ast.Assign([node.target], node.value))
        return None if entry is None else (None, *entry)
    if not isinstance(node, ast.If):
        entry = _entry(node)
        is_entry = entry is not None and isinstance(node, ast.Assign)
        return (None, *entry) if is_entry and entry is not None else None
    if node.orelse or len(node.body) != 1:
        return None
    entry = _entry(node.body[0])
    return None if entry is None else (node.test, *entry)


def _entry(one: ast.stmt) -> tuple[str, ast.expr, ast.expr] | None:
    if isinstance(one, ast.Assign) and len(one.targets) == 1:
        target = one.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return target.value.id, target.slice, one.value
    call = one.value if isinstance(one, ast.Expr) else None
    if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        function = call.func
        owner = function.value if isinstance(function, ast.Attribute) else None
        if isinstance(owner, ast.Name) and ast.unparse(function) == f"{owner.id}.append":
            return owner.id, ast.Constant(0), call.args[0]
    return None


def _reads_rows(folding: Rewriting, node: ast.expr) -> bool:
    """Whether it may be a part of a group, which is asked when it runs."""
    if isinstance(node, ast.Attribute):
        return _reads_rows(folding, node.value)
    return isinstance(node, (ast.Name, ast.Subscript, ast.Call)) and (
        isinstance(node, ast.Name) or _calculates(folding, node, None)
    )


def _calculates(folding: Rewriting, node: ast.expr, sources: list[ast.expr] | None) -> bool:
    """Whether an expression only calculates, and draws noise where its sources are to be noted."""
    if isinstance(node, ast.Tuple):
        return all(_calculates(folding, entry, sources) for entry in node.elts)
    if isinstance(node, ast.Subscript):  # of what is walked, which is asked when it runs
        is_by_name = isinstance(node.slice, (ast.Name, ast.Constant))
        return is_by_name and _reads_rows(folding, node.value)
    if isinstance(node, ast.Attribute):
        return _reads_rows(folding, node)
    if isinstance(node, ast.NamedExpr):
        return _calculates(folding, node.value, sources)
    if not isinstance(node, ast.Call):
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return isinstance(node, _PARTS) and all(_calculates(folding, e, sources) for e in inner)
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not all(_calculates(folding, argument, sources) for argument in arguments):
        return False
    function = node.func
    if any(is_builtin(folding.source, function, name) for name in _CALCULATING):
        return isinstance(function, ast.Name) and function.id not in folding.own
    if is_builtin(folding.source, function, builtins.len):
        return len(node.args) == 1 and not node.keywords and "len" not in folding.own
    if isinstance(function, ast.Attribute) and function.attr in _OF_ROWS:
        return _reads_rows(folding, function)
    is_draw = isinstance(function, ast.Attribute) and function.attr in _DRAWING
    if not is_draw or sources is None or not isinstance(function, ast.Attribute):
        return False
    sources.append(function.value)
    return bool(root_name(function.value))
