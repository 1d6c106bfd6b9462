"""A frame of polars joined to a public one: rows get entries that are a function of their key."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from liptest.values.pandas.record_series import RecordSeries
from liptest.values.protocol import is_symbolic

_ADVICE = (
    "join the rows with a public frame that has each key once: frame.join(PUBLIC, on='region', "
    "how='left', maintain_order='left')"
)
_WAYS = ("left", "inner", "semi", "anti")
_ORDERS = ("left", "left_right")
#: Types that a column of a table has, too; arithmetic with others wraps.
_TYPES = ("Int64", "Float64", "String", "Boolean")


def find_joined_columns(
    frame: Any, series: dict[str, Any], other: Any, on: Any, how: Any, order: Any
) -> dict[str, Any]:
    """The columns by name after ``frame.join(other, on=.., how=..)``."""
    on = on[0] if isinstance(on, list) and len(on) == 1 else on
    key = series.get(on) if isinstance(on, str) else None
    if type(key) is not RecordSeries or how not in _WAYS or order not in _ORDERS:
        return frame.refuse(".join", _ADVICE)  # type: ignore[no-any-return]
    if not _is_public(other) or on not in other.columns:
        return frame.refuse(".join with what is not a public frame", _ADVICE)  # type: ignore[no-any-return]
    keys, added = other[on].to_list(), [name for name in other.columns if name != on]
    wanted = "String" if key.names is not None else {"i": "Int64"}.get(key.array.dtype.kind)
    if str(other.schema[on]) != wanted or None in keys:
        return frame.refuse(".join of keys of another type", _ADVICE)  # type: ignore[no-any-return]
    if how in ("semi", "anti"):
        is_there = key.isin(keys)
        return dict(frame.those(is_there if how == "semi" else ~is_there)._series)
    if len(set(keys)) < len(keys) or set(added) & set(series):
        return frame.refuse(".join with a key, or a name of a column, twice", _ADVICE)  # type: ignore[no-any-return]
    rows = frame.those(key.isin(keys))._series if how == "inner" else series
    return dict(rows) | {
        name: _look_up(rows[on], name, keys, other[name], frame.refuse) for name in added
    }


def _look_up(
    key: RecordSeries, name: str, keys: list[Any], entries: Any, refuse: Callable[..., Any]
) -> Any:
    """By the key of each record the entry of a public column."""
    values = entries.to_list()
    are_known = str(entries.dtype) in _TYPES and None not in values
    if not are_known or not all(math.isfinite(value) for value in values if type(value) is float):
        return refuse(".join with entries that are missing, or of another type", _ADVICE)
    found = key.look_up(dict(zip(keys, values, strict=True)), ".join")
    return RecordSeries(found.array, name, found.names)


def _is_public(other: Any) -> bool:
    kind = type(other)
    return not is_symbolic(other) and (kind.__name__, kind.__module__.partition(".")[0]) == (
        "DataFrame",
        "polars",
    )
