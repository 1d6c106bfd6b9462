"""Sums over the rows of a table, as plain values (docs/theory/size.md, S18).

A row lies in one of some cells: by its other columns, by intervals of its real ones, and by
comparisons. What a row adds, or a user, lies between two numbers whatever the recipe is that it is
calculated by (``row_sums``), and the price is that of these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from liptest.data.domains import IntArray
from liptest.data.real_tables import Real, RealRows
from liptest.data.tables import RowsOfUsers
from liptest.gate.recipe_texts import OF_ROWS, ReadingBudget, RecipeReader, list_recipe
from liptest.gate.row_sums import AnswerReader, RowAnswer, RowsOfTable, UserAnswer
from liptest.symbolic.answers import Answer, Differences, ManyDifferences
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.protocol import COMPARISONS
from liptest.values.reals.recipes import RowCondition
from liptest.values.reals.rounded_sums import NO_ROUNDING
from liptest.values.records.row_cells import MOST_CELLS, RowCells

_COMPARISONS: dict[str, Any] = {ufunc.__name__: ufunc for ufunc in COMPARISONS}


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """Sums over the rows of tables of a domain, by cells that are cut and divided so."""

    domain: RowsOfUsers
    cuts: Mapping[str, frozenset[float]]
    conditions: tuple[RowCondition, ...]
    answers: tuple[RowAnswer | UserAnswer, ...]

    @cached_property
    def cells(self) -> RowCells:
        """The cells that the rows fall into."""
        reals = _find_reals(self.domain)
        limits = {name: (kind.lower, kind.upper) for name, kind in reals.items()}
        rows = self.domain.row_values - 1
        return RowCells(rows, int(_has_gaps(self.domain)), limits, self.cuts, self.conditions)

    @cached_property
    def book(self) -> AnswerBook:
        """The answers as those of an analysis, without any rounding; equal ones are refused."""
        comes_and_goes = self.domain.kind == "add_remove"
        book = AnswerBook(self.domain.rows, self.cells.count, comes_and_goes=comes_and_goes)
        for number, one in enumerate(self.answers):
            own_book = copy(book)  # which shares the lists
            bound: Any = one.bound
            own_book.bound = bound
            low, high = one.tables
            if one.recipe is None:
                answer = own_book.of(low)
            else:
                made = (number,), low, high, NO_ROUNDING
                answer = own_book.of_recipe(*made, is_whole=one.is_whole)
            if answer.number != number:
                raise ValueError
        return book

    @property
    def variables(self) -> tuple[Answer, ...]:
        """As symbols; of whole numbers where what is added is whole."""
        return tuple(Answer(number, one.is_whole) for number, one in enumerate(self.answers))

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
        rows = RowsOfTable(cells, users, entries)
        return [answer.total(rows) for answer in self.answers]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``read_row_answers`` is the inverse."""
        return {
            "cuts": {name: [cut.hex() for cut in sorted(cuts)] for name, cuts in self.cuts.items()},
            "conditions": [
                [
                    condition.comparison.__name__,
                    list_recipe(condition.left),
                    list_recipe(condition.right),
                ]
                for condition in self.conditions
            ],
            "answers": [answer.to_dict() for answer in self.answers],
        }


def _find_reals(domain: RowsOfUsers) -> dict[str, Real]:
    return domain.reals if isinstance(domain, RealRows) else {}


def _has_users(domain: RowsOfUsers) -> bool:
    return domain.has_users if isinstance(domain, RealRows) else True


def _has_gaps(domain: RowsOfUsers) -> bool:
    """Whether there may be no row in a place, so that cell 0 is that of none."""
    return not domain.is_full if isinstance(domain, RealRows) else True


def read_row_answers(document: dict[str, Any], domain: RowsOfUsers) -> RowAnswers:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    budget, reals = ReadingBudget(), _find_reals(domain)
    cuts = {
        name: frozenset(budget.floats(document["cuts"][name], kind.lower, kind.upper))
        for name, kind in reals.items()
    }
    if document["cuts"].keys() - cuts.keys():
        raise ValueError
    of_rows = RecipeReader(reals, domain.row_values, budget, OF_ROWS)
    conditions = tuple(_read_condition(listed, of_rows, reals) for listed in document["conditions"])
    cells = RowAnswers(domain, cuts, conditions, ()).cells
    if cells.count > MOST_CELLS:
        raise ValueError
    of_cells = RecipeReader(reals, cells.count, budget, OF_ROWS, has_cells=True)
    reader = AnswerReader(cells.count, cells.first, _has_users(domain), of_cells)
    answers = tuple(map(reader.read, document["answers"]))
    answers_read = RowAnswers(domain, cuts, conditions, answers)
    # That it can be computed at all shows here: whether it can depends on no number of a row.
    _ = answers_read.book, answers_read.totals(_no_rows(domain))
    return answers_read


def _read_condition(
    listed: list[Any], reader: RecipeReader, reals: Mapping[str, Real]
) -> RowCondition:
    comparison, *sides = listed
    left, right = map(reader.read, sides)
    condition = RowCondition(_COMPARISONS[comparison], left, right)
    numbers = {name: kind.values for name, kind in reals.items()}
    condition.holds(np.ones(1, dtype=np.int64), numbers)
    return condition


def _no_rows(domain: RowsOfUsers) -> IntArray:
    """Some dataset, as empty as there is one."""
    if isinstance(domain, RealRows):
        return domain.zeros
    return np.zeros(domain.dimension, dtype=domain.dtype)
