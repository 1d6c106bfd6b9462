"""Functions of data frames, called with datasets of a table: numbers of the rows' values.

Symbolic data become a symbolic frame (``values.frames``). Everything else becomes the pandas frame
that the function gets outside of an analysis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liptest.data.tables import Key, Table
from liptest.errors import InputError
from liptest.values.array import SymbolicArray
from liptest.values.column import Column, column_of
from liptest.values.frames import SymbolicFrame
from liptest.values.real_column import RealColumn
from liptest.values.record_series import KeySeries, RecordSeries


def import_pandas() -> None:
    """Load pandas before a program is analysed; InputError where it is not there."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise InputError(
            "a table reaches its mechanism as a pandas frame: pip install pandas", name="domain"
        ) from None


class OnFrames:
    """A function ``(frame, rng) -> output`` that gets its frame as a dataset of a table."""

    def __init__(self, function: Any, table: Table) -> None:
        self._function = function
        self._table = table

    def __call__(self, data: Any, rng: Any) -> Any:
        return self._function(frame_of(self._table, data), rng)


def frame_of(table: Table, data: Any) -> Any:
    """The frame of a dataset, plain or symbolic."""
    column = column_of(data)
    if column is None:
        return table.frame(np.asarray(data))
    kept = table.holds_row[column.table]
    if not kept.all():
        column = Column(column.branching, column.answers, column.table, kept)
    return SymbolicFrame({name: _series(table, column, name) for name in table.columns})


def _series(table: Table, column: Column, name: str) -> RecordSeries | KeySeries:
    kind, places = table.columns[name], table.places[name][column.table]
    if kind.is_real:
        ends = column.answers.cells.low[name], column.answers.cells.high[name]
        made = column.branching, column.answers, ends, ("real", name), column.kept, name
        return RecordSeries(SymbolicArray(RealColumn(*made)), name)
    if isinstance(kind, Key):
        return KeySeries(column.like(places), name)
    if kind.is_named:
        return RecordSeries(column.like(places), name, tuple(kind.values.tolist()))
    values = kind.values[places]
    values.flags.writeable = False
    return RecordSeries(column.like(values), name)
