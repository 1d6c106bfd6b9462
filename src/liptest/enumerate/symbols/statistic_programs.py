"""Functions of a statistic of their data, as functions of datasets.

Where each record adds a row of one table to the statistic, it is a sum over the records: an answer,
or several, of data that are symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liptest.enumerate.intercept.draw_logs import hand
from liptest.enumerate.trees.running import RandomFunction
from liptest.statistics.protocol import Statistic, Values
from liptest.statistics.sums import RecordSum
from liptest.values.answers.aligned import AlignedValue
from liptest.values.array import SymbolicArray, fill_array
from liptest.values.protocol import is_symbolic
from liptest.values.read_only import ReadOnlyCells
from liptest.values.records.column import Column, find_column


class OnStatistic:
    """A function ``(value, rng) -> output`` that gets the statistic of a dataset."""

    def __init__(self, function: Any, statistic: Statistic) -> None:
        self._function = function
        self._statistic = statistic
        self._table = _find_table(statistic)

    def __call__(self, data: Any, rng: Any) -> Any:
        column = find_column(data)
        if column is not None and self._table is not None:
            return self._function(sum_answers(column, self._table), rng)
        values = self._statistic.values(np.asarray(data)[None, :])
        return self._function(hand(np.asarray(values[0])), rng)


def on_datasets(function: RandomFunction, statistic: Statistic | None) -> RandomFunction:
    """A function of a statistic, or of all its data, as one of datasets."""
    return function if statistic is None else OnStatistic(function, statistic)


def is_sum_of_rows(statistic: Statistic | None) -> bool:
    """Whether nothing but a sum of one table over the records reaches the function, for certain."""
    return statistic is None or _find_table(statistic) is not None


def _find_table(statistic: Statistic) -> Values | None:
    """What every record adds to a statistic, by its value, where that is certain."""
    from liptest.statistics.trusted import is_trusted

    if not isinstance(statistic, RecordSum) or not is_trusted(statistic):
        return None
    return statistic.table_of_records()


def sum_answers(column: Column, table: Values) -> Any:
    """The sum over symbolic records: an int, or an array of whole numbers that is read only."""
    if len(table) != column.answers.values or column.answers.comes_and_goes:
        column.refuse("a statistic of other records", "use one that fits the domain")
    rows = table.reshape(len(table), -1)[column.table]
    sums = [column.sum_up(rows[:, k], np.int64, "the statistic") for k in range(rows.shape[1])]
    if table.ndim > 1:
        cells = fill_array(sums, (len(sums),), object)
        return SymbolicArray(ReadOnlyCells(column.branching, cells, np.int64))
    (total,) = sums
    return AlignedValue(total.run, total.form, int) if is_symbolic(total) else int(total)
