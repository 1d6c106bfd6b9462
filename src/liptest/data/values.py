"""Values of table cells, as every backend gives them, in one form."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from decimal import Decimal
from importlib import import_module
from typing import Any

import numpy as np

from liptest.errors import InputError, shown

#: A category: a number, a text, a date; None stands for a missing value.
Value = Hashable
#: Joint values of some columns -> how many rows have them.
Cells = dict[tuple[Value, ...], int]


def plain(value: Any) -> Value:
    """The value as Python writes it: 1, 1.0, True and Decimal(1) are all 1; NaN is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (float, Decimal)):
        if math.isnan(value):
            return None
        return int(value) if math.isfinite(value) and value == int(value) else float(value)
    if not isinstance(value, Hashable):
        raise InputError(
            f"table: the value {shown(value)} of type {type(value).__name__} is no category; "
            f"choose columns of numbers, texts or dates",
            name="table",
        )
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def add_up(rows: Iterable[tuple[Any, ...]]) -> Cells:
    """Cells from rows (values .., count); values that are one in plain form are added up."""
    cells: Cells = {}
    for *values, count in rows:
        key = tuple(plain(value) for value in values)
        cells[key] = cells.get(key, 0) + int(count)
    return cells


def in_order(values: Iterable[Value]) -> list[Value]:
    """Sorted, numbers before everything else; types that do not compare are kept apart."""
    numbers = (int, float)
    kept = list(values)
    try:
        return sorted(
            kept,
            key=lambda v: (0, "", v) if isinstance(v, numbers) else (1, type(v).__name__, v),
        )
    except TypeError:  # complex numbers, times with and without a zone
        return sorted(kept, key=lambda v: (type(v).__name__, repr(v)))


def extra(module: str, need: str) -> Any:
    """An optional module; InputError says which extra holds it."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"{need} needs {module.partition('.')[0]}; install liptest with its extra: "
            f"pip install 'liptest[data]'",
            name="table",
        ) from None


def too_many(columns: Iterable[str], limit: int) -> InputError:
    """The error of columns with more values than can be categories."""
    names = ", ".join(repr(name) for name in columns)
    return InputError(
        f"columns: {names} has more than {limit:,} different values; that is no category. Leave "
        f"it out, group its values first, or raise max_values",
        name="columns",
    )


def empty(words: str) -> InputError:
    """The error of a table without rows."""
    return InputError(
        f"table: {words} has no rows, there is nothing to fit; give public rows", name="table"
    )


def changed(words: str) -> InputError:
    """The error of a table that is not the same in two counts."""
    return InputError(f"table: {words} changed while it was counted; fit it again", name="table")
