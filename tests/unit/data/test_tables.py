"""Tables: what a dataset of numbers stands for, and which tables are neighbours."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.tables import AddedRows, ReplacedRows
from liptest.errors import DatasetError, InputError

COLUMNS: dict[str, Any] = {
    "age": lt.Integer(20, 40, step=10),
    "region": lt.Category(["north", "south"]),
}
RELATIONS = ("replace", "add_remove")


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from([20, 30, 40]), st.sampled_from(["north", "south"]))),
    st.sampled_from(RELATIONS),
)
def test_a_frame_is_what_was_encoded(rows: list[tuple[int, str]], relation: str) -> None:
    size = max(len(rows) + (relation == "add_remove"), 1)
    if relation == "replace" and len(rows) < size:
        return
    table = lt.Table(COLUMNS, rows=size, relation=relation)
    frame = pd.DataFrame(rows, columns=["age", "region"])
    dataset = table.encode(frame)
    assert rows_of(table.frame(dataset)) == rows
    assert table.frame(dataset).dtypes["age"] == np.int64
    assert [table.row(value) for value in dataset if table.row(value)] == [
        {"age": age, "region": region} for age, region in rows
    ]
    table.check_points(dataset)


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_value_of_a_row_is_another_row(relation: str) -> None:
    table = lt.Table(COLUMNS, rows=1, relation=relation)
    frames = [rows_of(table.frame(np.array([value]))) for value in range(table.sizes[0])]
    expected = [[row] for row in product([20, 30, 40], ["north", "south"])]
    assert frames == ([[]] if relation == "add_remove" else []) + expected


def lists_of(domain: lt.Table) -> dict[tuple[int, ...], tuple[int, ...]]:
    """By point: the list of rows that it stands for."""
    points = np.concatenate(list(domain.all_points()))
    return {tuple(one): tuple(v for v in one if v) for one in points.tolist()}


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_edges_are_deletions_of_one_row(rows: int) -> None:
    """docs/theory/tables.md: the edges of slots, as lists, are all pairs that a deletion makes."""
    table = lt.Table({"bit": lt.Bit()}, rows=rows, relation="add_remove")
    known = lists_of(table)
    edges = {
        frozenset((known[point], known[tuple(other)]))
        for point in known
        for other in table.neighbours(np.array(point)).tolist()
    }
    lists = {one for length in range(rows + 1) for one in product((1, 2), repeat=length)}
    deletions = {
        frozenset((one, one[:place] + one[place + 1 :]))
        for one in lists
        for place in range(len(one))
    }
    assert edges == deletions


@pytest.mark.parametrize("relation", RELATIONS)
def test_all_ways_to_list_neighbours_agree(relation: str) -> None:
    table = lt.Table({"bit": lt.Bit(), "other": lt.Integer(0, 2)}, rows=2, relation=relation)
    points = np.concatenate(list(table.all_points()))
    distances = table.distances(points, points)
    assert distances.max() == table.diameter
    assert np.array_equal(distances[3], table.distance(points[[3] * len(points)], points))
    near = {(i, j) for i, j in np.argwhere(distances == 1).tolist()}
    for i, point in enumerate(points):
        assert {(i, int(j)) for j in table.index(table.neighbours(point))} == {
            pair for pair in near if pair[0] == i
        }
    views = [
        (int(a), int(b))
        for left, right in table.pair_views(np.arange(table.size))
        for a, b in zip(left.flat, right.flat, strict=True)
    ]
    assert sorted(map(sorted, views)) == sorted(map(sorted, {tuple(sorted(p)) for p in near}))
    assert table.neighbouring_pairs == len(views)
    for value in range(table.sizes[0]):
        pairs = table.value_pairs(0).tolist()
        others = [b for a, b in pairs if a == value] + [a for a, b in pairs if b == value]
        assert sorted(others) == table.other_values(0, value).tolist()


def test_a_table_is_of_one_kind_and_travels() -> None:
    replaced = lt.Table(COLUMNS, rows=3)
    added = lt.Table(COLUMNS, rows=3, relation="add_remove")
    assert type(replaced) is ReplacedRows
    assert type(added) is AddedRows
    assert isinstance(replaced, lt.RecordGrid)
    assert not isinstance(added, lt.RecordGrid)
    assert replaced != added
    assert added.sizes == (7, 7, 7)
    for one in (replaced, added):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert hash(again) == hash(one)
        assert again != lt.Table(COLUMNS, rows=4, relation=one.kind)
        assert again != lt.Table({**COLUMNS, "more": lt.Bit()}, rows=3, relation=one.kind)
        assert (
            eval(
                repr(one),
                {**vars(lt), **{n: getattr(lt, n) for n in ("Table", "Integer", "Category")}},
            )
            == one
        )


def test_a_private_number_of_rows_may_be_written_with_its_ends() -> None:
    for options in ({"relation": "add_remove"}, {"unit": "user"}):
        columns = {"a": lt.Real(0, 1), **({"user": lt.Key()} if "unit" in options else {})}
        written = lt.Table(columns, rows=(0, 3), **options)
        assert written == lt.Table(columns, rows=3, **options)
        assert written.rows == 3


def test_a_pair_is_said_in_rows() -> None:
    table = lt.Table(COLUMNS, rows=3, relation="add_remove")
    lines = table.pair_words((1, 0, 2), (1, 6, 2))
    assert lines == (
        "- row 1: not there",
        "+ row 1: age 40, region 'south'",
        "  1 row: age 20, region 'north'",
        "  1 row: age 20, region 'south'",
    )
    assert table.pair_words((0, 0, 0), (0, 1, 0))[-1] == "  no other rows"
    many = lt.Table({"n": lt.Integer(0, 9)}, rows=10)
    assert many.pair_words(tuple(range(10)), (9, *range(1, 10)))[-1] == "  5 others"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lt.Table({}, rows=3), "columns={} must be a dict"),
        (lambda: lt.Table([1], rows=3), "must be a dict"),
        (lambda: lt.Table({1: lt.Bit()}, rows=3), "name 1 must be a string"),
        (lambda: lt.Table({"a": 3}, rows=3), "a=3 must be lt.Integer"),
        (lambda: lt.Table({"a": lt.Bit()}, rows=0), "rows=0"),
        (lambda: lt.Table({"a": lt.Bit()}, rows=3, relation="other"), "relation='other'"),
        (lambda: lt.Table({"a": lt.Bit()}, rows=(0, 3)), "rows=(0, 3) must be one number, as rows"),
        (
            lambda: lt.Table({"a": lt.Bit()}, rows=(2, 3), relation="add_remove"),
            "rows=(2, 3) must be (0, most)",
        ),
        (lambda: lt.Table({"a": lt.Integer(0, 1 << 21)}, rows=3), "give whole numbers a step"),
        (lambda: lt.Integer(3, 2), "high=2 is below low=3"),
        (lambda: lt.Integer(0.5, 2), "low=0.5 must be a whole number"),
        (lambda: lt.Integer(0, 5, step=0), "step=0"),
        (lambda: lt.Category("north"), "must be a list of strings"),
        (lambda: lt.Category([]), "must be a list of strings"),
        (lambda: lt.Category(["a", "a"]), "each once"),
        (lambda: lt.Category([1]), "must be strings"),
    ],
)
def test_wrong_declarations_are_named(make: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)


def test_data_that_were_not_declared_are_named_by_column_only() -> None:
    table = lt.Table(COLUMNS, rows=2)
    good = {"age": [20, 30], "region": ["north", "south"]}
    assert table.encode(good).tolist() == [0, 3]
    for change, words in (
        ({"age": [20, 77]}, "column 'age' holds values that were not declared"),
        ({"region": ["north", "secret"]}, "column 'region' holds"),
        ({"age": [20, 30, 40], "region": ["north"] * 3}, "the table has 3 rows, not 2"),
    ):
        with pytest.raises(DatasetError) as caught:
            table.encode(good | change)
        assert words in str(caught.value)
        assert "secret" not in str(caught.value)
        assert "77" not in str(caught.value)
    with pytest.raises(DatasetError, match="no column 'region'"):
        table.encode({"age": [20, 30]})
    open_table = lt.Table(COLUMNS, rows=3, relation="add_remove")
    assert open_table.encode(good).tolist() == [1, 4, 0]
    with pytest.raises(DatasetError, match="not at most 3"):
        open_table.encode({"age": [20] * 4, "region": ["north"] * 4})
