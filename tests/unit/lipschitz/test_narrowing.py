"""A violated pair at a distance is narrowed to neighbours (theory 1.2)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.points import Geodesic
from liptest.lipschitz.check import narrow
from liptest.lipschitz.oracles import as_oracle
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.runs.driver import Finding

DOMAINS = [lt.Hypercube(6), lt.Hypergrid([4, 1, 5, 3]), lt.RecordGrid([4, 1, 5, 3])]


def ends(domain, rng):
    return domain.points(rng.integers(0, domain.size, 2))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: type(d).__name__)
@given(seed=st.integers(0, 10**6))
def test_a_geodesic_walks_over_neighbours(domain, seed):
    start, end = ends(domain, np.random.default_rng(seed))
    path = Geodesic(domain, start, end)
    assert path.length == domain.distance(start, end)[0]
    points = domain.check_points([path.point(hop) for hop in range(path.length + 1)])
    assert np.array_equal(points[0], start)
    assert np.array_equal(points[-1], end)
    assert np.all(domain.distance(points[1:], points[:-1]) == 1)


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: type(d).__name__)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from([0.1, 1.0, 2.7]))
def test_every_violated_pair_contains_violated_neighbours(domain, seed, limit):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=domain.sizes) * limit * domain.diameter
    start, end = ends(domain, rng)
    distance = int(domain.distance(start, end)[0])
    values = float(table[tuple(start)]), float(table[tuple(end)])
    if abs(values[0] - values[1]) <= limit * distance:
        return
    oracle = as_oracle(table, domain)
    found = narrow(Finding(start, end, distance, values), oracle, limit)
    left, right = found.finding.point, found.finding.other
    assert found.finding.distance == 1 == domain.distance(left, right)[0]
    assert found.finding.evidence == (table[tuple(left)], table[tuple(right)])
    assert abs(table[tuple(left)] - table[tuple(right)]) > limit
    assert found.queries <= math.ceil(math.log2(distance))
    assert found.repeats == 2


def test_neighbours_need_no_query():
    domain = lt.Hypercube(2)
    table = np.array([[0.0, 5.0], [0.0, 0.0]])
    left, right = domain.check_points([[0, 0], [0, 1]])
    found = narrow(Finding(left, right, 1, (0.0, 5.0)), as_oracle(table, domain), 1.0)
    assert (found.queries, found.repeats) == (0, 2)


def test_a_function_that_changes_its_answers_is_an_error():
    domain = lt.Hypergrid([9])
    answers = iter([3.0, 100.0, 7.0, 100.0, 7.0])
    oracle = as_oracle(lambda points: np.array([next(answers) for _ in points]), domain)
    low, high = domain.check_points([[0], [8]])
    with pytest.raises(lt.errors.FunctionError, match="at the same point"):
        narrow(Finding(low, high, 8, (0.0, 1000.0)), oracle, 1.0)


def test_a_violation_that_depends_on_the_batch_is_an_error():
    domain = lt.Hypercube(1)

    def shaky(points):
        return points[:, 0] * (1.0 + 2**-52 * (len(points) > 2))

    low, high = domain.check_points([[0], [1]])
    with pytest.raises(lt.errors.FunctionError, match="depends on how many points"):
        narrow(Finding(low, high, 1, (0.0, 1.0 + 2**-52)), as_oracle(shaky, domain), 1.0)


class Ring(lt.RecordGrid):
    """A distance of somebody else: values lie on a ring, so 0 and the last one are neighbours."""

    def _coordinate_distance(self, left, right):
        apart = np.abs(left - right)
        return np.minimum(apart, self.size_array[0] - apart)


@pytest.mark.parametrize("step", [2, 3])
def test_on_a_domain_of_another_distance_a_witness_has_that_distance(step):
    domain = Ring([8, 8])
    start, end = domain.check_points([[0, 0], [step, 1]])
    distance = int(domain.distance(start, end)[0])
    assert Geodesic(domain, start, end).length == 2 != distance
    table = np.zeros((8, 8))
    table[tuple(end)] = 5.0
    found = narrow(Finding(start, end, distance, (0.0, 5.0)), as_oracle(table, domain), 1.0)
    pair = found.finding
    assert pair.distance == domain.distance(pair.point, pair.other)[0]
    assert pair.distance == distance


class Doubled(lt.RecordGrid):
    """A distance that agrees with the number of hops, but not hop by hop."""

    def distance(self, points, others):
        left, right = np.atleast_2d(points), np.atleast_2d(others)
        moved = np.asarray(left != right)
        return np.asarray(2 * moved[:, 0] + 0 * moved[:, 1])


def test_hops_that_are_no_neighbours_give_no_witness():
    domain = Doubled([2, 2])
    start, end = domain.check_points([[0, 0], [1, 1]])
    table = np.array([[0.0, 0.0], [9.0, 9.0]])
    found = narrow(Finding(start, end, 2, (0.0, 9.0)), as_oracle(table, domain), 1.0)
    assert found.finding.distance == 2
    assert np.array_equal(found.finding.other, end)


def test_a_witness_of_privacy_has_the_distance_of_its_domain():
    domain = Ring([8, 8])
    x, y = domain.check_points([[0, 0], [3, 1]])
    shares = np.log([[0.999, 0.001], [0.001, 0.999]])
    seen = lt.ClosedForm([0, 1], lambda data: shares[np.any(data, axis=1).astype(int)])
    judge = LossJudge(seen, domain, Claim(0.5))
    left, right, distance = judge._narrow(x, y, 4)
    assert distance == domain.distance(left, right)[0] == 4
