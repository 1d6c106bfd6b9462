"""Where a function was found not to treat its records one by one.

What is evaluated before the first random number is the same in all runs, and in each part of the
function that begins like it. So what was refused there is refused again: it is not run once more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType, FrameType

#: First and last line, and first and last column, of an expression.
Place = tuple[int, int, int, int]
#: An expression, as text, and where it is: what is written there instead is another one.
Refusal = tuple[Place, str]
# What is inside of them is evaluated any number of times, or is rewritten.
_OFTEN = (
    *(ast.For, ast.While, ast.AsyncFor, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


def find_place_in(frame: FrameType | None, code: CodeType) -> Place | None:
    """The expression that a function evaluates while a frame runs; the outermost call of it.

    ``code`` is that of the function as it is written: what is run may be another version of it.
    """
    place = None
    while frame is not None:
        own = frame.f_code
        if own.co_filename == code.co_filename and own.co_qualname == code.co_qualname:
            place = [*own.co_positions()][frame.f_lasti // 2]
        frame = frame.f_back
    if place is None:
        return None
    first, last, start, end = place
    if first is None or last is None or start is None or end is None:
        return None
    return first, last, start, end


def find_expressions(statements: list[ast.stmt], place: Place) -> set[Refusal]:
    """What statements evaluate at a place, and not in a loop of them."""
    return {(place, ast.dump(node)) for node in _find_plain(statements) if _place_of(node) == place}


def is_evaluated(statements: list[ast.stmt], refused: set[Refusal]) -> bool:
    """Whether statements evaluate one of the expressions, and not in a loop of them."""
    places = {place for place, _ in refused}
    return any(find_expressions(statements, place) & refused for place in places)


def _find_plain(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [*nodes]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _OFTEN):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _place_of(node: ast.AST) -> Place | None:
    if not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
        return None
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
