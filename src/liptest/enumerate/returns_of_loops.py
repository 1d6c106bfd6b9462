"""Loops that are left by ``return``, with what they return behind them.

``while True: z = ..; if fits(z): return E`` is ``while True: z = ..; if fits(z): break`` and then
``return E``: nothing else leads behind a loop without a test and without another ``break``. So E,
which may walk over records, does not belong to a pass of the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from liptest.enumerate.source import FunctionSource, copy_tree
from liptest.enumerate.tree_pieces import nodes_in

_OTHER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def with_returns_behind_loops(source: FunctionSource) -> FunctionSource:
    """The same program; itself where no loop is left so."""
    if not any(map(_returning, nodes_in(source.body, ast.While))):
        return source
    return replace(
        source, node=_Behind().visit(source.with_body(list(map(copy_tree, source.body))))
    )


class _Behind(ast.NodeTransformer):
    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        leaving = _returning(node)
        if leaving is None:
            return node
        left = ast.copy_location(ast.If(leaving.test, [ast.Break()], []), leaving)
        ast.copy_location(left.body[0], leaving.body[0])
        node.body = [left if statement is leaving else statement for statement in node.body]
        return [node, *leaving.body]


def _returning(node: ast.While) -> ast.If | None:
    """The one statement ``if ..: ..; return ..`` of a loop that nothing but returns leave."""
    is_endless = isinstance(node.test, ast.Constant) and node.test.value is True
    if not is_endless or node.orelse or any(jumps(node.body, ast.Break)):
        return None
    ways = [one for one in node.body if isinstance(one, ast.If) and _returns(one)]
    return ways[0] if len(ways) == 1 and not any(jumps(ways[0].body, ast.Continue)) else None


def _returns(node: ast.If) -> bool:
    return not node.orelse and isinstance(node.body[-1], ast.Return)


def jumps(
    parts: Iterable[ast.AST], kind: type[ast.AST] | tuple[type[ast.AST], ...]
) -> Iterator[ast.AST]:
    """The statements that leave, or go on with, the loop around these parts."""
    for part in parts:
        if isinstance(part, kind):
            yield part
        elif isinstance(part, _LOOPS):
            yield from jumps(part.orelse, kind)
        elif not isinstance(part, _OTHER_SCOPES):
            yield from jumps(ast.iter_child_nodes(part), kind)
