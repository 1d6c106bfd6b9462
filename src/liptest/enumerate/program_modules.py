"""Modules of a program in which names stand for something else during an analysis."""

from __future__ import annotations

import builtins
import dis
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from liptest.enumerate.replaceable_names import (
    MOST,
    is_others,
    is_plain_kind,
    names_in,
    numba_source,
)


class ProgramModules(ABC):
    """See the module.

    Every object that the program reaches is noted; ``choose`` then chooses the modules.
    """

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        #: Ids of namespaces of code that a compiler takes, which knows the real names only.
        self.compiled: set[int] = set()
        self._count = 0
        self._places: list[tuple[dict[str, Any], str, Any]] = []

    def note(self, value: Any) -> None:
        """Note what the program reaches."""
        self._count += 1
        kind: Any = type(value)
        if isinstance(value, FunctionType):
            self.functions.append(value)
        elif not is_plain_kind(kind) and (source := numba_source(value)) is not None:
            self.compiled.add(id(source.__globals__))

    @property
    def is_cut_off(self) -> bool:
        """Whether the program reaches more than was looked at."""
        return self._count >= MOST

    @abstractmethod
    def chosen(self) -> Iterator[tuple[dict[str, Any], str, Any]]:
        """Namespaces, names in them, and what is to stand there."""

    def choose(self) -> None:
        """Choose the modules."""
        if not self.is_cut_off:
            self._places = list(self.chosen())

    def put(self) -> None:
        """Put the stand-ins into the modules that were chosen."""
        for space, name, stand_in in self._places:
            space[name] = stand_in

    def take_back(self) -> None:
        """Take them away, wherever they are."""
        for space, name, _ in self._places:
            space.pop(name, None)

    def is_named_elsewhere(self, name: str) -> bool:
        """Whether the program also uses a name where no stand-in is put."""
        if self.is_cut_off:
            return True
        put = {id(space) for space, own, _ in self._places if own == name}
        return any(
            loads_global(function.__code__, name)
            and id(function.__globals__) not in put
            and not is_others(function.__globals__.get("__name__"))
            for function in self.functions
        )


@lru_cache(maxsize=1 << 12)
def loads_global(code: CodeType, name: str) -> bool:
    """Whether code, with functions inside it, loads a global name, not an attribute."""
    if name not in names_in(code):
        return False
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    if any(step.opname in loads and step.argval == name for step in dis.get_instructions(code)):
        return True
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return any(loads_global(nested, name) for nested in inner)


def has_builtins(function: FunctionType, name: str) -> bool:
    """Whether a function finds Python's own function under a name."""
    untyped: Any = function  # type checkers do not agree whether functions have __builtins__
    return untyped.__builtins__.get(name) is getattr(builtins, name)
