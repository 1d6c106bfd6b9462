"""One number for each user: what pandas makes of the rows of each, as ``groupby(key)[..].sum()``.

What one user adds is whatever all rows of the user together make, so that only a clip of it bounds
that, or what lies between the ends of single rows. A sum over all users is an answer to which each
user adds a number between two ends (docs/theory/tables.md, B15). Users themselves are not to be
seen: keys, order, single numbers are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from liptest.values.answers.answer_book import AnswerBook
from liptest.values.pandas.of_pandas import CountsRows, SeriesOfPandas
from liptest.values.pandas.record_series import KeySeries
from liptest.values.pandas.user_numbers import COUNTS, PerUser, number_at
from liptest.values.protocol import find_branching, is_symbolic
from liptest.values.reals.recipes import ENDS, Recipe, has_known, is_safe
from liptest.values.reals.rounded_sums import Rounding, find_margin

_OWN = number_at(0)
#: What is made of the rows of a user; of those to the left a number of the rows themselves.
_OF_ONE_ROW, _OF_ALL_ROWS = ("max", "min", "first", "last"), ("sum", "mean", "median", *COUNTS)
# Whole numbers that are floats, too, and sums that do not overflow.
_MOST_WHOLE, _MOST_SUM = 1 << 52, 1e300
_UNIT = Fraction(1, 1 << 53)
_KINDS = (int, float, np.integer, np.floating)
_CLIPPED = "clip what each user adds: frame.groupby(key)['column'].sum().clip(0, 100).sum()"


def _calculation(ufunc: Any, *, swapped: bool = False) -> Any:
    def operate(self: UserTotals, other: Any) -> Any:
        return self.calculated(ufunc, other, swapped=swapped)

    return operate


class UserTotals(CountsRows, SeriesOfPandas):
    """See the module.

    Parameters
    ----------
    column
        Of the rows; says which these are.
    per_user
        What is made of them.
    ends
        Between which floats the numbers lie.
    recipe
        How each is calculated from what is made of the rows.
    is_whole
        Whether they are whole numbers.
    among
        Those users are left for which this is not 0; None for all.
    name
        Of the series.
    """

    __slots__ = ("_among", "_column", "_ends", "_is_whole", "_per_user", "_recipe", "name")

    described = "what is made of the rows of each user (only clipped sums are followed)"
    advice = _CLIPPED
    #: Whether the numbers of users are added up in their order.
    keeps_order = True
    #: Makes a frame of such numbers, by name (``frame_groups``).
    frame_of: ClassVar[Any]
    #: Whether a sum that is too large is infinite, and not an exception.
    may_overflow = True

    def __init__(
        self,
        column: Any,
        per_user: PerUser,
        ends: tuple[float, float],
        *,
        is_whole: bool,
        recipe: Recipe = _OWN,
        among: Recipe | None = None,
        name: Any = None,
    ) -> None:
        self.name = name
        self._column, self._per_user, self._ends = column, per_user, ends
        self._is_whole, self._recipe, self._among = is_whole, recipe, among

    @property
    def is_whole(self) -> bool:
        """Whether they are whole numbers."""
        return self._is_whole

    @classmethod
    def of(cls, series: Any, how: str, refuse: Callable[..., Any]) -> Any:
        """What pandas makes of the rows of each user."""
        if how not in (*_OF_ONE_ROW, *_OF_ALL_ROWS):
            return refuse(f".{how}", _CLIPPED)
        column = series.array.storage if how in COUNTS else series.numbers(f".{how}").storage
        if column.kept is None:
            return refuse(f".{how}", _CLIPPED)
        low, high, recipe, kind = _find_rows(column, is_size=how == "size")
        if recipe is None or has_known(recipe):
            return refuse(f".{how}", _CLIPPED)
        if kind.kind == "i" and max(-low, high) * column.answers.records >= _MOST_WHOLE:
            return refuse(f".{how} of whole numbers that are too large for floats")
        is_whole = how in COUNTS or (kind.kind in "ib" and how not in ("mean", "median"))
        ends = _find_ends(how, (low, high), column.answers.most_rows, is_exact=kind.kind in "ib")
        per_user = PerUser(column.answers.bound, column.kept.tobytes(), ((how, recipe),))
        name = None if how == "size" else series.name
        return cls(column, per_user, ends, is_whole=is_whole, name=name)

    def counts_rows(self, by: KeySeries) -> bool:
        """Whether it is how many rows each user of a column has."""
        own = UserTotals.of(by, "size", by.refuse)
        alike = self._among is None and self.is_of(own) and self._recipe == _OWN
        return bool(alike and self._per_user == own._per_user)

    branching = find_branching("_column")

    def calculated(self, ufunc: Any, other: Any = None, *, swapped: bool = False) -> Any:
        """A function of NumPy, of each number and a constant."""
        name = f"numpy.{ufunc.__name__}"
        if self._is_loose and ufunc not in _SELECTING:
            return self.refuse(f"{name} of sums of floats, whose rounding is not known")
        if ufunc in _LOGICAL:
            return self._combine(ufunc, other)
        parts: list[tuple[Recipe, float, float]] = [(self._recipe, *self._ends)]
        if ufunc.nin == 2:
            if not _is_constant(other):
                return self.refuse(f"{name} with what is not a constant")
            parts.append((("number", type(other), other), float(other), float(other)))
        is_whole = self._is_whole and (other is None or isinstance(other, (int, np.integer)))
        is_whole = is_whole and ufunc is not np.divide
        parts = parts[::-1] if swapped else parts
        recipe: Recipe = (ufunc, *(part[0] for part in parts))
        if ufunc in _COMPARISONS:
            return self._like(recipe, (0.0, 1.0), is_whole=True)
        lows, highs = ([np.array(part[k]) for part in parts] for k in (1, 2))
        if ufunc not in _FOLLOWED or not is_safe(ufunc, lows, highs):
            return self.refuse(name)
        ends = ENDS[ufunc](ufunc, lows, highs)
        if ends is None or any(np.isnan(end) for end in ends):
            return self.refuse(name)
        return self._like(recipe, (float(ends[0]), float(ends[1])), is_whole=is_whole)

    def _like(self, recipe: Recipe, ends: tuple[float, float], *, is_whole: bool) -> UserTotals:
        made: UserTotals = self._made(type(self), ends, is_whole=is_whole, recipe=recipe)
        return made

    def _made(self, kind: Any, ends: tuple[float, float], **changes: Any) -> Any:
        own: dict[str, Any] = {
            "per_user": self._per_user,
            "is_whole": self._is_whole,
            "recipe": self._recipe,
            "among": self._among,
        }
        own["name"] = self.name
        return kind(self._column, ends=ends, **(own | changes))

    @property
    def is_truth(self) -> bool:
        """Whether it says for each user whether a condition holds."""
        return self._recipe[0] in (*_COMPARISONS, *_LOGICAL)

    def _combine(self, ufunc: Any, other: Any) -> UserTotals:
        """Whether two conditions of the same users hold, or one does not."""
        if ufunc is np.logical_not and other is None and self.is_truth:
            return self._like((ufunc, self._recipe), (0.0, 1.0), is_whole=True)
        is_truth = isinstance(other, UserTotals) and other.is_truth and self.is_truth
        if ufunc is np.logical_not or not is_truth or not self.is_of(other):
            self.refuse("an operator but of two conditions of the same users")
        own, its = self._join(other), other._join(self)
        made: UserTotals = own._like((ufunc, own._recipe, its._recipe), (0.0, 1.0), is_whole=True)
        return made

    def is_of(self, other: UserTotals) -> bool:
        """Whether both are numbers of the same users."""
        own, its = self._per_user, other._per_user
        alike = (own.before, own.kept) == (its.before, its.kept)
        if not alike or self._column.answers is not other._column.answers:
            return False
        return bool(self._join(other)._among == other._join(self)._among)

    def _join(self, other: UserTotals) -> Any:
        """The same, with what the other one is made of beside it."""
        both = self._per_user.joined(other._per_user)
        among = None if self._among is None else self._per_user.rename_recipe(self._among, both)
        recipe = self._per_user.rename_recipe(self._recipe, both)
        return self._made(type(self), self._ends, per_user=both, recipe=recipe, among=among)

    def as_kind(self, kind: Any) -> Any:
        """The same numbers, of another class."""
        return self._made(kind, self._ends)

    @property
    def _is_loose(self) -> bool:
        """Whether how a sum is rounded may depend on the rows of other users."""
        return self._per_user.adds("sum", "mean") and self._column.dtype.kind == "f"

    __add__ = __radd__ = _calculation(np.add)
    __sub__, __rsub__ = _calculation(np.subtract), _calculation(np.subtract, swapped=True)
    __mul__ = __rmul__ = _calculation(np.multiply)
    __truediv__ = _calculation(np.divide)
    __lt__ = lt = _calculation(np.less)
    __le__ = le = _calculation(np.less_equal)
    __gt__ = gt = _calculation(np.greater)
    __ge__ = ge = _calculation(np.greater_equal)
    __eq__ = eq = _calculation(np.equal)
    __ne__ = ne = _calculation(np.not_equal)

    def __getitem__(self, key: Any) -> Any:
        """The users for whom a condition holds."""
        if not isinstance(key, UserTotals) or not key.is_truth:
            return self.refuse("an index")
        if not self.is_of(key):
            return self.refuse("an index by numbers of other users")
        own, its = self._join(key), key._join(self)
        among = its._recipe if own._among is None else (np.logical_and, own._among, its._recipe)
        return own._made(type(self), self._ends, among=among)

    def __and__(self, other: Any) -> Any:
        return self.calculated(np.logical_and, other)

    def __or__(self, other: Any) -> Any:
        return self.calculated(np.logical_or, other)

    def __invert__(self) -> Any:
        return self.calculated(np.logical_not)

    def abs(self) -> Any:
        """The absolute value of each number."""
        return self.calculated(np.absolute)

    __abs__ = abs

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each number within two constants."""
        if _is_constant(lower) and _is_constant(upper) and lower > upper:
            lower, upper = upper, lower  # as pandas has them
        clipped = self
        for ufunc, bound in ((np.maximum, lower), (np.minimum, upper)):
            if bound is not None:
                clipped = clipped.calculated(ufunc, bound)
        return clipped

    def rename(self, index: Any = None) -> Any:
        """The same under another name."""
        if not isinstance(index, str):
            return self.refuse(".rename", "give it a name")
        return self._made(type(self), self._ends, name=index)

    def reset_index(self, level: Any = None, *, drop: bool = False, name: Any = None) -> Any:
        """A frame with the numbers, of which the users are not to be seen."""
        if level is not None:
            return self.refuse(".reset_index of a level")
        if drop is True:
            return self
        own = self.name if name is None else name
        if not isinstance(own, str):
            return self.refuse(".reset_index of what has no name", ".reset_index(name='n')")
        return self.frame_of({own: self})

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        is_plain = method == "__call__" and not options and len(inputs) == ufunc.nin <= 2
        if not is_plain or sum(one is self for one in inputs) != 1:
            return self.refuse(f"numpy.{ufunc.__name__}")
        others = [one for one in inputs if one is not self]
        return self.calculated(ufunc, *others, swapped=inputs[0] is not self)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function.__name__ == "sum" and inputs[0] is self and len(inputs) == 1 and not options:
            return self.sum()
        if function.__name__ == "clip" and inputs[0] is self and len(inputs) == 3 and not options:
            return self.calculated(np.maximum, inputs[1]).calculated(np.minimum, inputs[2])
        return self.refuse(f"numpy.{function.__name__}")

    def sum(self) -> Any:
        """The answer: each user adds a number between the ends, or nothing."""
        low, high = min(self._ends[0], 0.0), max(self._ends[1], 0.0)
        records = self._column.answers.records
        if not max(-low, high) * records < (_MOST_WHOLE if self._is_whole else _MOST_SUM):
            return self.refuse(".sum of numbers that are not clipped")
        if low == high:
            return self.refuse(".sum of zeros")
        # Of numbers that are not multiples of anything: the entry next to a whole one.
        some = np.nextafter(max(-low, high) / 3, np.inf)
        sizes = np.array([low, high, some])
        margin = Fraction(0)
        if not self._is_whole:
            margin = find_margin(sizes, records, is_off=False, in_pairs=self.keeps_order)
        if self._is_loose:
            margin += self._looseness(max(-low, high))
        kept = self._column.kept
        tables = np.where(kept, low, 0.0), np.where(kept, high, 0.0)
        book: AnswerBook = self._column.answers.per_user(self._per_user)
        recipe = self._recipe if self._among is None else (np.multiply, self._recipe, self._among)
        run = self.branching.noise
        order = "" if self._is_whole else run.in_own_order(".sum()")  # of the users
        answer = book.of_recipe(
            recipe, *tables, rounding=Rounding(margin), is_whole=self._is_whole, order=order
        )
        return run.value_of_answer(answer, np.int64 if self._is_whole else np.float64)

    def _looseness(self, largest: float) -> Fraction:
        """How far the rounding of each user's own sum moves two sums over all users (B16)."""
        records, (low, high, _, _) = self._column.answers.records, _find_rows(self._column)
        most = self._column.answers.most_rows or records
        size = max(-low, high)
        if low < 0 < high:
            # What a row has at most, times the rows of a user; of a mean once.
            largest = size * (most if self._per_user.adds("sum") else 1)
        overflows = not self.may_overflow and not size * most < _MOST_SUM
        if overflows or not largest * records < _MOST_SUM:
            self.refuse(
                ".sum of users' sums of floats that are not bounded, whose rounding is not known",
                "clip the rows, too, or let them be at least 0",
            )
        steps = 4 * records * _UNIT
        loose: Fraction = 2 * steps / (1 - steps) * Fraction(largest)
        return loose

    def count_rows(self) -> Any:
        """How many users there are."""
        if self._among is not None:
            return self._made(UserTotals, (0.0, 1.0), is_whole=True, recipe=self._among).sum()
        return self._column.bound_rows(1).storage.count()

    @property
    def size(self) -> Any:
        """How many users there are."""
        return self.count_rows()


_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
#: Of conditions.
_LOGICAL = (np.logical_and, np.logical_or, np.logical_not)
#: What gives one of the numbers, but for its sign.
_SELECTING = (np.maximum, np.minimum, np.absolute)
_FOLLOWED = (np.maximum, np.minimum, np.add, np.subtract, np.multiply, np.divide, np.absolute)


def _find_ends(
    how: str, row: tuple[float, float], most: int | None, *, is_exact: bool
) -> tuple[float, float]:
    """Between which floats the number of a user of at most so many rows lies."""
    if how in COUNTS:
        return 0.0, math.inf if most is None else float(most)
    if how in _OF_ONE_ROW:
        return row
    if how != "sum":
        return -math.inf, math.inf
    # Floats of one sign keep it when they are added up.
    low, high = (0.0 if row[0] >= 0 else -math.inf), (0.0 if row[1] <= 0 else math.inf)
    largest = max(abs(end) for end in row)
    if most is None or not largest * most < _MOST_SUM:
        return low, high
    above = 1.0 if is_exact else 1 + most * 2.0**-50
    return max(low, min(0.0, row[0]) * most * above), min(high, max(0.0, row[1]) * most * above)


def _is_constant(value: Any) -> bool:
    """Whether it is a plain number that floats have exactly, too, if it is whole."""
    is_number = not is_symbolic(value) and isinstance(value, _KINDS) and type(value) is not bool
    return is_number and bool(abs(value) < _MOST_WHOLE)


def _find_rows(column: Any, *, is_size: bool = False) -> tuple[float, float, Recipe | None, Any]:
    """Between which floats what rows have lies, how it is calculated, and its type."""
    if column.leads and not is_size:
        kept = column.kept
        ends = column.low[kept], column.high[kept]
        if not len(ends[0]):
            return 0.0, 0.0, None, column.dtype
        return float(ends[0].min()), float(ends[1].max()), column.recipe, column.dtype
    table = np.zeros(column.answers.values, np.int64) if is_size else column.table
    if not column.kept.any():
        return 0.0, 0.0, None, table.dtype
    is_followed = table.ndim == 1 and table.dtype in (np.int64, np.float64, np.bool_)
    if not is_followed or (not is_size and column.is_off) or not np.isfinite(table).all():
        return 0.0, 0.0, None, table.dtype
    recipe: Recipe = ("table", table.dtype, table.tobytes())
    rows = table[column.kept]
    return float(rows.min()), float(rows.max()), recipe, table.dtype


KeySeries.totals = UserTotals
