"""Loops that read records by their place: ``for i in range(n): .. array[i]``."""

from __future__ import annotations

import ast
from typing import Any

from liptest.enumerate.pass_forms import addition_in
from liptest.enumerate.tree_pieces import attribute_node, name_node


class Naming(ast.NodeTransformer):
    """Puts a name for each ``array[index]``."""

    def __init__(self, index: str, prefix: str) -> None:
        self._index, self._prefix = index, prefix
        self.fields: dict[str, str] = {}

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        at_index = isinstance(node.slice, ast.Name) and node.slice.id == self._index
        if at_index and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            array = node.value.id
            field = self.fields.setdefault(array, f"{self._prefix}{len(self.fields)}")
            return ast.copy_location(name_node(field), node)
        return self.generic_visit(node)


def counts_up(node: ast.stmt, index: str) -> bool:
    """Whether it is ``index += 1``."""
    addition = addition_in(node)
    if addition is None or addition[:2] != (index, "add"):
        return False
    step = addition[2]
    return isinstance(step, ast.Constant) and type(step.value) is int and step.value == 1


def last_place(loop: str, index: str, iterable: ast.expr) -> list[ast.stmt]:
    """What gives the index of ``enumerate`` or ``range`` its last value, after the loop."""
    assert isinstance(iterable, ast.Call)
    starts = [*iterable.args[1:], *(one.value for one in iterable.keywords)]
    last = ast.Call(attribute_node(loop, "last_place"), starts, [])
    return [ast.Assign([name_node(index, ast.Store())], last)]


def has_constant_start(node: ast.Call) -> bool:
    """Whether a call of ``enumerate`` counts from a constant whole number."""
    starts = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "start")]
    is_one = len(starts) == 1 == len(node.args) - 1 + len(node.keywords)
    return is_one and isinstance(starts[0], ast.Constant) and type(starts[0].value) is int
