"""Frames of answers: sums and counts by group in several columns, as pandas has them.

``AnswersByKey`` and ``Crossed`` do not know which groups occur: their keys must be named. A
``KeyedFrame`` has keys in both directions, and an answer or a number with noise for each of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from liptest.foreign import names_of_axis
from liptest.values.array import SymbolicArray, numbers_in_line
from liptest.values.branching import Branching
from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.keyed_series import SERIES, KeyedSeries, as_keyed
from liptest.values.pandas.labelled import (
    UNKNOWN,
    Labelled,
    as_index,
    describe,
    join_descriptions,
    known_names,
    say_names,
)
from liptest.values.pandas.named_groups import NamesGroups, has_zero, list_named_keys
from liptest.values.pandas.of_pandas import FrameOfPandas, HasEntries
from liptest.values.protocol import ARITHMETIC, find_branching, is_symbolic


class _InColumns(FrameOfPandas):
    """What stands for a frame, with its columns by name."""

    __slots__ = ("_columns",)

    _columns: dict[Any, Any]

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return next(one.branching for one in self._columns.values() if _is_part(one))  # type: ignore[no-any-return]


def _is_part(column: Any) -> bool:
    """Whether it is part of an analysis: constants are not."""
    return type(column) is not KeyedSeries or type(column.array) is SymbolicArray


class AnswersByKey(NamesGroups, _InColumns):
    """Columns of answers by key, of which it depends on the data which keys there are."""

    __slots__ = ()

    described, advice = ByKey.described, "name the groups: .reindex(KEYS, fill_value=0)"

    def __init__(self, columns: dict[Any, ByKey]) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> Any:
        if key in self._columns:
            return self._columns[key]
        inner = inner_columns(self._columns, key)
        return AnswersByKey(inner) if inner else self.refuse("an index")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._columns:
            return self._columns[name]
        return super().__getattr__(name)

    def filled_with_zeros(self, keys: list[Any], index: Any) -> Any:
        columns = {
            name: column.reindex(index, fill_value=0) for name, column in self._columns.items()
        }
        names = next(iter(self._columns.values())).names_with(index)
        return KeyedFrame(keys, columns, say_names(None, names.get("index_names", ())))


def inner_columns(columns: dict[Any, Any], key: Any) -> dict[Any, Any]:
    """Of columns with names in two levels those under a first name."""
    return {
        name[1]: column
        for name, column in columns.items()
        if type(name) is tuple and len(name) == 2 and name[0] == key
    }


class Crossed(FrameOfPandas):
    """Answers by the entries of two columns, of which it depends on the data which there are.

    Cells without records hold 0 where they are filled, else nan.
    """

    __slots__ = ("_answers", "_columns", "_has_gaps", "_index", "_is_filled", "_names")

    described = ByKey.described
    advice = "name the groups: .reindex(index=KEYS, columns=KEYS, fill_value=0)"

    def __init__(
        self,
        answers: ByKey,
        index: list[Any] | None = None,
        columns: list[Any] | None = None,
        *,
        is_filled: bool = True,
        has_gaps: bool | None = None,
        names: tuple[Any, Any] | None = None,
    ) -> None:
        self._answers, self._index, self._columns = answers, index, columns
        self._is_filled = is_filled
        # Whether there were gaps once, so that numbers are floats.
        self._has_gaps = not is_filled if has_gaps is None else has_gaps
        # What rows and columns are called.
        self._names = tuple(answers.key_names) if names is None else names

    branching = find_branching("_answers")

    def refuse(self, use: str, advice: str = "") -> Any:
        """End the analysis."""
        is_named = self._index is not None and self._columns is not None
        return super().refuse(use, advice or (".fillna(0)" if is_named else ""))

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def reindex(self, index: Any = None, columns: Any = None, fill_value: Any = None) -> Any:
        """Answers of named rows and columns; of those that do not occur 0, or nan for now."""
        if not (fill_value is None or has_zero(fill_value)) or (index is None and columns is None):
            return self.refuse(".reindex without fill_value=0")
        rows = self._index if index is None else list_named_keys(self, index)
        cells = self._columns if columns is None else list_named_keys(self, columns)
        is_filled = self._is_filled and fill_value is not None
        gaps = self._has_gaps or not is_filled
        given = [names_of_axis(one) for one in (index, columns)]
        pairs = zip(given, self._names, strict=True)
        names = tuple(own if one is None else one[0] for one, own in pairs)
        made = Crossed(self._answers, rows, cells, is_filled=is_filled, has_gaps=gaps, names=names)
        return made._named()

    def fillna(self, value: Any) -> Any:
        """0 where there are no records."""
        if not has_zero(value):
            return self.refuse(".fillna with another number than 0")
        gaps = self._has_gaps
        made = Crossed(self._answers, self._index, self._columns, has_gaps=gaps, names=self._names)
        return made._named()

    def _named(self) -> Any:
        """The answers, as soon as both keys are named and nothing is missing."""
        rows, cells = self._index, self._columns
        if rows is None or cells is None or not self._is_filled:
            return self
        made = {
            cell: KeyedSeries.of({row: self._answers.answer_of((row, cell)) for row in rows})
            for cell in cells
        }
        frame = KeyedFrame(rows, made, say_names(None, *((name,) for name in self._names)))
        return frame.astype(float) if self._has_gaps else frame


class KeyedFrame(HasEntries, _InColumns):
    """Columns of numbers by the same keys.

    Parameters
    ----------
    keys
        Of the rows, each once.
    columns
        By name the series of these keys.
    names
        What ``describe`` says of a plain frame that it was; None where data are symbolic.
    """

    __slots__ = ("_home", "_is_partial", "_keys", "_names")

    #: Further methods by name (``frame_methods``).
    methods: ClassVar[dict[str, Callable[..., Any]]] = {}

    described = "a frame of sums and noise"
    advice = "use operators, one of its columns, .to_numpy() or .to_dict()"

    def __init__(
        self, keys: Any, columns: dict[Any, KeyedSeries], names: Any = None, home: Any = None
    ) -> None:
        self._keys, self._columns, self._names = tuple(keys), columns, names
        # The analysis, where all columns may be constants.
        self._home: Branching | None = home
        # Whether it is of a plain frame that has two columns of one name.
        self._is_partial = False

    def _like(self, columns: dict[Any, KeyedSeries]) -> KeyedFrame:
        return KeyedFrame(self._keys, columns, self._names, self._home)

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return super().branching if self._home is None else self._home

    @property
    def keys_(self) -> tuple[Any, ...]:
        """The keys of its rows."""
        return self._keys

    @property
    def columns_(self) -> dict[Any, KeyedSeries]:
        """Its columns by name."""
        return self._columns

    @property
    def names_(self) -> Any:
        """What ``describe`` says."""
        return self._names

    def concretise(self, use: str) -> Any:
        """Its keys, names and entries; as an output only."""
        if use != "the output":
            return super().concretise(use)
        entries = [column.tolist() for column in self._columns.values()]
        own = {"index": self._keys, "columns": list(self._columns), "values": entries}
        dtypes = tuple(str(column.array.dtype) for column in self._columns.values())
        return Labelled("DataFrame", own | known_names(self._names), dtypes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'DataFrame' object has no attribute {name!r}")
        method = KeyedFrame.methods.get(name)
        if method is not None:
            return partial(method, self)
        return self[name] if name in self._columns else self.refuse(f".{name}")

    @property
    def columns(self) -> Any:
        """The names."""
        return as_index(self._columns, known_names(self._names), "column_names")

    @columns.setter
    def columns(self, value: Any) -> None:
        self._become(self.set_axis(value, axis=1))

    @property
    def index(self) -> Any:
        """The keys."""
        return as_index(self._keys, known_names(self._names))

    @index.setter
    def index(self, value: Any) -> None:
        self._become(self.set_axis(value, axis=0))

    def _become(self, other: KeyedFrame) -> None:
        self._keys, self._columns, self._names = other._keys, other._columns, other._names

    @property
    def shape(self) -> tuple[int, int]:
        """(keys, columns)."""
        return len(self._keys), len(self._columns)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._columns))

    def __contains__(self, item: Any) -> bool:
        return item in self._columns or bool(inner_columns(self._columns, item))

    def __getitem__(self, key: Any) -> Any:
        if type(key) not in (str, int, tuple, bool) or key not in self._columns:
            return KeyedFrame.taken(self, key)
        column = self._columns[key]
        if type(column.array) is not SymbolicArray:
            return KeyedFrame.taken(self, key)  # constants
        # What is written into it stays there.
        index = (self._names or {"index_names": (UNKNOWN,)}).get("index_names", ())
        return KeyedSeries(self._keys, column.array, say_names(key, index))

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is KeyedFrame:
            self._columns = self.mask(key, value)._columns
            return
        if not isinstance(key, str):
            self.refuse("an assignment of a column whose name is not a text")
        self._columns = {**self._columns, key: self._as_column(value)}

    def _as_column(self, value: Any) -> KeyedSeries:
        """What is written into a column: a series of its keys, an array of as many numbers."""
        keyed = as_keyed(value)
        if type(keyed) is KeyedSeries and keyed.keys_ == self._keys:
            return keyed
        if type(value) in (str, int, float, bool):
            value = [value] * len(self)
        if type(value) is list and len(value) == len(self):
            value = column_of_list(value)
            if value is not None:
                return KeyedSeries(self._keys, value)
        is_array = type(value) in (np.ndarray, SymbolicArray) and value.shape == (len(self),)
        if not is_array or value.dtype.kind not in "biuf":
            self.refuse("an assignment of what is not a series of its keys, or an array as long")
        return KeyedSeries(self._keys, value)

    @property
    def T(self) -> Any:
        """Its rows as columns."""
        return self.transpose()

    def cell(self, key: Any, column: Any) -> Any:
        """One answer."""
        return self[column][key]

    def map(self, func: Any) -> Any:
        """What a function of the program makes of each entry, column by column."""
        made = {name: column.apply(func) for name, column in self._columns.items()}
        return self._like(made)

    applymap = map

    def apply_by(self, function: Any, by_rows: bool) -> Any:
        """What a function of the program makes of each column, or of each row."""
        return KeyedFrame.methods["apply_by"](self, function, by_rows)

    def where(self, cond: Any, other: Any = np.nan) -> Any:
        """Its entries where a condition holds, else others."""
        return self._choose(cond, other, "where")

    def mask(self, cond: Any, other: Any = np.nan) -> Any:
        """Its entries where a condition does not hold, else others."""
        return self._choose(cond, other, "mask")

    def _choose(self, cond: Any, other: Any, how: str) -> Any:
        if type(cond) is not KeyedFrame or list(cond._columns) != list(self._columns):
            return self.refuse(f".{how} of a condition that is not of its own entries")
        made = {
            name: getattr(column, how)(cond._columns[name], other)
            for name, column in self._columns.items()
        }
        return self._like(made)

    def to_numpy(self) -> Any:
        """(keys, columns)."""
        cells = [column[key] for key in self._keys for column in self._columns.values()]
        return numbers_in_line(cells).reshape(self.shape)

    @property
    def values(self) -> Any:
        """(keys, columns)."""
        return self.to_numpy()

    def items(self) -> Iterator[tuple[Any, KeyedSeries]]:
        """(name, column) in order."""
        return iter(self._columns.items())

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each entry within two constants."""
        return self._each(lambda column: column.clip(lower, upper))

    def round(self, decimals: int = 0) -> Any:
        """Each entry rounded."""
        return self._each(lambda column: column.round(decimals))

    def astype(self, dtype: Any) -> Any:
        """Entries of another type."""
        return self._each(lambda column: column.astype(dtype))

    def calculated(self, operation: Any, other: Any, *, swapped: bool) -> Any:
        """An operator, entry by entry: with a number, an array of its shape, or such a frame."""
        if self._is_partial or (type(other) is KeyedFrame and other._is_partial):
            (other if self._is_partial else self).refuse(
                "an operator with a frame that has two columns of one name"
            )
        if type(other) is KeyedFrame:
            if other._keys != self._keys or list(other._columns) != list(self._columns):
                self.refuse("an operator with a frame of other keys")
            others: list[Any] = list(other._columns.values())
        elif isinstance(other, (int, float, np.number)):
            others = [other] * len(self._columns)
        elif isinstance(other, np.ndarray) and other.shape == self.shape:
            others = [other[:, place] for place in range(len(self._columns))]
        else:
            (other if is_symbolic(other) else self).refuse(
                "an operator with what has not its shape"
            )
        made = {
            name: column.calculated(operation, partner, swapped=swapped)
            for (name, column), partner in zip(self._columns.items(), others, strict=True)
        }
        joined = self._like(made)
        if type(other) is KeyedFrame:
            joined._names = join_descriptions(self._names, other._names)
        return joined

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        operation = ARITHMETIC.get(ufunc)
        if operation is None or method != "__call__" or options or len(inputs) != 2:
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        left, right = map(as_keyed, inputs)
        if type(left) is KeyedFrame:
            return left.calculated(operation, right, swapped=False)
        return right.calculated(operation, left, swapped=True)

    def _each(self, function: Callable[[KeyedSeries], Any]) -> KeyedFrame:
        return self._like({name: function(column) for name, column in self._columns.items()})


def column_of_list(entries: list[Any]) -> Any:
    """A list of numbers or of texts as a column; None for other lists."""
    if all(type(one) is str for one in entries):
        return np.array(entries, dtype=object)
    kinds = {one.kind if is_symbolic(one) else type(one) for one in entries}
    is_followed = kinds <= {int, float, np.int64, np.float64} or kinds == {bool}
    return numbers_in_line(entries) if is_followed and entries else None


def _of_plain(frame: Any) -> KeyedFrame:
    keys = frame.index.tolist()
    columns: dict[Any, Any] = {name: as_keyed(column) for name, column in frame.items()}
    keyed = KeyedFrame(keys, columns, describe(frame))
    keyed._is_partial = len(columns) < len(frame.columns)
    return keyed


def _of_column(name: Any, series: KeyedSeries) -> KeyedFrame:
    own = series.names_
    names = None if own is None else {k: own[k] for k in own if k not in ("name", "categories")}
    return KeyedFrame(series.keys_, {name: series}, names)


ByKey.crossed = Crossed
KeyedSeries.frame_of_column = _of_column
KeyedSeries.frame_of = _of_plain
SERIES.add(KeyedFrame)
