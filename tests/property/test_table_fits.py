"""Any small table: every backend fits the same law, whatever the order of its rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.sources import SqlTable

fit = lt.ProductDistribution.fit
BITS = st.integers(0, 1)
ROWS = st.lists(st.tuples(BITS, BITS, st.sampled_from("xyz")), min_size=1, max_size=12)
WEIGHTS = st.floats(0.01, 100)


@contextmanager
def sources(rows: list[tuple[Any, ...]]) -> Iterator[list[Any]]:
    columns = {name: [row[i] for row in rows] for i, name in enumerate("abg")}
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    pd.DataFrame(columns).to_sql("t", engine, index=False)
    yield [pd.DataFrame(columns), pl.DataFrame(columns).lazy(), SqlTable(engine, table="t")]
    engine.dispose()


@pytest.mark.slow
@settings(max_examples=25)
@given(rows=ROWS, shrinkage=WEIGHTS, smoothing=st.one_of(st.just(0.0), WEIGHTS))
def test_whole_rows(rows: list[tuple[Any, ...]], shrinkage: float, smoothing: float) -> None:
    weights = {"shrinkage": shrinkage, "smoothing": smoothing}
    array = fit([row[:2] for row in rows], domain=lt.Hypercube(2), **weights)
    hashes = set()
    for order in (rows, rows[::-1]):
        with sources(order) as tables:
            laws = [fit(table, columns=["a", "b"], **weights) for table in tables]
        for law in laws:
            assert np.array_equal(law.probabilities, array.probabilities)
            assert law.fitted is not None
            hashes.add(law.fitted.counts_hash)
    assert len(hashes) == 1


@pytest.mark.slow
@settings(max_examples=25)
@given(rows=ROWS, labels=st.lists(st.sampled_from("xyz"), min_size=1, max_size=5), weight=WEIGHTS)
def test_records_by_group(rows: list[tuple[Any, ...]], labels: list[str], weight: float) -> None:
    known = [row[2] for row in rows]
    labels = [*labels, known[0]]
    domain = lt.Hypercube(len(labels))
    options: dict[str, Any] = {"record_groups": labels, "shrinkage": weight}
    array = fit([row[0] for row in rows], domain=domain, groups=known, **options)
    with sources(rows) as tables:
        laws = [fit(table, columns="a", groups="g", **options) for table in tables]
    for law in laws:
        assert np.allclose(law.probabilities, array.probabilities, rtol=1e-14, atol=0)


@pytest.mark.slow
@settings(max_examples=25)
@given(rows=ROWS)
def test_masses_of_a_bootstrap_are_the_shares_of_the_rows(rows: list[tuple[Any, ...]]) -> None:
    with sources(rows) as tables:
        law = lt.SampledDistribution.bootstrap(tables[0], categories={"g": list("xyz")})
    every = law.domain.points(np.arange(law.domain.size))
    values = list(itertools.product((0, 1), (0, 1), "xyz"))
    shares = [rows.count(point) / len(rows) for point in values]
    assert np.allclose(np.exp(law.log_mass(every)), shares, rtol=1e-14, atol=0)


@settings(max_examples=25)
@given(
    initial=st.floats(0, 1),
    stay=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    weight=st.floats(0, 1),
    d=st.integers(1, 5),
)
def test_masses_of_chains_and_mixtures_sum_to_one(
    initial: float, stay: tuple[float, float], weight: float, d: int
) -> None:
    cube = lt.Hypercube(d)
    matrix = [[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]
    start = [initial, 1 - initial]
    chain = lt.SampledDistribution.markov_chain(cube, initial=start, transitions=matrix)
    other = lt.ProductDistribution.uniform(cube)
    mixed = lt.SampledDistribution.mixture([chain, other], weights=[weight, 1 - weight])
    every = cube.points(np.arange(cube.size))
    assert np.isclose(np.exp(chain.log_mass(every)).sum(), 1, rtol=1e-12)
    expected = weight * np.exp(chain.log_mass(every)) + (1 - weight) / cube.size
    assert np.allclose(np.exp(mixed.log_mass(every)), expected, rtol=1e-12, atol=0)
