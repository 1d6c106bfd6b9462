"""What stands for an object of pandas: what it does not follow, it refuses, with the line.

Of methods that look at rows together, without noise, it says what to write instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from liptest.values.branching import Branching
from liptest.values.protocol import ARITHMETIC, COMPARISONS, Operation, Symbolic, find_branching

ADVICE = (
    "treat all rows alike (arithmetic, clip, comparisons of columns, frame[condition]), then sum "
    "or count, by group with .reindex(KEYS, fill_value=0)"
)


def columns_are_copied() -> bool:
    """Whether pandas writes into no series that was taken from a frame before (from 3 on)."""
    import pandas

    return int(pandas.__version__.partition(".")[0]) >= 3


class OfPandas(Symbolic):
    """What stands for an object of pandas."""

    __slots__ = ()

    #: Whether it is a frame.
    has_columns = False
    #: Whether it says which rows of each user are left.
    bounds_rows = False

    described = "a data frame (only sums over all rows are followed)"
    advice = ADVICE

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        self.refuse(words_of_use(name), INSTEAD.get(name, ""))

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

    def walked_groups(self) -> Any:
        """What a loop that tells some groups only walks: the same where there are none."""
        return self

    def in_dict(self) -> Any:
        """``dict(pairs)``, of what is not a plain iterable."""
        return dict(self)

    def zipped_with(self, other: Any) -> Any:
        """``zip(self, other)`` of keys and their numbers; None of all else."""
        return None

    def apply_by(self, function: Any, by_rows: bool) -> Any:
        """``.apply`` of a function; ``function`` makes a list of numbers of rows."""
        return self.refuse(".apply", INSTEAD["apply"])

    def refuse(self, use: str, advice: str = "") -> Any:
        """End the analysis."""
        return _Words(self.branching, advice or self.advice, self.described).refuse(use)


class PartOfPandas(OfPandas):
    """What is asked of such an object, ``_of``."""

    __slots__ = ("_of",)

    kind = object

    def __init__(self, of: Any) -> None:
        self._of = of

    branching = find_branching("_of")


class GroupedColumns(OfPandas):
    """The rows of a frame by something, with its columns as attributes."""

    __slots__ = ()

    _frame: Any

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._frame:
            return self[name]
        return super().__getattr__(name)


class CountsRows(OfPandas):
    """What has rows, of which there may be a private number."""

    __slots__ = ()

    def count_rows(self) -> Any:
        """How many rows there are, which may be an answer."""
        return self.refuse("len()")

    def __len__(self) -> int:
        return self.count_rows()  # type: ignore[no-any-return]


def operates(operation: Operation, *, swapped: bool = False) -> Any:
    """The method of an operator of what is ``Calculated``."""

    def operate(self: Calculated, other: Any) -> Any:
        return self.calculated(operation, other, swapped=swapped)

    return operate


class Calculated(Symbolic):
    """What calculates with numbers, and with others of its kind, entry by entry."""

    __slots__ = ()

    def calculated(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        """An operator, entry by entry."""
        raise NotImplementedError

    __add__, __radd__ = operates(operator.add), operates(operator.add, swapped=True)
    __sub__, __rsub__ = operates(operator.sub), operates(operator.sub, swapped=True)
    __mul__, __rmul__ = operates(operator.mul), operates(operator.mul, swapped=True)
    __truediv__ = operates(operator.truediv)
    __lt__, __le__ = operates(operator.lt), operates(operator.le)
    __gt__, __ge__ = operates(operator.gt), operates(operator.ge)


class HasEntries(Calculated):
    """Numbers by key, of which indexers take some."""

    __slots__ = ()

    #: Takes the entries of an index that moves them (``moving_methods``).
    taken: ClassVar[Callable[..., Any]]
    #: Makes the indexers.
    indexer: ClassVar[Callable[..., Any]]

    @property
    def loc(self) -> Any:
        """Entries of keys, or of a condition, to be read and written."""
        return self.indexer(self, "loc")

    @property
    def at(self) -> Any:
        """One entry by its keys."""
        return self.indexer(self, "at")

    @property
    def iloc(self) -> Any:
        """Entries of places."""
        return self.indexer(self, "iloc")

    @property
    def iat(self) -> Any:
        """The entry of one place."""
        return self.indexer(self, "iat")


class MadeOfRows(OfPandas):
    """Rows of users, of which numbers are made that have a name."""

    __slots__ = ()

    def agg(self, func: Any = None) -> Any:
        """What a name says."""
        return self.refuse(".agg")

    def sum(self) -> Any:
        """The sum of each."""
        return self.agg("sum")

    def mean(self) -> Any:
        """The mean of each."""
        return self.agg("mean")

    def count(self) -> Any:
        """How many there are, as ``size``: nothing is missing."""
        return self.agg("count")

    def max(self) -> Any:
        """The largest of each."""
        return self.agg("max")

    def min(self) -> Any:
        """The smallest of each."""
        return self.agg("min")


class FrameOfPandas(OfPandas):
    """What stands for a frame of pandas."""

    __slots__ = ()

    has_columns = True

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.DataFrame


class SeriesOfPandas(OfPandas):
    """What stands for a series of pandas."""

    __slots__ = ()

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.Series


class SeriesOfRecords(SeriesOfPandas):
    """What stands for a series; of the records of ``array``."""

    __slots__ = ()

    array: Any
    #: What ``agg`` names.
    named: ClassVar[tuple[str, ...]] = (
        *("sum", "mean", "count", "nunique", "median", "max", "min", "std", "var"),
    )

    branching = find_branching("array")

    def find_numbers(self) -> Any:
        """Its column, where it has a number of each record; None for all else."""
        return None

    def _number_of_all(self, function: Any, use: str, *arguments: Any, **options: Any) -> Any:
        """A function of NumPy of the numbers of all records."""
        array = self.find_numbers()
        if array is None:
            return self.refuse(use, INSTEAD[use.removeprefix(".")])
        return function(array, *arguments, **options)

    def median(self) -> Any:
        """The number in the middle of all, or half of both."""
        return self._number_of_all(np.median, ".median")

    def quantile(self, q: Any = 0.5) -> Any:
        """The number below which so many are."""
        return self._number_of_all(np.quantile, ".quantile", q)

    def max(self) -> Any:
        """The largest number."""
        return self._number_of_all(np.max, ".max")

    def min(self) -> Any:
        """The smallest number."""
        return self._number_of_all(np.min, ".min")

    def std(self, *, ddof: Any = 1) -> Any:
        """The standard deviation, of which pandas divides the squares by n - 1."""
        return self._number_of_all(np.std, ".std", ddof=ddof)

    def var(self, *, ddof: Any = 1) -> Any:
        """The variance."""
        return self._number_of_all(np.var, ".var", ddof=ddof)


class _Words(Symbolic):
    def __init__(self, branching: Branching, advice: str, described: str) -> None:
        self.branching = branching
        self.advice = advice
        self.described = described


def _refuse(operation: Any) -> Any:
    def operate(self: OfPandas, other: Any) -> Any:
        return self.refuse(f"an operator ({operation.__name__})")

    return operate


for _operation in (*ARITHMETIC.values(), *COMPARISONS.values()):
    _name = _operation.__name__.rstrip("_")
    for _method_name in (f"__{_name}__", f"__r{_name}__"):
        setattr(OfPandas, _method_name, _refuse(_operation))


_NOISY_COUNTS = (
    "count the rows between constant edges, pandas.cut(x, EDGES).value_counts(sort=False), add "
    "noise, and look for it in the noisy counts"
)
_MOMENTS = (
    "add noise to the sums of the columns, of their squares and of their products, each of clipped "
    "columns, and calculate it from these"
)
_ORDER = (
    "places in an order depend on all rows: compare columns with constants, or count the rows "
    "between constant edges"
)
_EARLIER_ROWS = "a row may not depend on the rows before it: add up, or count, over all rows"
_SOME_ROWS = "choose rows by what is in them, frame[condition], and columns by their names"
_LARGEST_COUNT = (
    "count each value, value_counts().reindex(KEYS, fill_value=0), add noise, and take .idxmax() "
    "of the noisy counts"
)
_ONE_BY_ONE = "add up, or count, the columns one by one"

#: By the name of a method.
INSTEAD = {
    **dict.fromkeys(("quantile", "median", "max", "min", "argmax", "argmin"), _NOISY_COUNTS),
    **dict.fromkeys(("std", "var", "sem", "skew", "kurt", "corr", "cov", "corrwith"), _MOMENTS),
    **dict.fromkeys(("rank", "sort_values", "nlargest", "nsmallest", "argsort"), _ORDER),
    **dict.fromkeys(("diff", "shift", "rolling", "expanding", "ewm", "pct_change"), _EARLIER_ROWS),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill"), _EARLIER_ROWS),
    **dict.fromkeys(("head", "tail", "iloc", "iat", "sample", "take", "truncate"), _SOME_ROWS),
    **dict.fromkeys(("mode", "idxmax", "idxmin"), _LARGEST_COUNT),
    **dict.fromkeys(("melt", "stack", "explode", "T", "transpose", "append"), _ONE_BY_ONE),
    "describe": (
        "add noise to .count() and .sum(), and for quantiles to the counts between constant edges"
    ),
    "replace": ".map({..}), with an entry for every value that is declared",
    "unique": "name the values that are declared",
    "mean": (
        "sum and count each group, add noise to both, and divide these (a mean by group divides "
        "by a private count)"
    ),
    "filter": "add noise to the size of each group, and leave groups out by it: noisy[noisy > 20]",
    "transform": (
        "a number of the group of each row depends on the other rows: sum or count by group, with "
        "noise"
    ),
    "apply": ("make a column of it first, with frame.assign(new=..), and sum or count it by group"),
}


def are_between(series: Any, left: Any, right: Any, inclusive: str = "both") -> Any:
    """Whether each entry lies between two numbers."""
    if inclusive not in ("both", "left", "right", "neither"):
        return series.refuse(".between with these arguments")
    above = series >= left if inclusive in ("both", "left") else series > left
    return above & (series <= right if inclusive in ("both", "right") else series < right)


def words_of_use(name: str) -> str:
    """What was asked for; pandas itself asks for names that begin with _."""
    return "a function of pandas that is not followed" if name.startswith("_") else f".{name}"
