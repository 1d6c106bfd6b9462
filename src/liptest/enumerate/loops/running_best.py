"""Loops that keep the best so far: ``for ..: v = ..; if v > best: best = v; place = i``.

Which comparisons hold on the way is not in the output, only which number is the largest. So the
loop notes its candidates, and which of them is the best is one question after it
(docs/theory/loops.md, L6). Nothing else in the loop may read what is kept.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from liptest.enumerate.syntax.source import OWN_NAMES, names_loaded, names_stored
from liptest.enumerate.syntax.tree_pieces import (
    call_of_folds,
    lambda_node,
    name_node,
    plain_name,
    read_assignment,
    tuple_node,
)
from liptest.values.comparison_signs import MIRRORED

_LEAVING = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True)
class RunningBest:
    """A statement ``if candidate > best: best = candidate; names = values`` in a loop.

    Or ``if candidate > best[place]: best = values``, a tuple or dict with the candidate there, or
    ``best = max(best, candidate)``.
    """

    statement: ast.If | ast.Assign
    best: str
    candidate: ast.expr
    comparison: str
    #: Whether it says ``best is None or ..``.
    begins_with_none: bool
    #: Other names that are kept, with a name or a constant for each.
    others: dict[str, ast.expr]
    place: Any = None

    def noted(self, node: ast.For, number: int) -> list[ast.stmt]:
        """The loop, noting its candidates, and what is kept of them after it."""
        candidates, winner = (f"{OWN_NAMES}{what}_{number}" for what in ("candidates", "found"))
        entry = tuple_node([self.candidate, *self.others.values()])
        append = ast.Call(ast.Attribute(name_node(candidates), "append", ast.Load()), [entry], [])
        note = ast.copy_location(ast.Expr(append), self.statement)
        body = [note if statement is self.statement else statement for statement in node.body]
        loop = ast.For(node.target, node.iter, body, [])
        call = call_of_folds(
            "running_best",
            name_node(candidates),
            ast.Constant(self.comparison),
            ast.Constant(self.begins_with_none),
            lambda_node(None, self._initial()),
        )
        best = self.best if self.place is None else f"{OWN_NAMES}candidate_{number}"
        names: list[ast.expr] = [name_node(name, ast.Store()) for name in (best, *self.others)]
        keep = ast.Assign([ast.Tuple(names, ast.Store())], name_node(winner))
        statements = [
            ast.Assign([name_node(candidates, ast.Store())], ast.List([], ast.Load())),
            loop,
            ast.Assign([name_node(winner, ast.Store())], call),
            ast.If(ast.Compare(name_node(winner), [ast.IsNot()], [ast.Constant(None)]), [keep], []),
        ]
        return [ast.copy_location(statement, node) for statement in statements]

    def _initial(self) -> ast.expr:
        """The number that the loop begins with."""
        best = name_node(self.best)
        if self.place is None:
            return best
        entry = ast.Subscript(best, ast.Constant(self.place), ast.Load())
        if not self.begins_with_none:
            return entry
        is_none = ast.Compare(name_node(self.best), [ast.Is()], [ast.Constant(None)])
        return ast.IfExp(is_none, ast.Constant(None), entry)


def running_best_of(
    node: ast.For, is_builtin: Callable[[ast.expr, Any], bool] = lambda *_: False
) -> RunningBest | None:
    """What a loop keeps of its best candidate, if nothing else in it reads that.

    ``is_builtin`` says whether an expression is this function of Python.
    """
    if node.orelse or any(isinstance(part, _LEAVING) for part in ast.walk(node)):
        return None
    bests = [
        best
        for statement in node.body
        for best in [_find_kept(statement) or _find_larger(statement, is_builtin)]
        if best
    ]
    if len(bests) != 1:
        return None
    best = bests[0]
    rest: list[ast.AST] = [statement for statement in node.body if statement is not best.statement]
    rest += [node.target, node.iter]
    touched = names_loaded(*rest) | names_stored(*rest)
    kept = {best.best, *best.others}
    read = names_loaded(best.candidate, *best.others.values())
    return None if kept & (touched | read) else best


def _find_larger(node: ast.stmt, is_builtin: Callable[[ast.expr, Any], bool]) -> RunningBest | None:
    """``best = max(best, candidate)``, or min: of equal ones the first is kept."""
    name, call = read_assignment(node)
    if not name or not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
        return None
    if plain_name(call.args[0]) != name or isinstance(call.args[1], ast.Starred):
        return None
    signs = (("Gt", builtins.max), ("Lt", builtins.min))
    sign = next((sign for sign, function in signs if is_builtin(call.func, function)), None)
    if sign is None:
        return None
    assert isinstance(node, ast.Assign)
    return RunningBest(node, name, call.args[1], sign, False, {})


def _find_kept(node: ast.stmt) -> RunningBest | None:
    if not isinstance(node, ast.If):
        return None
    test, with_none = node.test, ""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and len(test.values) == 2:
        with_none, test = _none_first(test.values[0]), test.values[1]
        if not with_none:
            return None
    if node.orelse or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, kind, right = test.left, type(test.ops[0]), test.comparators[0]
    pairs = _read_assignments(node.body)
    if kind not in MIRRORED or pairs is None:
        return None
    if _read_kept(left)[0] in pairs:
        left, kind, right = right, MIRRORED[kind], left
    best, place = _read_kept(right)
    if not best or (with_none and with_none != best):
        return None
    if place is not None:
        own = _entries_by_key(pairs.get(best))
        value = own.pop(place, None)
        parts = [*own.values(), *(part for name, part in pairs.items() if name != best)]
    else:
        value = pairs.pop(best, None)
        parts = list(pairs.values())
    if value is None or ast.dump(value) != ast.dump(left) or not _is_read_only(left):
        return None
    if not all(isinstance(part, (ast.Name, ast.Constant)) for part in parts):
        return None
    return RunningBest(node, best, left, kind.__name__, bool(with_none), pairs, place)


def _read_kept(node: ast.expr) -> tuple[str, Any]:
    """A name, or the name and the key in ``best[0]``; "" for all else."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return plain_name(node.value), node.slice.value
    return plain_name(node), None


def _entries_by_key(node: ast.expr | None) -> dict[Any, ast.expr]:
    """What a tuple, a list or a dict that is written there holds; nothing for all else."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return dict(enumerate(node.elts))
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        return {key.value: one for key, one in zip(node.keys, node.values, strict=True)}  # type: ignore[union-attr]
    return {}


def _none_first(test: ast.expr) -> str:
    """The name in ``name is None``."""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return ""
    is_none = ast.unparse(test) == f"{test.left.id} is None"
    return test.left.id if is_none else ""


def _read_assignments(body: list[ast.stmt]) -> dict[str, ast.expr] | None:
    """By name what a body of assignments gives it; None for any other body."""
    pairs: dict[str, ast.expr] = {}
    for statement in body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target, value = statement.targets[0], statement.value
        targets, values = [target], [value]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            targets, values = target.elts, value.elts
        if len(targets) != len(values):
            return None
        for name, given in zip(targets, values, strict=True):
            if not isinstance(name, ast.Name) or name.id in pairs:
                return None
            pairs[name.id] = given
    return pairs


def _is_read_only(node: ast.expr) -> bool:
    """Whether it is a name, or an entry of one."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name)
    return isinstance(node, ast.Name)
