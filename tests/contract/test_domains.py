"""What every domain promises, against enumeration of all its points."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid

DOMAINS: list[Domain] = [
    Hypercube(1),
    Hypercube(5),
    Hypergrid([1]),
    Hypergrid([4]),
    Hypergrid([3, 1, 4]),
    Hypergrid([2, 2, 2]),
    Hypergrid([128, 2]),
    Hypergrid([129, 2]),
    RecordGrid([1, 1]),
    RecordGrid([5]),
    RecordGrid([3, 1, 4]),
    RecordGrid([130, 2]),
]


@pytest.fixture(params=DOMAINS, ids=repr, name="domain")
def _domain(request: pytest.FixtureRequest) -> Domain:
    return request.param  # type: ignore[no-any-return]


def everything(domain: Domain) -> np.ndarray:
    return np.concatenate(list(domain.all_points()))


def true_distance(domain: Domain, left: np.ndarray, right: np.ndarray) -> int:
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    if isinstance(domain, Hypergrid):
        return sum(abs(a - b) for a, b in pairs)
    return sum(a != b for a, b in pairs)


def some(points: np.ndarray) -> np.ndarray:
    return points[:: max(1, len(points) // 12)]


def test_all_points_are_the_product_in_index_order(domain: Domain) -> None:
    points = everything(domain)
    assert points.tolist() == [list(index) for index in np.ndindex(*domain.sizes)]
    assert len(points) == domain.size
    assert points.dtype == domain.dtype
    assert domain.dtype.kind == "i"
    assert domain.index(points).tolist() == list(range(domain.size))
    assert np.array_equal(domain.points(np.arange(domain.size)), points)
    assert np.array_equal(np.concatenate(list(domain.all_points(chunk=3))), points)


def test_distances_are_the_metric(domain: Domain) -> None:
    points = everything(domain)
    chosen = some(points)
    table = domain.distances(chosen, points)
    truth = [[true_distance(domain, x, y) for y in points] for x in chosen]
    assert table.tolist() == truth
    for x, row in zip(chosen, truth, strict=True):
        assert domain.distance(np.repeat(x[None, :], len(points), axis=0), points).tolist() == row
    assert domain.diameter == max(true_distance(domain, points[0], y) for y in points)


def test_neighbours_are_the_points_at_distance_one(domain: Domain) -> None:
    points = everything(domain)
    for point in some(points):
        near = domain.neighbours(point)
        truth = [y for y in points if true_distance(domain, point, y) == 1]
        assert sorted(near.tolist()) == sorted(y.tolist() for y in truth)
        assert near.dtype == domain.dtype


def test_changes_list_each_neighbour_once_in_draw_order(domain: Domain) -> None:
    points = some(everything(domain))
    rows, coordinates, values = domain.neighbour_changes(points)
    assert np.all(np.diff(rows) >= 0)
    changed = points[rows].astype(np.int64)
    changed[np.arange(len(rows)), coordinates] = values
    for i, point in enumerate(points):
        assert sorted(changed[rows == i].tolist()) == sorted(domain.neighbours(point).tolist())


def test_neighbouring_pairs_are_counted_exactly(domain: Domain) -> None:
    total = sum(len(domain.neighbours(point)) for point in everything(domain))
    assert total == 2 * domain.neighbouring_pairs


def test_value_pairs_and_other_values_agree(domain: Domain) -> None:
    zero = np.zeros(domain.dimension, dtype=np.int64)
    for r, size in enumerate(domain.sizes):
        truth = []
        for a in range(size):
            left, right = zero.copy(), zero.copy()
            left[r] = a
            near = []
            for b in range(size):
                right[r] = b
                if true_distance(domain, left, right) == 1:
                    near.append(b)
            assert domain.other_values(r, a).tolist() == near
            truth += [[a, b] for b in near if a < b]
        assert sorted(domain.value_pairs(r).tolist()) == truth


def test_lines_run_through_their_point(domain: Domain) -> None:
    for point in some(everything(domain)):
        for r in range(domain.dimension):
            line = domain.line(point, r)
            assert line[:, r].tolist() == list(range(domain.sizes[r]))
            assert line[point[r]].tolist() == point.tolist()
            assert np.all(np.delete(line, r, axis=1) == np.delete(point, r))


def test_a_domain_survives_pickling_and_compares_by_value(domain: Domain) -> None:
    domain.size  # noqa: B018 - fills a cache, which must not matter
    again = pickle.loads(pickle.dumps(domain))
    assert again == domain
    assert hash(again) == hash(domain)
    assert repr(again) == repr(domain)
    assert eval(repr(domain), {type(domain).__name__: type(domain)}) == domain


def test_check_points_returns_the_same_points(domain: Domain) -> None:
    points = everything(domain)
    for given in (points, points.tolist(), points.astype(float), np.asfortranarray(points)):
        checked = domain.check_points(given)
        assert checked.dtype == domain.dtype
        assert checked.flags.c_contiguous
        assert np.array_equal(checked, points)
    assert domain.check_points(points[:0]).shape == (0, domain.dimension)
    assert domain.check_points(points[0]).shape == (1, domain.dimension)
    assert domain.relation
    assert domain.neighbour_words
    assert f"{domain.dimension:,}" in domain.dataset_words
