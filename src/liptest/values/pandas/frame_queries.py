"""``frame.query("age >= 18 and region == 'north'")`` of a symbolic frame.

Followed are comparisons and ``+ - * /`` of columns, constants and ``@names``, with ``and``, ``or``,
``not`` (``&``, ``|``, ``~``) and ``in [..]``. All else is refused, with the line of the program.
"""

from __future__ import annotations

import ast
import io
import operator
import tokenize
from functools import reduce
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from liptest.values.comparison_signs import COMPARISONS, MIRRORED
from liptest.values.pandas.record_series import RecordSeries
from liptest.values.protocol import is_symbolic

# As pandas reads them: they bind as the words do.
_WORDS = {"&": "and", "|": "or"}
_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_LOCAL = "_of_the_program_"
_ADVICE = "write comparisons of columns and constants, or use frame[condition]"


def find_rows(frame: Any, text: Any, program: FrameType) -> RecordSeries:
    """The condition of a query, of the records of a frame.

    ``program`` is the frame of the stack whose names ``@name`` stands for.
    """
    if not isinstance(text, str):
        frame.refuse(".query of what is not a text", _ADVICE)
    try:
        tree = ast.parse(_as_python(text), mode="eval")
    except (SyntaxError, tokenize.TokenError, ValueError):
        frame.refuse(".query with a text that is not an expression", _ADVICE)
    return _Query(frame, program).truth(tree.body)


def calculate_column(frame: Any, text: Any, program: FrameType) -> tuple[str, RecordSeries]:
    """(name, column) of ``frame.eval``: "x + 2 * y", or "name = x + 2 * y"; "" without a name."""
    if not isinstance(text, str):
        frame.refuse(".eval of what is not a text", _ADVICE)
    try:
        lines = ast.parse(_as_python(text)).body
    except (SyntaxError, tokenize.TokenError, ValueError):
        lines = []
    line = lines[0] if len(lines) == 1 else None
    if isinstance(line, ast.Assign) and isinstance(target := line.targets[0], ast.Name):
        return target.id, _Query(frame, program).column(line.value)
    if not isinstance(line, ast.Expr):
        frame.refuse(".eval with a text that is not an expression", _ADVICE)
    assert isinstance(line, ast.Expr)
    return "", _Query(frame, program).column(line.value)


def _as_python(text: str) -> str:
    """Signs as words, and names of the program under names of their own."""
    words, follows_at = [], False
    for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
        word = token.string
        if follows_at:
            if token.type != tokenize.NAME:
                raise ValueError
            word, follows_at = _LOCAL + word, False
        elif word == "@":
            follows_at = True
            continue
        elif word == "`":
            raise ValueError
        words.append(_WORDS.get(word, word) if token.type == tokenize.OP else word)
    return " ".join(words)


def _is_number(value: Any) -> bool:
    if type(value) is RecordSeries:
        return value.names is None and value.array.dtype in (np.int64, np.float64)
    return type(value) in (int, float)


class _Query:
    def __init__(self, frame: Any, program: FrameType) -> None:
        self._frame, self._program = frame, program

    def truth(self, node: ast.expr) -> RecordSeries:
        """The truth of a condition for each record."""
        if isinstance(node, ast.BoolOp):
            joined = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            found: RecordSeries = reduce(joined, [self.truth(value) for value in node.values])
            return found
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            return ~self.truth(node.operand)  # type: ignore[no-any-return]
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = [
                self._compare(left, kind, right)
                for left, kind, right in zip(sides, node.ops, sides[1:], strict=False)
            ]
            made: RecordSeries = reduce(operator.and_, parts)
            return made
        if isinstance(node, ast.Name):
            series = self._value(node)
            if type(series) is RecordSeries and series.names is None and series.array.dtype == bool:
                return series
        return self._refuse(node)

    def column(self, node: ast.expr) -> RecordSeries:
        """Of each record a number, or whether a condition holds."""
        if isinstance(node, ast.BinOp):
            made = self._value(node)
            if type(made) is RecordSeries:
                return made
        return self.truth(node)

    def _compare(self, left: ast.expr, kind: ast.cmpop, right: ast.expr) -> Any:
        one, other = self._value(left), self._value(right)
        if isinstance(kind, (ast.In, ast.NotIn)):
            if type(one) is not RecordSeries or not isinstance(other, (list, tuple, set)):
                self._refuse(left)
            inside = one.isin(list(other))
            return inside if isinstance(kind, ast.In) else ~inside
        operation = COMPARISONS.get(type(kind))
        if type(one) is not RecordSeries and type(other) is RecordSeries:
            mirrored = MIRRORED.get(type(kind), type(kind))
            one, other, operation = other, one, COMPARISONS.get(mirrored)
        plain = isinstance(other, (int, float, str)) and not is_symbolic(other)
        if operation is None or type(one) is not RecordSeries:
            self._refuse(left)
        if not plain and type(other) is not RecordSeries:
            self._refuse(right)
        return operation(one, other)

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            if node.id.startswith(_LOCAL):
                return self._local(node.id.removeprefix(_LOCAL))
            if node.id in self._frame:
                return self._frame[node.id]
            self._refuse(node)
        if isinstance(node, ast.BinOp):
            return self._calculate(node)
        try:
            return ast.literal_eval(node)
        except ValueError:
            self._refuse(node)

    def _calculate(self, node: ast.BinOp) -> Any:
        """Sums, differences, products and ratios of columns of numbers and of constants."""
        operation = _ARITHMETIC.get(type(node.op))
        sides = [self._value(side) for side in (node.left, node.right)]
        if operation is None or not all(map(_is_number, sides)):
            self._refuse(node)
        return operation(*sides)

    def _local(self, name: str) -> Any:
        for names in (self._program.f_locals, self._program.f_globals):
            if name in names:
                value = names[name]
                if not is_symbolic(value):
                    return value
        return self._frame.refuse(f".query with @{name}, which is not a constant", _ADVICE)

    def _refuse(self, node: ast.AST) -> NoReturn:
        words = ast.unparse(node).replace(_LOCAL, "@")
        self._frame.refuse(f".query with {words!r}", _ADVICE)
        raise AssertionError
