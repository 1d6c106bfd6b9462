"""Frames of any library that narwhals knows, and CSV and Parquet files through duckdb."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from liptest.data.values import Cells, Value, add_up, extra, plain, too_many
from liptest.errors import InputError, shown

_COUNT = "liptest count"
_PARQUET = (".parquet", ".pq")
# Nothing about the form is guessed but the types, and those from all rows. The name of a folder,
# such as day=1, is no column.
_READ_CSV = (
    "SELECT * FROM read_csv(?, header = true, skip = 0, delim = ',', quote = '\"', "
    "escape = '\"', comment = '', sample_size = -1, hive_partitioning = false)"
)
_SEPARATORS = (";", "\t", "|")
# What duckdb takes for a pattern of file names.
_PATTERN = re.compile(r"[*?\[]")


class FrameTable:
    """A frame: pandas, polars, pyarrow, or another that narwhals accepts, lazy ones too.

    A lazy frame (polars, duckdb, ..) is never read whole: its backend counts.
    """

    def __init__(
        self,
        frame: Any,
        *,
        words: str = "",
        is_ordered: bool | None = None,
        connection: Any = None,
    ) -> None:
        self._nw = extra("narwhals", "a frame")
        try:
            self._frame = self._nw.from_native(frame)
        except TypeError:
            raise InputError(
                f"table: narwhals knows no frames of type {type(frame).__name__}; give a pandas, "
                f"polars or pyarrow frame, a path, or lt.SqlTable(..)",
                name="table",
            ) from None
        except self._nw.exceptions.DuplicateError:
            raise InputError(
                f"columns={shown(list(frame.columns))}: a name stands there twice; rename the "
                f"columns first",
                name="columns",
            ) from None
        # A relation of duckdb does not keep its connection alive in every version.
        self._connection = connection
        eager = isinstance(self._frame, self._nw.DataFrame)
        self.is_ordered = eager if is_ordered is None else is_ordered
        self.words = words or f"a {type(frame).__module__.partition('.')[0]} frame"

    def names(self) -> list[str]:
        """Names of all columns."""
        found = list(self._frame.collect_schema().names())
        if not all(isinstance(name, str) for name in found):
            raise InputError(
                f"columns={shown(found)}: the names must be texts; rename the columns first",
                name="columns",
            )
        return found

    def marginals(self, columns: Sequence[str], limit: int) -> list[dict[Value, int]]:
        """How often each value occurs, column by column; InputError above ``limit`` values."""
        found = [self.cells([name], limit) for name in columns]
        return [{value: count for (value,), count in cells.items()} for cells in found]

    def cells(self, columns: Sequence[str], limit: int) -> Cells:
        """How often each combination of values occurs; InputError above ``limit`` of them."""
        count = _COUNT
        while count in columns:
            count += "s"
        # One more than allowed is enough to know that there are too many.
        found = self._asked(
            lambda frame: (
                frame.group_by(*columns)
                .agg(self._nw.len().alias(count))
                .select(*columns, count)
                .head(limit + 1)
            )
        )
        if len(found) > limit:
            raise too_many(columns, limit)
        return add_up(found.iter_rows())

    def rows(self, columns: Sequence[str]) -> list[list[Value]]:
        """The values of each column, in the order of the rows; InputError without an order."""
        if not self.is_ordered:
            raise InputError(
                f"table: {self.words} has no order of its rows; collect it in the order that is "
                f"meant",
                name="table",
            )
        whole = self._asked(lambda frame: frame.select(*columns))
        return [[plain(value) for value in whole[name].to_list()] for name in columns]

    def _asked(self, ask: Callable[[Any], Any]) -> Any:
        try:
            answer = ask(self._frame)
            return answer.collect() if isinstance(answer, self._nw.LazyFrame) else answer
        except Exception as error:  # whatever the library behind the frame raises
            raise InputError(
                f"table: {self.words} could not be counted: {type(error).__name__}: "
                f"{shown(str(error), 200)}; choose columns of numbers, texts or dates",
                name="table",
            ) from None


def file_table(path: Path) -> FrameTable:
    """A CSV or Parquet file, counted by duckdb; InputError when it cannot be read."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", name="table")
    duckdb = extra("duckdb", "reading a file")
    # A file of its own where large tables may spill, none of the settings of the process.
    connection = duckdb.connect(":memory:")
    # This file alone, whatever its name.
    exact = _PATTERN.sub(lambda found: f"[{found[0]}]", str(path))
    try:
        if path.suffix.lower() in _PARQUET:
            relation = connection.read_parquet(exact, hive_partitioning=False)
        else:
            # Read once: the types of a CSV file are known only at its end.
            connection.execute(f"CREATE TEMP TABLE source AS {_READ_CSV}", [exact])
            relation = connection.table("source")
    except duckdb.Error as error:
        raise InputError(
            f"{path}: duckdb cannot read it: {shown(_told(str(error)), 200)}; give a CSV file in "
            f"UTF-8 with a header, commas and as many values in each row, or a Parquet file",
            name="table",
        ) from None
    _require_commas(path, relation.columns)
    # duckdb keeps the order of a file's rows (preserve_insertion_order, its default).
    return FrameTable(relation, words=path.name, is_ordered=True, connection=connection)


def _told(error: str) -> str:
    """What duckdb says of the file; its hints on settings and the row itself are left out."""
    left_out = ("Original Line", "The search space")
    return " ".join(line for line in error.splitlines()[:3] if not line.startswith(left_out))


def _require_commas(path: Path, columns: Sequence[str]) -> None:
    """InputError when the only column of a file is a row of others."""
    other = [mark for mark in _SEPARATORS if len(columns) == 1 and mark in columns[0]]
    if other and path.suffix.lower() not in _PARQUET:
        raise InputError(
            f"{path}: its one column is called {shown(columns[0])}; separate the columns with "
            f"commas, not with {other[0]!r}",
            name="table",
        )
