"""What bands are made of, without chance: every dataset as often as its mass says.

The draws in the covers then weigh at least the exact exception mass, the weights of the matchings
at most: this is all that the bands rest on, besides confidence bounds for means.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.points import PointBatch
from liptest.privacy.samples.bands import BandJudge, claims_at
from liptest.privacy.samples.pair_roles import Geometry
from liptest.runs.driver import QueryBatch

DOMAINS = [
    lt.Hypercube(3),
    lt.Hypercube(1),
    lt.Hypergrid([3, 4]),
    lt.Hypergrid([1, 5]),
    lt.RecordGrid([3, 2, 2]),
    lt.RecordGrid([5, 2]),
    lt.RecordGrid([4, 3]),
]
EPSILONS = (0.1, 0.5, 1.0, 2.0)


@st.composite
def cases(draw):
    domain = draw(st.sampled_from(DOMAINS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    few = draw(st.booleans())
    table = rng.integers(1, 4 if few else 60, (domain.size, 2)).astype(float)
    table /= table.sum(axis=1, keepdims=True)
    # Masses are sixteenths or eighths, so that counts of datasets can have them exactly.
    parts = 8 if domain.dimension < 3 else 4
    weights = [rng.multinomial(parts, np.full(n, 1 / n)) for n in domain.sizes]
    return domain, table, weights, parts


def every_dataset(domain, weights):
    points = domain.points(np.arange(domain.size))
    counts = np.prod([w[points[:, r]] for r, w in enumerate(weights)], axis=0)
    return np.repeat(points, counts, axis=0)


def light_only(batch, geometry):
    kept = geometry.roles(batch).assigned
    return PointBatch(batch.centres, batch.rows[kept], batch.coordinates[kept], batch.values[kept])


def sampled(distribution):
    """The same law by a sampler and its masses."""
    return lt.SampledDistribution(
        distribution.domain, lambda n, rng: distribution.sample(rng, n), distribution.log_mass
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["full", "light", "sampler with masses", "sampler"])
@given(case=cases())
@settings(max_examples=40)
def test_covers_weigh_enough_and_matchings_not_too_much(kind, case):
    domain, table, weights, parts = case
    mechanism = lt.ClosedForm(range(2), partial(law, domain, table))
    product = lt.ProductDistribution(domain, [w / parts for w in weights])
    distribution = product if kind in ("full", "light") else sampled(product)
    if kind == "sampler":
        distribution = lt.SampledDistribution(domain, distribution.sampler)
    points = every_dataset(domain, weights)
    batch = PointBatch(points, *domain.neighbour_changes(points))
    geometry = Geometry(distribution)
    if kind == "light":
        batch = light_only(batch, geometry)
    judge = BandJudge(mechanism, geometry, claims_at(EPSILONS, 0.0, 1e-9), kind == "light")
    found = judge.judge(QueryBatch(batch)).evidence
    factor = 2 if kind == "light" else 1
    for k, epsilon in enumerate(EPSILONS):
        truth = lt.exception_mass(mechanism, product, epsilon=epsilon)
        assert found.covers[:, k].min() / len(points) >= truth.lower - 1e-9
        assert found.shares[k] / len(points) / factor <= truth.upper + 1e-9
        assert found.matchings[:, k].max() / len(points) <= truth.upper + 1e-9
        if kind == "sampler":
            assert found.shares[k] == 0 == found.matchings[:, k].max()


def law(domain, table, datasets):
    return np.log(table[domain.index(datasets)])


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_colour_classes_hold_no_neighbours_and_matchings_no_dataset_twice(domain):
    geometry = Geometry(lt.ProductDistribution.uniform(domain))
    points = domain.points(np.arange(domain.size))
    rows, coordinates, values = domain.neighbour_changes(points)
    batch = PointBatch(points, rows, coordinates, values)
    ends = batch.array()[len(points) :]
    if geometry.colours > 1:
        assert np.all(geometry.colour(points)[rows] != geometry.colour(ends))
    sets = geometry.matching(coordinates, points[rows, coordinates].astype(int), values)
    assert sets.max(initial=0) < geometry.matchings
    seen = set(zip(sets.tolist(), rows.tolist(), strict=True))
    assert len(seen) == len(rows), "a dataset is in two pairs of one set"
    degrees = np.bincount(rows, minlength=len(points))
    assert degrees.max(initial=0) == geometry.most_neighbours
