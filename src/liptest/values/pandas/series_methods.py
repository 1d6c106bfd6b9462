"""Methods of a series of noisy numbers, each as the functions of NumPy that it is made of.

What they give follows from the entries by operations that are followed on arrays; where keys are
put in an order, or are left out, the run branches over the comparisons. Entries that are missing
(NaN) are left out as pandas does.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.answers.aligned import ReleasedValue
from liptest.values.array import numbers_in_line
from liptest.values.pandas.hidden_entries import move_entries
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.moving_methods import take_entries
from liptest.values.pandas.of_pandas import SeriesOfPandas, are_between
from liptest.values.protocol import is_nan, is_symbolic

Numbers = Any


def _quantile(array: Numbers, q: Any = 0.5) -> Any:
    return np.quantile(array, q)


def _std(array: Numbers, ddof: int = 1) -> Any:
    return np.std(array, ddof=ddof)


def _var(array: Numbers, ddof: int = 1) -> Any:
    return np.var(array, ddof=ddof)


#: What makes one number of all entries.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "mean": np.mean,
    "sum": np.sum,
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "prod": np.prod,
    "std": _std,
    "var": _var,
    "quantile": _quantile,
}
_TRUTHS: dict[str, Callable[..., Any]] = {"any": np.any, "all": np.all}
_PLACES: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv")},
    **{name: getattr(operator, name) for name in ("mod", "pow", "lt", "le", "gt", "ge")},
    **{"eq": operator.eq, "ne": operator.ne, "div": operator.truediv},
}


def is_missing(entry: Any) -> bool:
    """Whether an entry is NaN; it is asked where it may be."""
    if type(entry) is ReleasedValue and not entry.is_finite:
        return bool(np.isnan(entry))
    return not is_symbolic(entry) and bool(is_nan(entry))


def list_missing(series: KeyedSeries) -> list[bool]:
    """Whether each entry is missing."""
    if series.array.dtype.kind != "f":
        return [False] * len(series)
    return [is_missing(entry) for entry in series.array]


def present_entries(series: KeyedSeries) -> Numbers:
    """The entries that are not missing."""
    missing = list_missing(series)
    if not any(missing):
        return series.array
    return series.array[np.flatnonzero(np.logical_not(missing))]


def reduce_to_number(series: KeyedSeries, name: str, *given: Any, **options: Any) -> Any:
    """A method that makes one number of all entries."""
    for title in ("axis", "skipna", "numeric_only", "min_count"):
        if options.pop(title, None) not in (None, 0, True, False, "index"):
            return series.refuse(f".{name} with these arguments")
    array = present_entries(series)
    if array.dtype.kind not in "if" and name != "sum":
        return series.refuse(f".{name} of what are not numbers")
    if not len(array):
        return series.refuse(f".{name} of no entries")
    return REDUCTIONS[name](array, *given, **options)


def _reducing(name: str) -> Callable[..., Any]:
    def method(series: KeyedSeries, *given: Any, **options: Any) -> Any:
        if name == "quantile" and np.ndim(given[0] if given else options.get("q", 0.5)):
            return series.refuse(".quantile of several", "take one after another")
        return reduce_to_number(series, name, *given, **options)

    return method


def _truth(name: str) -> Callable[..., Any]:
    def method(series: KeyedSeries) -> Any:
        array = series.array
        return _TRUTHS[name](array if array.dtype == np.bool_ else np.not_equal(array, 0))

    return method


def _place(name: str) -> Callable[..., Any]:
    def method(series: KeyedSeries) -> int:
        _check_complete(series, f".{name}")
        return int(_PLACES[name](series.array))

    return method


def _key(name: str) -> Callable[..., Any]:
    find = _place(name.replace("idx", "arg"))
    return lambda series: series.keys_[find(series)]


def _check_complete(series: KeyedSeries, use: str) -> None:
    if any(list_missing(series)) or not len(series):
        series.refuse(f"{use} of a series with missing entries, or of none,")


def _operating(operation: Callable[..., Any], *, swapped: bool) -> Callable[..., Any]:
    def method(series: KeyedSeries, other: Any, fill_value: Any = None, axis: Any = 0) -> Any:
        if fill_value is not None or axis not in (0, "index"):
            return series.refuse("an operator with fill_value or an axis")
        return series.calculated(operation, other, swapped=swapped)

    return method


def find_sizes(series: KeyedSeries) -> Any:
    """The size of each entry."""
    return series.like(np.abs(series.array))


def add_up_entries(series: KeyedSeries) -> Any:
    """The sum of each entry and those before it."""
    _check_complete(series, ".cumsum")
    return series.like(np.cumsum(series.array))


def find_differences(series: KeyedSeries, periods: int = 1) -> Any:
    """Each entry less the one before it; the first is missing."""
    if periods != 1 or len(series) < 2:
        return series.refuse(".diff with another period")
    steps = np.diff(series.array.astype(float))
    return series.like(numbers_in_line([np.nan, *steps]))


def are_missing(series: KeyedSeries) -> Any:
    """Whether each entry is missing."""
    return series.like(np.array(list_missing(series), dtype=bool))


def fill_missing(series: KeyedSeries, value: Any = None) -> Any:
    """Another number for entries that are missing."""
    if not is_symbolic(value) and type(value) not in (int, float):
        return series.refuse(".fillna with what is not a number")
    missing = list_missing(series)
    if not any(missing):
        return series.like(series.array)
    pairs = zip(series.array, missing, strict=True)
    filled = [float(value) if is_off else entry for entry, is_off in pairs]
    return series.like(numbers_in_line(filled))


def drop_missing(series: KeyedSeries) -> Any:
    """The entries that are not missing."""
    return take_entries(series, np.logical_not(list_missing(series)), ".dropna")


def fill_from(series: KeyedSeries, other: Any) -> Any:
    """Its entries, and those of another series for other keys."""
    if any(list_missing(series)):
        return series.refuse(".combine_first of a series with missing entries")
    return move_entries(series, ".combine_first", lambda a, b: a.combine_first(b), series, other)


def rank_entries(series: KeyedSeries, ascending: bool = True) -> Any:
    """The place of each entry in the order, from 1, where no two are equal."""
    order = find_key_order(series, ascending=ascending, kind=None, use=".rank")
    check_orders(series, len(series))
    ranks = np.empty(len(series))
    for rank in range(len(series)):
        ranks[order(rank)] = rank + 1.0
    return series.like(ranks)


def combine_answers(series: KeyedSeries, func: Any) -> Any:
    """What names of methods say, one or several; or a function of each entry."""
    if isinstance(func, str):
        return getattr(series, func)()
    if type(func) is list and all(isinstance(one, str) for one in func):
        names = None if series.names_ is None else {"name": series.names_.get("name")}
        return KeyedSeries.of({one: getattr(series, one)() for one in func}, names)
    return series.refuse(".agg of what are not names")


def call_with(series: Any, func: Any, *given: Any, **options: Any) -> Any:
    """``.pipe``."""
    return func(series, *given, **options)


# ---- orders

#: So many orders of keys are told apart; more are refused.
MOST_ORDERS = 5040


def find_key_order(
    series: KeyedSeries, *, ascending: bool, kind: Any, use: str
) -> Callable[[int], int]:
    """Where the entry of each rank stands; a rank is asked for when it is looked at."""
    _check_complete(series, use)
    array, count = series.array, len(series)
    # pandas turns the entries around, so that equal ones stay as they are in both orders.
    places = np.argsort(array if ascending else array[::-1], kind=kind)

    def place(rank: int) -> int:
        return int(places[rank]) if ascending else count - 1 - int(places[count - 1 - rank])

    return place


def check_orders(series: KeyedSeries, asked: int) -> None:
    """Refuse more orders of so many keys than are told apart."""
    if math.perm(len(series), asked) > MOST_ORDERS:
        series.refuse(
            f"an order of {asked} of {len(series)} keys", "take the first of them: .head(3)"
        )


def sort_series(
    series: KeyedSeries,
    axis: Any = 0,
    ascending: Any = True,
    kind: Any = None,
    na_position: str = "last",
    ignore_index: bool = False,
) -> Any:
    """Its entries in order."""
    if ascending not in (True, False) or na_position != "last" or axis != 0 or ignore_index:
        return series.refuse(".sort_values with these arguments")
    order = find_key_order(series, ascending=bool(ascending), kind=kind, use=".sort_values")
    return SortedSeries(series, order)


def _extremes(name: str, *, ascending: bool) -> Callable[..., Any]:
    def method(series: KeyedSeries, n: int = 5, keep: str = "first") -> Any:
        if keep != "first":
            return series.refuse(f".{name} with these arguments")
        # Where all are asked for, pandas sorts them.
        kind = None if n >= len(series) else "stable"
        order = find_key_order(series, ascending=ascending, kind=kind, use=f".{name}")
        return SortedSeries(series, order).head(n)

    return method


class SortedSeries(SeriesOfPandas):
    """The entries in order, of which only those places are found that are looked at."""

    __slots__ = ("_made", "_order", "_series")

    def __init__(self, series: KeyedSeries, order: Callable[[int], int]) -> None:
        self._series, self._order = series, order
        self._made: Any = None

    @property
    def branching(self) -> Any:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._series.branching

    def whole(self) -> KeyedSeries:
        """All of it."""
        if self._made is None:
            self._made = self._ranked(range(len(self._series)))
        made: KeyedSeries = self._made
        return made

    def _ranked(self, ranks: range) -> KeyedSeries:
        check_orders(self._series, len(ranks))
        places = [self._order(rank) for rank in ranks]
        taken: KeyedSeries = take_entries(self._series, places, ".sort_values", "iloc")
        return taken

    def head(self, n: int = 5) -> KeyedSeries:
        """The first of them."""
        return self._ranked(range(len(self._series))[:n])

    def tail(self, n: int = 5) -> KeyedSeries:
        """The last of them."""
        return self._ranked(range(len(self._series))[len(self._series) - n :])

    @property
    def iloc(self) -> Any:
        """Entries by their rank."""
        return _RankedEntries(self)

    @property
    def index(self) -> Any:
        """The keys in order."""
        return _RankedKeys(self)

    def keys(self) -> Any:
        """The keys in order."""
        return self.index

    def ranked(self, key: Any) -> KeyedSeries:
        """The entries of one rank, or of a slice of them."""
        ranks = range(len(self._series))
        chosen = ranks[key]
        return self._ranked(chosen if isinstance(chosen, range) else ranks[chosen : chosen + 1])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattr__(name)
        return getattr(self.whole(), name)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.ranked(key)
        return self._series[key] if type(key) is str else self.whole()[key]

    def __iter__(self) -> Any:
        return iter(self.whole())

    def __len__(self) -> int:
        return len(self._series)

    def __contains__(self, item: Any) -> bool:
        return item in self._series.keys_

    def concretise(self, use: str) -> Any:
        """Its keys and entries; as an output only."""
        return self.whole().concretise(use)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [one.whole() if type(one) is SortedSeries else one for one in inputs]
        return getattr(ufunc, method)(*plain, **options)


def _of_whole(name: str) -> Callable[..., Any]:
    return lambda self, *others: getattr(self.whole(), name)(*others)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "lt", "le", "gt", "ge"):
    setattr(SortedSeries, f"__{_name}__", _of_whole(f"__{_name}__"))


class _RankedEntries(SeriesOfPandas):
    """``.iloc`` of a sorted series."""

    __slots__ = ("_of",)

    def __init__(self, of: SortedSeries) -> None:
        self._of = of

    @property
    def branching(self) -> Any:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._of.branching

    def __getitem__(self, key: Any) -> Any:
        if type(key) not in (int, slice):
            return self._of.whole().iloc[key]
        found = self._of.ranked(key)
        return found if isinstance(key, slice) else found.array[0]


class _RankedKeys(_RankedEntries):
    """The keys of a sorted series."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if type(key) not in (int, slice):
            return self._of.whole().index[key]
        found = self._of.ranked(key).index
        return found if isinstance(key, slice) else found[0]

    def __iter__(self) -> Any:
        return iter(self._of.whole().index)

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, item: Any) -> bool:
        return item in self._of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattr__(name)
        return getattr(self._of.whole().index, name)


#: By name.
SERIES_METHODS: dict[str, Callable[..., Any]] = (
    {name: _reducing(name) for name in REDUCTIONS}
    | {name: _truth(name) for name in _TRUTHS}
    | {name: _place(name) for name in _PLACES}
    | {name: _key(name) for name in ("idxmax", "idxmin")}
    | {name: _operating(one, swapped=False) for name, one in _OPERATORS.items()}
    | {f"r{name}": _operating(one, swapped=True) for name, one in _OPERATORS.items()}
    | {
        "abs": find_sizes,
        "cumsum": add_up_entries,
        "diff": find_differences,
        "between": are_between,
    }
    | {"fillna": fill_missing, "dropna": drop_missing, "combine_first": fill_from}
    | {"rank": rank_entries, "agg": combine_answers, "aggregate": combine_answers}
    | dict.fromkeys(("isna", "isnull"), are_missing)
    | {"pipe": call_with, "sort_values": sort_series}
    | {"nlargest": _extremes("nlargest", ascending=False)}
    | {"nsmallest": _extremes("nsmallest", ascending=True)}
)
