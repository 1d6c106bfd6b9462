"""What several releases cost together, against brute force and exact sums."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy import composition
from liptest.privacy.composition import _largest_loss, compose, worst_curve
from liptest.privacy.compositions import release_costs
from liptest.privacy.compositions.loss_grid import grid_above, grid_below
from liptest.privacy.compositions.release_costs import ChordCurve, epsilon_of_orders, finite_range
from liptest.privacy.divergences.cell_likelihoods import bracket_of_cells
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.tradeoff import gaussian_delta

STEP = Fraction(1, 64)
CUBE = lt.ProductDistribution.bernoulli([0.5] * 3)


def stick(p, q, gamma):
    return sum((max(Fraction(0), a - gamma * b) for a, b in zip(p, q, strict=True)), Fraction(0))


def product(p, q):
    return [a * b for a in p for b in q]


def some_law(rng):
    weights = [rng.choice([0, 1, 1, 2, 3, 5, 9]) for _ in range(3)]
    weights[0] += not sum(weights)
    return [Fraction(w, sum(weights)) for w in weights]


def check_random_mechanism(rng):
    laws = [some_law(rng) for _ in range(3)]
    ordered = [(a, b) for a in laws for b in laws if a is not b]
    pairs = [
        LikelihoodPair.of_masses(list(zip(a, b, strict=True)))
        for k, a in enumerate(laws)
        for b in laws[k + 1 :]
    ]
    largest = max(map(_largest_loss, pairs))
    above = grid_above(worst_curve(pairs), largest, STEP).power(2)
    below = [grid_below(side, STEP).power(2) for pair in pairs for side in (pair, pair.reversed())]
    for gamma in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(9)):
        epsilon = math.log(gamma)
        single = max(stick(product(p, p), product(q, q), gamma) for p, q in ordered)
        adaptive = max(
            sum(
                max(stick([a * x for x in r], [b * x for x in s], gamma) for r, s in ordered)
                for a, b in zip(p, q, strict=True)
            )
            for p, q in ordered
        )
        found = above.delta_at(epsilon)
        assert single <= adaptive <= found + 1e-12
        for k, grid in enumerate(below):
            p, q = [(p, q) for i, p in enumerate(laws) for q in laws[i + 1 :]][k // 2]
            p, q = (q, p) if k % 2 else (p, q)
            exact = stick(product(p, p), product(q, q), gamma)
            assert grid.delta_at(epsilon) <= exact + 1e-12
            assert exact - grid.delta_at(epsilon) < 0.1
            # One pair alone, from above: its own two curves.
            one = LikelihoodPair.of_masses(list(zip(p, q, strict=True)))
            if k < 2:
                alone = grid_above(*[_one(one), _largest_loss(one)], STEP, _one(one.reversed()))
                upper = alone.power(2).delta_at(epsilon)
                assert exact - 1e-12 <= upper <= exact + 5e-3
    return above


def _one(pair):
    from liptest.privacy.composition import _one_curve

    return _one_curve(pair)


def test_laws_without_a_common_output_stay_infinite():
    pair = LikelihoodPair.of_masses([(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))])
    for grid in (grid_below(pair, STEP), grid_above(_one(pair), 0.0, STEP)):
        assert grid.power(5).delta_at(3.0) == pytest.approx(1.0)


@pytest.mark.slow
def test_brute_force_on_random_mechanisms():
    rng = random.Random(7)
    for _ in range(12):
        check_random_mechanism(rng)


@pytest.mark.slow
def test_brute_force_on_75_random_mechanisms():
    rng = random.Random(4)
    for _ in range(75):
        check_random_mechanism(rng)


def test_randomised_response_against_the_binomial_law():
    p = Fraction(1 / (1 + math.exp(-0.1)))
    pair = LikelihoodPair.of_masses([(p, 1 - p), (1 - p, p)])
    step, k = Fraction(1, 256), 100
    above = grid_above(worst_curve([pair]), _largest_loss(pair), step).power(k)
    below = grid_below(pair, step).power(k)
    for epsilon in (0.0, 2.0, 5.0):
        with precision(300):
            a, b = exact_ball(p), exact_ball(1 - p)
            loss, exact = (a / b).log(), arb(0)
            for j in range(k + 1):
                gap = 1 - (arb(epsilon) - (2 * j - k) * loss).exp()
                exact += math.comb(k, j) * a**j * b ** (k - j) * gap.max(arb(0))
        true = float(exact)
        assert below.delta_at(epsilon) <= true <= above.delta_at(epsilon)
        assert above.delta_at(epsilon) <= true * 1.2
        assert below.epsilon_at(true) <= epsilon * (1 + 1e-12)
        assert above.epsilon_at(true) >= epsilon * (1 - 1e-12)
        assert above.epsilon_at(true) <= epsilon + 0.02


def test_a_delta_of_1e_40_is_as_good_as_any():
    verdict = lt.check_privacy(
        lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(10)), CUBE, epsilon=0.1
    )
    found = compose([verdict], releases=200)
    at = found.epsilon_at(1e-40)
    assert 0 < at.upper < 200 * 0.1
    back = found.delta_at(at.upper)
    assert back.upper == pytest.approx(1e-40, rel=1e-6)


@pytest.mark.slow
def test_gaussian_claims_compose_to_a_gaussian():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(4))
    mu = lt.exact_mu(noisy, CUBE.domain).value
    verdict = lt.check_privacy(noisy, CUBE, mu=mu)
    found = compose([verdict], releases=9, step=2.0**-10)
    assert found.mu == pytest.approx(3 * mu, rel=1e-8)
    for epsilon in (0.2, 1.0, 2.0):
        exact = float(gaussian_delta(arb(3 * mu), arb(epsilon)))
        assert exact <= found.delta_at(epsilon).upper <= exact * 1.01


@pytest.mark.slow
def test_discrete_gaussian_against_the_law_of_the_sum():
    sigma, k = 10.0, 20
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    found = compose([noisy], releases=k, domain=CUBE.domain, step=2**-9)
    x = np.arange(-150, 151)
    law = np.exp(-(x**2) / (2 * sigma**2))
    law /= law.sum()
    total = law
    for _ in range(k - 1):
        total = np.convolve(total, law)
    n = np.arange(len(total)) - 150 * k
    for epsilon in (0.5, 1.0, 2.0):
        gap = 1 - np.exp(epsilon - (k - 2 * n) / (2 * sigma**2))
        exact = float(np.sum(total * np.maximum(gap, 0)))
        upper = found.delta_at(epsilon).upper
        assert exact * (1 - 1e-6) <= upper <= exact * 1.01
    assert found.rho is None or found.rho > 0


def test_one_dataset_costs_less_than_chosen_ones():
    laws = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
    table = lt.ClosedForm([0, 1, 2], lambda data: np.log(laws[2 * data[:, 0] + data[:, 1]]))
    domain = lt.Hypercube(2)
    chosen = compose([table], releases=3, domain=domain)
    same = compose([table], releases=3, domain=domain, adaptive=False)
    for epsilon in (0.5, 1.0, 3.0):
        assert same.delta_at(epsilon).upper <= chosen.delta_at(epsilon).upper + 1e-8
        assert same.delta_at(epsilon).lower <= same.delta_at(epsilon).upper
    assert "on one dataset" in str(same)
    assert "adaptively chosen" in str(chosen)


@pytest.mark.slow
def test_rho_adds_up_and_is_converted():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    verdict = lt.check_privacy(noisy, CUBE, rho=0.005)
    pure = lt.check_privacy(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(5)), CUBE, epsilon=0.2)
    found = compose([verdict, pure], releases=[10, 3], step=2**-9)
    assert found.rho == pytest.approx(0.05 + 3 * 0.2 * math.tanh(0.1), rel=1e-6)
    # As a curve rho composes with the other curve; which says more than the sum of rhos.
    both = found.epsilon_at(1e-6).upper
    assert both < epsilon_of_orders((found.rho, ()), 1e-6)
    alone = compose([verdict], releases=10)
    assert alone.epsilon_at(1e-6).upper == pytest.approx(epsilon_of_orders((0.05, ()), 1e-6))
    assert alone.epsilon_at(1e-6).upper < both < alone.epsilon_at(1e-6).upper + 0.6
    # A published value: rho 0.5 at delta 1e-6 is about epsilon 5.5 by the plain conversion.
    plain = 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))
    assert 0.8 * plain < epsilon_of_orders((0.5, ()), 1e-6) < plain


def test_claims_with_delta_and_failures_add_up():
    law = lt.ProductDistribution.bernoulli([0.3] * 30)
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(3))
    options = {"method": "neighbourhoods", "seed": 1, "search_laws": 0}
    verdict = lt.check_privacy(noisy, law, epsilon=1.0, delta=0.01, **options)
    found = compose([verdict, verdict])
    assert found.exception_mass == pytest.approx(2e-3)
    assert found.failure_probability == pytest.approx(2e-6)
    once = compose([verdict])
    assert once.delta_at(1.0).upper == pytest.approx(0.01, rel=1e-4)
    assert once.epsilon_at(0.0101).upper == pytest.approx(1.0, abs=0.01)
    assert once.epsilon_at(0.005).upper == math.inf
    assert found.delta_at(2.0).upper == pytest.approx(1 - 0.99**2, rel=1e-3)
    said = " ".join(str(found).split())
    assert (
        "outside a set of datasets of total probability 0.002: what the tests except, added up"
        in said
    )
    assert "The probability that one of them did is at most 2e-06" in said


def _flipped(data, draws, rng):
    return int(data[0]) ^ (rng.random(draws) < 0.4).astype(int)


def test_verdicts_of_samples_alone_compose_with_what_they_could_see():
    flip = lt.Sampler(_flipped)
    options = {"resolution": 0.1, "failure_probability": 0.01, "samples": 90_000, "seed": 1}
    verdict = lt.check_samples(
        flip, lt.ProductDistribution.uniform(lt.Hypercube(1)), epsilon=1.5, **options
    )
    assert verdict.decision == "YES"
    found = compose([verdict, verdict])
    assert found.failure_probability == pytest.approx(0.02)
    assert found.exception_mass == 0
    # Each is (1.5, resolution) at most; sums are one of the bounds.
    assert found.delta_at(3.0).upper <= 2 * verdict.guarantee.delta + 1e-6
    assert found.delta_at(3.0).upper >= 1 - (1 - verdict.guarantee.delta) ** 2
    assert found.rho is None
    said = " ".join(str(found).split())
    assert "wrong YES" in said
    assert "stand for all of them" in said
    assert verdict.guarantee.condition in said


@pytest.mark.slow
def test_claims_of_all_forms_compose_with_each_other(monkeypatch):
    monkeypatch.setattr(release_costs, "_CELLS", 1 << 15)
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    geometric = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(5))
    verdicts = [
        lt.check_privacy(noisy, CUBE, rho=0.005),
        lt.check_privacy(noisy, CUBE, renyi=[(4, 0.02), (16, 0.08), (64, 0.32)]),
        lt.check_privacy(noisy, CUBE, curve={0.5: 1e-6, 0.3: 2e-3}),
        lt.check_privacy(geometric, CUBE, mu=0.26),
        lt.check_privacy(geometric, CUBE, epsilon=0.2),
    ]
    actual = compose([noisy] * 3 + [geometric] * 2, domain=CUBE.domain)
    together = compose(verdicts)
    for delta in (1e-3, 1e-5):
        claimed = together.epsilon_at(delta).upper
        # What is known of claims never says less than the mechanisms do.
        assert (
            actual.epsilon_at(delta).upper <= claimed < 2.5 * actual.epsilon_at(delta).upper + 0.5
        )
    some = compose(verdicts[:2], releases=[5, 7])
    assert some.rho is None
    assert dict(some.orders)[16.0] == pytest.approx(5 * 0.08 + 7 * 0.08, rel=1e-6)
    assert "Renyi divergence of order 16" in str(some)
    alone = compose([verdicts[1]], releases=7)
    assert some.epsilon_at(1e-6).upper > alone.epsilon_at(1e-6).upper
    assert some.delta_at(3.0).upper < 1e-6


@pytest.mark.parametrize(
    ("items", "options", "says"),
    [
        ([], {}, "list"),
        ([3], {}, "not a mechanism"),
        (["noisy"], {}, "domain"),
        (["noisy"], {"releases": 0}, "releases"),
        (["noisy"], {"releases": [1, 2]}, "releases"),
        (["noisy"], {"step": 0.3}, "power of 2"),
        (["no"], {}, "no YES"),
        (["noisy", "noisy"], {"adaptive": False}, "one mechanism"),
    ],
)
def test_what_does_not_compose_is_refused(items, options, says):
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(3))
    known = {
        "noisy": noisy,
        "no": lt.check_privacy(noisy, CUBE, rho=0.01),
    }
    with pytest.raises(lt.errors.InputError, match=says):
        compose([known.get(item, item) for item in items], **options)


def test_delta_0_is_not_decided_on_a_grid():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(3))
    found = compose([noisy], domain=CUBE.domain, step=2**-6)
    with pytest.raises(lt.errors.InputError, match="delta"):
        found.epsilon_at(0.0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_chords_are_above_a_curve_and_close(mu):
    asked = []

    def curve(epsilon):
        asked.append(float(epsilon))
        return gaussian_delta(arb(mu), epsilon)

    largest = finite_range(curve)
    asked.clear()
    chords = ChordCurve(curve, largest)
    assert len(asked) <= 102
    for k in range(301):
        epsilon = arb(k * largest / 256)
        exact = gaussian_delta(arb(mu), epsilon)
        assert chords(epsilon) >= exact.lower()
        if k <= 256:
            assert float(chords(epsilon) - exact) < 1e-3


@pytest.mark.slow
def test_releases_of_real_numbers_are_composed():
    @lt.mechanism
    def noisy(data, rng):
        return float(data.sum() + rng.laplace(0, 1.0))

    found = lt.compose([noisy, noisy], domain=lt.Hypercube(20))
    # The loss of one: 1 with 1/2, -1 with e^-1 / 2, else 1 - 2x of density e^-x / 2 on (0, 1).
    x = (np.arange(2000) + 0.5) / 2000
    losses = np.concatenate([[1.0, -1.0], 1 - 2 * x])
    weights = np.concatenate([[0.5, math.exp(-1) / 2], np.exp(-x) / 4000])
    together = np.add.outer(losses, losses)
    for epsilon in (0.5, 1.0, 1.5):
        excess = np.maximum(0, 1 - np.exp(epsilon - together))
        exact = float((np.outer(weights, weights) * excess).sum())
        delta = found.delta_at(epsilon)
        assert exact - 1e-6 <= delta.upper <= delta.lower + 1e-5 <= exact + 2e-5
    assert found.epsilon_at(1e-3).upper == pytest.approx(1.996, abs=1e-3)
    assert found.epsilon_at(1e-9).upper <= 2.001


@pytest.mark.slow
def test_many_different_pairs_have_a_lower_bound(monkeypatch):
    """That of the dearest pair: sums of 2 and 3, whose squares are 5 apart."""
    monkeypatch.setattr(composition, "_FEW_PAIRS", 2)
    monkeypatch.setattr(composition, "bracket_of_cells", partial(bracket_of_cells, points=64))
    monkeypatch.setattr(composition, "ChordCurve", partial(ChordCurve, points=20))

    @lt.mechanism
    def squared(data, rng):
        return float(data.sum() ** 2 + rng.laplace(0, 5.0))

    found = lt.compose([squared], domain=lt.Hypercube(3), step=2.0**-7)
    for epsilon in (0.2, 0.5, 0.9):
        delta = found.delta_at(epsilon)
        assert delta.lower <= 1 - math.exp((epsilon - 1) / 2) <= delta.upper <= delta.lower + 0.01


@pytest.mark.slow
def test_every_step_of_a_statistic_counts():
    """Steps of 1 and of 2 come in two blocks, each with places of its own."""

    def noisy(value, rng):
        return float(value + rng.laplace(0, 5.0))

    domain = lt.RecordGrid([3])
    through = lt.mechanism(noisy, statistic=lt.statistics.WeightedSum([1]))
    found = lt.compose([through], domain=domain)
    for epsilon in (0.2, 0.3, 0.39):
        exact = 1 - math.exp((epsilon - 0.4) / 2)
        assert found.delta_at(epsilon).upper == pytest.approx(exact, rel=1e-6)
    curves = lt.privacy_profile(through, domain, curves=True, epsilons=[0.2, 0.3]).curves
    assert curves.deltas[1].upper == pytest.approx(1 - math.exp(-0.05), rel=1e-6)
