"""What code sees of its surroundings: the clock, and hashes that differ from process to process.

Neither is a random choice that could be followed, and neither shows when the code is run again
right away. So the profiling hook that watches a leaf of each law looks for them, and they are
warned of.
"""

from __future__ import annotations

import datetime
import dis
import gc
import os
import sys
from functools import lru_cache
from itertools import pairwise
from types import BuiltinFunctionType, CodeType, FrameType
from typing import Any

from liptest.whitebox.stand_ins.sites import is_foreign
from liptest.whitebox.watching.side_effects import notice

_CLOCKS = frozenset({"time", "monotonic", "perf_counter", "process_time", "thread_time"})


_TIMES = frozenset(
    {*_CLOCKS, *(f"{clock}_ns" for clock in _CLOCKS)}
    | {"clock_gettime", "clock_gettime_ns", "ctime", "gmtime", "localtime", "strftime", "asctime"}
)


_DATES = frozenset({"now", "today", "utcnow"})


# Members of a set that are looked at.
_MEMBERS = 100


_CLOCK = "; what it answers at another time was not tested"


_HASHES = "; what it answers in another process was not tested: sort them, or use numbers"


def look(frame: FrameType, event: str, argument: Any) -> None:
    """Notice what a profiling event tells of the clock and of hashes."""
    if event == "c_call":
        if argument is hash:
            _hash_called(frame)
        elif isinstance(argument, BuiltinFunctionType) and _is_clock(argument):
            _clock_read(frame, argument)
    elif event == "return" and _makes_sets(frame.f_code) and hashes_differ():
        _sets_of(frame)


def hashes_differ() -> bool:
    """Whether the hashes of strings differ in the next process."""
    return bool(sys.flags.hash_randomization) and not os.environ.get("PYTHONHASHSEED", "").isdigit()


def is_collecting(frame: FrameType | None) -> bool:
    """Whether a callback of the garbage collector, as test runners have one, calls."""
    codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while codes and frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return bool(codes) and frame is not None


def _is_clock(function: BuiltinFunctionType) -> bool:
    owner = function.__self__
    if isinstance(owner, type):
        return function.__name__ in _DATES and issubclass(owner, datetime.date)
    return getattr(owner, "__name__", "") == "time" and function.__name__ in _TIMES


def _clock_read(frame: FrameType, function: BuiltinFunctionType) -> None:
    reader: FrameType | None = frame
    # The stand-ins of the clocks call the real ones.
    while reader is not None and _module(reader) in _STAND_INS:
        reader = reader.f_back
    # Libraries note when something happened, as logging does; answers do not come from there.
    if reader is None or not _is_vendors(reader) or is_collecting(frame):
        return
    owner = function.__self__
    place = owner.__qualname__ if isinstance(owner, type) else "time"
    notice(f"read the clock ({place}.{function.__name__})", _CLOCK)


_STAND_INS = frozenset(
    {"liptest.whitebox.stand_ins.installing", "liptest.whitebox.stand_ins.session"}
)


def _hash_called(frame: FrameType) -> None:
    # A dataclass hashes its fields so; what is looked up by it does not depend on the number.
    is_protocol = frame.f_code.co_name == "__hash__"
    if _is_vendors(frame) and not is_protocol and hashes_differ():
        notice(
            f"called hash() (line {frame.f_lineno}), which differs from process to process for "
            f"strings",
            "; what it answers in another process was not tested: use zlib.crc32 or hashlib",
        )


def _sets_of(frame: FrameType) -> None:
    """Sets of strings, in what a function holds at its end or among its constants."""
    if not _is_vendors(frame):
        return
    held = any(_has_strings(value) for value in frame.f_locals.values())
    if held or _walks_constant(frame.f_code):
        notice(
            f"made a set of strings (in {frame.f_code.co_name}), whose order differs from process "
            f"to process",
            _HASHES,
        )


def _is_vendors(frame: FrameType) -> bool:
    module = _module(frame)
    return not is_foreign(module) and not module.startswith("liptest.")


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _has_strings(value: Any) -> bool:
    if type(value) not in (set, frozenset):
        return False
    return any(_is_stringy(member) for member, _ in zip(value, range(_MEMBERS), strict=False))


def _is_stringy(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return any(_is_stringy(one) for one in value)
    return isinstance(value, (str, bytes))


@lru_cache(maxsize=1 << 12)
def _makes_sets(code: CodeType) -> bool:
    made = any(one.opname in {"BUILD_SET", "SET_ADD"} for one in dis.get_instructions(code))
    return made or _walks_constant(code) or bool({"set", "frozenset"} & set(code.co_names))


@lru_cache(maxsize=1 << 12)
def _walks_constant(code: CodeType) -> bool:
    """Whether a constant set of strings is used for more than to ask what is in it."""
    every = [one for one in dis.get_instructions(code) if one.opname != "CACHE"]
    return any(
        _has_strings(one.argval) and following.opname != "CONTAINS_OP"
        for one, following in pairwise(every)
        if one.opname == "LOAD_CONST"
    )
