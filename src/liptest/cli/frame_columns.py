"""Columns of a data frame as a command line says them: age:0..120, region:north|south, region."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.cli.tables import (
    check_column,
    is_number_cell,
    read_column,
    read_private_columns,
    read_whole_numbers,
    to_floats,
)
from liptest.data.real_tables import Real
from liptest.data.sources import PARQUET, as_source
from liptest.data.tables import Category, ColumnKind, Integer, Key, Table
from liptest.errors import ConfigError, InputError, quote

_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
_REAL = re.compile(rf"real:{_NUMBER}\.\.{_NUMBER}")
_MEANT_RANGE = re.compile(r"[\[(]?(-?[0-9]{1,18}) ?[-:,] ?([0-9]{1,18})[\])]?")
_RANGE = re.compile(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})(?::([0-9]{1,18}))?")


def column_kind(name: str, said: str | list[str]) -> ColumnKind:
    """What a column holds: 0..120, 0..100:5, real, real:0..1.5, key, or names."""
    if isinstance(said, list):
        return Category(said)
    if said == "key":
        return Key()
    if said == "real":
        return Real()
    real = _REAL.fullmatch(said)
    if real is not None:
        return Real(float(real[1]), float(real[2]))
    written = _RANGE.fullmatch(said)
    if written is None and "|" not in said:
        raise ConfigError(
            f"domain.fields: {name}={quote(said)} must be a range, 0..120 or 0..100:5, names, "
            f"north|south, real numbers, real or real:0..1.5, or whose row it is, key"
            f"{_meant_range(said)}",
            key="domain.fields",
        )
    if written is None:
        return Category(said.split("|"))
    return Integer(int(written[1]), int(written[2]), int(written[3] or 1))


def _meant_range(said: str) -> str:
    """What 0-120, 0:120 or [0, 120] is meant to say; empty for anything else."""
    meant = _MEANT_RANGE.fullmatch(said.strip())
    return f"; write {meant[1]}..{meant[2]}" if meant is not None else ""


def says_what_it_holds(column: str) -> bool:
    """Whether it is a name with a range or with names behind it."""
    said = column.partition(":")[2]
    is_kind = said in ("key", "real") or _REAL.fullmatch(said) or _RANGE.fullmatch(said)
    return "|" in said or bool(is_kind)


def is_meant_to_say(said: str) -> bool:
    """Whether what stands behind the name of a column is meant as what it holds."""
    words = ("int", "integer", "float", "number", "str", "string", "text", "bool", "category")
    return bool(re.match(r"[-+(\[]?\.?[0-9]", said)) or said.lower() in words


def read_cells(path: Path, name: str) -> list[Any]:
    """One column of a table."""
    if path.suffix.lower() in PARQUET:
        return list(as_source(path).rows([name])[0])
    return list(read_column(path, name))


def read_names(path: Path | None, name: str) -> list[str]:
    """The different texts that a column of a public table holds, in order."""
    if path is None:
        raise _wrong(
            f"{name}: say what it holds, {name}:0..120 or {name}:north|south, or name a public "
            f"table that has it, --table people.csv"
        )
    cells = read_cells(path, name)
    if any(is_number_cell(cell) for cell in cells):
        raise _wrong(
            f"{name}: {path} has numbers there; say a range, {name}:0..120, or all names, "
            f"{name}:north|south"
        )
    if not all(isinstance(cell, str) and cell.strip() for cell in cells):
        raise _wrong(
            f"{name}: {path} has empty cells there, or some that are not text; say all names, "
            f"{name}:north|south"
        )
    return sorted(set(cells))


def check_inside(path: Path, name: str, said: str | list[str]) -> None:
    """Raise ConfigError where a public table has values that were not said."""
    if isinstance(said, list):
        return
    kind = column_kind(name, said)
    if isinstance(kind, Key):
        return
    cells = read_cells(path, name)
    if isinstance(kind, Real):
        numbers = [float(cell) if is_number_cell(cell) else math.nan for cell in cells]
        outside = sum(not kind.lower <= number <= kind.upper for number in numbers)
        if outside:
            raise _wrong(f"{name}:{said}: {path} has {_rows(outside)} with something else")
        return
    if not kind.is_named:
        cells = read_whole_numbers(np.array(cells, dtype=object), path, name=name).tolist()
    allowed = set(kind.values.tolist())
    outside = sum(cell not in allowed for cell in cells)
    if outside:
        raise _wrong(
            f"{name}:{said}: {path} has {_rows(outside)} with something else; say all that may "
            f"occur, or clip the table"
        )


def _rows(number: int) -> str:
    return f"{number:,} row{'' if number == 1 else 's'}"


def _wrong(what: str) -> ConfigError:
    return ConfigError(f"distribution.columns: {what}", key="distribution.columns")


def check_private_columns(path: Path, table: Table, column: str | None, rows: str | None) -> None:
    """Raise InputError as far as the first line of a private file tells; no entry is read."""
    if column is not None:
        raise InputError(
            f"--private-column {quote(column)}: a table has all its columns, "
            f"{', '.join(table.columns)}; leave it out",
            name="private_column",
        )
    if path.suffix.lower() in PARQUET:
        if rows is not None:
            raise InputError("--private-rows is for CSV files; leave it out", name="private_rows")
        return
    for name in table.columns:
        check_column(path, name, rows)


def read_private_frame(path: Path, table: Table, rows: str | None) -> dict[str, NDArray[Any]]:
    """The columns of a private CSV or Parquet file; no message quotes an entry.

    Raises InputError where a column is missing, or holds something else where numbers are meant.
    """
    names = list(table.columns)
    if path.suffix.lower() in PARQUET:
        columns: list[Any] = [read_cells(path, name) for name in names]
    else:
        columns = read_private_columns(path, names, rows)
    return frame_of_cells(dict(zip(names, columns, strict=True)), table, path)


def frame_of_cells(cells: dict[str, Any], table: Table, path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a table as they are declared; no message quotes an entry."""
    frame: dict[str, NDArray[Any]] = {}
    for name, kind in table.columns.items():
        entries: NDArray[Any] = np.array(cells[name], dtype=object)
        if isinstance(kind, Real):
            entries = _as_floats(entries, path, name)
        elif isinstance(kind, Integer):
            entries = read_whole_numbers(entries, path, private=True, name=name)
        frame[name] = entries
    return frame


def _as_floats(entries: NDArray[Any], path: Path, name: str) -> NDArray[np.float64]:
    try:
        return to_floats(entries)
    except (TypeError, ValueError):
        pass
    # Outside of the except clause: no context carries an entry on.
    raise InputError(
        f"{path}: column {quote(name)} holds what is not a number; a real column has a number in "
        f"each row",
        name="private",
    )
