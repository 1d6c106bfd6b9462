"""A stand-in for what a clock says: it may be added up and logged, and nothing may depend on it.

What a program answers does not depend on a number of which it never asks anything. So seconds can
be subtracted, scaled and handed to ``logging``; whatever else looks at them (a comparison, a
conversion, an output, an exception afterwards) ends the analysis.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import is_foreign

_NUMBERS = (int, float, np.integer, np.floating)
_SUMS = ("add", "radd", "sub", "rsub", "mul", "rmul")
_SAME = ("neg", "pos", "abs")
_LOOKS = (
    *("bool", "int", "float", "complex", "index", "hash", "str", "repr", "format", "trunc"),
    *("floor", "ceil", "lt", "le", "gt", "ge", "eq", "ne", "rtruediv", "floordiv", "rfloordiv"),
    *("mod", "rmod", "divmod", "rdivmod", "pow", "rpow", "array", "array_ufunc", "array_function"),
    *("reduce_ex", "copy", "deepcopy"),
)


class Seconds:
    """What a clock says, of the kind ``float`` or ``int``; ``looked_at()`` ends the analysis."""

    __slots__ = ("_kind", "_looked_at")

    def __init__(self, kind: type, looked_at: Callable[[], Any]) -> None:
        self._kind = kind
        self._looked_at = looked_at

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._kind

    def __round__(self, digits: int | None = None) -> Any:
        return Seconds(int if digits is None else self._kind, self._looked_at)

    def __truediv__(self, other: Any) -> Any:
        if not issubclass(type(other), _NUMBERS) or not other:
            return self._looked_at()
        return Seconds(float, self._looked_at)

    def __getattr__(self, name: str) -> Any:
        return self._looked_at()


def _calculate(self: Seconds, *others: Any) -> Any:
    if not all(issubclass(type(operand), (Seconds, *_NUMBERS)) for operand in others):
        return self._looked_at()
    kinds = {operand._kind if type(operand) is Seconds else type(operand) for operand in others}
    return Seconds(int if kinds | {self._kind} == {int} else float, self._looked_at)


def _looking(name: str) -> Callable[..., Any]:
    kinds: dict[str, Any] = {"str": str, "repr": repr, "format": format, "int": int, "index": int}
    plain = kinds.get(name, float)

    def look(self: Seconds, *arguments: Any) -> Any:
        if is_logging(sys._getframe(1)):
            return plain(self._kind(0), *arguments)
        return self._looked_at()

    return look


def is_logging(frame: FrameType | None) -> bool:
    """Whether the module logging, and not the program, looks at a number."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == "logging":
            return True
        if not is_foreign(module):
            return False
        frame = frame.f_back
    return False


for _name in (*_SUMS, *_SAME):
    setattr(Seconds, f"__{_name}__", _calculate)


for _name in _LOOKS:
    setattr(Seconds, f"__{_name}__", _looking(_name))
