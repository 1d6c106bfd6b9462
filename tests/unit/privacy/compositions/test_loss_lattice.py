"""Losses on lattices: close to sums in fractions and balls, and never on the wrong side."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.composition import _above_all, _Stick, compose
from liptest.privacy.compositions.loss_lattice import (
    MixedLosses,
    covering,
    curve_of_points,
    losses_above,
    losses_below,
    losses_of_claim,
    losses_of_points,
    mix,
)
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from tests.unit.privacy.test_composition import product, some_law, stick

CUBE = lt.Hypercube(3)
NEAR = 1e-7


def atoms_of_claim(epsilon, releases):
    """Losses and probabilities of randomised responses, in balls."""
    with precision(300):
        loss = exact_ball(epsilon)
        p = 1 / (1 + (-loss).exp())
        terms = range(releases + 1)
        return [
            ((2 * j - releases) * loss, math.comb(releases, j) * p**j * (1 - p) ** (releases - j))
            for j in terms
        ]


def exact_delta(parts, infinite, at):
    """delta of independent losses, term by term."""
    with precision(300):
        sums = [(arb(0), arb(1))]
        for atoms in parts:
            sums = [(loss + more, p * q) for loss, p in sums for more, q in atoms]
        found = arb(0)
        for loss, p in sums:
            found += p * (1 - (arb(at) - loss).exp()).max(arb(0))
        return float(found * (1 - infinite) + infinite)


def gaussian_sum(sigma, releases):
    """Losses and probabilities of discrete Gaussians shifted by 1: through the sum of the noise."""
    window = math.ceil(12 * sigma)
    x = np.arange(-window, window + 1)
    law = np.exp(-(x**2) / (2 * sigma**2))
    law /= law.sum()
    total = np.ones(1)
    for _ in range(releases):
        total = np.convolve(total, law)
    n = np.arange(len(total)) - window * releases
    return (releases - 2 * n) / (2 * sigma**2), total


def check_within(found, exact):
    assert found.lower <= exact * (1 + 1e-10)
    assert found.upper >= exact * (1 - 1e-10)
    assert found.upper <= found.lower * (1 + NEAR)


@pytest.mark.parametrize("epsilon", [0.0, 5.0, 12.0, 40.0])
def test_1000_randomised_responses(epsilon):
    one = lt.catalogue.randomised_response(1, 0.1)
    found = compose([one], releases=1000, domain=lt.Hypercube(1))
    exact = exact_delta([atoms_of_claim(F(0.1), 1000)], 0, epsilon)
    check_within(found.delta_at(epsilon), exact)
    back = found.epsilon_at(exact)
    assert back.lower <= epsilon + 1e-9
    assert epsilon - 1e-9 <= back.upper <= epsilon + 1e-6


@pytest.mark.slow
def test_100_discrete_gaussians():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    found = compose([noisy], releases=100, domain=CUBE)
    losses, law = gaussian_sum(10.0, 100)
    for epsilon in (0.5, 2.0, 4.0):
        exact = float(np.sum(law * np.maximum(-np.expm1(np.minimum(epsilon - losses, 0)), 0)))
        check_within(found.delta_at(epsilon), exact)


@pytest.mark.slow
def test_a_mixed_sequence_on_one_lattice_and_on_two():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    losses, law = gaussian_sum(10.0, 20)
    for size, kind in ((0.1, "GridLosses"), (math.pi / 30, "MixedLosses")):
        response = lt.catalogue.randomised_response(1, size)
        found = compose([noisy, response], releases=[20, 30], domain=lt.Hypercube(1))
        assert type(found.above[0]).__name__ == kind
        for epsilon in (0.5, 3.0):
            exact = sum(
                float(p) * np.sum(law * np.maximum(-np.expm1(np.minimum(at - losses, 0)), 0))
                for loss, p in atoms_of_claim(F(size), 30)
                for at in [epsilon - float(loss)]
            )
            check_within(found.delta_at(epsilon), exact)
            back = found.epsilon_at(exact)
            assert back.lower <= epsilon + 1e-9
            assert epsilon - 1e-9 <= back.upper <= epsilon + 1e-7


def test_claims_on_three_lattices_and_with_deltas():
    sizes = [(F("0.1"), F("1e-9")), (F("0.0314159"), F(0)), (F("0.0271828"), F("1e-12"))]
    parts = [(losses_of_claim(*one), k) for one, k in zip(sizes, (12, 15, 18), strict=True)]
    found = mix(parts)
    assert isinstance(found, MixedLosses)
    infinite = 1 - (1 - F("1e-9")) ** 12 * (1 - F("1e-12")) ** 18
    listed = [atoms_of_claim(one, k) for (one, _), k in zip(sizes, (12, 15, 18), strict=True)]
    for epsilon in (0.2, 1.0):
        exact = exact_delta(listed, exact_ball(infinite), epsilon)
        upper = found.delta_at(epsilon)
        assert exact <= upper <= exact * (1 + NEAR)
        assert epsilon - 1e-12 <= found.epsilon_at(exact) <= epsilon + 1e-7
    assert found.epsilon_at(1e-9) == math.inf


@pytest.mark.slow
def test_products_of_many_atoms_are_taken_together_to_the_safe_side():
    rng = random.Random(3)
    sizes = [F(rng.randrange(10**6, 10**7), 10**8) for _ in range(4)]
    claims = [(losses_of_claim(size, F(0)), 60) for size in sizes]
    upper = mix(claims)
    ends = [0.25, 1.5]
    # Fewer releases, whose sums are short enough to be listed, and all of them from below.
    pairs = []
    for size in sizes:
        with precision(300):
            p = 1 / (1 + (-exact_ball(size)).exp())
            pairs.append(LikelihoodPair(None, lambda p=p: [(p, 1 - p), (1 - p, p)]))
    lower = mix([(losses_below(pair), 60) for pair in pairs])
    for end in ends:
        assert 0 < lower.delta_at(end) <= upper.delta_at(end) <= lower.delta_at(end) * (1 + NEAR)
        delta = upper.delta_at(end)
        assert lower.epsilon_at(delta) <= upper.epsilon_at(delta)
        assert upper.epsilon_at(delta) == pytest.approx(end, rel=1e-7)


def check_random_pair(rng, releases=3):
    laws = [some_law(rng), some_law(rng)]
    pair = LikelihoodPair.of_masses(list(zip(*laws, strict=True)))
    above, below = losses_above(pair), losses_below(pair)
    for gamma in (F(1), F(3, 2), F(2), F(9)):
        p, q = laws
        for _ in range(releases - 1):
            p, q = product(p, laws[0]), product(q, laws[1])
        exact = float(stick(p, q, gamma))
        epsilon = math.log(gamma)
        if above is not None:
            assert exact <= above.power(releases).delta_at(epsilon) + 1e-14
            assert above.power(releases).delta_at(epsilon) <= exact * (1 + 1e-9) + 1e-12
        if below is not None:
            assert below.power(releases).delta_at(epsilon) <= exact * (1 + 1e-12) + 1e-15
    return above is not None


def test_random_pairs_that_have_a_lattice_are_exact():
    rng = random.Random(11)
    assert sum(check_random_pair(rng) for _ in range(60)) > 10


def test_only_a_pair_above_all_others_stands_for_them():
    narrow = LikelihoodPair.of_masses([(F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))])
    sure = LikelihoodPair.of_masses([(F(1, 100), F(0)), (F(99, 100), F(1))])
    assert _above_all([narrow]) is not None
    assert _above_all([narrow, sure]) is None
    weak = LikelihoodPair.of_masses([(F(2, 3), F(1, 3)), (F(1, 3), F(2, 3))])
    found = _above_all([weak, narrow])
    for gamma in (F(1), F(2), F(5, 2)):
        exact = max(stick([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], gamma), F(0))
        assert float(exact) <= found.delta_at(math.log(gamma)) <= float(exact) * (1 + 1e-9) + 1e-11
    # A curve that is above at one corner only is noticed there.
    bent = LikelihoodPair.of_masses([(F(7, 10), F(1, 5)), (F(3, 10), F(4, 5))])
    losses = losses_above(narrow)
    assert covering(losses, [_Stick(bent).above]) is None
    assert covering(losses, [_Stick(narrow.reversed()).above]) is not None


def test_no_common_distance_no_lattice():
    laws = [F(1, 2), F(3, 10), F(1, 5)], [F(42, 100), F(33, 100), F(1, 4)]
    assert losses_above(LikelihoodPair.of_masses(list(zip(*laws, strict=True)))) is None


def test_a_curve_of_claims_is_the_hull_of_its_points():
    points = [(F("0.3"), F("2e-3")), (F("0.5"), F("1e-6")), (F("1.1"), F(0))]
    losses, curve = losses_of_points(points), curve_of_points(points)
    assert losses is not None
    with precision(320):
        for epsilon, delta in points:
            at = curve(exact_ball(epsilon))
            assert float(at) == pytest.approx(float(delta), abs=1e-15)
            assert losses.delta_at(float(epsilon)) == pytest.approx(
                float(delta), rel=1e-6, abs=1e-8
            )
        for k in range(30):
            at = curve(arb(k) / 20)
            # Never above what a single point says, and never below the total of a real pair.
            assert at <= min(losses_of_claim(*one).delta_at(k / 20) for one in points) + 1e-12
            assert float(at) <= losses.delta_at(k / 20) + 1e-15
    # One point says the same as the pair that stands for it.
    one, other = losses_of_points(points[:1]), losses_of_claim(*points[0])
    assert one.power(7).delta_at(0.6) == pytest.approx(other.power(7).delta_at(0.6), rel=1e-7)
    # Incommensurable epsilons have a curve only.
    assert losses_of_points([(F(3, 10), F(1, 500)), (F(271828, 10**6), F(1, 100))]) is None


def trinomial_delta(p, q, k, epsilon):
    """delta of k releases of three outputs, over all counts."""
    with precision(300):
        sides = [[exact_ball(one) for one in side] for side in (p, q)]
        losses = [(a / b).log() for a, b in zip(*sides, strict=True)]
        found = arb(0)
        for a in range(k + 1):
            for b in range(k - a + 1):
                counts = (a, b, k - a - b)
                loss = sum((n * one for n, one in zip(counts, losses, strict=True)), arb(0))
                if loss > epsilon:
                    mass = arb(math.comb(k, a) * math.comb(k - a, b))
                    for n, one in zip(counts, sides[0], strict=True):
                        mass *= one**n
                    found += mass * (1 - (arb(epsilon) - loss).exp())
        return float(found)


@pytest.mark.slow
def test_three_losses_without_a_lattice_are_enclosed_closely():
    p, q = [F(1, 2), F(3, 10), F(1, 5)], [F(42, 100), F(33, 100), F(1, 4)]
    logs = np.log(np.array([p, q], dtype=float))
    table = lt.ClosedForm([0, 1, 2], lambda data: logs[data[:, 0]])
    found = compose([table], releases=20, domain=lt.Hypercube(1), adaptive=False)
    for epsilon in (0.5, 2.0):
        exact = max(trinomial_delta(p, q, 20, epsilon), trinomial_delta(q, p, 20, epsilon))
        at = found.delta_at(epsilon)
        assert at.lower <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= at.upper
        assert at.upper <= at.lower * (1 + 1e-6)


def check_adaptive_bound(rng):
    """Two outputs: adaptively chosen pairs cost no more than the pair that stands for all."""
    laws = []
    for _ in range(3):
        p = F(rng.randrange(1, 8), 8)
        laws.append([p, 1 - p])
    pairs = [
        LikelihoodPair.of_masses(list(zip(a, b, strict=True)))
        for k, a in enumerate(laws)
        for b in laws[k + 1 :]
        if a != b
    ]
    found = _above_all(pairs) if pairs else None
    if found is None:
        return False
    ordered = [(a, b) for a in laws for b in laws if a is not b]
    for gamma in (F(1), F(3, 2), F(4)):
        adaptive = max(
            sum(
                max(stick([a * x for x in r], [b * x for x in s], gamma) for r, s in ordered)
                for a, b in zip(p, q, strict=True)
            )
            for p, q in ordered
        )
        single = max(stick(product(p, p), product(q, q), gamma) for p, q in ordered)
        upper = found.power(2).delta_at(math.log(gamma))
        assert float(single) <= float(adaptive) <= upper + 1e-15
    return True


@pytest.mark.slow
@pytest.mark.parametrize("tries", [80, pytest.param(300, marks=pytest.mark.slow)])
def test_the_pair_that_stands_for_all_bounds_adaptive_choices(tries):
    rng = random.Random(tries)
    assert sum(check_adaptive_bound(rng) for _ in range(tries)) > tries / 40
