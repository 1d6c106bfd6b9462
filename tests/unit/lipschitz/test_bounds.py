"""Bounds on the distance where the flow is too large."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.lipschitz.covers import ExactTable, exact_masses
from liptest.lipschitz.distance import bounds, distance_to_lipschitz, find_violated_edges
from liptest.lipschitz.repair import mcshane


def test_theory_2_4_on_one_violated_direction() -> None:
    # Only direction 0 is violated, always: V_0 = 1, s_0 = 1/8, v_0 = 7/64.
    law = ProductDistribution.bernoulli([0.125, 0.5, 0.5])
    function = np.zeros((2, 2, 2))
    function[1] = 9.0
    for max_edges in (0, 4):
        lower, upper, cover = bounded(function, law, max_edges)
        assert lower == upper == Fraction(1, 8)
        # The theorem alone gives 4 v_0 V_0 = 7/16; the cover x_0 = 1 is lighter.
        assert cover.tolist() == [4, 5, 6, 7]


def test_violated_edges_are_all_found() -> None:
    table = ExactTable.of(np.array([[0, 0, 5], [0, 2, 4]]), Hypergrid([2, 3]), Fraction(1))
    assert sorted(find_violated_edges(table).tolist()) == [[1, 2], [1, 4], [3, 4], [4, 5]]
    records = ExactTable.of(np.array([0, 0, 5]), RecordGrid([3]), Fraction(1))
    assert sorted(find_violated_edges(records).tolist()) == [[0, 2], [1, 2]]


def bounded(
    function: np.ndarray, law: ProductDistribution, max_edges: int
) -> tuple[Fraction, Fraction, np.ndarray]:
    table = ExactTable.of(function, law.domain, Fraction(1))
    masses, denominator = exact_masses(law, law.domain.points(np.arange(law.domain.size)))
    found = bounds(table, law, masses, max_edges=max_edges)
    return found.lower / denominator, found.upper / denominator, found.cover


def test_the_theorem_beats_covers_by_ends() -> None:
    # Two far spikes, one up, one down: every other point is an end of a violated pair.
    law = ProductDistribution.uniform(Hypercube(6))
    function = np.zeros((2,) * 6)
    function[0, 0, 0, 0, 0, 0], function[1, 1, 1, 1, 1, 1] = 100.0, -100.0
    lower, upper, cover = bounded(function, law, max_edges=0)
    # V_r = 2/32 in each of six directions, v_r = 1/4.
    assert upper == 4 * 6 * Fraction(1, 4) * Fraction(2, 32)
    assert lower == Fraction(2, 64)
    assert len(cover) == 63


def test_cover_of_the_edges_finds_spikes() -> None:
    law = ProductDistribution.uniform(Hypercube(6))
    function = np.zeros((2,) * 6)
    function[0, 0, 0, 0, 0, 0], function[1, 1, 1, 1, 1, 1] = 100.0, -100.0
    lower, upper, cover = bounded(function, law, max_edges=12)
    assert lower == upper == Fraction(2, 64)
    assert cover.tolist() == [0, 63]


@pytest.mark.slow
def test_spikes_on_a_large_cube_are_exact() -> None:
    # All points are ends of violated pairs, far too many to compare; 5 edges decide.
    law = ProductDistribution.bernoulli(np.full(15, 0.1))
    function = np.zeros(law.domain.sizes)
    function[(0,) * 15] = 100.0
    function[(1,) * 15] = -100.0
    found = distance_to_lipschitz(function, law)
    ends = [law.exact_mass([0] * 15), law.exact_mass([1] * 15)]
    assert found.value == sum(ends)
    assert found.violated_pairs is None


@pytest.mark.parametrize("max_edges", [0, 10**6])
@pytest.mark.parametrize(
    "domain", [Hypercube(5), Hypergrid([6, 5]), RecordGrid([5, 6]), Hypergrid([30])], ids=repr
)
def test_bounds_contain_exact_distances_of_larger_domains(domain: Domain, max_edges: int) -> None:
    rng = np.random.default_rng(12)
    for _ in range(10):
        weights = [rng.random(n) for n in domain.sizes]
        law = ProductDistribution(domain, [w / w.sum() for w in weights])
        function = np.where(rng.random(domain.sizes) < 0.15, 3 * rng.random(domain.sizes), 0.0)
        exact = distance_to_lipschitz(function, law).value
        lower, upper, cover = bounded(function, law, max_edges)
        assert exact is not None
        assert exact / 4 <= lower <= exact <= upper
        kept = np.setdiff1d(np.arange(domain.size), cover)
        extended = mcshane(function, domain, cover)
        assert all(extended.flat[i] == function.flat[i] for i in kept)


def test_laws_without_product_form_have_bounds_too() -> None:
    domain = Hypercube(2)
    masses = np.array([0.4, 0.1, 0.1, 0.4])
    law = SampledDistribution(
        domain, lambda n, rng: np.zeros((n, 2)), lambda x: np.log(masses)[domain.index(x)]
    )
    function = np.array([[0.0, 9.0], [0.0, 0.0]])
    exact = distance_to_lipschitz(function, law)
    found = distance_to_lipschitz(function, law, max_pairs=0)
    assert found.lower <= exact.lower == exact.upper <= found.upper


def test_whole_numbers_beyond_machine_words_on_a_line() -> None:
    """A lone Python int between 2**63 and 2**64 would become a float inside NumPy."""
    law = ProductDistribution.uniform(Hypergrid([3]))
    base = 2**63
    table = np.array([base, base + 1, base + 3], dtype=object)
    for shift in (0, -base, base, 2**70):
        found = distance_to_lipschitz(table + shift, law)
        assert found.violated_pairs == 2
        assert found.value == Fraction(1, 3)
        bounded = distance_to_lipschitz(table + shift, law, max_pairs=0)
        assert bounded.lower == Fraction(1, 3)
