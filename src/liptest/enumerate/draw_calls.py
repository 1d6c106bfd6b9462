"""Which calls draw, in a source.

A generator that a function is given (``rng.integers(n)``), one of the module random that a module
holds (``RNG = random.SystemRandom()``), and functions of random and secrets.
"""

from __future__ import annotations

import ast
import random
import secrets
from typing import Any

from liptest.enumerate.draw_logs import OF_PYTHON
from liptest.enumerate.pure_code import NotPure, constant_of, original_of
from liptest.enumerate.source import FunctionSource

_METHODS = frozenset({"random", "randrange", "randint", "getrandbits"})
_WHOLE = frozenset({"integers", "randrange", "randint", "getrandbits"})
_FUNCTIONS = (
    *(random.random, random.randrange, random.randint, random.getrandbits),
    *(secrets.randbelow, secrets.randbits),
)


def is_draw(source: FunctionSource, node: ast.AST, methods: frozenset[str]) -> bool:
    """Whether it is a call that draws; ``methods`` are those of NumPy's generators."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    owner = function.value if isinstance(function, ast.Attribute) else None
    if isinstance(owner, ast.Name) and isinstance(function, ast.Attribute):
        if owner.id in source.function.__code__.co_varnames:
            return function.attr in methods | _METHODS
        if type(_constant(source, owner)) in OF_PYTHON:
            return function.attr in _METHODS
    called = _constant(source, function)
    return any(called is drawing for drawing in _FUNCTIONS)


def is_whole_draw(source: FunctionSource, node: ast.AST) -> bool:
    """Whether it is a call that draws one whole number, with parameters by place."""
    if not is_draw(source, node, _WHOLE) or not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _WHOLE:
        return len(node.args) <= 2
    return any(_constant(source, node.func) is drawing for drawing in _FUNCTIONS[1:])


def _constant(source: FunctionSource, node: ast.expr) -> Any:
    try:
        return original_of(constant_of(source, node))
    except NotPure:
        return None
