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

    ``of`` is the recipe of what each row has.
    """

    before: RowBound | None
    kept: bytes
    how: str
    of: Recipe

    #: A user has one number.
    rows = 1

    def of_rows(
        self, users: NDArray[np.int64], cells: NDArray[np.int64], entries: Any
    ) -> NDArray[Any]:
        """By user the number that pandas makes; rows are those that ``before`` leaves."""
        import pandas

        those = np.frombuffer(self.kept, dtype=np.bool_)[cells]
        terms = np.broadcast_to(evaluate(self.of, cells, entries), cells.shape)[those]
        groups = pandas.Series(np.array(terms)).groupby(users[those], sort=False)
        made: NDArray[Any] = getattr(groups, self.how)().to_numpy()
        return made

    def of_equal_rows(self, times: int, cells: NDArray[np.int64], entries: Any) -> NDArray[Any]:
        """For each row the number of a user who has so many of it; nan where none is kept."""
        those = np.frombuffer(self.kept, dtype=np.bool_)[cells]
        kept = times if self.before is None else min(times, self.before.rows)
        terms = np.broadcast_to(evaluate(self.of, cells, entries), cells.shape).astype(float)
        if self.how in ("size", "count"):
            terms = np.full(cells.shape, float(kept))
        elif self.how == "nunique":
            terms = np.ones(cells.shape)
        elif self.how == "sum":
            with np.errstate(all="ignore"):
                terms = terms * kept
        return np.where(those, terms, np.nan)


def added_by_users(recipe: Recipe, totals: NDArray[Any]) -> NDArray[np.float64]:
    """What each user adds to an answer; pandas leaves out what is no number."""
    made = evaluate(recipe, np.zeros(len(totals), np.int64), {"": totals})
    return np.nan_to_num(np.asarray(made, dtype=np.float64), nan=0.0)
