"""Runs without an end are noticed by the lines of code that they run, where they take long.

How long a run takes depends on the machine; how many lines it runs does not. A run of fewer than
``MOST_LINES`` lines is never given up here. Lines are counted once a run has taken a while.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

#: Lines of a run that are counted before it is given up.
MOST_LINES = 1 << 22
#: The same where the program was given up before: it is tried again in other ways.
MOST_LINES_AGAIN = 1 << 18
#: Seconds without the end of a run, after which its lines are counted.
COUNTS_AFTER = 5.0
COUNTS_AFTER_AGAIN = 0.25
_PACKAGE = str(Path(__file__).resolve().parents[1])
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
        sys.settrace(self._called)

    def end(self) -> None:
        """Count no more."""
        if sys.gettrace() == self._called:
            sys.settrace(None)

    def note_given_up(self) -> None:
        """The program has gone on for too long."""
        if len(_given_up) < _MOST_NAMES:
            _given_up[self._key] = True

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
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
