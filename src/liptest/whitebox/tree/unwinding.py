"""Ends loops that swallow what ends them: ``while True: try: ... except: pass``.

An exception that is raised anywhere in the body of such a loop is caught by it. One that is
raised at a line of the ``except`` clause, or outside of the ``try``, is not. So the lines of the
program are traced until there is one.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any


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
    if sys.gettrace() is not None:
        return

    def trace(here: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and not _is_caught(here):
            give_up()
        return trace

    _ours[:] = [lambda *call: None]  # what is called from now on is not traced
    while frame is not None and frame.f_code is not inside:
        frame.f_trace = trace
        frame = frame.f_back
    sys.settrace(_ours[0])


def forget() -> None:
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
