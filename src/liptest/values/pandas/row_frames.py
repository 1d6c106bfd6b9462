"""Frames of pandas whose rows are treated one by one: columns with one entry for each row.

A ``RowFrame`` holds ``RowArray``s by name, or lists with one entry for each row. What a program
makes of it is a function of one row and of the random numbers of that row: series, other frames,
lists of rows, dicts of columns (docs/theory/records.md, P6). Rows are never left out, ordered or
looked up: how many there are, and where, would tell of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NoReturn

import numpy as np

from liptest.values.array import make_array
from liptest.values.pandas.of_pandas import FrameOfPandas, columns_are_copied
from liptest.values.pandas.row_series import (
    LocatedRows,
    OfPandasRows,
    RowKeys,
    RowSeries,
    entries_of,
    mask_of,
    operate_on_rows,
    refuse_unknown_options,
)
from liptest.values.protocol import ARITHMETIC, Symbolic, find_branching
from liptest.values.records.record_rows import RowByName, RowByPlace
from liptest.values.records.rows import PLAIN, RowArray, RowList, RowRun, RowSelection

_put = object.__setattr__
# Whole numbers up to here are floats, too.
_LARGEST = 2.0**53


class UnseenPlace(Symbolic):
    """Where a row stands: the same program for all rows may not look at it."""

    __slots__ = ("rows",)

    kind = int

    def __init__(self, rows: RowRun) -> None:
        self.rows = rows

    branching = find_branching("rows")

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        self.rows.refuse("a use of where a row stands")

    def concretise(self, use: str) -> NoReturn:
        self.refuse(use)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.refuse("numpy.array()")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> NoReturn:
        self.refuse("a function of NumPy")

    def __array_function__(self, *given: Any) -> NoReturn:
        self.refuse("a function of NumPy")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse(f".{name}")


def _refuse_all(name: str) -> Callable[..., NoReturn]:
    return lambda self, *given: self.refuse(name)


# Of objects, what does not look at their value.
_OF_OBJECTS = frozenset(dir(object)) - {
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__str__"),
    *("__repr__", "__format__"),
}
for _name in {*dir(int), "__len__", "__iter__", "__getitem__", "__contains__", "__complex__"}:
    if _name.startswith("__") and _name not in _OF_OBJECTS and callable(getattr(int, _name, len)):
        setattr(UnseenPlace, _name, _refuse_all(_name))


class RowFrame(OfPandasRows, FrameOfPandas):
    """See the module.

    Parameters
    ----------
    columns
        By name an array, or a list, with one entry for each row; or what makes it when it is read.
    rows
        The rows.
    keys
        What the rows are indexed by, where that is not 0, 1, ..
    """

    __slots__ = ("_columns", "_keys", "_pending", "_taken", "rows")

    is_walked = False

    def __init__(self, columns: dict[str, Any], rows: RowRun, keys: RowArray | None = None) -> None:
        _put(self, "_columns", dict(columns))
        _put(self, "rows", rows)
        _put(self, "_keys", keys)
        _put(self, "_pending", set())
        _put(self, "_taken", {})

    branching = find_branching("rows")

    def refuse(self, use: str, advice: str = "") -> Any:
        self.rows.refuse(f"{use} of a frame with one row for each record")

    def first(self) -> Any:
        """A frame is not walked by rows."""
        self.refuse("zip()")

    @property
    def keys_(self) -> RowArray | None:
        """What the rows are indexed by, where that is not 0, 1, .."""
        return self._keys  # type: ignore[no-any-return]

    def column(self, name: Any) -> Any:
        """The entries of a column: an array, or a list."""
        if name in self._pending:
            self.refuse("a column that was changed in place through a series")
        held = self._columns[name]
        if callable(held) and not isinstance(held, (RowArray, RowList)):
            held = self._columns[name] = held()
        return held

    def entries(self) -> dict[str, Any]:
        """All columns by name."""
        return {name: self.column(name) for name in self._columns}

    def _array(self, name: Any, use: str) -> RowArray:
        held = self.column(name)
        return held if type(held) is RowArray else self.refuse(f"{use} of a column of a list")

    @property
    def plain(self) -> RowFrame:
        """Itself, where the keys are 0, 1, .."""
        return self if self._keys is None else self.refuse("a use after other keys")

    def _made(self, columns: dict[str, Any]) -> RowFrame:
        return RowFrame(columns, self.rows, self._keys)

    # ---- what all rows share

    def __len__(self) -> int:
        return self.rows.count

    def __iter__(self) -> Any:
        return iter(list(self._columns))

    def __contains__(self, item: Any) -> bool:
        return item in self._columns

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._columns)

    @property
    def index(self) -> Any:
        """The keys, of which only how many there are is told."""
        return RowKeys(self) if self._keys is None else self.refuse(".index")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows.count, len(self._columns)

    @property
    def size(self) -> int:
        """Rows times columns."""
        return self.rows.count * len(self._columns)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return self.size == 0

    # ---- columns

    def __getattr__(self, name: str) -> Any:
        is_column = not name.startswith("_") and name in self._columns
        if is_column and not _is_known("DataFrame", name):
            return self._series(name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._columns:
            self[name] = value
        else:
            self.refuse(f"an assignment to .{name}")

    def _series(self, name: str) -> RowSeries:
        array = self._array(name, "a series")
        if not columns_are_copied() and name in self._taken:
            return self._taken[name]  # type: ignore[no-any-return]
        home = partial(self._pending.add, name)
        made = self._taken[name] = RowSeries(array, name, self._keys, home)
        return made

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in self._columns:
            return self._series(key)
        if type(key) is list and len(set(key)) == len(key) and self._columns.keys() >= set(key):
            return self._made({name: self._columns[name] for name in key})
        return self.refuse("an index")

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is not str:
            self.refuse("an assignment to something else than a column")
        self._columns[key] = self.plain.as_column(value)
        self._pending.discard(key)
        self._taken.pop(key, None)

    def as_column(self, value: Any) -> Any:
        """What a column is made of: one entry for each row, or a number that all rows share."""
        held = entries_of(value)
        if type(held) is RowArray and held.ndim == 1:
            return held.copy()
        if type(held) is RowList and held.kind in (list, np.ndarray) and is_plain_entry(held.entry):
            return held
        if isinstance(held, PLAIN) and not isinstance(held, Symbolic):
            return RowArray(np.array([held]), self.rows)
        return self.refuse("a column of what is not made of its rows")

    def assign(self, **columns: Any) -> Any:
        """The frame with further columns."""
        made = self.copy()
        for name, value in columns.items():
            made[name] = value(made) if callable(value) and not _is_made(value) else value
        return made

    def copy(self, deep: bool = True) -> Any:
        """Another frame of the same entries."""
        if deep is not True:
            self.refuse(".copy(deep=False)")
        return self._made(self._columns)

    def drop(self, labels: Any = None, *, axis: Any = 0, columns: Any = None) -> Any:
        """Without some columns."""
        gone = labels if columns is None and axis in (1, "columns") else columns
        names = [gone] if type(gone) is str else gone
        is_known = type(names) in (list, tuple) and all(name in self._columns for name in names)
        if not is_known or (columns is not None and labels is not None):
            self.refuse(".drop")
        return self._made({k: held for k, held in self._columns.items() if k not in names})

    def pop(self, item: Any) -> Any:
        """Take a column out."""
        if item not in self._columns:
            self.refuse(".pop")
        series = RowSeries(self._array(item, ".pop"), item, self._keys)
        del self._columns[item]
        self._taken.pop(item, None)
        return series

    def rename(self, *, columns: Any = None) -> Any:
        """With other names."""
        if type(columns) is not dict or not all(type(name) is str for name in columns.values()):
            self.refuse(".rename")
        made = {columns.get(name, name): held for name, held in self._columns.items()}
        return self._made(made) if len(made) == len(self._columns) else self.refuse(".rename")

    def set_index(self, keys: Any) -> Any:
        """With a column as keys of the rows."""
        if type(keys) is not str or keys not in self._columns:
            self.refuse(".set_index")
        held = {name: array for name, array in self._columns.items() if name != keys}
        return RowFrame(held, self.rows, self._array(keys, ".set_index"))

    def reset_index(self, *, drop: bool = False) -> Any:
        """With the keys 0, 1, .."""
        if drop is not True:
            self.refuse(".reset_index")
        return RowFrame(self._columns, self.rows)

    # ---- entry by entry

    def each(self, make: Callable[[RowArray], Any], use: str) -> RowFrame:
        """A frame of what is made of each column."""
        return self._made({k: make(self.plain._array(k, use)) for k in self._columns})

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Between two numbers."""
        if not all(end is None or isinstance(end, PLAIN) for end in (lower, upper)):
            self.refuse(".clip by columns")
        return self.each(lambda own: RowSeries(own).clip(lower, upper).array, ".clip")

    def round(self, decimals: int = 0) -> Any:
        """To so many places."""
        return self.each(lambda own: RowSeries(own).round(decimals).array, ".round")

    def astype(self, dtype: Any) -> Any:
        """As numbers of another type."""
        return self.each(lambda own: RowSeries(own).astype(dtype).array, ".astype")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout > 1:
            self.refuse(f"numpy.{ufunc.__name__}")
        parts = [self._by_column(operand) for operand in inputs]
        return self._made(
            {
                name: operate_on_rows(self.rows, ufunc, *(part[place] for part in parts))
                for place, name in enumerate(self._columns)
            }
        )

    def _by_column(self, operand: Any) -> list[Any]:
        """What each column meets of an operand: its own, a column of an array, or a number."""
        count = len(self._columns)
        if type(operand) is RowFrame:
            if operand.columns != self.columns:
                self.refuse("arithmetic of frames with other columns")
            return [operand.plain._array(name, "arithmetic") for name in self._columns]
        if type(operand) is RowArray and operand.shape[1:] == (count,):
            return [operand[:, place].copy() for place in range(count)]
        if isinstance(operand, PLAIN) and not isinstance(operand, Symbolic):
            return [operand] * count
        return self.refuse("arithmetic with something else")  # type: ignore[no-any-return]

    @property
    def loc(self) -> Any:
        """Entries by a condition and a column."""
        return LocatedRows(self)

    def locate(self, key: Any) -> Any:
        """``frame.loc[:, name]``, ``frame.loc[condition, name]``."""
        rows, name = key if type(key) is tuple and len(key) == 2 else (None, None)
        if type(rows) is slice and rows == slice(None):
            return self[name]
        mask = mask_of(rows)
        if mask is None or type(name) is not str or name not in self._columns:
            return self.refuse("an index")
        return RowSelection(self.plain._array(name, "an index").copy(), mask)

    def write(self, key: Any, value: Any) -> None:
        """``frame.loc[condition, name] = value``, ``frame.loc[:, name] = value``."""
        rows, name = key if type(key) is tuple and len(key) == 2 else (None, None)
        mask = mask_of(rows)
        if mask is None or type(name) is not str or name not in self._columns:
            self.refuse("an assignment to places")
        if not columns_are_copied() and name in self._taken:
            self.refuse("an assignment to rows, which series may share")
        array = self.plain._array(name, "an assignment").copy()
        array[mask] = entries_of(value)
        self._columns[name] = array
        self._taken.pop(name, None)

    # ---- by rows

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        """As an array of a row of numbers for each record."""
        arrays = [self.plain._array(name, ".to_numpy") for name in self._columns]
        kinds = {array.dtype.kind for array in arrays}
        if not arrays or not (kinds <= {*"if"} or kinds == {"b"}):
            self.refuse(".to_numpy of columns of several types")
        rows = np.column_stack(arrays)
        return rows if dtype is None else rows.astype(dtype)

    @property
    def values(self) -> Any:
        """As an array of a row of numbers for each record."""
        return self.to_numpy()

    def each_row(self) -> RowList:
        """The rows as series, as ``apply`` goes over them."""
        return RowList(self.as_series(".apply"), self.rows)

    def _row(self, use: str) -> dict[str, Any]:
        """By column the kept entry, as Python has it."""
        arrays = {name: self.plain._array(name, use) for name in self._columns}
        return {name: array.tolist().entry for name, array in arrays.items()}

    def itertuples(self, index: bool = True, name: Any = "Pandas") -> Any:
        """The rows as tuples with names."""
        if type(index) is not bool or (name is not None and type(name) is not str):
            self.refuse(".itertuples")
        row = self._row(".itertuples")
        entries = [*([UnseenPlace(self.rows)] if index else []), *row.values()]
        names = (*(["Index"] if index else []), *row)
        made = tuple(entries) if name is None else RowByPlace(names, entries)
        return RowList(made, self.rows)

    def iterrows(self) -> Any:
        """The rows as series, with where they stand."""
        return RowList((UnseenPlace(self.rows), self.as_series(".iterrows")), self.rows)

    def as_series(self, use: str) -> RowByName:
        """The kept row as a series, whose entries have one type."""
        arrays = {name: self.plain._array(name, use) for name in self._columns}
        kinds = {array.dtype.kind for array in arrays.values()}
        if any(type(array.row) is not np.ndarray for array in arrays.values()):
            self.refuse(f"{use} with random numbers in a row")
        if "O" not in kinds and len(kinds) > 1 and "b" in kinds:
            self.refuse(f"{use} of numbers and truth values")
        if "O" in kinds or len(kinds) == 1:
            entries = [a.row.tolist()[0] if "O" in kinds else a.row[0] for a in arrays.values()]
        else:
            entries = [np.float64(array.row[0]) for array in arrays.values()]
        return RowByName(list(arrays), entries)

    def to_dict(self, orient: str = "dict") -> Any:
        """Dicts of rows, or of columns."""
        if orient == "records":
            return RowList(self._row(".to_dict"), self.rows)
        made = {name: self.plain.column(name) for name in self._columns}
        if orient == "list":
            return {name: one.tolist() for name, one in made.items()}
        if orient == "dict":
            lists = {name: one.tolist() for name, one in made.items()}
            return {name: RowList(one.entry, self.rows, dict) for name, one in lists.items()}
        return self.refuse(f".to_dict({orient!r})")

    def pipe(self, function: Any) -> Any:
        """What a function gives of it."""
        return function(self)


def is_plain_entry(entry: Any) -> bool:
    """Whether a column of such entries keeps each of them, whatever the others are."""
    if isinstance(entry, Symbolic):
        return True
    if isinstance(entry, (bool, np.bool_, str)):
        return True
    is_number = isinstance(entry, (int, float, np.integer, np.floating))
    return is_number and abs(float(entry)) <= _LARGEST


def frame_of_rows(entries: dict[str, Any], rows: RowRun, read: Callable[[str], None]) -> RowFrame:
    """The frame of a table of one row, which stands for any; ``read`` is told of each column."""

    def make(name: str) -> RowArray:
        read(name)
        held = entries[name]
        if held is None:
            rows.refuse(f"the column {name!r} of texts where others are real numbers")
        return RowArray(held.copy(), rows)

    return RowFrame({name: partial(make, name) for name in entries}, rows)


def _is_made(value: Any) -> bool:
    return isinstance(value, OfPandasRows) or type(value) in (RowArray, RowList)


def make_row_frame(data: Any, index: Any = None, columns: Any = None) -> RowFrame | None:
    """``pandas.DataFrame`` of a dict of columns of rows; None for all other data."""
    if type(data) is RowFrame and index is None and columns is None:
        return data.copy()  # type: ignore[no-any-return]
    if type(data) is RowArray and data.ndim == 2:
        names = list(columns) if type(columns) in (list, tuple) else None
        if index is not None or names is None or len(names) != data.shape[1]:
            data.refuse("pandas.DataFrame")
        return RowFrame({name: data[:, k].copy() for k, name in enumerate(names)}, data.rows)
    if type(data) is not dict or columns is not None:
        return None
    found = [one for one in data.values() if type(one) in (RowSeries, RowArray, RowList)]
    if not found:
        return None
    rows = found[0].rows
    frame = RowFrame({}, rows)
    if index is not None and type(index) is not RowKeys:
        frame.refuse("pandas.DataFrame with keys")
    for name, value in data.items():
        frame[name] = value
    return frame


def make_row_series(data: Any, index: Any = None, name: Any = None) -> Any:
    """``pandas.Series`` of a column of rows; None for all other data."""
    if type(data) not in (RowSeries, RowArray, RowList):
        return None
    if index is not None and type(index) is not RowKeys:
        data.refuse("pandas.Series with keys")
    if name is not None and type(name) is not str:
        data.refuse("pandas.Series with a name")
    if type(data) is RowSeries:
        return RowSeries(data.plain, data.name if name is None else name)
    if type(data) is RowList:
        if data.kind not in (list, np.ndarray) or not is_plain_entry(data.entry):
            data.refuse("pandas.Series")
        return RowList(data.entry, data.rows, _of_pandas("Series"))
    return RowSeries(data.copy(), name) if data.ndim == 1 else data.refuse("pandas.Series")


def _of_pandas(name: str) -> Any:
    import pandas

    return getattr(pandas, name)


def _is_known(kind: str, name: str) -> bool:
    """Whether objects of pandas have an attribute of that name themselves."""
    return hasattr(_of_pandas(kind), name)


def has_fields(record: Any, fields: Collection[str]) -> bool:
    """Whether to read such attributes of a record, or of a part of one, gives entries of a row.

    Numbers and texts have none that could be changed.
    """
    if type(record) is tuple:
        return all(has_fields(part, fields) for part in record)
    if type(record) is RowByName:
        return not any(_is_known("Series", name) for name in fields)
    return isinstance(record, (*PLAIN, str, Symbolic)) or type(record) is RowByPlace


_KINDS: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (float, np.floating),
    str: (str,),
}


def column_of_entry(entry: Any, rows: RowRun, kinds: set[type]) -> RowArray:
    """The column of entries that a function has made of each row; ``kinds``: of all runs."""
    kind = entry.kind if isinstance(entry, Symbolic) else type(entry)
    plain = next((own for own, known in _KINDS.items() if issubclass(kind, known)), None)
    kinds.add(kind if plain is None else plain)
    if plain is None or len(kinds) > 1 or not is_plain_entry(entry):
        rows.refuse("a column with entries of several types, or not of numbers,")
    cells = np.empty(1, dtype=object)
    cells[0] = entry
    if plain is str:
        return RowArray(cells, rows)
    return RowArray(make_array(rows.branching, cells, plain), rows)


def _frame_operator(ufunc: Any, *, swapped: bool) -> Any:
    if swapped:
        return lambda self, other: ufunc(other, self)
    return lambda self, other: ufunc(self, other)


for _ufunc, _operation in ARITHMETIC.items():
    _name = _operation.__name__.rstrip("_")
    setattr(RowFrame, f"__{_name}__", _frame_operator(_ufunc, swapped=False))
    setattr(RowFrame, f"__r{_name}__", _frame_operator(_ufunc, swapped=True))
RowFrame.__hash__ = None  # type: ignore[assignment]
refuse_unknown_options(RowFrame)
