"""Values of a record that add the same are one kind, of tables of any size."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import liptest as lt
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.answers.kinds_of_values import find_kinds, rows_at, steps_of_one

ENTRIES = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -1.25, 1e300]))
TABLES = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=1, max_size=5)
)


@pytest.mark.slow
@given(TABLES)
def test_kinds_are_the_different_columns(lists: list[list[float]]) -> None:
    tables = [np.asarray(entries) for entries in lists]
    columns = list(zip(*lists, strict=True))
    first = [columns.index(column) for column in dict.fromkeys(columns)]
    assert find_kinds(tables, len(columns)) == sorted(first)


def test_codes_of_many_large_tables_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    tables = [rng.permutation(5000) for _ in range(8)]
    assert find_kinds(tables, 5000) == list(range(5000))


@pytest.mark.slow
@given(TABLES, st.booleans())
def test_differences_are_those_of_all_values(lists: list[list[float]], is_added: bool) -> None:
    if is_added:
        lists = [[0, *entries] for entries in lists]
    values = len(lists[0])
    book = AnswerBook(9, values, comes_and_goes=is_added)
    for entries in lists:
        book.of(np.asarray(entries))
    every = range(len(book.tables))
    rows = [tuple(sorted(row.items())) for row in rows_at(book.tables, every, range(values))]
    assert set(book.differences().rows) == set(rows[1:] if is_added else rows)


@pytest.mark.slow
@given(st.lists(st.fractions(-9, 9, max_denominator=6) | st.integers(-(10**20), 10**20)))
def test_steps_are_all_differences_of_two_rows(amounts: list[Fraction]) -> None:
    rows = [((4, Fraction(amount)),) for amount in amounts if amount]
    added = {*map(Fraction, filter(None, amounts)), Fraction(0)}
    steps = sorted({one - other for one, other in product(added, repeat=2) if one != other})
    assert steps_of_one(4, [(), *rows]) == [((4, step),) for step in steps]


# 74 * 5 * 2 * 99 * 2 = 146,520 different rows.
PEOPLE = {
    "age": lt.Integer(17, 90),
    "school": lt.Category(["hs", "some", "ba", "ma", "phd"]),
    "sex": lt.Category(["f", "m"]),
    "hours": lt.Integer(1, 99),
    "target": lt.Bit(),
}


def count_old(frame: Any, rng: Any) -> float:
    """How many are 40 or more."""
    return float(len(frame[frame["age"] >= 40]) + rng.laplace(0, 1.0))


def add_hours(frame: Any, rng: Any) -> float:
    """One part of the hours, and too little noise."""
    return float(frame.loc[frame["age"] >= 30, "hours"].sum() + rng.laplace(0, 40.0))


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replaced", "add_remove"])
def test_tables_of_many_different_rows(relation: str) -> None:
    more = {} if relation == "replaced" else {"relation": relation}
    table = lt.Table(PEOPLE, rows=5000, **more)
    assert lt.check_privacy(count_old, table, epsilon=1.0, seed=1).decision == "YES"
    assert lt.check_privacy(add_hours, table, epsilon=1.0, seed=1).decision == "NO"
