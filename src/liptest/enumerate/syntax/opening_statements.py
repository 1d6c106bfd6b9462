"""What the first statements of a sampler do with the arguments of one call.

``rng = check_random_state(rng)``, ``rng = rng or SystemRandom()`` and ``if p < 0: raise ..`` stand
before the draws of many samplers. What they call may make generators or raise; with the arguments
at hand it mostly does neither. So the statements are followed here with these arguments, through
what they call, along the one path that is taken, and only tests and names may lie on it.
"""

from __future__ import annotations

import ast
import numbers
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.generator import ChoiceGenerator, is_generator
from liptest.enumerate.syntax.pure_code import NUMBERS, NotPure, find_constant, find_original
from liptest.enumerate.syntax.signatures import bound_in_order
from liptest.enumerate.syntax.source import FunctionSource, read_source
from liptest.values.comparison_signs import COMPARISONS

Names = dict[str, Any]
_ATOMS = (*NUMBERS, str, NoneType)
_ABSTRACT = (numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral)
# Kept: while a program is analysed the name stands for something else.
_DEFAULT_RNG = np.random.default_rng
# Functions that call each other so deep.
_DEEPEST = 8


def only_hands_on(
    source: FunctionSource, statements: list[ast.stmt], arguments: tuple[Any, ...]
) -> bool:
    """Whether the statements only bind names to numbers and to the generators that are given.

    ``arguments`` are those of the call by their places. False, too, where the statements raise,
    return, or do what is not followed.
    """
    try:
        names = _find_named(source, arguments)
        _Followed(source, names, 0).run(statements)
    except (NotPure, _Returned):
        return False
    given = [value for value in arguments if is_generator(value)]
    return all(
        any(value is one for one in given) if is_generator(value) else type(value) in _ATOMS
        for value in names.values()
    )


def may_hand_on(source: FunctionSource, statement: ast.stmt) -> bool:
    """Whether a statement could be one of these, whatever the arguments are."""
    if isinstance(statement, ast.If):
        # Of its two branches one is taken.
        return _calls_by_name(source, statement.test) and any(
            all(may_hand_on(source, inner) for inner in branch)
            for branch in (statement.body, statement.orelse)
        )
    if isinstance(statement, ast.Assert):
        return _calls_by_name(source, statement.test)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        return _calls_by_name(source, statement.value)
    return isinstance(statement, (ast.Pass, ast.Expr))


def _calls_by_name(source: FunctionSource, node: ast.expr) -> bool:
    """Whether an expression calls by name, or not at all."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            try:
                find_constant(source, call.func)
            except NotPure:
                return False
    return True


def _find_named(source: FunctionSource, arguments: tuple[Any, ...]) -> Names:
    code = source.function.__code__
    return dict(zip(code.co_varnames[: code.co_argcount], arguments, strict=True))


class _Returned(Exception):
    """A function that is followed returns."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Followed:
    """Statements that are followed, with the values of their names."""

    def __init__(self, source: FunctionSource, names: Names, depth: int) -> None:
        self._source, self._names, self._depth = source, names, depth

    def run(self, statements: list[ast.stmt]) -> None:
        for node in statements:
            self._run_one(node)

    def _run_one(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.If):
            self.run(node.body if self._is_true(node.test) else node.orelse)
        elif isinstance(node, ast.Assert):
            if not self._is_true(node.test):
                raise NotPure("an assertion that does not hold")
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is None or len(targets) > 1 or not isinstance(targets[0], ast.Name):
                raise NotPure("an assignment to more than a name")
            self._names[targets[0].id] = self.value(node.value)
        elif isinstance(node, ast.Return):
            raise _Returned(None if node.value is None else self.value(node.value))
        elif not isinstance(node, ast.Pass):
            raise NotPure(type(node).__name__)

    def value(self, node: ast.expr) -> Any:
        """The value of an expression. Raises NotPure where it is not followed."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and self._source.is_own(node.id):
            if node.id not in self._names:
                raise NotPure(f"{node.id} has no value here")
            return self._names[node.id]
        if isinstance(node, (ast.Name, ast.Attribute)):
            return find_constant(self._source, node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self._is_true(node.operand)
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self._is_true(node.test) else node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._either(node)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise NotPure(type(node).__name__)

    def _is_true(self, node: ast.expr) -> bool:
        value = self.value(node)
        if is_generator(value):
            return True
        if type(value) not in _ATOMS:
            raise NotPure(f"whether {ast.unparse(node)} holds")
        return bool(value)

    def _either(self, node: ast.BoolOp) -> Any:
        ends = isinstance(node.op, ast.Or)
        for part in node.values[:-1]:
            if self._is_true(part) is ends:
                return self.value(part)
        return self.value(node.values[-1])

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for sign, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not self._holds(left, sign, right):
                return False
            left = right
        return True

    def _holds(self, left: Any, sign: ast.cmpop, right: Any) -> bool:
        if isinstance(sign, (ast.Is, ast.IsNot)):
            return (left is right) is isinstance(sign, ast.Is)
        apply = COMPARISONS.get(type(sign))
        if apply is None or type(left) not in _ATOMS or type(right) not in _ATOMS:
            raise NotPure("a comparison of more than numbers")
        try:
            return bool(apply(left, right))
        except TypeError:
            raise NotPure("a comparison that raises") from None

    def _call(self, node: ast.Call) -> Any:
        if any(keyword.arg is None for keyword in node.keywords):
            raise NotPure("keywords")
        function = find_original(find_constant(self._source, node.func))
        if function is isinstance and len(node.args) == 2 and not node.keywords:
            return self._is_instance(*node.args)
        arguments = tuple(self.value(argument) for argument in node.args)
        options = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        alone = arguments[0] if len(arguments) == 1 and not options else None
        if function is _DEFAULT_RNG and type(alone) is ChoiceGenerator:
            return alone  # such a call gives back what it is given
        return self._follow(function, arguments, options)

    def _is_instance(self, value: ast.expr, kinds: ast.expr) -> bool:
        parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
        known = tuple(find_original(self.value(part)) for part in parts)
        if not all(type(kind) is type or any(kind is one for one in _ABSTRACT) for kind in known):
            raise NotPure("isinstance of a type that may answer by its own code")
        return isinstance(self.value(value), known)

    def _follow(self, function: Any, arguments: tuple[Any, ...], options: Names) -> Any:
        source = read_source(function) if type(function) is FunctionType else None
        bound = None if source is None else bound_in_order(function, arguments, options)
        if source is None or bound is None or self._depth >= _DEEPEST:
            raise NotPure(f"a call of {getattr(function, '__name__', 'a function')}")
        if function.__code__.co_cellvars:
            raise NotPure("names that functions within a function share")
        try:
            _Followed(source, _find_named(source, bound), self._depth + 1).run(source.body)
        except _Returned as returned:
            return returned.value
        return None
