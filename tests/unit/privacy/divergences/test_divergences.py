"""Renyi divergences, rho and mu of one pair against brute force, quadrature and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from statistics import NormalDist

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from liptest.balls import precision
from liptest.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.laws import OutputLaw, default_error, exact_ball
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.noise_likelihoods import (
    GaussianOrders,
    orders_of_noise,
    pair_of_noise,
)
from liptest.privacy.divergences.renyi import (
    PairOrders,
    SumOfOrders,
    enclose_rho,
    refute_renyi,
    refute_rho,
)
from liptest.privacy.divergences.tradeoff import (
    curve_corners,
    enclose_mu,
    gaussian_delta,
    gaussian_quantile,
)

INF = math.inf


def laws(least: int) -> st.SearchStrategy[tuple[list[Fraction], list[Fraction]]]:
    weight = st.integers(least, 9)
    row = st.tuples(weight, weight)
    some = st.lists(row, min_size=2, max_size=6).filter(
        lambda rows: sum(a for a, _ in rows) > 0 and sum(b for _, b in rows) > 0
    )
    return some.map(
        lambda rows: (
            [Fraction(a, sum(x for x, _ in rows)) for a, _ in rows],
            [Fraction(b, sum(x for _, x in rows)) for _, b in rows],
        )
    )


def divergence(p: list[Fraction], q: list[Fraction], order: float) -> float:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return INF
    both = [(float(a), float(b)) for a, b in zip(p, q, strict=True) if a]
    if order == 1:
        return sum(a * math.log(a / b) for a, b in both)
    return math.log(sum(a**order * b ** (1 - order) for a, b in both)) / (order - 1)


def in_floats(law: list[Fraction]) -> OutputLaw:
    logs = np.array([math.log(p) if p else -INF for p in law])
    return OutputLaw(list(range(len(law))), logs, default_error(np.maximum(logs, -50.0)))


@pytest.mark.slow
@given(laws(0), st.fractions(Fraction(11, 10), 30, max_denominator=10))
def test_one_order_is_the_sum(pair: tuple[list[Fraction], list[Fraction]], order: Fraction) -> None:
    p, q = pair
    found = divergence(p, q, float(order))
    for made in (
        LikelihoodPair.of_masses(list(zip(p, q, strict=True))),
        LikelihoodPair.of_laws(in_floats(p), in_floats(q)),
    ):
        with precision(128):
            low, high = (float(end) for end in PairOrders(made).renyi(order))
        if math.isinf(found):
            assert low == high == INF
        else:
            assert low - 1e-9 <= found <= high + 1e-9
            assert high - low < 1e-9


@pytest.mark.slow
@given(laws(0))
def test_rho_against_many_orders(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    p, q = pair
    made = LikelihoodPair.of_masses(list(zip(p, q, strict=True)))
    found = enclose_rho(PairOrders(made))
    low, high = float(found.lower), float(found.upper)
    orders = [1.0] + [1 + 10 ** (k / 20) for k in range(-60, 45)]
    tried = max(divergence(p, q, order) / order for order in orders)
    if math.isinf(tried):
        assert low == INF
        return
    assert tried <= high * (1 + 1e-9) + 1e-12
    assert low <= high <= low * (1 + 2e-6) + 1e-12
    # The order that is named reaches it.
    assert divergence(p, q, float(found.order)) / float(found.order) >= low * (1 - 1e-7) - 1e-9


@pytest.mark.slow
@given(laws(1), st.sampled_from([1 - 1e-6, 1 + 1e-6, 0.5, 2.0]))
def test_rho_is_decided_on_either_side(
    pair: tuple[list[Fraction], list[Fraction]], factor: float
) -> None:
    p, q = pair
    orders = PairOrders(LikelihoodPair.of_masses(list(zip(p, q, strict=True))))
    found = enclose_rho(orders)
    if not found.upper > 1e-9:
        return
    limit = Fraction(float(found.lower if factor < 1 else found.upper) * factor)
    answer, order, (low, _) = refute_rho(orders, limit)
    assert answer is (factor < 1)
    if answer:
        assert float(low) > float(limit) * float(order) * (1 - 1e-12)


def test_randomised_response() -> None:
    # rho is the end at order 1, epsilon tanh(epsilon / 2), below epsilon^2 / 2; mu by hand.
    for epsilon in (0.1, 1.0, 3.0):
        p = Fraction(1 / (1 + math.exp(-epsilon)))
        pair = LikelihoodPair.of_masses([(p, 1 - p), (1 - p, p)])
        found = enclose_rho(PairOrders(pair))
        assert float(found.lower) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-9)
        assert float(found.upper) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-8)
        mu = enclose_mu(pair)
        assert float(mu.upper) == pytest.approx(2 * NormalDist().inv_cdf(float(p)), rel=1e-9)


def test_a_law_known_in_part_refutes_and_proves_nothing() -> None:
    p = OutputLaw.from_fractions({0: Fraction(3, 4)}, unexplored=Fraction(1, 4))
    q = OutputLaw.from_fractions({0: Fraction(1, 8), 1: Fraction(3, 4)}, unexplored=Fraction(1, 8))
    pair = LikelihoodPair.of_laws(p, q)
    answer, order, (low, high) = refute_rho(PairOrders(pair), Fraction(1, 10))
    assert answer is True
    assert math.isinf(float(high))
    # At most 1/4 of q lies on output 0.
    assert (
        float(low)
        <= math.log(0.75 ** float(order) * 0.25 ** (1 - float(order))) / (order - 1) + 1e-9
    )
    assert refute_rho(PairOrders(pair), Fraction(100))[0] is None
    assert refute_renyi(PairOrders(pair), Fraction(2), Fraction(100))[0] is None
    mu = enclose_mu(pair)
    assert 0 < float(mu.lower) < INF == float(mu.upper)


def corners(p: list[Fraction], q: list[Fraction]) -> float:
    """The largest quantile difference over all sets of outputs."""
    best = 0.0
    for chosen in product((0, 1), repeat=len(p)):
        a = float(sum(x for x, c in zip(p, chosen, strict=True) if c))
        b = float(sum(x for x, c in zip(q, chosen, strict=True) if c))
        if 0 < a < 1 and 0 < b < 1:
            best = max(best, NormalDist().inv_cdf(a) - NormalDist().inv_cdf(b))
        elif (a > 0 and b == 0) or (a == 1 and b < 1):
            return INF
    return best


@pytest.mark.slow
@given(laws(0))
def test_mu_against_every_set_of_outputs(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    p, q = pair
    expected = corners(p, q)
    exact = enclose_mu(LikelihoodPair.of_masses(list(zip(p, q, strict=True))))
    swapped = enclose_mu(LikelihoodPair.of_masses(list(zip(q, p, strict=True))))
    floats = enclose_mu(LikelihoodPair.of_laws(in_floats(p), in_floats(q)))
    for found in (exact, swapped, floats):
        if math.isinf(expected):
            assert float(found.lower) == INF
            continue
        assert float(found.lower) - 1e-7 <= expected <= float(found.upper) + 1e-7
        assert float(found.upper - found.lower) < 1e-6
    for found in (exact, floats):
        if 0 < expected < INF:
            a, b = (float(mass) for mass in found.masses)
            shown = NormalDist().inv_cdf(a) - NormalDist().inv_cdf(b)
            assert shown == pytest.approx(float(found.lower), abs=1e-6)


@pytest.mark.slow
@given(laws(0))
def test_the_curve_is_convex_and_below_every_test(
    pair: tuple[list[Fraction], list[Fraction]],
) -> None:
    p, q = pair
    points = curve_corners(LikelihoodPair.of_masses(list(zip(p, q, strict=True))))
    at = [(float(x), float(y)) for x, y in points]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(at) if c > a]
    assert all(one <= two + 1e-9 for one, two in pairwise(slopes))
    for chosen in product((0, 1), repeat=len(p)):
        x = float(sum(b for b, c in zip(q, chosen, strict=True) if c))
        y = 1 - float(sum(a for a, c in zip(p, chosen, strict=True) if c))
        assert y >= np.interp(x, *zip(*at, strict=True)) - 1e-9


def test_quantiles_keep_their_digits() -> None:
    with precision(192):
        tiny = arb(10) ** -300
        low = gaussian_quantile(tiny, 1 - tiny)
        high = gaussian_quantile(1 - tiny, tiny)
    assert float(low) == pytest.approx(-37.0471, abs=1e-4)  # of published tables
    assert float(high) == -float(low)
    assert float(gaussian_quantile(arb("0.975"), arb("0.025"))) == pytest.approx(1.959963984540054)


def test_gaussian_delta_is_a_quadrature() -> None:
    for mu, epsilon in ((1.0, 0.5), (0.3, 1.0), (2.0, 0.0)):
        x = np.linspace(-12, 14, 400_001)
        p, q = (np.exp(-((x - c) ** 2) / 2) / math.sqrt(2 * math.pi) for c in (mu, 0.0))
        found = np.sum(np.maximum(p - math.exp(epsilon) * q, 0)) * (x[1] - x[0])
        assert float(gaussian_delta(arb(mu), arb(epsilon))) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("scale", [Fraction(1, 2), 1, 3])
def test_geometric_noise_against_a_long_window(scale: Fraction, shift: int) -> None:
    q = math.exp(-1 / scale)
    wide = range(-250, 251)
    peak = (1 - q) / (1 + q)
    p = [peak * q ** abs(j) for j in wide]
    moved = [peak * q ** abs(j - shift) for j in wide]
    orders = orders_of_noise(DiscreteLaplace(scale), shift)
    pair = pair_of_noise(DiscreteLaplace(scale), -shift)
    assert orders is not None
    assert pair is not None
    for order in (1.5, 2.0, 7.0):
        logs = [
            order * math.log(a) + (1 - order) * math.log(b) for a, b in zip(p, moved, strict=True)
        ]
        with precision(128):
            low, high = orders.renyi(Fraction(order))
        expected = math.log(sum(math.exp(x) for x in logs)) / (order - 1)
        assert float(low) == pytest.approx(expected, rel=1e-9)
        assert float(high) == pytest.approx(expected, rel=1e-9)
    below = np.cumsum(p)
    cuts = [
        NormalDist().inv_cdf(below[k]) - NormalDist().inv_cdf(below[k - shift])
        for k in range(250 - 3, 250 + 3 + shift)
        if below[k] < 1
    ]
    found = enclose_mu(pair)
    assert float(found.lower) == pytest.approx(max(cuts), rel=1e-6)
    assert float(found.upper) == pytest.approx(max(cuts), rel=1e-5)


@pytest.mark.parametrize("sigma", [Fraction(2, 5), 1, Fraction(7, 3), 20])
@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_gaussian_noise_against_a_long_window(sigma: Fraction, shift: int) -> None:
    noise = GaussianOrders(Fraction(sigma), shift)
    wide = np.arange(-2000, 2001)
    for order in (Fraction(1001, 1000), Fraction(3, 2), Fraction(2), Fraction(37, 10)):
        a, double = float(order), 2 * float(sigma) ** 2
        exponent = -(a * wide**2 + (1 - a) * (wide - shift) ** 2) / double
        top = exponent.max()
        total = np.exp(-(wide**2) / double).sum()
        expected = (top + math.log(np.exp(exponent - top).sum() / total)) / (a - 1)
        with precision(128):
            low, high = noise.renyi(order)
        assert float(low) == pytest.approx(expected, rel=1e-7)
        assert float(high) == pytest.approx(expected, rel=1e-7)
        assert high <= exact_ball(order * noise.known_rho()).upper()
    rho = shift**2 / (2 * float(sigma) ** 2)
    assert float(enclose_rho(noise).upper) == pytest.approx(rho)


@pytest.mark.slow
@given(st.fractions(Fraction(1, 20), 500, max_denominator=1000), st.integers(1, 40))
def test_discrete_gaussian_noise_at_its_rho(sigma: Fraction, shift: int) -> None:
    orders = orders_of_noise(DiscreteGaussian(sigma), shift)
    assert orders is not None
    rho = Fraction(shift**2) / (2 * sigma**2)
    assert refute_rho(orders, rho)[0] is False
    answer, order, (low, _) = refute_rho(orders, rho * (1 - Fraction(1, 10**6)))
    assert answer is True
    assert float(low) > float(rho * order) * (1 - 1e-6)


@pytest.mark.slow
@given(laws(1), laws(1))
def test_independent_parts_add_up(
    one: tuple[list[Fraction], list[Fraction]], two: tuple[list[Fraction], list[Fraction]]
) -> None:
    pairs = [LikelihoodPair.of_masses(list(zip(*pair, strict=True))) for pair in (one, two)]
    whole = LikelihoodPair.of_masses(
        [(a * c, b * d) for a, b in zip(*one, strict=True) for c, d in zip(*two, strict=True)]
    )
    added = enclose_rho(SumOfOrders([PairOrders(pair) for pair in pairs]))
    direct = enclose_rho(PairOrders(whole))
    assert float(added.lower) <= float(direct.upper) * (1 + 1e-9) + 1e-12
    assert float(direct.lower) <= float(added.upper) * (1 + 1e-9) + 1e-12
