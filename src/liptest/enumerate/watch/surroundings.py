"""What code sees of its surroundings: the clock, addresses, and hashes that differ by process.

None of them is a random choice that could be followed, and none shows when the code is run again
right away. So code that looks at one ends the analysis, with the line. They are seen through
Python's profiling hook, as compiled code is; the functions of ``time`` have stand-ins, too.

A set of strings may be made and asked what is in it; what walks it sees an order that is another
one in the next process.
"""

from __future__ import annotations

import datetime
import gc
import inspect
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from liptest.enumerate.intercept.replaceable_names import (
    COMPUTED,
    find_attribute,
    find_imported,
    is_foreign,
    is_others,
    list_insides,
    names_in,
)
from liptest.enumerate.watch.compiled_code import (
    POLARS,
    CompiledCode,
    find_package,
    is_always_known,
    is_known_kind,
    is_of_polars,
    makes_names,
)
from liptest.enumerate.watch.executed_code import ExecutedCode
from liptest.enumerate.watch.identity_tests import identity_tests, may_test_identity
from liptest.enumerate.watch.other_threads import FRAMES
from liptest.enumerate.watch.polars_calls import find_refused_call, is_made_before
from liptest.enumerate.watch.process_questions import (
    CONTEXT_ADVICE,
    Question,
    may_ask,
    questions_of_generators,
    questions_of_process,
)
from liptest.enumerate.watch.run_watch import SEEN_CATCHING, may_catch
from liptest.enumerate.watch.set_orders import (
    CodeStep,
    find_steps,
    has_no_order,
    hashes_differ,
    is_harmless_after,
    makes_sets,
    uses_of_constants,
    uses_of_name,
    walks_constant_sets,
    walks_of_made_sets,
)
from liptest.enumerate.watch.sorted_groups import SortedGroups
from liptest.enumerate.watch.unfilled_memory import leave_unfilled_calls, may_leave_unfilled
from liptest.errors import MechanismError, NonDeterministicError, UnsupportedRandomnessError
from liptest.values.faults import codes_in
from liptest.values.lines import is_of_packages, line_in_words

_CLOCKS = frozenset({"time", "monotonic", "perf_counter", "process_time", "thread_time"})
#: Functions of ``time`` that ask for the time zone of the machine, though they are given a time.
ZONED_TIMES = frozenset({"ctime", "localtime", "mktime"})
#: Functions of ``time`` that read a clock, some of them only without an argument.
TIMES = frozenset(
    {*_CLOCKS, *(f"{clock}_ns" for clock in _CLOCKS)}
    | ZONED_TIMES
    | {"clock_gettime", "clock_gettime_ns", "gmtime", "strftime", "asctime"}
)
_DATES = frozenset({"now", "today", "utcnow"})
_CLOCK_NAMES = TIMES | _DATES
#: Names of built-in functions that are heard wherever they are called.
HEARD_NAMES = _CLOCK_NAMES | {"_getframe", "_current_frames"}
# What the module time says of the time zone of the machine, and methods of dates that ask for it.
_ZONES = frozenset({"timezone", "altzone", "daylight", "tzname"})
_OF_ZONES = frozenset({"fromtimestamp", "astimezone", "timestamp"})
# Libraries that note when something happened, and tell no answer from it.
_NOTING = frozenset(
    {"logging", "threading", "queue", "concurrent", "selectors", "socket", "warnings"}
    | {"pytest", "_pytest", "pluggy", "hypothesis", "coverage"}
)
# Names of which only the hook can tell what is done with them, and what runs code that has none.
_TELLING_NAMES = _DATES | {"id", "hash", "set", "frozenset", "datetime64", "__hash__"}
_TELLING_NAMES |= {"eval", "exec", "globals", "vars", "getattr", "__dict__", "__getattribute__"}
# What looks at the functions that are under way, the modules that do it for others, and names.
_LOOKS_AT_CALLS: tuple[Any, ...] = (
    *(sys._getframe, sys._current_frames, inspect.stack, inspect.currentframe),
    *(inspect.getouterframes, inspect.getinnerframes, inspect.trace, traceback.extract_stack),
    *(traceback.format_stack, traceback.print_stack, traceback.walk_stack),
)
_FOR_OTHERS = frozenset({"inspect", "traceback"})
_OF_CALLS = frozenset(
    {looks.__name__ for looks in _LOOKS_AT_CALLS} - {"stack", "trace"}
    | {"f_back", "findCaller", "StackSummary"}
    | FRAMES
)
# Names of what gives the place of an object in memory.
_OF_PLACES = frozenset({"addressof", "__array_interface__", "__array_struct__", "data_as"})
# Names of what writes objects as text, which may tell where they lie in memory.
_SHOWING = frozenset({"repr", "ascii", "__repr__", "str", "format", "__str__", "__format__"})
_TELLING_NAMES |= _ZONES | _OF_ZONES
_TELLING_NAMES |= _OF_PLACES | {"ctypes"}
_TELLING_NAMES |= _OF_CALLS | {"inspect", "posix"}
_TELLING_NAMES |= {"attrgetter", "methodcaller", "_random", *COMPUTED}
_SET_ITERATOR: Any = type(iter(set()))


class _Kind(NamedTuple):
    """What is known of code in a module, once for all events of it."""

    module: Any
    code: CodeType
    is_program: bool
    #: Whether compiled code that it uses is told; None where its caller decides.
    is_unknown: bool | None
    is_of_polars: bool
    #: Of code of the program: what its steps may do, and constant sets that it walks.
    tests_identity: bool = False
    makes_sets: bool = False
    may_ask: bool = False
    may_show: bool = False
    walked_constants: tuple[CodeStep, ...] = ()

    @property
    def asks_at_end(self) -> bool:
        """Whether anything that the code does is looked at where it ends, but for what it holds."""
        asks = self.may_ask or self.tests_identity or self.makes_sets
        return asks or bool(self.walked_constants)


class Surroundings:
    """Looks at one analysis through the profiling hook; ``refuse(error)`` ends it.

    ``needed`` is whether something that the program reaches may look at its surroundings, or call
    compiled code; else the hook sees some runs of each law. Where only code may do so, the runs
    in which such code is executed are enough; ``sees_all`` is whether it must see every run.
    """

    def __init__(self, name: str, compiled: CompiledCode, refuse: Callable[[Any], Any]) -> None:
        self._name = name
        self._refuse = refuse
        #: By the name of a module: whether it is a library that uses no other compiled code.
        self._is_quiet: dict[str, bool] = {}
        #: By the id of code, which is kept, so that no id is used twice. The hash of code is that
        #: of its parts.
        self._kinds: dict[int, _Kind] = {}
        self._entered: set[int] = set()
        #: Code that tells nothing, by id.
        self._harmless: dict[int, CodeType] = {}
        #: Open pipes and the like that have no stand-in, by id, with words.
        self._files: dict[int, tuple[Any, str]] = {}
        self.compiled = compiled
        self.sees_all = False
        #: Whether rows of polars may come in any order.
        self.takes_any_order = False
        self._sorted = SortedGroups()
        #: Whether the program may catch exceptions, and how many more runs are traced for that.
        self.catches = False
        self.seen_catching = SEEN_CATCHING
        self._has_telling_code = False
        self._has_lazy_frames = False

    @property
    def needed(self) -> bool:
        """Whether there is something to look at."""
        return self.sees_all or self._has_telling_code

    def watch_file(self, file: Any, what: str) -> None:
        """End the analysis where the program reads a pipe that nothing can stand in for."""
        self._files[id(file)] = file, what
        self.sees_all = True

    def reach(self, value: Any) -> None:
        """Note what the program reaches."""
        self._has_lazy_frames |= is_made_before(value)
        if type(value) is FunctionType and not is_foreign(value.__globals__.get("__name__")):
            self.catches |= may_catch(value.__code__)
        if self.sees_all:
            return
        if is_of_polars(value) or any(value is looks for looks in _LOOKS_AT_CALLS):
            self.sees_all = True
        elif type(value) is FunctionType:
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
        imported = find_imported(code, space)
        if None in imported or not names_in(code).isdisjoint(COMPUTED):
            self.sees_all = True  # what it imports runs once
        tells = (
            any(map(_may_tell, codes))
            or any(self.compiled.is_named_by(inner, space) for inner in codes)
            or any(map(makes_names, imported))
        )
        if tells:
            self._has_telling_code = True
        else:
            self._harmless |= {id(inner): inner for inner in codes}

    def is_harmless(self, executed: ExecutedCode) -> bool:
        """Whether all code that has run tells nothing."""
        return all(id(code) in self._harmless for code in executed.codes())

    def look(self, frame: FrameType, event: str, argument: Any) -> bool:
        """One event of the profiling hook; whether the module tells by ``HEARD_NAMES`` only."""
        # Most events are those of libraries: of these a clock alone tells something.
        module: Any = frame.f_globals.get("__name__")
        is_quiet = self._is_quiet.get(module) if type(module) is str else False
        if is_quiet is None:
            is_quiet = self._is_quiet[module] = is_others(module) and is_always_known(module)
        if is_quiet:
            self._hear(frame, event, argument)
        else:
            self._look_closer(frame, event, argument, module)
        return is_quiet

    def _hear(self, frame: FrameType, event: str, argument: Any) -> None:
        """An event in code of which calls of ``HEARD_NAMES`` alone tell something."""
        is_builtin = event == "c_call" and type(argument) is BuiltinFunctionType
        if is_builtin and argument.__name__ in HEARD_NAMES:
            self._call(frame, argument)

    def _look_closer(self, frame: FrameType, event: str, argument: Any, module: Any) -> None:
        """An event in a module that is not a library which is known."""
        code = frame.f_code
        kind = self._kinds.get(id(code))
        if kind is None or kind.module is not module:
            kind = self._kinds[id(code)] = _find_kind(frame, module, self.compiled)
            self._entered.discard(id(code))
        is_program, is_of_polars = kind.is_program, kind.is_of_polars
        is_unknown = kind.is_unknown
        if is_unknown is None:
            is_unknown = self.compiled.is_looked_at(frame)
        if not (is_program or is_unknown or is_of_polars):
            self._hear(frame, event, argument)
        elif event == "c_call":
            if is_unknown:
                self.compiled.check(argument, frame)
            if argument is hash or argument is id:
                if is_program:
                    self._number_asked(frame, argument)
            elif isinstance(argument, BuiltinFunctionType):
                if argument.__name__ in HEARD_NAMES:
                    self._call(frame, argument)
                if is_program and argument.__name__ in _OF_ZONES and _asks_zone(frame, argument):
                    self._end(frame, f"{ZONED}: datetime.{argument.__name__}", ZONE_ADVICE)
                if argument.__name__ == "pop" and is_program and has_no_order(argument.__self__):
                    self._note_walk(frame, "whose pop() takes any member")
                if is_program and type(argument.__self__) is str:
                    self._address_told(frame, argument.__self__)
                if id(argument.__self__) in self._files and is_program:
                    self._end(frame, self._files[id(argument.__self__)][1], HAND_IN)
        elif event == "call":
            if is_of_polars:
                self._polars_called(frame)
            if id(code) not in self._entered:
                if is_unknown:
                    self.compiled.note_begin(frame)
                if is_program:
                    self._begun(frame)
                self._entered.add(id(code))  # not where it was refused: it may be run again
            if is_program and code.co_varnames[:1] == (".0",):
                self._set_walked_inside(frame)
        elif event == "return" and is_program:
            if kind.may_show:
                self._addresses_of(frame, argument)
            if not _tells_nothing_at_end(frame, kind, argument):
                self._note_return(frame, kind, argument, is_unknown=is_unknown)

    def _addresses_of(self, frame: FrameType, answer: Any) -> None:
        """Code that shows objects ends: whether texts that it holds or hands on tell an address."""
        before = frame.f_back
        if before is not None and is_programs(before):  # what is output says so itself
            self._address_told(frame, answer)
        for value in frame.f_locals.values():
            if value is not answer:
                self._address_told(frame, value)

    def _address_told(self, frame: FrameType, text: Any) -> None:
        address = _ADDRESS.search(text) if type(text) is str else None
        if address is not None:
            self._end(frame, f"looks at an address in memory: {address[0]!r}", _SHOWN_ADVICE)

    def _note_return(self, frame: FrameType, kind: _Kind, answer: Any, *, is_unknown: bool) -> None:
        """A function of the program ends: what its variables are now."""
        held = frame.f_locals
        insides = list_insides(held.values()) if kind.code.co_names else []
        if is_unknown:
            self.compiled.returned(frame, held, insides)
        if kind.tests_identity:
            self._identities_of(frame)
        self._sets_of(frame, kind, {**held}, insides)
        before = frame.f_back
        if not has_no_order(answer) or before is None or not is_programs(before):
            return
        if not is_harmless_after(before.f_code, before.f_lasti):
            self._note_walk(before, f"what {kind.code.co_name} returns")

    def _end(self, frame: FrameType, what: str, advice: str, line: int | None = None) -> None:
        words = line_in_words(frame.f_code.co_filename, line or frame.f_lineno)
        self._refuse(depends(self._name, f"{what}{f' ({words})' if words else ''}", advice))

    def _polars_called(self, frame: FrameType) -> None:
        takes_any_order = self.takes_any_order or self._sorted.allow(frame)
        refused = find_refused_call(
            frame, has_lazy_frames=self._has_lazy_frames, takes_any_order=takes_any_order
        )
        if refused is None:
            return
        caller, what, advice, kind = refused
        words = line_in_words(caller.f_code.co_filename, caller.f_lineno)
        if issubclass(kind, NonDeterministicError):
            self._refuse(depends(self._name, f"{what} ({words})", advice, kind))
        self._refuse(kind(f"{self._name}: it {what} ({words}): {advice}"))

    def _end_looking_at_calls(self, frame: FrameType) -> None:
        self._end(frame, f"looks at who calls it, in {frame.f_code.co_name}", "leave it out")

    def _call(self, frame: FrameType, function: BuiltinFunctionType) -> None:
        if function in _LOOKS_AT_CALLS:
            asker: FrameType | None = frame
            while asker is not None and asker.f_globals.get("__name__") in _FOR_OTHERS:
                asker = asker.f_back
            if asker is not None and is_programs(asker):
                self._end_looking_at_calls(asker)
            return
        # What a stand-in of a clock calls was not called by the program.
        if _is_clock(function) and frame.f_globals.get("__name__") not in _STAND_INS:
            reader = find_reader(frame)
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
        if names & _OF_CALLS or {"inspect", "stack"} <= names:
            self._end_looking_at_calls(frame)
        if names & _OF_PLACES or {"ctypes", "data"} <= names:
            self._end(frame, f"asks for an address in memory, in {code.co_name}", _ID_ADVICE)
        if {"posix", "environ"} <= names:
            self._end(frame, "looks at the environment: posix.environ", HAND_IN)
        held = frame.f_locals if code.co_freevars else {}
        outer = {name: held[name] for name in code.co_freevars if name in held}
        self._ask(frame, questions_of_process(code, {**frame.f_globals, **outer}))
        for line, what, advice in leave_unfilled_calls(code, frame.f_globals):
            self._end(frame, f"reads memory that nobody has filled, {what}", advice, line)
        before = ""
        for step in find_steps(code):
            is_zone = step.value in _ZONES and step.name == "LOAD_ATTR"
            if is_zone and frame.f_globals.get(before) is time:
                self._end(frame, f"{ZONED}: time.{step.value}", ZONE_ADVICE, step.line)
            before = step.value if isinstance(step.value, str) else ""
            is_method = step.name in ("LOAD_ATTR", "LOAD_METHOD") and step.value == "__hash__"
            if is_method and code.co_name != "__hash__" and hashes_differ():
                what = "calls __hash__(), which differs from process to process for strings"
                self._end(frame, what, _HASH_ADVICE)
            if step.name != "LOAD_GLOBAL" or step.is_called:
                continue
            loaded = frame.f_globals.get(step.value, frame.f_builtins.get(step.value))
            if loaded is id:
                self._end(frame, "hands on id, an address in memory", _ID_ADVICE)
            elif loaded is hash and hashes_differ():
                what = "hands on hash, which differs from process to process for strings"
                self._end(frame, what, _HASH_ADVICE)

    def _ask(self, frame: FrameType, questions: Iterable[Question]) -> None:
        """What byte code asks; libraries that are installed ask for themselves."""
        if is_of_packages(frame.f_code.co_filename) or find_import_now(frame):
            return
        for line, what, advice in questions:
            self._end(frame, what, advice, line)

    def _identities_of(self, frame: FrameType) -> None:
        """Tests of what a number is, which nothing that stands for it can answer."""
        for line in identity_tests(frame.f_code, frame.f_locals, frame.f_globals):
            words = line_in_words(frame.f_code.co_filename, line or frame.f_lineno)
            where = f" ({words})" if words else ""
            self._refuse(
                UnsupportedRandomnessError(
                    f"{self._name}: it asks with 'is' whether a number that may be random is an "
                    f"object{where}, which cannot be followed: {_IS_ADVICE}"
                )
            )

    def _sets_of(
        self, frame: FrameType, kind: _Kind, held: dict[str, Any], insides: list[dict[str, Any]]
    ) -> None:
        """Sets without an order that code walks: constants, variables, what it names or makes.

        ``held`` are its variables, ``insides`` the attributes of their values.
        """
        code, space = kind.code, frame.f_globals
        for name in code.co_names:
            if name in space and name not in held:
                held[name] = space[name]
            for inside in insides:
                if name in inside:
                    held[name] = inside[name]
        for name, value in held.items():
            if has_no_order(value):
                for step, is_harmless in uses_of_name(code, name):
                    if not is_harmless:
                        self._note_walk(frame, name, step)
        for step in kind.walked_constants:
            if has_no_order(step.value):
                self._note_walk(frame, "a constant", step)
        if kind.makes_sets:
            for step in walks_of_made_sets(code, held):
                self._note_walk(frame, "made there of what may not be numbers", step)
        if kind.may_ask:
            self._ask(frame, questions_of_generators(code, held))

    def _set_walked_inside(self, frame: FrameType) -> None:
        """What a comprehension or a generator expression walks."""
        walked = frame.f_locals.get(".0")
        if type(walked) is _SET_ITERATOR:
            left = set(walked.__reduce__()[1][0])  # which takes nothing from it
            if has_no_order(left):
                self._note_walk(frame, "which was made there")

    def _note_walk(self, frame: FrameType, name: str, step: CodeStep | None = None) -> None:
        what = f"walks a set of strings or objects, {name} in {frame.f_code.co_name}"
        advice = (
            "its order differs from process to process: sort it, or use dict.fromkeys or a list"
        )
        self._end(frame, what, advice, None if step is None else step.line)


def _tells_nothing_at_end(frame: FrameType, kind: _Kind, answer: Any) -> bool:
    """Whether nothing is to be looked at where code ends, or yields, as most do in each pass.

    It asks nothing, and holds no set, and nothing of a library that is not known.
    """
    if type(answer) in _SETS or kind.asks_at_end:
        return False
    names, space = kind.code.co_names, frame.f_globals
    if any(type(space.get(name)) in _SETS for name in names):
        return False
    return all(_tells_nothing(value, names) for value in frame.f_locals.values())


def _tells_nothing(value: Any, names: tuple[str, ...]) -> bool:
    """Whether neither it, nor what it holds by these names, is a set or of an unknown kind."""
    kind = type(value)
    if kind in _NUMBERS:
        return True
    if kind in _SETS or not _is_known(kind):  # type: ignore[arg-type]
        return False
    inside = find_attribute(value, "__dict__") if names else None
    if not isinstance(inside, dict):
        return True
    return all(_tells_nothing(inside[name], ()) for name in names if name in inside)


_SETS = frozenset((set, frozenset))
_NUMBERS = frozenset((int, float, bool, str, type(None), np.int64, np.float64, np.bool_))


@lru_cache(maxsize=1 << 10)
def _is_known(kind: Any) -> bool:
    return kind is FunctionType or (type(kind) is type and is_known_kind(kind))


def _find_kind(frame: FrameType, module: Any, compiled: CompiledCode) -> _Kind:
    """What is known of a frame's code in its module."""
    code, is_program = frame.f_code, is_programs(frame)
    is_unknown = None if compiled.is_by_caller(frame) else compiled.is_looked_at(frame)
    of_library = module, code, is_program, is_unknown, _is_of_polars(frame)
    if not is_program:
        return _Kind(*of_library)
    walked = (use.step for use in uses_of_constants(code) if not use.is_harmless)
    asked = may_test_identity(code), makes_sets(code), may_ask(code), _may_show(code), tuple(walked)
    return _Kind(*of_library, *asked)


def _is_of_polars(frame: FrameType) -> bool:
    return find_package(frame.f_globals.get("__name__")) == POLARS


ZONED = "asks for the time zone of the machine"
ZONE_ADVICE = "use datetime.timezone.utc, time.gmtime or calendar.timegm"
#: What to write instead of a question to the machine.
HAND_IN = "hand it in as a parameter"
CLOCK_ADVICE = "leave it out, or log it with logging.info('%s', seconds)"
_SHOWN_ADVICE = "leave the text out, or give its class a __repr__ without an address"
_ID_ADVICE = "use ==, a name or a number of your own"
_IS_ADVICE = "write bool(v), not v, or v == 1"
_HASH_ADVICE = "use zlib.crc32 or hashlib"


def depends(
    name: str,
    what: str,
    advice: str,
    kind: type[NonDeterministicError] = NonDeterministicError,
) -> NonDeterministicError:
    """The error of code that looks at what is another one at another time or in another process."""
    return kind(
        f"{name}: non-deterministic: it {what}; that may differ from run to run, and cannot be "
        f"followed: {advice}"
    )


_LONG = 10**600  # no limit of Python on digits is lower
_CONTEXT = "Context(prec="
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}>")


def check_texts(name: str, outputs: Iterable[Any]) -> None:
    """NonDeterministicError where an output prints an address, as Python writes ``<x at 0x..>``, or
    the decimal context; MechanismError where Python does not print it."""
    for output in outputs:
        if isinstance(output, (bool, float)) or (isinstance(output, int) and abs(output) < _LONG):
            continue
        try:
            text = repr(output)
        except ValueError:
            raise MechanismError(
                f"{name}: an output holds a whole number of more digits than Python prints "
                f"(sys.get_int_max_str_digits()); answer a shorter one, or hex() of it"
            ) from None
        address = _ADDRESS.search(text)
        if address is not None:
            advice = "answer a name or a number of your own"
            raise depends(name, f"answers an address in memory: {address[0]!r}", advice)
        if _CONTEXT in text:
            raise depends(name, "answers the decimal context", CONTEXT_ADVICE)


def is_collecting(frame: FrameType | None) -> bool:
    """Whether a callback of the garbage collector, as test runners have one, calls."""
    codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while codes and frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return bool(codes) and frame is not None


def find_reader(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that reads a clock; None where only something is logged."""
    if is_collecting(frame):
        return None
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if find_package(module) in _NOTING:
            return None
        if is_programs(frame):
            return frame
        if find_package(module) == "liptest" and module not in _STAND_INS:
            return None
        frame = frame.f_back
    return None


def find_caller(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that called a stand-in; None where another module did."""
    while frame is not None and frame.f_globals.get("__name__") in _CALLING:
        frame = frame.f_back
    return frame if frame is not None and is_programs(frame) else None


def find_import_now(frame: FrameType | None) -> str:
    """The module that the program is importing where a frame is, or ""."""
    name = ""
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if find_package(module) == "liptest" and module not in _STAND_INS:
            break
        if frame.f_code.co_name == "_find_and_load":
            name = str(frame.f_locals.get("name", name))
        frame = frame.f_back
    return name


# What calls the originals in the place of the program.
_CALLING = frozenset({"liptest.enumerate.intercept.analysis_session", "liptest.values.faults"})
_STAND_INS = _CALLING | {
    "liptest.enumerate.intercept.interception",
    "liptest.enumerate.watch.imports",
}


def is_programs(frame: FrameType) -> bool:
    """Whether a frame is the program's, not one of the standard library, NumPy or liptest."""
    return not is_others(frame.f_globals.get("__name__"))


def _is_clock(function: BuiltinFunctionType) -> bool:
    owner = function.__self__
    if isinstance(owner, type):
        return function.__name__ in _DATES and issubclass(owner, datetime.date)
    return find_attribute(owner, "__name__") == "time" and function.__name__ in TIMES


def _asks_zone(frame: FrameType, function: BuiltinFunctionType) -> bool:
    """Whether a method of a date, as it is called there, answers by the zone of the machine."""
    owner = function.__self__
    if isinstance(owner, datetime.datetime):
        return owner.tzinfo is None or (
            function.__name__ == "astimezone" and _arguments_at(frame) == 0
        )
    if not isinstance(owner, type) or not issubclass(owner, datetime.date):
        return False
    return not issubclass(owner, datetime.datetime) or _arguments_at(frame) < 2


def _arguments_at(frame: FrameType) -> int:
    """How many arguments the call that is under way has."""
    calls = [step for step in find_steps(frame.f_code) if step.offset <= frame.f_lasti]
    return calls[-1].number if calls and calls[-1].name.startswith("CALL") else 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


@lru_cache(maxsize=1 << 12)
def _may_show(code: CodeType) -> bool:
    """Whether code may write an object as text: by name, in an f-string or with ``%``."""
    if not _SHOWING.isdisjoint(code.co_names):
        return True
    steps = list(find_steps(code))
    if any(step.name in _FORMATS for step in steps):
        return True
    texts = any(type(constant) is str and "%" in constant for constant in code.co_consts)
    return texts and any(step.name in ("BINARY_OP", "BINARY_MODULO") for step in steps)


_FORMATS = frozenset({"FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE"})


def _may_tell(code: CodeType) -> bool:
    telling = _TELLING_NAMES.intersection(code.co_names)
    if telling and not (telling == {"hash"} and _hashes_for_lookup(code)):
        return True
    if may_ask(code) or _may_show(code):
        return True
    if may_test_identity(code):
        return True
    return walks_constant_sets(code) or makes_sets(code) or may_leave_unfilled(code)


def _hashes_for_lookup(code: CodeType) -> bool:
    """Whether code is a ``__hash__``, as dataclasses have one, that calls hash and no more."""
    uses = [step for step in find_steps(code) if step.value == "hash"]
    return code.co_name == "__hash__" and all(step.is_called for step in uses)
