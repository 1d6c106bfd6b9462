"""Runs that go on for too long are given up: by a timer, and by the lines that they run."""

from __future__ import annotations

import dis
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from liptest.enumerate.caught_faults import is_noting
from liptest.enumerate.line_counts import LineCount, is_own
from liptest.errors import BudgetError
from liptest.runs.interrupts import is_in_finalizer
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
def watched_for_progress(
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

    def start(self) -> None:
        """Look from now on."""
        self.timer.start(self._step, self._step)

    def look(self, number: int, frame: FrameType | None) -> None:
        """As a handler of the timer's signal."""
        if self._progresses() or self.is_patient:
            self._looks = 0
            self.lines.end()
        elif runs(self._inside, frame):
            self._looks += 1
            if self.is_hurried or self._looks * self._step >= self._seconds:
                self._end(frame)
            else:
                self.lines.begin(frame)

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
def waited_for(*, is_patient: bool) -> Iterator[None]:
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
    if _watches and signal.getsignal(_watches[-1].timer.number) == _watches[-1].look:
        _watches[-1].is_hurried = True
        _watches[-1].timer.start(_SOON, _AGAIN)


_SOON, _AGAIN = 1.0, 0.005
# Times that it waits for the end of a finalizer, where what is raised is printed only, or of what
# the interpreter does to import a module.
_MOST_PUT_OFF = 200
_watches: list[_Watch] = []


def _free_timer() -> _Timer | None:
    """A timer and its signal that nobody uses, as pytest-timeout uses the first one."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return None
    for timer in (
        _Timer(signal.SIGALRM, signal.ITIMER_REAL),
        # Of the time that the process computes: a run that sleeps is not ended by it.
        _Timer(signal.SIGVTALRM, signal.ITIMER_VIRTUAL),
    ):
        if (
            signal.getsignal(timer.number) is signal.SIG_DFL
            and signal.getitimer(timer.which)[0] == 0.0
        ):
            return timer
    return None
