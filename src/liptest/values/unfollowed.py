"""Objects that programs get beside numbers and arrays: counts, pairs, the entries of an array.

A program may do with them what their classes write out, and all else ends the analysis: operators,
comparisons and copies too, which Python would answer otherwise with a default of its own, or with a
TypeError that a program can catch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from liptest.values.faults import STANDING_FOR_NUMBERS

_OPERATORS = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
_OTHERS = (
    *("lt", "le", "eq", "ne", "gt", "ge", "hash", "bool", "len", "length_hint", "contains"),
    *("iter", "next", "reversed", "getitem", "setitem", "delitem", "missing"),
    *("neg", "pos", "abs", "invert", "int", "float", "complex", "index"),
    *("round", "trunc", "floor", "ceil", "repr", "str", "format", "bytes"),
    *("copy", "deepcopy", "reduce_ex", "call", "enter", "exit"),
)
_METHODS = (
    *(f"__{before}{name}__" for name in _OPERATORS for before in ("", "r", "i")),
    *(f"__{name}__" for name in _OTHERS),
)


class Unfollowed:
    """See the module; ``refuse`` ends the analysis, ``described`` is what it says."""

    __slots__ = ()

    described = ""

    def __init_subclass__(cls) -> None:
        STANDING_FOR_NUMBERS.add(cls.__name__)
        written = {name for kind in cls.__mro__[:-1] for name in vars(kind)}
        for name in _METHODS:
            if name not in written:
                setattr(cls, name, _refusing(name))

    def in_order(self, *, descends: bool) -> Any:
        """``sorted()`` of it, where each entry is there once; None where that is not followed."""
        return None

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse(f".{name} of {self.described}")


def _refusing(name: str) -> Callable[..., NoReturn]:
    use = f"{name.strip('_')}()"

    def method(self: Any, *arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError(self.refuse(f"{use} of {self.described}"))

    method.__name__ = name
    return method


class HoldsEntry(Unfollowed):
    """What has an entry of the key that a loop over it is at."""

    __slots__ = ()


class LastTotal(Unfollowed):
    """``numpy.cumsum`` of records, of which the last total alone is a sum over all of them.

    ``total`` gives it, ``column`` is of the records.
    """

    described = "running totals over the records"

    def __init__(self, column: Any, total: Callable[[], Any]) -> None:
        self._column, self._total = column, total

    def __getitem__(self, place: Any) -> Any:
        if type(place) is not int or place != -1:
            self.refuse("another entry than the last one of numpy.cumsum")
        total = self._total()
        if issubclass(type(total), float) and not total:
            self.refuse("the last entry of numpy.cumsum of 0.0 and -0.0")
        return total

    def refuse(self, use: str) -> NoReturn:
        raise AssertionError(self._column.refuse(use))
