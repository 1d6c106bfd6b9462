"""Columns of tables in files: CSV, .npy and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.sources import PARQUET
from liptest.errors import InputError, quote


def read_column(
    path: Path, column: str | None, rows: str | None = None, *, private: bool = False
) -> NDArray[Any]:
    """One column of a CSV file, or a whole .npy or JSON list; text where it is not whole numbers.

    ``rows`` is "first:stop", both may be empty. With ``private`` no message quotes a value.

    Raises
    ------
    InputError
        No such file or column, an empty table, rows that are not a slice or not all there.
    """
    check_table(path)
    if column is not None and path.suffix in (".npy", ".json"):
        raise InputError(f"column={quote(column)}: {path} has no columns; leave it out")
    if path.suffix in (".npy", ".json"):
        values = _array(path)
    else:
        values = _csv_column(path, column, private)
    those = _slice(rows)
    _check_ends(those, len(values), rows)
    values = values[those]
    if len(values) == 0:
        raise InputError(f"{path}: the table has no rows{_of(rows)}", name="table")
    return values


def check_table(path: Path) -> None:
    """Raise InputError where there is no such file, or one of a spreadsheet program."""
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise InputError(
            f"{path}: it is a workbook of a spreadsheet program; save the sheet as CSV (UTF-8)",
            name="table",
        )
    if not path.is_file():
        what = "it is a folder; name a file in it" if path.is_dir() else "there is no such file"
        raise InputError(f"{path}: {what}", name="table")


def _of(rows: str | None) -> str:
    return f" among {rows}" if rows else ", only a header"


def read_whole_numbers(
    values: NDArray[Any], path: Path, *, private: bool = False, name: str | None = None
) -> NDArray[np.int64]:
    """The column as whole numbers, or InputError (that quotes nothing if ``private``)."""
    try:
        numbers = to_floats(values)
    except (TypeError, ValueError, OverflowError):
        numbers = np.full(1, np.nan)
    if not np.all(np.isfinite(numbers)) or np.any(numbers != np.floor(numbers)):
        example = "" if private else f" (for example {quote(_not_whole(values))})"
        column = "the column" if name is None else f"column {quote(name)}"
        raise InputError(
            f"{path}: {column} holds something that is not a whole number{example}; code the "
            f"records as 0, 1, ..; real numbers are columns of a data frame, income:real:0..9e4",
            name="column",
        )
    if np.any(np.abs(numbers) >= 2.0**53):
        raise InputError(f"{path}: the column holds numbers of 2**53 and more", name="column")
    return numbers.astype(np.int64)


def _not_whole(values: NDArray[Any]) -> Any:
    for value in values.tolist():
        try:
            if not is_number_cell(value) or float(value) != int(float(value)):
                return value
        except (TypeError, ValueError, OverflowError):
            return value
    return None


def _array(path: Path) -> NDArray[Any]:
    try:
        data = np.load(path) if path.suffix == ".npy" else np.array(json.loads(path.read_text()))
    except (ValueError, OSError, EOFError, RecursionError, TypeError):
        raise InputError(f"{path}: it is not a readable {path.suffix} file", name="table") from None
    if data.ndim != 1:
        raise InputError(f"{path}: shape={data.shape}; give one dataset, a flat list", name="table")
    return data


def read_private_columns(path: Path, columns: Sequence[str], rows: str | None) -> list[list[str]]:
    """Columns of a private CSV file in this order, which is read once; no message quotes a value.

    Raises InputError as ``read_column`` does.
    """
    check_table(path)
    if path.suffix in (".npy", ".json"):
        raise InputError(f"{path} has no columns; give a CSV or a Parquet file")
    those = _slice(rows)
    whole = _csv_columns(path, columns, private=True)
    _check_ends(those, len(whole[0]), rows)
    found = [column[those] for column in whole]
    if not found[0]:
        raise InputError(f"{path}: the table has no rows{_of(rows)}", name="table")
    return found


def _csv_column(path: Path, column: str | None, private: bool) -> NDArray[Any]:
    [found] = _csv_columns(path, [column], private=private)
    return np.array(found, dtype=object)


def _csv_columns(path: Path, columns: Sequence[str | None], *, private: bool) -> list[list[str]]:
    try:
        # A mark at the beginning, as spreadsheets write it, is not part of the first name.
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            names = next(reader, [])
            chosen = [_find_named(names, path, column, private) for column in columns]
            found: list[list[str]] = [[] for _ in columns]
            for row in reader:
                _check_length(row, names, path, None if private else reader.line_num)
                for place, own in zip(chosen, found, strict=True):
                    own.append(row[place])
            return found
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"{path}: it cannot be read as a CSV file in UTF-8 ({type(error).__name__}); "
            f"save it as one",
            name="table",
        ) from None


def check_column(path: Path, column: str | None, rows: str | None = None) -> None:
    """Raise InputError as far as the name of a private file and its first line tell.

    Nothing else of it is read, and nothing of it is kept.
    """
    _slice(rows)
    if path.suffix in (".npy", ".json"):
        if column is not None:
            raise InputError(f"column={quote(column)}: {path} has no columns; leave it out")
        return
    _find_named(_first_line(path), path, column, private=True)


def check_has_column(path: Path, column: str | None) -> None:
    """The same of a file with several columns, of which none need be named: they may be a table."""
    if column is not None or path.suffix.lower() in (".npy", ".json"):
        check_column(path, column)
        return
    if path.suffix.lower() in PARQUET:
        return
    names = _first_line(path)
    if len(names) < 2 or all(map(is_number_cell, names)):
        check_column(path, column)


def _first_line(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return next(csv.reader(stream), [])
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise InputError(
            f"{path}: it is not a CSV file in UTF-8 ({type(error).__name__})"
        ) from None


def _check_length(row: list[str], names: list[str], path: Path, line: int | None) -> None:
    """Of a row that has as many cells as there are names; of a private file no line is named."""
    if len(row) == len(names):
        return
    what = "a row is empty" if not row else "a row has more or fewer cells than there are names"
    if line is not None:
        cells = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
        what = f"line {line} has {cells if row else 'nothing'}, and there are {len(names)} names"
    raise InputError(f"{path}: {what}; every row is a record", name="table")


def _find_named(names: list[str], path: Path, column: str | None, private: bool) -> int:
    """Which of the columns it is."""
    if not names:
        raise InputError(f"{path}: the table is empty", name="table")
    if column is None and all(map(is_number_cell, names)):
        raise InputError(
            f"{path}: its first line holds numbers, which would be taken for names; write the "
            f"names of the columns above them",
            name="table",
        )
    if column is None and len(names) == 1:
        return 0
    if column is None or names.count(column) != 1:
        raise InputError(_unknown(names, path, column, private), name="column")
    return names.index(column)


def _unknown(names: list[str], path: Path, column: str | None, private: bool) -> str:
    """What is said of a column that a file does not have once."""
    # Without a header the names are the first record.
    shape = f"it has {len(names)} columns" if private else f"it has: {', '.join(names[:20])}"
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        shape += "; columns are separated by commas, so save it with commas"
    elif not private and any(map(is_number_cell, names)):
        shape += "; its first line must hold the names of the columns"
    if column is None:
        return f"column: {path}: say which of its columns, {shape}"
    near = [] if private else get_close_matches(column.lower(), map(str.lower, names), 1)
    meant = next((f"did you mean {name!r}? " for name in names if name.lower() in near), "")
    what = "two such columns" if column in names else "no such column"
    return f"column={quote(column)}: {path} has {what}; {'' if column in names else meant}{shape}"


def is_number_cell(cell: Any) -> bool:
    """Whether it is a number, as tables write them: 1_5 is Python's for 15."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return not (isinstance(cell, str) and "_" in cell)


def to_floats(cells: NDArray[Any]) -> NDArray[np.float64]:
    """All cells as floats; ValueError and its like where one is not a number."""
    if any(isinstance(cell, str) and "_" in cell for cell in cells.tolist()):
        raise ValueError
    return cells.astype(np.float64)


def _check_ends(those: slice, count: int, rows: str | None) -> None:
    """Raise InputError where a slice would silently give fewer rows; how many there are is kept."""
    if max(abs(end) for end in (those.start or 0, those.stop or 0)) > count:
        raise InputError(
            f"rows={quote(rows)} names rows that the file does not have; to take all up to the "
            f"last one leave the stop out, as in 0:",
            name="rows",
        )


def _slice(rows: str | None) -> slice:
    try:
        return parse_rows(rows)
    except ValueError:
        raise InputError(
            f"rows={quote(rows)} must be first:stop, for example 0:5000", name="rows"
        ) from None


def parse_rows(rows: str | None) -> slice:
    """Of first:stop; all rows of "". ValueError for anything else."""
    first, colon, stop = (rows or ":").partition(":")
    if not colon:
        raise ValueError
    return slice(int(first) if first else None, int(stop) if stop else None)
