"""The variance and the standard deviation of all records: answers that one record moves a little.

They are functions of how many records have each value (``answer_functions.Spread``;
docs/theory/size.md, S14). Floats are off by less than a margin, in whatever order they are added.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.symbolic.answer_functions import Spread
from liptest.values.answers.aligned import AlignedValue
from liptest.values.answers.block_statistics import form_of_block, is_block
from liptest.values.answers.functions_of_answers import UNKNOWN
from liptest.values.protocol import is_symbolic
from liptest.values.records.column import FUNCTIONS, Column, find_column

_NO_VALUE: Any = np._NoValue
# Values of a record that may be told apart, how large they are, and how far apart: floats have
# their squares.
_MOST_LEVELS, _LARGEST, _CLOSEST = 2_000, 1e100, 1e-100
_UNIT = Fraction(1, 1 << 53)


def spread(values: Any, ddof: Any, *, is_root: bool) -> Any:
    """The variance of the records, or its root, as NumPy has it.

    None where that is not followed, as of a selection, whose size moves, too.
    """
    column = find_column(values)
    if column is None or is_symbolic(ddof) or not _can_be_spread(column):
        return None
    levels, places = np.unique(column.own, return_inverse=True)
    records, less = column.read_length(), operator.index(ddof)
    if records <= less or less < 0:
        return None
    if len(levels) == 1 or levels[-1] - levels[0] < _CLOSEST:
        return None  # floats may give a little more than 0
    exact = tuple(Fraction(number) for number in levels.tolist())
    margin = _margin(exact, records, records - less, is_root=is_root)
    if is_block(column):
        return _of_block(column, Spread((), exact, records, records - less, is_root, margin))
    counts = [
        column.sum_up(places.reshape(-1) == place, np.int64, "a variance")
        for place in range(len(levels))
    ]
    parts = tuple(column.run.sum_of_answers(count.form) for count in counts)
    made = Spread(parts, exact, records, records - less, is_root, margin)
    form = column.run.function_of_answers(made)
    return AlignedValue(column.run, form, np.float64, UNKNOWN)


def _of_block(column: Column, made: Spread) -> AlignedValue:
    """Of some of the records: squares of deviations are a quarter of the range's at most."""
    most = (made.levels[-1] - made.levels[0]) ** 2 / 4 * made.records / made.divisor
    # Floats may give a little more.
    high = Fraction(math.sqrt(most) if made.is_root else float(most)) * (1 + Fraction(1, 1 << 30))
    function, less = np.std if made.is_root else np.var, made.records - made.divisor
    ends, reach = (Fraction(0), high), made.reach(())[1]
    form = form_of_block(column, function, ends, None, None, None, less, reach=reach)
    return AlignedValue(column.run, form, np.float64, UNKNOWN)


def _can_be_spread(column: Column) -> bool:
    is_line = column.own.ndim == 1 and column.own_kept is None and not column.is_off
    if not is_line or column.answers.is_by_coins or column.dtype not in (np.int64, np.float64):
        return False
    is_small = bool(np.abs(column.own.astype(np.float64)).max() < _LARGEST)
    return is_small and len(np.unique(column.own)) <= _MOST_LEVELS


def _margin(levels: tuple[Fraction, ...], records: int, divisor: int, *, is_root: bool) -> Fraction:
    """How far floats may be from the variance of such records, or from its root.

    With g = (n + 4) u / (1 - (n + 4) u) the mean is off by at most g M, deviations by
    e = 2 g M + u R, and the sum of squares by n (2 R e + e**2) and a part g of itself.
    The root is a norm of the deviations: off by sqrt(n / c) e and a part g of itself.
    """
    largest, across = max(map(abs, levels)), levels[-1] - levels[0]
    steps = (records + 4) * _UNIT
    grown = steps / (1 - steps)
    off = 2 * grown * largest + _UNIT * across
    share = Fraction(records, divisor)
    if is_root:
        return share * (off + 2 * grown * (across + off))
    return share * (2 * across * off + off * off + grown * (across + off) ** 2)


def _answer(array: Any, options: dict[str, Any], ddof: Any, *, is_root: bool) -> Any:
    if any(option is not None and option is not _NO_VALUE for option in options.values()):
        return NotImplemented
    found = spread(array, ddof, is_root=is_root)
    return NotImplemented if found is None else found


def _variance(array: Any, axis: Any = None, *, ddof: Any = 0, **options: Any) -> Any:
    return _answer(array, {"axis": axis or None, **options}, ddof, is_root=False)


def _deviation(array: Any, axis: Any = None, *, ddof: Any = 0, **options: Any) -> Any:
    return _answer(array, {"axis": axis or None, **options}, ddof, is_root=True)


FUNCTIONS[np.var], FUNCTIONS[np.std] = _variance, _deviation
