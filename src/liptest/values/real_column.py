"""Columns of real numbers of the records: between which two floats each entry lies.

Records are divided into cells: the same entries in all other columns, and of each real column an
interval of floats. A cell has a lower and an upper end for everything that is made of a record.
NumPy's functions that are followed are rounded correctly, hence monotone also as functions of
floats: their values at the ends are the ends (docs/theory/tables.md, B6). A comparison with a
constant cuts the cells there, and the program is followed again. All else is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.aligned import AlignedValue
from liptest.values.answer_book import AnswerBook
from liptest.values.array import Storage, SymbolicArray
from liptest.values.branching import Branching
from liptest.values.column import ADVICE, Column, OfData, column_of, margin_of
from liptest.values.protocol import COMPARISONS, Symbolic, is_symbolic

Table = NDArray[Any]
#: What an entry is calculated by: ("real", name), ("number", value), ("table", ..), (ufunc, ..).
Recipe = tuple[Any, ...]
#: RowCells of all records.
MOST_CELLS = 20_000
_NUMBERS = (int, float, np.integer, np.floating)
REAL_ADVICE = (
    "clip real columns with constants and compare the columns themselves with constants, then sum "
    "or count"
)


class RowCells:
    """Records by what they have in common.

    Parameters
    ----------
    rows
        Values of the other columns: numbers, the first of which is ``first``.
    first
        1 where 0 stands for no record, which is then the first cell.
    limits
        By real column its least and its largest number.
    cuts
        By real column the numbers at which it is cut.
    """

    def __init__(
        self,
        rows: int,
        first: int,
        limits: Mapping[str, tuple[float, float]],
        cuts: Mapping[str, frozenset[float]],
    ) -> None:
        self.first = first
        self.cuts = {name: frozenset(cuts.get(name, ())) for name in limits}
        #: Numbers at which cells are to be cut, too.
        self.wanted: dict[str, set[float]] = {name: set() for name in limits}
        self._rows = rows
        self._ends = {name: _intervals(*limits[name], self.cuts[name]) for name in limits}
        sides = [len(low) for low, _ in self._ends.values()]
        self.count = first + rows * math.prod(sides)
        if self.count > MOST_CELLS:
            return  # nothing is made of so many
        places = np.indices((rows, *sides)).reshape(1 + len(sides), -1)
        absent = np.zeros(first, dtype=np.int64)
        #: By cell the value of the other columns, from 1 on; 0 for no record.
        self.row_values: NDArray[np.int64] = np.concatenate([absent, places[0] + 1])
        self.low: dict[str, Table] = {}
        self.high: dict[str, Table] = {}
        for name, place in zip(self._ends, places[1:], strict=True):
            nothing = np.zeros(first)
            low, high = self._ends[name]
            self.low[name] = np.concatenate([nothing, low[place]])
            self.high[name] = np.concatenate([nothing, high[place]])

    def of(self, rows: NDArray[np.int64], entries: Mapping[str, Table]) -> NDArray[np.int64]:
        """The cells of records: values of the other columns, from 1 on, and real numbers."""
        found = rows - 1
        for name, (low, _) in self._ends.items():
            place = np.searchsorted(low, entries[name], side="right") - 1
            found = found * len(low) + place
        return self.first + found

    def ask(self, name: str, constants: Table) -> None:
        """Note that a column is compared with constants."""
        low, high = self._ends[name]
        inside = constants[(constants >= low[0]) & (constants <= high[-1])]
        self.wanted[name] |= set(inside.tolist()) - self.cuts[name]

    def all_cuts(self) -> dict[str, frozenset[float]] | None:
        """Old and new ones; None where there are no new ones."""
        if not any(self.wanted.values()):
            return None
        return {name: cuts | self.wanted[name] for name, cuts in self.cuts.items()}


def _intervals(low: float, high: float, cuts: frozenset[float]) -> tuple[Table, Table]:
    """All floats between two, in order: the cuts, and what lies between them."""
    found: list[tuple[float, float]] = []
    start = low
    for cut in sorted(cuts):
        if start < cut:
            found.append((start, float(np.nextafter(cut, -math.inf))))
        found.append((cut, cut))
        start = float(np.nextafter(cut, math.inf))
    if start <= high:
        found.append((start, high))
    lows, highs = zip(*found, strict=True)
    return np.array(lows), np.array(highs)


class RealColumn(Storage):
    """See the module.

    Parameters
    ----------
    low, high
        (cells,) floats: between which the entry of a record lies.
    recipe
        How an entry is calculated; equal ones are equal columns.
    kept
        (cells,) of a selection: whether records of this cell are in it.
    name
        Of the column itself; "" of what is made of columns.
    """

    __slots__ = ("answers", "high", "kept", "low", "name", "recipe")

    leads = True

    def __init__(
        self,
        branching: Branching,
        answers: AnswerBook,
        ends: tuple[Table, Table],
        recipe: Recipe,
        kept: Table | None = None,
        name: str = "",
    ) -> None:
        self.branching = branching
        self.answers = answers
        self.low, self.high = ends
        self.recipe = recipe
        self.kept = kept
        self.name = name
        self.dtype = np.dtype(np.float64)

    def refuse(self, use: str, advice: str = REAL_ADVICE) -> Any:
        """End the analysis."""
        return OfData(self.branching, advice).refuse(use)

    def like(self, ends: tuple[Table, Table], recipe: Recipe) -> SymbolicArray:
        """Other entries of the same records."""
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
        if np.isnan(low).any() or np.isnan(high).any():
            self.refuse("arithmetic that gives no number for some record")
        return SymbolicArray(
            RealColumn(self.branching, self.answers, (low, high), recipe, self.kept)
        )

    def _is_true(self, table: Table) -> SymbolicArray:
        return SymbolicArray(Column(self.branching, self.answers, table, self.kept))

    def has_records_of(self, other: Any) -> bool:
        """Whether two columns are of the same selection of records."""
        if type(other) not in (Column, RealColumn) or other.answers is not self.answers:
            return False
        if self.kept is None or other.kept is None:
            return self.kept is other.kept
        return bool(np.array_equal(self.kept, other.kept))

    def bounded(self, most: int) -> SymbolicArray:
        """The first rows of each user."""
        assert self.kept is not None  # what slots without a row are left out by
        answers = self.answers.bounded(self.kept, most)
        ends = self.low, self.high
        made = RealColumn(self.branching, answers, ends, self.recipe, self.kept, self.name)
        return SymbolicArray(made)

    # ---- storage

    @property
    def shape(self) -> tuple[int, ...]:
        if self.kept is not None:
            self.refuse("the shape of a selection", "count it: (mask).sum() instead of its length")
        self.answers.read_length()
        return (self.answers.records,)

    def cells(self) -> Any:
        return self.refuse("a use that looks at single records", ADVICE)

    def as_list(self) -> Any:
        return self.refuse("tolist()")

    def concretise(self, use: str) -> NDArray[Any]:
        return self.refuse(use, ADVICE)  # type: ignore[no-any-return]

    def moved(self, move: Any) -> Any:
        return self.refuse("a use that moves records", ADVICE)

    def copied(self, order: Any) -> Any:
        ends = self.low, self.high
        return RealColumn(self.branching, self.answers, ends, self.recipe, self.kept, self.name)

    @property
    def spokesman(self) -> Any:
        return OfData

    def write(self, index: Any, value: Any) -> None:
        self.refuse("a write into data")

    def shares_memory(self, other: Storage) -> bool:
        return False

    def as_drawn(self) -> Any:
        return self.refuse("a draw")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self.refuse(f"astype({dtype})")

    def entries_at(self, index: Any) -> Any:
        mask = column_of(index)
        if mask is None or mask.dtype != np.bool_ or not self.has_records_of(mask):
            return self.refuse("an index that is not a comparison of the same records")
        kept = mask.table.copy() if self.kept is None else mask.table & self.kept
        ends = self.low, self.high
        made = RealColumn(self.branching, self.answers, ends, self.recipe, kept, self.name)
        return SymbolicArray(made)

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        if ufunc is np.power and not (type(inputs[1]) is int and inputs[1] == 2):
            return self.refuse(f"{use} with another exponent than 2")
        parts = [self._part(one, use) for one in inputs]
        if ufunc in COMPARISONS:
            return self._compared(ufunc, parts, use)
        rule = _ENDS.get(ufunc)
        if rule is None:
            return self.refuse(use)
        lows, highs = [one.low for one in parts], [one.high for one in parts]
        if ufunc not in _OF_INFINITE and not all(np.isfinite(end).all() for end in lows + highs):
            return self.refuse(f"{use} of numbers that may be infinite")
        with np.errstate(all="ignore"):
            ends = rule(ufunc, lows, highs)
        if ends is None:
            return self.refuse(f"{use}, which fails for some record")
        return self.like(self._of_all_cells(ends), (ufunc, *(one.recipe for one in parts)))

    def _of_all_cells(self, ends: tuple[Any, Any]) -> tuple[Table, Table]:
        shape = self.low.shape
        return np.broadcast_to(ends[0], shape), np.broadcast_to(ends[1], shape)

    def _part(self, value: Any, use: str) -> _Part:
        """An input: its ends, and how it is calculated."""
        kind = type(value)
        if kind is SymbolicArray:
            storage: Any = value.storage
            if not self.has_records_of(storage) or (
                type(storage) is Column and (storage.table.ndim > 1 or storage.is_off)
            ):
                return self.refuse(f"{use} of other records")  # type: ignore[no-any-return]
            if type(storage) is RealColumn:
                return _Part(storage.low, storage.high, storage.recipe, storage.name)
            table = storage.table
            recipe = ("table", table.dtype.char, table.tobytes())
            return _Part(table, table, recipe)
        if issubclass(kind, Symbolic):
            return self.refuse(f"{use} with noise, or with a sum of the data")  # type: ignore[no-any-return]
        is_number = isinstance(value, _NUMBERS) and not isinstance(value, bool)
        if not is_number or math.isnan(value):
            return self.refuse(f"{use} with what is not a constant number")  # type: ignore[no-any-return]
        return _Part(np.array(value), np.array(value), ("number", kind, value))

    def _compared(self, ufunc: Any, parts: list[_Part], use: str) -> Any:
        left, right = parts
        certain, possible = (np.broadcast_to(one, self.low.shape) for one in _truth(ufunc, *parts))
        if (certain != possible).any():
            named, other = (left, right) if left.name else (right, left)
            if not named.name or other.name or not _is_point(other):
                return self.refuse(f"{use} of what is made of a real column")
            self.answers.cells.ask(named.name, np.unique(np.asarray(other.low, dtype=np.float64)))
        return self._is_true(certain.copy())

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        rule = _FUNCTIONS.get(function)
        found = NotImplemented if rule is None else rule(self, *arguments, **options)
        if found is NotImplemented:
            return self.refuse(f"numpy.{function.__name__}")
        return found

    # ---- answers

    def sum_up(self, use: str) -> Any:
        """The answer."""
        kept = np.ones(self.low.shape, dtype=np.bool_) if self.kept is None else self.kept
        low, high = (np.where(kept, end, 0.0) + 0.0 for end in (self.low, self.high))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return self.refuse(f"{use} of numbers without bounds", "clip them first")
        records = self.answers.records
        largest = np.maximum(np.abs(low), np.abs(high))
        if largest.max() * records > 1e300:
            return self.refuse(f"{use} of floats that may overflow", "clip them first")
        if not largest.any():
            return np.float64(0)
        # Of numbers that are not multiples of anything: the entry next to a whole one.
        some = np.nextafter(largest.max() / 3, np.inf)
        sizes = np.array([largest.max(), some])
        margin = margin_of(sizes, records, is_off=False, in_pairs=True)
        recipe = "sum", self.recipe, None if self.kept is None else self.kept.tobytes()
        answer = self.answers.of_recipe(recipe, low, high, margin)
        run = self.branching.noise
        return run.value_of_answer(answer, np.float64)

    def count(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        zeros = np.zeros(self.low.shape, dtype=np.int64)
        return Column(self.branching, self.answers, zeros, self.kept).count()


class _Part:
    """An operand: between which numbers it lies, and how it is calculated."""

    __slots__ = ("high", "low", "name", "recipe")

    def __init__(self, low: Table, high: Table, recipe: Recipe, name: str = "") -> None:
        self.low, self.high, self.recipe, self.name = low, high, recipe, name


def _is_point(part: _Part) -> bool:
    return bool(np.array_equal(part.low, part.high)) and part.recipe[0] in ("number", "table")


def _truth(ufunc: Any, left: _Part, right: _Part) -> tuple[Any, Any]:
    """Where a comparison certainly holds, and where it may."""
    if ufunc in (np.greater, np.greater_equal):
        ufunc = np.less if ufunc is np.greater else np.less_equal
        left, right = right, left
    if ufunc in (np.less, np.less_equal):
        return ufunc(left.high, right.low), ufunc(left.low, right.high)
    certain = (left.low == left.high) & (right.low == right.high) & (left.low == right.low)
    possible = (left.low <= right.high) & (right.low <= left.high)
    return (certain, possible) if ufunc is np.equal else (~possible, ~certain)


# ---- the ends of what functions give

Ends = tuple[Any, Any] | None
Rule = Callable[[Any, list[Table], list[Table]], Ends]


def _rising(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return ufunc(*lows), ufunc(*highs)


def _falling(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return ufunc(*highs), ufunc(*lows)


def _difference(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return ufunc(lows[0], highs[1]), ufunc(highs[0], lows[1])


def _at_corners(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    values = [ufunc(*corner) for corner in product(*zip(lows, highs, strict=True))]
    return reduce(np.minimum, values), reduce(np.maximum, values)


def _quotient(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    if ((lows[1] <= 0) & (highs[1] >= 0)).any():
        return None
    return _at_corners(ufunc, lows, highs)


def _even(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    ends = ufunc(lows[0]), ufunc(highs[0])
    around = (lows[0] <= 0) & (highs[0] >= 0)
    return np.where(around, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _power(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    """Of exponent 2; the C library may be off by one float."""
    low, high = _even(np.square, lows, highs) or (0.0, 0.0)
    return np.maximum(np.nextafter(low, -np.inf), 0.0), np.nextafter(high, np.inf)


def _root(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return None if (lows[0] < 0).any() else _rising(ufunc, lows, highs)


_ENDS: dict[Any, Rule] = {
    **dict.fromkeys((np.add, np.maximum, np.minimum, np.floor, np.ceil, np.rint), _rising),
    **dict.fromkeys((np.trunc, np.positive, np.fmax, np.fmin), _rising),
    **dict.fromkeys((np.absolute, np.fabs, np.square), _even),
    np.negative: _falling,
    np.subtract: _difference,
    np.multiply: _at_corners,
    np.divide: _quotient,
    np.power: _power,
    np.sqrt: _root,
}
_OF_INFINITE = (np.maximum, np.minimum, np.fmax, np.fmin)


# ---- functions


def _sum(column: RealColumn, array: Any, axis: Any = None, **options: Any) -> Any:
    given = any(one is not None and one is not np._NoValue for one in options.values())
    if axis not in (None, 0) or given or array.storage is not column:
        return NotImplemented
    return column.sum_up("numpy.sum")


def _mean(column: RealColumn, array: Any, axis: Any = None, **options: Any) -> Any:
    given = any(one is not None and one is not np._NoValue for one in options.values())
    if axis not in (None, 0) or given or column.kept is not None or array.storage is not column:
        return NotImplemented
    column.answers.read_length()
    total = column.sum_up("numpy.mean")
    if not is_symbolic(total):
        return total
    scale = Fraction(1, column.answers.records)
    return AlignedValue(total.run, total.form * scale, total.kind)


def _clip(column: RealColumn, array: Any, *bounds: Any, out: Any = None, **options: Any) -> Any:
    given = {name: one for name, one in options.items() if one is not np._NoValue}
    low = bounds[0] if bounds else given.pop("a_min", given.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else given.pop("a_max", given.pop("max", None))
    if out is not None or given or len(bounds) > 2 or array.storage is not column:
        return NotImplemented
    found = array
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        if bound is not None and bound is not np._NoValue:
            found = ufunc(found, bound)
    return found


def _where(column: RealColumn, condition: Any, *pair: Any) -> Any:
    mask = column_of(condition)
    if mask is None or mask.dtype != np.bool_ or len(pair) != 2 or not column.has_records_of(mask):
        return NotImplemented
    parts = [column._part(one, "numpy.where") for one in pair]
    ends = [np.where(mask.table, *(getattr(one, end) for one in parts)) for end in ("low", "high")]
    chosen = ("table", mask.table.dtype.char, mask.table.tobytes())
    recipe = (np.where, chosen, *(one.recipe for one in parts))
    return column.like((ends[0], ends[1]), recipe)


def _same(function: Any) -> Any:
    def make(column: RealColumn, array: Any, **options: Any) -> Any:
        return NotImplemented if options else column.count()

    return make


def _round(column: RealColumn, array: Any, decimals: Any = 0, out: Any = None) -> Any:
    if out is not None or type(decimals) is not int or decimals != 0:
        return NotImplemented
    return np.rint(array)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _mean,
    np.clip: _clip,
    np.where: _where,
    np.round: _round,
    np.around: _round,
    np.size: _same(np.size),
}


def evaluate(recipe: Recipe, cells: NDArray[np.int64], entries: Mapping[str, Table]) -> Table:
    """What NumPy calculates for records of these cells with these real numbers."""
    kind, *rest = recipe
    if kind == "real":
        return entries[rest[0]]
    if kind == "number":
        return rest[1]  # type: ignore[no-any-return]
    if kind == "table":
        return np.frombuffer(rest[1], dtype=rest[0])[cells]
    with np.errstate(all="ignore"):
        found: Table = kind(*(evaluate(one, cells, entries) for one in rest))
    return found
