"""Entries of plain arrays at random bits: ``data[mask]``, ``data[np.flatnonzero(mask)]``.

NumPy looks at all bits of an index. So reads of an array under a name are asked here first: the sum
of the chosen entries has a law that needs no bit (``sampled_entries``). Other reads are made as
they are written.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from liptest.enumerate.loops.coin_filters import DRAWING
from liptest.enumerate.syntax.called_methods import read_drawing
from liptest.enumerate.syntax.source import OWN_NAMES, copy_tree
from liptest.enumerate.syntax.tree_pieces import name_node
from liptest.enumerate.watch.access_tracking import TrackedArray
from liptest.values.array import SymbolicArray
from liptest.values.binary.sampled_entries import choose_entries

_CHOSEN, _INDEX, _ENTRIES = (f"{OWN_NAMES}{name}" for name in ("chosen", "index", "entries"))
# Functions that toss coins.
_DRAWING = DRAWING | {"binomial", "choice"}
_SCOPES = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ClassDef),
    *(ast.FunctionDef, ast.AsyncFunctionDef),
)
_CONSTANT = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp)


def with_chosen_entries(function: Any) -> Any:
    """The function with reads at random bits; itself where it has none."""
    source = read_drawing(function, _DRAWING)
    if source is None:
        return function
    body = list(map(copy_tree, source.body))
    reads = _Reads()
    node = source.with_body([reads.visit(statement) for statement in body])
    if not reads.changes:
        return function
    return source.compiled_again(node, {_CHOSEN: choose_by_bits}) or function


def choose_by_bits(array: Any, index: Any) -> SymbolicArray | None:
    """``array[index]``, where that is a plain array at random bits; None for all else."""
    if type(index) is not SymbolicArray or type(array) not in (np.ndarray, TrackedArray):
        return None
    return choose_entries(np.asarray(array), index)


class _Reads(ast.NodeTransformer):
    def __init__(self) -> None:
        self.changes = 0

    def visit(self, node: ast.AST) -> Any:
        # Names of an expression inside of them are not the function's own.
        return node if isinstance(node, _SCOPES) else super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """What is named for the reader is not evaluated, and may assign nothing."""
        node.target = self.visit(node.target)
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """``entries if (entries := chosen(array, index := ..)) is not None else array[index]``."""
        self.generic_visit(node)
        is_read = isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name)
        if not is_read or isinstance(node.slice, _CONSTANT):
            return node
        self.changes += 1
        index = ast.NamedExpr(name_node(_INDEX, ast.Store()), node.slice)
        asked = ast.Call(name_node(_CHOSEN), [copy_tree(node.value), index], [])
        entries = ast.NamedExpr(name_node(_ENTRIES, ast.Store()), asked)
        test = ast.Compare(entries, [ast.IsNot()], [ast.Constant(None)])
        plain = ast.Subscript(node.value, name_node(_INDEX), ast.Load())
        choice = ast.IfExp(test, name_node(_ENTRIES), ast.copy_location(plain, node))
        return ast.copy_location(choice, node)
