"""Functions of NumPy of real columns of the records."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.reals.real_column import FUNCTIONS, RealColumn
from liptest.values.records.column import Column, find_column
from liptest.values.records.record_storage import JOINS, answer_einsum, read_options, take_records


def _sum(
    column: RealColumn, array: Any, axis: Any = None, dtype: Any = None, **options: Any
) -> Any:
    given = read_options(options)
    if axis not in (None, 0) or given or array.storage is not column:
        return NotImplemented
    if dtype is None:
        return column.sum_up("numpy.sum")
    of_type: Any = column.astype(np.dtype(dtype)).storage
    return of_type.sum_up("numpy.sum", in_pairs=False)


def _mean(column: RealColumn, array: Any, axis: Any = None, **options: Any) -> Any:
    given = read_options(options)
    if axis not in (None, 0) or given or column.kept is not None or array.storage is not column:
        return NotImplemented
    return column.sum_up("numpy.mean", scale=Fraction(1, column.read_length()))


def _clip(column: RealColumn, array: Any, *bounds: Any, out: Any = None, **options: Any) -> Any:
    given = {name: option for name, option in options.items() if option is not np._NoValue}
    low = bounds[0] if bounds else given.pop("a_min", given.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else given.pop("a_max", given.pop("max", None))
    if out is not None or given or len(bounds) > 2 or array.storage is not column:
        return NotImplemented
    clipped = array
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        if bound is not None and bound is not np._NoValue:
            clipped = ufunc(clipped, bound)
    return clipped


def _average(column: RealColumn, array: Any, axis: Any = None, **options: Any) -> Any:
    return _mean(column, array, axis, **options)


def _dot(column: RealColumn, left: Any, right: Any, out: Any = None) -> Any:
    """A product with numbers of the same records, or with equal constants."""
    made = column.multiply(left, right)
    if made is not NotImplemented:
        return NotImplemented if out is not None else made
    pair = [_one_of_equal(column, operand) for operand in (left, right)]
    if out is not None or any(operand is None for operand in pair):
        return NotImplemented
    products = np.multiply(*pair).storage
    if type(products) is not RealColumn:  # of random bits
        return products.sums(None, "numpy.dot")
    return products.sum_up("numpy.dot", in_pairs=False, is_product=True)


def _one_of_equal(column: RealColumn, operand: Any) -> Any:
    if type(operand) is SymbolicArray:
        return operand
    is_line = type(operand) is np.ndarray and operand.ndim == 1 and operand.dtype.kind in "iuf"
    if not is_line or column.kept is not None or len(operand) != column.shape[0]:
        return None
    return operand[0] if np.all(operand == operand[0]) else None


def _where(column: RealColumn, condition: Any, *pair: Any) -> Any:
    masked = Column.where_bits(condition, *pair) if len(pair) == 2 else None
    if masked is not None:
        return masked
    mask = find_column(condition)
    if mask is None or len(pair) != 2 or not column.may_select(mask):
        return NotImplemented
    parts = [column.part_of(operand, "numpy.where") for operand in pair]
    ends = [
        np.where(mask.table, *(getattr(part, end) for part in parts)) for end in ("low", "high")
    ]
    chosen = ("table", mask.table.dtype.char, mask.table.tobytes())
    recipe = (np.where, chosen, *(part.recipe for part in parts))
    return column.like((ends[0], ends[1]), recipe)


def _same(function: Any) -> Any:
    def make(column: RealColumn, array: Any, **options: Any) -> Any:
        return NotImplemented if options else column.count()

    return make


def _round(column: RealColumn, array: Any, decimals: Any = 0, out: Any = None) -> Any:
    if out is not None or type(decimals) is not int or decimals != 0:
        return NotImplemented
    return np.rint(array)


_RULES: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _mean,
    np.average: _average,
    np.dot: _dot,
    np.clip: _clip,
    np.where: _where,
    np.round: _round,
    np.around: _round,
    np.bincount: lambda column, *arguments, **options: Column.bincount(*arguments, **options),
    np.size: _same(np.size),
    np.ndim: lambda column, array: 1,
    np.einsum: answer_einsum,
    np.take: lambda column, array, *where, **axis: take_records(array, *where, **axis),
    **JOINS,
}
FUNCTIONS.update(_RULES)
