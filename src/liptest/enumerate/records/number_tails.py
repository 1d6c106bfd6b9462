"""Later code that cannot tell 1 from True: sums of whole numbers, shifted, scaled and answered.

What a loop adds up may be of several types. Later code could answer ``repr(total)`` and tell them
apart, so types count as a rule (docs/theory/records.md, P2). Of the few forms that are read here
the value alone decides.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from typing import Any

from liptest.enumerate.syntax.tree_pieces import name_called

#: Numbers that are no larger, however many are added up here, are exact in all types.
LARGEST = 1 << 20
_MOST_STATEMENTS = 20
# What is known of a number: whether records decide it, and whether it is whole and small.
_SMALL, _FLOAT, _SUM, _MEAN, _TOLD = "small", "float", "sum", "mean", "told"
_FIXED = (_SMALL, _FLOAT)
_WHOLE = (_SMALL, _SUM)


def sees_only_numbers(
    tail: list[ast.stmt],
    sums: Iterable[str],
    value_of: Callable[[str], ast.expr | None],
    look_up: Callable[[str], Any],
) -> bool:
    """Whether statements answer what the values of whole sums decide, whatever their types.

    ``value_of`` gives the expression of a constant of the function, ``look_up`` a name of outside.
    """
    kinds = dict.fromkeys(sums, _SUM)
    reading = _Kinds(kinds, value_of, look_up)
    if len(tail) > _MOST_STATEMENTS:
        return False
    for place, node in enumerate(tail):
        if isinstance(node, ast.Return):
            return place == len(tail) - 1 and reading.of(node.value) is not None
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return False
        target, kind = node.targets[0], reading.of(node.value)
        if not isinstance(target, ast.Name) or kind is None:
            return False
        kinds[target.id] = kind
    return False


class _Kinds:
    def __init__(
        self,
        known: dict[str, str],
        value_of: Callable[[str], ast.expr | None],
        look_up: Callable[[str], Any],
    ) -> None:
        self._known, self._value_of, self._look_up = known, value_of, look_up
        self._depth = 0

    def of(self, node: ast.expr | None) -> str | None:
        """The kind of an expression; None where its type could be told."""
        if isinstance(node, ast.Constant):
            return _of_constant(node.value)
        if isinstance(node, ast.Name):
            return self._of_name(node.id)
        if isinstance(node, ast.Call):
            return self._of_call(node)
        if isinstance(node, ast.BinOp):
            return _of_operation(node.op, self.of(node.left), self.of(node.right))
        if isinstance(node, (ast.Tuple, ast.List)):
            return _TOLD if all(self.of(element) for element in node.elts) else None
        if isinstance(node, ast.Dict):
            parts = (*(key for key in node.keys if key is not None), *node.values)
            told = [isinstance(p, ast.Constant) or self.of(p) is not None for p in parts]
            return _TOLD if all(told) and None not in node.keys else None
        return None

    def _of_name(self, name: str) -> str | None:
        if name in self._known:
            return self._known[name]
        value = self._value_of(name)
        if value is None:
            return _of_constant(self._look_up(name))
        if self._depth > _MOST_STATEMENTS:
            return None
        self._depth += 1
        kind = self.of(value)
        self._depth -= 1
        return kind if kind in _FIXED else None

    def _of_call(self, node: ast.Call) -> str | None:
        if node.keywords or not node.args:
            return None
        if name_called(node) == "len":
            return _SMALL
        kinds = [self.of(argument) for argument in node.args]
        if None in kinds or _TOLD in kinds:
            return None
        if isinstance(node.func, ast.Attribute):
            is_math = isinstance(node.func.value, ast.Name)
            is_math = is_math and self._look_up(node.func.value.id) is math  # type: ignore[attr-defined]
            return _FLOAT if is_math and set(kinds) <= {*_FIXED} else None
        name = name_called(node)
        if name == "float" and len(kinds) == 1:
            return _FLOAT if kinds[0] in _FIXED else _MEAN
        if name == "int" and kinds[0] in _WHOLE and len(kinds) == 1:
            return kinds[0]
        if name in ("max", "min") and len(kinds) > 1:
            return kinds[0] if len(set(kinds)) == 1 else _TOLD
        return _TOLD if name == "round" and len(kinds) == 1 else None


def _of_constant(value: Any) -> str | None:
    if type(value) is float:
        return _FLOAT
    return _SMALL if type(value) is int and abs(value) <= LARGEST else None


def _of_operation(operation: ast.operator, left: str | None, right: str | None) -> str | None:
    if left is None or right is None or _TOLD in (left, right):
        return None
    both = {left, right}
    if isinstance(operation, ast.Div) and right in _FIXED:
        return _FLOAT if left in _FIXED else _MEAN
    if isinstance(operation, (ast.Add, ast.Sub)):
        if both <= {*_WHOLE}:
            # Of constants alone it may be large: it is not looked at further.
            return _SUM if _SUM in both else None
        return _FLOAT if both <= {*_FIXED} else _MEAN
    if isinstance(operation, ast.Mult) and not both <= {*_WHOLE}:
        return _FLOAT if both <= {*_FIXED} else _MEAN
    return None
