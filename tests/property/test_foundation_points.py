"""``PointBatch``: parts cover everything once, whatever the limit; array and point agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.data.domains import Hypercube
from liptest.data.points import PointBatch
from liptest.lipschitz.oracles import as_oracle


@st.composite
def batches(draw: st.DrawFn) -> PointBatch:
    n, d = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    whole = st.integers(0, 100)
    centres = draw(st.lists(st.lists(whole, min_size=d, max_size=d), min_size=n, max_size=n))
    rows = sorted(draw(st.lists(st.integers(0, n - 1), max_size=20))) if n else []
    m = len(rows)
    coordinates = draw(st.lists(st.integers(0, d - 1), min_size=m, max_size=m))
    values = draw(st.lists(whole, min_size=m, max_size=m))
    changes = (np.array(part, dtype=np.int64) for part in (rows, coordinates, values))
    return PointBatch(np.array(centres, dtype=np.int8).reshape(n, d), *changes)


@given(batches())
def test_array_and_point_agree(batch: PointBatch) -> None:
    points = [batch.point(i).tolist() for i in range(len(batch))]
    assert batch.array().tolist() == points
    assert len(points) == len(batch)
    for j, row in enumerate(batch.rows):
        expected = batch.centres[row].tolist()
        expected[batch.coordinates[j]] = batch.values[j]
        assert points[len(batch.centres) + j] == expected


@pytest.mark.slow
@given(batches(), st.integers(-1, 30))
def test_parts_cover_everything_in_order(batch: PointBatch, limit: int) -> None:
    n = len(batch.centres)
    whole = batch.array().tolist()
    centres, changes = [], []
    for row, change, part in batch.parts(limit):
        points = part.array().tolist()
        assert row >= (centres[-1] if centres else 0)
        assert change == len(changes)
        assert points[: len(part.centres)] == whole[row : row + len(part.centres)]
        centres += [c for c in range(row, row + len(part.centres)) if c not in centres]
        start = n + change
        assert points[len(part.centres) :] == whole[start : start + len(part.rows)]
        changes += range(change, change + len(part.rows))
        alone = len(part.centres) == 1
        assert len(part) <= limit or (alone and len(part.rows) <= max(limit, 1))
    assert centres == list(range(n))
    assert changes == list(range(len(batch.rows)))


@pytest.mark.slow
@given(batches())
def test_an_oracle_answers_in_the_order_of_the_array(batch: PointBatch) -> None:
    weights = 101.0 ** np.arange(batch.centres.shape[1])
    oracle = as_oracle(lambda points: points @ weights, Hypercube(batch.centres.shape[1]))
    assert np.array_equal(oracle.values(batch), batch.array() @ weights)
