"""What code asks of the machine, its files and its environment: refused, with the line.

Whether a file is there, what an environment variable says, what a pipe or socket that was opened
before holds: it is the same in two runs right after each other, and another one at another time
or in another place. So it ends the analysis where the program asks, itself or through the
standard library; what other libraries ask for themselves (how many cores there are) is let pass.
"""

from __future__ import annotations

import _thread
import gc
import io
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.analysis_session import Session, active
from liptest.enumerate.watch.compiled_code import find_package
from liptest.enumerate.watch.side_effects import is_random_device, notice_held_file
from liptest.enumerate.watch.surroundings import (
    HAND_IN,
    depends,
    find_caller,
    find_import_now,
    is_programs,
)
from liptest.runs.surroundings import StandIn
from liptest.values.lines import is_of_packages, line_in_words

# Functions that tell something else at another place or time; whoever calls them for the program.
_OF_SYSTEM = (
    *("stat", "lstat", "access", "listdir", "scandir", "readlink", "statvfs", "getxattr"),
    *("getcwd", "getcwdb", "uname", "cpu_count", "sched_getaffinity", "sysconf", "confstr"),
    *("getlogin", "getuid", "geteuid", "getgid", "getegid", "getgroups", "getpgid", "getsid"),
    *("getpgrp", "getpriority", "get_terminal_size", "ttyname", "isatty", "getpid", "getppid"),
    *("times", "getloadavg", "fstat", "fstatvfs"),
)
_OF_MODULES = {
    "select": ("select", "poll"),
    "_socket": ("gethostname",),
    "resource": ("getrusage", "getrlimit"),
    "platform": ("uname",),
    "tracemalloc": ("get_traced_memory",),
    "locale": ("getlocale", "getdefaultlocale", "getpreferredencoding", "localeconv", "setlocale"),
}
# The same where the program itself calls them: libraries do so all the time.
_OF_PROCESS = (
    *((_thread, name) for name in ("get_ident", "get_native_id")),
    *((threading, name) for name in ("current_thread", "main_thread", "active_count", "enumerate")),
    *((gc, name) for name in ("get_count", "get_objects", "get_stats", "get_referrers")),
    *((gc, name) for name in ("get_freeze_count", "get_threshold", "isenabled", "is_tracked")),
    *((gc, name) for name in ("get_referents",)),
    *((sys, name) for name in ("getrefcount", "getallocatedblocks", "getsizeof", "gettrace")),
    *((sys, name) for name in ("getprofile", "getrecursionlimit", "getswitchinterval")),
    *((signal, name) for name in ("getsignal", "getitimer") if hasattr(signal, name)),
    *((np, name) for name in ("geterr", "geterrcall", "getbufsize", "get_printoptions")),
)
# Methods by module and class, and what is done by calling them.
_METHODS = {
    ("os", "_Environ"): ("looks at the environment", ("__getitem__", "__iter__", "__len__")),
    ("socket", "socket"): (
        "talks to another program",
        ("recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg", "send", "sendall"),
    ),
}
_READERS = tuple(vars(os)[name] for name in ("read", "pread", "readv") if hasattr(os, name))
# Modules that look at files and the like for themselves: to import, to show a line, to log.
_FOR_THEMSELVES = frozenset(
    {"importlib", "linecache", "traceback", "tokenize", "inspect", "warnings", "logging"}
    | {"zipimport", "pkgutil", "encodings", "codecs", "gettext", "asyncio", "selectors"}
    | {"_strptime", "calendar", "zoneinfo"}
)
# Files of Python that may be a pipe, a device or the like.
_FILES = (io.FileIO, io.BufferedReader, io.BufferedRandom, io.BufferedRWPair, io.TextIOWrapper)
Answer = Callable[..., Any]
Named = Iterator[tuple[Any, Answer]]


def find_asker(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that asks, itself or through the standard library; or None."""
    while frame is not None:
        module = frame.f_globals.get("__name__")
        package = find_package(module)
        if module in _STAND_INS or (package in sys.stdlib_module_names and package != "__main__"):
            if package in _FOR_THEMSELVES:
                return None
            frame = frame.f_back
            continue
        if not is_programs(frame) or is_of_packages(frame.f_code.co_filename):
            return None
        return None if find_import_now(frame) else frame
    return None


_STAND_INS = frozenset(
    {"liptest.enumerate.intercept.analysis_session", "liptest.values.faults", __name__}
)


def asking_functions() -> Named:
    """Functions that tell of the machine, with the answers of their stand-ins."""
    for name in _OF_SYSTEM:
        if hasattr(os, name):
            original = vars(os)[name]
            yield original, _refusing(original, f"os.{name}", find_asker)
    for module, names in _OF_MODULES.items():
        inside = vars(sys.modules[module]) if module in sys.modules else {}
        for name in names:
            if name in inside:
                words = f"{module.removeprefix('_')}.{name}"
                yield inside[name], _refusing(inside[name], words, find_asker)
    for owner, name in _OF_PROCESS:
        if hasattr(owner, name):
            original = vars(owner)[name]
            words = f"{owner.__name__.replace('_thread', 'threading')}.{name}"
            yield original, _refusing(original, words, find_caller)
    for original in _READERS:
        yield original, _reading(original)


def asking_methods() -> Iterator[tuple[type, str, Answer]]:
    """Classes with the names of methods, and the answers of their stand-ins."""
    for (module, kind), (what, names) in _METHODS.items():
        owner = getattr(sys.modules.get(module), kind, None)
        if isinstance(owner, type):
            for name in names:
                yield owner, name, _doing(getattr(owner, name), what)


class LiveFile(StandIn):
    """Stands in for an open pipe, terminal or ``sys.stdin``; other threads get the original."""

    def __init__(self, original: Any, session: Session, what: str) -> None:
        self._original = original
        self._session = session
        self._what = what

    def _asked(self) -> Any:
        frame = find_asker(sys._getframe(2)) if active() is self._session else None
        if frame is not None:
            _fail(self._session, frame, self._what)
        return self._original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._asked(), name)

    def __iter__(self) -> Any:
        return iter(self._asked())

    def __next__(self) -> Any:
        return next(self._asked())


class LiveArguments(list[str]):
    """Stands in for ``sys.argv``: equal to it, and nothing that the program may look at."""


def _watch(name: str) -> Answer:
    original = vars(list)[name]

    def method(self: LiveArguments, *arguments: Any, **options: Any) -> Any:
        session = active()
        frame = None if session is None else find_asker(sys._getframe(1))
        if session is not None and frame is not None:
            _fail(session, frame, "looks at the arguments of the command line: sys.argv")
        return original(self, *arguments, **options)

    return method


for _name in ("__getitem__", "__iter__", "__len__", "__contains__", "__eq__", "__repr__"):
    setattr(LiveArguments, _name, _watch(_name))
for _name in ("__ne__", "__add__", "__reversed__", "copy", "index", "count", "pop"):
    setattr(LiveArguments, _name, _watch(_name))


def arguments_of_process() -> Iterator[list[str]]:
    """Lists of the arguments that the process was started with."""
    yield from (vars(sys)[name] for name in ("argv", "orig_argv") if type(vars(sys)[name]) is list)


def outer_memory_of(array: np.ndarray[Any, Any]) -> str | None:
    """The file, or the like, whose memory an array shows; None for memory of its own."""
    value: Any = array
    while value is not None:
        if issubclass(type(value), np.memmap) and value.filename is not None:
            return str(value.filename)
        if isinstance(value, memoryview):
            value = value.obj
        elif type(value).__module__ == "mmap":
            return "of shared memory"
        else:
            value = value.base if issubclass(type(value), np.ndarray) else None
    return None


def find_held_plain_file(value: Any) -> str | None:
    """The name of an open plain file that can be read; None for all else."""
    if type(value) not in _FILES:
        return None
    try:
        return str(value.name) if value.readable() and value.fileno() >= 0 else None
    except (OSError, ValueError, AttributeError):
        return None


def is_live_file(value: Any) -> bool:
    """Whether it is an open file that can be read and is not a plain one: a pipe, a terminal."""
    if type(value) not in _FILES:
        return False
    try:
        return value.readable() and is_live_descriptor(value.fileno())
    except (OSError, ValueError, AttributeError):  # closed, detached, or none of the system's
        return False


def is_live_descriptor(number: Any) -> bool:
    """Whether a number is that of an open file, and not of a plain one."""
    try:
        return not stat.S_ISREG(_FSTAT(number).st_mode)
    except (OSError, TypeError, ValueError):
        return False


_FSTAT, _READLINK = os.fstat, os.readlink


def _name_of_descriptor(number: Any) -> Any:
    try:
        return _READLINK(f"/proc/self/fd/{int(number)}")
    except (OSError, TypeError, ValueError):
        return number


def _fail(session: Session, frame: FrameType, what: str) -> None:
    line = line_in_words(frame.f_code.co_filename, frame.f_lineno)
    words = f"{what}{f' ({line})' if line else ''}"
    session.tree.fail(depends(session.name, words, HAND_IN))


@lru_cache
def _refusing(original: Any, name: str, who: Callable[[Any], FrameType | None]) -> Answer:
    def answer(session: Session, *arguments: Any, **options: Any) -> Any:
        frame = who(sys._getframe(1))
        if frame is not None:
            _fail(session, frame, f"asks {name}")
        return original(*arguments, **options)

    return answer


@lru_cache
def _doing(original: Any, what: str) -> Answer:
    def answer(session: Session, *arguments: Any, **options: Any) -> Any:
        frame = find_asker(sys._getframe(1))
        if frame is not None:
            _fail(session, frame, what)
        return original(*arguments, **options)

    return answer


@lru_cache
def _reading(original: Any) -> Answer:
    def answer(session: Session, *arguments: Any, **options: Any) -> Any:
        if arguments and is_random_device(f"/proc/self/fd/{arguments[0]}"):
            session.drew_from("a random device of the operating system")
        frame = find_asker(sys._getframe(1))
        if arguments and frame is not None:
            if is_live_descriptor(arguments[0]):
                _fail(session, frame, "reads a pipe or a device that was opened before")
            notice_held_file(_name_of_descriptor(arguments[0]))
        return original(*arguments, **options)

    return answer
