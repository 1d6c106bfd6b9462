"""The notes of all records as a list or an array that a server adds up.

What is done entry by entry is done to each note that a record may have; sums, means and counts
over the records are totals (``note_totals``). All else is refused: what tells of the order of
records, or which notes there are (docs/theory/records.md, P7).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.records.note_totals import Added, NoteTotals
from liptest.enumerate.records.record_values import original_of

# Kept: while a program is analysed the names stand for something else.
_ARRAYS = (np.array, np.asarray, np.asanyarray)
_SUM, _MEAN, _BINCOUNT, _NONZERO = np.sum, np.mean, np.bincount, np.count_nonzero
_TYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))
_NUMBERS = (int, float, bool, np.int64, np.float64, np.bool_)
_WHOLE = (int, np.int64)
_MOST_CELLS = 1 << 10


class Notes:
    """A list or an array with one entry for each record, of which all possible ones are known.

    ``entries`` are those of each note, of an array with a first axis of length 1; ``kept`` says of
    which notes there is an entry. ``is_lazy``: it is a generator, which is walked once.
    """

    __slots__ = ("entries", "is_array", "is_lazy", "kept", "totals")

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        totals: NoteTotals,
        entries: list[Any],
        *,
        is_array: bool,
        kept: list[bool] | None = None,
    ) -> None:
        self.totals = totals
        self.entries = entries
        self.is_array = is_array
        self.kept = kept or [True] * len(entries)
        self.is_lazy = False

    def refuse(self, use: str) -> NoReturn:
        """End the analysis of this program."""
        self.totals.refuse(use)
        raise AssertionError

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray if self.is_array else list

    # ---- entry by entry

    def mapped(self, entry: Callable[[Any], list[Any]]) -> Notes:
        """What a comprehension makes of each: a list of one value, or of none."""
        if self.is_array and self.entries[0].ndim > 2:
            self.refuse("a loop")
        given = [self._item(one) for one in self.entries]
        made = [entry(one) if kept else [] for one, kept in zip(given, self.kept, strict=True)]
        values = [one[0] if one else None for one in made]
        return Notes(self.totals, values, is_array=False, kept=[bool(one) for one in made])

    def items(self) -> list[Any]:
        """What a loop over the records goes over, of each note."""
        if not all(self.kept):
            self.refuse("a loop over chosen entries")
        return list(map(self._item, self.entries))

    def _item(self, entry: Any) -> Any:
        return entry[0] if self.is_array else entry

    def as_array(self) -> Notes:
        """``numpy.array`` of it."""
        if self.is_array:
            return self
        if not all(self.kept):
            self.refuse("an array of chosen entries")
        made = [np.array([entry]) for entry in self.entries]
        if len({(one.dtype, one.shape) for one in made}) != 1 or made[0].dtype not in _TYPES:
            self.refuse("an array of entries that are not alike")
        if not all(map(_is_of_one_kind, self.entries)):
            self.refuse("an array of several types")
        return Notes(self.totals, made, is_array=True)

    def _arithmetic(self, operation: Any, other: Any, *, swapped: bool = False) -> Notes:
        if not self.is_array:
            self.refuse("arithmetic with a list")
        entries = [self._constant(other)] * len(self.entries)
        if type(other) is Notes:
            if not other.is_array:
                self.refuse("arithmetic with a list")
            entries = other.entries
        pairs = zip(self.entries, entries, strict=True)
        made = [operation(b, a) if swapped else operation(a, b) for a, b in pairs]
        if any(one.shape[:1] != (1,) or one.ndim < self.entries[0].ndim for one in made):
            self.refuse("arithmetic with an array of another shape")
        return self._of_arrays(made)

    def _constant(self, other: Any) -> Any:
        is_number = type(other) in _NUMBERS
        is_row = type(other) is np.ndarray and other.ndim < self.entries[0].ndim
        if type(other) is not Notes and not (is_number or is_row):
            self.refuse("arithmetic with something else than numbers")
        return other

    def _of_arrays(self, made: list[Any]) -> Notes:
        if any(one.dtype not in _TYPES or one.shape[:1] != (1,) for one in made):
            self.refuse("arrays of other types")
        return Notes(self.totals, made, is_array=True)

    def __invert__(self) -> Notes:
        if not self.is_array:
            self.refuse("~")
        return self._of_arrays([~one for one in self.entries])

    def __getitem__(self, index: Any) -> Any:
        is_row = type(index) is tuple and self.is_array and index[:1] == (slice(None),)
        if not is_row or not all(type(one) in (int, slice) for one in index):
            self.refuse("an index")
        return self._of_arrays([one[index] for one in self.entries])

    def astype(self, kind: Any) -> Notes:
        """Of an array one of another type."""
        if not self.is_array:
            self.refuse(".astype")
        return self._of_arrays([one.astype(kind) for one in self.entries])

    def tolist(self) -> Notes:
        """Of an array the list."""
        if not self.is_array:
            self.refuse(".tolist")
        return Notes(self.totals, [one.tolist()[0] for one in self.entries], is_array=False)

    def copy(self) -> Notes:
        """Itself, as it is never changed."""
        return self

    # ---- over all records

    def __len__(self) -> int:
        if not all(self.kept):
            self.refuse("len() of chosen entries")
        return self.totals.count

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an array."""
        return (self.totals.count, *self._array_entries()[0].shape[1:])

    @property
    def size(self) -> int:
        """Of an array."""
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """Of an array."""
        return int(self._array_entries()[0].ndim)

    def _array_entries(self) -> list[Any]:
        if not self.is_array:
            self.refuse("an attribute of an array")
        return self.entries

    def how_many(self) -> Any:
        """``len`` of it, which is a total where entries are chosen."""
        return self.totals.number(0, [(1,) if kept else (0,) for kept in self.kept])

    def count(self, value: Any) -> Any:
        """Of a list: how often a value is in it."""
        if self.is_array or not _is_plain(value):
            self.refuse(".count")
        pairs = zip(self.entries, self.kept, strict=True)
        return self.totals.number(0, [(int(kept and one == value),) for one, kept in pairs])

    def plain_sum(self) -> Any:
        """``sum`` of it."""
        if self.is_array:
            return self.sum(axis=0) if self.ndim > 1 else self._python_sum()
        chosen = [one for one, kept in zip(self.entries, self.kept, strict=True) if kept]
        if chosen and all(type(one) is np.ndarray for one in chosen) and all(self.kept):
            return self._of_rows([one[None] for one in chosen])
        return self._python_sum()

    def _python_sum(self) -> Any:
        items = [self._item(one) for one in self.entries]
        if not all(
            type(one) in _NUMBERS for one, kept in zip(items, self.kept, strict=True) if kept
        ):
            self.refuse("sum() of something else than numbers")
        # What NumPy has for True is not told from what Python has.
        added = [
            (int(one) if type(one) is bool else one,) if kept else ()
            for one, kept in zip(items, self.kept, strict=True)
        ]
        return self.totals.number(0, added)

    def sum(self, axis: Any = None) -> Any:
        """Over the records, over all, or over what each record has."""
        entries = self._array_entries()
        if axis == 0:
            return self._of_rows(entries)
        if axis is None:
            parts = [one.sum() for one in entries]
            return self.totals.number(type(parts[0])(0), [(part,) for part in parts])
        return self._of_arrays([one.sum(axis=axis) for one in entries])

    def _of_rows(self, entries: list[Any]) -> Any:
        rows = [one.sum(axis=0) for one in entries]
        if rows[0].ndim == 0:
            return self.totals.number(type(rows[0])(0), [(row,) for row in rows])
        start = np.zeros(rows[0].shape, dtype=rows[0].dtype)
        if start.size > _MOST_CELLS:
            self.refuse("very many totals")
        added: dict[tuple[int, ...], Added] = {
            place: [(row[place],) for row in rows] for place in np.ndindex(start.shape)
        }
        return self.totals.array(start, added)

    def mean(self, axis: Any = None) -> Any:
        """Over the records, or over all: NumPy adds up floats, and divides."""
        if axis not in (None, 0):
            self.refuse("a mean of what each record has")
        total = self.astype(np.float64).sum(axis)
        return total / (self.size if axis is None else self.totals.count)

    def bincount(self, minlength: Any = 0) -> Any:
        """How often each whole number is in it."""
        items = [one[0] if self.is_array else one for one in self.entries]
        is_whole = all(type(one) in _WHOLE and one >= 0 for one in items) and all(self.kept)
        if not is_whole or type(minlength) not in _WHOLE or minlength > _MOST_CELLS:
            self.refuse("numpy.bincount")
        if max(items) >= minlength:
            self.refuse("numpy.bincount with as many places as notes tell")
        added: dict[tuple[int, ...], Added] = {
            (place,): [(int(one == place),) for one in items] for place in range(int(minlength))
        }
        return self.totals.array(np.zeros(int(minlength), dtype=np.int64), added)

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        self.refuse("numpy.array()")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        is_binary = method == "__call__" and len(inputs) == 2 and not options
        if not is_binary or ufunc not in _UFUNCS:
            self.refuse(f"numpy.{ufunc.__name__}")
        swapped = inputs[0] is not self
        return self._arithmetic(ufunc, inputs[0 if swapped else 1], swapped=swapped)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        self.refuse(f"numpy.{function.__name__}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse(f".{name}")


class CountedNotes:
    """``collections.Counter`` of notes, to be asked for what is constant."""

    __slots__ = ("notes",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def __getitem__(self, key: Any) -> Any:
        return self.notes.count(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """As of a dict; without an entry it is the default."""
        if type(default) is not int or default:
            self.notes.refuse("Counter.get with another default than 0")
        return self.notes.count(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.notes.refuse(f"Counter.{name}")


def _refusing(name: str) -> Any:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        (self if type(self) is Notes else self.notes).refuse(name)

    return method


def _operator(operation: Any, *, swapped: bool) -> Any:
    def method(self: Notes, other: Any) -> Any:
        return self._arithmetic(operation, other, swapped=swapped)

    return method


_OPERATIONS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_COMPARED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_UFUNCS: tuple[Any, ...] = (
    *_OPERATIONS.values(),
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
)
for _name, _ufunc in _OPERATIONS.items():
    setattr(Notes, f"__{_name}__", _operator(_ufunc, swapped=False))
    setattr(Notes, f"__r{_name}__", _operator(_ufunc, swapped=True))
for _compared in _COMPARED:
    _method = f"__{_compared.__name__}__"
    setattr(Notes, _method, _operator(_compared, swapped=False))
    setattr(CountedNotes, _method, _refusing("a comparison of a Counter"))
for _name in (*_OPERATIONS, "pow", "matmul"):
    setattr(Notes, f"__i{_name}__", _refusing("a change of the notes in place"))
_NOT_ASKED = ("iter", "bool", "contains", "setitem", "delitem", "reversed", "index", "int")
for _name in (*_NOT_ASKED, "float"):
    setattr(Notes, f"__{_name}__", _refusing(f"{_name}() of the notes"))
for _name in ("iter", "len", "bool", "contains", "setitem", "delitem"):
    setattr(CountedNotes, f"__{_name}__", _refusing(f"{_name}() of a Counter"))
for _name in ("str", "repr", "format", "reduce", "reduce_ex"):
    setattr(Notes, f"__{_name}__", _refusing(f"{_name}() of the notes"))
    setattr(CountedNotes, f"__{_name}__", _refusing(f"{_name}() of a Counter"))


def call_with_notes(called: Any, notes: Notes, *more: Any, **options: Any) -> Any:
    """What a function gives of notes, its first argument."""
    own = original_of(called)
    if notes.is_lazy:
        if not any(own is one for one in (sum, list, tuple, Counter)):
            notes.refuse("a generator of the notes")
        notes.is_lazy = False
    if own is len and not more and not options:
        return notes.how_many()
    is_list = own is list or own is tuple
    if is_list and not more and not options and not notes.is_array:
        return notes
    if own is sum and not more and not options:
        return notes.plain_sum()
    if own is Counter and not more and not options:
        return CountedNotes(notes if not notes.is_array else notes.tolist())
    if own in _ARRAYS:
        kind = options.pop("dtype", None)
        if more or options:
            notes.refuse("numpy.array() with options")
        made = notes.as_array()
        return made if kind is None else made.astype(kind)
    if own is _BINCOUNT:
        return notes.bincount(*more, **options)
    if own is _NONZERO and not more and not options:
        return notes.as_array().astype(np.bool_).sum()
    if own is _SUM:
        return notes.as_array().sum(*more, **options)
    if own is _MEAN:
        return notes.as_array().mean(*more, **options)
    return notes.refuse("a call")


def _is_plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return type(value) in (*_NUMBERS, str)


def _is_of_one_kind(entry: Any) -> bool:
    """Whether an array of it has its own types: whole numbers are not cast to floats."""
    if type(entry) in (list, tuple):
        kinds = {type(one) for one in entry}
        return len(kinds) == 1 and all(map(_is_of_one_kind, entry))
    return type(entry) in _NUMBERS or type(entry) is np.ndarray
