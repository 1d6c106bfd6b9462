"""Which names may be read after a loop, before they are assigned again.

A backward pass over the statements of one function. Where a statement is not known in detail, all
that it names counts as read, and nothing as assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from liptest.enumerate.syntax.source import copy_tree, names_stored

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Names = frozenset[str]
_NONE: Names = frozenset()


def free_names(node: ast.AST) -> Names:
    """Names that are read in an expression or a statement, except for those of comprehensions."""
    if isinstance(node, ast.Name):
        return frozenset({node.id}) if not isinstance(node.ctx, ast.Store) else _NONE
    if isinstance(node, _COMPREHENSIONS):
        return _free_in_comprehension(node)
    if isinstance(node, ast.Lambda):
        arguments = {
            argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)
        }
        return (free_names(node.body) - arguments) | free_names(node.args)
    if isinstance(node, ast.FunctionDef):
        return _free_in_function(node)
    names = _union(free_names(child) for child in ast.iter_child_nodes(node))
    if isinstance(node, ast.AugAssign):
        names |= names_stored(node.target)
    return names


def find_assigned_names(node: ast.AST) -> Names:
    """Names that are assigned anywhere inside, except for those of comprehensions."""
    return frozenset(names_stored(_WithoutComprehensions().visit(copy_tree(node))))


class _WithoutComprehensions(ast.NodeTransformer):
    """Leaves out comprehensions but those with ``:=``, which assigns around them."""

    def _left_out(self, node: Any) -> Any:
        named = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
        return node if named else ast.Constant(None)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _left_out


def find_captured_names(nodes: Iterable[ast.AST], but: ast.AST) -> Names:
    """Names that what is run later may read: functions and generators, without those in ``but``."""
    return _union(_find_captured(node, but) for node in nodes)


def names_read_after(body: list[ast.stmt], loop: ast.stmt) -> Names:
    """Names that may be read after a loop of a function's body, as its passes left them."""
    walk = _Walk(loop)
    walk.before_all(body, _NONE, _NONE, _NONE)
    return walk.found


def names_read_from(body: list[ast.stmt]) -> Names:
    """Names that statements may read before they assign them, or in what is called later."""
    walk = _Walk(ast.Pass())
    return walk.before_all(body, _NONE, _NONE, _NONE) | find_captured_names(body, walk.loop)


def _union(parts: Iterable[Names]) -> Names:
    return _NONE.union(*parts)


def _free_in_comprehension(node: ast.AST) -> Names:
    parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.comprehension)]
    bound = _union(frozenset(names_stored(part.target)) for part in parts)
    first = free_names(parts[0].iter)
    inside = _union(
        free_names(child)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.comprehension)
    )
    for part in parts:
        inside |= _union(map(free_names, part.ifs)) | free_names(part.target)
        inside |= free_names(part.iter) if part is not parts[0] else _NONE
    return first | (inside - bound)


def _free_in_function(node: ast.FunctionDef) -> Names:
    """Names that a ``def`` and its body read of what is around it, or perhaps does."""
    own = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
    inside = [inner for statement in node.body for inner in ast.walk(statement)]
    others = (*_SCOPES, *_COMPREHENSIONS, ast.Global, ast.Nonlocal)
    if not any(isinstance(one, others) for one in inside):  # whose own names are its own
        own |= names_stored(*node.body)
    around = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
    return _union(map(free_names, around)) | (_union(map(free_names, node.body)) - own)


def _find_captured(node: ast.AST, but: ast.AST) -> Names:
    if node is but:
        return _NONE
    if isinstance(node, (*_SCOPES, ast.GeneratorExp)):
        return free_names(node)
    return _union(_find_captured(child, but) for child in ast.iter_child_nodes(node))


class _Walk:
    def __init__(self, loop: ast.stmt) -> None:
        self.loop = loop
        self.found = _NONE

    def before_all(self, body: list[ast.stmt], after: Names, end: Names, again: Names) -> Names:
        """Names read from the start of statements on; ``end`` and ``again`` are for a loop's."""
        for statement in reversed(body):
            after = self.before(statement, after, end, again)
        return after

    def before(self, node: ast.stmt, after: Names, end: Names, again: Names) -> Names:
        if node is self.loop:
            self.found |= after
        if isinstance(node, ast.If):
            inner = (self.before_all(part, after, end, again) for part in (node.body, node.orelse))
            return free_names(node.test) | _union(inner)
        if isinstance(node, (ast.For, ast.While)):
            return self._before_loop(node, after, end, again)
        if isinstance(node, ast.Break):
            return end
        if isinstance(node, ast.Continue):
            return again
        if isinstance(node, ast.Return):
            return free_names(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            return (after - _find_assigned(node)) | free_names(node)
        if not isinstance(node, (ast.AugAssign, ast.Expr, ast.Raise, ast.Pass)):
            self._within(node, after | end | again | free_names(node))
        return after | free_names(node)

    def _before_loop(
        self, node: ast.For | ast.While, after: Names, end: Names, again: Names
    ) -> Names:
        ended = self.before_all(node.orelse, after, end, again)
        head = free_names(node.iter if isinstance(node, ast.For) else node.test) | ended
        target = _NONE
        if isinstance(node, ast.For):
            target = frozenset(names_stored(node.target)) - free_names(node.target)
        while True:
            wider = head | (self.before_all(node.body, head, after, head) - target)
            if wider == head:
                return head
            head = wider

    def _within(self, node: ast.stmt, after: Names) -> None:
        if any(inner is self.loop for inner in ast.walk(node)):
            self.found |= after


def _find_assigned(node: ast.Assign | ast.AnnAssign) -> Names:
    """Names that are assigned whatever happens."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names: list[str] = []
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        names.extend(part.id for part in parts if isinstance(part, ast.Name))
    return frozenset(names)
