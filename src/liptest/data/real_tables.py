"""Tables with columns of real numbers: any floats between two, or any at all.

A slot of a dataset is one number for the other columns and the user, as in tables of users, and
two for each real column: the halves of its float. Such tables are not visited one by one: claims
are proved for all of them, or refuted by two of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import IntArray
from liptest.data.tables import (
    OF_REALS,
    AddedRows,
    AddedUsers,
    ColumnKind,
    ReplacedRows,
    ReplacedUsers,
    RowsOfUsers,
    Table,
    number_users,
    places_in,
)
from liptest.errors import DatasetError, InputError, build_as, quote

_LARGEST = float(np.finfo(np.float64).max)
# Rows that are written out.
_SHOWN = 4
# Numbers of plain tables: large ones, and one that is not whole.
_PLAIN, _SOME = 1e6, 0.3
#: Rows beside one more: groups of fewer than 5, 10, .. are often left out.
FEW_ROWS = (4, 9, 2, 10)
# Columns of which running sums are looked at.
_MOST_SUMMED = 4
# Shares of the rows below quantiles that people ask for.
_QUANTILES = (0.5, 0.95, 0.99, 0.05, 0.9, 0.01, 0.75, 0.25, 0.1)


@build_as("lt.Real(0, 120)")
@dataclass(frozen=True)
class Real(ColumnKind):
    """Real numbers from ``lower`` to ``upper``, both included: all floats between them.

    Without limits any finite float; nan and infinite numbers are not in a table.
    """

    lower: float = -_LARGEST
    upper: float = _LARGEST

    is_real = True

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            value = getattr(self, name)
            plain = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if not plain or not math.isfinite(value):
                raise InputError(f"{name}={quote(value)} must be a finite number", name=name)
            object.__setattr__(self, name, float(value))
        if self.upper < self.lower:
            raise InputError(f"upper={self.upper} is below lower={self.lower}", name="upper")

    @property
    def values(self) -> NDArray[Any]:
        return np.array([min(max(0.0, self.lower), self.upper)])


class RealRows(RowsOfUsers):
    """Tables with real columns; see the module."""

    @property
    def reals(self) -> dict[str, Real]:
        """The real columns."""
        return {name: kind for name, kind in self.columns.items() if isinstance(kind, Real)}

    @property
    def rows(self) -> int:
        return self.dimension // (1 + 2 * len(self.reals))

    @property
    def has_users(self) -> bool:
        """Whether neighbours differ in the rows of a user."""
        return self.unit in self.columns

    @property
    def is_full(self) -> bool:
        """Whether all tables have as many rows."""
        return self.kind == "replace" and not self.has_users

    @property
    def dataset_words(self) -> str:
        words = super().dataset_words
        return words.removeprefix("up to ") if self.is_full else words

    @property
    def zeros(self) -> IntArray:
        return self.made([self.slot(0, 1)] * self.rows if self.is_full else [], {})

    def slots_in(self, dataset: IntArray) -> NDArray[np.int64]:
        """By slot the row and its user, (rows,); 0 where there is none."""
        return np.asarray(dataset).reshape(self.rows, -1)[:, 0].astype(np.int64)

    def entries_in(self, dataset: IntArray) -> dict[str, NDArray[np.float64]]:
        """By real column the numbers, (rows,)."""
        halves = np.asarray(dataset).reshape(self.rows, -1).T[1:].astype(np.uint64)
        words = (halves[0::2] << np.uint64(32)) | halves[1::2]
        return dict(zip(self.reals, words.view(np.float64), strict=True))

    def made(
        self, slots: Sequence[int] | NDArray[np.int64], entries: Mapping[str, Any]
    ) -> IntArray:
        """A dataset of these slots; 0 or the nearest of real columns that are left out."""
        width = 1 + 2 * len(self.reals)
        # Not np.zeros, which an analysis that this may be part of follows.
        dataset = np.repeat(np.int64(0), self.rows * width).reshape(self.rows, width)
        dataset[: len(slots), 0] = slots
        for place, (name, kind) in enumerate(self.reals.items()):
            column = np.repeat(kind.values[0], self.rows)
            if name in entries:
                column[: len(slots)] = entries[name]
            words = column.view(np.uint64)
            dataset[:, 1 + 2 * place] = words >> np.uint64(32)
            dataset[:, 2 + 2 * place] = words & np.uint64(0xFFFFFFFF)
        dataset[dataset[:, 0] == 0] = 0
        return dataset.reshape(-1)

    def check_points(self, points: ArrayLike, *, private: bool = False) -> IntArray:
        datasets = super(RowsOfUsers, self).check_points(points, private=private)
        for dataset in datasets:
            slots, entries = self.slots_in(dataset), self.entries_in(dataset)
            if self.is_full and not slots.all():
                raise DatasetError(f"the table has fewer than {self.rows:,} rows")
            counts = np.bincount(self.users_in(slots)[slots > 0], minlength=1)
            if self.has_users and counts.max() > self.most:
                raise DatasetError(f"a table has more than {self.most:,} rows of one user")
            for name, kind in self.reals.items():
                own = entries[name][slots > 0]
                if not ((own >= kind.lower) & (own <= kind.upper)).all():
                    raise DatasetError(f"column {name!r} holds values outside {kind}")
        return datasets

    def _steps(self, left: IntArray, right: IntArray) -> int:
        slots = [self.slots_in(side) for side in (left, right)]
        differ = (np.asarray(left) != np.asarray(right)).reshape(self.rows, -1).any(axis=1)
        changed = np.flatnonzero(differ)
        if not len(changed):
            return 0
        if not self.has_users:
            there = [bool(side[changed[0]]) for side in slots]
            is_one = len(changed) == 1 and (all(there) if self.is_full else there[0] != there[1])
            return 1 if is_one else 2
        users = {int(user) for side in slots for user in self.users_in(side[changed])} - {-1}
        is_there = [bool(users & set(self.users_in(side).tolist())) for side in slots]
        both = self.kind == "add_remove" and all(is_there)
        return 2 if len(users) > 1 or both else 1

    def draw(
        self,
        rng: np.random.Generator,
        few: int,
        special: Mapping[str, Sequence[float]] | None = None,
    ) -> IntArray:
        """Some table; its real numbers are often some ``special`` ones."""
        room = self.rows
        count = room if self.is_full else int(rng.integers(0, min(room, 3 * few) + 1))
        users = rng.integers(0, max(2, few), size=count)
        rows = rng.integers(1, self.row_values, size=count)
        slots = self.slot(users if self.has_users else 0, rows)
        if self.has_users:
            for user in range(max(2, few)):
                slots[np.flatnonzero(users == user)[self.most :]] = 0
        numbers = {
            name: _draw_numbers(rng, kind, count, (special or {}).get(name, ()))
            for name, kind in self.reals.items()
        }
        return self.made(slots, numbers)

    def entries(self, dataset: IntArray) -> dict[str, NDArray[Any]]:
        slots, entries = self.slots_in(dataset), self.entries_in(dataset)
        there = slots > 0
        slots = slots[there]
        rows = self.rows_in(slots)
        columns: dict[str, Any] = {}
        for name, kind in self.columns.items():
            if name in entries:
                columns[name] = entries[name][there]
            else:
                is_unit = name == self.unit
                own = self.users_in(slots) if is_unit else kind.values[self.places[name][rows]]
                columns[name] = own
        return columns

    def neighbour_of(self, dataset: IntArray, rng: np.random.Generator) -> IntArray:
        """The table with another row in one place, or without one row or one user; or itself."""
        neighbour = np.asarray(dataset).copy()
        slots, rows = self.slots_in(neighbour), neighbour.reshape(self.rows, -1)
        place = int(rng.integers(self.rows))
        if self.is_full:
            rows[place] = self.draw(rng, 1).reshape(self.rows, -1)[place]
        elif self.has_users:
            users = self.users_in(slots)
            rows[(users == users[place]) & (slots > 0)] = 0
        else:
            rows[place] = 0
        return neighbour

    def encode(self, frame: Any) -> IntArray:
        others = {name: kind for name, kind in self.columns.items() if name not in self.reals}
        rows = np.zeros((), dtype=np.int64)
        for name, kind in others.items():
            if name != self.unit:
                rows = rows * len(kind.values) + places_in(frame, name, kind)
        numbers = {name: _numbers_in(frame, name) for name in self.reals}
        count = len(next(iter(numbers.values())))
        if count > self.rows or (count < self.rows and self.is_full):
            most = "" if self.is_full else "at most "
            raise DatasetError(f"the table has {count:,} rows, not {most}{self.rows:,}")
        users = (
            number_users(frame, self.unit) if self.has_users else np.zeros(count, dtype=np.int64)
        )
        slots = self.slot(users, 1 + np.broadcast_to(rows, users.shape))
        [checked] = self.check_points(self.made(slots, numbers), private=True)
        return np.asarray(checked)

    def plain_pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        """One row, or all rows of a user, that come, go or change; in simple tables."""
        kinds = (
            *(self._pairs_of_numbers(), self._pairs_of_other_entries()),
            *(self._pairs_of_single_sums(), self._pairs_at_quantiles()),
            *(self._pairs_of_one_number(), self._pairs_of_few_rows()),
            self._pairs_of_one_entry(),
        )
        # In turn: code that fails on small tables is still seen on large ones.
        for pair in _in_turn(*kinds):
            if self.distance(*([side] for side in pair)).item() == 1:
                yield pair

    def _ends(self, *ends: float) -> Iterator[dict[str, float]]:
        """By real column a number, or the nearest that it may hold."""
        for end in ends:
            yield {name: min(max(end, kind.lower), kind.upper) for name, kind in self.reals.items()}

    def _pairs_of_numbers(self) -> Iterator[tuple[IntArray, IntArray]]:
        low, high, some, far = self._ends(-_PLAIN, _PLAIN, _SOME, _LARGEST)
        kinds = [(high, None), (low, None), (some, None), (high, low), (some, low), (far, low)]
        for few in dict.fromkeys((1, self.most if self.has_users else 1)):
            for row in dict.fromkeys((1, self.row_values - 1)):
                for own, other in kinds:
                    rest = [self.slot(1, row)] * (self.rows - few) if self.is_full else []
                    yield self.pair([(row, own)] * few, [(row, other)] * few, rest)

    def _pairs_of_one_number(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Rows of which one number is at an end, the others in the middle, where code selects.

        The rows of a user differ in their other entries.
        """
        few, top = self.most if self.has_users else 1, self.row_values - 1
        mixed = [1 + (top - 1 - place) % top for place in range(few)]
        middle = {name: kind.lower / 2 + kind.upper / 2 for name, kind in self.reals.items()}
        for ends in self._ends(_PLAIN, -_PLAIN) if few > 1 or len(self.reals) > 1 else ():
            for name in islice(self.reals, _MOST_SUMMED):
                own = {**middle, name: ends[name]}
                rest = [self.slot(1, 1)] * (self.rows - few) if self.is_full else []
                yield self.pair([(row, own) for row in mixed], [(row, None) for row in mixed], rest)

    def _pairs_of_other_entries(self) -> Iterator[tuple[IntArray, IntArray]]:
        """A row whose entries in the other columns no other row has, or all have but one."""
        top = self.row_values - 1
        for row, other in [(1, top), (top, 1)] if top > 1 else []:
            rest = self.slot(1 + np.arange(self.rows - 1), row)
            ways = [other, row] if self.is_full else [None, other]
            numbers = {name: kind.values[0] for name, kind in self.reals.items()}
            left, right = (
                [(other if way is None else way, numbers if way else None)] for way in ways
            )
            yield self.pair(left, right, rest)

    def _pairs_of_few_rows(self) -> Iterator[tuple[IntArray, IntArray]]:
        """A row that makes a group the largest one, or as large as small groups have to be."""
        top, count = self.row_values - 1, self.rows - 1
        numbers = {name: kind.values[0] for name, kind in self.reals.items()}
        both = dict.fromkeys((few, ends) for ends in ((1, top), (top, 1)) for few in FEW_ROWS)
        for few, (own, other) in {(count // 2, (1, top)): None, **both} if top > 1 else ():
            if few < count:
                rows = np.where(np.arange(count) < few, own, other)
                rest = self.slot(1 + np.arange(count), rows)
                yield self.pair(
                    [(own, numbers)], [(other, numbers if self.is_full else None)], rest
                )

    def _pairs_of_one_entry(self) -> Iterator[tuple[IntArray, IntArray]]:
        """A row in the middle of equal ones, of which one entry changes."""
        if self.is_full:
            same = np.repeat(np.int64(self.slot(1, 1)), self.rows)
            for number in islice(rows_of_one_other_entry(self), _MOST_SUMMED):
                other = self.slot(1, 1 + number)
                changed = np.where(np.arange(self.rows) == self.rows // 2, other, same)
                yield self.made(same, {}), self.made(changed, {})

    def _pairs_at_quantiles(self) -> Iterator[tuple[IntArray, IntArray]]:
        """One row more decides where a quantile is: the others are low, or high."""
        low, high = self._ends(-_PLAIN, _PLAIN)
        for share in _QUANTILES:
            below = np.arange(self.rows - 1) < round(share * (self.rows - 1))
            others = {name: np.where(below, low[name], high[name]) for name in self.reals}
            rest = self.slot(1 + np.arange(self.rows - 1), 1)
            end = low if self.is_full else None
            yield self.pair([(1, high)], [(1, end)], rest, others)

    def _pairs_of_single_sums(self) -> Iterator[tuple[IntArray, IntArray]]:
        """A row that a running sum of 32 bits takes across a power of 2, where rounding is coarser.

        The next numbers are rounded down below it and up above it, so what the row has changed
        is doubled (docs/theory/tables.md, B12).
        """
        high, count = next(self._ends(_PLAIN)), self.rows - 1
        rest = self.slot(1 + np.arange(count), 1)
        for name, kind in islice(self.reals.items(), _MOST_SUMMED):
            numbers = _doubling_numbers(high[name], count)
            if numbers is not None and numbers.min() >= kind.lower:
                zeros = {other: one.values[0] for other, one in self.reals.items()}
                rows = [{**high, name: kind.values[0]}, zeros][: len(zeros)]
                for own in rows if self.is_full else [None]:
                    yield self.pair([(1, high)], [(1, own)], rest, {**high, name: numbers})

    def pair(
        self,
        left: Sequence[tuple[int, Mapping[str, float] | None]],
        right: Sequence[tuple[int, Mapping[str, float] | None]],
        rest: Sequence[int] | NDArray[np.int64],
        entries: Mapping[str, ArrayLike] | None = None,
    ) -> tuple[IntArray, IntArray]:
        """User 0 with these rows, None being none, and the same other slots with their numbers."""
        sides = []
        for rows in (left, right):
            there = [(row, own) for row, own in rows if own is not None or self.is_full]
            slots = [self.slot(0, row) for row, _ in there]
            room = max(len(left), len(right)) - len(slots)
            numbers = {}
            for name, kind in self.reals.items():
                first = [(own or {}).get(name, kind.values[0]) for _, own in there] + [0.0] * room
                others = np.broadcast_to((entries or {}).get(name, kind.values[0]), len(rest))
                numbers[name] = np.concatenate([first, others])
            held = np.concatenate([np.asarray(slots + [0] * room, np.int64), rest])
            sides.append(self.made(held.astype(np.int64), numbers))
        return sides[0], sides[1]

    def _pair_lines(self, point: Sequence[int], neighbour: Sequence[int]) -> Iterator[str]:
        both = [np.asarray(dataset, dtype=np.int64) for dataset in (point, neighbour)]
        names = [name for name in self.columns if name != self.unit]
        entries = [self.entries(side) for side in both]
        slots = [self.slots_in(side) for side in both]
        changed = (both[0] != both[1]).reshape(self.rows, -1).any(axis=1)
        users = {int(user) for side in slots for user in self.users_in(side[changed])} - {-1}
        for mark, side, cells in zip("-+", slots, entries, strict=True):
            rows = list(zip(*(cells[name].tolist() for name in names), strict=True))
            own = np.isin(self.users_in(side), list(users)) if self.has_users else changed
            name = f"{self.unit} {min(users, default=0)}" if self.has_users else "changed row"
            is_own = own[side > 0].tolist()
            kept = [row for row, is_kept in zip(rows, is_own, strict=True) if is_kept]
            yield f"{mark} {name}: {_row_words(names, kept)}"
            others = [row for row, is_kept in zip(rows, is_own, strict=True) if not is_kept]
        yield f"  all others: {_row_words(names, others)}"


def _in_turn(*kinds: Iterator[Any]) -> Iterator[Any]:
    """One of each, then the next of each, made only when it is needed: tables may be large."""
    left = list(kinds)
    while left:
        for kind in list(left):
            try:
                yield next(kind)
            except StopIteration:
                left.remove(kind)


def rows_of_one_other_entry(table: Table) -> Iterator[int]:
    """By column the number of the row that differs from row 0 in it alone, by its last entry."""
    return ((count - 1) * step for count, step in entries_and_steps(table))


def entries_and_steps(table: Table) -> Iterator[tuple[int, int]]:
    """By column of several entries how many, and by how much each adds to the number of a row."""
    step = 1
    for name, kind in reversed(table.columns.items()):
        count = 1 if name == table.unit else len(kind.values)
        if count > 1:
            yield count, step
        step *= count


def _numbers_in(frame: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(frame[name], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        raise DatasetError(f"the table has no column {name!r}, or not one of numbers") from None


def _draw_numbers(
    rng: np.random.Generator, kind: Real, count: int, special: Sequence[float]
) -> NDArray[np.float64]:
    low, high = max(kind.lower, -1e4), min(kind.upper, 1e4)
    plain = rng.uniform(min(low, kind.upper), max(high, kind.lower), size=count)
    near = [kind.lower, kind.upper, *special]
    near += [float(np.nextafter(number, side)) for number in special for side in (-np.inf, np.inf)]
    chosen = np.array(near)[rng.integers(len(near), size=count)]
    mixed = np.where(rng.random(count) < rng.random(), chosen, plain)
    return np.clip(mixed, kind.lower, kind.upper)


def _doubling_numbers(high: float, count: int) -> NDArray[np.float64] | None:
    """See ``_pairs_of_single_sums``; None where so few rows do not reach a power of 2."""
    # The smaller the steps, the closer the row comes to the power of 2.
    for part in (32, 16, 8, 4) if high > 0 and count else ():
        step = 2.0 ** math.floor(math.log2(high / part))
        top = 2.0 ** math.floor(math.log2(step * count * 0.9))
        steps = math.ceil((top - high) / step)
        small = 1.48 * top * 2.0**-24
        if steps > 0 and (count - steps) * small >= 2 * high:
            return np.where(np.arange(count) < steps, step, small)
    return None


def _row_words(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    kinds = Counter(rows).most_common(_SHOWN)
    words = [
        f"{count:,} row{'' if count == 1 else 's'} of "
        + ", ".join(f"{name} {entry!r}" for name, entry in zip(names, row, strict=True))
        for row, count in kinds
    ]
    rest = len(rows) - sum(count for _, count in kinds)
    return "; ".join([*words, *([f"{rest:,} other rows"] if rest else [])]) or "no rows"


class ReplacedRealRows(RealRows):
    """Tables of which one row is replaced."""

    neighbour_words, relation = ReplacedRows.neighbour_words, ReplacedRows.relation


class AddedRealRows(RealRows):
    """Tables of which one row is added or removed."""

    neighbour_words, relation = AddedRows.neighbour_words, AddedRows.relation


class ReplacedRealUsers(RealRows):
    """Tables of which the rows of one user are replaced, by others or by none."""

    neighbour_words, relation = ReplacedUsers.neighbour_words, ReplacedUsers.relation


class AddedRealUsers(RealRows):
    """Tables of which one is the other without the rows of one user."""

    neighbour_words, relation = AddedUsers.neighbour_words, AddedUsers.relation


OF_REALS.update(
    {
        ("replace", False): ReplacedRealRows,
        ("add_remove", False): AddedRealRows,
        ("replace", True): ReplacedRealUsers,
        ("add_remove", True): AddedRealUsers,
    }
)
