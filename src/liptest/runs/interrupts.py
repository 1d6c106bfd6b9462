"""Ctrl-C, other signals and a limit of time, which code under test cannot swallow.

A mechanism with a bare ``except:`` swallows KeyboardInterrupt and goes on with a run that is not
the one it claims to be. So interrupts are counted as well as raised, and what was computed while
one came is dropped. A limit of time for a whole check ends it as Ctrl-C would, and so never looks
like a program that answers otherwise than before.
"""

from __future__ import annotations

import _thread
import gc
import signal
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import FrameType, FunctionType
from typing import Any, TypeVar

T = TypeVar("T")
# A finalizer that does not end is interrupted after so many times.
_MOST_PUT_OFF = 3
_count = 0
# In an analysis others stand for names of modules, but not for this.
_READ = (signal.getsignal,)
_NUMBERS = tuple(map(int, signal.valid_signals()))


def interruptions() -> int:
    """How often Ctrl-C came while results of ``until_interrupted`` were computed; never falls."""
    return _count


def raise_swallowed(before: int) -> None:
    """Raise KeyboardInterrupt where one came since ``interruptions()`` was ``before``.

    Code under test has swallowed it; nothing that was computed meanwhile may be kept.
    """
    if _count != before:
        raise KeyboardInterrupt


def until_interrupted(results: Iterable[T]) -> Generator[T, None, None]:
    """The results, up to the one during which Ctrl-C came; then KeyboardInterrupt.

    Of code that goes on swallowing, the third Ctrl-C ends the process. Where signals are not ours
    to handle (other threads, a handler of the user's) only an interrupt that is not swallowed
    ends the results.
    """
    with count_interrupts():
        before = _count
        following = iter(results)
        while True:
            try:
                result = next(following)
            except StopIteration:
                break
            except Exception:
                if _count == before:
                    raise
            if _count != before:
                break
            yield result
    if _count != before:
        raise KeyboardInterrupt


@contextmanager
def count_interrupts(is_ours: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Count every Ctrl-C in the block, beside raising it; within another such block: nothing.

    While ``is_ours()`` interrupts do not end the process, however many come; and one that comes
    where Python would only print it, in a finalizer, waits for the next one.
    """
    first = _count

    def note(number: int, frame: Any) -> None:
        global _count
        _count += 1
        if not is_ours():
            if _count > first + 1:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
        elif _count <= first + _MOST_PUT_OFF and is_in_finalizer(frame):
            return
        raise KeyboardInterrupt

    with _handle_by(note):
        yield


def is_in_finalizer(frame: FrameType | None) -> bool:
    """Whether Python would print what is raised in a frame, and go on."""
    collecting = [
        callback.__code__ for callback in gc.callbacks if isinstance(callback, FunctionType)
    ]
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename == weakref.__file__ or code in collecting:
            return True
        frame = frame.f_back
    return False


@contextmanager
def forward_interrupts(pass_on: Callable[[], bool]) -> Iterator[None]:
    """Count every Ctrl-C in the block, and pass the first one on instead of raising it.

    Where ``pass_on()`` says that nobody listens, and from the second one on, it is raised.
    """
    first = _count

    def note(number: int, frame: Any) -> None:
        global _count
        _count += 1
        if _count > first + 1 or not pass_on():
            raise KeyboardInterrupt

    with _handle_by(note):
        yield


@contextmanager
def handlers_noted(
    raised: list[BaseException], paused: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Note what handlers of signals raise in the block: the time limit of a test, say.

    It comes in the middle of code under test, which may swallow it, and did not raise it.
    Handlers are called within ``paused()``; Python's own and liptest's are left as they are.
    """
    noting: dict[int, tuple[Any, Any]] = {}
    (handler_of,) = _READ
    if threading.current_thread() is threading.main_thread():
        for number in _NUMBERS:
            handler = handler_of(number)
            if callable(handler) and not _is_known(handler):
                noting[number] = handler, partial(_call_noting, handler, raised, paused)
                signal.signal(number, noting[number][1])
    try:
        yield
    finally:
        for number, (handler, note) in noting.items():
            if handler_of(number) is note:
                signal.signal(number, handler)


def _is_known(handler: Any) -> bool:
    module = str(getattr(handler, "__module__", ""))
    return handler is signal.default_int_handler or module.partition(".")[0] == "liptest"


def _call_noting(
    handler: Any,
    raised: list[BaseException],
    paused: Callable[[], AbstractContextManager[None]],
    number: int,
    frame: FrameType | None,
) -> None:
    try:
        with paused():
            handler(number, frame)
    except BaseException as error:
        raised.append(error)
        raise


@contextmanager
def _handle_by(note: Callable[[int, Any], None]) -> Iterator[None]:
    """Let ``note`` handle Ctrl-C in the block, where that is ours to say."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Code that swallows an interrupt, and goes on for ever, gets another one.
_AGAIN = 1.0


class Deadline:
    """Whether the time has ended; ``seconds`` is None where there is no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.is_over = False
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def watch(self) -> None:
        """Interrupt the main thread when the time is over, until it is done."""
        wait = self.seconds or 0.0
        while not self._closed.wait(wait):
            with self._lock:
                if not self._closed.is_set():
                    self.is_over = True
                    _thread.interrupt_main()
            wait = _AGAIN

    def close(self) -> None:
        """Nothing is interrupted from now on."""
        with self._lock:
            self._closed.set()


@contextmanager
def deadline(seconds: float | None) -> Iterator[Deadline]:
    """Raise KeyboardInterrupt in the main thread after so many seconds.

    Whoever uses it catches KeyboardInterrupt, tells by ``is_over`` where it came from, and closes
    it at once. Nothing is interrupted in other threads than the main one, or where signals are the
    caller's to handle.
    """
    limit = Deadline(seconds)
    if seconds is None or not _can_interrupt():
        yield limit
        return
    with count_interrupts(is_ours=lambda: limit.is_over):
        threading.Thread(target=limit.watch, daemon=True).start()
        try:
            yield limit
        finally:
            limit.close()


def _can_interrupt() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
