"""Sorted lists of which only entries and slices are read: no other order is asked (L6)."""

from __future__ import annotations

import ast
from dataclasses import replace

from liptest.enumerate.syntax.source import OWN_NAMES, FunctionSource, copy_tree
from liptest.enumerate.syntax.tree_pieces import is_name, name_node, place_in_file, plain_name


def find_calls_read_by_rank(source: FunctionSource) -> frozenset[tuple[int, int]]:
    """Where ``sorted(..)[0]``, or ``best = sorted(..)`` stands whose ``best`` is read so only."""
    nodes = [node for statement in source.body for node in ast.walk(statement)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_name(node.func, "sorted")]
    if not calls:
        return frozenset()
    sources = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    }
    kept = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and source.bindings.get(node.targets[0].id) == [node]
        and _is_read_in(node.targets[0].id, nodes, sources)
    }
    return frozenset(place_in_file(call) for call in calls if id(call) in sources | kept)


def _is_read_in(name: str, nodes: list[ast.AST], sources: set[int]) -> bool:
    """Whether a name is only read where an entry, or a slice, is taken of it."""
    return all(
        id(node) in sources
        for node in nodes
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store)
    )


def with_sorted_lists(source: FunctionSource) -> FunctionSource:
    """``scored.sort(..)`` as a list of another name, where entries alone are read after it."""
    if not isinstance(source.node, ast.FunctionDef):
        return source
    for place, statement in enumerate(source.body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Attribute):
            continue
        name = plain_name(call.func.value) if call.func.attr == "sort" else ""
        if name and _is_own_list(source, name, place):
            own = f"{OWN_NAMES}sorted_{name}"
            made = ast.Call(
                name_node("sorted"), [name_node(name)], list(map(copy_tree, call.keywords))
            )
            put = ast.Assign([name_node(own, ast.Store())], ast.copy_location(made, call))
            rest = [_Renamed(name, own).visit(copy_tree(one)) for one in source.body[place + 1 :]]
            body = [*source.body[:place], ast.copy_location(put, statement), *rest]
            return replace(source, node=source.with_body(body))
    return source


def _is_own_list(source: FunctionSource, name: str, place: int) -> bool:
    """Whether a list made here is only appended to before a statement, and read by rank after."""
    made = source.bindings.get(name, [])
    if len(made) != 1 or not isinstance(made[0], ast.Assign):
        return False
    if not isinstance(made[0].value, (ast.List, ast.ListComp)) or len(made[0].targets) != 1:
        return False
    before = [node for statement in source.body[:place] for node in ast.walk(statement)]
    after = [node for statement in source.body[place + 1 :] for node in ast.walk(statement)]
    appended = {
        id(node.func.value)
        for node in before
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
    }
    read = {
        id(node.value)
        for node in after
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    }
    return _is_read_in(name, before, appended) and _is_read_in(name, after, read)


class _Renamed(ast.NodeTransformer):
    def __init__(self, name: str, other: str) -> None:
        self._name, self._other = name, other

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(name_node(self._other), node) if node.id == self._name else node
