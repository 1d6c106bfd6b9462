"""Every source gives the same fit: frames, files, SQLite and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy as sa

from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sources import SqlTable, as_source
from liptest.errors import InputError
from tests.unit.data.postgres import running_server

fit = ProductDistribution.fit

# Names that are SQL, a format and a parameter unless they are quoted.
EVIL = 'clicks"; DROP TABLE kept; -- %s :name'
ROWS = {
    "click": [1, 0, 0, 1, 0, 0],
    "item no": ["x", "y", "x", "x", "y", "z"],
    'se"en %s': [True, False, False, False, True, True],
    "stars": [3, 1, 1, 2, 3, 3],
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[sa.Engine]:
    with running_server() as engine:
        load(engine)
        yield engine


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    engine = sa.create_engine(f"sqlite:///{tmp_path_factory.mktemp('sql') / 'public.db'}")
    load(engine)
    yield engine
    engine.dispose()


def load(engine: sa.Engine) -> None:
    data = sa.MetaData()
    table = sa.Table(
        EVIL,
        data,
        sa.Column("click", sa.SmallInteger),
        sa.Column("item no", sa.Text),
        sa.Column('se"en %s', sa.Boolean),
        sa.Column("stars", sa.Numeric(10, 2) if engine.name == "postgresql" else sa.Integer),
    )
    sa.Table("kept", data, sa.Column("a", sa.Integer))
    sa.Table("bad", data, sa.Column("a", sa.Float), sa.Column("b", sa.Integer))
    data.create_all(engine)
    with engine.begin() as connection:
        rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
        connection.execute(table.insert(), rows)
        connection.execute(data.tables["bad"].insert(), [{"a": 0.5, "b": 1}, {"a": 1, "b": None}])


def csv(folder: Path) -> Path:
    pd.DataFrame(ROWS).to_csv(folder / "public.csv", index=False)
    return folder / "public.csv"


def parquet(folder: Path) -> Path:
    pl.DataFrame(ROWS).write_parquet(folder / "public.parquet")
    return folder / "public.parquet"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(ROWS),
    "pandas with arrow types": lambda _: pd.DataFrame(ROWS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda _: pl.DataFrame(ROWS),
    "polars, lazy": lambda _: pl.LazyFrame(ROWS),
    "pyarrow": lambda _: pa.table(ROWS),
    "duckdb": lambda _: duckdb.from_arrow(pa.table(ROWS)),
    "csv": csv,
    "parquet": lambda folder: str(parquet(folder)),
}


@pytest.fixture(params=[*SOURCES, "sqlite", "sqlite, query", "postgres", "postgres, query"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param in SOURCES:
        return SOURCES[request.param](tmp_path)
    engine = request.getfixturevalue(request.param.partition(",")[0])
    if "query" in request.param:
        # A colon, a percent sign and a comment at the end are the user's own.
        name = EVIL.replace('"', '""')
        text = f'SELECT *, \':a 50%\' AS "no" FROM "{name}" WHERE 1 = 1; -- done'
        return SqlTable(engine, query=text.replace("; -- done", " -- done"))
    return SqlTable(engine, table=EVIL)


def test_rows_that_are_datasets(source: Any) -> None:
    law = fit(source, columns=["click", 'se"en %s', "stars", "item no"], shrinkage=4)
    assert law.domain == RecordGrid([2, 2, 3, 3])
    assert law.marginal(0) == pytest.approx([(4 + 2) / 10, (2 + 2) / 10])
    assert law.marginal(1) == pytest.approx([(3 + 2) / 10, (3 + 2) / 10])
    assert law.marginal(2) == pytest.approx(np.array([2 + 4 / 3, 1 + 4 / 3, 3 + 4 / 3]) / 10)
    assert law.marginal(3) == pytest.approx(np.array([3 + 4 / 3, 2 + 4 / 3, 1 + 4 / 3]) / 10)
    assert law.fitted is not None
    assert law.fitted.categories == ((0, 1), (0, 1), (1, 2, 3), ("x", "y", "z"))
    same = fit(pd.DataFrame(ROWS), columns=list(law.fitted.columns))
    assert same.fitted is not None
    assert law.fitted.counts_hash == same.fitted.counts_hash


def test_bits_share_the_overall_rate(source: Any) -> None:
    law = fit(source, columns=["click", 'se"en %s'], shrinkage=6)
    assert law.domain == Hypercube(2)
    assert law.probabilities == pytest.approx([(2 + 6 * 5 / 12) / 12, (3 + 6 * 5 / 12) / 12])


def test_rows_that_are_records(source: Any) -> None:
    labels = ["z", "x", "never seen", "y"]
    law = fit(source, columns="click", groups="item no", record_groups=labels, shrinkage=3)
    assert law.domain == Hypercube(4)
    assert law.probabilities == pytest.approx([1 / 4, 3 / 6, 1 / 3, 1 / 5])
    as_array = fit(
        ROWS["click"],
        domain=Hypercube(4),
        groups=ROWS["item no"],
        record_groups=labels,
        shrinkage=3,
    )
    assert np.array_equal(law.probabilities, as_array.probabilities)
    assert "groups without a row, which get the law of all rows: 1" in law.source


def test_the_modelled_records_default_to_those_of_the_table(source: Any) -> None:
    law = fit(source, columns="click", groups="item no", shrinkage=3)
    in_order = as_source(source).is_ordered
    labels = ROWS["item no"] if in_order else sorted(ROWS["item no"])
    rates = {"x": 3 / 6, "y": 1 / 5, "z": 1 / 4}
    assert law.probabilities == pytest.approx([rates[label] for label in labels])


def test_records_of_two_columns(source: Any) -> None:
    law = fit(source, columns=["click", "stars"], records=5, shrinkage=2, smoothing=6)
    assert law.domain == RecordGrid([6] * 5)
    counts = np.array([2, 0, 2, 0, 1, 1])
    prior = (counts + 1) / 12
    assert law.marginal(4) == pytest.approx((counts + 2 * prior) / 8)


def test_histograms(source: Any) -> None:
    law = fit(source, columns="stars", histogram_of=12, shrinkage=3)
    assert isinstance(law.domain, Hypergrid)
    assert law.domain.dimension == 3
    means = np.array([3, 2, 4]) / 9 * 12
    for r, mean in enumerate(means):
        found = law.marginal(r)
        assert found @ np.arange(len(found)) == pytest.approx(mean, rel=1e-6)
        assert found[1] / found[0] == pytest.approx(mean)


def test_names_are_quoted_and_nothing_is_dropped(source: Any, sqlite: Any, postgres: Any) -> None:
    for engine in (sqlite, postgres):
        assert set(sa.inspect(engine).get_table_names()) == {EVIL, "kept", "bad"}
    with pytest.raises(InputError, match="has no column 'click; DROP'"):
        fit(source, columns="click; DROP")


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
def test_bad_columns_of_a_database(name: str, request: pytest.FixtureRequest) -> None:
    table = SqlTable(request.getfixturevalue(name), table="bad")
    with pytest.raises(InputError, match=r"column 'a': the value 0.5 is not a whole number"):
        fit(table, columns="a")
    with pytest.raises(InputError, match="column 'b': 1 values are missing"):
        fit(table, columns="b")
    with pytest.raises(InputError, match="'a' has more than 1 different values"):
        fit(table, columns=["a"], max_values=1)
    with pytest.raises(InputError, match="has no rows"):
        fit(SqlTable(request.getfixturevalue(name), table="kept"))
    with pytest.raises(InputError, match=r"the database answered .*; nothing was fitted"):
        fit(SqlTable(request.getfixturevalue(name), table="missing"))
    with pytest.raises(InputError, match="the database answered"):
        fit(SqlTable(request.getfixturevalue(name), query="SELECT FROM WHERE"))
