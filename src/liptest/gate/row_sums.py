"""What rows, or users, add to one sum over a table: plain values (docs/theory/size.md, S18, S19).

A row adds what a recipe makes of it, cut off at two numbers of its cell. A user adds what a recipe
makes of a few numbers of all rows of this user, cut off at two numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.symbols.user_rows import exact_sum, find_kept_rows
from liptest.gate.recipe_texts import (
    OF_USERS,
    Floats,
    ReadingBudget,
    RecipeReader,
    hexadecimals,
    list_recipe,
    require_shallow,
)
from liptest.values.pandas.user_numbers import HOWS, PerUser, add_by_users
from liptest.values.reals.recipes import Recipe, evaluate
from liptest.values.records.row_bounds import RowBound

# Largest number that a row adds: what is told stays far inside the range of floats.
_LARGEST = 1e100
# Numbers of the rows of one user.
_MOST_MADE = 64
_OF_USER = {"low", "high", "recipe", "whole", "bound", "kept", "made"}


@dataclass(frozen=True)
class RowsOfTable:
    """RowsOfTable of a table: (rows,) cells and users, and by name the real numbers."""

    cells: NDArray[np.int64]
    users: NDArray[np.int64]
    entries: Mapping[str, Floats]

    def keep_by(self, bound: RowBound | None) -> RowsOfTable:
        """Those that a bound leaves."""
        left = find_kept_rows(bound, self.cells, self.users)
        entries = {name: own[left] for name, own in self.entries.items()}
        return RowsOfTable(self.cells[left], self.users[left], entries)


@dataclass(frozen=True, eq=False)
class RowAnswer:
    """What a row adds to one sum: between ``low`` and ``high`` of its cell, (cells,) floats each.

    ``recipe`` calculates it; None where both are equal. ``bound``: which rows of a user count.
    """

    low: Floats
    high: Floats
    recipe: Recipe | None = None
    bound: RowBound | None = None

    @property
    def is_whole(self) -> bool:
        """Whether each row adds one of few whole numbers."""
        return self.recipe is None and bool((self.low % 1 == 0).all())

    @property
    def tables(self) -> tuple[Floats, Floats]:
        """By cell between which numbers lies what is added."""
        return self.low, self.high

    def total(self, rows: RowsOfTable) -> Fraction:
        """The sum over the rows, exactly."""
        left = rows.keep_by(self.bound)
        low, high = self.low[left.cells], self.high[left.cells]
        if self.recipe is None:
            return exact_sum(low)
        terms = np.broadcast_to(evaluate(self.recipe, left.cells, left.entries), low.shape)
        # What is not a number is not above the lower end, and is this end.
        terms = np.where(terms > low, terms, low)
        return exact_sum(np.where(terms < high, terms, high))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``AnswerReader`` is the inverse."""
        listed: dict[str, Any] = {"low": hexadecimals(self.low)}
        if self.recipe is not None:
            listed |= {"high": hexadecimals(self.high), "recipe": list_recipe(self.recipe)}
        if self.bound is not None:
            listed["bound"] = _list_bound(self.bound)
        return listed


@dataclass(frozen=True, eq=False)
class UserAnswer:
    """What a user adds to one sum: between ``low`` and ``high``, which are around 0.

    ``bound`` says of which rows a user has which numbers, ``recipe`` what is made of these.
    ``is_whole``: it is rounded to a whole number.
    """

    low: float
    high: float
    recipe: Recipe
    bound: PerUser
    is_whole: bool = False

    @property
    def tables(self) -> tuple[Floats, Floats]:
        """By cell between which numbers lies what a user adds who has rows of it."""
        kept = np.frombuffer(self.bound.kept, dtype=np.bool_)
        return np.where(kept, self.low, 0.0), np.where(kept, self.high, 0.0)

    def total(self, rows: RowsOfTable) -> Fraction:
        """The sum over all users who have a row of these cells, exactly."""
        left = rows.keep_by(self.bound.before)
        numbers = self.bound.of_rows(left.users, left.cells, left.entries)
        added = np.minimum(np.maximum(add_by_users(self.recipe, numbers), self.low), self.high)
        return exact_sum(np.rint(added) if self.is_whole else added)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``AnswerReader`` is the inverse."""
        return {
            "low": float(self.low).hex(),
            "high": float(self.high).hex(),
            "recipe": list_recipe(self.recipe),
            "whole": self.is_whole,
            "bound": _list_bound(self.bound.before),
            "kept": _truths(self.bound.kept),
            "made": [[how, list_recipe(recipe)] for how, recipe in self.bound.made],
        }


def _truths(kept: bytes) -> list[int]:
    listed: list[int] = np.frombuffer(kept, dtype=np.bool_).astype(int).tolist()
    return listed


def _list_bound(bound: RowBound | None) -> list[Any]:
    """The bounds, the first one first."""
    if bound is None:
        return []
    order = hexadecimals(np.frombuffer(bound.order, dtype=np.float64))
    listed = [_truths(bound.kept), bound.most, order]
    if bound.by or bound.is_all:
        listed += [np.frombuffer(bound.by, dtype=np.int64).tolist(), bound.is_all]
    return [*_list_bound(bound.before), listed]


@dataclass(frozen=True)
class AnswerReader:
    """Reads what rows and users add: of so many cells, the first of which may be that of none."""

    cells: int
    first: int
    has_users: bool
    recipes: RecipeReader

    @property
    def _budget(self) -> ReadingBudget:
        return self.recipes.budget

    def read(self, said: dict[str, Any]) -> RowAnswer | UserAnswer:
        """The inverse of ``to_dict``; ValueError and its like for anything else."""
        return self._of_users(said) if "made" in said else self._of_rows(said)

    def _of_rows(self, said: dict[str, Any]) -> RowAnswer:
        lows = np.array(self._budget.floats(said["low"], -_LARGEST, _LARGEST))
        highs, recipe = lows, None
        if "recipe" in said:
            highs = np.array(self._budget.floats(said["high"], -_LARGEST, _LARGEST))
            recipe = self.recipes.read(said["recipe"])
        if len(lows) != self.cells or len(highs) != self.cells or (lows > highs).any():
            raise ValueError
        if lows[: self.first].any() or highs[: self.first].any():
            raise ValueError
        return RowAnswer(lows, highs, recipe, self._bound(said.get("bound", [])))

    def _of_users(self, said: dict[str, Any]) -> UserAnswer:
        if not self.has_users or said.keys() != _OF_USER or type(said["whole"]) is not bool:
            raise ValueError
        [low] = self._budget.floats([said["low"]], -_LARGEST, 0.0)
        [high] = self._budget.floats([said["high"]], 0.0, _LARGEST)
        if said["whole"] and (low % 1 or high % 1):
            raise ValueError
        kept = self._kept(said["kept"])
        if kept[: self.first].any() or not kept.any():
            raise ValueError
        recipes = tuple((how, self.recipes.read(recipe)) for how, recipe in said["made"])
        if not 0 < len(recipes) <= _MOST_MADE or any(how not in HOWS for how, _ in recipes):
            raise ValueError
        numbers = {str(place) for place in range(len(recipes))}
        recipe = RecipeReader(numbers, 0, self._budget, OF_USERS).read(said["recipe"])
        per_user = PerUser(self._bound(said["bound"]), kept.tobytes(), recipes)
        return UserAnswer(low, high, recipe, per_user, said["whole"])

    def _kept(self, listed: list[Any]) -> NDArray[np.bool_]:
        """By cell whether rows of it count."""
        self._budget.take(len(listed))
        is_right = all(type(one) is int and one in (0, 1) for one in listed)
        if not is_right or len(listed) != self.cells:
            raise ValueError
        return np.array(listed, dtype=np.bool_)

    def _bound(self, listed: list[Any]) -> RowBound | None:
        bound = None
        require_shallow(len(listed))
        if listed and not self.has_users:
            raise ValueError
        for kept, most, order, *more in listed:
            by, is_all = more or ([], False)
            self._budget.take(len(by))
            numbers = np.array(self._budget.floats(order, -np.inf, np.inf), dtype=np.float64)
            those = self._kept(kept)
            if type(most) is not int or most < 1 or type(is_all) is not bool:
                raise ValueError
            if not {len(numbers), len(by)} <= {0, self.cells}:
                raise ValueError
            if not all(type(one) is int and 0 <= one < len(by) for one in by):
                raise ValueError
            codes = np.array(by, dtype=np.int64)
            bound = RowBound(
                bound, those.tobytes(), most, numbers.tobytes(), codes.tobytes(), is_all
            )
        return bound
