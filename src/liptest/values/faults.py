"""Whose an exception is: the program's own, or a fault of the analysis.

Code under analysis calls liptest wherever it meets a random number. What is raised there is an
output of the program only where NumPy or Python would raise the same: functions that make sure of
that are marked with ``raises_as_numpy``. Everything else is a fault of liptest. It is refused with
the line of the program, and never taken for an output.
"""

from __future__ import annotations

import inspect
import os
import random
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, TypeVar

import flint
import numpy as np

from liptest import errors
from liptest.values.lines import is_of_packages, is_of_python

F = TypeVar("F", bound=Callable[..., Any])

_ROOT = os.path.dirname(os.path.abspath(errors.__file__))
#: Rooms that run within a program under analysis.
_OURS = tuple(
    os.path.join(_ROOT, room) + os.sep for room in ("values", "enumerate", "symbolic", "floats")
)
# NumPy's compiled code has frames with paths of its sources.
_LIBRARIES = (
    *(os.path.dirname(inspect.getfile(module)) + os.sep for module in (np, flint)),
    *("numpy/", "_generator.pyx", "mtrand.pyx", "_common.pyx", "<__array_function__"),
)
# Their code raises what it raises without us.
_DRAWING = frozenset(map(inspect.getfile, (random, secrets)))
_AS_NUMPY: set[CodeType] = set()
# What neither NumPy nor random raises on wrong arguments.
_NEVER_OF_NUMPY = (AssertionError, NameError, KeyError, NotImplementedError)


def raises_as_numpy(function: F) -> F:
    """Mark a function: what is raised in it, or by NumPy in a call of it, NumPy would raise too."""
    _AS_NUMPY.update(codes_in(function.__code__))
    return function


def call_original(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """What a function gives, or raises, that the program calls and that we stand in for.

    What it raises of an object of liptest, whose class it names, is a fault all the same.
    """
    return function(*arguments, **named)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Code, and that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


class RaisesAsNumPy:
    """An object of NumPy; what its methods raise NumPy would raise too."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return _calling(getattr(self._original, name))


@raises_as_numpy
def _calling(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return method(*arguments, **options)

    return call


class CheckingBits(np.random.PCG64):
    """Bits that are drawn from only to see what NumPy gives or raises: those of no program."""


#: NumPy itself: checks arguments and gives types and shapes, never values.
NUMPY: Any = RaisesAsNumPy(np.random.Generator(CheckingBits(0)))


@dataclass(frozen=True)
class Fault:
    """An exception of liptest's own, with file and line of the program that led to it.

    ``raised_at`` is the place in liptest; "" where compiled code did not take what stands for a
    number.
    """

    error: BaseException
    file: str
    line: int
    raised_at: str


#: Names of classes of liptest that stand for numbers and arrays: no exception of NumPy has them.
STANDING_FOR_NUMBERS: set[str] = set()


def fault_in(
    error: BaseException | None, outside: BaseException | None, *, exported: bool = False
) -> Fault | None:
    """The fault of liptest in an exception, or in those that it was raised in place of.

    ``outside`` is what was handled when the program was called: Python adds it to what the program
    raises. ``exported`` is whether plain copies of random arrays were handed out, for reading only.
    """
    seen: set[int] = set()
    while error is not None and error is not outside and id(error) not in seen:
        seen.add(id(error))
        fault = _find_fault(error, exported)
        if fault is not None:
            return fault
        error = error.__cause__ or error.__context__
    return None


def _find_fault(error: BaseException, exported: bool) -> Fault | None:
    frames = _find_frames(error)
    while frames and _is_library(frames[-1][0]):
        frames.pop()
    if isinstance(error, AttributeError):
        # Who asked for it decides whose error it is.
        while frames and frames[-1][0].co_name == "__getattr__" and _is_ours(frames[-1][0]):
            frames.pop()
    named = _names_a_class(error) or (exported and _was_read_only(error))
    if not frames or not (named or _is_ours(frames[-1][0])):
        return None
    code, line = frames[-1]
    if not named and code is call_original.__code__ and not _names_our_class(error):
        return None
    if not named and code in _AS_NUMPY and not isinstance(error, _NEVER_OF_NUMPY):
        return None
    raised_at = "" if is_program(code) else f"{os.path.relpath(code.co_filename, _ROOT)}:{line}"
    return Fault(error, *place_raised(error), raised_at)


def _names_a_class(error: BaseException) -> bool:
    """Whether compiled code met an object that stands for a number, and says so."""
    if not isinstance(error, (TypeError, AttributeError)):
        return False
    try:
        words = str(error)
    except Exception:
        return False
    called = _CALLED.match(words)
    if called is not None and called[1] in STANDING_FOR_NUMBERS:
        return True  # with arguments that it does not take, and others may
    return _OF_OBJECTS.search(words) is not None or any(
        f"'{name}'" in words for name in (*STANDING_FOR_NUMBERS, _LEFT_TO_US)
    )


def _names_our_class(error: BaseException) -> bool:
    """Whether an error says the name of any class of liptest."""
    try:
        words = re.findall(r"\w+", str(error))
    except Exception:
        return True
    return not _names_of_classes(len(sys.modules)).isdisjoint(words)


@lru_cache(maxsize=1)
def _names_of_classes(modules: int) -> frozenset[str]:
    """The names of all classes of liptest, where so many modules are loaded."""
    package = errors.__name__.partition(".")[0]
    ours = [own for name, own in list(sys.modules.items()) if name.partition(".")[0] == package]
    return frozenset(
        name
        for module in ours
        for name, value in list(vars(module).items())
        if isinstance(value, type) and value.__module__ == module.__name__
    )


# What NumPy says of arrays of objects: numbers with noise and plain ones, where outside of an
# analysis there is an array of floats.
_OF_OBJECTS = re.compile(
    r"loop of ufunc does not support argument|not supported for the input types|dtype\('O'\)"
)


# What code of a library takes for a result, where it left an operator to us.
_LEFT_TO_US = "NotImplementedType"
# What Python says of arguments that a method does not take.
_CALLED = re.compile(r"(\w+)\.\w+\(\) (?:got|takes|missing)\b")


def _was_read_only(error: BaseException) -> bool:
    return isinstance(error, ValueError) and "read-only" in str(error)


def place_raised(error: BaseException) -> tuple[str, int]:
    """File and line of the program at which an exception was raised; "" and 0 for none.

    A line of an installed package, as pandas is one, is named only where no other one is there.
    """
    own = [(code.co_filename, line) for code, line in _find_frames(error) if is_program(code)]
    written = [place for place in own if not is_of_packages(place[0])]
    return [("", 0), *own, *written][-1]


def _find_frames(error: BaseException) -> list[tuple[CodeType, int]]:
    """Code and line of each frame that an exception went through, the outermost first."""
    trace, frames = error.__traceback__, []
    while trace is not None:
        frames.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return frames


def is_program(code: CodeType) -> bool:
    """Whether code is neither liptest's nor that of a library below it."""
    return not code.co_filename.startswith(_ROOT + os.sep) and not _is_library(code)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_OURS)


def _is_library(code: CodeType) -> bool:
    """Whether it is code of NumPy, flint or Python, which tells nothing of who called it."""
    file = code.co_filename
    if file in _DRAWING:
        return False
    if file.startswith(_LIBRARIES):
        return True
    return is_of_python(file)
