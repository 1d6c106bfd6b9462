"""Private names of classes, as Python compiles them: in a class C ``self.__x`` is ``self._C__x``.

The rule is that of the language reference, "Identifiers (Names)", on private name mangling.
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
# Where an identifier stands in a node. Those of keywords in calls are compiled as they are written,
# and a function knows its own name so.
_IDENTIFIERS = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.ExceptHandler: "name",
}


def with_private_names(tree: Node) -> Node:
    """The same tree, changed in place: private names in classes as they are compiled."""
    _PrivateNames("").visit(tree)
    return tree


class _PrivateNames(ast.NodeVisitor):
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        inside = _PrivateNames(node.name.lstrip("_"))
        for statement in node.body:
            inside.visit(statement)

    def generic_visit(self, node: ast.AST) -> Any:
        field = _IDENTIFIERS.get(type(node))
        if self._owner and field is not None:
            setattr(node, field, self._compiled(getattr(node, field)))
        if self._owner and isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [str(self._compiled(name)) for name in node.names]
        super().generic_visit(node)

    def _compiled(self, name: str | None) -> str | None:
        is_private = name is not None and name.startswith("__") and not name.endswith("__")
        return f"_{self._owner}{name}" if is_private and "." not in str(name) else name
