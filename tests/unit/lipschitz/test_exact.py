"""Exact distance: hand-computed cases, ties, masses of zero, bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import BudgetError, InputError
from liptest.lipschitz.covers import minimum_cover_of_pairs
from liptest.lipschitz.distance import Distance, distance_to_lipschitz
from liptest.lipschitz.oracles import scalar


def uniform(d: int) -> ProductDistribution:
    return ProductDistribution.uniform(Hypercube(d))


def test_violated_edges_alone_are_not_enough() -> None:
    """A ball of radius 1 raised by 4: every inside point violates every outside point."""
    law = uniform(3)
    points = law.domain.points(np.arange(8))
    function = np.where(points.sum(axis=1) <= 1, 4.0, 0.0).reshape(2, 2, 2)
    found = distance_to_lipschitz(function, law)
    assert found.value == Fraction(1, 2)
    assert found.violated_pairs == 16
    edges = [
        [i, i | 1 << r]
        for i in range(8)
        for r in range(3)
        if function.flat[i] > 0 and not i >> r & 1
    ]
    boundary = [(i, j) for i, j in edges if function.flat[j] == 0]
    assert minimum_cover_of_pairs(law, boundary).value == Fraction(3, 8)


def test_parity_times_a_large_number() -> None:
    found = distance_to_lipschitz(lambda x: 100.0 * (x.sum(axis=1) % 2), uniform(10))
    assert found.value == Fraction(1, 2)
    assert len(found.cover) == 512


def test_one_spike_costs_its_own_mass() -> None:
    law = ProductDistribution.bernoulli([0.1, 0.2, 0.3])
    spike = scalar(lambda x: 50.0 * float(x.all()))
    found = distance_to_lipschitz(spike, law)
    assert found.value == law.exact_mass([1, 1, 1])
    assert found.cover.tolist() == [7]
    assert found.value == found.lower == found.upper


def test_lipschitz_functions_have_distance_zero() -> None:
    for domain in (Hypercube(4), Hypergrid([5, 3]), RecordGrid([4, 3])):
        law = ProductDistribution.uniform(domain)
        found = distance_to_lipschitz(lambda x: x[:, 0] * 1.0, law, lipschitz_constant=3.0)
        assert found.value == 0
        assert found.cover.tolist() == []


def test_ties_are_decided_exactly() -> None:
    law = uniform(1)
    assert distance_to_lipschitz(np.array([0.0, 1.0]), law).value == 0
    assert distance_to_lipschitz(np.array([0.0, np.nextafter(1.0, 2)]), law).value == Fraction(1, 2)
    # 1.1 - 0.1 exceeds 1 as a rational, though its float difference is 1.0.
    assert distance_to_lipschitz(np.array([0.1, 1.1]), law).value == Fraction(1, 2)
    tenths = np.array([Fraction(1, 10), Fraction(11, 10)], dtype=object)
    assert distance_to_lipschitz(tenths, law).value == 0


def test_ties_at_large_values() -> None:
    grid = ProductDistribution.uniform(Hypergrid([3]))
    table = np.array([2**60, 2**60 + 1, 2**60 + 3])
    assert distance_to_lipschitz(table, grid).value == Fraction(1, 3)
    assert distance_to_lipschitz(table - np.array([0, 0, 1]), grid).value == 0


def test_tolerance_is_that_of_the_tester() -> None:
    function = np.array([0.0, 1.0 + 1e-9])
    assert distance_to_lipschitz(function, uniform(1)).value == Fraction(1, 2)
    assert distance_to_lipschitz(function, uniform(1), tolerance=1e-9).value == 0
    assert distance_to_lipschitz(2 * function, uniform(1), lipschitz_constant=2.0).value > 0


def test_points_of_mass_zero_cost_nothing_but_are_covered() -> None:
    law = ProductDistribution.bernoulli([0.5, 0.0])
    function = np.array([[0.0, 9.0], [0.0, 9.0]])
    found = distance_to_lipschitz(function, law)
    assert found.value == 0
    assert found.violated_pairs == 4
    assert found.cover.tolist() == [1, 3]
    other = np.array([[0.0, -7.0], [0.0, 2.0]])
    assert distance_to_lipschitz(other, law).value == 0


def test_other_laws_need_masses() -> None:
    domain = Hypercube(1)
    logs = np.log([0.25, 0.75])
    law = SampledDistribution(domain, lambda n, rng: np.zeros((n, 1)), lambda x: logs[x[:, 0]])
    assert distance_to_lipschitz(np.array([0.0, 5.0]), law).value == Fraction(np.exp(logs[0]))
    with pytest.raises(InputError, match="log_mass"):
        distance_to_lipschitz(np.array([0.0, 5.0]), SampledDistribution(domain, law.sampler))


def test_bounds_above_the_affordable_size() -> None:
    # The raised ball again: its edges need 3/8, all pairs 1/2.
    function = scalar(lambda x: 4.0 * (x.sum() <= 1))
    found = distance_to_lipschitz(function, uniform(3), max_pairs=15)
    assert found.value is None
    assert found.lower == Fraction(3, 8)
    assert Fraction(1, 2) <= found.upper < 1
    assert found.violated_pairs is None
    assert str(found).startswith("0.375 <= distance <= ")
    assert distance_to_lipschitz(function, uniform(3), max_pairs=16).value == Fraction(1, 2)


def test_bounds_that_meet_are_a_value() -> None:
    law = ProductDistribution.bernoulli([0.5, 0.5])
    spike = np.array([[0.0, 0.0], [0.0, 9.0]])
    found = distance_to_lipschitz(spike, law, max_pairs=0)
    assert found.value == Fraction(1, 4)


def test_arguments() -> None:
    with pytest.raises(BudgetError):
        distance_to_lipschitz(lambda x: x[:, 0], uniform(21))
    with pytest.raises(InputError, match="max_pairs"):
        distance_to_lipschitz(np.zeros(2), uniform(1), max_pairs=-1)
    with pytest.raises(InputError, match="distribution"):
        distance_to_lipschitz(np.zeros(2), Hypercube(1))  # type: ignore[arg-type]


def test_json_both_ways_and_print() -> None:
    found = distance_to_lipschitz(np.array([0.0, 5.0]), uniform(1))
    again = Distance.from_json(found.to_json())
    assert (again.value, again.lower, again.upper) == (found.value, found.lower, found.upper)
    assert again.cover.tolist() == found.cover.tolist()
    assert str(found).startswith("distance 0.5 ")
    bounded = distance_to_lipschitz(np.array([0.0, 5.0]), uniform(1), max_pairs=0)
    assert Distance.from_json(bounded.to_json()).lower == bounded.lower
