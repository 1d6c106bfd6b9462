"""How far a run is: rate and remaining time, and a plain bar for terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from liptest.errors import InputError, quote

Told = Callable[[int, int], None]
#: Least seconds between two lines where there is no terminal.
SECONDS = 10.0
# Less is not a measurement: several chunks come at once.
_LEAST_MEASURED = 1.0


@dataclass
class Pace:
    """Rate and remaining time from what a progress callback is told.

    What was done before the first call (a run that goes on) counts for neither.
    """

    label: str
    clock: Callable[[], float] = time.monotonic
    _told: float = field(init=False)
    _before: tuple[int, float] | None = None

    def __post_init__(self) -> None:
        self._told = self.clock()

    def line(self, done: int, planned: int) -> str:
        """A line for a log; empty less than ``SECONDS`` after the last one."""
        now = self.clock()
        words = self.words(done, planned)
        if now - self._told < SECONDS:
            return ""
        self._told = now
        return f"{self.label}: {words}"

    def words(self, done: int, planned: int) -> str:
        """``1,200 of 13,809, 85 a second, about 3 min left``."""
        now = self.clock()
        if self._before is None or done < self._before[0]:  # the next stage counts anew
            self._before = done, now
        first, since = self._before
        said = f"{done:,} of {planned:,}"
        if done <= first or now - since < _LEAST_MEASURED:
            return said
        rate = (done - first) / (now - since)
        left = max(planned - done, 0) / rate
        return f"{said}, {_rate(rate)}, about {duration_text(left)} left"


def _rate(per_second: float) -> str:
    if per_second >= 1:
        return f"{per_second:,.0f} a second"
    return f"{60 * per_second:,.2g} a minute"


def duration_text(seconds: float) -> str:
    """In the largest unit of which there are two."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"


_WIDTH = 20
_LEAST_BETWEEN = 0.2


class PlainBar:
    """A line on standard error that is written over, and goes when all is done.

    Terminals and notebooks show it; elsewhere there is a line every ``SECONDS``. It begins with
    what is planned; an estimate of the remaining time follows after a second.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        is_shown: bool | None = None,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        in_notebook = "ipykernel" in sys.modules
        self._is_shown = in_notebook or self._stream.isatty() if is_shown is None else is_shown
        self._clock = clock
        self._pace = Pace("liptest", clock)
        self._last: float | None = None
        self._length = 0

    def __call__(self, done: int, planned: int) -> None:
        if not self._is_shown:
            line = self._pace.line(done, planned)
            if line:
                print(line, file=self._stream, flush=True)
            return
        words, now = self._pace.words(done, planned), self._clock()
        if done >= planned:
            self._write("")
        elif self._last is None or now - self._last >= _LEAST_BETWEEN:
            self._last = now
            full = _WIDTH * done // max(planned, 1)
            self._write(f"[{'#' * full}{' ' * (_WIDTH - full)}] {words}")

    def _write(self, line: str) -> None:
        erased = "" if line else "\r"
        self._stream.write(f"\r{line.ljust(self._length)}{erased}")
        self._stream.flush()
        self._length = len(line)


def check_progress(progress: object) -> Told | None:
    """A function to call, None for none; True stands for a plain bar."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return PlainBar()
    if callable(progress):
        return progress
    raise InputError(
        f"progress={quote(progress)} must be True, for a bar, or a function (done, planned)",
        name="progress",
        value=progress,
    )
