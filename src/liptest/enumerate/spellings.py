"""Ways to write walks over records, and what is done with counts of them.

``map`` and ``filter`` of a column are lists with a number for each record.
``counts.update(data)`` of a new Counter is ``Counter(data)``; ``counts[k] if k in counts else 0``
is ``counts.get(k, 0)``.
"""

from __future__ import annotations

import ast
from typing import Any

from liptest.enumerate.fold_passes import is_fresh_before
from liptest.enumerate.pure_code import is_builtin
from liptest.enumerate.source import OWN_NAMES, FunctionSource, copy_tree
from liptest.enumerate.tree_pieces import call_of_folds, lambda_node, name_node


class Spellings(ast.NodeTransformer):
    """Part of the rewriting of a function."""

    source: FunctionSource
    changes: int

    @property
    def own(self) -> frozenset[str]:
        """Names of the function's own."""
        raise NotImplementedError

    def is_free(self, node: ast.expr) -> bool:
        """Whether the root of a name is not the function's own."""
        raise NotImplementedError

    def made_of_items(self, function: ast.expr) -> tuple[str, ast.expr] | None:
        """What a function that only calculates makes of an item, and the name of it."""
        raise NotImplementedError

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Any:
        """One as a column is walked."""
        raise NotImplementedError

    def _mapped(self, node: ast.Call) -> ast.expr:
        """``map(function, iterable)`` and ``filter`` as comprehensions; else as it is written."""
        names = [mapper for mapper in (map, filter) if is_builtin(self.source, node.func, mapper)]
        if not names or not self.is_free(node.func) or len(node.args) != 2 or node.keywords:
            return node
        function, iterable = node.args
        found = self.made_of_items(function)
        if found is None:
            return node
        item, made = found
        self.changes += 1
        hidden = f"{OWN_NAMES}iterable"
        part = ast.comprehension(name_node(item, ast.Store()), name_node(hidden), [], 0)
        if names[0] is filter:
            part.ifs, made = [made], name_node(item)
        written = ast.Call(node.func, [function, name_node(hidden)], [])
        both = [lambda_node(hidden, version) for version in (written, ast.ListComp(made, [part]))]
        call = call_of_folds("comprehension", self.visit(iterable), *both)
        return ast.copy_location(call, node)

    def taken(self, node: ast.expr) -> Any:
        """What a function takes that walks it, as a column gives it."""
        if isinstance(node, ast.GeneratorExp):
            return self.comprehension(node)
        return self._mapped(node) if isinstance(node, ast.Call) else node

    def walked(self, node: ast.expr) -> Any:
        """What a loop walks over: ``map`` and ``filter`` of a column are columns."""
        mapped = self._mapped(node) if isinstance(node, ast.Call) else node
        return self.visit(node) if mapped is node else mapped

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
