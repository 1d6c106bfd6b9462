"""Functions of data frames, called with datasets of a table: numbers of the rows' values.

Symbolic data become a symbolic frame (``values.pandas.frames``, ``values.polars.polars_frames``).
Everything else becomes the frame of pandas or polars that the function gets outside of an analysis.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from liptest.data.tables import Key, Table
from liptest.enumerate.intercept.analysis_session import active
from liptest.errors import MechanismError
from liptest.values.array import SymbolicArray
from liptest.values.pandas.frames import SymbolicFrame
from liptest.values.pandas.record_series import KeySeries, RecordSeries
from liptest.values.polars.polars_frames import PolarsFrame
from liptest.values.reals.real_column import RealColumn
from liptest.values.records.column import Column, find_column
from liptest.values.records.marginals import Marginal


class OnFrames:
    """A function ``(frame, rng) -> output`` that gets its frame as a dataset of a table."""

    def __init__(self, function: Any, table: Table, library: str) -> None:
        self._function = function
        self._table = table
        self._library = library

    def __call__(self, data: Any, rng: Any) -> Any:
        held = [data]
        del data  # nobody but the program holds it (``post_processing``)
        return self._function(make_frame(self._table, held.pop(), self._library), rng)


def make_frame(table: Table, data: Any, library: str = "pandas") -> Any:
    """The frame of a dataset, plain or symbolic."""
    column = find_column(data)
    if column is None:
        if library == "polars":
            _check_process()
            return table.frame(np.asarray(data), library)
        return _make_known_frame(table, np.asarray(data)).copy()
    marginals = column.answers.marginals
    if marginals is None or column.own is not marginals.every:
        kept = table.holds_row[column.table]
        if not kept.all():
            column = Column(column.branching, column.answers, column.table, kept)
    made = SymbolicFrame if library == "pandas" else PolarsFrame
    return made({name: _series(table, column, name) for name in table.columns})


#: The last dataset that became a frame of pandas: one is run many times.
_LAST: list[tuple[Table, bytes, Any]] = []


def _make_known_frame(table: Table, dataset: Any) -> Any:
    """Nobody but its caller gets it: what a program gets is a copy."""
    key = dataset.dtype.char.encode() + dataset.tobytes()
    if not _LAST or _LAST[0][0] is not table or _LAST[0][1] != key:
        _LAST[:] = [(table, key, table.frame(dataset))]
    return _LAST[0][2]


#: The process that made frames of polars.
_OF_POLARS: set[int] = set()


def _check_process() -> None:
    """MechanismError in a process that was forked after polars had been used, where it hangs."""
    process = os.getpid()
    if not _OF_POLARS or process in _OF_POLARS:
        _OF_POLARS.add(process)
        return
    error = MechanismError(
        "polars hangs in processes that are forked after it was used: use one process "
        "(--workers 1), or an executor that spawns them"
    )
    session = active()
    if session is not None:
        session.tree.fail(error)
    raise error


def _series(table: Table, column: Column, name: str) -> RecordSeries | KeySeries:
    kind, marginals = table.columns[name], column.answers.marginals
    if marginals is not None and column.own is marginals.every:
        column = _by_kinds(table, column, marginals.of([name]))
    places = table.places[name][column.own]
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


def _by_kinds(table: Table, column: Column, marginal: Marginal | None) -> Column:
    """The values of rows, by kinds of rows where there are few, without slots that hold none."""
    rows = column.own if marginal is None else marginal.rows
    kept = rows >= table.first
    made = column.branching, column.answers, rows, None if kept.all() else kept
    return Column(*made, marginal=marginal)
