"""A series with known keys: an array of answers, or of numbers with noise, as pandas has it.

Plain series of pandas that meet noise become one, too: pandas leaves the operators to objects of a
higher priority.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from liptest.values.array import SymbolicArray, numbers_in_line
from liptest.values.branching import Branching
from liptest.values.pandas.labelled import (
    UNKNOWN,
    Labelled,
    as_index,
    describe,
    is_plain_frame,
    is_series,
    join_descriptions,
    known_names,
)
from liptest.values.pandas.of_pandas import HasEntries, PartOfPandas, operates
from liptest.values.protocol import NUMBERS, NUMPY, Symbolic, is_symbolic

#: What stands for a series, and answers NumPy's functions of it.
SERIES: set[type] = set()
ADVICE = "use operators, clip, round, .to_dict(), .tolist(), .items() or single keys"


class KeyedSeries(HasEntries):
    """Numbers by key, in order.

    Parameters
    ----------
    keys
        In their order.
    array
        (keys,) numbers, symbolic or plain.
    names
        What ``describe`` says; None where data are symbolic: there only constants can name them.
    """

    __slots__ = ("array", "keys_", "names_")

    #: Makes such series of the columns of a plain frame (``keyed_frame``).
    frame_of: ClassVar[Any]
    #: Makes a frame of one column.
    frame_of_column: ClassVar[Any]
    #: Further methods by name (``series_methods``).
    methods: ClassVar[dict[str, Callable[..., Any]]] = {}
    #: Writes where a condition holds.
    written: ClassVar[Callable[..., Any]]

    described = "a series of sums and noise"
    advice = ADVICE
    is_discrete = False
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, keys: Iterable[Any], array: Any, names: Any = None) -> None:
        self.keys_ = tuple(keys)
        self.array = array
        self.names_ = names

    @classmethod
    def of(cls, entries: dict[Any, Any], names: Any = None) -> KeyedSeries:
        """Of numbers by key, one of them symbolic at least, or all plain."""
        return cls(entries, numbers_in_line(list(entries.values())), names)

    def like(self, array: Any) -> KeyedSeries:
        """Other numbers of the same keys and names."""
        return KeyedSeries(self.keys_, array, self.names_)

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.Series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of; constants are not."""
        if type(self.array) is not SymbolicArray:
            raise NotImplementedError("a series of constants that meets what is not followed")
        home: Branching = self.array.branching
        return home

    def refuse(self, use: str, advice: str = "") -> Any:
        """End the analysis."""
        return _Words(self).refuse(use, advice)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'Series' object has no attribute {name!r}")
        method = KeyedSeries.methods.get(name)
        if method is not None:
            return partial(method, self)
        return self[name] if name in self.keys_ else self.refuse(f".{name}")

    def concretise(self, use: str) -> Any:
        """Its keys and entries; as an output only."""
        if use != "the output":
            self.refuse(use)
        own = {"index": self.keys_, "values": self.tolist()}
        return Labelled("Series", own | known_names(self.names_), self.array.dtype)

    # ---- operators

    def calculated(self, operation: Any, other: Any, *, swapped: bool) -> Any:
        """An operator, entry by entry; with another series of the same keys."""
        partner = self._entries_of(other)
        pair = (partner, self.array) if swapped else (self.array, partner)
        made = self.like(operation(*pair))
        made.names_ = self._names_with(other)
        return made

    def _names_with(self, other: Any) -> Any:
        """Where two series have different names, what is made of them has none."""
        keyed = as_keyed(other)
        if type(keyed) is not KeyedSeries:
            return self.names_
        return join_descriptions(self.names_, keyed.names_)

    def _entries_of(self, other: Any) -> Any:
        """Those of a series of the same keys; a number, or an array, as it is."""
        if type(other) is KeyedSeries or is_series(other):
            keyed = as_keyed(other)
            if keyed.keys_ != self.keys_:
                self.refuse("an operator with a series of other keys", ".reindex(KEYS) first")
            return keyed.array
        if isinstance(other, (list, tuple, dict, str)):
            self.refuse(f"an operator with a {type(other).__name__}")
        return other

    __rtruediv__ = operates(operator.truediv, swapped=True)
    __floordiv__, __mod__ = operates(operator.floordiv), operates(operator.mod)
    __pow__ = operates(operator.pow)
    __and__, __or__ = operates(operator.and_), operates(operator.or_)

    def __neg__(self) -> Any:
        return self.like(-self.array)

    def __abs__(self) -> Any:
        return self.like(abs(self.array))

    def __invert__(self) -> Any:
        return self.like(~self.array)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            self.refuse(f"numpy.{ufunc.__name__}")
        keyed = [as_keyed(operand) for operand in inputs]
        if any(type(operand) is KeyedSeries and operand.keys_ != self.keys_ for operand in keyed):
            self.refuse(f"numpy.{ufunc.__name__} with a series of other keys")
        plain = [operand.array if type(operand) is KeyedSeries else operand for operand in keyed]
        made = self.like(ufunc(*plain))
        for operand in keyed:
            made.names_ = made._names_with(operand)
        return made

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        plain = [
            argument.array if type(argument) is KeyedSeries else argument for argument in inputs
        ]
        answer = function(*plain, **options)
        if function.__name__ in ("clip", "round", "around"):
            return self.like(answer)
        return answer

    # ---- entries

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each entry within two constants."""
        return self.like(np.clip(self.array, lower, upper))

    def round(self, decimals: int = 0) -> Any:
        """Each entry rounded."""
        return self.like(np.round(self.array, decimals))

    def where(self, condition: Any, other: Any = np.nan) -> Any:
        """Its entries where a condition holds, else others."""
        return self._choose(condition, other, ".where", takes_own=True)

    def mask(self, condition: Any, other: Any = np.nan) -> Any:
        """Its entries where a condition does not hold, else others."""
        return self._choose(condition, other, ".mask", takes_own=False)

    def _choose(self, condition: Any, other: Any, use: str, *, takes_own: bool) -> Any:
        if other is None:
            return self.refuse(f"{use} with None for the others")
        if callable(condition) and not issubclass(type(condition), Symbolic):
            condition = condition(self)
        holds, others = self._entries_of(condition), self._entries_of(other)
        pair = (self.array, others) if takes_own else (others, self.array)
        return self.like(np.where(holds, *pair))

    def astype(self, dtype: Any) -> Any:
        """Entries of another type."""
        return self.like(self.array.astype(dtype))

    def apply(self, func: Any) -> Any:
        """What a function of the program makes of each entry."""
        if not callable(func):
            return self.refuse(".apply of what is not a function")
        return self._with([func(entry) for entry in self.tolist()])

    map = apply

    def apply_by(self, function: Any, by_rows: bool) -> Any:
        """The same of a function that only calculates: it makes a list of a list."""
        return self.refuse(".apply by rows") if by_rows else self._with(function(self.tolist()))

    def _with(self, made: list[Any]) -> Any:
        self._check_each_once(".apply")
        return series_of_made(self, dict(zip(self.keys_, made, strict=True)))

    def _check_each_once(self, use: str) -> None:
        if len(set(self.keys_)) < len(self.keys_):
            self.refuse(f"{use}, with a key that occurs twice,")

    def to_numpy(self) -> Any:
        """The entries as an array."""
        return self.array

    @property
    def values(self) -> Any:
        """The entries as an array."""
        return self.array

    @property
    def index(self) -> Any:
        """The keys."""
        return as_index(self.keys_, known_names(self.names_))

    @index.setter
    def index(self, value: Any) -> None:
        other = self.set_axis(value)
        self.keys_, self.names_ = other.keys_, other.names_

    def keys(self) -> Any:
        """The keys."""
        return self.index

    @property
    def name(self) -> Any:
        """What it is called."""
        called = UNKNOWN if self.names_ is None else self.names_.get("name")
        return self.refuse(".name, which is not known") if called is UNKNOWN else called

    @name.setter
    def name(self, value: Any) -> None:
        self.names_ = (self.names_ or {"index_names": (UNKNOWN,)}) | {"name": value}

    def tolist(self) -> list[Any]:
        """The entries as a list."""
        return [self.array[place] for place in range(len(self.keys_))]

    to_list = tolist

    def to_frame(self, name: Any = None) -> Any:
        """A frame of one column, which must have a name."""
        own = None if self.names_ is None else self.names_.get("name")
        called = own if name is None else name
        if called is None or is_symbolic(called):
            return self.refuse(".to_frame without a name")
        return KeyedSeries.frame_of_column(called, self)

    def to_dict(self) -> dict[Any, Any]:
        """The entries by key."""
        self._check_each_once(".to_dict")
        return dict(zip(self.keys_, self.tolist(), strict=True))

    def items(self) -> Iterator[tuple[Any, Any]]:
        """(key, entry) in order."""
        return zip(self.keys_, self.tolist(), strict=True)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __len__(self) -> int:
        return len(self.keys_)

    def __getitem__(self, key: Any) -> Any:
        if type(key) in (str, int) and key in self.keys_:
            self._check_each_once("an index")
            return self.array[self.keys_.index(key)]
        return KeyedSeries.taken(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Another number for a key, or where a condition holds; one for a new key, of its type."""
        if type(key) is KeyedSeries:
            KeyedSeries.written(self, key, value, "an assignment")
            return
        kind = value.kind if is_symbolic(value) else type(value)
        letter = np.dtype(kind).kind if kind in (int, float) or is_symbolic(value) else ""
        if type(key) not in (str, int) or letter not in ("i", "f"):
            self.refuse("an assignment of another key or type")
        if letter != self.array.dtype.kind or (key not in self.keys_ and type(key) is not str):
            self.refuse("an assignment of another key or type")
        made = KeyedSeries.of(self.to_dict() | {key: value})
        self.keys_, self.array = made.keys_, made.array

    def get(self, key: Any, default: Any = None) -> Any:
        """The entry of a key."""
        return self[key] if key in self.keys_ else default


class _Words(PartOfPandas):
    """What is said of a series of which something is asked that is not followed."""

    __slots__ = ()

    described, advice = KeyedSeries.described, ADVICE


def series_of_made(owner: Any, entries: dict[Any, Any]) -> Any:
    """What a function of the program has made by key, numbers alone; else ``owner`` refuses it."""
    if any(not is_symbolic(made) and not isinstance(made, NUMBERS) for made in entries.values()):
        return owner.refuse(".apply of a function that makes other things than numbers")
    return KeyedSeries.of(entries, owner.names_ if type(owner) is KeyedSeries else None)


SERIES.add(KeyedSeries)


def as_keyed(series: Any) -> Any:
    """A plain series of pandas by its keys, or a plain frame; what stands for one as it is."""
    if is_plain_frame(series):
        return KeyedSeries.frame_of(series)
    if not is_series(series):
        return series
    entries = series.tolist() if series.dtype == object else []
    has_symbols = any(map(is_symbolic, entries))
    array = numbers_in_line(entries) if has_symbols else series.to_numpy()
    return KeyedSeries(series.index.tolist(), array, describe(series))


def _of_series(operation: Any, left: Any, right: Any) -> Any:
    if not any(is_series(one) or is_plain_frame(one) for one in (left, right)):
        return NotImplemented
    return operation(as_keyed(left), as_keyed(right))


NUMPY.of_series = _of_series
