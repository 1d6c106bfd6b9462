"""A limit of time for a whole check, which ends it as Ctrl-C would.

Interrupts are counted (``runs.interrupts``): what was computed while one came is dropped, also
where the code under test swallows it. So the end of the time never looks like a program that
answers otherwise than before.
"""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from liptest.runs.interrupts import counted_interrupts

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
    with counted_interrupts(is_ours=lambda: limit.is_over):
        threading.Thread(target=limit.watch, daemon=True).start()
        try:
            yield limit
        finally:
            limit.close()


def _can_interrupt() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
