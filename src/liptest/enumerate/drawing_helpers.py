"""Functions of a program that draw noise and calculate with it, in one line after the other.

``def lap(rng, scale): return rng.laplace(scale=scale)``: whatever a pass of a loop may write
itself. It reads its arguments and constants, draws from a generator that it is given, and keeps
nothing.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from types import FunctionType

from liptest.enumerate.pure_code import NotPure, check_expression, without_docstring
from liptest.enumerate.source import FunctionSource, read_source

#: Methods of generators that give noise, or numbers that noise is made of.
DRAWING = frozenset(
    {"laplace", "normal", "standard_normal", "gumbel", "logistic", "exponential", "geometric"}
    | {"standard_exponential", "random", "integers", "uniform"}
)


@lru_cache(maxsize=1 << 8)
def only_draws(function: FunctionType) -> bool:
    """Whether a function consists of assignments to names and a ``return``, and does no more."""
    source = read_source(function)
    if source is None or function.__closure__:
        return False
    body = without_docstring(source.body)
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return False
    try:
        for statement in body[:-1]:
            if not isinstance(statement, ast.Assign) or not _names_only(statement.targets):
                return False
            _check(source, statement.value)
        _check(source, body[-1].value)
    except NotPure:
        return False
    return True


def _names_only(targets: list[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def _check(source: FunctionSource, node: ast.expr) -> None:
    """Raise NotPure unless an expression calculates, and draws from an argument."""
    own = frozenset(source.function.__code__.co_varnames)
    draws = [part for part in ast.walk(node) if _is_draw(part, own)]
    if not draws:
        check_expression(source, node, own)
    elif isinstance(node, ast.Call) and node is draws[0]:
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            _check(source, part)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp)):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.expr):
                _check(source, inner)
    else:
        raise NotPure("a draw in another expression")


def _is_draw(node: ast.AST, own: frozenset[str]) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    owner = function.value if isinstance(function, ast.Attribute) else None
    is_named = isinstance(owner, ast.Name) and owner.id in own
    return is_named and isinstance(function, ast.Attribute) and function.attr in DRAWING
