"""Functions that make one number of each total, asked of all values that the total may have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.enumerate.records.record_values import original_of
from liptest.values.array import CellStorage, SymbolicArray, as_cells
from liptest.values.draws.factor_values import FactorValue, Variable
from liptest.values.protocol import is_symbolic

# Kept: while a program is analysed the names stand for something else.
_OF_ARRAYS = (
    *(np.clip, np.maximum, np.minimum, np.round, np.around, np.floor, np.ceil, np.rint, np.trunc),
    *(np.abs, np.sqrt, np.where, np.fmax, np.fmin),
)
_OF_NUMBERS = (float, int, round, abs, max, min, str, math.sqrt, math.floor, math.ceil, math.trunc)
_DTYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))
_PLAIN = (int, float, bool, str, np.int64, np.float64, np.bool_, type(None))


def call_entry_by_entry(
    called: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What a function gives; of totals as totals, where it makes one number of each."""
    own = original_of(called)
    if options or not any(map(_is_of_totals, arguments)):
        return called(*arguments, **options)
    made: Any = NotImplemented
    if any(own is one for one in _OF_NUMBERS):
        made = _of_numbers(own, arguments)
    elif any(own is one for one in _OF_ARRAYS):
        made = _of_arrays(own, arguments)
    return called(*arguments) if made is NotImplemented else made


def _is_of_totals(value: Any) -> bool:
    if type(value) is SymbolicArray:
        return any(map(_is_open, value.cells.flat))
    return _is_open(value)


def _is_open(value: Any) -> bool:
    return type(value) is FactorValue and value.variable.taken is None


def _of_numbers(own: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """One number of several that one count decides; NotImplemented where that is not so."""
    if not all(_is_open(one) or type(one) in _PLAIN for one in arguments):
        return NotImplemented
    variables: list[Variable] = [one.variable for one in arguments if _is_open(one)]
    if any(variable is not variables[0] for variable in variables):
        return NotImplemented
    made = []
    for place in range(len(variables[0].weights)):
        given = [one.values[place] if _is_open(one) else one for one in arguments]
        try:
            with np.errstate(all="raise", under="ignore"):
                result = own(*given)
            made.append(result[()] if type(result) is np.ndarray else result)
        except (ArithmeticError, TypeError, ValueError, Warning):
            return NotImplemented
    if len({type(one) for one in made}) != 1:
        return NotImplemented
    return FactorValue(variables[0], tuple(made))


def _of_arrays(own: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """As NumPy does, entry by entry."""
    is_array = any(type(one) in (SymbolicArray, np.ndarray) for one in arguments)
    if not is_array:
        return _of_numbers(own, tuple(map(_as_numpy, arguments)))
    tables = [_cells_of(one) for one in arguments]
    if any(table is None for table in tables):
        return NotImplemented
    spread = np.broadcast_arrays(*tables)
    made = np.empty(spread[0].shape, dtype=object)
    for index in np.ndindex(made.shape):
        given = tuple(table[index] for table in spread)
        if any(map(is_symbolic, given)):
            made[index] = _of_numbers(own, given)
        else:
            made[index] = np.asarray(own(*given))[()]
    if any(one is NotImplemented for one in made.flat):
        return NotImplemented
    kinds = {np.dtype(one.kind if is_symbolic(one) else type(one)) for one in made.flat}
    symbols = [one for one in made.flat if is_symbolic(one)]
    if len(kinds) != 1 or not symbols:
        return NotImplemented
    dtype, branching = kinds.pop(), symbols[0].branching
    return (
        SymbolicArray(CellStorage(branching, made, dtype)) if dtype in _DTYPES else NotImplemented
    )


def _as_numpy(value: Any) -> Any:
    return value.entry() if is_symbolic(value) else value


def _cells_of(value: Any) -> Any:
    """An array of objects, numbers as NumPy has them; None for what is not followed."""
    if type(value) is SymbolicArray:
        return value.cells
    if type(value) is np.ndarray and value.dtype in _DTYPES:
        return as_cells(value)
    if is_symbolic(value) or type(value) in _PLAIN:
        cell = np.empty((), dtype=object)
        cell[()] = value
        return cell
    return None
