"""Loops that tell the values whose noisy count is above a bound: their shape, and what replaces it.

``for value, count in pairs: noisy = count + noise; if noisy > bound: found[value] = noisy``, where
all that a pass assigns is forgotten. What is walked is known when it runs (``passing``).
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable
from dataclasses import dataclass

from liptest.enumerate.fold_passes import Rewriting, is_fresh_before
from liptest.enumerate.pure_code import is_builtin
from liptest.enumerate.source import OWN_NAMES, names_loaded, names_stored
from liptest.enumerate.tree_pieces import attribute_node, call_of_folds, name_node

_DRAWING = ("laplace", "normal", "normalvariate", "gauss")
_CALCULATING = (builtins.int, builtins.float, builtins.round, builtins.max, builtins.min)
_PARTS = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)


@dataclass(frozen=True)
class ThresholdLoop:
    """The parts of such a loop."""

    node: ast.For
    assigned: list[ast.stmt]
    left: str
    comparison: str
    bound: ast.expr
    found: str
    key: ast.expr
    value: ast.expr
    sources: list[ast.expr]

    def rewritten(
        self, number: int, iterable: ast.expr, plain: Callable[[ast.For], ast.stmt]
    ) -> list[ast.stmt]:
        """Statements that ask whether distinct values are walked, and go on as written if not."""
        hidden, loop = f"{OWN_NAMES}pairs_{number}", f"{OWN_NAMES}passing_{number}"
        written = copy.deepcopy(self.node)
        written.iter = name_node(hidden)

        def called(method: str, *arguments: ast.expr) -> ast.expr:
            return ast.Call(attribute_node(loop, method), list(arguments), [])

        told = called(
            "tell", name_node(self.left), ast.Constant(self.comparison), self.bound, self.key
        )
        assert isinstance(told, ast.Call)
        told.args.append(self.value)
        checks = [ast.Expr(called("draws", copy.deepcopy(one))) for one in self.sources]
        body = [*checks, *copy.deepcopy(self.assigned), ast.Expr(told)]
        walk = ast.For(copy.deepcopy(self.node.target), name_node(loop), body, [])
        result = ast.Assign(
            [name_node(self.found, ast.Store())], called("result", name_node(self.found))
        )
        failing = ast.ExceptHandler(name_node("Exception"), None, [ast.Expr(called("fail"))])
        failing.type = name_node(f"{OWN_NAMES}exception")
        guarded = ast.Try([walk], [failing], [], [])
        choice = ast.If(
            ast.Compare(name_node(loop), [ast.Is()], [ast.Constant(None)]),
            [plain(written)],
            [guarded, result],
        )
        statements: list[ast.stmt] = [
            ast.Assign([name_node(hidden, ast.Store())], iterable),
            ast.Assign([name_node(loop, ast.Store())], call_of_folds("passing", name_node(hidden))),
            choice,
        ]
        for one in statements:
            ast.copy_location(one, self.node)
        return statements


def threshold_loop(folding: Rewriting, node: ast.For) -> ThresholdLoop | None:
    """The parts of a loop of this shape; None for all others."""
    target = node.target
    if node.orelse or not node.body or not isinstance(target, ast.Tuple):
        return None
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    *assigned, last = node.body
    if len(set(names)) != 2 or len(target.elts) != 2 or not isinstance(last, ast.If):
        return None
    sources: list[ast.expr] = []
    own = set(names)
    later = names_stored(*assigned) - own
    for one in assigned:
        is_plain = isinstance(one, ast.Assign) and len(one.targets) == 1
        if not is_plain or not isinstance(one, ast.Assign):
            return None
        to = one.targets[0]
        if not isinstance(to, ast.Name) or not _calculates(folding, one.value, sources):
            return None
        if names_loaded(one.value) & (later - own):
            return None  # of the pass before
        own.add(to.id)
    told = _told(last)
    test = last.test
    if told is None or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    found, key, value = told
    left, bound, comparison = test.left, test.comparators[0], type(test.ops[0]).__name__
    if comparison not in ("Gt", "GtE") or not isinstance(left, ast.Name) or left.id not in own:
        return None
    if names_loaded(bound) & own or not _calculates(folding, bound, None):
        return None
    if not all(_calculates(folding, one, None) for one in (key, value)):
        return None
    loaded = names_loaded(key, value, bound, *assigned)
    if found in own or found in loaded or own & folding.names_read_later(node):
        return None
    if names_stored(node) - own or not own <= {*folding.source.function.__code__.co_varnames}:
        return None
    if not is_fresh_before(folding, node, found):
        return None
    return ThresholdLoop(node, assigned, left.id, comparison, bound, found, key, value, sources)


def _told(node: ast.If) -> tuple[str, ast.expr, ast.expr] | None:
    """``found[key] = value`` or ``found.append(value)``: the name, the key, and the value."""
    if node.orelse or len(node.body) != 1:
        return None
    one = node.body[0]
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


def _calculates(folding: Rewriting, node: ast.expr, sources: list[ast.expr] | None) -> bool:
    """Whether an expression only calculates, and draws noise where its sources are to be noted."""
    if isinstance(node, ast.Tuple):
        return all(_calculates(folding, one, sources) for one in node.elts)
    if not isinstance(node, ast.Call):
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        return isinstance(node, _PARTS) and all(_calculates(folding, e, sources) for e in inner)
    arguments = [*node.args, *(one.value for one in node.keywords)]
    if not all(_calculates(folding, one, sources) for one in arguments):
        return False
    function = node.func
    if any(is_builtin(folding.source, function, one) for one in _CALCULATING):
        return isinstance(function, ast.Name) and function.id not in folding.own
    is_draw = isinstance(function, ast.Attribute) and function.attr in _DRAWING
    if not is_draw or sources is None or not isinstance(function, ast.Attribute):
        return False
    root: ast.expr = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    sources.append(function.value)
    return isinstance(root, ast.Name)
