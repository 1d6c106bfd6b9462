"""Divergences and mu of laws that are known as balls: every law inside is enclosed, and tightly."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.noise_likelihoods import GaussianOrders
from liptest.privacy.divergences.renyi import PairOrders, SumOfOrders, enclose_rho, refute_rho
from liptest.privacy.divergences.tradeoff import (
    _hull_bound,
    enclose_mu,
    gaussian_quantile,
    largest_of_corners,
    mu_of_corners,
)
from tests.unit.privacy.divergences.test_divergences import corners, divergence, laws

Law = list[Fraction]


def _pair(p: Law, q: Law) -> LikelihoodPair:
    return LikelihoodPair.of_masses(list(zip(p, q, strict=True)))


def _in_balls(p: Law, q: Law, radius: float, **more: Fraction) -> LikelihoodPair:
    """Atoms whose balls hold these probabilities near one end, never in the middle."""

    def ball(value: Fraction, turn: int) -> arb:
        return exact_ball(value + turn * Fraction(radius) * 9 / 10) + arb(0, radius)

    def atoms() -> list[tuple[arb, arb]]:
        turns = [(1, -1), (-1, 1), (1, 1), (-1, -1)]
        both = zip(p, q, strict=True)
        return [
            (ball(a, turns[k % 4][0]), ball(b, turns[k % 4][1])) for k, (a, b) in enumerate(both)
        ]

    return LikelihoodPair(None, atoms, **more)


@settings(max_examples=40)
@given(laws(1), st.sampled_from([1e-30, 1e-12, 1e-4, 0.01, 0.2]), st.sampled_from([1.25, 2.0, 7.0]))
def test_every_order_is_enclosed(pair: tuple[Law, Law], radius: float, order: float) -> None:
    orders = PairOrders(_in_balls(*pair, radius))
    with precision(192):
        low, high = (float(end) for end in orders.renyi(Fraction(order)))
        first = [float(end) for end in orders.kullback_leibler()]
        top = float(orders.largest_loss())
    true = divergence(*pair, order)
    assert low - 1e-12 <= true <= high + 1e-12
    assert first[0] - 1e-12 <= divergence(*pair, 1) <= first[1] + 1e-12
    assert top >= max(math.log(a / b) for a, b in zip(*pair, strict=True)) - 1e-12
    if radius <= 1e-12:
        assert high - low < 1e-6


def test_atoms_that_may_be_impossible_are_counted_on_both_sides() -> None:
    # The second atom may have probability 0 under the first law, and has more under the other.
    with precision(192):
        sure = (arb(0.75), arb(0.5))
        maybe = (arb(0.125, 0.125), arb(0.375, 0.125))
        orders = PairOrders(LikelihoodPair(None, lambda: [sure, maybe]))
        low, high = (float(end) for end in orders.renyi(Fraction(2)))
    assert low <= math.log(0.75**2 / 0.5) + 1e-12
    assert low >= math.log(0.75**2 / 0.5) - 1e-12, "what is sure counts from below"
    assert high == pytest.approx(math.log(0.75**2 / 0.5 + 0.25**2 / 0.25))
    with precision(192):
        both = (arb(0.25, 0.125), arb(0.125, 0.125))
        orders = PairOrders(LikelihoodPair(None, lambda: [sure, both]))
        low, high = (float(end) for end in orders.renyi(Fraction(2)))
    # The other law may not have it at all: no bound from above, some from below.
    assert low == pytest.approx(math.log(0.75**2 / 0.5 + 0.125**2 / 0.25))
    assert math.isinf(high)
    with precision(192):
        never = (arb(0), arb(0.375, 0.125))
        orders = PairOrders(LikelihoodPair(None, lambda: [sure, never]))
        ends = [float(end) for end in orders.renyi(Fraction(2))]
    assert ends == pytest.approx([math.log(0.75**2 / 0.5)] * 2)


@pytest.mark.slow
@given(laws(1), st.sampled_from([Fraction(1025, 1024), Fraction(3, 2), Fraction(4)]))
def test_curvature_bounds_the_second_derivative(pair: tuple[Law, Law], end: Fraction) -> None:
    p, q = pair
    logs = np.log(np.array([[float(a), float(b)] for a, b in zip(p, q, strict=True)]))
    losses = logs[:, 0] - logs[:, 1]
    variances = []
    for order in np.linspace(1.0, float(end), 12):
        weights = np.exp(logs[:, 1] + order * losses)
        weights /= weights.sum()
        variances.append(float(weights @ (losses - weights @ losses) ** 2))
    with precision(192):
        orders = PairOrders(_pair(p, q))
        found = float(orders.curvature(end))
        twice = float(SumOfOrders([orders, orders]).curvature(end))
    assert found >= max(variances) - 1e-12
    assert twice == pytest.approx(2 * found)
    if end < 2:
        assert found <= max(variances) * 2 + 1e-9
    if end == Fraction(1025, 1024):
        assert found <= max(variances) * 1.02 + 1e-9


@pytest.mark.slow
@settings(max_examples=40)
@given(laws(1))
def test_rho_is_enclosed_to_nine_digits(pair: tuple[Law, Law]) -> None:
    found = enclose_rho(PairOrders(_pair(*pair)))
    assert float(found.upper) <= float(found.lower) * (1 + 1.1e-9) + 1e-300


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (["9/10", "1/10"], ["9/20", "11/20"]),  # largest at order 1
        (["1/10", "9/10"], ["1/2", "1/2"]),
        (["1/2", "1/2"], ["1/10", "9/10"]),
        (["1/1000", "999/1000"], ["1/100000", "99999/100000"]),  # far above 1
        (["3/4", "1/4"], ["1/4", "3/4"]),
        (["1/5", "3/10", "1/2"], ["1/2", "1/5", "3/10"]),
    ],
)
@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-8])
def test_rho_is_decided_close_to_the_line(p: list[str], q: list[str], share: float) -> None:
    orders = PairOrders(_pair([Fraction(one) for one in p], [Fraction(one) for one in q]))
    found = enclose_rho(orders)
    above, below = (Fraction(float(end)) for end in (found.upper, found.lower))
    assert refute_rho(orders, above * Fraction(1 + share))[0] is False
    answer, order, (low, _) = refute_rho(orders, below * Fraction(1 - share))
    assert answer is True
    assert order > 1, "a claim is about orders above 1"
    assert float(low) > float(below) * (1 - share) * float(order) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (["1/1000", "999/1000"], ["1/100000", "99999/100000"]),
        (["1/100", "99/100"], ["1/10000", "9999/10000"]),
        (["1/50", "1/100", "97/100"], ["1/10000", "1/2000", "9994/10000"]),
    ],
)
@pytest.mark.parametrize("radius", [0.0, 1e-12, 1e-7])
def test_rho_that_is_reached_between_the_first_orders(
    p: list[str], q: list[str], radius: float
) -> None:
    first, second = ([Fraction(one) for one in law] for law in (p, q))
    pair = _pair(first, second) if not radius else _in_balls(first, second, radius)
    found = enclose_rho(PairOrders(pair))
    orders = [1 + 2.0 ** (k / 64) for k in range(-600, 320)]
    true = max(divergence(first, second, order) / order for order in orders)
    assert float(found.upper) >= true * (1 - 1e-12)
    assert float(found.lower) <= true * (1 + 1e-5)
    if not radius:
        assert float(found.upper) <= true * (1 + 1e-5)
    line = Fraction(true)
    assert refute_rho(PairOrders(pair), line * Fraction(9, 10))[0] is True
    assert refute_rho(PairOrders(pair), line * Fraction(11, 10))[0] in (False, None)
    assert refute_rho(PairOrders(pair), line * Fraction(11, 10))[0] is False or radius > 1e-9


def test_the_largest_loss_of_balls_is_that_of_their_ends() -> None:
    with precision(192):
        atoms = [(arb(0.5, 0.125), arb(0.25, 0.125)), (arb(0.5, 0.125), arb(0.75, 0.125))]
        top = float(PairOrders(LikelihoodPair(None, lambda: atoms)).largest_loss())
    assert top == pytest.approx(math.log(0.625 / 0.125))


def test_a_sum_has_a_known_rho_only_where_all_parts_have_one() -> None:
    plain = PairOrders(_pair([Fraction(1, 3), Fraction(2, 3)], [Fraction(2, 3), Fraction(1, 3)]))
    known = GaussianOrders(Fraction(2), 1)
    both = known.known_rho()
    assert both is not None
    assert SumOfOrders([known, known]).known_rho() == 2 * both
    assert SumOfOrders([known, plain]).known_rho() is None
    assert SumOfOrders([plain, plain]).known_rho() is None


def test_a_claim_that_holds_everywhere_is_proved_without_a_gap() -> None:
    same = PairOrders(_pair([Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 3), Fraction(2, 3)]))
    assert refute_rho(same, Fraction(1, 10**9))[0] is False
    found = enclose_rho(same)
    assert (float(found.lower), float(found.upper)) == (0.0, 0.0)


@settings(max_examples=40)
@given(laws(1), st.sampled_from([1e-30, 1e-15]))
def test_mu_of_narrow_balls_is_that_of_what_they_hold(pair: tuple[Law, Law], radius: float) -> None:
    true = corners(*pair)
    found = enclose_mu(_in_balls(*pair, radius))
    assert float(found.lower) - 1e-6 <= true <= float(found.upper) + 1e-12
    assert float(found.lower) <= float(found.upper)
    assert float(found.lower) == pytest.approx(true, abs=1e-6)
    assert float(found.upper) == pytest.approx(true, abs=1e-5)


@pytest.mark.slow
@settings(max_examples=60)
@given(laws(1), st.sampled_from([1e-30, 1e-15]))
def test_lines_above_a_curve_touch_it(pair: tuple[Law, Law], radius: float) -> None:
    with precision(192):
        atoms = _in_balls(*pair, radius).in_balls()
        atoms.sort(key=lambda atom: float((atom[0] / atom[1]).mid()), reverse=True)
        found = float(_hull_bound(atoms))
    true = corners(*pair)
    assert true - 1e-12 <= found <= true + 1e-5


@pytest.mark.slow
@given(laws(1), st.sampled_from([0.0, 1e-30, 1e-3]))
def test_each_corner_is_that_of_the_outputs_before_it(pair: tuple[Law, Law], radius: float) -> None:
    both = sorted(zip(*pair, strict=True), key=lambda atom: atom[0] / atom[1], reverse=True)
    p, q = ([atom[side] for atom in both] for side in (0, 1))
    normal = NormalDist()
    true = [
        normal.inv_cdf(float(sum(p[:k]))) - normal.inv_cdf(float(sum(q[:k])))
        for k in range(1, len(p))
    ]
    with precision(192):
        exact = [(exact_ball(a), exact_ball(b)) for a, b in both]
        atoms = _in_balls(p, q, radius).in_balls() if radius else exact
        found, best = mu_of_corners(atoms), largest_of_corners(atoms)
    assert len(found) == len(true)
    for mu, expected in zip(found, true, strict=True):
        assert float(mu.lower()) - 1e-9 <= expected <= float(mu.upper()) + 1e-9
    largest = max([0.0, *true])
    assert float(best.lower) - 1e-9 <= largest <= float(best.upper) + 1e-9
    if radius <= 1e-30:
        assert float(best.upper) == pytest.approx(float(best.lower), abs=1e-12)
    if largest > 0.2 and not radius:
        masses = [float(mass) for mass in best.masses]
        k = next(k for k in range(1, len(p)) if masses[0] == pytest.approx(float(sum(p[:k]))))
        assert masses[1] == pytest.approx(float(sum(q[:k])))
        assert float(best.ratio) == pytest.approx(float(p[k - 1] / q[k - 1]))


def test_a_corner_that_is_not_known_leaves_the_largest_without_a_bound() -> None:
    with precision(192):
        known = [(arb(0.6), arb(0.2)), (arb(0.3), arb(0.3)), (arb(0.1), arb(0.5))]
        # What is left beyond the second corner may be nothing at all.
        open_ended = [*known[:2], (arb(0.1, 0.2), arb(0.5))]
        found = largest_of_corners(open_ended)
        [first, second] = mu_of_corners(known)
    assert math.isinf(float(found.upper))
    assert 0 <= float(found.lower) <= float(first)
    assert float(second) > float(first), "the larger corner is the one that is not known"


def test_what_is_impossible_on_one_side_leaves_mu_without_a_bound() -> None:
    with precision(192):
        atoms = [(arb(0.5), arb(0.25)), (arb(0.5), arb(0.5)), (arb(0), arb(0.25))]
        there = enclose_mu(LikelihoodPair(None, lambda: atoms))
        back = enclose_mu(LikelihoodPair(None, lambda: [(q, p) for p, q in atoms]))
    assert math.isinf(float(there.upper))
    assert math.isinf(float(back.upper))


@settings(max_examples=60)
@given(st.integers(5, 95), st.integers(5, 95), st.sampled_from([1e-30, 1e-9, 1e-3, 0.02]))
def test_mu_of_balls_is_that_of_the_laws_in_them_that_lie_farthest_apart(
    first: int, second: int, radius: float
) -> None:
    a, b = Fraction(max(first, second), 100), Fraction(min(first, second), 100)
    with precision(192):
        pair = [(a, b), (1 - a, 1 - b)]
        atoms = [(exact_ball(p) + arb(0, radius), exact_ball(q) + arb(0, radius)) for p, q in pair]
        found = float(_hull_bound(atoms))
        far = [exact_ball(a) + radius, exact_ball(b) - radius]
        ends = [gaussian_quantile(end, 1 - end) for end in far]
    assert found >= float(ends[0] - ends[1]) - 1e-12


def test_what_may_be_impossible_leaves_mu_without_a_bound() -> None:
    for one in (arb(0.125, 0.125), arb(0.0625, 0.125)):
        for atom in ((one, arb(0.25)), (arb(0.25), one)):
            atoms = [(arb(0.5), arb(0.25)), atom, (arb(0.25), arb(0.5))]
            with precision(192):
                found = enclose_mu(LikelihoodPair(None, lambda atoms=atoms: atoms))
            assert math.isinf(float(found.upper))


def test_a_part_counts_what_is_certain_inside_and_outside() -> None:
    part = Fraction(1, 50)
    p = [(arb(0.7, 0.01), arb(0.2, 0.01)), (arb(0.2, 0.01), arb(0.6, 0.01))]
    pair = LikelihoodPair(None, lambda: p, open_left=part, open_right=part)
    with precision(192):
        found = float(enclose_mu(pair).lower)
        inside = gaussian_quantile(arb(0.69), arb(0.31))
        outside = gaussian_quantile(arb(0.41), arb(0.59))
    assert found == pytest.approx(float(inside - outside), abs=1e-9)


@settings(max_examples=40)
@given(laws(1), st.sampled_from([1e-3, 0.02]))
def test_mu_of_wide_balls_is_enclosed(pair: tuple[Law, Law], radius: float) -> None:
    found = enclose_mu(_in_balls(*pair, radius))
    assert float(found.lower) - 1e-9 <= corners(*pair) <= float(found.upper) + 1e-9


@pytest.mark.slow
@settings(max_examples=25)
@given(laws(1), laws(1), st.integers(1, 40), st.sampled_from([1e-30, 1e-3]))
def test_mu_of_laws_known_in_part_is_a_lower_bound(
    pair: tuple[Law, Law], rest: tuple[Law, Law], share: int, radius: float
) -> None:
    """Whatever the rest is, on new outputs or on those that are listed."""
    part = Fraction(share, 400)
    seen = [[value * (1 - part) for value in law] for law in pair]
    found = enclose_mu(_in_balls(*seen, radius, open_left=part, open_right=part))
    assert math.isinf(float(found.upper))
    apart = [law + [value * part for value in more] for law, more in zip(seen, rest, strict=True)]
    assert float(found.lower) <= corners(*apart) + 1e-6
    # All of it on the output that the listed ones tell least of.
    for k in range(len(seen[0])):
        for turn in (False, True):
            ends = [list(law) for law in seen]
            ends[0][k] += part
            ends[1][-1 if turn else k] += part
            assert float(found.lower) <= corners(*ends) + 1e-6


def test_mu_of_a_part_is_hardly_less_where_little_is_open() -> None:
    part = Fraction(1, 10**9)
    p, q = [Fraction(3, 4), Fraction(1, 4) - part], [Fraction(1, 4), Fraction(3, 4) - part]
    found = enclose_mu(_in_balls(p, q, 1e-30, open_left=part, open_right=part))
    assert float(found.lower) == pytest.approx(corners(p, q), abs=1e-6)
    first, second = (float(mass) for mass in found.masses)
    assert (first, second) == pytest.approx((0.75, 0.25), abs=1e-6)
    assert float(found.ratio) == pytest.approx(3.0)


def test_an_output_on_one_side_gives_the_masses_of_its_test() -> None:
    p, q = (
        [Fraction(1, 2), Fraction(1, 2), Fraction(0)],
        [Fraction(3, 4), Fraction(0), Fraction(1, 4)],
    )
    found = enclose_mu(_pair(p, q))
    assert [float(mass) for mass in found.masses] == [0.5, 0.0]
    assert math.isinf(float(found.lower))
    p, q = (
        [Fraction(1, 2), Fraction(1, 2), Fraction(0)],
        [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)],
    )
    found = enclose_mu(_pair(p, q))
    assert [float(mass) for mass in found.masses] == [1.0, 0.75]
    assert float(found.ratio) == 0.0
