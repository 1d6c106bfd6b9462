"""Files, sockets, programs and more that code uses while it is analysed: warned of, or refused.

Python's audit events tell of the first three. A hook cannot be taken away again, so there is one
for all, which listens only during an analysis, to the thread that is analysed. Files and sockets
are warned of; programs, forks and devices that give random numbers end the analysis.
"""

from __future__ import annotations

import _random
import datetime
import dis
import gc
import os
import pickle
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from types import BuiltinFunctionType, CodeType, FrameType
from typing import Any

import numpy as np

from liptest.enumerate.generator import UNUSED_BITS
from liptest.enumerate.other_threads import STARTS
from liptest.enumerate.replaceable_names import is_foreign
from liptest.errors import NonDeterministicError


class SideEffectWarning(UserWarning):
    """Code under analysis did something that no output law shows."""


_WORDS = {
    "open": "opened the file",
    "os.remove": "removed the file",
    "os.rename": "renamed the file",
    "os.mkdir": "made the folder",
    "socket.connect": "connected to",
    "socket.bind": "listens at",
}
_OPENED = (
    "; the verdict is about its outputs only, and what a file or another machine says may "
    "change later"
)
# What importing a module opens, and reading lines of it for a message.
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".zip")
#: By thread: what was noticed, in words, and what follows from it.
_listening: dict[int, dict[str, str]] = {}
#: By thread: what is called with an audit event that ends the analysis.
_refusing: dict[int, Callable[[str], None]] = {}
_RANDOM_DEVICES = frozenset({"/dev/random", "/dev/urandom", "/dev/hwrng"})
_is_installed = False


@contextmanager
def side_effects_noticed(name: str, known: set[str]) -> Iterator[None]:
    """Warn afterwards of what the code of mechanism ``name`` did, if not among ``known``.

    ``known`` grows by it. An analysis within an analysis belongs to the outer one.
    """
    thread = threading.get_ident()
    if thread in _listening:
        yield
        return
    _install()
    seen: dict[str, str] = {}
    _listening[thread] = seen
    try:
        yield
    finally:
        del _listening[thread]
    for words, meaning in seen.items():
        if words not in known:
            known.add(words)
            warnings.warn(
                f"{name}: while it was analysed its code {words}{meaning}",
                SideEffectWarning,
                stacklevel=2,
            )


@contextmanager
def events_refused(refuse: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile call ``refuse`` with each audit event of this thread that an analysis may not see.

    These are the events in ``STARTS``, and "random device" where one is opened.
    """
    _install()
    thread = threading.get_ident()
    _refusing[thread] = refuse
    try:
        yield
    finally:
        del _refusing[thread]


def is_random_device(path: Any) -> bool:
    """Whether a path, as that of an open file, is one of the devices that give random bytes."""
    try:
        return os.path.realpath(os.fsdecode(path)) in _RANDOM_DEVICES
    except (TypeError, ValueError):  # no file of the file system
        return False


def notice(words: str, meaning: str) -> None:
    """Warn at the end of the analysis of this thread of what its code did, and what follows."""
    seen = _listening.get(threading.get_ident())
    if seen is not None:
        seen.setdefault(words, meaning)


def _install() -> None:
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    refuse = _refusing.get(threading.get_ident()) if _refusing else None
    if refuse is not None and event in STARTS:
        refuse(event)
    if not _listening or event not in _WORDS:
        return
    target = arguments[1] if event.startswith("socket.") else arguments[0]
    if event == "open" and (isinstance(target, int) or str(target).endswith(_CODE)):
        return
    if refuse is not None and event == "open" and is_random_device(target):
        refuse("random device")
    notice(f"{_WORDS[event]} {target!r}", _OPENED)


# What code sees of its surroundings: the clock, and hashes that differ from process to process.
#
# Neither is a random choice that could be followed, and neither shows when the code is run again
# right away. So the profiling hook that watches a leaf of each law looks for them, and they are
# warned of.


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


_STAND_INS = frozenset({"liptest.enumerate.interception", "liptest.enumerate.analysis_session"})


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


# Notices random numbers that no stand-in follows.


#: Functions that give random bytes of the operating system.
SYSTEM_SOURCES: tuple[Any, ...] = (os.urandom,)
if sys.platform == "linux":
    SYSTEM_SOURCES += (os.getrandom,)


#: Generators with the words that name them.
Held = list[tuple[str, Any]]
_GLOBAL: np.random.RandomState = np.random.mtrand._rand


class RandomnessWatch:
    """States of random generators that have no stand-in: they must stand still.

    These are the global ones, drawn from past the functions that are replaced, for example in
    compiled code or another thread, and generators held where nothing else can be put.
    """

    def __init__(self, name: str, held: Held) -> None:
        self._name = name
        self._held: Held = [
            ("the module random, past its functions", random._inst),
            ("numpy.random, past its functions", _GLOBAL),
            ("rng past its public methods", UNUSED_BITS),
            *((f"a generator that it holds ({where})", one) for where, one in held),
        ]

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """NonDeterministicError when a state changed meanwhile."""
        before = self._states()
        yield
        for (where, _), state, known in zip(self._held, self._states(), before, strict=True):
            if state != known:
                raise drawn_elsewhere(self._name, where)

    @contextmanager
    def no_system_randomness(self) -> Iterator[None]:
        """NonDeterministicError when the operating system was asked for random bytes.

        The clock and hashes of strings are warned of (``surroundings``).

        Calls are seen through the profiling hook of this thread, so that it does not matter where
        the function is held; when the hook is taken, by a profiler, nothing is watched.
        """
        seen: list[Any] = []

        def note(frame: Any, event: str, argument: Any) -> None:
            if event == "c_call" and argument in SYSTEM_SOURCES:
                seen.append(argument)
            else:
                look(frame, event, argument)

        free = sys.getprofile() is None
        if free:
            sys.setprofile(note)
        try:
            yield
        finally:
            if free:
                sys.setprofile(None)
        if seen:
            raise drawn_elsewhere(self._name, "the operating system")

    def _states(self) -> list[bytes]:
        return [_state(generator) for _, generator in self._held]


def drawn_elsewhere(name: str, where: str) -> NonDeterministicError:
    """The error that names randomness which has no stand-in."""
    return NonDeterministicError(
        f"{name}: non-deterministic: it drew random numbers from {where} while it was analysed, "
        f"which cannot be followed; draw every random number from the rng argument, or from "
        f"random, secrets or numpy.random in Python code"
    )


def _state(generator: Any) -> bytes:
    generator = getattr(generator, "__self__", generator)
    if isinstance(generator, random.SystemRandom):
        return b""
    if isinstance(generator, random.Random):
        return pickle.dumps(_random.Random.getstate(generator))
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state(legacy=False))
    if isinstance(generator, np.random.Generator):
        return pickle.dumps(generator.bit_generator.state)
    return pickle.dumps(generator.state if isinstance(generator, np.random.BitGenerator) else None)
