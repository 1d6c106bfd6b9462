"""Reductions that add up: ``reduce(lambda total, item: total + part, items, start)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from liptest.enumerate.source import names_loaded, names_stored


@dataclass(frozen=True)
class Addition:
    """What a reduction adds for an item, and where it adds it."""

    item: str
    part: ast.expr
    tests: tuple[ast.expr, ...]


def addition_of(node: ast.Call) -> Addition | None:
    """The parts of such a call of ``reduce``; None for all others."""
    function = node.args[0]
    if not isinstance(function, ast.Lambda) or node.keywords or len(node.args) not in (2, 3):
        return None
    names = [parameter.arg for parameter in function.args.args]
    if len(set(names)) != 2 or ast.unparse(function.args) != ", ".join(names):
        return None
    total, item = names
    whole = function.body
    body, tests = whole, tuple[ast.expr, ...]()
    if isinstance(whole, ast.IfExp) and _is_name(whole.orelse, total):
        body, tests = whole.body, (whole.test,)
    if not isinstance(body, ast.BinOp) or not isinstance(body.op, ast.Add):
        return None
    part = body.right if _is_name(body.left, total) else body.left
    if not (_is_name(body.left, total) or _is_name(body.right, total)):
        return None
    used = names_loaded(part, *tests) | names_stored(part, *tests)
    # Without a start the first item itself is where it begins.
    is_plain = _is_name(part, item) and not tests
    if total in used or (len(node.args) == 2 and not is_plain):
        return None
    return Addition(item, part, tests)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
