"""Watching runs of a program: those that take too long, and what the program catches.

A run that goes on for too long is given up, by a timer or by the lines of code that it has run. How
long a run takes depends on the machine; how many lines it runs does not, so a run of fewer than
``MOST_LINES`` lines is not given up for its lines. They are counted once a run has taken a while
and the program goes on: not while it waits for what liptest calculates.

``try: .. except TypeError: ..`` around what only a stand-in cannot do would go on otherwise than
the program does with numbers. So frames of the program that may catch something are traced, and
what is raised in them is looked at (``values.faults``): in the first runs, and in all that repeat
a leaf.
"""

from __future__ import annotations

import dis
import signal
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import has_step
from liptest.errors import BudgetError
from liptest.runs.interrupts import is_in_finalizer
from liptest.values.faults import Fault, codes_in, fault_in, is_program
from liptest.values.lines import line_in_words

#: What to do where a law is too long.
REMEDY = "or declare the law with lt.ClosedForm"


def endless(name: str, seconds: float) -> BudgetError:
    """One run did not end in time."""
    return _ends_not(name, f"took more than {seconds:g} seconds")


def _ends_not(name: str, what: str) -> BudgetError:
    return BudgetError(f"{name}: one run {what}; does a loop never end? Bound the loop, {REMEDY}")


def too_many_lines(name: str, frame: FrameType) -> BudgetError:
    """One run goes on and on, now at a line of the program."""
    where = line_in_words(frame.f_code.co_filename, frame.f_lineno)
    said = f" ({where})" if where else ""
    return _ends_not(name, f"went through millions of lines of code without an end{said}")


# Ends loops that swallow what ends them: ``while True: try: ... except: pass``.
#
# An exception that is raised anywhere in the body of such a loop is caught by it. One that is
# raised at a line of the ``except`` clause, or outside of the ``try``, is not. So the lines of the
# program are traced until there is one.


def runs(code: CodeType, frame: FrameType | None) -> bool:
    """Whether a frame was called, directly or not, by a function with this code."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def raise_soon(give_up: Callable[[], None], frame: FrameType | None, inside: CodeType) -> None:
    """Call ``give_up``, which raises, at the next line where the frame does not catch it.

    That holds for the frame and those that called it, up to the function with code ``inside``;
    nothing is done where the code is traced already, as under a debugger. ``forget`` undoes it.
    """
    if sys.gettrace() is not None and not is_noting(sys.gettrace()):
        return

    def trace(here: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and not _is_caught(here):
            give_up()
        return trace

    _ours[:] = [lambda *call: None]  # what is called from now on is not traced
    while frame is not None and frame.f_code is not inside:
        if not (is_own(frame) or _is_importing(frame)):  # which clean up
            frame.f_trace = trace
        frame = frame.f_back
    sys.settrace(_ours[0])


def _is_importing(frame: FrameType | None) -> bool:
    """Whether it is code of the interpreter that imports a module."""
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def stop_tracing() -> None:
    """Trace no more."""
    if _ours and sys.gettrace() is _ours[0]:
        sys.settrace(None)
    _ours.clear()


_ours: list[Any] = []
# Between these two an exception is being handled. One that is raised where the interpreter is about
# to begin or end that would leave it to be handled for ever.
_BORDERS = {dis.opmap["PUSH_EXC_INFO"], dis.opmap["POP_EXCEPT"]}


def _is_caught(frame: FrameType) -> bool:
    """Whether the line that begins is in the body of a ``try``, and not within a clause of it."""
    if frame.f_code.co_code[frame.f_lasti] in _BORDERS:
        return True
    for start, stop, restores in _handlers(frame.f_code.co_exceptiontable):
        if start <= frame.f_lasti < stop:
            return not restores
    return False


def _handlers(table: bytes) -> Iterator[tuple[int, int, bool]]:
    """Bytes of code from start to stop that have a handler; no two of them overlap.

    ``restores`` is whether it is one that cleans up after an ``except`` clause or ``with`` and
    raises again. The format is described with CPython (``exception_handling_notes.txt``).
    """
    numbers = _varints(table)
    for start in numbers:
        length, _, depth_and_kind = next(numbers), next(numbers), next(numbers)
        yield 2 * start, 2 * (start + length), bool(depth_and_kind & 1)


def _varints(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0


@dataclass(frozen=True)
class _Timer:
    """A timer of the process, by the signal that it sends."""

    number: int
    which: int

    def start(self, seconds: float, again: float) -> None:
        signal.setitimer(self.which, seconds, again)


@contextmanager
def watch_progress(
    progress: Callable[[], int],
    give_up: Callable[[BudgetError], None],
    inside: CodeType,
    seconds: float,
    name: str,
) -> Iterator[None]:
    """Call ``give_up`` when ``progress()`` is the same number ``seconds`` later, or many lines.

    Again and again then, so that a loop around an ``except:`` ends too, but only while a function
    with the code ``inside`` runs. By a timer of the main thread that nobody uses; elsewhere, and on
    systems without one, nothing is watched. ``name`` is the program's.
    """
    timer = _free_timer()
    if timer is None:
        yield
        return
    watch = _Watch(timer, progress, give_up, inside, seconds, name)
    before = signal.signal(timer.number, watch.look)
    _watches.append(watch)
    watch.start()
    try:
        yield
    finally:
        timer.start(0.0, 0.0)
        signal.signal(timer.number, before)
        _watches.remove(watch)
        watch.lines.end()
        stop_tracing()


class _Watch:
    """Looks now and then whether a run goes on for too long."""

    def __init__(
        self,
        timer: _Timer,
        progress: Callable[[], int],
        give_up: Callable[[BudgetError], None],
        inside: CodeType,
        seconds: float,
        name: str,
    ) -> None:
        self.timer, self._progress, self._give_up = timer, progress, give_up
        self._inside, self._seconds, self._name = inside, seconds, name
        self.lines = LineCount(name, inside, self._goes_on)
        #: Whether the next look without progress is the last one.
        self.is_hurried = False
        #: Whether what runs now is not the program's, and is waited for.
        self.is_patient = False
        self._reached = progress()
        self._step = min(seconds, self.lines.after)
        self._looks = self._put_off = 0
        #: Where the program was at the last look: its frame, and the place in it.
        self._seen_at: tuple[int, int] | None = None

    def start(self) -> None:
        """Look from now on."""
        self.timer.start(self._step, self._step)

    def look(self, number: int, frame: FrameType | None) -> None:
        """Look at the run; called as a handler of the timer's signal."""
        if self._progresses() or self.is_patient:
            self._looks = 0
            self.lines.end()
        elif runs(self._inside, frame):
            self._looks += 1
            if self.is_hurried or self._looks * self._step >= self._seconds:
                self._end(frame)
            elif self._goes_on_since(frame):
                self.lines.begin(frame)

    def _goes_on_since(self, frame: FrameType | None) -> bool:
        """Whether the program itself runs, or has gone on since the last look.

        Else it waits for what liptest calculates, which counting lines would only slow down.
        """
        is_at_work = frame is not None and not is_own(frame)
        while frame is not None and is_own(frame):
            frame = frame.f_back
        last, self._seen_at = self._seen_at, None if frame is None else (id(frame), frame.f_lasti)
        return is_at_work or last not in (None, self._seen_at)

    def _end(self, frame: FrameType | None) -> None:
        self.is_hurried = True
        self.timer.start(_AGAIN, _AGAIN)
        is_late = self._put_off >= _MOST_PUT_OFF
        if not is_late and (is_in_finalizer(frame) or _is_importing(frame)):
            self._put_off += 1
            return
        self.lines.end()
        raise_soon(self._too_long, frame, self._inside)
        self._too_long()

    def _too_long(self) -> None:
        self._give_up(endless(self._name, self._seconds))

    def _progresses(self) -> bool:
        last, self._reached = self._reached, self._progress()
        return self._reached != last

    def _goes_on(self, frame: FrameType) -> bool:
        """Give up a run after too many lines, unless another one has begun meanwhile."""
        if self._progresses() or self.is_patient:
            return True
        if not _is_caught(frame):
            self.lines.note_given_up()
            self._give_up(too_many_lines(self._name, frame))
        return False


@contextmanager
def wait_for(*, is_patient: bool) -> Iterator[None]:
    """Meanwhile give up no run for the time that it takes, where ``is_patient``."""
    if not _watches:
        yield
        return
    watch = _watches[-1]
    before, watch.is_patient = watch.is_patient, is_patient
    try:
        yield
    finally:
        watch.is_patient = before


def is_watched() -> bool:
    """Whether runs are watched now."""
    return bool(_watches)


def hurry() -> None:
    """A run has failed: what is left of it is given little time, where it is watched."""
    if _watches and _handler_of(_watches[-1].timer.number) == _watches[-1].look:
        _watches[-1].is_hurried = True
        _watches[-1].timer.start(_SOON, _AGAIN)


_SOON, _AGAIN = 1.0, 0.005
# Asked at each law, as they are: in an analysis others stand for them.
_main_thread, _handler_of, _timer_of = threading.main_thread, signal.getsignal, signal.getitimer
_trace = sys.gettrace
# Times that it waits for the end of a finalizer, where what is raised is printed only, or of what
# the interpreter does to import a module.
_MOST_PUT_OFF = 200
_watches: list[_Watch] = []


def _free_timer() -> _Timer | None:
    """A timer and its signal that nobody uses, as pytest-timeout uses the first one."""
    if sys.platform == "win32" or get_ident() != _main_thread().ident:
        return None
    for timer in (
        _Timer(signal.SIGALRM, signal.ITIMER_REAL),
        # Of the time that the process computes: a run that sleeps is not ended by it.
        _Timer(signal.SIGVTALRM, signal.ITIMER_VIRTUAL),
    ):
        if _handler_of(timer.number) is signal.SIG_DFL and _timer_of(timer.which)[0] == 0.0:
            return timer
    return None


#: Lines of a run that are counted before it is given up.
MOST_LINES = 1 << 22
#: The same where the program was given up before: it is tried again in other ways.
MOST_LINES_AGAIN = 1 << 18
#: Seconds without the end of a run, after which its lines are counted.
COUNTS_AFTER = 5.0
COUNTS_AFTER_AGAIN = 0.25
_PACKAGE = str(Path(__file__).resolve().parents[2])
_MOST_NAMES = 256
_given_up: dict[tuple[str, CodeType], bool] = {}


class LineCount:
    """Counts lines of the program's own code in one analysis.

    ``ended(frame)`` is called at each line beyond the last one that is allowed; it may raise, and
    tells whether it is to be counted anew.
    """

    def __init__(self, name: str, inside: CodeType, ended: Callable[[FrameType], bool]) -> None:
        self._key = name, inside
        self._inside = inside
        self._ended = ended
        self._lines = 0
        again = self._key in _given_up
        #: Seconds without the end of a run, after which it begins.
        self.after = COUNTS_AFTER_AGAIN if again else COUNTS_AFTER
        self._most = MOST_LINES_AGAIN if again else MOST_LINES

    def begin(self, frame: FrameType | None) -> None:
        """Count from now on; not where the code is traced already, as under a debugger."""
        if sys.gettrace() is not None:
            return
        self._lines = 0
        while frame is not None and frame.f_code is not self._inside:
            if not is_own(frame):
                frame.f_trace = self._at
            frame = frame.f_back
        sys.settrace(self._call)

    def end(self) -> None:
        """Count no more."""
        if _trace() == self._call:
            sys.settrace(None)

    def note_given_up(self) -> None:
        """The program has gone on for too long."""
        if len(_given_up) < _MOST_NAMES:
            _given_up[self._key] = True

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return None if is_own(frame) else self._at

    def _at(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._lines += 1
            if self._lines > self._most and self._ended(frame):
                self._lines = 0
        return self._at


def is_own(frame: FrameType) -> bool:
    """Whether it is code of liptest."""
    return frame.f_code.co_filename.startswith(_PACKAGE)


#: Runs of an analysis that are traced although they repeat nothing.
SEEN_CATCHING = 200
# Ends of iterators and of the machine, modules and files that are not there.
_OF_PYTHON = (StopIteration, RecursionError, MemoryError, ImportError, OSError)


class CaughtFaults:
    """A context that keeps the first fault that is raised in a frame that may catch it.

    Where the code is traced already, as under a debugger, nothing is noted.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self._is_on = False
        self._outside = sys.exception()

    def __enter__(self) -> CaughtFaults:
        self._is_on = sys.gettrace() is None
        if self._is_on:
            sys.settrace(self.trace)
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_on and is_noting(sys.gettrace()):
            sys.settrace(None)

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Look at what is raised; called by ``sys.settrace`` for each frame."""
        if not _catches(frame.f_code):
            return None
        frame.f_trace_lines = False
        return self._look

    def _look(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception" and self.fault is None:
            self._note(*argument[1:])
        return self._look

    def _note(self, error: Any, trace: TracebackType | None) -> None:
        if not isinstance(error, Exception) or isinstance(error, _OF_PYTHON):
            return
        if error.__traceback__ is None:
            error.__traceback__ = trace
        self.fault = fault_in(error, self._outside)


def is_noting(trace: Any) -> bool:
    """Whether what is traced now is traced here."""
    return isinstance(getattr(trace, "__self__", None), CaughtFaults)


def may_catch(code: CodeType) -> bool:
    """Whether code, or a function in it, may catch an exception."""
    return any(has_step(one, "PUSH_EXC_INFO") for one in codes_in(code))


# By the id of code, which is kept: the hash of code is that of all its parts.
_known_catching: dict[int, tuple[CodeType, bool]] = {}
_MOST_KNOWN = 1 << 14


def _catches(code: CodeType) -> bool:
    known = _known_catching.get(id(code))
    if known is None:
        if len(_known_catching) >= _MOST_KNOWN:
            _known_catching.clear()
        known = _known_catching[id(code)] = code, _may_catch_here(code)
    return known[1]


def _may_catch_here(code: CodeType) -> bool:
    return has_step(code, "PUSH_EXC_INFO") and is_program(code)
