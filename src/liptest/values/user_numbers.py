"""What pandas makes of all rows of one user, and what that adds to an answer (``user_totals``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.answer_book import RowBound
from liptest.values.recipes import Recipe, evaluate

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

    def adds(self, *hows: str) -> bool:
        """Whether one of its numbers is made so."""
        return any(how in hows for how, _ in self.made)

    def joined(self, other: PerUser) -> PerUser:
        """The numbers of both, of the same rows."""
        return PerUser(self.before, self.kept, tuple(sorted({*self.made, *other.made}, key=repr)))

    def renamed(self, recipe: Recipe, joined: PerUser) -> Recipe:
        """A recipe of its numbers, of those of another one that has them all."""
        if recipe[0] == "real":
            return number_at(joined.made.index(self.made[int(recipe[1])]))
        if not callable(recipe[0]):
            return recipe
        return (recipe[0], *(self.renamed(part, joined) for part in recipe[1:]))

    def of_rows(
        self, users: NDArray[np.int64], cells: NDArray[np.int64], entries: Any
    ) -> list[NDArray[Any]]:
        """By user the numbers that pandas makes; rows are those that ``before`` leaves."""
        import pandas

        those = np.frombuffer(self.kept, dtype=np.bool_)[cells]
        numbers = []
        for how, recipe in self.made:
            terms = np.broadcast_to(evaluate(recipe, cells, entries), cells.shape)[those]
            groups = pandas.Series(np.array(terms)).groupby(users[those], sort=False)
            numbers.append(getattr(groups, how)().to_numpy())
        return numbers

    def of_equal_rows(
        self, times: int, cells: NDArray[np.int64], entries: Any
    ) -> list[NDArray[Any]]:
        """For each row the numbers of a user who has so many of it; nan where none is kept."""
        those = np.frombuffer(self.kept, dtype=np.bool_)[cells]
        kept = times if self.before is None else min(times, self.before.rows)
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


def number_at(place: int) -> Recipe:
    """The recipe of one of the numbers of a user."""
    return "real", str(place)


def added_by_users(recipe: Recipe, numbers: list[NDArray[Any]]) -> NDArray[np.float64]:
    """What each user adds to an answer; pandas leaves out what is no number."""
    entries = {str(place): own for place, own in enumerate(numbers)}
    made = evaluate(recipe, np.zeros(len(numbers[0]), np.int64), entries)
    return np.nan_to_num(np.asarray(made, dtype=np.float64), nan=0.0)
