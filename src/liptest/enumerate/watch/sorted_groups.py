"""``frame.group_by(key).len().sort(key)`` of polars: rows in an order that is known.

Each key is there once, so the order is that of the keys; and how many rows a group has does not
depend on the order in which polars takes them. What is called on the groups is read from the byte
code of the program, as the call of ``group_by`` itself does not tell.
"""

from __future__ import annotations

from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from liptest.enumerate.intercept.replaceable_names import find_attribute
from liptest.enumerate.watch.polars_calls import find_program
from liptest.enumerate.watch.set_orders import CodeStep, find_steps

_LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME")
_METHODS = ("LOAD_ATTR", "LOAD_METHOD")
_CALLS = ("CALL", "CALL_KW", "KW_NAMES")
#: Of expressions that count, and what they may be called and cast to.
_COUNTING = frozenset({"len", "alias", "cast", "Int64", "Int32", "UInt32"})


class ChainedCall(NamedTuple):
    """A method that is called on what a step leaves, and the steps of its arguments."""

    name: str
    arguments: tuple[CodeStep, ...]
    place: int


def calls_on_result(code: CodeType, offset: int) -> list[ChainedCall]:
    """The methods that are called, one after another, on what the call at ``offset`` gives."""
    steps, place = find_steps(code), _find_place(code, offset)
    calls: list[ChainedCall] = []
    while place + 1 < len(steps) and steps[place + 1].name in _METHODS:
        method, end = steps[place + 1], place + 1
        height = method.effect
        while height > 0 and end + 1 < len(steps):
            end += 1
            if "JUMP" in steps[end].name or steps[end].name.startswith("STORE"):
                return calls
            height += steps[end].effect
        if end == place + 1 or steps[end].name not in _CALLS or height:
            return calls
        calls.append(ChainedCall(method.value, steps[place + 2 : end], end))
        place = end
    return calls


def _find_place(code: CodeType, offset: int) -> int:
    """Which step is under way; within a call the offset is beyond that of its step."""
    return sum(step.offset <= offset for step in find_steps(code)) - 1


class SortedGroups:
    """What a program has begun to count and to sort, call by call."""

    def __init__(self) -> None:
        #: The program's frame, and where it calls ``sort`` on what it counts.
        self._next: tuple[FrameType, int] | None = None

    def allow(self, frame: FrameType) -> bool:
        """Whether the order of rows is known that the call gives which ``frame`` has entered."""
        name = frame.f_code.co_qualname
        if name not in _SORTING and name not in _MAKING:
            return False
        caller = find_program(frame)
        if caller is None:
            return False
        if name in _SORTING:
            awaited, self._next = self._next, None
            return awaited == (caller, _find_place(caller.f_code, caller.f_lasti))
        sorting = _find_sort(frame, caller)
        if sorting is not None:
            self._next = caller, sorting.place
        return sorting is not None


def _find_sort(frame: FrameType, caller: FrameType) -> ChainedCall | None:
    """Where the groups that ``frame`` makes are sorted, where they are only counted before."""
    own = frame.f_locals
    calls = calls_on_result(caller.f_code, caller.f_lasti)
    if frame.f_code.co_qualname in _GROUPING:
        by = own.get("by")
        key = by[0] if type(by) is tuple and len(by) == 1 and not own.get("named_by") else None
        if not calls or not _counts_groups(calls.pop(0), caller):
            return None
    else:
        key = find_attribute(own.get("self"), "name")
    if calls and calls[0].name == "collect" and not calls[0].arguments:
        calls.pop(0)
    is_sorted = type(key) is str and bool(calls) and _sorts_by(calls[0], key)
    return calls[0] if is_sorted else None


_GROUPING = ("DataFrame.group_by", "LazyFrame.group_by")
_MAKING = (*_GROUPING, "Series.value_counts")
_SORTING = ("DataFrame.sort", "LazyFrame.sort")


def _sorts_by(call: ChainedCall, key: str) -> bool:
    """Whether it is ``.sort(key)``, perhaps with constant options."""
    if call.name != "sort" or not call.arguments:
        return False
    are_constant = all(step.name in ("LOAD_CONST", *_CALLS) for step in call.arguments)
    return are_constant and call.arguments[0].value == key


def _counts_groups(call: ChainedCall, caller: FrameType) -> bool:
    """``.len()``, or ``.agg(pl.len())`` under another name perhaps."""
    if call.name == "len":
        return all(step.name in ("LOAD_CONST", *_CALLS) for step in call.arguments)
    if call.name != "agg":
        return False
    return bool(call.arguments) and all(_counts(step, caller) for step in call.arguments)


def _counts(step: CodeStep, caller: FrameType) -> bool:
    """Whether a step may be one of ``pl.len().alias("n")``."""
    if step.name in _LOADS:
        held: Any = caller.f_locals.get(step.value, caller.f_globals.get(step.value))
        return isinstance(held, ModuleType) and held.__name__ == "polars"
    if step.name in _METHODS:
        return step.value in _COUNTING
    return step.name in ("LOAD_CONST", *_CALLS)
