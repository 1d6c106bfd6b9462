"""Calls of what is known only when it is run: methods, objects that are called, classes.

``Mech(1.0).release(data, rng)`` calls a function of the program through an object. Its loops over
records are rewritten as those of functions that are called by name; and where a pass of a loop
calls a method of an object that does not change, ``self.clip(v)``, it must only calculate.
"""

from __future__ import annotations

import ast
import inspect
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import is_foreign, is_own_module, names_in
from liptest.enumerate.syntax.pure_code import (
    NotPlain,
    NotPure,
    calculates_with_object,
    find_constant,
    is_plain,
    plain_attribute,
)
from liptest.enumerate.syntax.source import LOOKING, FunctionSource, read_source

# Draws are looked for as they are written (``coin_loops``).
_DRAWING = frozenset({"integers", "random", "randrange", "randint", "getrandbits"})
_Rewrite = Callable[[Any], Any]


def is_known_when_run(source: FunctionSource, node: ast.expr, *, is_free: bool) -> bool:
    """Whether what is called is known only when it is run; ``is_free``: its root is not a local."""
    if isinstance(node, ast.Name):
        return not is_free
    if not isinstance(node, ast.Attribute):
        return isinstance(node, (ast.Subscript, ast.Call))
    if node.attr in _DRAWING or isinstance(node.value, ast.Constant):
        return False
    try:
        find_constant(source, node)
    except NotPure:
        return True
    return not is_free


class HoldsFunction(ABC):
    """What runs a function of the program, as a part of this package."""

    @abstractmethod
    def with_rewritten(self, rewrite: _Rewrite) -> Any:
        """The same with the function rewritten."""


def rewrite_object(called: Any, rewrite: _Rewrite) -> Any:
    """A bound method, an object that is called or a class, with its function rewritten.

    Itself where nothing is to be rewritten. A class gives what makes its objects.
    """
    if isinstance(called, HoldsFunction):
        return called.with_rewritten(rewrite)
    if type(called) is MethodType:
        return _bound(called, called.__func__, called.__self__, rewrite)
    if isinstance(called, type):
        return _maker(called, rewrite)
    return _bound(called, type(called).__call__, called, rewrite)


def _bound(called: Any, function: Any, owner: Any, rewrite: _Rewrite) -> Any:
    if type(function) is not FunctionType or is_own_code(function):
        return called
    made = rewrite(function)
    return called if made is function else MethodType(made, owner)


def _maker(kind: Any, rewrite: _Rewrite) -> Any:
    start = kind.__init__
    if type(kind) not in (type, ABCMeta) or kind.__new__ is not object.__new__:
        return kind
    if type(start) is not FunctionType or is_own_code(start):
        return kind
    made = rewrite(start)
    if made is start:
        return kind

    def make(*arguments: Any, **named: Any) -> Any:
        one = kind.__new__(kind)
        if made(one, *arguments, **named) is not None:
            raise TypeError("__init__() should return None")
        return one

    return make


def is_own_code(function: FunctionType) -> bool:
    """Whether it is part of the analysis, as methods of symbolic objects are."""
    return is_own_module(function.__globals__.get("__name__"))


def is_of_program(function: FunctionType) -> bool:
    """Whether it is the program's: not a library's, and not part of the analysis."""
    return not (is_foreign(function.__globals__.get("__name__")) or is_own_code(function))


def read_program(function: Any) -> FunctionSource | None:
    """The source of a function of the program; None for all else, and where it is not known."""
    if type(function) is not FunctionType or not is_of_program(function):
        return None
    return read_source(function)


def read_drawing(function: Any, drawing: frozenset[str]) -> FunctionSource | None:
    """``read_program`` of a function that names one of these; None where it hides names."""
    if type(function) is not FunctionType:
        return None
    names = names_in(function.__code__)
    if drawing.isdisjoint(names) or not names.isdisjoint(LOOKING):
        return None
    return read_program(function)


class PureMethods:
    """Methods of objects that do not change, in one loop over records; each looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[FunctionType, bool], bool] = {}
        #: Attributes that the passes change, whatever object has them: none is read.
        self.changing: set[str] = set()

    def of(self, owner: Any, name: str) -> Any:
        """A method of an object, or of a class, that only calculates from constant data.

        Raises NotPlain for all others.
        """
        reader: Any = type(owner).__getattribute__
        attribute = inspect.getattr_static(owner, name, None)
        if reader in (object.__getattribute__, type.__getattribute__) and not is_plain(owner):
            is_class = isinstance(owner, type)
            kind: Any = owner if is_class else type(owner)
            object_of_it = None
            function: Any = attribute
            if isinstance(attribute, classmethod):
                function, object_of_it = attribute.__func__, kind
            elif isinstance(attribute, staticmethod):
                function = attribute.__func__
            elif not is_class and attribute is inspect.getattr_static(kind, name, None):
                object_of_it = owner
            bound = object_of_it is not None
            if type(function) is FunctionType and self._is_pure(function, bound):
                return MethodType(function, Constants(object_of_it, self)) if bound else function
        raise NotPlain(f".{name} of a {type(owner).__name__} is called in a loop over the records")

    def attribute(self, owner: Any, name: str) -> Any:
        """What an object holds as constant data. Raises NotPlain for all else."""
        if name in self.changing:
            raise NotPlain(f".{name} is read in a loop over the records that changes it")
        return plain_attribute(owner, name)

    def _is_pure(self, function: FunctionType, bound: bool) -> bool:
        key = function, bound
        if key not in self._known:
            self._known[key] = calculates_with_object(function, bound=bound)
        return self._known[key]


class Constants:
    """An object in a loop over records: what it holds as constant data, and its methods.

    Everything else that is read of it raises TypeError.
    """

    def __init__(self, owner: Any, methods: PureMethods) -> None:
        self.__owner, self.__methods = owner, methods

    def __getattr__(self, name: str) -> Any:
        found = inspect.getattr_static(self.__owner, name, None)
        if isinstance(found, (FunctionType, staticmethod, classmethod)):
            return self.__methods.of(self.__owner, name)
        return self.__methods.attribute(self.__owner, name)
