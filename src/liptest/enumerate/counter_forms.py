"""Ways to write what is done with counts of records, beside loops that count.

``counts.update(data)`` of a new Counter is ``Counter(data)``; ``counts[k] if k in counts else 0``
is ``counts.get(k, 0)``.
"""

from __future__ import annotations

import ast
from typing import Any

from liptest.enumerate.fold_passes import is_fresh_before
from liptest.enumerate.source import FunctionSource, copy_tree
from liptest.enumerate.tree_pieces import call_of_folds, lambda_node, name_node


class CounterForms(ast.NodeTransformer):
    """Part of the rewriting of a function."""

    source: FunctionSource
    changes: int

    @property
    def own(self) -> frozenset[str]:
        """Names of the function's own."""
        raise NotImplementedError

    def taken(self, node: ast.expr) -> Any:
        """What a function takes that walks it, as a column gives it."""
        raise NotImplementedError

    def visit_Expr(self, node: ast.Expr) -> Any:
        """``counts.update(values)``, where nothing else has what ``counts`` stands for."""
        call = node.value
        updated = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(updated, ast.Attribute):
            return self.generic_visit(node)
        is_update = updated.attr == "update" and len(call.args) == 1 and not call.keywords
        name = updated.value.id if isinstance(updated.value, ast.Name) else ""
        if not is_update or isinstance(call.args[0], ast.Starred) or name not in self.own:
            return self.generic_visit(node)
        if not is_fresh_before(self, node, name):  # type: ignore[arg-type]
            return self.generic_visit(node)
        self.changes += 1
        values = self.visit(self.taken(call.args[0]))
        made = call_of_folds("updated", name_node(name), values)
        return ast.copy_location(ast.Assign([name_node(name, ast.Store())], made), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """``counts[k] if k in counts else 0``, with plain names."""
        test, entry = node.test, node.body
        is_test = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In)
        if not is_test or not isinstance(entry, ast.Subscript):
            return self.generic_visit(node)
        assert isinstance(test, ast.Compare)
        pair = [entry.value, entry.slice]
        are_alike = list(map(ast.dump, pair)) == list(map(ast.dump, [*test.comparators, test.left]))
        are_names = all(isinstance(one, (ast.Name, ast.Constant)) for one in pair)
        if not are_alike or not are_names or not isinstance(node.orelse, ast.Constant):
            return self.generic_visit(node)
        self.changes += 1
        written = lambda_node(None, copy_tree(node))
        return ast.copy_location(call_of_folds("entry", *pair, node.orelse, written), node)
