"""``pandas.Series(..)`` and ``pandas.DataFrame(..)`` of noisy numbers that a program has made.

Lists, dicts, records and arrays: pandas makes the frame of what hides the numbers
(``hidden_entries``), so labels and the order of columns are its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from liptest.values.array import CellStorage, SymbolicArray, numbers_in_line
from liptest.values.pandas.frame_methods import FRAME_METHODS
from liptest.values.pandas.grouped_rows import group_rows
from liptest.values.pandas.hidden_entries import HiddenEntry, hide, hide_entries, move_entries
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.moving_methods import MOVING_FRAMES, MOVING_SERIES
from liptest.values.pandas.of_pandas import PartOfPandas, columns_are_copied
from liptest.values.pandas.record_series import RecordSeries
from liptest.values.pandas.row_frames import make_row_frame, make_row_series
from liptest.values.pandas.series_methods import SERIES_METHODS
from liptest.values.protocol import SymbolicValue, is_symbolic
from liptest.values.records.column import Column
from liptest.values.records.record_storage import is_record_array
from liptest.values.records.rows import holds_rows, is_of_rows

_OF_ARRAYS = (
    "make it of whole columns alone, pandas.DataFrame({'x': data}), and select its rows; or use "
    "numpy's functions of the array: np.bincount(data, minlength=k), data.sum()"
)
_NUMBERS = (int, float, np.int64, np.float64)


class _Noisy(PartOfPandas):
    """What a series or a frame is made of."""

    __slots__ = ()

    described = "noisy numbers"
    advice = "make it of plain keys and a list, a dict or an array of numbers"


def make_noisy_series(
    data: Any = None, index: Any = None, dtype: Any = None, name: Any = None
) -> Any:
    """A series of noisy numbers, or of rows; None for all other data."""
    if is_of_rows(data) and dtype is None:
        return make_row_series(data, index, name)
    if is_record_array(data):
        is_bare = index is None and dtype is None and (name is None or type(name) is str)
        if not columns_are_copied():
            data.storage.refuse("pandas.Series that shares the memory of an array", _OF_ARRAYS)
        return RecordSeries(_copy_whole(data, is_bare=is_bare), name)
    return _make("Series", data, dtype, index=index, name=name)


def make_noisy_frame(
    frame_of: Callable[[dict[str, Any]], Any],
    data: Any = None,
    index: Any = None,
    columns: Any = None,
    dtype: Any = None,
) -> Any:
    """A frame of columns of which some are noisy numbers, or rows; None for all other data.

    Of columns of all records it is what ``frame_of`` makes of series by name.
    """
    if holds_rows(data) and dtype is None:
        return make_row_frame(data, index, columns)
    records = next((part for part in _list_parts(data) if is_record_array(part)), None)
    if records is not None:
        is_bare = index is None and columns is None and dtype is None
        return frame_of(_series_of_records(data, records, is_bare=is_bare))
    return _make("DataFrame", data, dtype, index=index, columns=columns)


def _series_of_records(data: Any, first: Any, *, is_bare: bool) -> dict[str, RecordSeries]:
    """Columns of all records by name, whose keys are 0, 1, .. as those of a table."""
    names = list(data) if type(data) is dict else []
    is_bare = is_bare and bool(names) and all(type(name) is str for name in names)
    if not is_bare or not all(map(is_record_array, data.values())):
        first.storage.refuse("pandas.DataFrame", _OF_ARRAYS)
    series = {}
    for name, one in data.items():
        if not one.storage.has_records_of(first.storage):
            first.storage.refuse("pandas.DataFrame of other records", _OF_ARRAYS)
        series[name] = RecordSeries(_copy_whole(one, is_bare=True), name)
    return series


def _copy_whole(data: SymbolicArray, *, is_bare: bool) -> SymbolicArray:
    """A copy of one number of each record; of some records only pandas has other keys."""
    storage: Any = data.storage
    if not is_bare or type(storage) is not Column or storage.own.ndim > 1:
        storage.refuse("pandas.Series", _OF_ARRAYS)
    if not _begins_at_first(storage):
        storage.refuse("pandas.Series of some of the records", _OF_ARRAYS)
    copied: SymbolicArray = data.copy()
    return copied


def _begins_at_first(storage: Column) -> bool:
    """Whether it is of the first records, in their order, so that their keys are 0, 1, .."""
    book = storage.answers
    is_in_order = type(book.part) in (type(None), range) and not storage.is_selection
    return is_in_order and (book.positions.start, book.positions.step) == (0, 1)


def _make(kind: str, data: Any, dtype: Any, **options: Any) -> Any:
    parts = list(_list_parts(data))
    noisy = [part for part in parts if _is_noisy(part)]
    if not noisy or any(is_symbolic(part) and not _is_noisy(part) for part in parts):
        return None
    maker = getattr(sys.modules["pandas"], kind)
    made = move_entries(_Noisy(noisy[0]), f"pandas.{kind}", maker, _hidden(data), **options)
    return made if dtype is None else made.astype(dtype)


def _list_parts(data: Any) -> Iterator[Any]:
    """What it is made of, lists and dicts taken apart."""
    if type(data) is dict:
        data = list(data.values())
    if type(data) in (list, tuple):
        for one in data:
            yield from _list_parts(one)
        return
    yield data


def _is_noisy(part: Any) -> bool:
    if type(part) is SymbolicArray:
        return type(part.storage) is CellStorage and part.ndim in (1, 2)
    if type(part) in (KeyedSeries, KeyedFrame):
        return True
    return isinstance(part, SymbolicValue) and part.kind in _NUMBERS


def _hidden(data: Any) -> Any:
    if type(data) is SymbolicArray:
        return hide_entries(data.ravel()).reshape(data.shape)
    if isinstance(data, SymbolicValue):
        array = numbers_in_line([data])
        return HiddenEntry(array, 0)
    if type(data) is dict:
        return {key: _hidden(one) for key, one in data.items()}
    if type(data) in (list, tuple):
        return type(data)(map(_hidden, data))
    return hide(data)


def is_line_of_cells(value: Any) -> bool:
    """Whether it is a line of numbers that are kept one by one, as noisy ones are."""
    return type(value) is SymbolicArray and value.ndim == 1 and type(value.storage) is CellStorage


KeyedSeries.methods |= MOVING_SERIES | SERIES_METHODS | {"groupby": group_rows}
KeyedFrame.methods |= MOVING_FRAMES | FRAME_METHODS
