"""Minimum-weight covers: exact where promised, honest bounds elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.errors import InputError
from liptest.lipschitz.covers import Cover, minimum_cover, minimum_cover_of_pairs


def neighbouring_pairs(domain: Domain) -> np.ndarray:
    points = domain.points(np.arange(domain.size))
    rows, coordinates, values = domain.neighbour_changes(points)
    others = points[rows]
    others[np.arange(len(rows)), coordinates] = values
    return np.stack([rows, domain.index(others)], axis=1)


def path_cover(weights: list[Fraction], bad: list[bool]) -> Fraction:
    """Minimum-weight cover of a path; bad[k] says whether (k, k + 1) is an edge."""
    without, with_it = Fraction(0), weights[0]
    for weight, edge in zip(weights[1:], bad, strict=True):
        without, with_it = (
            with_it if edge else min(without, with_it),
            weight + min(without, with_it),
        )
    return min(without, with_it)


def test_path_takes_the_lighter_way() -> None:
    cover = minimum_cover([[0, 1], [1, 2]], [2, 3, 2])
    assert cover.value == 3
    assert cover.members.tolist() == [1]
    assert minimum_cover([[0, 1], [1, 2]], [1, 3, 1]).members.tolist() == [0, 2]


def test_weights_of_any_kind_are_exact() -> None:
    assert minimum_cover([[0, 1]], [Fraction(1, 3), 0.1]).value == Fraction(0.1)
    assert minimum_cover([[0, 1]], [10**40, 10**40 + 1]).value == 10**40


def test_no_pairs() -> None:
    cover = minimum_cover([], [1, 2])
    assert cover.value == 0
    assert cover.members.tolist() == []
    nothing = minimum_cover_of_pairs(ProductDistribution.uniform(Hypercube(40)), [])
    assert nothing.value == 0


def test_a_few_pairs_of_a_domain_too_large_to_enumerate() -> None:
    law = ProductDistribution.bernoulli([0.25] * 40)
    cover = minimum_cover_of_pairs(law, [[0, 1], [0, 2]])
    assert cover.members.tolist() == [1, 2]
    assert cover.value == 2 * Fraction(1, 4) * Fraction(3, 4) ** 39


def test_triangle_has_bounds_only() -> None:
    cover = minimum_cover([[0, 1], [1, 2], [2, 0]], [1, 1, 1])
    assert cover.value is None
    assert (cover.lower, cover.upper) == (Fraction(3, 2), 2)
    assert len(cover.members) == 2


def test_triangle_as_a_chain_is_exact() -> None:
    cover = minimum_cover([[0, 1], [1, 2], [0, 2]], [1, 1, 5], transitive=True)
    assert cover.value == 2
    assert cover.members.tolist() == [0, 1]


def test_weightless_vertices_without_pairs_stay_out() -> None:
    assert minimum_cover([[0, 1]], [1, 1, 0], transitive=True).members.tolist() in ([0], [1])


def test_relation_that_is_not_transitive_is_refused() -> None:
    with pytest.raises(InputError, match="0 is above 1"):
        minimum_cover([[0, 1], [1, 2]], [1, 1, 1], transitive=True)
    with pytest.raises(InputError, match="transitive"):
        minimum_cover([[0, 1], [1, 0]], [1, 1], transitive=True)


@pytest.mark.parametrize("d", [1, 4, 6])
@pytest.mark.parametrize("p", [0.5, 0.1])
def test_count_mechanisms_have_the_cover_of_a_path(d: int, p: float) -> None:
    """Theory 3.8b: a bad step of a count makes whole levels bad, a path of d + 1 levels."""
    law = ProductDistribution.bernoulli([p] * d)
    pairs = neighbouring_pairs(law.domain)
    counts = law.domain.points(np.arange(2**d)).sum(axis=1)
    exact = Fraction(p)
    weights = [math.comb(d, k) * exact**k * (1 - exact) ** (d - k) for k in range(d + 1)]
    for pattern in range(2**d):
        bad = [bool(pattern >> k & 1) for k in range(d)]
        lower_count = counts[pairs].min(axis=1)
        cover = minimum_cover_of_pairs(law, pairs[np.array(bad)[lower_count]])
        assert cover.value == path_cover(weights, bad)


def test_all_pairs_of_a_grid_cost_the_lighter_parity() -> None:
    law = ProductDistribution(Hypergrid([3, 3]), [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    cover = minimum_cover_of_pairs(law, neighbouring_pairs(law.domain))
    points = law.domain.points(np.arange(9))
    even = sum(law.exact_mass(p) for p in points if int(p.sum()) % 2 == 0)
    assert cover.value == 1 - even
    assert even == Fraction(5, 8)
    assert {int(points[i].sum()) % 2 for i in cover.members} == {1}


def test_replaced_records_have_bounds() -> None:
    law = ProductDistribution.uniform(RecordGrid([3, 3]))
    cover = minimum_cover_of_pairs(law, neighbouring_pairs(law.domain))
    assert cover.value is None
    assert cover.lower <= Fraction(2, 3) <= cover.upper
    assert cover.lower == Fraction(1, 2)
    assert cover.upper == Fraction(2, 3)


def test_mass_zero_costs_nothing() -> None:
    law = ProductDistribution.bernoulli([0.0, 0.3])
    cover = minimum_cover_of_pairs(law, [[0, 2], [1, 3], [2, 3]])
    assert cover.value == 0
    assert cover.members.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 0]], "two different"),
        ([[0, 4]], r"0 \.\. 3"),
        ([[-1, 2]], r"pairs\[0\]"),
        ([[0, 1, 2]], "shape"),
        ([[0.5, 1.0]], "dtype"),
    ],
)
def test_bad_pairs(pairs: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        minimum_cover(pairs, [1, 1, 1, 1])
    with pytest.raises(InputError, match=message):
        minimum_cover_of_pairs(ProductDistribution.uniform(Hypercube(2)), pairs)


@pytest.mark.parametrize("weights", [[1, -1], [1, math.nan], [1, math.inf], [1, "a"]])
def test_bad_weights(weights: list[object]) -> None:
    with pytest.raises(InputError, match="weights"):
        minimum_cover([[0, 1]], weights)


def test_json_both_ways() -> None:
    cover = minimum_cover([[0, 1]], [Fraction(1, 3), 1])
    again = Cover.from_json(cover.to_json())
    assert (again.lower, again.upper) == (Fraction(1, 3), Fraction(1, 3))
    assert again.members.tolist() == [0]
