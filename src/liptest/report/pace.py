"""How fast a run goes and how long it will still take, in words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

#: Least seconds between two lines where there is no terminal.
SECONDS = 10.0
# Less is no measurement: several chunks come at once.
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
        return f"{said}, {_rate(rate)}, about {_duration(left)} left"


def _rate(per_second: float) -> str:
    if per_second >= 1:
        return f"{per_second:,.0f} a second"
    return f"{60 * per_second:,.2g} a minute"


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
