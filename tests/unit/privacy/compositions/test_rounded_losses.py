"""Lower bounds by losses that a coin moves onto a grid, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, fmpz, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.compositions.rounded_losses import RoundedLosses, round_together
from liptest.privacy.divergences.likelihoods import LikelihoodPair

weights = st.lists(st.integers(1, 40), min_size=2, max_size=4)


@st.composite
def masses(draw):
    p = draw(weights)
    q = draw(st.lists(st.integers(0, 40), min_size=len(p), max_size=len(p)).filter(any))
    return [(Fraction(a, sum(p)), Fraction(b, sum(q))) for a, b in zip(p, q, strict=True)]


def powers(pairs, k):
    found = [(Fraction(1), Fraction(1))]
    for _ in range(k):
        found = [(p * a, q * b) for p, q in found for a, b in pairs]
    return found


def stick(pairs, gamma):
    return float(sum((max(Fraction(0), p - gamma * q) for p, q in pairs), Fraction(0)))


@pytest.mark.slow
@given(masses(), st.integers(1, 4), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_it_is_never_above_the_exact_value(pairs, releases, bits):
    pair = LikelihoodPair.of_masses(pairs)
    found = round_together([(pair, releases)], Fraction(1, 1 << bits))
    every = powers(pairs, releases)
    for gamma in (Fraction(1), Fraction(3, 2), Fraction(4), Fraction(40)):
        exact = stick(every, gamma)
        epsilon = math.log(gamma)
        assert found.delta_at(epsilon) <= exact * (1 + 1e-12) + 1e-15
        if exact > 1e-6:
            assert found.epsilon_at(exact) <= epsilon * (1 + 1e-9) + 1e-9


@pytest.mark.slow
@given(masses(), masses())
@settings(max_examples=30, deadline=None)
def test_different_pairs_together(one, other):
    pairs = [LikelihoodPair.of_masses(side) for side in (one, other)]
    found = round_together([(pairs[0], 2), (pairs[1], 1)], Fraction(1, 64))
    every = [(p * a, q * b) for p, q in powers(one, 2) for a, b in other]
    for gamma in (Fraction(1), Fraction(5, 2)):
        assert found.delta_at(math.log(gamma)) <= stick(every, gamma) * (1 + 1e-12) + 1e-15


@pytest.mark.slow
def test_the_gap_is_of_the_second_order():
    pairs = [
        (Fraction(5, 17), Fraction(3, 19)),
        (Fraction(7, 17), Fraction(5, 19)),
        (Fraction(3, 17), Fraction(4, 19)),
        (Fraction(2, 17), Fraction(7, 19)),
    ]
    pair, releases = LikelihoodPair.of_masses(pairs), 20
    deltas = [
        round_together([(pair, releases)], Fraction(1, 1 << bits)).delta_at(5.0)
        for bits in (4, 5, 6, 7, 11)
    ]
    gaps = [deltas[-1] - one for one in deltas[:-1]]
    assert all(gap > 0 for gap in gaps)
    # Four steps of a half: 4^3 between the first and the last but one, roughly.
    assert gaps[0] / gaps[3] > 30


def test_products_are_rounded_to_the_safe_side():
    """What the library's division of polynomials does is relied on."""
    poly = fmpz_poly([5, 0, 7, 8])
    assert [int(one) for one in (poly // fmpz(4)).coeffs()] == [1, 0, 1, 2]
    big = fmpz_poly([(1 << 400) + 3, 1]) // fmpz(1 << 399)
    assert [int(one) for one in big.coeffs()] == [2]


def test_outputs_of_one_side_only_count_in_full():
    pair = LikelihoodPair.of_masses([(Fraction(1, 2), Fraction(1)), (Fraction(1, 2), Fraction(0))])
    found = RoundedLosses.of_pair(pair, Fraction(1, 8)).power(3)
    assert found.delta_at(2.0) == pytest.approx(7 / 8)
    # Mass that is not accounted for may hide it.
    hidden = LikelihoodPair(
        None,
        lambda: [(arb(0.5), arb(0.875).union(arb(1)))],
        Fraction(1, 2),
        open_right=Fraction(1, 8),
    )
    assert RoundedLosses.of_pair(hidden, Fraction(1, 8)).delta_at(2.0) == 0.0


@pytest.mark.slow
def test_100_releases_without_a_lattice_are_known_to_a_millionth():
    """Five outputs whose losses have no common measure, and Laplace noise."""
    table = [[62, 57, 50, 90, 41], [41, 90, 50, 57, 62]]

    def answer(data, rng):
        left = int(rng.integers(0, 300))
        for k, weight in enumerate(table[int(data[0])]):
            if left < weight:
                return k
            left -= weight
        raise AssertionError

    def laplace(data, rng):
        return data[0] + rng.laplace(0.0, 4.0)

    for program, deltas in ((answer, (1e-3,)), (laplace, (1e-3, 1e-6))):
        found = lt.compose([lt.mechanism(program)], releases=100, domain=lt.Hypercube(1))
        for delta in deltas:
            at = found.epsilon_at(delta)
            assert at.lower < at.upper < at.lower * (1 + 1e-6)
    # The sum of 100 Laplace losses is nearly normal: mean and variance by hand.
    mean = 100 * (0.25 + math.exp(-0.25) - 1)
    assert mean < at.lower < mean + 100 * 0.25
