"""The answers of an analysis: sums over all records of tables of what each record adds."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError
from liptest.symbolic.answers import (
    Answer,
    Differences,
    ManyDifferences,
    Move,
    subtract_moves,
)
from liptest.values.record_parts import MOST_PARTS, Part, Place, places_of

Table = NDArray[Any]
# Sums of real numbers that one record adds to, and corners of all boxes.
_MOST_WIDE, _MOST_CORNERS = 8, 100_000
# Changes of a record that are listed, over all kinds of positions.
_MOST_LISTED = 500_000


@dataclass(frozen=True)
class RowBound:
    """Of each user the first ``most`` rows whose values are ``kept``, of what ``before`` leaves."""

    before: RowBound | None
    kept: bytes
    most: int

    @property
    def rows(self) -> int:
        """The most rows of a user that are left."""
        return self.most if self.before is None else min(self.most, self.before.rows)


class AnswerBook:
    """The answers of an analysis: sums over all records of a table, equal ones once.

    Parameters
    ----------
    records
        How many records there are.
    values
        How many values a record takes.
    comes_and_goes
        Whether value 0 is that of no record, and neighbours have one record more or less.
    has_positions
        Whether a record stays in its place when another is replaced.
    """

    def __init__(
        self,
        records: int,
        values: int,
        *,
        comes_and_goes: bool = False,
        has_positions: bool = False,
    ) -> None:
        self.records = self.all_records = records
        self.values = values
        self.comes_and_goes = comes_and_goes
        self.has_positions = has_positions
        self.tables: list[Table] = []
        #: How far floats may take a sum from its exact value, by answer.
        self.margins: dict[int, Fraction] = {}
        #: Kinds of records, where records have real numbers.
        self.cells: Any = None
        #: Of answers that real numbers are part of: the largest that a record adds, and what it is.
        self.largest: dict[int, Table] = {}
        self.recipes: dict[int, Any] = {}
        #: What rows an answer is of, where the contributions of users are bounded.
        self.bounds: list[RowBound | None] = []
        self.bound: RowBound | None = None
        #: Which records an answer sums over, by their positions.
        self.parts: list[Part] = []
        self.part: Part = None
        self._numbers: dict[Any, int] = {}
        self._answers: list[Answer] = []
        self._bounded: dict[RowBound, AnswerBook] = {}
        self._parted: dict[range, AnswerBook] = {}
        self._lengths_read: set[int] = set()

    def of(self, table: Table, margin: Fraction = Fraction(0)) -> Answer:
        """The answer of a table, (values,) whole or finite numbers."""
        table = _lean(table)
        key = table.dtype.char.encode() + table.tobytes(), self.bound, self.part
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            self.tables.append(table)
            self.bounds.append(self.bound)
            self.parts.append(self.part)
            ends = tuple(Fraction(end.item()) * self.records for end in (table.min(), table.max()))
            whole = table.dtype.kind == "i"
            self._answers.append(Answer(number, whole, f"sum {number + 1}", (ends[0], ends[1])))
        if margin:
            self.margins[number] = max(margin, self.margins.get(number, Fraction(0)))
        return self._answers[number]

    @property
    def reads_length(self) -> bool:
        """Whether the number of records was read, which is public."""
        return bool(self._lengths_read)

    def read_length(self) -> int:
        """The number of records of the part, which the program gets to know."""
        self._lengths_read.add(self.records)
        return self.records

    @property
    def depends_on_length(self) -> bool:
        """Whether the number of records was read, or sums of floats are rounded by it."""
        return self.reads_length or any(self.margins.values())

    def of_recipe(self, recipe: Any, low: Table, high: Table, margin: Fraction) -> Answer:
        """The answer of what a record adds between two numbers, by its value, (values,) each."""
        key = recipe, self.bound
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            self.tables.append(low)
            self.largest[number], self.recipes[number] = high, recipe
            self.bounds.append(self.bound)
            self.parts.append(self.part)
            self._answers.append(Answer(number, False, f"sum {number + 1}"))
        self.margins[number] = max(margin, self.margins.get(number, Fraction(0)))
        return self._answers[number]

    def bounded(self, kept: Table, most: int) -> AnswerBook:
        """The same book, for sums over the first rows of each user."""
        bound = RowBound(self.bound, kept.tobytes(), most)
        if bound not in self._bounded:
            made = self._bounded[bound] = copy(self)  # which shares the lists
            made.bound = bound
        return self._bounded[bound]

    def parted(self, part: range) -> AnswerBook | None:
        """The same book, for sums over the records at some positions; None for too many parts."""
        if part not in self._parted:
            if len(self._parted) >= MOST_PARTS:
                return None
            self._parted[part] = made = copy(self)  # which shares the lists
            made.part, made.records = part, len(part)
        return self._parted[part]

    @property
    def positions(self) -> range:
        """Those of the part."""
        return range(self.all_records) if self.part is None else self.part

    def value(self, number: int, counts: NDArray[np.int64]) -> Fraction:
        """The answer where so many records have each value."""
        table = self.tables[number]
        added = np.flatnonzero((table != 0) & (counts != 0))
        pairs = zip(table[added].tolist(), counts[added].tolist(), strict=True)
        if table.dtype.kind == "i":
            return Fraction(sum(entry * count for entry, count in pairs))
        return sum((Fraction(entry) * count for entry, count in pairs), Fraction(0))

    def differences(self) -> Differences:
        """What a replaced record changes, or one that comes or goes."""
        rows, size = self._corners(), len(self.tables)
        if self.has_parts:
            return Differences.listed(self._changes(), size=size).widened(self.margins)
        if self.comes_and_goes:
            assert not rows[0]  # a sum over what is not there
            found = Differences.of_tables(rows[1:], relation="added", size=size)
        else:
            found = Differences.of_tables(rows, size=size)
        return found.between(self.largest).widened(self.margins)

    @property
    def has_parts(self) -> bool:
        """Whether some answer is a sum over a part of the records."""
        return any(one is not None for one in self.parts)

    def places(self) -> list[Place]:
        """All kinds of positions, by the answers that they are in."""
        found = places_of(self.parts, self.all_records)
        if found is None:
            raise InputError(
                f"{len(self.parts):,} parts are too many to be told apart", name="data"
            )
        return found

    def _changes(self) -> list[dict[int, Fraction]]:
        """What a replaced record changes, at any position."""
        found: dict[Move, None] = {}
        listed = 0
        for place in self.places():
            rows = dict.fromkeys(tuple(row.items()) for row in self.rows_of(place.answers))
            listed += len(rows) ** 2
            if listed > _MOST_LISTED:
                raise InputError(
                    f"changes of records with {len(rows):,} values in different parts are too many "
                    f"to be listed",
                    name="data",
                )
            found.update(dict.fromkeys(subtract_moves(*pair) for pair in permutations(rows, 2)))
        return [dict(move) for move in found]

    def differences_of_users(
        self, most: int
    ) -> tuple[ManyDifferences, tuple[RowBound | None, ...]]:
        """What the rows of one user change, at most ``most`` of them; the bound of each part.

        Rows that differently bounded sums are of may be different ones (tables, B5).
        """
        size, parts = len(self.tables), []
        relation: Any = "added" if self.comes_and_goes else "replaced"
        bounds = tuple(dict.fromkeys(self.bounds))
        for bound in bounds:
            rows = self._corners({n for n, other in enumerate(self.bounds) if other == bound})
            assert not rows[0]  # a sum over what is not there
            times = most if bound is None else min(most, bound.rows)
            kept = rows[1:] if self.comes_and_goes else rows
            part = Differences.of_tables(kept, relation=relation, size=size)
            parts.append((times, part.between(self.largest)))
        if any(self.margins.values()):
            nothing = Differences.listed([{}], size=size)
            parts.append((1, nothing.widened(self.margins)))
            bounds = (*bounds, None)
        return ManyDifferences(size, tuple(parts)), bounds

    def _corners(self, numbers: Iterable[int] | None = None) -> list[dict[int, Fraction]]:
        """``rows_of``, and the other corners of the boxes that what a record adds lies in."""
        rows = self.rows_of(numbers)
        wide = sorted(self.largest if numbers is None else set(numbers) & self.largest.keys())
        found = list(rows)
        for value, row in enumerate(rows):
            open_ones = [n for n in wide if self.largest[n][value] != self.tables[n][value]]
            if len(open_ones) > _MOST_WIDE or len(found) > _MOST_CORNERS:
                raise InputError(
                    f"sums of {len(open_ones)} real numbers of one row are too many to be bounded "
                    f"together",
                    name="columns",
                )
            for chosen in product((False, True), repeat=len(open_ones)):
                ends = {
                    n: Fraction(self.largest[n][value].item())
                    for n, is_high in zip(open_ones, chosen, strict=True)
                    if is_high
                }
                if ends:
                    found.append({n: by for n, by in (row | ends).items() if by})
        return found

    def rows_of(self, numbers: Iterable[int] | None = None) -> list[dict[int, Fraction]]:
        """What a record of each value adds to the answers, or to those with these numbers."""
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.values)]
        for number in range(len(self.tables)) if numbers is None else sorted(numbers):
            table = self.tables[number]
            for value in np.flatnonzero(table).tolist():
                rows[value][number] = Fraction(table[value].item())
        return rows

    def contributions(self, factors: dict[int, Fraction]) -> dict[int, Fraction]:
        """By value of a record: what one adds to the sum of these answers times these factors."""
        return {
            value: sum((by * row.get(answer, 0) for answer, by in factors.items()), Fraction(0))
            for value, row in enumerate(self.rows_of())
        }

    def change_of_move(self, move: Move) -> tuple[int, int, int] | None:
        """A position, and two values of its record of which the second adds so much more."""
        if not self.has_parts:
            return self._change_at(Place(0, tuple(range(len(self.tables)))), move)
        every = (self._change_at(place, move) for place in self.places())
        return next((one for one in every if one is not None), None)

    def _change_at(self, place: Place, move: Move) -> tuple[int, int, int] | None:
        rows = [tuple(sorted(one.items())) for one in self.rows_of(place.answers)]
        places = {row: value for value, row in reversed(list(enumerate(rows)))}
        for value, row in enumerate(rows[:1] if self.comes_and_goes else rows):
            added = dict(row)
            for answer, step in move:
                added[answer] = added.get(answer, Fraction(0)) + step
            other = tuple(sorted((answer, one) for answer, one in added.items() if one))
            if places.get(other, value) != value:
                return place.position, value, places[other]
        return None


def _lean(table: Table) -> Table:
    """Whole numbers as such, whatever their type."""
    if table.dtype.kind in "biu":
        return table.astype(np.int64)
    wide = table.astype(np.float64) + 0.0
    whole = bool(np.all(wide == np.floor(wide))) and bool(np.all(np.abs(wide) < 2.0**53))
    return wide.astype(np.int64) if whole else wide
