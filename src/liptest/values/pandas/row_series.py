"""Series of pandas with one entry for each row, where rows are treated one by one.

A ``RowSeries`` is a ``RowArray`` under a name: what pandas does entry by entry is done to the row
that is kept (docs/theory/records.md, P6). The keys of a series are those of the frame, 0, 1, .., or
another column of rows, after which the series is only answered.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce, wraps
from inspect import signature
from types import FunctionType
from typing import Any

import numpy as np

from liptest.values.pandas.of_pandas import (
    PartOfPandas,
    SeriesOfPandas,
    are_between,
    columns_are_copied,
)
from liptest.values.protocol import ARITHMETIC, COMPARISONS, find_branching, is_symbolic
from liptest.values.records.rows import (
    PLAIN,
    OfRows,
    RowArray,
    RowList,
    RowRun,
    RowSelection,
    is_of_rows,
)

_TYPES = tuple(map(np.dtype, (np.int64, np.float64, np.bool_)))
_LOGICAL = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
_EQUALITY = (np.equal, np.not_equal)
# Whose results at 0, or of two truth values, are pandas' own.
_DIVIDING = (np.floor_divide, np.remainder, np.divmod)
_CALCULATING = frozenset(ARITHMETIC) - {*_LOGICAL, np.add, np.multiply}
# Of NumPy, what gives a series of a series.
_WRAPPED = (np.clip, np.round, np.around)


class OfPandasRows(OfRows):
    """What stands for a series or a frame with one row for each record."""

    __slots__ = ()

    is_of_pandas = True

    rows: RowRun


class RowKeys(OfPandasRows, PartOfPandas):
    """``frame.index`` of 0, 1, ..: how many there are, and nothing else."""

    __slots__ = ()

    is_walked = False

    def __len__(self) -> int:
        return len(self._of)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self._of)

    @property
    def shape(self) -> tuple[int]:
        """How many rows there are."""
        return (len(self._of),)

    def refuse(self, use: str, advice: str = "") -> Any:
        self._of.refuse(f"{use} of the keys")

    def __getitem__(self, place: Any) -> Any:
        self.refuse("an index")


class RowSeries(OfPandasRows, SeriesOfPandas):
    """See the module.

    Parameters
    ----------
    array
        The entries, one for each row.
    name
        As pandas names it, a text or None.
    keys
        What it is indexed by, where that is not 0, 1, ..
    home
        Of a column that was taken from a frame: what tells the frame of a change in place.
    """

    __slots__ = ("_home", "_keys", "_name", "array")

    def __init__(
        self,
        array: RowArray,
        name: Any = None,
        keys: RowArray | None = None,
        home: Callable[[], None] | None = None,
    ) -> None:
        _put(self, "array", array)
        _put(self, "_name", name)
        _put(self, "_keys", keys)
        _put(self, "_home", home)

    branching = find_branching("array")

    @property
    def rows(self) -> RowRun:  # type: ignore[override]
        """Those that it has one entry for each of."""
        return self.array.rows  # type: ignore[no-any-return]

    @property
    def keys_(self) -> RowArray | None:
        """What it is indexed by, where that is not 0, 1, .."""
        return self._keys  # type: ignore[no-any-return]

    def refuse(self, use: str, advice: str = "") -> Any:
        self.rows.refuse(f"{use} of a series with one entry for each row")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "name" and (value is None or type(value) is str):
            _put(self, "_name", value)
        elif name == "index":
            _put(self, "_keys", self._find_keys(value))
        else:
            self.refuse(f"an assignment to .{name}")

    def _find_keys(self, value: Any) -> RowArray | None:
        if type(value) is RowKeys:
            return None
        keys = value.array if type(value) is RowSeries else value
        return keys if type(keys) is RowArray and keys.ndim == 1 else self.refuse("keys")

    @property
    def plain(self) -> RowArray:
        """The entries, where the keys are 0, 1, .."""
        return self.array if self._keys is None else self.refuse("a use after other keys")  # type: ignore[no-any-return]

    def wrapped(self, array: Any) -> RowSeries:
        """Another series of the same name."""
        return RowSeries(array, self._name)

    # ---- what all rows share

    def __len__(self) -> int:
        return self.rows.count

    @property
    def name(self) -> Any:
        """As pandas names it."""
        return self._name

    @property
    def index(self) -> Any:
        """The keys, of which only how many there are is told."""
        return RowKeys(self) if self._keys is None else self.refuse(".index")

    @property
    def shape(self) -> tuple[int]:
        """How many entries there are."""
        return (self.rows.count,)

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self.rows.count

    @property
    def ndim(self) -> int:
        """One axis."""
        return 1

    @property
    def empty(self) -> bool:
        """Whether there are no rows."""
        return self.rows.count == 0

    # ---- entry by entry

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout > 1:
            self.refuse(f"numpy.{ufunc.__name__}")
        return self.wrapped(operate_on_rows(self.rows, ufunc, *(map(entries_of, inputs))))

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        made = function(*map(_arrays_in, arguments), **_arrays_in(options))
        is_series = function in _WRAPPED and arguments[:1] and type(arguments[0]) is RowSeries
        return self.wrapped(made) if is_series else made

    def __neg__(self) -> Any:
        return np.negative(self)

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    def abs(self) -> Any:
        """Absolute values."""
        return np.absolute(self)

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Between two numbers."""
        return self.wrapped(np.clip(self._numbers(".clip"), lower, upper))

    def round(self, decimals: int = 0) -> Any:
        """To so many places."""
        return self.wrapped(np.round(self._numbers(".round"), decimals))

    def _numbers(self, use: str) -> RowArray:
        if self.plain.dtype not in _TYPES:
            self.refuse(f"{use} of texts")
        return self.plain

    def astype(self, dtype: Any, copy: Any = None) -> Any:
        """As numbers of another type."""
        array = self._numbers(".astype")
        kind = (
            {"int": "int64", "float": "float64"}.get(dtype, dtype) if type(dtype) is str else dtype
        )
        if type(kind) not in (str, type, *map(type, _TYPES)) or kind not in (
            int,
            float,
            bool,
            *_TYPES,
            *map(str, _TYPES),
            np.int64,
            np.float64,
        ):
            self.refuse(".astype")
        is_plain = type(array.row) is np.ndarray
        if np.dtype(kind).kind == "i" and is_plain and not np.isfinite(array.row).all():
            self.refuse(".astype(int) of numbers that are not finite")
        return self.wrapped(array.astype(kind))

    def isin(self, values: Any) -> Any:
        """Whether each is one of some constants."""
        if type(values) not in (list, tuple, set, frozenset) or not values:
            self.refuse(".isin")
        return reduce(operator.or_, (self == value for value in values))

    def between(self, left: Any, right: Any, inclusive: str = "both") -> Any:
        """Whether each lies between two numbers."""
        return are_between(self, left, right, inclusive)

    def where(self, cond: Any, other: Any = None) -> Any:
        """Its own entries where a condition holds, and others elsewhere."""
        return self._chosen(cond, self, other, ".where")

    def mask(self, cond: Any, other: Any = None) -> Any:
        """Other entries where a condition holds, and its own elsewhere."""
        return self._chosen(cond, other, self, ".mask")

    def _chosen(self, condition: Any, one: Any, other: Any, use: str) -> Any:
        sides = [entries_of(one), entries_of(other)]
        kinds = {_kind(side) for side in sides}
        if not (kinds <= {*"if"} or (len(kinds) == 1 and kinds <= {*"bO"})):
            self.refuse(f"{use} of entries of two types")
        return self.wrapped(np.where(condition_of(self, condition), *sides))

    def map(self, arg: Any, na_action: Any = None) -> Any:
        """What a dict has for each entry; functions are seen in the source."""
        row = self.plain.row
        if type(arg) is not dict or na_action is not None or type(row) is not np.ndarray:
            self.refuse(".map that was not seen in the source")
        [entry] = row.tolist()
        values = np.asarray(list(arg.values()))
        values = values if values.dtype in _TYPES else np.array(list(arg.values()), dtype=object)
        places = {key: place for place, key in enumerate(arg)}
        if entry not in places or not all(isinstance(one, (*PLAIN, str)) for one in values.flat):
            self.refuse(".map with a dict that has no entry for each value")
        return self.wrapped(self.plain.treat_row(lambda: values[places[entry] :][:1].copy()))

    # ---- parts and copies

    def first(self) -> Any:
        """The kept entry, as iterating gives it."""
        return self.plain.tolist().entry

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        """As an array."""
        if dtype is not None:
            return self.plain.astype(dtype)
        return self.plain.copy() if copy is True else self.plain.view(lambda row: row)

    @property
    def values(self) -> Any:
        """As an array."""
        return self.to_numpy()

    def tolist(self) -> RowList:
        """As a list."""
        return self.plain.tolist()

    to_list = tolist

    def copy(self, deep: bool = True) -> Any:
        """Another series of the same entries."""
        return RowSeries(self.array.copy(), self._name, self._keys)

    def rename(self, index: Any = None) -> Any:
        """Under another name."""
        if index is not None and type(index) is not str:
            self.refuse(".rename")
        return RowSeries(self.array, index, self._keys)

    def reset_index(self, *, drop: bool = False) -> Any:
        """With the keys 0, 1, .."""
        return RowSeries(self.array, self._name) if drop is True else self.refuse(".reset_index")

    def pipe(self, function: Any) -> Any:
        """What a function gives of it."""
        return function(self)

    def __iter__(self) -> Any:
        self.refuse("an iteration that was not seen in the source")

    def __getitem__(self, key: Any) -> Any:
        mask = mask_of(key)
        if mask is None:
            return self.refuse("an index")
        return RowSelection(self.plain.copy(), mask)

    def __setitem__(self, key: Any, value: Any) -> None:
        mask = mask_of(key)
        if mask is None:
            self.refuse("an assignment to places")
        if self._home is not None:
            if not columns_are_copied():
                self.refuse("an assignment to a column that its frame may share")
            _put(self, "array", self.plain.copy())
        self.plain[mask] = entries_of(value)

    def written(self, ufunc: Any, other: Any) -> RowSeries:
        """``series += other``: all that have this series see it, before pandas 3 its frame too."""
        made = ufunc(self, other)
        if self._home is not None and not columns_are_copied():
            if not self.array.is_alone:
                self.refuse("a change in place of what an array may share")
            self._home()
        _put(self, "array", made.array)
        return self

    @property
    def loc(self) -> Any:
        """Entries by a condition."""
        return LocatedRows(self)

    def locate(self, key: Any) -> Any:
        """``series.loc[condition]``."""
        return self[key]

    def write(self, key: Any, value: Any) -> None:
        """``series.loc[condition] = value``."""
        self[key] = value


class LocatedRows(PartOfPandas):
    """``.loc``: by a condition of each row, and the name of a column."""

    __slots__ = ()

    def refuse(self, use: str, advice: str = "") -> Any:
        return self._of.refuse(f"{use} by .loc")

    def __getitem__(self, key: Any) -> Any:
        return self._of.locate(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._of.write(key, value)


_put = object.__setattr__


def _kind(side: Any) -> str:
    """The kind of type of an operand, as NumPy names it; texts are objects; "" for others."""
    if isinstance(side, (*PLAIN, str)) and not is_symbolic(side):
        side = np.asarray(side)
    is_array = type(side) is RowArray or type(side) is np.ndarray
    return side.dtype.kind.replace("U", "O") if is_array else ""


def entries_of(value: Any) -> Any:
    """The array of a series of rows; all else as it is."""
    return value.plain if type(value) is RowSeries else value


def mask_of(value: Any) -> RowArray | None:
    """The truth value of each row; None for all else."""
    array = entries_of(value)
    is_mask = type(array) is RowArray and array.dtype == np.bool_ and array.ndim == 1
    return array if is_mask else None


def condition_of(series: RowSeries, value: Any) -> RowArray:
    """The truth value of each row, or a refusal."""
    mask = mask_of(value)
    return series.refuse("a condition") if mask is None else mask


def _arrays_in(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_arrays_in, value))
    if type(value) is dict:
        return {key: _arrays_in(entry) for key, entry in value.items()}
    return entries_of(value)


def operate_on_rows(rows: RowRun, ufunc: Any, *operands: Any) -> RowArray:
    """What pandas makes of an operation entry by entry."""
    if any(map(is_symbolic, operands)):
        rows.refuse("a random number that all rows share")
    arrays = [one for one in operands if type(one) is RowArray]
    kinds = list(map(_kind, operands))
    if any(array.ndim != 1 for array in arrays):
        rows.refuse("arithmetic of a series with rows of several entries")
    if "O" in kinds:
        return _compare_texts(rows, ufunc, operands)
    if ufunc in _DIVIDING:
        divisor = operands[-1]
        if is_of_rows(divisor) or np.ndim(divisor) or not divisor:
            rows.refuse(f"numpy.{ufunc.__name__} by what may be 0")
    if ufunc in _CALCULATING and set(kinds) == {"b"}:
        rows.refuse(f"numpy.{ufunc.__name__} of truth values")
    if ufunc in (np.negative, np.power, np.float_power) and "b" in kinds:
        rows.refuse(f"numpy.{ufunc.__name__} of truth values")
    made = ufunc(*operands)
    # Of a whole number and a truth value pandas makes a truth value.
    is_mixed = ufunc in _LOGICAL and set(kinds) == {"i", "b"}
    return made.astype(bool) if is_mixed else made  # type: ignore[no-any-return]


def _compare_texts(rows: RowRun, ufunc: Any, operands: tuple[Any, ...]) -> RowArray:
    entries = [one.row[0] if type(one) is RowArray else one for one in operands]
    if ufunc not in _EQUALITY or any(map(is_symbolic, entries)):
        rows.refuse(f"numpy.{ufunc.__name__} of texts")
    if not all(type(entry) is str for entry in entries):
        rows.refuse("a comparison of texts with something else")
    [array, *_] = [one for one in operands if type(one) is RowArray]
    is_equal = (entries[0] == entries[1]) == (ufunc is np.equal)
    return array.treat_row(lambda: np.array([is_equal]))  # type: ignore[no-any-return]


def refuses_options(name: str, method: Any) -> Any:
    """A method that refuses options which it does not know."""
    known = signature(method)

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            known.bind(self, *arguments, **options)
        except TypeError:
            return self.refuse(f".{name} with these options")
        return method(self, *arguments, **options)

    return call


def refuse_unknown_options(kind: type) -> None:
    """All methods of a class that pandas has, too."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(kind, name, refuses_options(name, method))


def _forward(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: ufunc(self, other)


def _backward(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: ufunc(other, self)


def _in_place(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: self.written(ufunc, other)


for _ufunc, _operation in (*ARITHMETIC.items(), *COMPARISONS.items()):
    _name = _operation.__name__.rstrip("_")
    setattr(RowSeries, f"__{_name}__", _forward(_ufunc))
    if _ufunc in ARITHMETIC:
        setattr(RowSeries, f"__r{_name}__", _backward(_ufunc))
        setattr(RowSeries, f"__i{_name}__", _in_place(_ufunc))
_METHODS = ("add", "sub", "mul", "truediv", "div", "eq", "ne", "lt", "le", "gt", "ge")
_BY_NAME = {op.__name__.rstrip("_"): one for one, op in (*ARITHMETIC.items(), *COMPARISONS.items())}
for _name in _METHODS:
    setattr(RowSeries, _name, _forward(_BY_NAME["truediv" if _name == "div" else _name]))
RowSeries.__hash__ = None  # type: ignore[assignment]
refuse_unknown_options(RowSeries)
