"""How many of some truths hold, and at which places: looked at only as far as it is asked.

``np.flatnonzero(noisy > t)`` has 2^n outcomes, but its first entry and whether there is one have
n + 1: the truths are looked at in their order, until what was asked is known.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import CellStorage, Move, Storage, SymbolicArray, as_cells, cells_of
from liptest.values.booleans import LazyBoolean, decide, find_truth
from liptest.values.branching import Branching
from liptest.values.chosen_places import find_bit_places
from liptest.values.lines import find_asking_line
from liptest.values.protocol import Operation, SymbolicValue

# Kept: while a program is analysed the names may stand for something else.
_MAX, _MIN, _SIZE = np.max, np.min, np.size
_FLAT, _AS_ROWS = np.flatnonzero, np.argwhere
_FINDING = (_FLAT, np.nonzero, np.where)
_WHOLE = frozenset({int, np.int64})


class TruthsInLine:
    """Truths in an order, that are looked at from the front or from the back."""

    __slots__ = ("_truths",)

    def __init__(self, cells: Any) -> None:
        self._truths = [find_truth(cell) for cell in cells]

    @property
    def is_open(self) -> bool:
        """Whether nobody has looked at one of them yet."""
        return any(type(truth) is LazyBoolean and not truth.is_decided for truth in self._truths)

    def __len__(self) -> int:
        return len(self._truths)

    def places(self, *, backwards: bool = False) -> Iterator[int]:
        """The places of those that hold, found one after the other."""
        every = range(len(self._truths))
        return (k for k in (reversed(every) if backwards else every) if decide(self._truths[k]))

    def find_place(self, rank: int) -> int | None:
        """The place of the one that holds of a rank, from 0 on, or from the back on from -1."""
        backwards = rank < 0
        places = self.places(backwards=backwards)
        for _ in range(~rank if backwards else rank):
            next(places, None)
        return next(places, None)

    def find_first(self, number: int, *, backwards: bool = False) -> list[int]:
        """The first places, ascending, or the last ones; all where there are fewer."""
        places = self.places(backwards=backwards)
        found = [k for _, k in zip(range(number), places, strict=False)]
        return found[::-1] if backwards else found

    def are_at_least(self, number: int) -> bool:
        """Whether so many of them hold; looked at until that is known."""
        missing, left = number, len(self._truths)
        for truth in self._truths:
            if not 0 < missing <= left:
                break
            missing -= decide(truth)
            left -= 1
        return missing <= 0

    def count(self) -> int:
        """How many hold."""
        return sum(map(decide, self._truths))


class LazyCount(SymbolicValue):
    """How many of some truths hold; a comparison with a number looks at what decides it."""

    __slots__ = ("branching", "kind", "truths")

    __hash__ = SymbolicValue.__hash__
    family = "count of truths"
    described = "a number of comparisons that hold"
    described_in_arrays = "an array of such numbers"
    is_discrete = True

    def __init__(self, branching: Branching, truths: TruthsInLine, kind: Any) -> None:
        self.branching = branching
        self.truths = truths
        self.kind = kind

    def concretise(self, use: str) -> Any:
        """The number, after looking at all of them."""
        return self.kind(self.truths.count())

    def typed(self, kind: Any) -> Any:
        if kind in _WHOLE:
            return LazyCount(self.branching, self.truths, kind)
        return super().typed(kind)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        # As of math.prod of a shape.
        if operation is operator.mul and type(other) is int and other == 1:
            return self
        return super().binary(operation, other, swapped=swapped)

    def compare(self, comparison: Operation, other: Any) -> Any:
        if isinstance(other, SymbolicValue) or not _is_finite(other):
            return super().compare(comparison, other)
        number = Fraction(other.item() if isinstance(other, np.generic) else other)
        least, is_whole = math.ceil(number), number.denominator == 1
        if comparison in (operator.ge, operator.lt):
            return self.truths.are_at_least(least) is (comparison is operator.ge)
        above = math.floor(number) + 1
        if comparison in (operator.gt, operator.le):
            return self.truths.are_at_least(above) is (comparison is operator.gt)
        is_equal = (
            is_whole and self.truths.are_at_least(least) and not self.truths.are_at_least(least + 1)
        )
        return is_equal is (comparison is operator.eq)


def _is_finite(number: Any) -> bool:
    return isinstance(number, (int, np.integer, np.bool_, Fraction)) or math.isfinite(number)


class FoundPlaces(Storage):
    """The places of the truths that hold, ascending: ``numpy.flatnonzero``."""

    __slots__ = ("_has_views", "_plain", "truths")

    is_discrete = True

    def __init__(self, branching: Branching, truths: TruthsInLine) -> None:
        self.branching = branching
        self.dtype = np.dtype(np.intp)
        self.truths = truths
        self._plain: CellStorage | None = None
        self._has_views = False

    def _looked_at(self) -> CellStorage:
        """The plain places, after looking at all truths."""
        if self._plain is None:
            places = np.array(list(self.truths.places()), dtype=self.dtype)
            self._plain = CellStorage(self.branching, as_cells(places), self.dtype)
        return self._plain

    def shape_seen(self) -> tuple[Any, ...]:
        if self._plain is None and self.truths.is_open:
            return (LazyCount(self.branching, self.truths, int),)
        return self.shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._looked_at().shape

    def cells(self) -> NDArray[Any]:
        return self._looked_at().cells()

    def moved(self, move: Move) -> Any:
        return self._looked_at().moved(move)

    def write(self, index: Any, value: Any) -> None:
        if self._has_views:
            line = find_asking_line(sys._getframe(1))
            self.branching.forbid(
                f"a write into places of which a part was taken ({line})",
                "take the part of a copy: places.copy()[:k]",
            )
        self._looked_at().write(index, value)

    def shares_memory(self, other: Storage) -> bool:
        return self._plain is not None and self._plain.shares_memory(other)

    def copied(self, order: Any) -> Any:
        return self._looked_at().copied(order)

    def entries(self) -> Iterator[Any] | None:
        return None if self._plain is not None else map(np.intp, self.truths.places())

    def entries_at(self, index: Any) -> Any:
        """One place, or the first or last ones."""
        if self._plain is not None:
            return NotImplemented
        if type(index) in (int, np.int64):
            place = self.truths.find_place(int(index))
            # Where there is none, NumPy's own error is raised.
            return NotImplemented if place is None else np.intp(place)
        if type(index) is slice and index.step in (None, 1):
            ends = index.start, index.stop
            if ends[0] in (None, 0) and type(ends[1]) is int and ends[1] >= 0:
                return self._view(self.truths.find_first(ends[1]))
            if ends[1] is None and type(ends[0]) is int and ends[0] < 0:
                return self._view(self.truths.find_first(-ends[0], backwards=True))
        return NotImplemented

    def _view(self, places: list[int]) -> NDArray[Any]:
        """Some of the places; read-only, as a write into them would not be seen here."""
        self._has_views = True
        part = np.array(places, dtype=self.dtype)
        part.flags.writeable = False
        return part

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        if len(arguments) != 1 or options or self._plain is not None:
            return NotImplemented
        if function is _SIZE:
            return self.shape_seen()[0]
        rank = {_MIN: 0, _MAX: -1}.get(function)
        place = None if rank is None else self.truths.find_place(rank)
        return NotImplemented if place is None else np.intp(place)


def find_true_places(array: Any, cells: NDArray[Any]) -> SymbolicArray | None:
    """``numpy.flatnonzero`` of truths in a line that nobody has looked at; None for all else."""
    if type(array) is not SymbolicArray or cells.ndim != 1:
        return None
    truths = TruthsInLine(cells)
    return SymbolicArray(FoundPlaces(array.branching, truths)) if truths.is_open else None


def first_where(cells: NDArray[Any], wanted: bool) -> int | None:
    """The first place in line with an outcome; nothing after it is looked at."""
    return next(
        (k for k, cell in enumerate(cells.flat) if decide(find_truth(cell)) is wanted), None
    )


def places_where(function: Any, array: Any) -> Any:
    """What ``function``, one of ``numpy.flatnonzero`` and its kin, says of what is not 0."""
    places = find_bit_places(array) if function is not _AS_ROWS else None
    cells = cells_of(array)
    if places is None and function in _FINDING:
        places = find_true_places(array, cells)
    if places is not None:
        return places if function is _FLAT else (places,)
    plain = [decide(find_truth(cell)) for cell in cells.flat]
    return function(np.array(plain, dtype=np.bool_).reshape(cells.shape))


def count_truths(array: Any, cells: NDArray[Any], kind: Any) -> Any:
    """How many cells are not 0; known as far as somebody has asked."""
    truths = TruthsInLine(cells.flat)
    if truths.is_open and issubclass(kind, (int, np.int64)):
        return LazyCount(array.branching, truths, kind)
    return kind(truths.count())


def find_length_of_places(value: Any) -> Any:
    """What ``len`` gives of such places; None for all else."""
    if type(value) is not SymbolicArray or type(value.storage) is not FoundPlaces:
        return None
    return value.storage.shape_seen()[0]
