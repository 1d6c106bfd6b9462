"""Sums over the rows of a table with real columns, as plain values (docs/theory/size.md, S18).

A row lies in one of some cells: by its other columns, by intervals of its real ones, and by
comparisons. What it adds is calculated by a recipe and cut off at two numbers of its cell; so it
lies between them whatever the recipe is, and the price is that of these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.data.real_tables import RealRows
from liptest.enumerate.user_rows import exact_sum
from liptest.errors import GateError
from liptest.symbolic.answers import Answer, Differences
from liptest.values.answer_book import AnswerBook
from liptest.values.protocol import COMPARISONS
from liptest.values.recipes import ENDS, Recipe, RowCondition, evaluate
from liptest.values.row_cells import MOST_CELLS, RowCells

Floats = NDArray[np.float64]
#: By name with how many operands; of floats they fail for no numbers.
_FUNCTIONS: dict[str, tuple[Any, int]] = {
    "where": (np.where, 3),
    **{ufunc.__name__: (ufunc, ufunc.nin) for ufunc in ENDS},
}
_COMPARISONS: dict[str, Any] = {ufunc.__name__: ufunc for ufunc in COMPARISONS}
# Levels of a recipe, and numbers in all tables together.
_DEEPEST, _MOST_NUMBERS = 200, 1 << 21
# Largest number that a row adds: what is told stays far inside the range of floats.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class RowAnswer:
    """What a row adds to one sum: between ``low`` and ``high`` of its cell, (cells,) floats each.

    ``recipe`` calculates it; None where both are equal.
    """

    low: Floats
    high: Floats
    recipe: Recipe | None = None

    def total(self, cells: NDArray[np.int64], entries: Mapping[Any, Any]) -> Fraction:
        """The sum over rows of these cells with these real numbers, exactly."""
        low, high = self.low[cells], self.high[cells]
        if self.recipe is None:
            return exact_sum(low)
        terms = np.broadcast_to(evaluate(self.recipe, cells, entries), cells.shape)
        # What is not a number is not above the lower end, and is this end.
        terms = np.where(terms > low, terms, low)
        return exact_sum(np.where(terms < high, terms, high))


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """Sums over the rows of tables of a domain, by cells that are cut and divided so."""

    domain: RealRows
    cuts: Mapping[str, frozenset[float]]
    conditions: tuple[RowCondition, ...]
    answers: tuple[RowAnswer, ...]

    @cached_property
    def cells(self) -> RowCells:
        """Of the rows."""
        limits = {name: (kind.lower, kind.upper) for name, kind in self.domain.reals.items()}
        first = 0 if self.domain.is_full else 1
        rows = self.domain.row_values - 1
        return RowCells(rows, first, limits, self.cuts, self.conditions)

    @cached_property
    def book(self) -> AnswerBook:
        """The answers as those of an analysis, without any rounding; equal ones are refused."""
        comes_and_goes = self.domain.kind == "add_remove"
        book = AnswerBook(self.domain.rows, self.cells.count, comes_and_goes=comes_and_goes)
        for number, one in enumerate(self.answers):
            if one.recipe is None:
                answer = book.of(one.low)
            else:
                answer = book.of_recipe((number,), one.low, one.high, Fraction(0))
            if answer.number != number:
                raise ValueError
        return book

    @property
    def variables(self) -> tuple[Answer, ...]:
        """As symbols; of whole numbers where each row adds one of few that are whole."""
        whole = [one.recipe is None and bool((one.low % 1 == 0).all()) for one in self.answers]
        return tuple(Answer(number, is_whole) for number, is_whole in enumerate(whole))

    @cached_property
    def differences(self) -> Differences:
        """By how much neighbours move the sums."""
        return self.book.differences()

    def totals(self, dataset: IntArray) -> list[Fraction]:
        """All sums on a dataset, exactly."""
        slots = self.domain.slots_in(dataset)
        there = slots > 0
        entries = {name: own[there] for name, own in self.domain.entries_in(dataset).items()}
        cells = self.cells.of(self.domain.rows_in(slots[there]), entries)
        return [one.total(cells, entries) for one in self.answers]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``read_row_answers`` is the inverse."""
        return {
            "cuts": {name: [cut.hex() for cut in sorted(cuts)] for name, cuts in self.cuts.items()},
            "conditions": [
                [one.comparison.__name__, _listed(one.left), _listed(one.right)]
                for one in self.conditions
            ],
            "answers": [_listed_answer(one) for one in self.answers],
        }


def _listed_answer(one: RowAnswer) -> list[Any]:
    low = [number.hex() for number in one.low.tolist()]
    if one.recipe is None:
        return [low]
    return [low, [number.hex() for number in one.high.tolist()], _listed(one.recipe)]


def _listed(recipe: Recipe) -> list[Any]:
    kind, *rest = recipe
    if kind in ("real", "number"):
        return ["real", rest[0]] if kind == "real" else ["number", float(rest[1]).hex()]
    if kind == "table":
        return ["table", [number.hex() for number in np.frombuffer(rest[1]).tolist()]]
    if kind == "cells":
        return ["cells", *map(_listed, rest[0])]
    return [kind.__name__, *map(_listed, rest)]


def plain_recipe(recipe: Recipe) -> Recipe:
    """The same with all its numbers as floats; GateError where it is not of single rows."""
    kind, *rest = recipe
    if kind == "real":
        return recipe
    if kind == "number" and np.ndim(rest[1]) == 0:
        return ("number", np.float64, np.float64(rest[1]))
    if kind == "table":
        floats = np.frombuffer(rest[1], dtype=rest[0]).astype(np.float64)
        return ("table", np.float64, floats.tobytes())
    if kind == "cells":
        return ("cells", tuple(map(plain_recipe, rest[0])))
    if not callable(kind) or _FUNCTIONS.get(kind.__name__, ())[:1] != (kind,):
        raise GateError("what a row adds to a sum depends on more than this row, or on noise")
    return (kind, *map(plain_recipe, rest))


def read_row_answers(document: dict[str, Any], domain: RealRows) -> RowAnswers:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    budget = _Budget()
    cuts = {
        name: frozenset(budget.floats(document["cuts"][name], kind.lower, kind.upper))
        for name, kind in domain.reals.items()
    }
    if document["cuts"].keys() - cuts.keys() or domain.has_users:
        raise ValueError
    conditions = tuple(_read_condition(listed, domain, budget) for listed in document["conditions"])
    bare = RowAnswers(domain, cuts, conditions, ())
    if bare.cells.count > MOST_CELLS:
        raise ValueError
    answers = tuple(_read_answer(listed, bare, budget) for listed in document["answers"])
    made = RowAnswers(domain, cuts, conditions, answers)
    # That it can be computed at all shows here: whether it can depends on no number of a row.
    _ = made.book, made.totals(domain.zeros)
    return made


class _Budget:
    """Counts what is read; ValueError beyond it."""

    def __init__(self) -> None:
        self._left = _MOST_NUMBERS

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise ValueError

    def floats(self, listed: list[str], low: float, high: float) -> list[float]:
        """So many finite ones between two."""
        self.take(len(listed))
        numbers = list(map(float.fromhex, listed))
        if not all(low <= number <= high for number in numbers):
            raise ValueError
        return numbers


def _read_answer(listed: list[Any], known: RowAnswers, budget: _Budget) -> RowAnswer:
    low, *more = listed
    lows = np.array(budget.floats(low, -_LARGEST, _LARGEST))
    highs, recipe = lows, None
    if more:
        high, said = more
        highs = np.array(budget.floats(high, -_LARGEST, _LARGEST))
        recipe = _read_recipe(said, known.domain, known.cells.count, budget, has_cells=True)
    count, first = known.cells.count, known.cells.first
    if len(lows) != count or len(highs) != count or (lows > highs).any():
        raise ValueError
    if lows[:first].any() or highs[:first].any():
        raise ValueError
    return RowAnswer(lows, highs, recipe)


def _read_condition(listed: list[Any], domain: RealRows, budget: _Budget) -> RowCondition:
    comparison, *sides = listed
    left, right = (_read_recipe(side, domain, domain.row_values, budget) for side in sides)
    condition = RowCondition(_COMPARISONS[comparison], left, right)
    numbers = {name: kind.values for name, kind in domain.reals.items()}
    condition.holds(np.ones(1, dtype=np.int64), numbers)
    return condition


def _read_recipe(
    listed: list[Any],
    domain: RealRows,
    places: int,
    budget: _Budget,
    depth: int = 0,
    *,
    has_cells: bool = False,
) -> Recipe:
    """``places``: how long its tables are; ``has_cells``: whether it may have a part by cell."""
    budget.take(1)
    kind, *rest = listed
    read = partial(
        _read_recipe,
        domain=domain,
        places=places,
        budget=budget,
        depth=depth + 1,
        has_cells=has_cells,
    )
    if depth > _DEEPEST:
        raise ValueError
    if kind == "real":
        [name] = rest
        if name not in domain.reals:
            raise ValueError
        return ("real", name)
    if kind == "number":
        [number] = budget.floats(rest, -np.inf, np.inf)
        return ("number", np.float64, np.float64(number))
    if kind == "table":
        [numbers] = rest
        table = np.array(budget.floats(numbers, -np.inf, np.inf), dtype=np.float64)
        if len(table) != places:
            raise ValueError
        return ("table", np.float64, table.tobytes())
    if kind == "cells":
        if not has_cells or len(rest) != places:
            raise ValueError
        return ("cells", tuple(map(read, rest)))
    function, operands = _FUNCTIONS[kind]
    if len(rest) != operands:
        raise ValueError
    return (function, *map(read, rest))
