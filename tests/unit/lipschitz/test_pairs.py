"""Where each tester draws: directions, values, distances."""

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines, line_pairs
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges

SKEWED = lt.ProductDistribution.bernoulli([0.0, 0.3, 1.0, 0.5])
UNEVEN = lt.ProductDistribution(
    lt.Hypergrid([3, 1, 5, 4]),
    [[0.2, 0.7, 0.1], [1.0], [0.4, 0.0, 0.2, 0.0, 0.4], [0.0, 0.0, 1.0, 0.0]],
)
RECORDS = lt.ProductDistribution(
    lt.RecordGrid([3, 2, 4, 6]),
    [[0.5, 0.3, 0.2], [0.9, 0.1], [0.25] * 4, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]],
)


def drawn(tester, law, count=4000):
    return tester.draw(law, np.random.default_rng(3), count)


@pytest.mark.parametrize("tester", [DJT12(), CDJS15(), VarianceEdges()], ids=lambda t: t.name)
def test_constant_coordinates_are_never_chosen(tester):
    batch = drawn(tester, SKEWED)
    assert set(batch.points.coordinates.tolist()) == {1, 3}
    assert np.all(batch.points.centres[:, [0, 2]] == [0, 1])


def test_paper_edges_take_each_free_coordinate_alike():
    coordinates = drawn(DJT12(), SKEWED, 10_000).points.coordinates
    assert abs(np.count_nonzero(coordinates == 1) - 5000) < 400  # 8 standard deviations


@pytest.mark.parametrize("tester", [JR11(), CS12()], ids=lambda t: t.name)
def test_uniform_edges_take_each_coordinate_alike(tester):
    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    counts = np.bincount(drawn(tester, law, 10_000).points.coordinates, minlength=4)
    assert np.all(np.abs(counts - 2500) < 350)  # 8 standard deviations


def test_tree_pairs_have_positive_mass_and_their_distance():
    batch = drawn(CDJS15(), UNEVEN)
    assert np.all(UNEVEN.mass(batch.points.centres) > 0)
    assert set(batch.points.coordinates.tolist()) == {0, 2}
    ends = batch.points.array()
    left, right = batch.pair_positions()
    distances = UNEVEN.domain.distance(ends[left], ends[right])
    assert np.array_equal(distances, batch.pair_distances())
    assert distances.max() == 2


def test_tree_directions_follow_the_expected_depths():
    counts = np.bincount(drawn(CDJS15(), UNEVEN, 11_000).points.coordinates, minlength=4)
    assert abs(counts[0] - 3000) < 400  # 0.3 of 1.1; 8 standard deviations


def test_grid_directions_of_ajmr12_are_uniform():
    law = lt.ProductDistribution.uniform(lt.Hypergrid([5, 5]))
    counts = np.bincount(drawn(AJMR12(), law, 10_000).points.coordinates)
    assert abs(counts[0] - 5000) < 400  # 8 standard deviations


def test_lines_are_whole_and_all_their_pairs_compared():
    batch = drawn(HammingLines(), RECORDS, 300)
    points = batch.points.array()
    left, right = batch.pair_positions()
    assert np.all(np.diff([batch.draw_of(i) for i in right]) >= 0)
    assert np.array_equal(
        batch.pair_distances(), RECORDS.domain.distance(points[left], points[right])
    )
    for draw in range(300):
        mine = np.flatnonzero(batch.points.rows == draw)
        coordinate = int(batch.points.coordinates[mine[0]])
        line = {draw, *(300 + mine).tolist()}
        assert {points[i, coordinate] for i in line} == set(range(RECORDS.domain.sizes[coordinate]))
        pairs = {
            frozenset(p) for p in zip(left.tolist(), right.tolist(), strict=True) if p[0] in line
        }
        assert len(pairs) == len(line) * (len(line) - 1) // 2


def test_lines_follow_the_mass_off_the_likeliest_value():
    coordinates = drawn(HammingLines(), RECORDS, 13_500).points
    first = coordinates.coordinates[np.unique(coordinates.rows, return_index=True)[1]]
    counts = np.bincount(first, minlength=4)
    assert counts[3] == 0
    assert np.all(np.abs(counts[:3] - [5000, 1000, 7500]) < 480)  # 8 standard deviations


def test_line_pairs_of_mixed_lines():
    # Draws 0, 1 with 2 and 3 points: positions 0, 2 and 1, 3, 4.
    assert line_pairs(np.array([1, 2])).tolist() == [[0, 2], [1, 3], [1, 4], [3, 4]]


def test_work_per_line():
    tester = HammingLines()
    assert (tester.points_per_draw(RECORDS), tester.pairs_per_draw(RECORDS)) == (4, 6)
