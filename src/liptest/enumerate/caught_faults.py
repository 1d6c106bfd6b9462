"""Exceptions of liptest's own that a program catches.

``try: .. except TypeError: ..`` around what only a stand-in cannot do would go on otherwise than
the program does with numbers. So frames of the program that may catch something are traced while
it runs, and what is raised in them is looked at (``values.faults``): in the first runs, and in all
that repeat a leaf.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from types import CodeType, FrameType, TracebackType
from typing import Any

from liptest.enumerate.replaceable_names import has_step
from liptest.values.faults import Fault, codes_in, fault_in, is_program

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
        """As ``sys.settrace`` calls it for each frame."""
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


@lru_cache(maxsize=1 << 12)
def _catches(code: CodeType) -> bool:
    return has_step(code, "PUSH_EXC_INFO") and is_program(code)
