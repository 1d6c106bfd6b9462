"""Loops and comprehensions that read records by their place: ``for i in range(n): .. array[i]``."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from liptest.enumerate.loops.pass_forms import NotFolded, addition_in
from liptest.enumerate.syntax.source import OWN_NAMES, copy_tree, names_loaded, names_stored
from liptest.enumerate.syntax.tree_pieces import attribute_node, call_of_folds, is_name, name_node

#: Whether an expression is the name of a function that is built in.
IsBuiltin = Callable[[ast.expr, Any], bool]


class Naming(ast.NodeTransformer):
    """Puts a name for each ``array[index]``, also in ``array[index, 0]``."""

    def __init__(self, index: str, prefix: str) -> None:
        self._index, self._prefix = index, prefix
        self.fields: dict[str, str] = {}
        #: What must be arrays of NumPy: of lists ``rows[i, 0]`` raises.
        self.tables: set[str] = set()

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        first = places[0] if places else None
        at_index = is_name(first, self._index)
        if not (at_index and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load)):
            return self.generic_visit(node)
        array = node.value.id
        field = name_node(self.fields.setdefault(array, f"{self._prefix}{len(self.fields)}"))
        if not isinstance(node.slice, ast.Tuple):
            return ast.copy_location(field, node)
        # Of an array ``array[i, j]`` is ``array[i][j]``.
        self.tables.add(array)
        rest = [self.visit(place) for place in places[1:]]
        inside = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
        return ast.copy_location(ast.Subscript(field, inside, ast.Load()), node)

    def arrays(self) -> list[ast.expr]:
        """What is read at the index."""
        return [
            call_of_folds("table", name_node(array)) if array in self.tables else name_node(array)
            for array in self.fields
        ]


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
    starts = [*iterable.args[1:], *(keyword.value for keyword in iterable.keywords)]
    last = ast.Call(attribute_node(loop, "last_place"), starts, [])
    return [ast.Assign([name_node(index, ast.Store())], last)]


def has_constant_start(node: ast.Call) -> bool:
    """Whether a call of ``enumerate`` counts from a constant whole number."""
    starts = [
        *node.args[1:],
        *(keyword.value for keyword in node.keywords if keyword.arg == "start"),
    ]
    is_one = len(starts) == 1 == len(node.args) - 1 + len(node.keywords)
    return is_one and isinstance(starts[0], ast.Constant) and type(starts[0].value) is int


def has_start(node: ast.expr) -> bool:
    """Whether a call of ``enumerate`` says where it begins to count."""
    return isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1


def _without_zero(node: ast.expr, is_builtin: IsBuiltin) -> ast.expr:
    """``range(count)`` of ``range(0, count)``, and all else as it is."""
    arguments = node.args if isinstance(node, ast.Call) else []
    if not isinstance(node, ast.Call) or len(arguments) != 2 or node.keywords:
        return node
    start = arguments[0]
    is_zero = isinstance(start, ast.Constant) and type(start.value) is int and start.value == 0
    if not is_zero or not is_builtin(node.func, builtins.range):
        return node
    return ast.copy_location(ast.Call(node.func, [arguments[1]], []), node)


def parts_of_walk(node: ast.For, is_builtin: IsBuiltin) -> tuple[str, str, ast.expr]:
    """The names of index and record, "" for none, and what is walked over."""
    target, iterable = node.target, _without_zero(node.iter, is_builtin)
    names = target.elts if isinstance(target, ast.Tuple) else []
    if isinstance(iterable, ast.Call) and iterable.args:
        function, has_more = iterable.func, len(iterable.args) > 1 or bool(iterable.keywords)
        if is_builtin(function, builtins.range):
            if has_more or not isinstance(target, ast.Name) or not isinstance(function, ast.Name):
                raise NotFolded
            return target.id, "", iterable
        if is_builtin(function, builtins.enumerate):
            both = [name.id for name in names if isinstance(name, ast.Name)]
            if has_more and not has_constant_start(iterable):
                raise NotFolded
            if len(both) == len(names) == 2 and isinstance(function, ast.Name):
                return both[0], both[1], iterable
            raise NotFolded
    if isinstance(target, ast.Name):
        return "", target.id, iterable
    if len(names) > 1 and all(isinstance(name, ast.Name) for name in names):
        return "", "", iterable
    raise NotFolded


def name_entries(
    body: list[ast.stmt], index: str, prefix: str
) -> tuple[list[ast.stmt], list[str], list[ast.expr]]:
    """The body with names of its own for ``array[index]``, these names, and the arrays.

    Raises NotFolded where the index is used otherwise, or an array is assigned.
    """
    naming = Naming(index, prefix)
    renamed = [naming.visit(copy_tree(statement)) for statement in body]
    if not naming.fields or index in names_loaded(*renamed) | names_stored(*renamed):
        raise NotFolded
    if set(naming.fields) & names_stored(*renamed):
        raise NotFolded
    return renamed, list(naming.fields.values()), naming.arrays()


def read_at_index(
    node: ast.ListComp | ast.GeneratorExp, is_builtin: IsBuiltin
) -> tuple[ast.ListComp | ast.GeneratorExp, list[ast.expr]]:
    """``[a[i] + b[i] for i in range(n)]`` as ``[x + y for x, y in ..]``, with the arrays.

    Without arrays it is the comprehension as it was.
    """
    walked, target = _without_zero(node.generators[0].iter, is_builtin), node.generators[0].target
    is_range = isinstance(walked, ast.Call) and is_builtin(walked.func, builtins.range)
    if not is_range or len(walked.args) != 1 or walked.keywords:  # type: ignore[attr-defined]
        return node, []
    copied = copy_tree(node)
    part = copied.generators[0]
    values = [ast.Expr(value) for value in (copied.elt, *part.ifs)]
    if not isinstance(target, ast.Name):
        return node, []
    try:
        named, fields, arrays = name_entries([*values], target.id, f"{OWN_NAMES}entry_")
    except NotFolded:
        return node, []
    copied.elt, *part.ifs = [one.value for one in named]  # type: ignore[attr-defined]
    part.target = ast.Tuple([name_node(field, ast.Store()) for field in fields], ast.Store())
    return copied, arrays
