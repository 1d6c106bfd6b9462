"""Files, sockets, programs and more that code uses while it is analysed: warned of, or refused.

Python's audit events tell of the first three. A hook cannot be taken away again, so there is one
for all, which listens only during an analysis, to the thread that is analysed. Plain files are
warned of; sockets, pipes, programs, forks and devices end the analysis.
"""

from __future__ import annotations

import _random
import ctypes
import math
import os
import pickle
import random
import stat
import sys
import warnings
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.generator import UNUSED_BITS
from liptest.enumerate.watch.other_threads import (
    ASKS,
    FRAMES,
    STARTS,
    is_opened_by_program,
    is_read_by_program,
)
from liptest.errors import NonDeterministicError


class SideEffectWarning(UserWarning):
    """Code under analysis did something that no output distribution shows."""


# What liptest itself calls, the program did not call.
_OWN_CODE = str(Path(__file__).resolve().parents[2]) + os.sep
_WORDS = {
    "open": "opened the file",
    "os.remove": "removed the file",
    "os.rename": "renamed the file",
    "os.mkdir": "made the folder",
}
_OPENED = "; the verdict is about its outputs only, and what a file says may change later"
_TO_READ = " to read"
_HELD = "had opened "
_NOT_SHOWN = "; what it prints is not shown, because the analysis runs it many times"
# What importing a module opens, and reading lines of it for a message.
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".zip")
#: The event of reading certain attributes.
READS = "object.__getattr__"
_EVENTS = frozenset({*_WORDS, *STARTS, *ASKS, "ctypes.dlopen", READS})
#: By thread: what was noticed, in words, and what follows from it.
_listening: dict[int, dict[str, str]] = {}
#: By thread: what is called with an audit event that ends the analysis.
_refusing: dict[int, Callable[[str], None]] = {}
_RANDOM_DEVICES = frozenset({"/dev/random", "/dev/urandom", "/dev/hwrng"})
_is_installed = False


@contextmanager
def side_effects_noticed(name: str, known: set[str]) -> Iterator[None]:
    """Warn afterwards of what the code of mechanism ``name`` did, if not among ``known``.

    ``known`` grows by it. An analysis within an analysis belongs to the outer one. What the code
    prints meanwhile is not shown.
    """
    thread = get_ident()
    if thread in _listening:
        yield
        return
    _install()
    seen: dict[str, str] = {}
    _listening[thread] = seen
    try:
        with redirect_stdout(_NotShown.of(sys.stdout)):
            yield
    finally:
        del _listening[thread]
    for words, meaning in seen.items():
        if words not in known:
            known.add(words)
            # That it printed ends nothing, also where warnings are errors.
            with suppress(*[SideEffectWarning] if meaning == _NOT_SHOWN else []):
                warnings.warn(
                    f"{name}: while it was analysed its code {words}{meaning}",
                    SideEffectWarning,
                    stacklevel=2,
                )


class _NotShown:
    """Standard output as it is, but for what is printed in an analysis: noticed, and not shown.

    Where analyses of several threads overlap, one of these may stay when all have ended.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @classmethod
    def of(cls, stream: Any) -> _NotShown:
        """Of a stream, which may be one already."""
        return stream if isinstance(stream, cls) else cls(stream)

    def write(self, text: str) -> int:
        if get_ident() not in _listening:
            return int(self._stream.write(text))
        notice("printed", _NOT_SHOWN)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def events_refused(refuse: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile call ``refuse`` with each audit event of this thread that an analysis may not see.

    These are the events in ``STARTS`` and ``ASKS``, "random device" where one is opened, and
    "ctypes.dlopen" where a library is.
    """
    _install()
    thread = get_ident()
    _refusing[thread] = refuse
    try:
        yield
    finally:
        del _refusing[thread]


@contextmanager
def stay_unnoticed() -> Iterator[None]:
    """Meanwhile nothing that this thread does is noticed or refused."""
    thread = get_ident()
    kept: list[tuple[Any, Any]] = [
        (listeners, listeners.pop(thread))
        for listeners in (_listening, _refusing)
        if thread in listeners
    ]
    try:
        yield
    finally:
        for listeners, listener in kept:
            listeners[thread] = listener


def is_random_device(path: Any) -> bool:
    """Whether a path, as that of an open file, is one of the devices that give random bytes."""
    try:
        return os.path.realpath(os.fsdecode(path)) in _RANDOM_DEVICES
    except (TypeError, ValueError):  # no file of the file system
        return False


def is_live(path: Any) -> bool:
    """Whether a path leads to what may say something else each time: a pipe, a device, /proc."""
    try:
        real = os.path.realpath(os.fsdecode(path))
        kind = os.stat(real).st_mode
    except (OSError, TypeError, ValueError):
        return False
    if real == os.devnull:
        return False
    return real.startswith(("/proc/", "/sys/")) or not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def notice(words: str, meaning: str) -> None:
    """Warn at the end of the analysis of this thread of what its code did, and what follows."""
    seen = _listening.get(get_ident())
    if seen is not None:
        seen.setdefault(words, meaning)


def notice_held_file(name: Any) -> None:
    """Warn that the code reads a plain file, or memory of one, that was opened before."""
    notice(f"{_HELD}the file {name!r}{_TO_READ}", _OPENED)


def _install() -> None:
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_heard)


def _heard(
    event: str, arguments: tuple[Any, ...], *, known: frozenset[str] = frozenset(_EVENTS)
) -> None:
    # When Python ends, hooks are called after the names of modules were taken away.
    if event not in known or not (_refusing or _listening):
        return
    if event == READS and (arguments[1] not in FRAMES or not is_read_by_program(_OWN_CODE)):
        return
    refuse = _refusing.get(get_ident()) if _refusing else None
    if event not in _WORDS:
        if refuse is not None:
            refuse(event)
        return
    if not _listening:
        return
    target = arguments[0]
    if (event == "open" and isinstance(target, int)) or _is_code(str(target)):
        return
    if refuse is not None and event == "open":
        if is_random_device(target):
            refuse("random device")
        if is_live(target) and is_opened_by_program():
            refuse("live file")
    is_read = event == "open" and _is_for_reading(*arguments[1:3])
    notice(f"{_WORDS[event]} {target!r}{_TO_READ if is_read else ''}", _OPENED)


def _is_space_of(name: str, space: dict[str, Any]) -> bool:
    """Whether these are the names of the module of this name."""
    module = sys.modules.get(name)
    return type(module) is ModuleType and vars(module) is space


def _is_code(target: str) -> bool:
    """Whether a module is read, or what is compiled of it is kept.

    Python 3.14 looks for ``<unknown>``, a text without a file, to show a line of it in a message.
    """
    if target.startswith("<") and target.endswith(">"):
        return not os.path.lexists(target)
    return target.endswith(_CODE) or "__pycache__" in target


def _is_for_reading(mode: str | None, flags: int) -> bool:
    if mode is None:
        return not flags & os.O_WRONLY
    return bool({"r", "+"} & set(mode))


def find_conditions(effects: Iterable[str]) -> list[str]:
    """What is taken for granted by who read files; of the words of what was noticed."""
    files = sorted(words.removesuffix(_TO_READ) for words in effects if words.endswith(_TO_READ))
    opened = (words.removeprefix(_HELD).removeprefix("opened ") for words in files)
    named = list(dict.fromkeys(words.replace(";", ",") for words in opened))
    return [f"given that {words} stays as it is" for words in named]


# Notices random numbers that no stand-in follows.


#: Functions that give random bytes of the operating system.
SYSTEM_SOURCES: tuple[Any, ...] = (os.urandom,)
if sys.platform == "linux":
    SYSTEM_SOURCES += (os.getrandom,)
# The same in modules that need not be loaded.
_MORE_SOURCES = (
    *(("_ssl", "RAND_bytes"), ("_ssl", "RAND_pseudo_bytes"), ("_ssl", "RAND_priv_bytes")),
    *(("_uuid", "generate_time_safe"), ("_uuid", "UuidCreate")),
)


def system_sources() -> Iterator[tuple[str, Any]]:
    """Functions that give bytes of the operating system, with their names."""
    for function in SYSTEM_SOURCES:
        yield f"os.{function.__name__}", function
    for module, name in _MORE_SOURCES:
        inside = vars(sys.modules[module]) if module in sys.modules else {}
        if name in inside:
            yield f"{module}.{name}", inside[name]


# Of calls of these nothing is ever told: they answer from what they are given.
_TELL_NOTHING = frozenset(
    {abs, divmod, isinstance, len, max, min, pow, round}
    | {
        one
        for one in vars(math).values()
        if type(one) is BuiltinFunctionType and one.__self__ is math
    }
)
#: Called with the events of Python's profiling hook; answers whether nothing in the module of the
#: frame is of interest to it, but for calls of built-in functions that it names.
Hook = Callable[[FrameType, str, Any], bool]
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
        self._before: list[Any] = []
        self._moved: str | None = None
        #: Whether calls, and draws from the operating system, tell nothing for a time.
        self._is_silent = False
        self._draws_aside = 0
        self._held = _in_words(held)

    def hold(self, held: Held) -> None:
        """What has no stand-in from now on, with words; it must stand still from here."""
        self._held = _in_words(held)
        self._before = self._states()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """NonDeterministicError when a state changed meanwhile."""
        self._before = self._states()
        yield
        where = self._where_moved()
        if where is not None:
            raise make_elsewhere_error(self._name, where)

    def _where_moved(self) -> str | None:
        if self._moved is None:
            pairs = zip(self._held, self._states(), self._before, strict=True)
            self._moved = next(
                (watched[0] for watched, state, before in pairs if state != before), None
            )
        return self._moved

    @contextmanager
    def set_aside(self, *, is_heard: bool) -> Iterator[None]:
        """Draws meanwhile are not the program's, nor are calls, unless they are heard."""
        self._where_moved()
        self._is_silent, before = not is_heard, self._is_silent
        self._draws_aside += 1
        try:
            yield
        finally:
            self._is_silent = before
            self._draws_aside -= 1
            self._before = self._states()

    @contextmanager
    def forgive_draws(self) -> Iterator[None]:
        """What is drawn meanwhile counts as standing still, where nothing was drawn before."""
        stood_still = self._states() == self._before
        yield
        if stood_still:
            self._before = self._states()

    @contextmanager
    def no_system_randomness(
        self, look: Hook | None = None, named: frozenset[str] = frozenset()
    ) -> Iterator[None]:
        """NonDeterministicError when the operating system was asked for random bytes.

        ``look`` is called with all other events, in modules without interest with calls of built-in
        functions of the names ``named`` only. Calls are seen through the profiling hook of this
        thread, so that it does not matter where the function is held; when the hook is taken, by a
        profiler, nothing is watched.
        """
        seen: list[Any] = []
        first, last = SYSTEM_SOURCES[0], SYSTEM_SOURCES[-1]
        # By file, not by code, whose hash is that of all its parts.
        own_files: set[str] = set()
        other_files: set[str] = set()
        # Modules without interest. Most frames are those of libraries, and asking for the code of a
        # frame, or for the id of anything, is an audit event by itself.
        without_interest: set[str] = set()
        # Likewise those of liptest, whose frames are most of all: by name, with what they name.
        own_spaces: dict[str, dict[str, Any]] = {}

        # Called for all that is called and that returns; what ends most events comes first.
        def note(frame: Any, event: str, argument: Any) -> None:
            if event == "c_call":
                if argument in _TELL_NOTHING:
                    return
                if (argument is first or argument is last) and self._hears_draws():
                    seen.append(argument)
            elif event != "call" and event != "return":
                return  # that a built-in function has ended tells nothing
            space = frame.f_globals
            module = space.get("__name__")
            if type(module) is str and (
                module in without_interest or own_spaces.get(module) is space
            ):
                is_builtin = event == "c_call" and type(argument) is BuiltinFunctionType
                if not (is_builtin and argument.__name__ in named):
                    return
            file = frame.f_code.co_filename
            if file in own_files:
                return
            if file not in other_files:
                if file.startswith(_OWN_CODE):
                    own_files.add(file)
                    if type(module) is str and _is_space_of(module, space):
                        own_spaces[module] = space
                    return
                other_files.add(file)
            if not (look is None or self._is_silent) and look(frame, event, argument):
                without_interest.add(module)

        free = sys.getprofile() is None
        if free:
            sys.setprofile(note)
        try:
            yield
        finally:
            if free:
                sys.setprofile(None)
        if seen:
            raise make_elsewhere_error(self._name, "the operating system")

    def _hears_draws(self) -> bool:
        return not (self._is_silent or self._draws_aside)

    def _states(self) -> list[Any]:
        return [_state(generator) for _, generator in self._held]


def _in_words(held: Held) -> Held:
    return [
        ("the module random, past its functions", random._inst),
        ("numpy.random, past its functions", _GLOBAL),
        ("rng past its public methods", UNUSED_BITS),
        *((f"a generator that it holds ({where})", generator) for where, generator in held),
    ]


def make_elsewhere_error(name: str, where: str) -> NonDeterministicError:
    """The error that names randomness which has no stand-in."""
    return NonDeterministicError(
        f"{name}: non-deterministic: it drew random numbers from {where} while it was analysed, "
        f"which cannot be followed; draw every random number from the rng argument, or from "
        f"random, secrets or numpy.random in Python code"
    )


def _state(generator: Any) -> Any:
    generator = getattr(generator, "__self__", generator)
    if isinstance(generator, random.SystemRandom):
        return b""
    if isinstance(generator, random.Random):
        return _random.Random.getstate(generator)
    if generator is _GLOBAL:
        return _global_state.read()
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state(legacy=False))
    if isinstance(generator, np.random.Generator):
        return pickle.dumps(generator.bit_generator.state)
    return pickle.dumps(generator.state if isinstance(generator, np.random.BitGenerator) else None)


class _GlobalState:
    """The state of NumPy's global generator, asked for in full only where its words have moved.

    An analysis asks before and after whatever it does, and NumPy takes long to tell a state. The
    words do not tell of a normal number that is kept for the next call; but one that is kept anew
    has moved them.
    """

    # The 624 words of a Mersenne Twister and its place in them.
    _SIZE = 625 * 4

    def __init__(self) -> None:
        self._bits: Any = _GLOBAL._bit_generator
        self._memory: Any = b""
        if type(self._bits) is np.random.MT19937:
            # Looked for once: to code under test, calls of C are trapped.
            address = self._bits.ctypes.state_address
            self._memory = (ctypes.c_char * self._SIZE).from_address(address)
        self._words = b""
        self._told = b""
        self._has_normal = True

    def read(self) -> bytes:
        words = bytes(self._memory)
        is_other = not words or _GLOBAL._bit_generator is not self._bits
        if is_other or words != self._words or self._has_normal:
            state = _GLOBAL.get_state(legacy=False)
            self._words, self._told = words, pickle.dumps(state)
            self._has_normal = is_other or bool(state["has_gauss"])
        return self._told


_global_state = _GlobalState()
