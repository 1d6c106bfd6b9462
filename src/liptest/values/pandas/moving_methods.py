"""Methods of series and frames of noisy numbers that move entries, each as pandas has it.

``hidden_entries`` says why these are followed. A method is in the list where what it does follows
from labels, names and places alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.pandas.hidden_entries import move_entries
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.of_pandas import HasEntries, PartOfPandas
from liptest.values.protocol import concretise_all, is_symbolic

_OF_BOTH = (
    *("reset_index", "rename", "rename_axis", "set_axis", "sort_index", "head", "tail", "reindex"),
    *("take", "drop", "squeeze", "copy", "add_prefix", "add_suffix", "swaplevel", "xs", "filter"),
    *("reorder_levels", "droplevel", "unstack", "truncate", "shift", "transpose"),
)
_OF_SERIES = (*_OF_BOTH, "repeat", "get")
_OF_FRAMES = (*_OF_BOTH, "set_index", "melt", "pivot", "stack", "merge", "join")


def _moving(name: str) -> Callable[..., Any]:
    def method(owner: Any, *given: Any, **options: Any) -> Any:
        def call(own: Any, *more: Any, **titled: Any) -> Any:
            return getattr(own, name)(*more, **titled)

        return move_entries(owner, f".{name}", call, owner, *given, **options)

    return method


def list_tuples(frame: KeyedFrame, index: bool = True, name: Any = "Pandas") -> Iterator[Any]:
    """``.itertuples``."""

    def call(own: Any) -> list[Any]:
        return list(own.itertuples(index=index, name=name))

    return iter(move_entries(frame, ".itertuples", call, frame))


def list_rows(frame: KeyedFrame) -> Iterator[Any]:
    """``.iterrows``."""
    return iter(move_entries(frame, ".iterrows", lambda own: list(own.iterrows()), frame))


def make_dict(frame: KeyedFrame, orient: str = "dict", **options: Any) -> Any:
    """``.to_dict`` in all orientations."""

    def call(own: Any) -> Any:
        return own.to_dict(orient, **options)

    return move_entries(frame, ".to_dict", call, frame)


def take_entries(owner: Any, key: Any, use: str = "an index", how: str = "") -> Any:
    """``owner[key]``, or that of ``.iloc`` or ``.loc``: conditions are asked, entries are moved."""
    key = plain_key(owner, key, use)

    def call(own: Any, key: Any) -> Any:
        return (getattr(own, how) if how else own)[key]

    return move_entries(owner, use, call, owner, key)


def plain_key(owner: Any, key: Any, use: str) -> Any:
    """A key of which conditions of the entries are asked, one by one."""
    if callable(key) and not isinstance(key, (KeyedSeries, KeyedFrame)) and not is_symbolic(key):
        key = key(owner)
    if type(key) is tuple:
        return tuple(plain_key(owner, one, use) for one in key)
    if type(key) is KeyedSeries:
        if key.keys_ != owner.keys_ or key.array.dtype != np.bool_:
            owner.refuse(f"{use} with a series that is not a condition of the same keys")
        return np.array([bool(one) for one in key.tolist()], dtype=bool)
    if type(key) is SymbolicArray or is_symbolic(key):
        return concretise_all(key, use)
    return key


class Indexer(PartOfPandas):
    """``.iloc``, ``.loc`` and the like of a series or a frame of noisy numbers."""

    __slots__ = ("_how",)

    described = "a series or a frame of sums and noise"
    advice = "name keys or places, or a condition of its own entries"

    def __init__(self, of: Any, how: str) -> None:
        super().__init__(of)
        self._how = how

    def __getitem__(self, key: Any) -> Any:
        return take_entries(self._of, key, f".{self._how}", self._how)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._how == "iloc" or type(self._of) is KeyedFrame:
            self._write(key, value)
        else:
            self._of[key] = value

    def _write(self, key: Any, value: Any) -> None:
        use = f"an assignment to .{self._how}"
        rows, columns = key if type(key) is tuple and len(key) == 2 else (key, None)
        owner = self._of
        if type(owner) is KeyedSeries:
            write_places(owner, self._places(owner, rows, use), value, use)
            return
        names = list(owner.columns_)
        name = names[columns] if self._how == "iloc" and type(columns) is int else columns
        if type(key) is not tuple or type(name) not in (str, int) or name not in names:
            owner.refuse(use, 'name one of its columns: frame.loc[key, "n"] = 0')
        column = owner[name]
        if type(column) is not KeyedSeries:
            owner.refuse(f"{use} of constants")
        if callable(rows):
            rows = rows(owner)
        write_places(column, self._places(column, rows, use), value, use)
        owner[name] = column

    def _places(self, series: KeyedSeries, rows: Any, use: str) -> Any:
        if type(rows) is KeyedSeries or is_symbolic(rows) or callable(rows):
            return rows
        import pandas

        numbered = pandas.Series(range(len(series)), index=pandas.Index(list(series.keys_)))
        try:
            found = getattr(numbered, self._how)[rows]
        except Exception as error:
            return series.refuse(f"{use} (pandas raised {type(error).__name__})")
        return np.isin(np.arange(len(series)), found)


def write_places(series: KeyedSeries, chosen: Any, value: Any, use: str) -> None:
    """``series[condition] = value``: of the type that there is."""
    kind = series.array.dtype.kind
    letter = np.dtype(value.kind if is_symbolic(value) else type(value)).kind
    fits = is_symbolic(value) or type(value) in (int, float, np.int64, np.float64)
    if not fits or letter not in ("i", kind) or kind not in "if":
        series.refuse(f"{use} of another type")
    if type(chosen) is not np.ndarray:
        series.array = series.mask(chosen, value).array
        return
    series.array = np.where(chosen, value, series.array)


def join_frames(objs: Any, **options: Any) -> Any:
    """``pandas.concat`` of series and frames of which one is noisy; None for all else."""
    parts = list(objs.values()) if type(objs) is dict else objs
    if type(parts) not in (list, tuple):
        return None
    keyed = [one for one in parts if type(one) in (KeyedSeries, KeyedFrame)]
    if not keyed:
        return None
    concat = sys.modules["pandas"].concat
    return move_entries(keyed[0], "pandas.concat", concat, objs, **options)


def merge_frames(left: Any, right: Any, *given: Any, **options: Any) -> Any:
    """``pandas.merge`` of frames of which one is noisy; None for all else."""
    keyed = [one for one in (left, right) if type(one) in (KeyedSeries, KeyedFrame)]
    if not keyed:
        return None
    merge = sys.modules["pandas"].merge
    return move_entries(keyed[0], "pandas.merge", merge, left, right, *given, **options)


#: By name.
MOVING_SERIES = {name: _moving(name) for name in _OF_SERIES}
MOVING_FRAMES = {name: _moving(name) for name in _OF_FRAMES}
MOVING_FRAMES |= {"itertuples": list_tuples, "iterrows": list_rows, "to_dict": make_dict}
HasEntries.taken, HasEntries.indexer = staticmethod(take_entries), Indexer
KeyedSeries.written = staticmethod(write_places)
