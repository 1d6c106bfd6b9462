"""Loops over rows of frames with many possible rows: one pass for those that it cannot tell apart.

What is proved of a loop is compared with what the loop itself changes by when one record is
another one: of tables of a few rows, over all values that the entries may have.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.folded.alike_rows import AlikeRows, walk_rows
from liptest.enumerate.folded.folds import Folds
from liptest.values.records.made_rows import ColumnEntries, MadeRows
from liptest.values.records.record_rows import RowByPlace

KINDS = ["a", "b", "c"]
# More possible rows than are walked one by one.
TABLE = lt.Table(
    {"x": lt.Integer(0, 40), "y": lt.Integer(-3, 6), "kind": lt.Category(KINDS), "z": lt.Bit()},
    rows=3,
)
MORE = lt.Table(
    {"x": lt.Integer(0, 40), "y": lt.Integer(-3, 6), "kind": lt.Category(KINDS), "z": lt.Bit()},
    rows=3,
    relation="add_remove",
)


def in_series(frame: Any) -> Any:
    total = 0
    for _, row in frame.iterrows():
        total += min(row["x"], 25) if row["kind"] == "b" else 0
    return total


def in_tuples(frame: Any) -> Any:
    total = 0
    for row in frame.itertuples():
        if row.z == 1 and row.x > 30:
            total += row.y
    return total


def in_floats(frame: Any) -> Any:
    total = 0.0
    for row in frame.itertuples(index=False, name=None):
        total += row[0] / 8 if row[3] else row[1] / 4
    return total


def in_dicts(frame: Any) -> Any:
    total = 0
    for row in frame.to_dict("records"):
        total += row["x"] * row["z"]
    return total


def in_selection(frame: Any) -> Any:
    total = 0
    for row in frame[frame["x"] > 12].itertuples(index=False):
        total += row.x if row.z else 1
    return total


def in_counts(frame: Any) -> Any:
    counts = {"a": 0, "b": 0, "c": 0}
    for row in frame.itertuples(index=False):
        counts[row.kind] += 1 + row.z
    return counts["a"] + 3 * counts["c"]


def in_lists(frame: Any) -> Any:
    large = [row.x for row in frame.itertuples(index=False) if row.kind == "c"]
    return sum(large)


def in_pairs(frame: Any) -> Any:
    return sum(x * z for x, z in zip(frame["x"], frame["z"], strict=True))


def in_one_column(frame: Any) -> Any:
    return sum(1 for y in frame["y"] if y > 2)


def in_counter(frame: Any) -> Any:
    return Counter(frame["y"])[5] * 2


WALKS = [
    *(in_series, in_tuples, in_floats, in_dicts, in_selection, in_counts),
    *(in_lists, in_pairs, in_one_column, in_counter),
]


def possible_rows() -> list[tuple[Any, ...]]:
    return list(itertools.product(range(41), range(-3, 7), KINDS, (0, 1)))


@cache
def frames_of_one_row() -> list[Any]:
    """All possible records, each as a frame: no walk changes them."""
    import pandas as pd

    names = ["x", "y", "kind", "z"]
    return [pd.DataFrame([row], columns=names) for row in possible_rows()]


def change_of(walk: Callable[[Any], Any], *, is_replaced: bool) -> float:
    """By how much one record moves it, of all records: what one adds is a function of it."""
    added = [float(walk(frame)) for frame in frames_of_one_row()]
    return max(added) - min(added) if is_replaced else max(map(abs, added))


def check_cost(walk: Callable[[Any], Any], table: Any, change: float) -> None:
    """With noise of so large a scale the loss is 1, and not less."""

    def released(frame: Any, rng: Any) -> Any:
        return walk(frame) + rng.laplace(scale=change)

    for epsilon, is_private in ((1.0, True), (0.97, False)):
        verdict = lt.check_privacy(released, table, epsilon=epsilon, floats="ideal", seed=1)
        assert (verdict.decision == "YES") == is_private, str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_over_rows_costs_what_one_record_changes(walk: Callable[[Any], Any]) -> None:
    check_cost(walk, TABLE, change_of(walk, is_replaced=True))


@pytest.mark.slow
@pytest.mark.parametrize("walk", [in_series, in_counts])
def test_a_walk_over_rows_that_come_and_go(walk: Callable[[Any], Any]) -> None:
    check_cost(walk, MORE, change_of(walk, is_replaced=False))


class Rows:
    """Rows whose sums are over one record of each value that is kept."""

    branching: Any = SimpleNamespace()
    column = length = None

    def __init__(self, values: MadeRows, kept: list[bool]) -> None:
        self.values, self.kept = values, kept

    def answer(self, table: Any, kind: Any, largest: Any, steps: int, classes: Any = None) -> Any:
        places = range(len(self.values)) if classes is None else classes.tolist()
        return [table[place] for place in places]

    def mapped(self, values: list[Any], kept: list[bool]) -> Any:
        return values, kept

    def each(self, entries: Any) -> Any:
        return entries

    def joined(self, tables: Any) -> Any:
        return tables

    def refuse(self, words: str) -> Any:
        raise AssertionError(words)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([-0.0, 0.0, 1.5])),
        min_size=1,
        max_size=40,
    ),
    st.data(),
)
def test_a_class_does_what_each_of_its_records_does(rows: list[Any], data: Any) -> None:
    columns = [
        ColumnEntries(np.array([row[0] for row in rows])),
        [row[1] for row in rows],
        ColumnEntries(np.array([row[2] for row in rows])),
    ]
    kept = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    made = MadeRows(columns, lambda entries: RowByPlace((), entries))

    def added(row: Any) -> float:
        if row[0] == 1:
            return math.copysign(row[1] + 1.0, row[2])
        return float(row[1]) if row[0] > 1 else 0.5

    alike = AlikeRows(Rows(made, kept), made)
    table = [added(row) for _, row in walk_rows(alike, made)]
    found = alike.answer([*table, 0.0], float, 1.0, 1)
    assert found == [
        added(row) if is_kept else 0.0 for row, is_kept in zip(rows, kept, strict=True)
    ]
    assert len(table) <= len(set(map(repr, rows)))


def test_only_entries_that_are_read_tell_rows_apart() -> None:
    columns = [
        ColumnEntries(np.repeat(np.arange(20), 50)),
        ColumnEntries(np.tile(np.arange(50), 20)),
    ]
    made = MadeRows(columns, lambda entries: RowByPlace(("one", "other"), entries))
    alike = AlikeRows(Rows(made, [True] * 1000), made)
    assert [row.one for _, row in walk_rows(alike, made)] == list(range(20))
    folds = Folds(lambda value: value if isinstance(value, Rows) else None)
    values, kept = folds.comprehension(
        Rows(made, [True] * 1000),
        lambda rows: [],
        lambda rows: [row.other for row in rows if row.other < 7],
    )
    assert kept == [row.other < 7 for row in made]
    assert [v for v, is_kept in zip(values, kept, strict=True) if is_kept] == [*range(7)] * 20


def test_a_row_is_not_read_after_its_pass() -> None:
    made = MadeRows([ColumnEntries(np.arange(300))], lambda entries: RowByPlace((), entries))
    alike = AlikeRows(Rows(made, [True] * 300), made)
    rows = [row for _, row in walk_rows(alike, made)]
    with pytest.raises(TypeError, match="after its pass"):
        rows[0][0]
