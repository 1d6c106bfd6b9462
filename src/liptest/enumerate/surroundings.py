"""What code sees of its surroundings: the clock, addresses, and hashes that differ by process.

None of them is a random choice that could be followed, and none shows when the code is run again
right away. So code that looks at one ends the analysis, with the line. They are seen through
Python's profiling hook, as compiled code is; the functions of ``time`` have stand-ins, too.

A set of strings may be made and asked what is in it; what walks it sees an order that is another
one in the next process.
"""

from __future__ import annotations

import datetime
import dis
import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.compiled_code import CompiledCode, makes_names, package_of
from liptest.enumerate.executed_code import ExecutedCode
from liptest.enumerate.replaceable_names import (
    attribute_of,
    has_step,
    imported_by,
    is_foreign,
    is_others,
)
from liptest.errors import NonDeterministicError
from liptest.values.lines import line_in_words

_CLOCKS = frozenset({"time", "monotonic", "perf_counter", "process_time", "thread_time"})
#: Functions of ``time`` that read a clock, some of them only without an argument.
TIMES = frozenset(
    {*_CLOCKS, *(f"{clock}_ns" for clock in _CLOCKS)}
    | {"clock_gettime", "clock_gettime_ns", "ctime", "gmtime", "localtime", "strftime", "asctime"}
)
_DATES = frozenset({"now", "today", "utcnow"})
_CLOCK_NAMES = TIMES | _DATES
# Libraries that note when something happened, and tell no answer from it.
_NOTING = frozenset(
    {"logging", "threading", "queue", "concurrent", "selectors", "socket", "warnings"}
    | {"pytest", "_pytest", "pluggy", "hypothesis", "coverage"}
)
# Names of which only the hook can tell what is done with them, and what runs code that has none.
_TELLING_NAMES = _DATES | {"id", "hash", "set", "frozenset", "datetime64", "__hash__"}
_TELLING_NAMES |= {"eval", "exec", "globals", "vars", "getattr", "__dict__", "__getattribute__"}
_TELLING_NAMES |= {"attrgetter", "methodcaller", "import_module", "__import__", "_random"}
_TELLING_STEPS = ("BUILD_SET", "SET_ADD")
_SET_ITERATOR: Any = type(iter(set()))
# Members of a set that are looked at.
_MEMBERS = 100
_NUMBERS = (int, float, complex, Fraction, Decimal, np.number, np.bool_)
_STRINGS = (str, bytes, datetime.date, datetime.time, datetime.timedelta)
_SILENT = frozenset({"CACHE", "RESUME", "PRECALL", "EXTENDED_ARG", "NOP", "COPY_FREE_VARS"})
# What can be done with a set so that its order does not matter.
_HARMLESS = frozenset({"CONTAINS_OP", "COMPARE_OP", "IS_OP", "POP_TOP", "UNARY_NOT"})
_ASKING = frozenset({"len", "sorted", "bool", "min", "max", "any", "all"})
_METHODS = frozenset(
    {"add", "discard", "remove", "update", "clear", "issubset", "issuperset", "isdisjoint"}
    | {"__contains__", "__len__"}
)


class Surroundings:
    """Looks at one analysis through the profiling hook; ``refuse(error)`` ends it.

    ``needed`` is whether something that the program reaches may look at its surroundings, or call
    compiled code; else the hook sees some runs of each law. Where only code may do so, the runs
    in which such code is executed are enough; ``sees_all`` is whether it must see every run.
    """

    def __init__(self, name: str, compiled: CompiledCode, refuse: Callable[[Any], Any]) -> None:
        self._name = name
        self._refuse = refuse
        #: By code: whether it is the program's, and whether compiled code that it uses is told.
        self._kinds: dict[CodeType, tuple[bool, bool]] = {}
        self._entered: set[CodeType] = set()
        #: Code that tells nothing, by id.
        self._harmless: dict[int, CodeType] = {}
        self.compiled = compiled
        self.sees_all = False
        self._has_telling_code = False

    @property
    def needed(self) -> bool:
        """Whether there is something to look at."""
        return self.sees_all or self._has_telling_code

    def reach(self, value: Any) -> None:
        """Note what the program reaches."""
        if self.sees_all:
            return
        if type(value) is FunctionType:
            self._reach_function(value)
        elif type(value) in (set, frozenset):
            self.sees_all = has_no_order(value)
        else:
            self.sees_all = self.compiled.is_unknown(value)

    def _reach_function(self, function: FunctionType) -> None:
        code, space = function.__code__, function.__globals__
        if is_foreign(space.get("__name__")):
            return
        codes = list(codes_in(code))
        tells = (
            any(map(_may_tell, codes))
            or any(self.compiled.is_named_by(one, space) for one in codes)
            or any(map(makes_names, imported_by(code, space)))
        )
        if tells:
            self._has_telling_code = True
        else:
            self._harmless |= {id(one): one for one in codes}

    def is_harmless(self, executed: ExecutedCode) -> bool:
        """Whether all code that has run tells nothing."""
        return all(id(code) in self._harmless for code in executed.codes())

    def look(self, frame: FrameType, event: str, argument: Any) -> None:
        """One event of the profiling hook."""
        code = frame.f_code
        known = self._kinds.get(code)
        if known is None:
            known = self._kinds[code] = is_programs(frame), self.compiled.is_looked_at(frame)
        is_program, is_unknown = known
        if event == "c_call":
            if is_unknown:
                self.compiled.check(argument, frame)
            if argument is hash or argument is id:
                if is_program:
                    self._number_asked(frame, argument)
            elif type(argument) is BuiltinFunctionType and argument.__name__ in _CLOCK_NAMES:
                self._called(frame, argument)
        elif event == "call":
            if code not in self._entered:
                if is_unknown:
                    self.compiled.begun(frame)
                if is_program:
                    self._begun(frame)
                self._entered.add(code)  # not where it was refused: it may be run again
            if is_program and code.co_varnames[:1] == (".0",):
                self._set_walked_inside(frame)
        elif event == "return" and is_program:
            if is_unknown:
                self.compiled.returned(frame)
            self._sets_of(frame, argument)

    def _end(self, frame: FrameType, what: str, advice: str, line: int | None = None) -> None:
        words = line_in_words(frame.f_code.co_filename, line or frame.f_lineno)
        self._refuse(depends(self._name, f"{what}{f' ({words})' if words else ''}", advice))

    def _called(self, frame: FrameType, function: BuiltinFunctionType) -> None:
        # What a stand-in of a clock calls was not called by the program.
        if _is_clock(function) and frame.f_globals.get("__name__") not in _STAND_INS:
            reader = reader_of(frame)
            if reader is not None:
                owner = function.__self__
                place = owner.__qualname__ if isinstance(owner, type) else "time"
                self._end(reader, f"reads the clock: {place}.{function.__name__}", CLOCK_ADVICE)

    def _number_asked(self, frame: FrameType, function: Any) -> None:
        # A dataclass hashes its fields so; what is looked up by it does not depend on the number.
        if not is_programs(frame) or frame.f_code.co_name == "__hash__":
            return
        if function is id:
            self._end(frame, "calls id(), an address in memory", _ID_ADVICE)
        elif hashes_differ():
            what = "calls hash(), which differs from process to process for strings"
            self._end(frame, what, _HASH_ADVICE)

    def _begun(self, frame: FrameType) -> None:
        """What code does that no event tells: it hands on ``id``, asks NumPy for the time."""
        code = frame.f_code
        names, constants = set(code.co_names), set(filter(_is_text, code.co_consts))
        if "datetime64" in names and constants & {"now", "today"}:
            self._end(frame, "reads the clock: numpy.datetime64", CLOCK_ADVICE)
        if "Timestamp" in names and names & _DATES:
            self._end(frame, "reads the clock: pandas.Timestamp", CLOCK_ADVICE)
        for step in _steps(code):
            if step.opname != "LOAD_GLOBAL" or (step.arg or 0) & 1:
                continue
            known = frame.f_globals.get(step.argval, frame.f_builtins.get(step.argval))
            if known is id:
                self._end(frame, "hands on id, an address in memory", _ID_ADVICE)
            elif known is hash and hashes_differ():
                what = "hands on hash, which differs from process to process for strings"
                self._end(frame, what, _HASH_ADVICE)

    def _sets_of(self, frame: FrameType, answer: Any) -> None:
        """Sets without an order that code walks: constants, its variables, what it names."""
        code = frame.f_code
        held = dict(frame.f_locals)
        named = [name for name in code.co_names if name in frame.f_globals]
        held |= {name: frame.f_globals[name] for name in named if name not in held}
        for value in list(frame.f_locals.values()):
            inside = attribute_of(value, "__dict__") if code.co_names else None
            if isinstance(inside, dict):
                held |= {name: inside[name] for name in code.co_names if name in inside}
        for name, value in held.items():
            if has_no_order(value):
                for step, is_fine in _uses(code, name):
                    if not is_fine:
                        self._walked(frame, name, step)
        for step, is_fine in _constants(code):
            if has_no_order(step.argval) and not is_fine:
                self._walked(frame, "a constant", step)
        before = frame.f_back
        if has_no_order(answer) and before is not None and is_programs(before):
            steps = _steps(before.f_code)
            # The last step that has begun is the call.
            place = sum(one.offset <= before.f_lasti for one in steps) - 1
            if not _is_fine(steps, place, place):
                self._walked(before, f"what {code.co_name} returns")

    def _set_walked_inside(self, frame: FrameType) -> None:
        """What a comprehension or a generator expression walks."""
        walked = frame.f_locals.get(".0")
        if type(walked) is _SET_ITERATOR:
            left = set(walked.__reduce__()[1][0])  # which takes nothing from it
            if has_no_order(left):
                self._walked(frame, "which was made there")

    def _walked(self, frame: FrameType, name: str, step: dis.Instruction | None = None) -> None:
        what = f"walks a set of strings or objects, {name} in {frame.f_code.co_name}"
        advice = (
            "its order differs from process to process: sort it, or use dict.fromkeys or a list"
        )
        line = step.positions.lineno if step is not None and step.positions is not None else None
        self._end(frame, what, advice, line)


CLOCK_ADVICE = "leave it out, or log it with logging.info('%s', seconds)"
_ID_ADVICE = "use ==, a name or a number of your own"
_HASH_ADVICE = "use zlib.crc32 or hashlib"


def depends(name: str, what: str, advice: str) -> NonDeterministicError:
    """The error of code that looks at what is another one at another time or in another process."""
    return NonDeterministicError(
        f"{name}: non-deterministic: it {what}; what it answers at another time or in another "
        f"process cannot be followed: {advice}"
    )


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}>")


def check_no_address(name: str, outputs: Iterable[Any]) -> None:
    """NonDeterministicError where an output prints an address, as Python writes ``<x at 0x..>``."""
    for output in outputs:
        if isinstance(output, (bool, int, float)):
            continue
        found = _ADDRESS.search(repr(output))
        if found is not None:
            advice = "answer a name or a number of your own"
            raise depends(name, f"answers an address in memory: {found[0]!r}", advice)


def hashes_differ() -> bool:
    """Whether the hashes of strings differ in the next process."""
    return bool(sys.flags.hash_randomization) and not os.environ.get("PYTHONHASHSEED", "").isdigit()


def is_collecting(frame: FrameType | None) -> bool:
    """Whether a callback of the garbage collector, as test runners have one, calls."""
    codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while codes and frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return bool(codes) and frame is not None


def reader_of(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that reads a clock; None where only something is logged."""
    if is_collecting(frame):
        return None
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if package_of(module) in _NOTING:
            return None
        if is_programs(frame):
            return frame
        if package_of(module) == "liptest" and module not in _STAND_INS:
            return None
        frame = frame.f_back
    return None


# What calls the originals in the place of the program.
_STAND_INS = frozenset(
    f"liptest.{one}"
    for one in ("enumerate.interception", "enumerate.analysis_session", "values.faults")
)


def is_programs(frame: FrameType) -> bool:
    """Whether a frame is the program's, not one of the standard library, NumPy or liptest."""
    return not is_others(frame.f_globals.get("__name__"))


def _is_clock(function: BuiltinFunctionType) -> bool:
    owner = function.__self__
    if isinstance(owner, type):
        return function.__name__ in _DATES and issubclass(owner, datetime.date)
    return attribute_of(owner, "__name__") == "time" and function.__name__ in TIMES


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def has_no_order(value: Any) -> bool:
    """Whether it is a set whose order may be another one in the next process."""
    if type(value) not in (set, frozenset) or len(value) < 2:
        return False
    return any(_is_unstable(one) for one, _ in zip(value, range(_MEMBERS), strict=False))


def _is_unstable(value: Any) -> bool:
    if isinstance(value, _NUMBERS):
        return False
    if type(value) in (tuple, frozenset):
        return any(map(_is_unstable, value))
    return not isinstance(value, _STRINGS) or hashes_differ()


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Code, and that of the functions inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes_in(one)


@lru_cache(maxsize=1 << 12)
def _may_tell(code: CodeType) -> bool:
    if not _TELLING_NAMES.isdisjoint(code.co_names):
        return True
    if any(isinstance(one, frozenset) for one in code.co_consts):
        return not all(fine for _, fine in _constants(code))
    return has_step(code, *_TELLING_STEPS)


@lru_cache(maxsize=1 << 12)
def _steps(code: CodeType) -> list[dis.Instruction]:
    return [one for one in dis.get_instructions(code) if one.opname not in _SILENT]


def _constants(code: CodeType) -> Iterator[tuple[dis.Instruction, bool]]:
    """Loads of constant sets, and whether what is done with them is harmless."""
    steps = _steps(code)
    for place, step in enumerate(steps):
        if step.opname == "LOAD_CONST" and isinstance(step.argval, frozenset):
            # {"a", "b", "c"} builds an empty set, and adds the constant.
            built = steps[place + 1].opname == "SET_UPDATE"
            yield step, _is_fine(steps, place - built, place + built)


def _uses(code: CodeType, name: str) -> Iterator[tuple[dis.Instruction, bool]]:
    """Loads of a name, and whether what is done with it is harmless."""
    steps = _steps(code)
    for place, step in enumerate(steps):
        is_load = step.opname.startswith("LOAD_") and step.opname != "LOAD_CLOSURE"
        if step.argval == name and is_load:
            start = place
            while start and steps[start].opname in ("LOAD_ATTR", "LOAD_METHOD"):
                start -= 1
            yield step, _is_fine(steps, start, place)


def _is_fine(steps: list[dis.Instruction], start: int, end: int) -> bool:
    """Whether what comes after a value, loaded from ``start`` to ``end``, is harmless."""
    if end + 1 >= len(steps):
        return False
    following = steps[end + 1]
    name = following.opname
    if name in _HARMLESS or name.startswith(("STORE_", "POP_JUMP", "JUMP_IF", "RETURN")):
        return True
    if name in ("LOAD_ATTR", "LOAD_METHOD"):
        return following.argval in _METHODS
    if name.startswith("CALL") and following.arg == 1 and start:
        called = steps[start - 1]
        return called.opname == "LOAD_GLOBAL" and called.argval in _ASKING
    if name.startswith("LOAD_") and end + 2 < len(steps):  # the other side of an operation
        return steps[end + 2].opname in _HARMLESS or _makes_another(steps, end + 2)
    return _makes_another(steps, end + 1)


def _makes_another(steps: list[dis.Instruction], place: int) -> bool:
    """Whether two sets are joined, and the outcome is stored or compared."""
    if steps[place].opname != "BINARY_OP" or place + 1 >= len(steps):
        return False
    return steps[place + 1].opname.startswith(("STORE_", "COMPARE", "CONTAINS", "RETURN"))
