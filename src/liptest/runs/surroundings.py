"""What code under test finds in its process and may change: put back when it has run.

Working directory, environment, locale, recursion limit, signal handlers, timers, hooks and streams
of ``sys``, the decimal context, and NumPy's error state and print options.
"""

from __future__ import annotations

import decimal
import gc
import locale
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np

_HOOKS = ("excepthook", "displayhook", "unraisablehook", "breakpointhook")
_STREAMS = ("stdin", "stdout", "stderr")
_DECIMAL = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_SIGNALS = tuple(
    signal.__dict__[name]
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGVTALRM", "SIGPROF"),
        *("SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGWINCH"),
    )
    if name in signal.__dict__
)
_TIMERS = tuple(
    signal.__dict__[name]
    for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
    if name in signal.__dict__
)
#: A timer is let be where it is as late as this; reading it takes time, too.
_LATE = 0.5
_SOON = 1e-3
PutBack = Callable[[], None]


class StandIn:
    """What stands for a stream for a time, in this or in another thread: ``_original``."""

    _original: Any


def _find_stream(value: Any) -> Any:
    return value._original if issubclass(type(value), StandIn) else value


@contextmanager
def surroundings_kept() -> Iterator[None]:
    """Put back what the code that runs inside changes of its process.

    Signals and timers are those of the main thread; elsewhere they are not looked at.
    """
    values = [(read, write, read()) for read, write in _VALUES]
    objects = [(read, write, read()) for read, write in _OBJECTS]
    ways = [_note_interpreter(), _note_decimals()]
    if threading.current_thread() is threading.main_thread():
        ways += [_note_signals(), _note_timers()]
    try:
        yield
    finally:
        for read, write, before in values:
            if read() != before:
                write(before)
        for read, write, held in objects:
            if read() is not held:
                write(held)
        for put_back in ways:
            put_back()


def describe_surroundings() -> dict[str, str]:
    """What calculations of the next call depend on, without that it is named, by what it is."""
    context = decimal.getcontext()
    return {
        "the decimal context": str([context.__getattribute__(name) for name in _DECIMAL]),
        "the error state of numpy": str(np.geterr()),
    }


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _enter(folder: str | None) -> None:
    if folder is not None:
        with suppress(OSError):  # it may have been removed
            os.chdir(folder)


def _set_environment(before: dict[str, str]) -> None:
    for name in [*os.environ]:
        if name not in before:
            del os.environ[name]
    os.environ.update(before)


def _set_recursion_limit(limit: int) -> None:
    with suppress(RecursionError):
        sys.setrecursionlimit(limit)


#: How each is read, and how it is put back if it is another value, or another object.
_VALUES: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (_folder, _enter),
    (lambda: dict(os.environ), _set_environment),
    (partial(locale.setlocale, locale.LC_ALL), partial(locale.setlocale, locale.LC_ALL)),
    (sys.getrecursionlimit, _set_recursion_limit),
    (gc.isenabled, lambda is_on: (gc.enable if is_on else gc.disable)()),
    (sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    (sys.getswitchinterval, sys.setswitchinterval),
    (np.geterr, lambda errors: np.seterr(**errors)),
    (np.get_printoptions, lambda options: np.set_printoptions(**options)),
)
# Asked at each run: in an analysis others stand for names of modules, but not for these.
_OF_HOOKS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (sys.getprofile, sys.setprofile),
    (sys.gettrace, sys.settrace),
)
_OBJECTS = (*_OF_HOOKS, (np.geterrcall, np.seterrcall))


def _note_interpreter() -> PutBack:
    before = {name: _find_stream(vars(sys)[name]) for name in (*_HOOKS, *_STREAMS)}
    of_threads = threading.excepthook

    def put_back() -> None:
        for name, value in before.items():
            if _find_stream(vars(sys).get(name)) is not value:
                vars(sys)[name] = value
        threading.excepthook = of_threads

    return put_back


def _note_decimals() -> PutBack:
    context = decimal.getcontext()
    before = {name: context.__getattribute__(name) for name in _DECIMAL}
    traps, flags = dict(context.traps), dict(context.flags)

    def put_back() -> None:
        if decimal.getcontext() is not context:
            decimal.setcontext(context)
        for name, value in before.items():
            context.__setattr__(name, value)
        context.traps, context.flags = dict(traps), dict(flags)

    return put_back


def _note_signals() -> PutBack:
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def put_back() -> None:
        for number, handler in before.items():
            now = signal.getsignal(number)
            # After a second Ctrl-C the next one is to end the process.
            is_meant = number == signal.SIGINT and now is signal.SIG_DFL
            if now is not handler and handler is not None and not is_meant:
                signal.signal(number, handler)

    return put_back


def _note_timers() -> PutBack:
    started = time.monotonic()
    before = {which: signal.getitimer(which) for which in _TIMERS}

    def put_back() -> None:
        passed = time.monotonic() - started
        for which, (left, interval) in before.items():
            now = signal.getitimer(which)
            if left == 0.0:
                if now[0] > 0.0:
                    signal.setitimer(which, 0.0)
                continue
            expected = left - passed
            if interval == 0.0 and expected <= _LATE and now[0] == 0.0:
                continue  # it has rung, or is about to
            is_changed = now[0] == 0.0 or now[1] != interval
            # Timers of a process's own time stand still while it waits.
            is_real = which == signal.ITIMER_REAL and interval == 0.0
            if is_changed or (is_real and abs(now[0] - expected) > _LATE):
                signal.setitimer(which, max(expected, _SOON), interval)

    return put_back


@contextmanager
def without_hooks() -> Iterator[None]:
    """Without hooks of liptest: for work of its own while a program runs. Others' go on."""
    own = [(hook, put) for read, put in _OF_HOOKS if _is_own(hook := read())]
    for _, put in own:
        put(None)
    try:
        yield
    finally:
        for hook, put in own:
            put(hook)


def _is_own(hook: Any) -> bool:
    return str(getattr(hook, "__module__", "")).startswith("liptest.")
