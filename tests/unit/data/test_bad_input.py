"""Bad tables, missing packages and broken connections: an error that says what to do, no fit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.data.dependence import column_dependence
from liptest.data.fit import CUT, poisson_law, poisson_size
from liptest.data.sources import SqlTable
from tests.unit.data.postgres import running_server

fit = lt.ProductDistribution.fit


@pytest.fixture(scope="module")
def postgres() -> Iterator[sa.Engine]:
    with running_server() as engine:
        pd.DataFrame({"a": [0, 1, 1], "b": [1, 1, 0]}).to_sql("bits", engine, index=False)
        yield engine


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1.0, np.nan, 0.0]),
        pd.Series([1, None, 0], dtype="Int64"),
        pd.Series(["x", None, "y"]),
        pd.Series([pd.Timestamp("2020-01-01"), pd.NaT, pd.Timestamp("2020-01-02")]),
        pl.Series([1, None, 0]),
        pl.Series([1.0, float("nan"), 0.0]),
    ],
    ids=lambda series: f"{type(series).__module__.partition('.')[0]} {series.dtype}",
)
def test_missing_values_are_refused_unless_they_are_a_category(values: Any) -> None:
    library = pl if isinstance(values, pl.Series) else pd
    frame = library.DataFrame({"a": values})
    with pytest.raises(
        lt.errors.InputError, match="column 'a': 1 values are missing; drop or fill"
    ):
        fit(frame)
    present = values.drop_nulls().drop_nans() if library is pl else values.dropna()
    rest = present.to_list()
    law = fit(frame, categories={"a": [None, *rest]}, shrinkage=3)
    assert law.marginal(0) == pytest.approx([1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (pd.DataFrame({"a": [0.5, 1]}), {}, "column 'a': the value 0.5 is not a whole number"),
        (pd.DataFrame({"a": [Decimal("0.5")]}), {}, "the value 0.5 is not a whole number"),
        (pd.DataFrame({"a": [np.inf]}), {}, "the value inf is not a whole number"),
        (pd.DataFrame({"a": [[1], [2]]}).map(tuple), {"max_values": 1}, "more than 1 different"),
        (pl.DataFrame({"a": [[1], [2]]}), {}, "of type list is not a category"),
        (pd.DataFrame({"a": [[1], [2]]}), {}, "could not be counted: TypeError: .*unhashable"),
        (pd.DataFrame({"a": [0, 2]}), {"domain": lt.Hypercube(1)}, "value 2 .1 rows. is not one"),
        (pd.DataFrame({"a": [0, 1]}), {"domain": lt.Hypercube(2)}, "1 columns do not fit"),
        (
            pd.DataFrame({"a": ["x"]}),
            {"categories": {"a": ["y"]}},
            "the value 'x' .1 rows. is not one",
        ),
        (pd.DataFrame({"a": ["x"]}), {"categories": {"a": ["x", "x"]}}, "every value once"),
        (pd.DataFrame({"a": ["x"]}), {"categories": {"b": ["x"]}}, "'b' is not one of the columns"),
        (
            pd.DataFrame({"a": [1]}),
            {"categories": {"a": [0, 1, 2]}, "domain": lt.Hypercube(1)},
            "holds 3 values, but its coordinate of",
        ),
        (pd.DataFrame({"a": []}), {}, "has no rows"),
        (pd.DataFrame({"a": []}), {"records": 2}, "has no rows"),
        (pd.DataFrame({"a": []}), {"histogram_of": 2}, "has no rows"),
        (pd.DataFrame(), {}, "at least one column"),
        (pd.DataFrame({"a": [1]}), {"columns": ["a", "a"]}, "none twice"),
        (pd.DataFrame({"a": [1]}), {"columns": ["b"]}, "has no column 'b'; it has: a"),
        (pd.DataFrame({0: [1]}), {}, "the names must be texts"),
        (pd.DataFrame({"a": range(1001)}), {}, "'a' has more than 1,000 different values"),
        (pd.DataFrame({"a": [1]}), {"max_values": 0}, "max_values=0"),
        (pd.DataFrame({"a": [1]}), {"smoothing": -1}, "smoothing=-1"),
        (pd.DataFrame({"a": [1]}), {"shrinkage": 0}, "shrinkage=0"),
        (pd.DataFrame({"a": [1]}), {"records": 0}, "records=0"),
        (pd.DataFrame({"a": [1]}), {"groups": "a"}, "no column is left besides the group"),
        (pd.DataFrame({"a": [1]}), {"groups": ["x"]}, "must be the name of a column"),
        (pd.DataFrame({"a": [1]}), {"record_groups": ["x"]}, "without groups"),
        (pd.DataFrame({"a": [1], "g": [1]}), {"groups": "g", "records": 2}, "leave out records"),
        (
            pd.DataFrame({"a": [1], "g": [1]}),
            {"groups": "g", "record_groups": ["1"]},
            "no modelled record is of a group",
        ),
        (pd.DataFrame({"a": [1]}), {"records": 2, "domain": lt.Hypercube(3)}, "2 records of 2"),
        (
            pd.DataFrame({"a": [1]}),
            {"records": 2, "domain": lt.RecordGrid([2, 3])},
            "different sizes",
        ),
        (pd.DataFrame({"a": [1]}), {"histogram_of": 0.0}, "histogram_of=0.0"),
        (pd.DataFrame({"a": [1]}), {"histogram_of": 1, "records": 2}, "leave out groups"),
        (pd.DataFrame({"a": ["x"]}), {"histogram_of": 1e9}, "too many for a grid"),
        (
            pd.DataFrame({"a": ["x"]}),
            {"histogram_of": 5, "domain": lt.Hypergrid([4])},
            "cell 0 expects 5 records",
        ),
        (
            pd.DataFrame({"a": ["x"]}),
            {"histogram_of": 5, "domain": lt.RecordGrid([40])},
            "lives on a Hypergrid",
        ),
        ("https://host/x.csv", {}, "that is an address, not a file"),
        ("nowhere.csv", {}, "there is no such file"),
        (np.eye(2), {"columns": "a", "domain": lt.Hypercube(2)}, "an array has no columns"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), {}, "'a', 'a'.: a name occurs twice"),
        (pd.DataFrame({"a": [1]}), {"columns": 5}, "columns=5 must be"),
        (pd.DataFrame({"a": [1]}), {"categories": {"a": 5}}, r"categories\['a'\]=5 must be a list"),
        (pd.DataFrame({"a": ["x"]}), {"categories": {"a": "xy"}}, "='xy' must be a list"),
        (pd.DataFrame({"a": [1]}), {"categories": ["a"]}, "must be a dict"),
        (
            pd.DataFrame({"a": [1]}),
            {"groups": "a", "columns": "a"},
            r"groups='a' is one of columns=\['a'\]",
        ),
        (
            pd.DataFrame({"a": [1], "g": [1]}),
            {"groups": "g", "record_groups": 5},
            "record_groups=5 must hold",
        ),
        (
            pd.DataFrame({"a": [1], "g": [1]}),
            {"groups": "g", "record_groups": []},
            "record_groups: it is empty",
        ),
        (None, {}, "table=None must be a frame"),
        ({"a": [0, 1]}, {}, "must be a frame"),
        (3, {"domain": lt.Hypercube(1)}, "table=3 must be a frame"),
        (np.eye(2), {"categories": {"a": [1]}, "domain": lt.Hypercube(2)}, "categories: an array"),
    ],
)
def test_bad_tables(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(lt.errors.InputError, match=message):
        fit(table, **options)


def test_an_object_that_looks_like_a_frame() -> None:
    class Odd:
        columns = ("a",)

    with pytest.raises(lt.errors.InputError, match="narwhals knows no frames of type Odd"):
        fit(Odd())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.parquet", "no parquet"),
        ("empty.csv", ""),
        ("ragged.csv", "a,b\n1,2\n1,2,3,4\n5\n"),
        ("comment.csv", "a,b\n1,2\n# read me\n1,0\n"),
        ("semicolons.csv", "a;b\n0;1\n1;0\n"),
        ("tabs.csv", "a\tb\n0\t1\n1\t0\n"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(lt.errors.InputError, match=name):
        fit(tmp_path / name)


@pytest.mark.slow
def test_only_the_named_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    for name in ("[a] *?", "a xy"):
        bits = [0, 1] if name.startswith("[") else [1, 1]
        frame = pd.DataFrame({"bit": bits})
        frame.to_csv(tmp_path / "day=1" / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / "day=1" / f"{name}.parquet")
    for ending in ("csv", "parquet"):
        law = fit(tmp_path / "day=1" / f"[a] *?.{ending}")
        assert law.fitted is not None
        assert law.fitted.columns == ("bit",)
        assert law.probabilities.tolist() == [0.5]


def test_what_is_wrong_with_a_file_is_said_without_its_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"name\nsecret \xe9\n")
    is_new = int(duckdb.__version__.partition(".")[0]) >= 2
    words = "not utf-8 encoded" if is_new else "Invalid unicode"
    with pytest.raises(lt.errors.InputError, match=words) as caught:
        fit(tmp_path / "a.csv")
    assert "secret" not in str(caught.value)


def test_odd_names_and_values_of_frames() -> None:
    assert fit(pd.DataFrame({"liptest count": [0, 1]})).probabilities.tolist() == [0.5]
    strange = fit(pd.DataFrame({"a": [2 + 1j, 1j, 1j]}))
    assert strange.fitted is not None
    assert strange.fitted.categories == ((2 + 1j, 1j),)
    law = fit(
        pd.DataFrame({"a": [0, 1], "g": ["u", "v"]}),
        groups="g",
        record_groups=pa.array(["v", "v", "new"]),
        shrinkage=1,
    )
    assert law.probabilities.tolist() == [0.75, 0.75, 0.5]


def test_a_csv_file_whose_last_row_is_of_another_type(tmp_path: Path) -> None:
    file = tmp_path / "late.csv"
    file.write_text("a\n" + "0\n1\n" * 30_000 + "0.5\n")
    with pytest.raises(lt.errors.InputError, match=r"the value 0\.5 is not a whole number"):
        fit(file)


def test_values_of_one_kind_are_one_value() -> None:
    for values in ([True, False], [1.0, 0.0], [Decimal(1), Decimal(0)], [np.int8(1), np.int8(0)]):
        law = fit(pd.DataFrame({"a": values}))
        assert law.domain == lt.Hypercube(1)
    days = fit(pd.DataFrame({"a": [date(2020, 1, 2), date(2020, 1, 1)]}))
    assert days.fitted is not None
    assert days.fitted.categories == ((date(2020, 1, 1), date(2020, 1, 2)),)
    mixed = fit(pd.DataFrame({"a": pd.Series([2, "1", 10], dtype=object)}))
    assert mixed.fitted is not None
    assert mixed.fitted.categories == ((2, 10, "1"),)


def test_a_constant_column_has_values_of_probability_zero_until_they_are_smoothed() -> None:
    frame = pd.DataFrame({"a": [0, 0, 0, 0], "b": [0, 0, 0, 0]})
    sharp = fit(frame)
    assert sharp.probabilities.tolist() == [0.0, 0.0]
    assert "some values of a, b have probability 0: never drawn" in sharp.source
    smooth = fit(frame, smoothing=2, shrinkage=6)
    # overall = (0 + 2/2) / (8 + 2), then (0 + 6 * overall) / (4 + 6).
    assert smooth.probabilities == pytest.approx([0.06, 0.06])
    assert "probability 0" not in smooth.source
    array = fit([[0, 0]] * 4, domain=lt.Hypercube(2), smoothing=2, shrinkage=6)
    assert np.array_equal(array.probabilities, smooth.probabilities)
    records = fit(frame, columns="a", records=3)
    assert "1 value of a record has probability 0: never drawn" in records.source
    grouped = fit([0, 0], domain=lt.Hypercube(2), groups=[1, 2], smoothing=2, shrinkage=1)
    assert grouped.probabilities == pytest.approx([0.125, 0.125])


@pytest.mark.parametrize(
    ("module", "build"),
    [
        ("narwhals", lambda _: fit(pd.DataFrame({"a": [1]}))),
        ("duckdb", lambda file: fit(file)),
        ("sqlalchemy", lambda _: SqlTable("sqlite://", table="a")),
        ("psycopg", lambda _: SqlTable("postgresql+psycopg://host/a", table="a")),
    ],
)
def test_a_missing_package_names_the_extra(
    module: str, build: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(lt.errors.InputError, match=rf"{module}.*pip install 'liptest\[data\]'"):
        build(tmp_path / "a.csv")


def test_sources_of_sql_that_are_none() -> None:
    for options in ({}, {"table": "a", "query": "b"}, {"query": "b", "schema": "c"}):
        with pytest.raises(lt.errors.InputError, match="give either a table"):
            SqlTable("sqlite://", **options)
    for engine in ("no url with secret", 3):
        with pytest.raises(lt.errors.InputError, match="neither an Engine nor the URL") as caught:
            SqlTable(engine, table="a")
        assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(lt.errors.InputError, match="there is no file"):
        SqlTable(f"sqlite:///{tmp_path}/none.db", table="a")
    assert not list(tmp_path.iterdir())


def test_a_password_is_never_shown() -> None:
    table = SqlTable("postgresql+psycopg://me:hidden@127.0.0.1:1/public", table="a")
    with pytest.raises(
        lt.errors.InputError, match="a of the database public: the database"
    ) as caught:
        fit(table)
    assert "hidden" not in str(caught.value) + repr(table.words)


@pytest.mark.slow
def test_a_connection_that_breaks_in_the_middle(postgres: sa.Engine) -> None:
    table = SqlTable(postgres, table="bits")
    before = fit(table)

    def break_off(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "GROUP BY" in statement:
            with sa.create_engine(postgres.url, poolclass=sa.NullPool).connect() as other:
                mine = cursor.connection.info.backend_pid
                other.execute(sa.text("SELECT pg_terminate_backend(:mine)"), {"mine": mine})

    sa.event.listen(postgres, "before_cursor_execute", break_off)
    try:
        for options in ({}, {"columns": "a", "records": 2}):
            with pytest.raises(lt.errors.InputError, match=r"answered .* nothing was fitted"):
                fit(table, **options)
    finally:
        sa.event.remove(postgres, "before_cursor_execute", break_off)
    assert np.array_equal(fit(table).probabilities, before.probabilities)


@pytest.mark.slow
def test_a_fit_only_reads_and_leaves_the_connection_as_it_was(postgres: sa.Engine) -> None:
    with postgres.begin() as connection:
        connection.execute(sa.text("CREATE SEQUENCE IF NOT EXISTS counter"))
    with pytest.raises(lt.errors.InputError, match="read-only transaction"):
        fit(SqlTable(postgres, query="SELECT nextval('counter') AS a"))
    with postgres.begin() as connection:
        assert connection.execute(sa.text("SELECT nextval('counter')")).scalar() == 1


@pytest.mark.slow
def test_only_counts_leave_the_database(postgres: sa.Engine) -> None:
    asked: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        asked.append(" ".join(statement.split()))

    sa.event.listen(postgres, "before_cursor_execute", note)
    try:
        table = SqlTable(postgres, table="bits")
        fit(table)
        fit(table, columns="a", groups="b")
        column_dependence(table)
    finally:
        sa.event.remove(postgres, "before_cursor_execute", note)
    reading = [statement for statement in asked if ' FROM "bits"' in statement]
    assert len(reading) >= 6
    assert all("GROUP BY" in text or ("LIMIT" in text and "*" in text) for text in reading)
    assert any("GROUPING SETS" in statement for statement in reading)


class Moving:
    """A table that grows between two counts."""

    words, is_ordered = "a growing table", False

    def names(self) -> list[str]:
        return ["a", "b"]

    def marginals(self, columns: Any, limit: int) -> Any:
        return [{0: 1, 1: 1}, {0: 1, 1: 2}]

    def cells(self, columns: Any, limit: int) -> Any:
        return {(0, 0): 2, (1, 1): 2}

    def rows(self, columns: Any) -> Any:
        return []


def test_a_table_that_changes_while_it_is_counted() -> None:
    with pytest.raises(lt.errors.InputError, match="changed while it was counted; fit it again"):
        fit(Moving())
    with pytest.raises(lt.errors.InputError, match="changed while it was counted; fit it again"):
        column_dependence(Moving(), distribution=lt.ProductDistribution.uniform(lt.Hypercube(2)))
    with pytest.raises(lt.errors.InputError, match="changed while it was counted; fit it again"):
        lt.SampledDistribution.fit_markov_chain(Moving())


@pytest.mark.slow
def test_poisson_laws_are_cut_where_they_say() -> None:
    for mean in (0.0, 1e-6, 0.3, 40.0, 3e4):
        size = poisson_size(mean, 10)
        law, cut = poisson_law(mean, size)
        assert len(law) == size
        assert law.sum() == pytest.approx(1, abs=1e-12)
        assert cut <= CUT / 10
        assert law @ np.arange(size) == pytest.approx(mean, rel=1e-6)
        if size > 2:
            assert poisson_law(mean, size - 1)[1] > CUT / 10
    short, cut = poisson_law(3.0, 2)
    assert short == pytest.approx([0.25, 0.75])
    assert cut == 1.0
