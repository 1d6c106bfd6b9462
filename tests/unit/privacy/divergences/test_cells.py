"""rho and mu of laws without a finite table, against closed forms and finite pairs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.mechanisms.likelihood_cells import Cell, CellProduct, Factor, PairCells
from liptest.privacy.divergences.cell_likelihoods import CellOrders, bracket_of_cells, mu_of_cells
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.renyi import PairOrders, enclose_rho
from liptest.privacy.divergences.tradeoff import enclose_mu

CUBE = lt.Hypercube(2)
PHI = NormalDist()


def laplace(data, rng):
    return data.sum() + rng.laplace(0.0, 1.0)


def normal(data, rng):
    return data.sum() + rng.normal(0.0, 2.0)


def geometric(data, rng):
    return int(data.sum()) + rng.geometric(0.5) - rng.geometric(0.5)


def two_laplace(data, rng):
    return tuple(data + rng.laplace(0.0, 1.0, 2))


def both(data, rng):
    """Normal noise and Laplace noise, on one record each."""
    return data[0] + rng.normal(0.0, 2.0), data[1] + rng.laplace(0.0, 1.0)


def one_sided(data, rng):
    return data.sum() + rng.exponential(1.0)


def larger(data, rng):
    """Laplace noise that is compared: a density of several pieces and exponentials."""
    return np.max(data + rng.laplace(0.0, 2.0, 2))


def laplace_divergence(shift, a):
    """Closed form (Mironov 2017, proposition 6)."""
    if a == 1:
        return shift + math.exp(-shift) - 1
    near, far = a / (2 * a - 1), (a - 1) / (2 * a - 1)
    return math.log(near * math.exp((a - 1) * shift) + far * math.exp(-a * shift)) / (a - 1)


def test_laplace_noise_has_the_closed_form():
    mechanism = lt.mechanism(laplace).densities()
    orders = CellOrders(mechanism.pair_cells(np.array([0, 0]), np.array([0, 1])))
    with precision(192):
        for a in (Fraction(9, 8), Fraction(2), Fraction(7), Fraction(40)):
            low, high = orders.renyi(a)
            assert float(low) <= laplace_divergence(1.0, float(a)) * (1 + 1e-12)
            assert float(high) >= laplace_divergence(1.0, float(a)) * (1 - 1e-12)
            assert float(high - low) < 1e-15
        low, high = orders.kullback_leibler()
        assert float(low) == pytest.approx(math.exp(-1), rel=1e-14)
        assert float(high - low) < 1e-15
        # The second derivative at 1 is the variance of the loss.
        assert 0.6573 < float(orders.curvature(Fraction(1025, 1024))) < 0.6582
        assert float(orders.largest_loss()) == pytest.approx(1.0)


@pytest.mark.slow
def test_rho_and_mu_of_laplace_noise():
    rho, mu = (f(lt.mechanism(laplace), CUBE) for f in (lt.exact_rho, lt.exact_mu))
    assert rho.lower <= math.exp(-1) * (1 + 1e-15) <= rho.upper * (1 + 1e-15)
    assert rho.upper - rho.lower < 1e-10
    # The best test of middle shift: P(S) = 1 - e^(-1/2) / 2, Q(S) the rest.
    far = math.exp(-0.5) / 2
    exact = PHI.inv_cdf(1 - far) - PHI.inv_cdf(far)
    assert mu.lower - 1e-12 <= exact <= mu.upper + 1e-12
    assert mu.upper - mu.lower < 1e-9


@pytest.mark.slow
def test_normal_noise_is_known_exactly():
    rho, mu = (f(lt.mechanism(normal), CUBE) for f in (lt.exact_rho, lt.exact_mu))
    assert (rho.value, mu.value) == (0.125, 0.5)
    assert rho.upper - rho.lower < 1e-15
    for claim, says in (
        ({"rho": 0.125}, "YES"),
        ({"rho": 0.125 * (1 - 1e-6)}, "NO"),
        ({"mu": 0.5}, "YES"),
        ({"mu": 0.5 * (1 - 1e-6)}, "NO"),
        ({"renyi": (5.0, 0.625)}, "YES"),
        ({"renyi": (5.0, 0.6249)}, "NO"),
    ):
        verdict = lt.check_privacy(normal, CUBE, **claim)
        assert verdict.decision == says, claim
        assert says == "YES" or verdict.witness.verify(lt.mechanism(normal))


@pytest.mark.slow
def test_independent_numbers_add_up():
    single, double = (lt.exact_rho(lt.mechanism(f), CUBE) for f in (laplace, two_laplace))
    assert single.value == pytest.approx(double.value, rel=1e-9)
    every = lt.AnswerGrid([2, 2], relation="all")
    found = lt.exact_rho(lt.mechanism(two_laplace), every)
    assert found.value == pytest.approx(2 * single.value, rel=1e-9)
    mu = lt.exact_mu(lt.mechanism(two_laplace), every)
    assert mu.lower < mu.upper < mu.lower * (1 + 1e-6)
    # Two releases of one number are what two numbers of one release are.
    pair = lt.compose([lt.mechanism(laplace)], releases=2, domain=lt.Hypercube(1), step=2.0**-9)
    for epsilon in (0.2, 1.0):
        normal_like = float(_gaussian_delta(mu.upper, epsilon))
        assert pair.delta_at(epsilon).lower <= normal_like


def _gaussian_delta(mu, epsilon):
    near, far = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    return PHI.cdf(near) - math.exp(epsilon) * PHI.cdf(far)


@pytest.mark.slow
def test_geometric_noise_over_all_whole_numbers():
    rho, mu = (f(lt.mechanism(geometric), CUBE) for f in (lt.exact_rho, lt.exact_mu))
    loss = math.log(2)
    assert rho.value == pytest.approx(loss * math.tanh(loss / 2), rel=1e-10)
    assert mu.value == pytest.approx(2 * PHI.inv_cdf(2 / 3), rel=1e-12)
    assert lt.check_privacy(geometric, CUBE, rho=rho.upper).decision == "YES"
    assert lt.check_privacy(geometric, CUBE, rho=rho.lower * (1 - 1e-6)).decision == "NO"


@pytest.mark.slow
def test_noise_on_one_side_has_no_rho_and_no_mu():
    for measure in (lt.exact_rho, lt.exact_mu):
        assert measure(lt.mechanism(one_sided), CUBE).value == math.inf
    verdict = lt.check_privacy(one_sided, CUBE, rho=5.0)
    assert verdict.decision == "NO"
    assert verdict.witness.loss_lower == math.inf


@pytest.mark.slow
def test_normal_beside_other_numbers_is_never_a_false_yes():
    every = lt.AnswerGrid([2, 2], relation="all")
    exact = 0.125 + math.exp(-1)
    assert lt.check_privacy(both, every, rho=exact * (1 - 1e-4)).decision == "NO"
    assert lt.check_privacy(both, every, rho=exact * 2).decision != "NO"
    assert lt.check_privacy(both, every, renyi=(2.0, 1.2)).decision == "YES"


def larger_densities(points, v):
    """The density of the larger noisy answer, by its formula."""
    below = lambda t: np.where(t < 0, np.exp(t / 2) / 2, 1 - np.exp(-t / 2) / 2)  # noqa: E731
    density = lambda t: np.exp(-np.abs(t) / 2) / 4  # noqa: E731
    a, b = points
    return density(v - a) * below(v - b) + density(v - b) * below(v - a)


def test_compared_noise_against_quadrature():
    nodes, weights = np.polynomial.legendre.leggauss(80)
    ends = [-160.0, -40.0, -8.0, 0.0, 1.0, 9.0, 41.0, 161.0]
    spans = list(itertools.pairwise(ends))
    v = np.concatenate([(a + b) / 2 + (b - a) / 2 * nodes for a, b in spans])
    w = np.concatenate([(b - a) / 2 * weights for a, b in spans])
    p, q = (larger_densities(points, v) for points in ((1, 1), (0, 0)))
    orders = CellOrders(
        lt.mechanism(larger).densities().pair_cells(np.array([1, 1]), np.array([0, 0]))
    )
    with precision(192):
        for a in (Fraction(3, 2), Fraction(2), Fraction(9)):
            exact = math.log(np.sum(w * p * (p / q) ** (float(a) - 1))) / (float(a) - 1)
            low, high = orders.renyi(a)
            assert float(low) == pytest.approx(exact, rel=1e-9)
            assert float(high) == pytest.approx(exact, rel=1e-6)
        exact = float(np.sum(w * p * np.log(p / q)))
        assert float(orders.kullback_leibler()[1]) == pytest.approx(exact, rel=1e-9)


shares = st.lists(st.integers(1, 30), min_size=2, max_size=5)


@st.composite
def finite_pairs(draw):
    p = draw(shares)
    q = draw(st.lists(st.integers(1, 30), min_size=len(p), max_size=len(p)))
    return [(Fraction(a, sum(p)), Fraction(b, sum(q))) for a, b in zip(p, q, strict=True)]


def as_cells(masses):
    """Each output a cell; the first two together one whose ratio moves."""
    with precision(256):
        balls = [(exact_ball(p), exact_ball(q)) for p, q in masses]
        cells = [Cell(p, q, p / q, p / q) for p, q in balls]
        return PairCells((CellProduct(arb(1), arb(1), (Factor(tuple(cells)),)),))


@pytest.mark.slow
@given(finite_pairs())
@settings(max_examples=40, deadline=None)
def test_cells_of_finite_laws_are_these_laws(masses):
    pair, cells = LikelihoodPair.of_masses(masses), as_cells(masses)
    for orders in ((PairOrders(pair), CellOrders(cells)),):
        with precision(192):
            for a in (Fraction(2), Fraction(11, 3)):
                low, high = orders[1].renyi(a)
                exact = orders[0].renyi(a)
                assert low <= exact[1] + 1e-20
                assert high >= exact[0] - 1e-20
                assert high - low < 1e-12
        one, other = (enclose_rho(each, 1e-9) for each in orders)
        assert float(one.lower) <= float(other.upper) * (1 + 1e-12)
        assert float(other.lower) <= float(one.upper) * (1 + 1e-12)
    mu, found = enclose_mu(pair), mu_of_cells(cells)
    assert float(found.lower) <= float(mu.upper) * (1 + 1e-15)
    assert float(found.upper) >= float(mu.lower) * (1 - 1e-15)
    assert float(found.upper - found.lower) <= 1e-9 * (1 + float(found.lower))


@given(st.lists(finite_pairs(), min_size=1, max_size=2), st.integers(8, 200))
@settings(max_examples=40, deadline=None)
def test_a_bracket_lies_on_both_sides(several, points):
    """Independent numbers: hockey-sticks of the product against those of the bracket."""
    every = [(Fraction(1), Fraction(1))]
    for masses in several:
        every = [(p * a, q * b) for p, q in every for a, b in masses]
    parts = tuple(as_cells(masses).products[0].factors[0] for masses in several)
    cells = PairCells((CellProduct(arb(1), arb(1), parts),))
    below, above = bracket_of_cells(cells, points)
    for gamma in (0.2, 0.7, 1.0, 1.3, 2.0, 5.0):
        exact = float(sum(max(Fraction(0), p - Fraction(gamma) * q) for p, q in every))
        low, high = (
            sum(max(0.0, float(p - gamma * q)) for p, q in pair.in_balls())
            for pair in (below, above)
        )
        assert low <= exact + 1e-12
        assert exact <= high + 1e-12


def test_brackets_of_compared_noise():
    """Pieces whose ratio is not known at first are cut before the grid is chosen."""
    mechanism = lt.mechanism(larger).densities()
    cells = mechanism.pair_cells(np.array([1, 1]), np.array([0, 0]))
    below, above = bracket_of_cells(cells, 64)
    low, high = (sum(max(0.0, float(p - q)) for p, q in pair.in_balls()) for pair in (below, above))
    # The total variation, by the formula of the density.
    v = np.linspace(-80, 80, 320_001)
    p, q = (larger_densities(points, v) for points in ((1, 1), (0, 0)))
    exact = float(np.sum(np.maximum(p - q, 0)) * (v[1] - v[0]))
    assert low <= exact + 1e-7
    assert exact - 1e-7 <= high < low + 1e-2


def test_a_ratio_without_bound_is_refused():
    with precision(256):
        cell = Cell(arb(0.5), arb(0.5), arb(0), arb("+inf"))
        cells = PairCells((CellProduct(arb(1), arb(1), (Factor((cell,)),)),))
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match="no bound"):
        bracket_of_cells(cells)


@pytest.mark.slow
def test_one_sided_noise_composes_to_no_epsilon():
    found = lt.compose([lt.mechanism(one_sided)], releases=3, domain=CUBE)
    assert found.epsilon_at(1e-6).upper == math.inf
