"""Batches of centres and changes; their general laws are in tests/property."""

from __future__ import annotations

import numpy as np

from liptest.data.domains import Hypergrid
from liptest.data.points import PointBatch, from_array


def batch() -> PointBatch:
    centres = np.array([[0, 1, 2], [2, 0, 0], [1, 1, 1]], dtype=np.int8)
    changes = ([0, 0, 2], [1, 2, 0], [2, 0, 0])
    return PointBatch(centres, *(np.array(part) for part in changes))


def test_centres_come_first_then_changes_in_order() -> None:
    expected = [[0, 1, 2], [2, 0, 0], [1, 1, 1], [0, 2, 2], [0, 1, 0], [0, 1, 1]]
    points = batch()
    assert points.array().tolist() == expected
    assert points.array().dtype == np.int8
    assert [points.point(i).tolist() for i in range(len(points))] == expected


def test_arrays_and_points_are_fresh() -> None:
    for points in (batch(), from_array(batch().centres)):
        points.array()[:] = 7
        points.point(0)[:] = 7
        points.point(len(points) - 1)[:] = 7
        for _, _, part in points.parts(2):
            part.array()[:] = 7
        assert points.array().max() == 2


def test_a_single_centre_is_repeated() -> None:
    domain = Hypergrid([3, 3])
    centre = domain.check_points([1, 2])
    points = PointBatch(centre, *domain.neighbour_changes(centre))
    assert points.array()[1:].tolist() == domain.neighbours(centre[0]).tolist()


def test_parts_of_a_centre_with_more_changes_than_the_limit() -> None:
    centre = np.zeros((1, 5), dtype=np.int8)
    ones = np.ones(5, dtype=np.int64)
    points = PointBatch(centre, 0 * ones, np.arange(5), ones)
    parts = [(row, change, len(part.rows)) for row, change, part in points.parts(2)]
    assert parts == [(0, 0, 2), (0, 2, 2), (0, 4, 1)]


def test_an_empty_batch_has_no_parts() -> None:
    assert list(from_array(np.zeros((0, 3), dtype=np.int8)).parts(4)) == []


def test_from_array_is_in_rows() -> None:
    points = from_array(np.asfortranarray([[0, 1], [1, 1]]))
    assert points.centres.flags.c_contiguous
    assert len(points.rows) == 0
