"""A gate says so when its private dataset is the table that the distribution was fitted on."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.cli import main
from liptest.data.sources import SqlTable
from liptest.gate.gate import Released
from liptest.gate.routes import SensitivityGate
from liptest.mechanisms.declared import ExactForm
from liptest.verdicts import Decision

RNG = np.random.default_rng(5)
CLICKS = RNG.integers(0, 2, 40)
ITEMS = np.array(list("abcd") * 10)
FRAME = pd.DataFrame({"click": CLICKS, "item": ITEMS})
OTHER = 1 - CLICKS


def of_frame() -> lt.ProductDistribution:
    return lt.ProductDistribution.fit(FRAME, columns="click", groups="item")


def of_array() -> lt.ProductDistribution:
    return lt.ProductDistribution.fit(CLICKS, domain=lt.Hypercube(40), groups=ITEMS)


def of_database() -> lt.ProductDistribution:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    FRAME.to_sql("public", engine, index=False)
    law = lt.ProductDistribution.fit(
        SqlTable(engine, table="public"), columns="click", groups="item", record_groups=ITEMS
    )
    engine.dispose()
    return law


def gate(law: lt.ProductDistribution, **options: Any) -> lt.PrivacyGate:
    mechanism = lt.catalogue.truncated_geometric_count(40, 1.0)
    settings = {"method": "neighbourhoods", "exception_mass": 0.05, "seed": 1, "search_laws": 0}
    return lt.PrivacyGate(mechanism, law, epsilon=1.0, releases=2, **(settings | options))


@pytest.mark.parametrize("build", [of_frame, of_array, of_database])
def test_the_fitted_table_is_recognised(build: Any) -> None:
    law = build()
    tested = gate(law)
    assert tested.certificate.decision == Decision.YES
    same, other = tested.release(CLICKS), tested.release(OTHER)
    assert isinstance(same, Released)
    assert isinstance(other, Released)
    assert "the table that the distribution was fitted on" in same.warning
    assert other.warning == ""
    # What is published does not depend on the private dataset.
    assert same.certificate == other.certificate
    if law.fitted is not None and law.fitted.columns:
        assert law.fitted.counts_hash[:16] in tested.certificate.to_json()


def test_a_proof_holds_whatever_the_distribution() -> None:
    tested = gate(of_frame(), method="exhaustive")
    answer = tested.release(CLICKS)
    assert isinstance(answer, Released)
    assert answer.warning == ""


def test_rows_in_another_order_are_recognised_by_their_counts() -> None:
    order = np.argsort(ITEMS, kind="stable")[::-1]
    moved = lt.ProductDistribution.fit(
        FRAME, columns="click", groups="item", record_groups=ITEMS[order]
    )
    assert moved.fitted is not None
    assert "in all counts" in moved.fitted.recognises(CLICKS[order], -20.0)
    assert moved.fitted.recognises(OTHER[order], -20.0) == ""
    # Many tables of two records have these counts by chance.
    few = lt.ProductDistribution.fit(pd.DataFrame({"click": [0, 1]}), records=2).fitted
    assert few is not None
    assert few.recognises([1, 0], -1.4) == ""
    assert "in every row" in few.recognises([0, 1], -1.4)
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    FRAME.to_sql("public", engine, index=False)
    table = SqlTable(engine, table="public")
    law = lt.ProductDistribution.fit(
        table, columns="click", groups="item", record_groups=ITEMS[order]
    )
    engine.dispose()
    assert law.fitted is not None
    assert "in all counts" in law.fitted.recognises(CLICKS[order], -20.0)


def test_a_histogram_of_the_fitted_records_is_recognised() -> None:
    law = lt.ProductDistribution.fit(FRAME, columns=["item", "click"], histogram_of=40)
    assert law.fitted is not None
    counts = law.fitted.dataset(FRAME)
    coin = ExactForm([0, 1], lambda data: [Fraction(1, 2)] * 2)
    tested = lt.PrivacyGate(
        coin,
        law,
        epsilon=1.0,
        method="neighbourhoods",
        exception_mass=0.05,
        seed=1,
        releases=2,
        trust_code=True,
    )
    same, other = tested.release(counts), tested.release(counts[::-1])
    assert isinstance(same, Released)
    assert isinstance(other, Released)
    assert "agrees in all counts with the table" in same.warning
    assert other.warning == ""


def test_the_chance_of_equal_counts_is_the_multinomial_one() -> None:
    fitted = of_database().fitted
    assert fitted is not None
    law = of_frame()
    expected = 0.0
    for item in "abcd":
        hits, n = int(CLICKS[item == ITEMS].sum()), 10
        p = float(law.probabilities["abcd".index(item)])
        expected += math.log(math.comb(n, hits)) + hits * math.log(p) + (n - hits) * math.log1p(-p)
    assert fitted.counts_log_chance == pytest.approx(expected)


def test_whole_datasets_are_coded_alike() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 0, 0]})
    law = lt.ProductDistribution.fit(frame)
    assert law.fitted is not None
    assert law.fitted.dataset(frame.iloc[::-1]).tolist() == [[0, 0], [1, 0], [0, 1]]
    assert law.fitted.recognises([0, 1], -1.0) == ""
    with pytest.raises(lt.errors.InputError) as caught:
        law.fitted.dataset(pd.DataFrame({"a": ["secret"], "b": [1]}))
    assert "secret" not in str(caught.value)
    wrong: list[Any] = [
        np.array([["secret", 1]]),
        {"a": ["secret"], "b": [1]},
        pl.DataFrame({"a": [["secret"]], "b": [1]}),
        pd.DataFrame({"a": ["secret"]}),
        pl.LazyFrame({"a": ["secret"], "b": [1]}),
    ]
    for table in wrong:
        with pytest.raises(lt.errors.InputError) as caught:
            law.fitted.dataset(table)
        assert "secret" not in str(caught.value)
    records = of_frame().fitted
    assert records is not None
    assert np.array_equal(records.dataset(FRAME), CLICKS)
    histogram = lt.ProductDistribution.fit(FRAME, columns="item", histogram_of=10.0).fitted
    assert histogram is not None
    assert histogram.dataset(FRAME).tolist() == [10, 10, 10, 10]
    with pytest.raises(lt.errors.InputError, match="fitted on an array"):
        of_array().fitted.dataset(FRAME)  # type: ignore[union-attr]


@pytest.mark.slow
def test_the_command_line_warns_the_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FRAME.to_csv(tmp_path / "clicks.csv", index=False)
    (tmp_path / "vendor.py").write_text(
        "import liptest as lt\ncount = lt.catalogue.truncated_geometric_count(40, 1.0)\n"
    )
    table = str(tmp_path / "clicks.csv")
    data = ["--table", table, "--column", "click", "--group", "item", "--dimension", "40"]
    private = ["--private", table, "--private-column", "click"]
    method = ["--method", "neighbourhoods", "--exception-mass", "0.05"]
    vendor = f"{tmp_path / 'vendor.py'}:count"
    code = main(["release", vendor, "--epsilon", "1", *data, *private, *method])
    out = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert "WARNING, for the operator only: the private dataset agrees in every row" in out


def test_the_other_routes_warn_alike() -> None:
    def clicks(points: np.ndarray) -> np.ndarray:
        return points.sum(axis=1) * 1.0

    law = of_frame()
    tested = SensitivityGate(
        clicks, law, sensitivity=1, epsilon=1.0, exception_mass=0.05, trust_code=True
    )
    answer = tested.release(CLICKS)
    assert isinstance(answer, Released)
    assert isinstance(answer.output, float)
    assert "the table that the distribution was fitted on" in answer.warning


@pytest.mark.parametrize("as_frame", [True, False])
def test_a_row_that_is_a_dataset_is_recognised_where_chance_would_not_show_it(
    as_frame: bool,
) -> None:
    rows = RNG.integers(0, 2, (50, 40))
    cube = lt.Hypercube(40)
    frame = pd.DataFrame(rows, columns=[f"c{r}" for r in range(40)])
    law = lt.ProductDistribution.fit(frame if as_frame else rows, domain=cube)
    tested = gate(law)
    same, other = tested.release(rows[7]), tested.release(1 - rows[7])
    assert isinstance(same, Released)
    assert isinstance(other, Released)
    assert "agrees with a row of the table that the distribution was fitted on" in same.warning
    assert other.warning == ""
    # Each of 4 datasets is in a table of 50 rows anyhow.
    few = lt.ProductDistribution.fit(rows[:, :2], domain=lt.Hypercube(2)).fitted
    assert few is not None
    assert few.recognises(rows[7, :2], math.log(0.25)) == ""
