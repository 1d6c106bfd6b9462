"""Calls of NumPy that hand out memory nobody has filled, beside ``numpy.empty``.

What a program reads of it is what lay there before: another value in each process, and mostly zeros
in two runs right after each other. ``numpy.empty`` and ``empty_like`` have stand-ins, which fill
differently; the calls here have none, so they are found in the code and refused.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

_CALLS = frozenset({"CALL", "CALL_KW"})
_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME"})
#: NumPy's classes of arrays with memory of their own, by name (that of texts is deprecated there);
#: the names and the place of the parameter that gives other memory.
_ARRAYS = {
    "ndarray": (frozenset({"buffer"}), 2),
    "recarray": (frozenset({"buf"}), 2),
    "chararray": (frozenset({"buffer"}), 3),
}
_NAMES = frozenset({*_ARRAYS, "matlib"})
_ZEROS = "use numpy.zeros or numpy.array"


class _Call(NamedTuple):
    """A call with keywords: what is called, with the names before it, arguments, and where."""

    path: tuple[str, ...]
    arguments: int
    keywords: tuple[str, ...]
    line: int


def may_leave_unfilled(code: CodeType) -> bool:
    """Whether code may do one of these calls: to name such a class, as ``isinstance`` does, is
    none."""
    return (
        not _NAMES.isdisjoint(code.co_names)
        or any(isinstance(constant, tuple) and "where" in constant for constant in code.co_consts)
    ) and any(
        "where" in call.keywords or not _NAMES.isdisjoint(call.path[-2:])
        for call in _find_calls(code)
    )


def leave_unfilled_calls(code: CodeType, space: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """(line, what, what to write) of calls that leave memory unfilled; globals are in ``space``."""
    for call in _find_calls(code):
        name = call.path[-1]
        before = call.path[-2] if len(call.path) > 1 else ""
        # ``numpy.ndarray.__new__(numpy.ndarray, shape)`` has the class as one more argument.
        is_new = int(name == "__new__" and before in _ARRAYS)
        name = before if is_new else name
        called = vars(np).get(name, vars(np.char).get(name, space.get(name)))
        positional = call.arguments - len(call.keywords)
        if isinstance(called, np.ufunc):
            is_given = "out" in call.keywords or positional > called.nin
            if "where" in call.keywords and not is_given:
                what = f"numpy.{name}(.., where=..) without out="
                yield call.line, what, "give out= an array that is filled, or use numpy.where"
        elif name in _ARRAYS and (called is None or _is_array(called)):
            names, place = _ARRAYS[name]
            if names.isdisjoint(call.keywords) and positional - is_new <= place:
                yield call.line, f"numpy.{name}(..)", _ZEROS
        elif (before, name) == ("matlib", "empty"):
            yield call.line, "numpy.matlib.empty(..)", _ZEROS


def _is_array(called: Any) -> bool:
    return isinstance(called, type) and issubclass(called, np.ndarray)


@lru_cache(maxsize=1 << 12)
def _find_calls(code: CodeType) -> tuple[_Call, ...]:
    steps = [
        instruction
        for instruction in dis.get_instructions(code)
        if instruction.opname not in ("CACHE", "PRECALL")
    ]
    calls = []
    for place, step in enumerate(steps):
        if step.opname not in _CALLS or (where := step.positions) is None:
            continue
        start = where.lineno, where.col_offset
        loaded = [
            earlier.argval
            for earlier in steps[:place]
            if earlier.opname in _LOADS
            and earlier.positions is not None
            and (earlier.positions.lineno, earlier.positions.col_offset) == start
        ]
        if loaded and where.lineno is not None:
            keywords = _keywords(code, steps, place)
            calls.append(_Call(tuple(map(str, loaded)), step.arg or 0, keywords, where.lineno))
    return tuple(calls)


def _keywords(code: CodeType, steps: list[dis.Instruction], place: int) -> tuple[str, ...]:
    before = steps[place - 1]
    if before.opname == "KW_NAMES":
        names = code.co_consts[before.arg or 0]
    elif steps[place].opname == "CALL_KW":  # from Python 3.13 on
        names = before.argval
    else:
        return ()
    return tuple(map(str, names))
