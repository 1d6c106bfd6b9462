"""``pandas.Series(..)`` and ``pandas.DataFrame(..)`` of noisy numbers that a program has made.

Lists, dicts, records and arrays: pandas makes the frame of what hides the numbers
(``hidden_entries``), so labels and the order of columns are its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from liptest.values.array import CellStorage, SymbolicArray, numbers_in_line
from liptest.values.pandas.frame_methods import FRAME_METHODS
from liptest.values.pandas.grouped_rows import group_rows
from liptest.values.pandas.hidden_entries import HiddenEntry, hide, hide_entries, move_entries
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.moving_methods import MOVING_FRAMES, MOVING_SERIES
from liptest.values.pandas.of_pandas import PartOfPandas
from liptest.values.pandas.row_frames import make_row_frame, make_row_series
from liptest.values.pandas.series_methods import SERIES_METHODS
from liptest.values.protocol import SymbolicValue, is_symbolic
from liptest.values.records.rows import holds_rows, is_of_rows

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
    return _make("Series", data, dtype, index=index, name=name)


def make_noisy_frame(
    data: Any = None, index: Any = None, columns: Any = None, dtype: Any = None
) -> Any:
    """A frame of columns of which some are noisy numbers, or rows; None for all other data."""
    if holds_rows(data) and dtype is None:
        return make_row_frame(data, index, columns)
    return _make("DataFrame", data, dtype, index=index, columns=columns)


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
