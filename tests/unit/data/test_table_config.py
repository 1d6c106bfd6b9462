"""liptest.toml and the command line name Parquet files, databases, columns and histograms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.cli import main
from liptest.cli.config import read_config, validate
from liptest.cli.data_options import DataOptions, DistributionOptions
from liptest.errors import ConfigError, InputError

FRAME = pd.DataFrame(
    {"click": [1, 0, 0, 1, 0, 0], "item": list("xyxxyz"), "city": ["Oslo", "Rome"] * 3}
)
VENDOR = "import liptest as lt\ncount = lt.catalogue.truncated_geometric_count(6, 1.0)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    FRAME.to_csv(tmp_path / "public.csv", index=False)
    pl.from_dict(FRAME.to_dict("list")).write_parquet(tmp_path / "public.parquet")
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'public.db'}")
    FRAME.to_sql("clicks", engine, index=False)
    engine.dispose()
    monkeypatch.setenv("CLICKS_URL", f"sqlite:///{tmp_path / 'public.db'}")
    (tmp_path / "vendor.py").write_text(VENDOR)
    return tmp_path


def built(folder: Path, **keys: Any) -> lt.ProductDistribution:
    model = validate(DistributionOptions, keys, "keys")
    return model.build(None, folder)


@pytest.mark.parametrize(
    "where",
    [
        {"table": "public.parquet"},
        {"sql": "$CLICKS_URL", "sql_table": "clicks"},
        {"sql": "$CLICKS_URL", "query": "select * from clicks"},
    ],
)
def test_one_rate_per_group_as_of_a_csv_file(folder: Path, where: dict[str, str]) -> None:
    keys = {"column": "click", "group": "item", "records": "public.csv", "record_rows": "1:5"}
    found = built(folder, **where, **keys)
    expected = built(folder, table="public.csv", **keys)
    assert found.probabilities.tolist() == expected.probabilities.tolist()
    assert found.domain == lt.Hypercube(4)


@pytest.mark.parametrize(
    "where", [{"table": "public.csv"}, {"sql": "$CLICKS_URL", "sql_table": "clicks"}]
)
def test_rows_that_are_datasets_and_histograms(folder: Path, where: dict[str, str]) -> None:
    rows = built(folder, **where, columns=["click", "city"], categories={"city": ["Rome", "Oslo"]})
    assert rows.domain == lt.RecordGrid([2, 2])
    assert rows.marginal(0) == pytest.approx([(4 + 5) / 16, (2 + 5) / 16])
    counts = built(folder, **where, column="city", histogram_of=4)
    assert isinstance(counts.domain, lt.Hypergrid)
    two = built(folder, **where, columns=["click", "city"], histogram_of=4)
    assert two.domain.dimension == 4


@pytest.mark.slow
def test_a_file_with_a_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "liptest.toml").write_text(
        '[distribution]\nsql = "$CLICKS_URL"\nsql_table = "clicks"\ncolumn = "click"\n'
        'group = "item"\nsmoothing = 1\n[[check]]\nmechanism = "vendor.py:count"\nepsilon = 1.0\n'
        'method = "neighbourhoods"\nexception_mass = 0.1\nseed = 1\n'
    )
    assert read_config(folder / "liptest.toml").distribution is not None
    assert main(["check", "--config", str(folder / "liptest.toml")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "fitted on the rows of clicks of the database public.db, each a record, one law" in out
    assert "(6 rows, counts sha256 " in out


@pytest.mark.slow
def test_arguments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "two.py").write_text(
        "import liptest as lt\ntold = lt.catalogue.randomised_response(2, 1.0)\n"
    )
    frame = FRAME.assign(second=[0, 1, 1, 1, 0, 1])
    frame.to_csv(folder / "bits.csv", index=False)
    start = ["check", f"{folder / 'two.py'}:told", "--epsilon", "1"]
    assert main([*start, "--table", str(folder / "bits.csv"), "--columns", "click,second"]) == 0
    query = "select click, 1 - click as other from clicks"
    assert main([*start, "--sql", "$CLICKS_URL", "--query", query, "--columns", "click,other"]) == 0
    assert capsys.readouterr().out.count("YES by proof") == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"table": "public.parquet"}, "columns: give either column"),
        ({"table": "public.parquet", "column": "click", "columns": ["click"]}, "give either"),
        ({"table": "public.parquet", "column": "click"}, "domain.records is missing"),
        ({"table": "public.parquet", "column": "click", "rows": "0:3"}, "rows: only a column"),
        ({"table": "public.parquet", "columns": ["click"], "group": "item"}, "have no groups"),
        ({"table": "public.parquet", "column": "click", "query": "select 1"}, "give sql = its URL"),
        ({"table": "public.csv", "sql": "$CLICKS_URL", "column": "click"}, "found table, sql"),
        ({"sql": "$NOBODY", "sql_table": "clicks", "column": "click"}, "no variable NOBODY"),
        (
            {"table": "public.parquet", "column": "click", "group": "item"}
            | {"records": "public.csv", "record_rows": "3"},
            "'3' must be first:stop",
        ),
    ],
)
def test_keys_that_contradict_each_other(folder: Path, keys: dict[str, Any], message: str) -> None:
    domain = None if "domain" in message else lt.Hypercube(6)
    model = validate(DistributionOptions, keys, "keys")
    with pytest.raises(ConfigError, match=message):
        model.build(domain, folder)


def test_categories_that_are_dates_and_a_schema(folder: Path) -> None:
    pd.DataFrame({"day": ["2020-01-01", "2020-01-02"], "x": [0.5, 1]}).to_csv(
        folder / "days.csv", index=False
    )
    (folder / "liptest.toml").write_text(
        '[distribution]\ntable = "days.csv"\ncolumns = ["day", "x"]\n'
        "categories.day = [2020-01-01, 2020-01-02, 2020-01-03]\ncategories.x = [0.5, 1]\n"
        '[[check]]\nmechanism = "vendor.py:count"\nepsilon = 1\n'
    )
    model = read_config(folder / "liptest.toml").distribution
    assert model is not None
    assert model.build(None, folder).domain == lt.RecordGrid([3, 2])
    keys = {"sql": "$CLICKS_URL", "sql_table": "clicks", "columns": ["click"]}
    assert built(folder, **keys, sql_schema="main").domain == lt.Hypercube(1)
    with pytest.raises(lt.errors.InputError, match="nothing was fitted"):
        built(folder, **keys, sql_schema="nowhere")


# ---- data frames, of which tables are drawn

OF_PEOPLE = {
    "domain": {
        **{"kind": "table", "dimension": 9, "relation": "add_remove"},
        "fields": {"click": "0..1", "city": ["Oslo", "Rome"]},
    },
    "distribution": {"drawn_rows": "2:7"},
}


@pytest.mark.parametrize(
    "where",
    [
        {"table": "public.csv"},
        {"table": "public.parquet"},
        {"sql": "$CLICKS_URL", "sql_table": "clicks"},
    ],
)
def test_tables_are_drawn_of_the_rows_of_a_public_one(folder: Path, where: dict[str, str]) -> None:
    keys = OF_PEOPLE | {"distribution": {"drawn_rows": "2:7", **where}}
    law = validate(DataOptions, keys, "keys").build(folder)
    table = lt.Table(
        {"click": lt.Bit(), "city": lt.Category(["Oslo", "Rome"])}, rows=9, relation="add_remove"
    )
    assert law.domain == table
    drawn = law.sample(np.random.default_rng(1), 300)
    assert {int((one > 0).sum()) for one in drawn} == {2, 3, 4, 5, 6}
    shares = np.bincount(drawn[drawn > 0], minlength=5)[1:] / (drawn > 0).sum()
    public = table.encode(FRAME[["click", "city"]])
    wanted = np.bincount(public[public > 0], minlength=5)[1:] / len(FRAME)
    # Of 1,200 rows the shares lie within 0.1 of the public ones but for one seed in 10^10.
    assert np.abs(shares - wanted).max() < 0.1


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"table": "public.csv", "drawn_rows": "many"}, "'many' must be 1000 or 900:1101"),
        ({"table": "public.csv", "drawn_rows": "3:"}, "must be 1000 or 900:1101"),
        ({"drawn_rows": "3"}, "rows are drawn from a public table"),
        ({"table": "public.csv", "drawn_rows": "10"}, "must be a number from 0 to 9"),
    ],
)
def test_wrong_numbers_of_drawn_rows_are_named(
    folder: Path, keys: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        validate(DataOptions, OF_PEOPLE | {"distribution": keys}, "keys").build(folder)


def test_only_rows_of_a_data_frame_are_drawn(folder: Path) -> None:
    keys = {"domain": {"dimension": 9}, "distribution": {"table": "public.csv", "drawn_rows": "3"}}
    with pytest.raises(ConfigError, match="the columns of a data frame"):
        validate(DataOptions, keys, "keys").build(folder)
