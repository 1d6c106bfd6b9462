"""Values and masses as whole numbers, and envelopes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import BudgetError, FunctionError, InputError
from liptest.lipschitz.covers import (
    MAX_POINTS,
    ExactTable,
    exact_masses,
    exact_values,
    line_envelopes,
    lower_envelope,
    violation_limit,
)
from liptest.lipschitz.covers import to_integers as whole_numbers
from liptest.lipschitz.oracles import scalar

DOMAINS = [Hypercube(3), Hypergrid([4, 3]), RecordGrid([4, 3]), Hypergrid([5]), RecordGrid([1, 2])]


def test_whole_numbers_keep_every_value() -> None:
    values = [0.1, 3, Fraction(1, 3), -5e-324, 1e300, np.int64(7), np.float64(0.5)]
    numbers, denominator = whole_numbers(values)
    assert [Fraction(n, denominator) for n in numbers] == [Fraction(v) for v in values]


def test_values_in_index_order_from_every_kind_of_function() -> None:
    domain = Hypergrid([3, 2])
    table = np.array([[0, 1], [10, 11], [20, 21]])
    expected = [0, 1, 10, 11, 20, 21]
    assert exact_values(table, domain) == expected
    assert exact_values(lambda x: 10.0 * x[:, 0] + x[:, 1], domain) == expected
    assert exact_values(scalar(lambda x: 10.0 * x[0] + x[1]), domain) == expected


def test_integers_and_fractions_are_not_rounded() -> None:
    big = np.array([2**53 + 1, 2**53])
    assert exact_values(big, Hypercube(1)) == [2**53 + 1, 2**53]
    thirds = np.array([Fraction(1, 3), Fraction(4, 3)], dtype=object)
    assert exact_values(thirds, Hypercube(1)) == [Fraction(1, 3), Fraction(4, 3)]
    boxed = np.array([np.int64(3), np.float64(0.5)], dtype=object)
    assert [type(value) for value in exact_values(boxed, Hypercube(1))] == [int, float]


def test_bad_functions() -> None:
    with pytest.raises(InputError, match="shape"):
        exact_values(np.zeros(3), Hypercube(2))
    with pytest.raises(FunctionError, match="nan"):
        exact_values(np.array([0.0, np.nan], dtype=object), Hypercube(1))
    with pytest.raises(FunctionError, match="inf"):
        exact_values(lambda x: np.full(len(x), np.inf), Hypercube(1))


def test_too_many_points() -> None:
    with pytest.raises(BudgetError, match="check_lipschitz") as caught:
        exact_values(lambda x: x[:, 0], Hypercube(21))
    assert caught.value.needed == 2**21
    assert caught.value.budget == MAX_POINTS


def test_masses_are_exact_products() -> None:
    law = ProductDistribution(RecordGrid([3, 2]), [[0.2, 0.3, 0.5], [1.0, 0.0]])
    points = law.domain.points(np.arange(6))
    masses, denominator = exact_masses(law, points)
    assert [Fraction(m, denominator) for m in masses] == [law.exact_mass(p) for p in points]
    assert sum(masses) == denominator
    assert masses[1] == 0


def test_masses_of_other_laws_are_their_floats() -> None:
    logs = np.log([0.1, 0.2, 0.3, 0.4])
    domain = Hypercube(2)
    law = SampledDistribution(
        domain, lambda n, rng: np.zeros((n, 2)), lambda x: logs[domain.index(x)]
    )
    masses, denominator = exact_masses(law, domain.points(np.arange(4)))
    assert [m / denominator for m in masses] == np.exp(logs).tolist()
    with pytest.raises(InputError, match="log_mass"):
        exact_masses(SampledDistribution(domain, law.sampler), domain.points([0]))


def test_violation_limit_follows_the_tester() -> None:
    assert violation_limit(1.0, 0.0) == 1
    assert violation_limit(0.1, 0.0) == Fraction(0.1)
    assert violation_limit(1.0, 1e-9) == Fraction(1.0 * (1.0 + 1e-9) + 1e-9)
    for constant, tolerance in [(0.0, 0.0), (-1.0, 0.0), (1.0, -1e-9), (1.0, 1.0)]:
        with pytest.raises(InputError):
            violation_limit(constant, tolerance)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_envelopes_by_definition(domain: Domain) -> None:
    rng = np.random.default_rng(8)
    values = rng.integers(-9, 9, domain.sizes).astype(object)
    points = domain.points(np.arange(domain.size))
    reach = values.reshape(1, -1) + 2 * domain.distances(points, points).astype(object)
    lower = lower_envelope(values, domain, 2)
    assert lower.reshape(-1).tolist() == reach.min(axis=1).tolist()


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_line_envelopes_stay_on_their_lines(domain: Domain) -> None:
    rng = np.random.default_rng(9)
    table = ExactTable.of(rng.integers(-9, 9, domain.sizes), domain, Fraction(1))
    for r in range(domain.dimension):
        lower, upper = line_envelopes(table, r)
        for point in domain.points(np.arange(domain.size)):
            line = domain.line(point, r)
            values = [table.numerators[tuple(p)] for p in line]
            hops = domain.distance(np.repeat(point[None], len(line), axis=0), line).tolist()
            reached = list(zip(values, hops, strict=True))
            assert lower[tuple(point)] == min(v + h for v, h in reached)
            assert upper[tuple(point)] == max(v - h for v, h in reached)
