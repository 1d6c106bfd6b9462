"""``max(1.0, norm / c)`` of a real number of one record, in a loop over records.

Python's own ``max`` compares, and what has been calculated of real numbers is not compared in a
pass. The larger one of two numbers needs no comparison: it is ``np.maximum`` of them, with its
ends, and with what is known of norms. So it stands for ``max`` of two numbers in passes, and in
the functions of the program that passes call.
"""

from __future__ import annotations

import builtins
from types import CellType, FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.pure_code import calculates, is_plain
from liptest.values.aligned import AlignedValue
from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.protocol import is_symbolic
from liptest.values.record_list import EntryOfRecord, TruthOfRecord

# Functions that call each other so deep.
_DEEPEST = 4


def either_side(truth: Any, value: Any, holds: Any, fails: Any) -> Any:
    """``holds(value) if truth else fails(value)``, where the truth compares the value."""
    if isinstance(truth, TruthOfRecord):
        return truth.either(value, holds, fails)
    return holds(value) if truth else fails(value)


def larger_end(*values: Any, **named: Any) -> Any:
    """``max(..)``."""
    return _end(builtins.max, np.maximum, values, named)


def smaller_end(*values: Any, **named: Any) -> Any:
    """``min(..)``."""
    return _end(builtins.min, np.minimum, values, named)


def _end(written: Any, ufunc: Any, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    # A column itself is cut where it is compared with a constant.
    made = [one for one in values if isinstance(one, EntryOfRecord) and one.is_calculated]
    if not made or len(values) != 2 or named:
        return written(*values, **named)
    return made[0].calculated(ufunc, *values)


_STAND_INS = {"max": (builtins.max, larger_end), "min": (builtins.min, smaller_end)}


def is_released(value: Any) -> bool:
    """Whether it is a number with noise, or an array of such: no pass changes it."""
    if type(value) is SymbolicArray and type(value.storage) is CellStorage:
        return all(is_plain(cell) or is_released(cell) for cell in value.cells.flat)
    return type(value) is AlignedValue and value.run.has_noise(value.form)


def with_ends(function: Any, depth: int = _DEEPEST) -> Any:
    """A function that only calculates, with these in the place of Python's."""
    if type(function) is not FunctionType or not depth:
        return function
    names = set(function.__code__.co_names)
    space = function.__globals__
    replaced: dict[str, Any] = {}
    for name in names:
        if name in space:
            inner = with_ends(space[name], depth - 1)
            if inner is not space[name]:
                replaced[name] = inner
        elif name in _STAND_INS:
            replaced[name] = _STAND_INS[name][1]
    cells = tuple(_with_ends_in(cell, depth) for cell in function.__closure__ or ())
    if not replaced and all(a is b for a, b in zip(cells, function.__closure__ or (), strict=True)):
        return function
    made = FunctionType(
        function.__code__, {**space, **replaced}, function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _with_ends_in(cell: CellType, depth: int) -> CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # nothing yet
        return cell
    made = with_ends(held, depth - 1)
    return cell if made is held else CellType(made)


class PassEnds:
    """What ``Folds`` answers of such comparisons, and of names of outside."""

    either = staticmethod(either_side)
    larger, smaller = staticmethod(larger_end), staticmethod(smaller_end)

    def plain(self, value: Any) -> Any:
        """What a loop over records may read of the rest: constant data, and what calculates."""
        if is_plain(value) or is_released(value):
            return value
        if calculates(value):
            return with_ends(value)
        words = value.described if is_symbolic(value) else f"a {type(value).__name__}"
        raise TypeError(f"{words} is read in a loop over the records")
