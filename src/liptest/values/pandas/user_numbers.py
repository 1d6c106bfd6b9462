"""What pandas makes of all rows of one user, and what that adds to an answer (``user_totals``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.reals.recipes import Recipe, evaluate
from liptest.values.records.row_bounds import RowBound

#: What is made of the number of rows, or of entries, alone.
COUNTS = ("size", "count", "nunique")


@dataclass(frozen=True)
class PerUser:
    """What is made of all rows of a user that are ``kept``, of what ``before`` leaves.

    ``made`` says how each number is made, and the recipe of what each row has.
    """

    before: RowBound | None
    kept: bytes
    made: tuple[tuple[str, Recipe], ...]

    #: A user has one number of each kind.
    rows = 1
    #: Its groups are answers of their own (``user_cells``).
    by = b""

    def adds(self, *hows: str) -> bool:
        """Whether one of its numbers is made so."""
        return any(how in hows for how, _ in self.made)

    def joined(self, other: PerUser) -> PerUser:
        """The numbers of both, of the same rows."""
        return PerUser(self.before, self.kept, tuple(sorted({*self.made, *other.made}, key=repr)))

    def rename_recipe(self, recipe: Recipe, joined: PerUser) -> Recipe:
        """A recipe of its numbers, of those of another one that has them all."""
        if recipe[0] == "real":
            return number_at(joined.made.index(self.made[int(recipe[1])]))
        if not callable(recipe[0]):
            return recipe
        return (recipe[0], *(self.rename_recipe(part, joined) for part in recipe[1:]))

    def of_rows(
        self, users: NDArray[np.int64], cells: NDArray[np.int64], entries: Any
    ) -> list[NDArray[Any]]:
        """By user the numbers that pandas makes; rows are those that ``before`` leaves."""
        those = np.frombuffer(self.kept, dtype=np.bool_)[cells]
        rows = RowsByUser.of(users[those])
        return [
            rows.number(how, np.broadcast_to(evaluate(recipe, cells, entries), cells.shape)[those])
            for how, recipe in self.made
        ]

    def of_equal_rows(
        self, times: int, cells: NDArray[np.int64], entries: Any
    ) -> list[NDArray[Any]]:
        """For each row the numbers of a user who has so many of it; nan where none is kept."""
        those = np.frombuffer(self.kept, dtype=np.bool_)[cells]
        kept = times if self.before is None else self.before.count_left_of_equal(times)
        numbers = []
        for how, recipe in self.made:
            terms = np.broadcast_to(evaluate(recipe, cells, entries), cells.shape).astype(float)
            if how in ("size", "count"):
                terms = np.full(cells.shape, float(kept))
            elif how == "nunique":
                terms = np.ones(cells.shape)
            elif how == "sum":
                with np.errstate(all="ignore"):
                    terms = terms * kept
            numbers.append(np.where(those, terms, np.nan))
        return numbers


@dataclass(frozen=True)
class RowsByUser:
    """Rows in the order of their users, those of a user in their own order.

    A number of a user is a function of what these rows have, in this order, and of nothing else. So
    sums are not those of pandas, which rounds them by the rows of others, too (B15).
    """

    order: NDArray[np.int64]
    #: Where the rows of each user begin.
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, users: NDArray[np.int64]) -> RowsByUser:
        """The rows that belong to these users, by user."""
        order = np.argsort(users, kind="stable")
        _, starts = np.unique(users[order], return_index=True)
        return cls(order, starts.astype(np.int64))

    def number(self, how: str, terms: NDArray[Any]) -> NDArray[Any]:
        """What pandas makes of the terms of each user, but for the rounding of sums."""
        terms = terms[self.order]
        is_there = terms == terms
        if how in ("size", "count"):
            return self._count((is_there | True) if how == "size" else is_there)
        floats = terms.astype(np.float64) + 0.0
        listed = [
            own[there].tolist()
            for own, there in zip(self._split(floats), self._split(is_there), strict=True)
        ]
        is_whole = how == "nunique" or (terms.dtype.kind in "iub" and how not in ("mean", "median"))
        return np.array(list(map(_MAKERS[how], listed)), np.int64 if is_whole else np.float64)

    def _split(self, numbers: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(numbers, self.starts[1:]) if len(self.starts) else []

    def _count(self, truths: NDArray[np.bool_]) -> NDArray[np.int64]:
        if not len(self.starts):
            return np.array([], dtype=np.int64)
        counts: NDArray[np.int64] = np.add.reduceat(truths, self.starts, dtype=np.int64)
        return counts


def _sum(terms: list[float]) -> float:
    """Exact, and rounded once."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return sum(terms)  # infinite, or no number


def _mean(terms: list[float]) -> float:
    return _sum(terms) / len(terms) if terms else math.nan


def _median(terms: list[float]) -> float:
    half, is_odd = divmod(len(terms), 2)
    ranked = sorted(terms)
    if not terms:
        return math.nan
    return ranked[half] if is_odd else (ranked[half - 1] + ranked[half]) / 2


#: Of numbers, by the name of what is made of them.
_MAKERS: dict[str, Callable[[list[float]], float]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "nunique": lambda terms: len(set(terms)),
    "max": lambda terms: max(terms, default=math.nan),
    "min": lambda terms: min(terms, default=math.nan),
    "first": lambda terms: next(iter(terms), math.nan),
    "last": lambda terms: next(reversed(terms), math.nan),
}
#: What may be made of rows.
HOWS = ("size", "count", *_MAKERS)


def number_at(place: int) -> Recipe:
    """The recipe of one of the numbers of a user."""
    return "real", str(place)


def add_by_users(recipe: Recipe, numbers: list[NDArray[Any]]) -> NDArray[np.float64]:
    """What each user adds to an answer; pandas leaves NaN out."""
    entries = {str(place): own for place, own in enumerate(numbers)}
    made = evaluate(recipe, np.zeros(len(numbers[0]), np.int64), entries)
    added = np.broadcast_to(np.asarray(made, dtype=np.float64), numbers[0].shape)
    return np.nan_to_num(added, nan=0.0)
