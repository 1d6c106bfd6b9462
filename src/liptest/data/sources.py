"""What can be counted: anything with column names and a GROUP BY."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from liptest.data.values import Cells, Value
from liptest.errors import InputError, shown


@runtime_checkable
class TableSource(Protocol):
    """A public table of which only counts are read.

    ``words`` names it in verdicts. ``is_ordered`` says whether its rows have an order, so that
    ``rows`` can tell them.
    """

    words: str
    is_ordered: bool

    def names(self) -> list[str]:
        """Names of all columns."""

    def marginals(self, columns: Sequence[str], limit: int) -> list[dict[Value, int]]:
        """How often each value occurs, column by column; InputError above ``limit`` values."""

    def cells(self, columns: Sequence[str], limit: int) -> Cells:
        """How often each combination of values occurs; InputError above ``limit`` of them."""

    def rows(self, columns: Sequence[str]) -> list[list[Value]]:
        """The values of each column, in the order of the rows; InputError without an order."""


def is_table(table: object) -> bool:
    """Whether it is a source, a path, or a frame: anything but arrays, lists and columns."""
    if isinstance(table, (str, os.PathLike, TableSource)):
        return True
    if isinstance(table, (np.ndarray, list, tuple, range)) or table is None:
        return False
    return hasattr(table, "collect_schema") or hasattr(table, "columns")


def require_array(table: Any) -> None:
    """InputError, in words about tables, for what is not even an array of values."""
    if table is None or isinstance(table, (Mapping, bytes)) or not isinstance(table, Iterable):
        raise _no_table(table)


def as_source(table: Any) -> TableSource:
    """The source of a path or a frame.

    Raises InputError for anything else, and where a package is missing that reads it.
    """
    if isinstance(table, TableSource):
        return table
    from liptest.data.frames import FrameTable, file_table

    if isinstance(table, str) and "://" in table:
        raise InputError(
            "table: that is an address, not a file; for a database give "
            "lt.SqlTable(url, table='clicks') or lt.SqlTable(url, query='select ..')",
            name="table",
        )
    if isinstance(table, (str, os.PathLike)):
        return file_table(Path(table))
    if is_table(table):
        return FrameTable(table)
    raise _no_table(table)


def _no_table(table: Any) -> InputError:
    return InputError(
        f"table={shown(table)} must be a frame (pandas, polars, pyarrow, ..), the path of a CSV "
        f"or Parquet file, or lt.SqlTable(..)",
        name="table",
    )


def chosen(source: TableSource, columns: str | Sequence[str] | None) -> list[str]:
    """Names of the columns that are meant; None means all; InputError names an unknown one."""
    known = source.names()
    if columns is not None and not isinstance(columns, Iterable):
        raise InputError(
            f"columns={shown(columns)} must be the name of a column or a list of names",
            name="columns",
        )
    wanted = known if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if name not in known:
            raise InputError(
                f"columns: {source.words} has no column {shown(name)}; it has: "
                f"{', '.join(map(str, known[:20]))}",
                name="columns",
                value=name,
            )
    if not wanted or len(set(wanted)) < len(wanted):
        raise InputError(
            f"columns={shown(wanted)} must name at least one column, none twice", name="columns"
        )
    return wanted
