"""Sums over the rows of a table, as plain values (docs/theory/size.md, S18).

A row lies in one of some cells: by its other columns, by intervals of its real ones, and by
comparisons. What it adds is calculated by a recipe and cut off at two numbers of its cell; so it
lies between them whatever the recipe is, and the price is that of these numbers. Of users only the
first rows may be added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.data.real_tables import Real, RealRows
from liptest.data.tables import RowsOfUsers
from liptest.enumerate.user_rows import exact_sum, kept_by
from liptest.errors import GateError
from liptest.symbolic.answers import Answer, Differences, ManyDifferences
from liptest.values.answer_book import AnswerBook, RowBound
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

    ``recipe`` calculates it; None where both are equal. ``bound``: which rows of a user count.
    """

    low: Floats
    high: Floats
    recipe: Recipe | None = None
    bound: RowBound | None = None

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

    domain: RowsOfUsers
    cuts: Mapping[str, frozenset[float]]
    conditions: tuple[RowCondition, ...]
    answers: tuple[RowAnswer, ...]

    @cached_property
    def cells(self) -> RowCells:
        """Of the rows."""
        reals = _reals_of(self.domain)
        limits = {name: (kind.lower, kind.upper) for name, kind in reals.items()}
        rows = self.domain.row_values - 1
        return RowCells(rows, int(_has_gaps(self.domain)), limits, self.cuts, self.conditions)

    @cached_property
    def book(self) -> AnswerBook:
        """The answers as those of an analysis, without any rounding; equal ones are refused."""
        comes_and_goes = self.domain.kind == "add_remove"
        book = AnswerBook(self.domain.rows, self.cells.count, comes_and_goes=comes_and_goes)
        for number, one in enumerate(self.answers):
            own = copy(book)  # which shares the lists
            own.bound = one.bound
            if one.recipe is None:
                answer = own.of(one.low)
            else:
                answer = own.of_recipe((number,), one.low, one.high, Fraction(0))
            if answer.number != number:
                raise ValueError
        return book

    @property
    def variables(self) -> tuple[Answer, ...]:
        """As symbols; of whole numbers where each row adds one of few that are whole."""
        whole = [one.recipe is None and bool((one.low % 1 == 0).all()) for one in self.answers]
        return tuple(Answer(number, is_whole) for number, is_whole in enumerate(whole))

    @cached_property
    def differences(self) -> Differences | ManyDifferences:
        """By how much neighbours move the sums."""
        if _has_users(self.domain):
            return self.book.differences_of_users(self.domain.most)[0]
        return self.book.differences()

    def totals(self, dataset: IntArray) -> list[Fraction]:
        """All sums on a dataset, exactly."""
        slots, entries = np.asarray(dataset), {}
        if isinstance(self.domain, RealRows):
            slots, entries = self.domain.slots_in(dataset), self.domain.entries_in(dataset)
        there = slots > 0
        users = self.domain.users_in(slots[there])
        entries = {name: own[there] for name, own in entries.items()}
        cells = self.cells.of(self.domain.rows_in(slots[there]), entries)
        totals = []
        for one in self.answers:
            left = kept_by(one.bound, cells, users)
            totals.append(
                one.total(cells[left], {name: own[left] for name, own in entries.items()})
            )
        return totals

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


def _reals_of(domain: RowsOfUsers) -> dict[str, Real]:
    return domain.reals if isinstance(domain, RealRows) else {}


def _has_users(domain: RowsOfUsers) -> bool:
    return domain.has_users if isinstance(domain, RealRows) else True


def _has_gaps(domain: RowsOfUsers) -> bool:
    """Whether there may be no row in a place, so that cell 0 is that of none."""
    return not domain.is_full if isinstance(domain, RealRows) else True


def _listed_answer(one: RowAnswer) -> dict[str, Any]:
    listed: dict[str, Any] = {"low": _hexadecimals(one.low)}
    if one.recipe is not None:
        listed |= {"high": _hexadecimals(one.high), "recipe": _listed(one.recipe)}
    if one.bound is not None:
        listed["bound"] = _listed_bound(one.bound)
    return listed


def _listed_bound(bound: RowBound | None) -> list[Any]:
    """The bounds, the first one first."""
    if bound is None:
        return []
    kept = np.frombuffer(bound.kept, dtype=np.bool_).astype(int).tolist()
    order = _hexadecimals(np.frombuffer(bound.order, dtype=np.float64))
    return [*_listed_bound(bound.before), [kept, bound.most, order]]


def _hexadecimals(numbers: Floats) -> list[str]:
    return [number.hex() for number in numbers.tolist()]


def _listed(recipe: Recipe) -> list[Any]:
    kind, *rest = recipe
    if kind in ("real", "number"):
        return ["real", rest[0]] if kind == "real" else ["number", float(rest[1]).hex()]
    if kind == "table":
        return ["table", _hexadecimals(np.frombuffer(rest[1]))]
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


def read_row_answers(document: dict[str, Any], domain: RowsOfUsers) -> RowAnswers:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    budget = _Budget()
    cuts = {
        name: frozenset(budget.floats(document["cuts"][name], kind.lower, kind.upper))
        for name, kind in _reals_of(domain).items()
    }
    if document["cuts"].keys() - cuts.keys():
        raise ValueError
    conditions = tuple(_read_condition(listed, domain, budget) for listed in document["conditions"])
    bare = RowAnswers(domain, cuts, conditions, ())
    if bare.cells.count > MOST_CELLS:
        raise ValueError
    answers = tuple(_read_answer(listed, bare, budget) for listed in document["answers"])
    made = RowAnswers(domain, cuts, conditions, answers)
    # That it can be computed at all shows here: whether it can depends on no number of a row.
    _ = made.book, made.totals(_no_rows(domain))
    return made


def _no_rows(domain: RowsOfUsers) -> IntArray:
    """Some dataset, as empty as there is one."""
    if isinstance(domain, RealRows):
        return domain.zeros
    return np.zeros(domain.dimension, dtype=domain.dtype)


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


def _read_answer(said: dict[str, Any], known: RowAnswers, budget: _Budget) -> RowAnswer:
    lows = np.array(budget.floats(said["low"], -_LARGEST, _LARGEST))
    highs, recipe = lows, None
    if "recipe" in said:
        highs = np.array(budget.floats(said["high"], -_LARGEST, _LARGEST))
        read = partial(_read_recipe, domain=known.domain, budget=budget, has_cells=True)
        recipe = read(said["recipe"], places=known.cells.count)
    count, first = known.cells.count, known.cells.first
    if len(lows) != count or len(highs) != count or (lows > highs).any():
        raise ValueError
    if lows[:first].any() or highs[:first].any():
        raise ValueError
    bound = _read_bound(said.get("bound", []), known, budget)
    return RowAnswer(lows, highs, recipe, bound)


def _read_bound(listed: list[Any], known: RowAnswers, budget: _Budget) -> RowBound | None:
    bound = None
    if len(listed) > _DEEPEST or (listed and not _has_users(known.domain)):
        raise ValueError
    for kept, most, order in listed:
        budget.take(len(kept))
        numbers = np.array(budget.floats(order, -np.inf, np.inf), dtype=np.float64)
        right = all(type(one) is int and one in (0, 1) for one in kept)
        if not right or type(most) is not int or most < 1 or len(kept) != known.cells.count:
            raise ValueError
        if len(numbers) not in (0, known.cells.count):
            raise ValueError
        bound = RowBound(bound, np.array(kept, dtype=np.bool_).tobytes(), most, numbers.tobytes())
    return bound


def _read_condition(listed: list[Any], domain: RowsOfUsers, budget: _Budget) -> RowCondition:
    comparison, *sides = listed
    left, right = (_read_recipe(side, domain, domain.row_values, budget) for side in sides)
    condition = RowCondition(_COMPARISONS[comparison], left, right)
    numbers = {name: kind.values for name, kind in _reals_of(domain).items()}
    condition.holds(np.ones(1, dtype=np.int64), numbers)
    return condition


def _read_recipe(
    listed: list[Any],
    domain: RowsOfUsers,
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
        if name not in _reals_of(domain):
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
