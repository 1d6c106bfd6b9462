"""Pieces of trees that rewritten functions are made of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from liptest.enumerate.syntax.source import OWN_NAMES

#: The name of what a rewritten function asks.
FOLDS = f"{OWN_NAMES}folds"
#: What gives the keys of a dict before a loop that adds to its entries (``key_tests``).
KEYS_OF = f"{OWN_NAMES}keys_of"


def reads_keys(node: ast.stmt) -> bool:
    """Whether a statement only reads the keys of a dict, before such a loop."""
    call = node.value if isinstance(node, ast.Assign) else None
    return isinstance(call, ast.Call) and is_name(call.func, KEYS_OF)


def place_in_file(node: ast.stmt | ast.expr) -> tuple[int, int]:
    """Line and column, which tell statements apart."""
    return node.lineno, node.col_offset


def name_node(name: str, context: ast.expr_context | None = None) -> ast.Name:
    """A name."""
    return ast.Name(name, context or ast.Load())


def plain_name(node: ast.AST) -> str:
    """The name that a node is; "" for all else."""
    return node.id if isinstance(node, ast.Name) else ""


def name_chain(node: ast.AST | None) -> tuple[str, ...]:
    """A name with attributes, as ("np", "random", "rand"); empty for all else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


def dotted_name(node: ast.expr) -> str:
    """A name with attributes, as "server.counts"; nothing for another expression."""
    return ".".join(name_chain(node))


def root_name(node: ast.expr) -> str:
    """The name that attributes are asked of, itself for a plain name; "" for all else."""
    return next(iter(name_chain(node)), "")


def is_name(node: ast.AST | None, name: str) -> TypeGuard[ast.Name]:
    """Whether a node is this name."""
    return isinstance(node, ast.Name) and node.id == name


def name_called(node: ast.AST) -> str:
    """The name that a call calls; "" for all else."""
    return plain_name(node.func) if isinstance(node, ast.Call) else ""


def read_applied(node: ast.Call) -> tuple[ast.Attribute, ast.expr, bool] | None:
    """Of ``series.apply(function)``, ``.map`` and ``frame.apply(function, axis=1)``.

    The method, the function, and whether it is given rows; None for all else.
    """
    method, options = node.func, {keyword.arg: keyword.value for keyword in node.keywords}
    axis = options.pop("axis", None)
    if not isinstance(method, ast.Attribute) or method.attr not in ("apply", "map"):
        return None
    by_rows = isinstance(axis, ast.Constant) and axis.value in (1, "columns")
    if len(node.args) != 1 or options or (axis is not None and not by_rows):
        return None
    return method, node.args[0], by_rows


def takes_one_name(arguments: ast.arguments) -> bool:
    """Whether a function takes one argument, without a default."""
    return len(arguments.args) == 1 and ast.unparse(arguments) == arguments.args[0].arg


def only_argument(node: ast.AST, name: str) -> ast.expr | None:
    """What ``name(..)`` is given where it is one thing; None for all else."""
    is_call = isinstance(node, ast.Call) and is_name(node.func, name) and not node.keywords
    return node.args[0] if is_call and len(node.args) == 1 else None  # type: ignore[attr-defined]


def target_node(names: Sequence[str]) -> ast.expr:
    """What each pass of a loop sets: a name, or several."""
    fields: list[ast.expr] = [name_node(name, ast.Store()) for name in names]
    return fields[0] if len(fields) == 1 else ast.Tuple(fields, ast.Store())


def attribute_node(owner: str, name: str) -> ast.expr:
    """``owner.name``."""
    return ast.Attribute(name_node(owner), name, ast.Load())


def call_of_folds(method: str, *arguments: ast.expr) -> ast.expr:
    """A call of a method of what a rewritten function asks."""
    return ast.Call(attribute_node(FOLDS, method), list(arguments), [])


def tuple_node(entries: list[ast.expr]) -> ast.expr:
    """A tuple that is read."""
    return ast.Tuple(entries, ast.Load())


def lambda_node(argument: str | tuple[str, ...] | None, body: ast.expr) -> ast.expr:
    """A function of one argument, of several, or of none."""
    names = (argument,) if isinstance(argument, str) else argument or ()
    arguments = ast.arguments(
        posonlyargs=[], args=list(map(ast.arg, names)), kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.Lambda(arguments, body)


def nodes_in(body: Iterable[ast.stmt], *kinds: type[ast.AST]) -> Iterator[Any]:
    """All nodes of some kinds in statements."""
    for statement in body:
        yield from (node for node in ast.walk(statement) if isinstance(node, kinds))


def flat_statements(parts: Iterable[Any]) -> list[ast.stmt]:
    """Statements, of which some are given in lists."""
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


def read_assignment(node: ast.stmt) -> tuple[str, ast.expr]:
    """The name and the value of an assignment; no name for other statements."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return target.id, node.value
    return "", ast.Constant(None)
