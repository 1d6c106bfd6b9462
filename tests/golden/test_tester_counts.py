"""Counts of every tester, computed by hand from the table of theory section 2."""

from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.testers import cheapest_tester
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(10))
SMALL_CUBE = lt.ProductDistribution.uniform(lt.Hypercube(3))
# Q = 0.09 + 0.25 + 0.21 + 0 = 0.55, S = 0.1 + 0.5 + 0.3 + 0 = 0.9; three free coordinates.
SKEWED = lt.ProductDistribution.bernoulli([0.1, 0.5, 0.7, 0.0])
# Five uniform values: root of depth 0, two of 1, two of 2: 6/5 per coordinate, Delta = 2.4.
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([5, 5]))
# Root 1: 0.3. One value: 0. Root 2, then 0 and 4: 0.8. Delta = 1.1.
UNEVEN = lt.ProductDistribution(
    lt.Hypergrid([3, 1, 5]), [[0.2, 0.7, 0.1], [1.0], [0.4, 0.0, 0.2, 0.0, 0.4]]
)
# T = 0.5 + 0.1 + 0.75 + 0 = 1.35; the longest line that is drawn has 4 points.
RECORDS = lt.ProductDistribution(
    lt.RecordGrid([3, 2, 4, 6]),
    [[0.5, 0.3, 0.2], [0.9, 0.1], [0.25] * 4, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]],
)
POINT = lt.ProductDistribution.bernoulli([0.0, 1.0])

# proximity 0.2, failure_probability 0.1; ln 10 = 2.302585, ln 20 = 2.995732, ln 40 = 3.688879.
COUNTS = [
    # (10/0.2) ln 10 = 115.13
    (CS12(), CUBE, 0, 116, 232),
    # ln 0.1 / ln(1 - 0.2/10) = 113.97
    (VarianceEdges(), CUBE, 0, 114, 228),
    # ln 0.1 / ln(1 - 0.2/2.2) = 24.16
    (VarianceEdges(), SKEWED, 0, 25, 50),
    # (4 * 2.4/0.2) ln 10 = 110.52
    (CDJS15(), GRID, 0, 111, 222),
    # (4 * 1.1/0.2) ln 10 = 50.66
    (CDJS15(), UNEVEN, 0, 51, 102),
    # (4 * 0.9/0.2) ln 10 = 41.45
    (CDJS15(), SKEWED, 0, 42, 84),
    # (4 * 1.35/0.2) ln 10 = 62.17, 4 points each
    (HammingLines(), RECORDS, 0, 63, 252),
    # (4/0.2) ln 40 = 73.78 points; at r = d = 3: (2 * 3 * 3/(0.25 * 0.2)) ln 20 = 1078.46 pairs
    (JR11(range_step=0.25), SMALL_CUBE, 74, 1079, 74 + 2158),
    # at r = 8: (4 * 2 * 8 * 1.2/(0.5 * 0.2)) ln 20 = 2300.72 pairs
    (AJMR12(range_step=0.5), GRID, 74, 2301, 74 + 4602),
    # e' = 0.2 - 9 * 0.01 = 0.11: (2/0.11) ln 20 = 54.47; (9/(0.01 * 0.11)) ln 20 = 24510.5
    (DJT12(range_step=0.01), SMALL_CUBE, 55, 24511, 55 + 49022),
    # the constant coordinate does not count: the same numbers
    (DJT12(range_step=0.01), SKEWED, 55, 24511, 55 + 49022),
]


@pytest.mark.parametrize(("tester", "distribution", "points", "draws", "queries"), COUNTS)
def test_counts(tester, distribution, points, draws, queries):
    plan = tester.plan(distribution, proximity=0.2, failure_probability=0.1)
    assert (plan.diameter_draws, plan.draws, plan.queries) == (points, draws, queries)


@pytest.mark.parametrize(
    ("tester", "distribution", "diameter", "pairs"),
    [
        # (2 * 3 * 1.25/(0.25 * 0.2)) ln 20 = 449.36
        (JR11(range_step=0.25), SMALL_CUBE, Fraction(5, 4), 450),
        # (4 * 2 * 1.5 * 1.2/(0.5 * 0.2)) ln 20 = 431.39
        (AJMR12(range_step=0.5), GRID, Fraction(3, 2), 432),
        # (3 * 1.01/(0.01 * 0.11)) ln 20 = 8251.88
        (DJT12(range_step=0.01), SMALL_CUBE, Fraction(101, 100), 8252),
        (JR11(), SMALL_CUBE, Fraction(0), 0),
        (AJMR12(), GRID, Fraction(0), 0),
        (DJT12(), SMALL_CUBE, Fraction(0), 0),
    ],
)
def test_pairs_after_a_sample_diameter(tester, distribution, diameter, pairs):
    assert tester.pairs_needed(distribution, diameter, 0.2, 0.1) == pairs


@pytest.mark.parametrize(
    ("tester", "distribution"),
    [
        (DJT12(), POINT),
        (CDJS15(), POINT),
        (VarianceEdges(), POINT),
        (CDJS15(), lt.ProductDistribution.uniform(lt.Hypergrid([1, 1]))),
        (AJMR12(), lt.ProductDistribution.uniform(lt.Hypergrid([1, 1]))),
        (HammingLines(), lt.ProductDistribution(lt.RecordGrid([2, 1]), [[0.0, 1.0], [1.0]])),
    ],
)
def test_nothing_to_query_where_all_the_mass_is_one_point(tester, distribution):
    plan = tester.plan(distribution, proximity=0.2, failure_probability=0.1)
    assert (plan.diameter_draws, plan.draws, plan.queries) == (0, 0, 0)


def test_four_variances_up_to_the_proximity_need_no_query():
    law = lt.ProductDistribution.bernoulli([0.01] * 5)  # 4 Q = 0.198
    plan = VarianceEdges().plan(law, proximity=0.198, failure_probability=0.1)
    assert plan.queries == 0
    assert VarianceEdges().plan(law, proximity=0.19, failure_probability=0.1).queries > 0


@pytest.mark.parametrize(
    ("tester", "distribution", "constant"),
    [
        (CS12(), CUBE, 10.0),
        (VarianceEdges(), SKEWED, 2.2),
        (CDJS15(), SKEWED, 3.6),
        (CDJS15(), GRID, 9.6),
        (HammingLines(), RECORDS, 5.4),
    ],
)
def test_detection_constants(tester, distribution, constant):
    assert tester.detection_constant(distribution) == pytest.approx(constant, rel=1e-12)


@pytest.mark.parametrize(
    ("distribution", "name"),
    [
        (CUBE, "VarianceEdges"),
        (SKEWED, "VarianceEdges"),
        (GRID, "CDJS15"),
        (UNEVEN, "CDJS15"),
        (RECORDS, "HammingLines"),
    ],
)
def test_auto_takes_the_cheapest_exact_tester(distribution, name):
    assert cheapest_tester(distribution).name == name
    verdict = lt.check_lipschitz(
        lambda points: np.zeros(len(points)),
        distribution,
        proximity=0.2,
        failure_probability=0.1,
        seed=0,
    )
    assert verdict.plan.tester == name


def test_approximation_factors():
    assert [
        t.approximation_factor for t in (CS12(), CDJS15(), VarianceEdges(), HammingLines())
    ] == [1.0] * 4
    assert JR11(range_step=0.25).approximation_factor == 1.25
    assert AJMR12(range_step=1.0).approximation_factor == 2.0
    assert DJT12(range_step=0.001).approximation_factor == pytest.approx(1.001)
