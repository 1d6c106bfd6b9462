"""Where code asks whether a number is an object, as ``v is True`` and ``case True`` do.

NumPy and Python have one object for each truth and for small numbers, and nothing can stand for
it: ``is`` looks at objects alone. Repeated runs show such a test only where its answer is likely.
So it is found in the byte code, unless one side cannot be a number, or both are known.
"""

from __future__ import annotations

import dis
import operator
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import find_attribute, has_step
from liptest.enumerate.watch.set_orders import CodeStep, find_steps
from liptest.values.protocol import Symbolic

_FUNCTIONS = (operator.is_, operator.is_not)
_NAMES = frozenset({"is_", "is_not"})
_LOCALS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_NAME"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
# What always gives Python's True or False.
_TRUTHS = frozenset({"UNARY_NOT", "CONTAINS_OP", "IS_OP"})
_PLAIN = (bool, isinstance, issubclass, callable, hasattr)
_NUMBERS = (bool, int, float, complex, str, bytes, tuple, frozenset, np.generic)
_UNKNOWN: Any = object()


@lru_cache(maxsize=1 << 12)
def may_test_identity(code: CodeType) -> bool:
    """Whether code compares objects, with more than None and classes."""
    if not _NAMES.isdisjoint(code.co_names):
        return True
    if not has_step(code, "IS_OP"):
        return False
    joins = _targets_in(code)
    return any(
        step.name == "IS_OP" and (step.offset in joins or not _is_none_or_class(last))
        for last, step in pairwise(find_steps(code))
    )


def identity_tests(
    code: CodeType, held: Mapping[str, Any], space: Mapping[str, Any]
) -> Iterator[int | None]:
    """Lines that may test what a random number is; ``held`` are its variables, ``space`` its
    globals."""
    if not may_test_identity(code):
        return
    operands = _Operands(code, held, space)
    for place, step in enumerate(operands.steps):
        is_function = step.value in _NAMES and operands.value_at(place)[0] in _FUNCTIONS
        if is_function or (step.name == "IS_OP" and operands.may_be_numbers(place)):
            yield step.line


class _Operands:
    """What steps of code leave on the stack, where that can be told."""

    def __init__(self, code: CodeType, held: Mapping[str, Any], space: Mapping[str, Any]) -> None:
        self._held, self._space = held, space
        self.steps, self._targets, self._lasting, self._written = _find_known(code)

    def may_be_numbers(self, place: int) -> bool:
        """Whether a test at a step may be of a random number and another one."""
        if self.steps[place].offset in self._targets:
            return True
        right, first = self.value_at(place - 1)
        if self._is_no_number(right):
            return False
        left = _UNKNOWN
        if first and self.steps[first].offset not in self._targets:
            left, begin = self.value_at(first - 1)
            if self._is_no_number(left):
                return False
            one, other = self.steps[begin], self.steps[first]
            are_names = place - first == first - begin == 1 and one.name in _LOCALS
            if are_names and (one.name, one.value) == (other.name, other.value):
                return False  # the same object
        return left is _UNKNOWN or right is _UNKNOWN

    @staticmethod
    def _is_no_number(value: Any) -> bool:
        return value is not _UNKNOWN and not isinstance(value, _NUMBERS)

    def value_at(self, place: int) -> tuple[Any, int]:
        """What a step leaves, and the first step of its expression; a random one is unknown."""
        value, first = self._found(place)
        is_random = issubclass(type(value), Symbolic) and value.__class__ is not np.ndarray
        return (_UNKNOWN if is_random else value), first

    def _found(self, place: int) -> tuple[Any, int]:
        step = self.steps[place]
        if step.name == "LOAD_CONST":
            return step.value, place
        if step.name == "LOAD_GLOBAL":
            builtins = self._space.get("__builtins__", {})
            builtins = vars(builtins) if isinstance(builtins, ModuleType) else builtins
            return self._space.get(step.value, builtins.get(step.value, _UNKNOWN)), place
        if step.name in _LOCALS:
            is_known = step.value in self._lasting and step.value in self._held
            return (self._held[step.value] if is_known else _UNKNOWN), place
        if step.name in _ATTRIBUTES and place:
            return self._attribute(place)
        first = self._begin(place)
        if step.name in _TRUTHS:
            return True, first
        if step.name == "CALL" and first < place and self.steps[first].is_called:
            called = self._found(first)[0]
            is_class = isinstance(called, type) and not issubclass(called, _NUMBERS)
            if called is iter or is_class:
                return type, first  # no number
            if any(called is function for function in _PLAIN):
                return True, first
        return _UNKNOWN, first

    def _begin(self, place: int) -> int:
        """The first step of an expression without branches; the last where there are some."""
        height, first = 0, place
        while first >= 0 and (first == place or self.steps[first + 1].offset not in self._targets):
            height += self.steps[first].effect
            if height == 1:
                return first
            first -= 1
        return place

    def _attribute(self, place: int) -> tuple[Any, int]:
        name = self.steps[place].value
        owner, first = self.value_at(place - 1)
        if name == "__class__":
            return type, first
        inside = None if owner is _UNKNOWN else find_attribute(owner, "__dict__")
        if name in self._written and isinstance(inside, dict):
            return self._just_stored(place, name, type(owner)), first
        if name in self._written or not isinstance(inside, dict):
            return _UNKNOWN, first
        return inside.get(name, _UNKNOWN), first

    def _just_stored(self, place: int, name: str, kind: type) -> Any:
        """What ``self.name = value`` has stored before a step, if nothing else may have changed it.

        All steps up to it are in one line, and after the value is stored the object is not handed
        on: only its attributes are set and read.
        """
        owner = self.steps[place - 1]
        stack: list[CodeStep | None] = []
        stored = _UNKNOWN
        for step, after in pairwise(self.steps[: place + 1]):
            if step.offset in self._targets or "JUMP" in step.name:
                return _UNKNOWN
            is_owner = (step.name, step.value) == (owner.name, owner.value)
            if stored is not _UNKNOWN and is_owner and not self._is_own_attribute(after):
                return _UNKNOWN
            if step.name == "STORE_ATTR" and len(stack) > 1:
                target, source = stack.pop(), stack.pop()
                if step.value == name:
                    same = target is not None and target[:2] == owner[:2]
                    stored = self._value_of(source) if same and _has_plain(kind, name) else _UNKNOWN
            elif step.name == "SWAP" and not step.effect and len(stack) >= step.number:
                stack[-1], stack[-step.number] = stack[-step.number], stack[-1]
            elif step.effect == 1 and (step.name in _LOCALS or step.name == "LOAD_CONST"):
                stack.append(step)
            else:
                stored = _UNKNOWN if step.value == name and step.name == "STORE_ATTR" else stored
                stack = [None] * max(0, len(stack) + step.effect)
        return stored

    def _is_own_attribute(self, step: CodeStep) -> bool:
        """Whether a step sets an attribute, or reads one that this code sets."""
        reads = step.name == "LOAD_ATTR" and step.value in self._written
        return step.name == "STORE_ATTR" or reads

    def _value_of(self, step: CodeStep | None) -> Any:
        return _UNKNOWN if step is None else self.value_at(self.steps.index(step))[0]


def _has_plain(kind: Any, name: str) -> bool:
    """Whether objects of a class keep an attribute of this name as it is."""
    keeps = kind.__setattr__ is object.__setattr__
    reads = kind.__getattribute__ is object.__getattribute__
    return keeps and reads and not any(name in vars(base) for base in kind.__mro__)


def _targets_in(code: CodeType) -> frozenset[int]:
    """Offsets of steps that code jumps to."""
    steps: Any = code.co_code  # type checkers expect the code itself
    return frozenset(dis.findlabels(steps))


def _is_none_or_class(step: CodeStep) -> bool:
    if step.name == "LOAD_CONST":
        return step.value is None
    return step.name in _ATTRIBUTES and step.value == "__class__"


@lru_cache(maxsize=1 << 12)
def _find_known(
    code: CodeType,
) -> tuple[tuple[CodeStep, ...], frozenset[int], frozenset[str], frozenset[str]]:
    """Steps of code, those that it jumps to, lasting names, and attributes that it sets."""
    steps = find_steps(code)
    written = frozenset(step.value for step in steps if step.name == "STORE_ATTR")
    return steps, _targets_in(code), _lasting_names(code), written


def _lasting_names(code: CodeType) -> frozenset[str]:
    """Variables that are what they were at first: parameters, and those that are set once."""
    stored: dict[str, int] = {}
    loops = any("BACKWARD" in step.name or step.name == "FOR_ITER" for step in find_steps(code))
    for step in find_steps(code):
        if step.name.startswith(("STORE_FAST", "STORE_DEREF", "STORE_NAME", "DELETE_")):
            stored[step.value] = stored.get(step.value, 0) + 1
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    given = set(code.co_varnames[:count])
    once = {name for name, times in stored.items() if times == 1 and not loops} - given
    free = set(code.co_freevars) - set(stored)
    return frozenset((given - set(stored)) | once | free)
