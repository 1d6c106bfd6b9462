"""``numbers += noise``: a plain array that becomes one with noise, where nobody else has it.

A plain array has no place for noise. The statement assigns its result to a name, though, which may
get another array if the old one is seen nowhere else: by no other name, container or view, which
Python's count of references tells. It is compared with that of a statement without such others.
Python 3.14 leaves references out of that count: those that a step of code borrows from a name, also
in the function that is called with it. So there callers are asked for their names.
"""

from __future__ import annotations

import dis
import os
import sys
import weakref
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy

# Kept: while a program is analysed the name stands for something else.
_held = sys.getrefcount
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# What has a setter of its own may do anything with the result.
_TO_NAMES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
_BORROWS = "LOAD_FAST_BORROW" in dis.opmap
_STATEMENTS = ("a += b", "a -= b", "a *= b", "a /= b")


def is_seen_once(out: NDArray[Any], inputs: tuple[Any, ...]) -> bool:
    """Whether a ufunc is asked by a statement such as ``a += b`` for an array ``a`` like that.

    For use in a function that gets (inputs, options) from ``__array_ufunc__`` and has taken
    ``out`` from the options.
    """
    return (
        type(out) is np.ndarray
        and len(inputs) == 2
        and inputs[0] is out
        and out.base is None
        and not weakref.getweakrefcount(out)
        and (program := _program()) is not None
        and _is_statement(program)
        and _held(out) <= _references(_is_borrowed(program))
        and not (_BORROWS and _is_lent(out, program))
    )


@raises_as_numpy
def check_as_numpy(ufunc: Any, out: NDArray[Any], other: Any) -> None:
    """Raise what NumPy raises: a type or shape that does not fit, or an array for reading only."""
    target = np.ones_like(out)
    target.flags.writeable = out.flags.writeable
    with np.errstate(all="ignore"):
        ufunc(np.ones_like(out), other, out=target)


def _program() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def _is_statement(frame: FrameType) -> bool:
    code, at = frame.f_code.co_code, frame.f_lasti
    if code[at : at + 2] not in _instructions():
        return False
    after = next((op for op in code[at + 2 :: 2] if op), 0)  # 0 is room for what Python notes
    return dis.opname[after].startswith(_TO_NAMES)


@cache
def _instructions() -> frozenset[bytes]:
    """Operation and argument in the byte code of such statements: what others lack."""
    codes = []
    for statement in _STATEMENTS:
        plain, in_place = (
            compile(text, "", "exec").co_code
            for text in (f"a = {statement.replace('=', '', 1)}", statement)
        )
        pairs = [{code[k : k + 2] for k in range(0, len(code), 2)} for code in (in_place, plain)]
        codes += list(pairs[0] - pairs[1])
    return frozenset(codes)


def _is_borrowed(frame: FrameType) -> bool:
    """Whether the statement loads its array without counting it, which Python 3.14 may do.

    A call's positions begin where those of its first operand do. What is not found is borrowed.
    """
    if not _BORROWS or sys._getframe(4) is not frame:  # data that note what is read ask for it
        return False
    steps = list(dis.get_instructions(frame.f_code))
    start = next(_start(step) for step in steps if step.offset == frame.f_lasti)
    before = [step for step in steps if step.offset < frame.f_lasti and _start(step) == start]
    loads = [step.opname for step in before if step.opname.startswith("LOAD")]
    return len(loads) != 1 or "BORROW" in loads[0]


def _start(step: dis.Instruction) -> tuple[int | None, int | None]:
    where = step.positions
    return (None, None) if where is None else (where.lineno, where.col_offset)


def _is_lent(out: NDArray[Any], program: FrameType) -> bool:
    """Whether a caller has a name for it: what is handed on by name is not counted in 3.14."""
    frame = program.f_back
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE) and any(
            frame.f_locals.get(name) is out for name in frame.f_code.co_varnames
        ):
            return True
        frame = frame.f_back
    return False


class _Probe:
    """Notes how many references there are to an array that has no other name."""

    count = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _note(self, inputs, options)


def _note(probe: _Probe, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    out = options.pop("out", (None,))[0]
    probe.count = _count(out, inputs)
    return None


def _count(out: Any, inputs: tuple[Any, ...]) -> int:
    return _held(out)


@cache
def _references(borrowed: bool) -> int:
    """How many there are to an array with one name, of which the statement borrows one or not."""
    probe = _Probe()
    numbers: Any = np.zeros(1)

    def count() -> None:
        nonlocal numbers
        numbers += probe

    if borrowed:
        _count_local(probe)
    else:
        count()
    return probe.count


def _count_local(probe: Any) -> None:
    numbers: Any = np.zeros(1)
    numbers += probe
