"""Columns by the kinds of rows: the same answers as by all rows, whatever programs do with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.symbols import symbolic_datasets
from liptest.enumerate.symbols.symbolic_datasets import Records
from liptest.enumerate.symbols.symbolic_paths import SymbolicPaths
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.records.marginals import Marginal, Marginals, are_tables_equal, spread_kinds

REGIONS = ["n", "e", "s", "w"]
COLUMNS: dict[str, Any] = {
    "age": lt.Integer(0, 15),
    "region": lt.Category(REGIONS),
    "member": lt.Bit(),
    "hours": lt.Integer(0, 30, step=3),
    "one": lt.Category(["same"]),
}
TABLES = [lt.Table(COLUMNS, rows=20, relation=one) for one in ("replace", "add_remove")]

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=5)


@st.composite
def functions(draw: st.DrawFn) -> tuple[Marginals, set[str], np.ndarray[Any, Any]]:
    """The marginals of a table, some of its columns, and a function of these by all rows."""
    sizes = {f"c{place}": size for place, size in enumerate(draw(SIZES))}
    first = draw(st.integers(0, 1))
    marginals = Marginals(sizes, first)
    names = draw(st.sets(st.sampled_from(sorted(sizes))))
    grid = np.zeros(list(sizes.values()), dtype=np.int64)
    for place, name in enumerate(sizes):
        if name in names:
            shape = [size if place == axis else 1 for axis, size in enumerate(sizes.values())]
            numbers = draw(st.lists(st.integers(0, 2), min_size=sizes[name], max_size=sizes[name]))
            grid = grid * 3 + np.array(numbers).reshape(shape)
    return marginals, names, np.concatenate([np.full(first, -1), grid.reshape(-1)])


@pytest.mark.slow
@given(functions())
def test_a_function_is_one_of_the_kinds_by_its_columns(made: Any) -> None:
    marginals, names, table = made
    marginal = marginals.of(names)
    if marginal is None:
        assert marginals.values < 4 * len(set(table.tolist())) or len(names) > 0
        return
    own = table[marginal.rows]
    assert np.array_equal(spread_kinds(own, marginal, None), table)
    firsts = [int(np.flatnonzero(marginal.codes == kind)[0]) for kind in range(len(marginal.rows))]
    assert firsts == marginal.rows.tolist() == sorted(firsts)


@pytest.mark.slow
@given(functions(), st.data())
def test_the_same_function_is_reduced_to_the_same_kinds(made: Any, data: st.DataObject) -> None:
    marginals, names, table = made
    reduced, least = marginals.reduce(table, None)
    assert np.array_equal(spread_kinds(reduced, least, None), table)
    more = names | data.draw(st.sets(st.sampled_from(sorted(marginals._sizes) or ["none"])))
    wide = marginals.of(more)
    if wide is not None:
        again, found = marginals.reduce(table[wide.rows], wide)
        assert found is least
        assert np.array_equal(again, reduced)
        assert are_tables_equal((table[wide.rows], wide), (table, None))


@pytest.mark.slow
@given(functions())
def test_extremes_and_kinds_are_those_of_all_rows(made: Any) -> None:
    marginals, _, table = made
    tables = [table, table[::-1].copy()]
    books = [AnswerBook(5, marginals.values) for _ in range(2)]
    books[1].marginals = marginals
    for book in books:
        for line in tables:
            book.of(line)
    assert len(books[0].tables) == len(books[1].tables)
    every = range(len(books[0].tables))
    assert books[0].extreme_values() == books[1].extreme_values()
    assert books[0]._rows_of_kinds(every) == books[1]._rows_of_kinds(every)
    assert books[0]._look_up(tuple(every)) == books[1]._look_up(tuple(every))
    assert books[0].rows_of() == books[1].rows_of()


EXPRESSIONS: list[Callable[[Any], Any]] = [
    lambda f: f["age"].clip(0, 9).sum(),
    lambda f: (f["age"].clip(0, 9).sum(), f["age"].clip(0, 5).sum(), (f["age"] > 8).sum()),
    lambda f: (f["age"] * f["member"]).sum(),
    lambda f: (f["age"] + 0 * f["member"]).sum() - f["age"].sum(),
    lambda f: (f["age"].sum(), (f["age"] + f["hours"] - f["hours"]).sum()),
    lambda f: f[f["age"] > 7]["hours"].clip(0, 20).sum(),
    lambda f: f[f["age"] > 7].query("hours > 9")["member"].sum(),
    lambda f: len(f[(f["age"] > 7) & (f["region"] == "n")]),
    lambda f: tuple(f["region"].value_counts().reindex(REGIONS, fill_value=0)),
    lambda f: tuple(f.groupby("region")["age"].sum().reindex(REGIONS, fill_value=0)),
    lambda f: tuple(
        f["hours"].map({n: n % 7 for n in range(31)})[f["member"] == 1].sum() for _ in (1,)
    ),
    lambda f: np.where(f["member"] == 1, f["age"], f["hours"]).sum(),
    lambda f: tuple(np.column_stack([f["age"].to_numpy(), f["member"].to_numpy()]).sum(axis=0)),
    lambda f: np.column_stack([f["age"].to_numpy(), f["hours"].to_numpy()]).max(axis=1).sum(),
    lambda f: np.clip(f["age"].to_numpy(), f["member"].to_numpy(), 9).sum(),
    lambda f: tuple(np.histogram(f["age"].to_numpy(), bins=[0, 4, 8, 16])[0]),
    lambda f: pd_cut_counts(f),
    lambda f: written(f).sum(),
    lambda f: f.assign(both=f["age"] + f["hours"])["both"].clip(3, 30).sum(),
    lambda f: np.dot(f["age"].to_numpy(), f["member"].to_numpy()),
    lambda f: np.isin(f["hours"].to_numpy(), [3, 6]).sum(),
    lambda f: sum(age for age, member in zip(f["age"], f["member"], strict=True) if member),
]


def pd_cut_counts(frame: Any) -> Any:
    """How many are in each of some bins."""
    import pandas as pd

    return tuple(pd.cut(frame["age"], [-1, 4, 15]).value_counts(sort=False))


def written(frame: Any) -> Any:
    """A copy into which is written, and what is seen of it through a view."""
    ages = frame["age"].to_numpy().copy()
    view = ages[:]
    ages[frame["member"].to_numpy() == 1] = 3
    return view


def followed(expression: Callable[[Any], Any], table: lt.Table) -> SymbolicPaths:
    """The paths of the release of an expression."""

    def released(frame: Any, rng: Any) -> Any:
        value = expression(frame)
        return [one + rng.laplace() for one in (value if isinstance(value, tuple) else (value,))]

    found = lt.mechanism(released).on_domain(table).align_paths(table)
    assert isinstance(found, SymbolicPaths), found
    return found


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=["replace", "add_remove"])
@pytest.mark.parametrize("place", range(len(EXPRESSIONS)))
def test_paths_are_those_of_columns_by_all_rows(
    place: int, table: lt.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Marginal | None] = []
    whole = Marginals.of

    def of(self: Marginals, names: Any) -> Marginal | None:
        asked.append(whole(self, names))
        return asked[-1]

    monkeypatch.setattr(Marginals, "of", of)
    by_kinds = followed(EXPRESSIONS[place], table)
    assert any(marginal is not None for marginal in asked)
    asked.clear()
    monkeypatch.setattr(symbolic_datasets, "FEWEST_ROWS", 1 << 30)
    by_rows = followed(EXPRESSIONS[place], table)
    assert not asked
    assert by_kinds.paths == by_rows.paths
    assert by_kinds.differences == by_rows.differences


@pytest.mark.slow
def test_columns_of_one_selection_have_the_same_records() -> None:
    """Their kinds are by other columns, and ``len`` is of each of them."""

    def released(frame: Any, rng: Any) -> Any:
        chosen = frame[frame["member"] == 1]
        return (chosen["age"] * (chosen["region"] == "n")).sum() + rng.laplace(0, 15)

    for table in TABLES:
        assert lt.check_privacy(released, table, epsilon=1).decision == "YES"
        assert lt.check_privacy(released, table, epsilon=0.9, method="alignment").decision != "YES"


def test_answers_of_datasets_are_sums_over_their_rows() -> None:
    for table in TABLES:
        data = Records(table)
        book = data._answers
        assert book.marginals is not None
        rng = np.random.default_rng(5)
        dataset = rng.integers(0, table.row_values, table.rows)
        for names in (["age"], ["age", "region"], ["hours", "member"], ["one"]):
            marginal = book.marginals.of(names)
            assert marginal is not None
            line = rng.integers(-4, 5, len(marginal.rows))
            answer = book.of(line, marginal=marginal)
            assert data.value(answer, dataset) == int(line[marginal.codes][dataset].sum())


def kept_apart(data: Any, rng: Any) -> Any:
    ages = np.clip(data, 0, 5)
    chosen = ages[data > 3]
    ages[...] = 0
    return chosen.sum() + rng.laplace(0, 6)


def kept_apart_as_well(data: Any, rng: Any) -> Any:
    ages = np.clip(data, 0, 5)
    chosen = ages[data > 3]
    chosen[...] = 0
    return ages.sum() + chosen.sum() + rng.laplace(0, 6)


@pytest.mark.slow
@pytest.mark.parametrize("released", [kept_apart, kept_apart_as_well])
def test_a_selection_shares_no_memory(released: Any) -> None:
    domain = lt.RecordGrid([9] * 40)
    assert lt.check_privacy(released, domain, epsilon=1).decision == "YES"
    assert lt.check_privacy(released, domain, epsilon=0.8).decision != "YES"
