"""Series as symbols: a column of records, whose they are, in which bins they are.

A ``RecordSeries`` has an entry for each record: a column (``column``, ``real_column``), or the
places of names in a list of categories, which can be compared only. What sums it up is an answer. A
``KeySeries`` says whose a record is, a ``BinSeries`` in which bin. Counts of values are answers by
key; which keys occur depends on the data, so that they must be named: ``.reindex(KEYS,
fill_value=0)`` or ``.get(key, 0)``. What pandas does beyond that is refused, with the line of the
program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.foreign import names_of_axis
from liptest.values.array import SymbolicArray
from liptest.values.chosen_places import is_sample
from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.keyed_series import SERIES, KeyedSeries
from liptest.values.pandas.labelled import as_dict, is_series, say_names
from liptest.values.pandas.named_groups import (
    has_zero,
    keys_as_they_come,
    keys_by_count,
    list_named_keys,
)
from liptest.values.pandas.of_pandas import (
    Calculated,
    OfPandas,
    PartOfPandas,
    SeriesOfRecords,
    are_between,
    operates,
)
from liptest.values.pandas.placed_rows import HasPlaces
from liptest.values.protocol import is_symbolic
from liptest.values.records.column_parts import ColumnInParts
from liptest.values.records.made_rows import ColumnEntries
from liptest.values.records.record_list import RecordList
from liptest.values.records.record_storage import OwnNumbers

_NO_NAME = -1
_EARLIER = "make a column of it before the rows are selected: frame.assign(..)[condition]"


class Located(PartOfPandas):
    """``.loc`` of a frame or a series."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if type(key) is tuple and len(key) == 2 and self._of.has_columns:
            rows, columns = _make_of(self._of, key[0]), key[1]
            frame = self._of if isinstance(rows, slice) and rows == slice(None) else self._of[rows]
            return frame[columns]
        key = _make_of(self._of, key)
        if not isinstance(key, OfPandas):
            return self.refuse(".loc")
        return self._of[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is not tuple or len(key) != 2 or not self._of.has_columns:
            self.refuse("an assignment to rows", "name a column: frame.loc[condition, 'x'] = 0")
        self._of.set_some(*key, value)


def _make_of(of: Any, condition: Any) -> Any:
    """A condition, which may be a function of the frame."""
    is_function = callable(condition) and not isinstance(condition, OfPandas)
    return condition(of) if is_function else condition


class RecordSeries(Calculated, HasPlaces, SeriesOfRecords):
    """One column of a frame.

    Parameters
    ----------
    array
        A column; of names their places in ``names``.
    name
        Of the column.
    """

    __slots__ = ("array", "name", "names")

    #: Its entries by those of others (``frame_groups``).
    grouped: ClassVar[Any]

    def __init__(
        self, array: SymbolicArray, name: Any = None, names: tuple[str, ...] | None = None
    ) -> None:
        self.array = array
        self.name = name
        self.names = names
        if isinstance(array.storage, OwnNumbers):
            array.storage.lend()

    def like(self, array: Any) -> Any:
        """Other numbers of the same records."""
        return RecordSeries(array, self.name)

    def find_numbers(self) -> SymbolicArray | None:
        return self.array if self.names is None else None

    def is_whole(self) -> bool:
        own = self.array.storage
        return isinstance(own, ColumnInParts) and own.is_whole()

    def numbers(self, use: str) -> SymbolicArray:
        """Its column; names are refused."""
        if self.names is not None:
            self.refuse(f"{use} of names", "compare them with ==, != or .isin([..])")
        array: SymbolicArray = self.array
        return array

    # ---- operators

    def calculated(self, operation: Any, other: Any, *, swapped: bool) -> Any:
        """An operator, entry by entry."""
        if self.names is not None:
            return self._compare(operation, other)
        if operation is operator.and_ and isinstance(other, OfPandas) and other.bounds_rows:
            return other & self  # a bound of the rows of users
        partner = other.numbers("an operator") if type(other) is RecordSeries else other
        if isinstance(partner, (list, tuple, dict, str)) or _is_of_pandas(partner):
            return self.refuse(f"an operator with a {type(other).__name__}")
        pair = (partner, self.array) if swapped else (self.array, partner)
        return self.like(operation(*pair))

    def _compare(self, operation: Any, other: Any) -> Any:
        if operation not in (operator.eq, operator.ne) or not isinstance(other, str):
            return self.refuse("an operator of names", "compare them with ==, != or .isin([..])")
        assert self.names is not None
        place = self.names.index(other) if other in self.names else _NO_NAME
        return self.like(operation(self.array, place))

    __rtruediv__ = operates(operator.truediv, swapped=True)
    __floordiv__, __mod__ = operates(operator.floordiv), operates(operator.mod)
    __pow__ = operates(operator.pow)
    __and__, __rand__ = operates(operator.and_), operates(operator.and_, swapped=True)
    __or__, __ror__ = operates(operator.or_), operates(operator.or_, swapped=True)
    __xor__ = operates(operator.xor)
    __eq__ = operates(operator.eq)
    __ne__ = operates(operator.ne)
    lt, le = operates(operator.lt), operates(operator.le)
    gt, ge = operates(operator.gt), operates(operator.ge)
    eq, ne = operates(operator.eq), operates(operator.ne)
    add, sub, mul = operates(operator.add), operates(operator.sub), operates(operator.mul)
    div = truediv = operates(operator.truediv)

    def __neg__(self) -> Any:
        return self.like(-self.numbers("an operator"))

    def __invert__(self) -> Any:
        return self.like(~self.numbers("an operator"))

    def __abs__(self) -> Any:
        return self.abs()

    # ---- entry by entry

    def abs(self) -> Any:
        """The absolute value of each entry."""
        return self.like(np.abs(self.numbers(".abs")))

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each entry within two constants."""
        bounds = [bound for bound in (lower, upper) if bound is not None]
        if any(map(is_symbolic, bounds)) or not all(
            isinstance(bound, (int, float, np.number)) for bound in bounds
        ):
            return self.refuse(".clip with bounds that are not constants")
        if len(bounds) == 2 and lower > upper:
            lower, upper = upper, lower  # as pandas has them
        return self.like(np.clip(self.numbers(".clip"), lower, upper))

    def between(self, left: Any, right: Any) -> Any:
        """Whether each entry is within two constants, ends included."""
        return are_between(self, left, right)

    def isin(self, values: Any) -> Any:
        """Whether each entry is one of some constants."""
        if is_symbolic(values) or isinstance(values, (str, dict)):
            return self.refuse(".isin", "give it a list of constants")
        constants = list(values)
        if self.names is not None:
            constants = [self.names.index(name) for name in constants if name in self.names]
        elif not all(isinstance(constant, (int, float, np.number)) for constant in constants):
            return self.refuse(".isin", "give it a list of numbers")
        mask = np.less(self.array, self.array)  # of no record
        for constant in constants:
            mask = np.logical_or(mask, np.equal(self.array, constant))
        return self.like(mask)

    def map(self, values: Any) -> Any:
        """Numbers, or names, by a dict or a public series that has all entries."""
        known = as_dict(values) if is_series(values) else values
        if type(known) is not dict:
            return self.refuse(".map", "give it a dict that has a number for every entry")
        return self.mapped(known, ".map")

    def mapped(self, known: dict[Any, Any], use: str) -> Any:
        """``look_up``, of all records."""
        self._check_not_empty(use)
        return self.look_up(known, use)

    def _check_not_empty(self, use: str) -> None:
        """Refuse names of a selection: what pandas makes of none of them are texts, not numbers."""
        column: Any = self.array.storage
        book, kept = column.answers, column.kept
        first = int(not book.has_positions) if book.cells is None else book.cells.first
        is_selected = book.part is not None if kept is None else not bool(kept[first:].all())
        if self.names is not None and is_selected:
            self.refuse(f"{use} of selected names (there may be none)", _EARLIER)

    def look_up(self, values: dict[Any, Any], use: str) -> Any:
        """By the entry of each record another one."""
        column: Any = self.array.storage
        if column.leads:
            return self.refuse(f"{use} of real numbers", "compare them with constants")
        entries = self._each_of_kinds(use)
        kept = [True] * len(entries) if column.own_kept is None else column.own_kept.tolist()
        kept_entries = [one for one, is_kept in zip(entries, kept, strict=True) if is_kept]
        if not kept_entries or not set(kept_entries) <= values.keys():
            return self.refuse(f"{use} without an entry for some of its", "name one for each")
        looked_up = [
            values[one] if is_kept else values[kept_entries[0]]
            for one, is_kept in zip(entries, kept, strict=True)
        ]
        kinds = {type(one) for one in looked_up}
        if kinds == {str}:
            names = tuple(dict.fromkeys(looked_up))
            places = np.array([names.index(one) for one in looked_up])
            return RecordSeries(column.like(places), self.name, names)
        if len(kinds) > 1 or not kinds <= {int, float, bool} or np.array(looked_up).dtype == object:
            return self.refuse(f"{use} with entries of several types, or not of numbers")
        return self.like(column.like(np.array(looked_up)))

    def where(self, condition: Any, other: Any = None) -> Any:
        """Its entries where a condition holds, else others."""
        return self._choose(condition, self, other, ".where")

    def mask(self, condition: Any, other: Any = None) -> Any:
        """Its entries where a condition does not hold, else others."""
        return self._choose(condition, other, self, ".mask")

    def _choose(self, condition: Any, first: Any, second: Any, use: str) -> Any:
        if type(condition) is not RecordSeries:
            return self.refuse(f"{use} with a condition that is not one of the rows")
        pair = [
            operand.numbers(use) if type(operand) is RecordSeries else operand
            for operand in (first, second)
        ]
        return self.like(np.where(condition.array, *pair))

    def astype(self, dtype: Any) -> Any:
        """Numbers of another type; bins of declared categories."""
        if type(dtype).__name__ == "CategoricalDtype" and dtype.categories is not None:
            return BinSeries({one: self == one for one in dtype.categories.tolist()}, self.name)
        if str(dtype) == "category":
            return self.refuse(
                ".astype to categories that are those of the data",
                "name them: .astype(pandas.CategoricalDtype(KEYS))",
            )
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

    def isna(self) -> Any:
        """False for each record, as ``fillna``."""
        return self.like(np.less(self.array, self.array))

    def notna(self) -> Any:
        """True for each record, as ``fillna``."""
        return ~self.isna()

    isnull, notnull = isna, notna

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        """The column as an array, of another type perhaps."""
        numbers = self.numbers(".to_numpy")
        return numbers if dtype is None else numbers.astype(dtype)

    @property
    def values(self) -> Any:
        """The column as an array."""
        return self.numbers(".values")

    def tolist(self) -> Any:
        """The column as a list, of names, too."""
        column: Any = self.array.storage
        if self.names is None or column.leads or column.own.ndim > 1:
            return self.numbers(".tolist").tolist()
        entries = list(ColumnEntries(column.table, self.names))
        kept = [True] * len(entries) if column.kept is None else column.kept.tolist()
        return RecordList(self.branching, entries, kept, column.selected, column.count)

    def entries(self, use: str) -> Sequence[Any]:
        """By the value of a record its number or name, as Python's own, made when it is read."""
        column: Any = self.array.storage
        if column.leads:
            return column.each_record()  # type: ignore[no-any-return]
        if column.own.ndim > 1 or column.is_off:
            return self.refuse(use)  # type: ignore[no-any-return]
        return ColumnEntries(column.table, self.names)

    def declared(self) -> list[Any]:
        """The entries that there may be, each once."""
        if self.array.storage.leads:
            return self.refuse("groups of real numbers")  # type: ignore[no-any-return]
        return list(dict.fromkeys(self._each_of_kinds("groups")))

    def _each_of_kinds(self, use: str) -> list[Any]:
        """By kind of a record its number or name."""
        column: Any = self.array.storage
        if column.own.ndim > 1 or column.is_off:
            return self.refuse(use)  # type: ignore[no-any-return]
        return list(ColumnEntries(column.own, self.names))

    def apply_by(self, function: Any, by_rows: bool) -> Any:
        """``.apply`` and ``.map`` of a function, which makes a list of other numbers."""
        if by_rows:
            return self.refuse(".apply with an axis")
        self._check_not_empty(".apply")
        return self.like(function(self).column())

    def __iter__(self) -> Any:
        return iter(self.numbers("iter()").tolist())

    def __getitem__(self, key: Any) -> Any:
        if is_sample(key):
            return self.part(key)
        if type(key) is not RecordSeries:
            return self.refuse("an index")
        return RecordSeries(self.array[key.numbers("an index")], self.name, self.names)

    loc = property(Located, doc="Rows by a condition.")

    def part(self, places: Any) -> Any:
        """The entries of the records at some places, or that random bits choose."""
        return RecordSeries(self.array[places], self.name, self.names)

    # ---- answers

    def sum(self) -> Any:
        """The answer."""
        return np.sum(self.numbers(".sum"))

    def mean(self) -> Any:
        """The answer, where the number of rows is public."""
        return np.mean(self.numbers(".mean"))

    def count(self) -> Any:
        """How many records there are: nothing is missing."""
        return self.array.storage.count()

    def nunique(self) -> Any:
        """How many values there are among the records."""
        return np.unique(self.array).size

    def __len__(self) -> int:
        return self.count()  # type: ignore[no-any-return]

    size = property(lambda self: self.count(), doc="How many records there are.")
    shape = property(lambda self: (self.count(),), doc="The same, as a shape.")
    empty = property(lambda self: bool(self.count() == 0), doc="Whether there are none.")

    def value_counts(
        self, normalize: bool = False, sort: bool = True, ascending: bool = False
    ) -> Any:
        """How many records have each value."""
        if normalize:
            return ByKey((self,), self, self._counting(normalize)).called("proportion")
        order = keys_by_count(ascends=ascending is True) if sort is True else keys_as_they_come
        return ByKey.sizes((self,), self, self._counting(normalize), order).called("count")

    def groupby(self, by: Any = None, sort: Any = True) -> Any:
        """Its entries by those of another column of the same records."""
        if type(by) is not RecordSeries or not by.array.storage.has_records_of(self.array.storage):
            return self.refuse(".groupby of a series but by one of the same rows")
        return self.grouped({}, (by,), self, is_sorted=sort is True)

    def agg(self, func: Any = None) -> Any:
        """What a name says, as "sum", "mean" or "count", or several of them."""
        names = [func] if isinstance(func, str) else func
        if not isinstance(names, list) or not names or not set(names) <= set(self.named):
            return self.refuse(".agg", "take .sum(), .mean() or .count()")
        found = {name: getattr(self, name)() for name in names}
        return found[func] if isinstance(func, str) else KeyedSeries.of(found, say_names(self.name))

    def cut_at(
        self,
        bins: Any,
        right: bool = True,
        labels: Any = None,
        include_lowest: bool = False,
    ) -> Any:
        """``pandas.cut`` with constant edges: in which bin each entry is."""
        edges = None if isinstance(bins, str) or is_symbolic(bins) else np.asarray(bins)
        if edges is None or edges.ndim != 1 or edges.dtype.kind not in "iuf" or len(edges) < 2:
            return self.refuse("pandas.cut without constant edges", "give a list of edges")
        if not (edges[1:] > edges[:-1]).all() or not isinstance(right, bool):
            return self.refuse("pandas.cut of edges that do not rise", "give a list of edges")
        if is_symbolic(labels):
            return self.refuse("pandas.cut with labels that are not constant")
        if labels is False:
            return self._numbers_of_bins(edges, right, include_lowest)
        import pandas

        inside = (edges[1:] / 2 + edges[:-1] / 2).tolist()
        binned = pandas.cut(
            inside, edges, right=right, labels=labels, include_lowest=include_lowest
        )
        masks = []
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            above = self > low if right else self >= low
            masks.append(above & (self <= high if right else self < high))
        if include_lowest and right:
            masks[0] |= self == edges[0].item()
        return BinSeries(dict(zip(list(binned.categories), masks, strict=True)), self.name)

    def _numbers_of_bins(self, edges: NDArray[Any], right: bool, include_lowest: bool) -> Any:
        """``pandas.cut`` with labels=False, where all entries that there may be are in a bin."""
        use = "pandas.cut with labels=False of real numbers, or of entries outside of all bins"
        column: Any = self.array.storage
        if self.names is not None or column.leads or column.own.ndim > 1 or column.is_off:
            return self.refuse(use, "give the bins names: labels=[..]")
        import pandas

        entries = np.unique(column.own)
        places = pandas.cut(
            entries, edges, right=right, labels=False, include_lowest=include_lowest
        )
        if np.isnan(places).any():
            return self.refuse(use, "clip it first, or give the bins names: labels=[..]")
        return self.like(
            np.clip(np.digitize(self.array, edges, right=right) - 1, 0, len(edges) - 2)
        )

    def cross_with(self, columns: Any, normalize: Any = False) -> Any:
        """``pandas.crosstab``: how many records have each pair of entries, or which share."""
        if type(columns) is not RecordSeries:
            return self.refuse("pandas.crosstab with what is not a column of the same frame")
        if normalize not in (True, False):
            return self.refuse("pandas.crosstab with shares of private numbers of records")
        return ByKey.crossed(ByKey((self, columns), self, self._counting(normalize)))

    def _counting(self, normalize: bool) -> Callable[[Any], Any]:
        if normalize:
            return lambda chosen: chosen.count() / self.count()
        return lambda chosen: chosen.count()

    def dummies(self) -> Any:
        """``pandas.get_dummies``."""
        return Dummies(self)

    def dot(self, other: Any) -> Any:
        """The sum of products."""
        if self.array.storage.leads or (type(other) is RecordSeries and other.array.storage.leads):
            return self.refuse(".dot of real columns", "(left * right).sum()")
        return np.dot(self, other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return self.refuse(f"numpy.{ufunc.__name__}")
        plain = [_array(operand, f"numpy.{ufunc.__name__}") for operand in inputs]
        return self.like(ufunc(*plain))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        use = f"numpy.{function.__name__}"
        if function is np.select:
            return _select(*inputs, **options)
        plain = [_array(argument, use) for argument in inputs]
        named = {name: _array(argument, use) for name, argument in options.items()}
        if all(map(operator.is_, (*inputs, *options.values()), (*plain, *named.values()))):
            return self.refuse(f"{use} of what holds it")
        answer = function(*plain, **named)
        alike = function.__name__ in ("clip", "round", "around")
        return self.like(answer) if alike and type(answer) is SymbolicArray else answer


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """``numpy.select``: the choice of the first condition that holds."""
    chosen = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        chosen = np.where(*(_array(one, "numpy.select") for one in (condition, choice, chosen)))
    return chosen


SERIES.add(RecordSeries)


class KeySeries(SeriesOfRecords):
    """The column that says whose a record is; ``array`` is of the same records."""

    __slots__ = ("array", "name")

    #: One number of each user (``user_totals``).
    totals: ClassVar[Any]
    #: How many rows the user of each row has (``row_places``).
    counted: ClassVar[Any]

    described = "the column of users (only the number of rows may be bounded)"
    advice = "bound what each contributes: frame.groupby(key).head(k), frame.drop_duplicates(key)"

    def __init__(self, array: SymbolicArray, name: str) -> None:
        self.array = array
        self.name = name

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not RecordSeries:
            return self.refuse("an index")
        return KeySeries(self.array[key.numbers("an index")], self.name)

    def value_counts(self) -> Any:
        """How many rows each user has."""
        return self.totals.of(self, "size", self.refuse)

    def map(self, values: Any) -> Any:
        """``users.map(users.value_counts())``: how many rows the user of each row has."""
        if type(values) is not self.totals or not values.counts_rows(self):
            return self.refuse(".map but by its own .value_counts()")
        return self.counted(self)

    def count(self) -> Any:
        """How many records there are."""
        return self.array.storage.count()

    def nunique(self) -> Any:
        """How many users there are."""
        first: Any = self.array.storage
        return first.bound_rows(1).storage.count()

    def __len__(self) -> int:
        return self.count()  # type: ignore[no-any-return]


def _array(value: Any, use: str) -> Any:
    if type(value) in (list, tuple) and RecordSeries in map(type, value):
        return [_array(entry, use) for entry in value]
    return value.numbers(use) if type(value) is RecordSeries else value


def _is_of_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas"


class BinSeries(SeriesOfRecords):
    """In which of some bins each record is, or in none: a condition for each bin."""

    __slots__ = ("masks", "name")

    described = "bins of records, which can only be counted,"
    advice = "count them: .value_counts(sort=False), or group by them with observed=False"

    def __init__(self, masks: dict[Any, RecordSeries], name: Any) -> None:
        self.masks = masks
        self.name = name

    @property
    def array(self) -> Any:
        """The array of the same records."""
        return next(iter(self.masks.values())).array

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not RecordSeries:
            return self.refuse("an index")
        return BinSeries({bin_: mask[key] for bin_, mask in self.masks.items()}, self.name)

    def count(self) -> Any:
        """How many records there are, in a bin or not."""
        return self.array.storage.count()

    def __eq__(self, other: object) -> Any:
        """Whether each record is in a bin, by its name."""
        if not isinstance(other, (str, int, float)) or other not in self.masks:
            return self.refuse("a comparison with what is not one of the bins")
        return self.masks[other]

    def value_counts(self, sort: bool = True) -> Any:
        """How many records are in each bin; in order only with ``sort=False``."""
        counts = {bin_: mask.sum() for bin_, mask in self.masks.items()}
        names = say_names("count", (self.name,))
        return KeyedSeries.of(counts, names) if sort is False else _Unordered(self, counts)


class _Unordered(PartOfPandas):
    """Answers by key, whose order depends on the data."""

    __slots__ = ("_answers",)

    described = "counts in an order that depends on the data,"
    advice = "write .value_counts(sort=False), or .reindex(BINS)"

    def __init__(self, of: BinSeries, answers: dict[Any, Any]) -> None:
        super().__init__(of)
        self._answers = answers

    def __getitem__(self, key: Any) -> Any:
        return self._answers[key] if isinstance(key, str) else self.refuse("an index")

    def reindex(self, index: Sequence[Any], fill_value: Any = None) -> Any:
        """In an order that is named."""
        keys = list(index)
        if len(set(keys)) < len(keys) or not set(keys) <= set(self._answers):
            return self.refuse(".reindex with other keys than the bins")
        own = names_of_axis(index) or (self._of.name,)
        return KeyedSeries.of({key: self._answers[key] for key in keys}, say_names("count", own))


class Dummies(PartOfPandas):
    """``pandas.get_dummies`` of a column: a column of truths for each entry that occurs."""

    __slots__ = ("_keys",)

    _of: RecordSeries
    described = "a column for each entry that occurs, which depends on the data,"
    advice = "name the entries: .sum().reindex(KEYS, fill_value=0)"

    def __init__(self, of: RecordSeries, keys: list[Any] | None = None) -> None:
        super().__init__(of)
        self._keys = keys

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def reindex(self, *, columns: Any = None, fill_value: Any = None) -> Any:
        """The columns of named entries."""
        if columns is None or not has_zero(fill_value):
            return self.refuse(".reindex without columns and fill_value=0")
        return Dummies(self._of, list_named_keys(self, columns))

    def _name(self, counts: Any) -> Any:
        return counts if self._keys is None else counts.reindex(self._keys, fill_value=0)

    def sum(self) -> Any:
        """How many records have each entry."""
        return self._name(self._of.value_counts())

    def mean(self) -> Any:
        """Which share of the records has each entry."""
        return self._name(self._of.value_counts(normalize=True))


# Of each name a text, a number or a truth, whatever the other rows hold.
_FOLLOWED = frozenset(
    {
        *("capitalize", "casefold", "contains", "count", "endswith", "fullmatch", "len", "lower"),
        *("lstrip", "match", "replace", "rstrip", "slice", "startswith", "strip", "title", "upper"),
    }
)


class DeclaredTexts(PartOfPandas):
    """``series.str``: what pandas makes of each name that a column may hold."""

    __slots__ = ()

    _of: RecordSeries
    advice = "make a column of texts with .map({..}), with an entry for every name"

    def __getattr__(self, name: str) -> Any:
        if name not in _FOLLOWED or self._of.names is None:
            return super().__getattr__(name)

        def method(*arguments: Any, **options: Any) -> Any:
            return self._made(name, arguments, options)

        return method

    def __getitem__(self, key: Any) -> Any:
        return self._made("__getitem__", (key,), {}) if self._of.names else self.refuse("an index")

    def _made(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What pandas makes of a series of all names."""
        import pandas

        assert self._of.names is not None
        names = list(self._of.names)
        made = getattr(pandas.Series(names).str, name)(*arguments, **options).tolist()
        return self._of.mapped(dict(zip(names, made, strict=True)), f".str.{name}")


RecordSeries.str = property(DeclaredTexts)  # type: ignore[attr-defined]
