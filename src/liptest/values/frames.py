"""Data frames as symbols: columns of records by name, as pandas hands them to a program.

A ``RecordSeries`` has an entry for each record: a column (``column``), or the places of names in a
list of categories, which can be compared only. What sums it up is an answer. A ``KeySeries`` says
whose a record is: ``drop_duplicates`` and ``groupby(key).head(k)`` bound what one user contributes.
A ``SymbolicFrame`` is several of the same records. Sums by group, and counts of values, are answers
by key; which keys occur depends on the data, so that they must be named: ``.reindex(KEYS,
fill_value=0)`` or ``.get(key, 0)``. What pandas does beyond that is refused, with the line of the
program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.branching import Branching
from liptest.values.column import column_of
from liptest.values.column_functions import looked_up
from liptest.values.keyed_series import SERIES, KeyedSeries
from liptest.values.protocol import ARITHMETIC, COMPARISONS, Symbolic, is_symbolic

ADVICE = (
    "treat all rows alike (arithmetic, clip, comparisons of columns, frame[condition]), then sum "
    "or count, by group with .reindex(KEYS, fill_value=0)"
)
_NO_NAME = -1


class _OfFrame(Symbolic):
    """What stands for an object of pandas."""

    __slots__ = ()

    described = "a data frame, of which only sums over all rows are followed,"
    advice = ADVICE

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        self.refuse(f".{name}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        self.refuse(f"numpy.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        self.refuse(f"numpy.{function.__name__}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self.refuse("numpy.array()")

    def __iter__(self) -> Any:
        self.refuse("iter()")

    def __bool__(self) -> bool:
        return bool(self.refuse("bool()"))

    def __contains__(self, item: Any) -> bool:
        return bool(self.refuse("in"))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.refuse("an assignment", "make another frame with .assign(), or a name of its own")

    __hash__ = None  # type: ignore[assignment]

    def refuse(self, use: str, advice: str = ADVICE) -> Any:
        """End the analysis."""
        return _Words(self.branching, advice).refuse(use)


class _Words(Symbolic):
    described = _OfFrame.described

    def __init__(self, branching: Branching, advice: str) -> None:
        self.branching = branching
        self.advice = advice


def _operator(operation: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
    def operate(self: RecordSeries, other: Any) -> Any:
        return self.calculated(operation, other, swapped=swapped)

    return operate


def _method(operation: Callable[[Any, Any], Any]) -> Any:
    def operate(self: RecordSeries, other: Any) -> Any:
        return self.calculated(operation, other, swapped=False)

    return operate


class RecordSeries(_OfFrame):
    """One column of a frame.

    Parameters
    ----------
    array
        A column; of names their places in ``names``.
    name
        Of the column.
    """

    __slots__ = ("array", "name", "names")

    def __init__(
        self, array: SymbolicArray, name: Any = None, names: tuple[str, ...] | None = None
    ) -> None:
        self.array = array
        self.name = name
        self.names = names

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.Series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self.array.branching

    def like(self, array: Any) -> Any:
        """Other numbers of the same records."""
        return RecordSeries(array, self.name)

    def numbers(self, use: str) -> SymbolicArray:
        """Its column; names are refused."""
        if self.names is not None:
            self.refuse(f"{use} of names", "compare them with ==, != or .isin([..])")
        return self.array

    # ---- operators

    def calculated(self, operation: Any, other: Any, *, swapped: bool) -> Any:
        """An operator, entry by entry."""
        if self.names is not None:
            return self._compared(operation, other)
        partner = other.numbers("an operator") if type(other) is RecordSeries else other
        if isinstance(partner, (list, tuple, dict, str)) or _is_of_pandas(partner):
            return self.refuse(f"an operator with a {type(other).__name__}")
        pair = (partner, self.array) if swapped else (self.array, partner)
        return self.like(operation(*pair))

    def _compared(self, operation: Any, other: Any) -> Any:
        if operation not in (operator.eq, operator.ne) or not isinstance(other, str):
            return self.refuse("an operator of names", "compare them with ==, != or .isin([..])")
        assert self.names is not None
        place = self.names.index(other) if other in self.names else _NO_NAME
        return self.like(operation(self.array, place))

    __add__, __radd__ = _operator(operator.add), _operator(operator.add, swapped=True)
    __sub__, __rsub__ = _operator(operator.sub), _operator(operator.sub, swapped=True)
    __mul__, __rmul__ = _operator(operator.mul), _operator(operator.mul, swapped=True)
    __truediv__ = _operator(operator.truediv)
    __rtruediv__ = _operator(operator.truediv, swapped=True)
    __floordiv__, __mod__ = _operator(operator.floordiv), _operator(operator.mod)
    __pow__ = _operator(operator.pow)
    __and__, __rand__ = _operator(operator.and_), _operator(operator.and_, swapped=True)
    __or__, __ror__ = _operator(operator.or_), _operator(operator.or_, swapped=True)
    __xor__ = _operator(operator.xor)
    __lt__, __le__ = _operator(operator.lt), _operator(operator.le)
    __gt__, __ge__ = _operator(operator.gt), _operator(operator.ge)
    __eq__ = _operator(operator.eq)
    __ne__ = _operator(operator.ne)
    lt, le, gt, ge = (_method(one) for one in (operator.lt, operator.le, operator.gt, operator.ge))
    eq, ne = _method(operator.eq), _method(operator.ne)
    add, sub, mul = _method(operator.add), _method(operator.sub), _method(operator.mul)
    div = truediv = _method(operator.truediv)

    def __neg__(self) -> Any:
        return self.like(-self.numbers("an operator"))

    def __invert__(self) -> Any:
        return self.like(~self.numbers("an operator"))

    def __abs__(self) -> Any:
        return self.abs()

    # ---- entry by entry

    def abs(self) -> Any:
        """Of each entry."""
        return self.like(np.abs(self.numbers(".abs")))

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each entry within two constants."""
        bounds = [one for one in (lower, upper) if one is not None]
        if not all(isinstance(one, (int, float, np.number)) for one in bounds):
            return self.refuse(".clip with bounds that are not constants")
        if len(bounds) == 2 and lower > upper:
            lower, upper = upper, lower  # as pandas has them
        return self.like(np.clip(self.numbers(".clip"), lower, upper))

    def between(self, left: Any, right: Any) -> Any:
        """Whether each entry is within two constants, ends included."""
        return (self >= left) & (self <= right)

    def isin(self, values: Any) -> Any:
        """Whether each entry is one of some constants."""
        if is_symbolic(values) or isinstance(values, (str, dict)):
            return self.refuse(".isin", "give it a list of constants")
        known = list(values)
        if self.names is not None:
            known = [self.names.index(one) for one in known if one in self.names]
        elif not all(isinstance(one, (int, float, np.number)) for one in known):
            return self.refuse(".isin", "give it a list of numbers")
        found = np.less(self.array, self.array)  # of no record
        for one in known:
            found = np.logical_or(found, np.equal(self.array, one))
        return self.like(found)

    def map(self, values: Any) -> Any:
        """Numbers by a dict that has every name."""
        if self.names is None or type(values) is not dict or set(self.names) - set(values):
            return self.refuse(".map", "give it a dict that has a number for every name")
        found = looked_up(np.array([values[one] for one in self.names]), self.array)
        return self.refuse(".map") if found is None else self.like(found)

    def where(self, condition: Any, other: Any) -> Any:
        """Its entries where a condition holds, else others."""
        return self._chosen(condition, self, other, ".where")

    def mask(self, condition: Any, other: Any) -> Any:
        """Its entries where a condition does not hold, else others."""
        return self._chosen(condition, other, self, ".mask")

    def _chosen(self, condition: Any, first: Any, second: Any, use: str) -> Any:
        if type(condition) is not RecordSeries:
            return self.refuse(f"{use} with a condition that is not one of the rows")
        pair = [one.numbers(use) if type(one) is RecordSeries else one for one in (first, second)]
        return self.like(np.where(condition.array, *pair))

    def astype(self, dtype: Any) -> Any:
        """Numbers of another type."""
        return self.like(self.numbers(".astype").astype(dtype))

    def round(self, decimals: int = 0) -> Any:
        """Each entry rounded."""
        return self.like(np.round(self.numbers(".round"), decimals))

    def fillna(self, value: Any) -> Any:
        """Itself: nothing is missing in a table of declared columns."""
        return self

    def dropna(self) -> Any:
        """Itself, as ``fillna``."""
        return self

    def to_numpy(self) -> Any:
        """The column as an array."""
        return self.numbers(".to_numpy")

    @property
    def values(self) -> Any:
        """The column as an array."""
        return self.numbers(".values")

    def tolist(self) -> Any:
        """The column as a list."""
        return self.numbers(".tolist").tolist()

    def __iter__(self) -> Any:
        return iter(self.numbers("iter()").tolist())

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not RecordSeries:
            return self.refuse("an index")
        return RecordSeries(self.array[key.numbers("an index")], self.name, self.names)

    @property
    def loc(self) -> Any:
        """Rows by a condition."""
        return _Located(self)

    # ---- answers

    def sum(self) -> Any:
        """The answer."""
        return np.sum(self.numbers(".sum"))

    def mean(self) -> Any:
        """The answer, where the number of rows is public."""
        return np.mean(self.numbers(".mean"))

    def count(self) -> Any:
        """How many records there are: nothing is missing."""
        return self.array.storage.count()  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return self.count()  # type: ignore[no-any-return]

    @property
    def size(self) -> Any:
        """How many records there are."""
        return self.count()

    def value_counts(self) -> Any:
        """How many records have each value."""
        return ByKey(self, self, lambda chosen: chosen.count())

    def dot(self, other: Any) -> Any:
        """The sum of products."""
        if self.array.storage.leads or (type(other) is RecordSeries and other.array.storage.leads):
            return self.refuse(".dot of real columns", "(left * right).sum()")
        return (self * other).sum()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return self.refuse(f"numpy.{ufunc.__name__}")
        plain = [_array(one, f"numpy.{ufunc.__name__}") for one in inputs]
        return self.like(ufunc(*plain))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        use = f"numpy.{function.__name__}"
        found = function(*(_array(one, use) for one in inputs), **options)
        alike = function in (np.clip, np.round, np.around)
        return self.like(found) if alike and type(found) is SymbolicArray else found


SERIES.add(RecordSeries)


class KeySeries(_OfFrame):
    """The column that says whose a record is; ``array`` is of the same records."""

    __slots__ = ("array", "name")

    described = "the column of users, of which only the number of rows may be bounded,"
    advice = "bound what each contributes: frame.groupby(key).head(k), frame.drop_duplicates(key)"

    def __init__(self, array: SymbolicArray, name: str) -> None:
        self.array = array
        self.name = name

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.Series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self.array.branching

    def refuse(self, use: str, advice: str = advice) -> Any:
        """End the analysis."""
        return super().refuse(use, advice)

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not RecordSeries:
            return self.refuse("an index")
        return KeySeries(self.array[key.numbers("an index")], self.name)

    def bounded(self, most: int) -> KeySeries:
        """Of each user the first rows."""
        return KeySeries(_bounded(self.array, most), self.name)

    def count(self) -> Any:
        """How many records there are."""
        return self.array.storage.count()  # type: ignore[attr-defined]

    def nunique(self) -> Any:
        """How many users there are."""
        return self.bounded(1).count()

    def __len__(self) -> int:
        return self.count()  # type: ignore[no-any-return]


def _bounded(array: SymbolicArray, most: int) -> SymbolicArray:
    found: SymbolicArray = array.storage.bounded(most)  # type: ignore[attr-defined]
    return found


def _array(value: Any, use: str) -> Any:
    return value.numbers(use) if type(value) is RecordSeries else value


def _is_of_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas"


def _refused(operation: Any) -> Any:
    def operate(self: _OfFrame, other: Any) -> Any:
        return self.refuse(f"an operator ({operation.__name__})")

    return operate


for _operation in (*ARITHMETIC.values(), *COMPARISONS.values()):
    _name = _operation.__name__.rstrip("_")
    for _method_name in (f"__{_name}__", f"__r{_name}__"):
        setattr(_OfFrame, _method_name, _refused(_operation))


class _Located(_OfFrame):
    """``.loc`` of a frame or a series."""

    __slots__ = ("_of",)

    kind = object

    def __init__(self, of: Any) -> None:
        self._of = of

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._of.branching  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        if type(key) is tuple and len(key) == 2 and type(self._of) is SymbolicFrame:
            rows, columns = key
            found = self._of if isinstance(rows, slice) and rows == slice(None) else self._of[rows]
            return found[columns]
        if type(key) is not RecordSeries:
            return self.refuse(".loc")
        return self._of[key]


class SymbolicFrame(_OfFrame):
    """Several columns of the same records, by name."""

    __slots__ = ("_series",)

    def __init__(self, series: dict[str, Any]) -> None:
        self._series = series

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.DataFrame

    @property
    def _first(self) -> Any:
        return next(iter(self._series.values()))

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._first.branching  # type: ignore[no-any-return]

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._series)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._series:
            return self._series[name]
        return super().__getattr__(name)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._series:
                raise KeyError(key)
            return self._series[key]
        if isinstance(key, list) and all(one in self._series for one in key):
            return SymbolicFrame({one: self._series[one] for one in key})
        if type(key) is RecordSeries:
            return SymbolicFrame({name: one[key] for name, one in self._series.items()})
        return self.refuse("an index")

    def __contains__(self, item: Any) -> bool:
        return item in self._series

    @property
    def loc(self) -> Any:
        """Rows by a condition."""
        return _Located(self)

    def to_numpy(self) -> Any:
        """A row of numbers for each record."""
        if any(type(one) is KeySeries for one in self._series.values()):
            return self.refuse(".to_numpy of users", "name its columns: frame[['age']].to_numpy()")
        columns = [column_of(one.numbers(".to_numpy")) for one in self._series.values()]
        tables = [one.table for one in columns if one is not None]
        first = columns[0]
        if first is None or len(tables) < len(columns) or any(one.is_off for one in columns if one):
            return self.refuse(".to_numpy")
        kinds = np.result_type(*tables)
        return first.like(np.stack(tables, axis=1).astype(kinds))

    @property
    def values(self) -> Any:
        """A row of numbers for each record."""
        return self.to_numpy()

    def assign(self, **columns: Any) -> Any:
        """The frame with further columns."""
        made = dict(self._series)
        for name, value in columns.items():
            found = value(SymbolicFrame(made)) if callable(value) else value
            if type(found) is not RecordSeries or not _are_alike(found, self._first):
                return self.refuse(".assign of what is not made of its columns")
            made[name] = RecordSeries(found.array, name, found.names)
        return SymbolicFrame(made)

    def copy(self, deep: bool = True) -> Any:
        """The frame; what it holds cannot be written."""
        return SymbolicFrame(dict(self._series))

    def dropna(self) -> Any:
        """Itself: nothing is missing in a table of declared columns."""
        return self

    def __len__(self) -> int:
        return self.count_rows()  # type: ignore[no-any-return]

    def count_rows(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        return self._first.count()

    @property
    def shape(self) -> tuple[Any, int]:
        """(rows, columns)."""
        return self.count_rows(), len(self._series)

    def groupby(self, by: Any) -> Any:
        """Records by the entries of a column."""
        if isinstance(by, list) and len(by) == 1:
            by = by[0]
        if not isinstance(by, str) or by not in self._series:
            return self.refuse(".groupby", "group by the name of one column")
        series = self._series[by]
        return OfUsers(self, series) if type(series) is KeySeries else Grouped(self, series)

    def drop_duplicates(self, subset: Any = None) -> Any:
        """The first row of each user."""
        if isinstance(subset, list) and len(subset) == 1:
            subset = subset[0]
        if not isinstance(subset, str) or type(self._series.get(subset)) is not KeySeries:
            return self.refuse(".drop_duplicates", "name the column of users")
        return self.bounded(1)

    def bounded(self, most: int) -> SymbolicFrame:
        """Of each user the first rows."""
        made = {
            name: one.bounded(most)
            if type(one) is KeySeries
            else RecordSeries(_bounded(one.array, most), name, one.names)
            for name, one in self._series.items()
        }
        return SymbolicFrame(made)

    def sum(self) -> Any:
        """The answers of all columns."""
        return KeyedSeries.of({name: one.sum() for name, one in self._series.items()})


def _are_alike(left: Any, right: Any) -> bool:
    """Whether two series are of the same records."""
    one, other = left.array.storage, right.array.storage
    return bool(one.has_records_of(other))


class OfUsers(_OfFrame):
    """A frame by users: what each contributes can be bounded."""

    __slots__ = ("_by", "_frame")

    kind = object
    described = "the rows of each user, of which there may be any number,"

    def __init__(self, frame: SymbolicFrame, by: KeySeries) -> None:
        self._frame, self._by = frame, by

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._by.branching

    def refuse(self, use: str, advice: str = KeySeries.advice) -> Any:
        """End the analysis."""
        return super().refuse(use, advice)

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def head(self, n: Any = 5) -> Any:
        """The first n rows of each user."""
        if type(n) is not int or n < 1:
            return self.refuse(".head", "give it a whole number of at least 1")
        return self._frame.bounded(n)


class Grouped(_OfFrame):
    """A frame, or one column of it, by the entries of another."""

    __slots__ = ("_by", "_frame", "_series")

    kind = object

    def __init__(
        self, frame: SymbolicFrame, by: RecordSeries, series: RecordSeries | None = None
    ) -> None:
        self._frame, self._by, self._series = frame, by, series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._by.branching

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.refuse("an index")
        return Grouped(self._frame, self._by, self._frame[key])

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._frame:
            return self[name]
        return super().__getattr__(name)

    def size(self) -> Any:
        """How many records each group has."""
        return ByKey(self._by, self._by, lambda chosen: chosen.count())

    def count(self) -> Any:
        """As ``size``, of one column: nothing is missing."""
        return self.size() if self._series is not None else self.refuse(".count of all columns")

    def sum(self) -> Any:
        """The sum of one column by group."""
        if self._series is None:
            return self.refuse(".sum of all columns", "name one: frame.groupby(..)['column'].sum()")
        return ByKey(self._by, self._series, lambda chosen: chosen.sum())


class ByKey(_OfFrame):
    """Answers by key, of which it depends on the data which keys there are."""

    __slots__ = ("_answer", "_by", "_series")

    described = "answers for those groups that occur, which depends on the data,"

    def __init__(
        self, by: RecordSeries, series: RecordSeries, answer: Callable[[Any], Any]
    ) -> None:
        self._by, self._series, self._answer = by, series, answer

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.Series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._by.branching

    def refuse(self, use: str, advice: str = "") -> Any:
        """End the analysis."""
        words = advice or "name the groups: .reindex(KEYS, fill_value=0), or .get(key, 0)"
        return super().refuse(use, words)

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def _of(self, key: Any) -> Any:
        return self._answer(self._series[self._by == key])

    def get(self, key: Any, default: Any = None) -> Any:
        """The answer of one group; 0 where it does not occur."""
        if type(default) not in (int, float) or default != 0:
            return self.refuse(".get without a 0 for groups that do not occur", ".get(key, 0)")
        return self._of(key)

    def reindex(self, index: Sequence[Any], fill_value: Any = None) -> Any:
        """Answers of named groups; 0 for those that do not occur."""
        if type(fill_value) not in (int, float) or fill_value != 0:
            return self.refuse(".reindex without fill_value=0", ".reindex(KEYS, fill_value=0)")
        keys = list(index)
        if len(set(keys)) < len(keys):
            return self.refuse(".reindex with a key twice")
        return KeyedSeries.of({key: self._of(key) for key in keys})
