"""How table cells become coordinates: one form for values of every backend, their order, counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError, quote

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
            f"table: the value {quote(value)} of type {type(value).__name__} is not a category; "
            f"choose columns of numbers, texts or dates",
            name="table",
        )
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def add_up_cells(rows: Iterable[tuple[Any, ...]]) -> Cells:
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
        f"columns: {names} has more than {limit:,} different values; that is not a category. Leave "
        f"it out, group its values first, or raise max_values",
        name="columns",
    )


def empty(words: str) -> InputError:
    """The error of a table without rows."""
    return InputError(
        f"table: {words} has no rows, there is nothing to fit; give public rows", name="table"
    )


def make_change_error(words: str) -> InputError:
    """The error of a table that is not the same in two counts."""
    return InputError(f"table: {words} changed while it was counted; fit it again", name="table")


#: The values of one column; value ``categories[i]`` has the code i.
Categories = tuple[Value, ...]
BITS: Categories = (0, 1)


def find_categories(
    name: str, seen: Mapping[Value, int], declared: Mapping[str, Sequence[Any]], size: int | None
) -> Categories:
    """The values of one column: as declared, else ``0 .. size-1``, else as seen.

    Values 0 and 1 only (or only one of them) are bits.

    Raises
    ------
    InputError
        Missing values that were not declared, values outside of what was declared, numbers that
        are not whole, categories that repeat.
    """
    if name in declared:
        values = _list(name, declared[name])
        if not values or len(set(values)) < len(values):
            raise InputError(
                f"categories[{name!r}]={quote(declared[name])} must hold every value once",
                name="categories",
            )
    else:
        _no_missing(name, seen)
        values = tuple(range(size)) if size is not None else _as_seen(name, seen)
    outside = [value for value in seen if value not in set(values)]
    if outside:
        raise InputError(
            f"column {name!r}: the value {quote(outside[0])} ({seen[outside[0]]:,} rows) is not "
            f"one of {quote(list(values))}; name all values in categories={{{name!r}: [..]}}, or "
            f"choose a larger domain",
            name="table",
            value=outside[0],
        )
    return values


def _list(name: str, values: Any) -> Categories:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(
            f"categories[{name!r}]={quote(values)} must be a list of all values of the column",
            name="categories",
        )
    return tuple(plain(value) for value in values)


def _as_seen(name: str, seen: Mapping[Value, int]) -> Categories:
    if set(seen) <= {0, 1}:
        return BITS
    broken = [value for value in seen if isinstance(value, float)]
    if broken:
        raise InputError(
            f"column {name!r}: the value {quote(broken[0])} is not a whole number; round or group "
            f"the values first, or name them in categories={{{name!r}: [..]}}",
            name="table",
            value=broken[0],
        )
    return tuple(in_order(seen))


def _no_missing(name: str, seen: Mapping[Value, int]) -> None:
    if None in seen:
        raise InputError(
            f"column {name!r}: {seen[None]:,} values are missing; drop or fill these rows first, "
            f"or make a missing value a category with categories={{{name!r}: [None, ..]}}",
            name="table",
        )


def order_counts(counts: Mapping[Value, int], categories: Categories) -> NDArray[np.float64]:
    """(len(categories),) counts in the order of the categories."""
    return np.array([counts.get(value, 0) for value in categories], dtype=np.float64)


def codes(name: str, values: Sequence[Value], categories: Categories) -> NDArray[np.int64]:
    """The code of each value; InputError that quotes no value (they may be private)."""
    code_of = {value: code for code, value in enumerate(categories)}
    try:
        return np.array([code_of[value] for value in values], dtype=np.int64)
    except KeyError:
        raise InputError(
            f"column {name!r} holds something that is not one of its {len(categories)} categories; "
            f"the domain is that of the fitted distribution, so fit it with categories= that "
            f"name all values",
            name="table",
        ) from None


def only_known(columns: Sequence[str], declared: Mapping[str, Any]) -> None:
    """InputError when categories are declared for something that is not a column."""
    if not isinstance(declared, Mapping):
        raise InputError(
            f"categories={quote(declared)} must be a dict, column -> list of its values",
            name="categories",
        )
    strange = set(declared) - set(columns)
    if strange:
        raise InputError(
            f"categories: {quote(min(strange))} is not one of the columns {', '.join(columns)}",
            name="categories",
        )


def of_column(cells: Cells, place: int) -> dict[Value, int]:
    """How often each value of one column occurs, from joint counts."""
    counts: dict[Value, int] = {}
    for key, count in cells.items():
        counts[key[place]] = counts.get(key[place], 0) + count
    return counts
