"""``pandas.Series(..)`` and ``pandas.DataFrame(..)`` of noisy numbers that a program has made.

Their keys are plain, so they are series and frames with known keys.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np

from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.row_frames import make_row_frame, make_row_series
from liptest.values.records.rows import holds_rows, is_of_rows

_PLAIN_KEYS = (list, tuple, range)
_ENTRIES = (str, bool, int, float, np.generic)


def make_noisy_series(data: Any, index: Any = None, name: Any = None) -> Any:
    """A series of an array of noisy numbers, or of rows; None for all other data."""
    if is_of_rows(data):
        return make_row_series(data, index, name)
    if not is_line_of_cells(data):
        return None
    keys = list_row_keys(index, len(data))
    return None if keys is None else KeyedSeries(keys, data, _name(name))


def make_noisy_frame(data: Any, index: Any = None, columns: Any = None) -> Any:
    """A frame of columns of which some are noisy numbers, or rows; None for all other data."""
    if holds_rows(data):
        return make_row_frame(data, index, columns)
    if type(data) is SymbolicArray and data.ndim == 2 and type(data.storage) is CellStorage:
        names = list_row_keys(columns, data.shape[1])
        data = None if names is None else {one: data[:, k] for k, one in enumerate(names)}
        columns = None
    if type(data) is not dict or not data or columns is not None:
        return None
    if not any(is_line_of_cells(one) or type(one) is KeyedSeries for one in data.values()):
        return None
    keyed = [one.keys_ for one in data.values() if type(one) is KeyedSeries]
    lengths = {len(one) for one in data.values() if isinstance(one, Sized)}
    if len(lengths) != 1 or (keyed and (index is not None or len(set(keyed)) > 1)):
        return None
    keys = keyed[0] if keyed else list_row_keys(index, lengths.pop())
    found = {name: _as_column(one, keys, named=bool(keyed)) for name, one in data.items()}
    made = {name: column for name, column in found.items() if column is not None}
    if keys is None or len(made) < len(found):
        return None
    return KeyedFrame(keys, made, None if keyed else {})


def is_line_of_cells(value: Any) -> bool:
    """Whether it is a line of numbers that are kept one by one, as noisy ones are."""
    return type(value) is SymbolicArray and value.ndim == 1 and type(value.storage) is CellStorage


def list_row_keys(index: Any, length: int) -> list[Any] | None:
    """The keys of so many rows; None where they are not plain, or too few."""
    if index is None:
        return list(range(length))
    keys = list(index) if type(index) in _PLAIN_KEYS else None
    is_plain = keys is not None and all(isinstance(key, _ENTRIES) for key in keys)
    return keys if is_plain and keys is not None and len(keys) == length else None


def _as_column(value: Any, keys: Any, *, named: bool) -> KeyedSeries | None:
    """A column of these keys; beside series plain lists follow the order of pandas too."""
    if type(value) is KeyedSeries:
        return value
    if keys is None or named:
        return None
    if type(value) in (list, tuple) and all(isinstance(one, _ENTRIES) for one in value):
        kinds = {type(one) for one in value}
        return KeyedSeries(keys, np.array(value, dtype=object if str in kinds else None), {})
    is_plain = type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "biuf"
    return KeyedSeries(keys, value, {}) if is_plain or is_line_of_cells(value) else None


def _name(name: Any) -> dict[str, Any] | None:
    if name is None:
        return {}
    return {"name": name} if type(name) is str else None
