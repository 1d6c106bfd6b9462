"""Claims of rho, Renyi divergences, mu and curves, through every method that takes them."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.verify import problems
from liptest.mechanisms.laws import ZERO_LOG, LawTable
from liptest.privacy.comparison import Answer
from liptest.privacy.divergences.noise_likelihoods import orders_of_shifts
from liptest.privacy.divergences.quantiles import normal_quantiles
from liptest.privacy.divergences.screening import screen_mu, screen_orders, screen_rho
from liptest.privacy.notions import CurveClaim, MuClaim, RenyiClaim, RhoClaim, find_stated_claim
from liptest.runs.fingerprints import fingerprint

CUBE = lt.Hypercube(2)
UNIFORM = lt.ProductDistribution.bernoulli([0.5] * 2)
PAIRS = [(0, 1), (0, 2), (1, 3), (2, 3)]
ANSWERS = lt.ProductDistribution.uniform(lt.AnswerGrid([3, 3], relation="all"))


@lt.mechanism
def permute_and_flip(answers, rng):
    order = [0, 1] if rng.random() < 0.5 else [1, 0]
    top = max(answers)
    for i in order:
        if rng.random() < math.exp(float(answers[i]) - float(top)):
            return i
    return 0


def divergence(p, q, order):
    if np.any((q == 0) & (p > 0)):
        return math.inf
    p, q = p[p > 0], q[p > 0]
    if order == 1:
        return float(np.sum(p * np.log(p / q)))
    return math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)


def mu_of(p, q):
    if np.any((q == 0) != (p == 0)):
        return math.inf
    p, q = p[p > 0], q[p > 0]
    order = np.argsort(q / p)
    below = list(zip(np.cumsum(p[order])[:-1], np.cumsum(q[order])[:-1], strict=True))
    inverse = NormalDist().inv_cdf
    return max([0.0, *(inverse(a) - inverse(b) for a, b in below if b > 0 and a < 1)])


ORDERS = [1.0] + [1 + 10 ** (k / 15) for k in range(-45, 32)]


def worst(laws, measure):
    sides = [(laws[x], laws[y]) for a, b in PAIRS for x, y in ((a, b), (b, a))]
    return max(measure(p, q) for p, q in sides)


def rho_of(p, q):
    return max(divergence(p, q, order) / order for order in ORDERS)


def table_mechanism(laws):
    logs = np.log(laws, out=np.full(laws.shape, -np.inf), where=laws > 0)
    return lt.ClosedForm(
        list(range(laws.shape[1])), lambda data: logs[2 * data[:, 0] + data[:, 1]], exact_zeros=True
    )


@st.composite
def tables(draw, least=1):
    outputs = draw(st.integers(2, 4))
    rows = [
        draw(st.lists(st.integers(least, 12), min_size=outputs, max_size=outputs)) for _ in "1234"
    ]
    weights = np.array(rows, dtype=np.float64) + (np.arange(outputs) == 0) * (least == 0)
    return weights / weights.sum(axis=1, keepdims=True)


def decide(laws, method="exhaustive", **claim):
    return lt.check_privacy(table_mechanism(laws), UNIFORM, method=method, seed=1, **claim).decision


@pytest.mark.slow
def test_a_claim_that_no_epsilon_and_delta_refutes():
    verdict = lt.check_privacy(permute_and_flip, ANSWERS, rho=0.5)
    assert verdict.decision == "NO"
    assert verdict.witness.verify(permute_and_flip)
    assert verdict.witness.loss_lower > verdict.witness.order * 0.5
    found = lt.check_privacy(permute_and_flip, ANSWERS, renyi=(2, 1.0))
    assert found.decision == "NO"
    assert found.witness.order == 2
    assert found.witness.loss_lower >= 1.3769
    exact = lt.exact_rho(permute_and_flip, ANSWERS.domain)
    assert exact.lower <= exact.value <= exact.upper <= exact.lower * (1 + 1e-8)
    assert lt.check_privacy(permute_and_flip, ANSWERS, rho=exact.value).decision == "YES"
    below = lt.check_privacy(permute_and_flip, ANSWERS, rho=exact.value * (1 - 1e-6))
    assert below.decision == "NO"


@pytest.mark.slow
@settings(max_examples=12)
@given(tables())
def test_every_notion_against_brute_force(laws):
    for measure, make, exact in (
        (rho_of, lambda value: {"rho": value}, lt.exact_rho),
        (mu_of, lambda value: {"mu": value}, lt.exact_mu),
        (lambda p, q: divergence(p, q, 3.5), lambda value: {"renyi": (3.5, value)}, None),
    ):
        value = worst(laws, measure)
        if value < 1e-6:
            continue
        assert decide(laws, **make(value * 1.001)) == "YES"
        assert decide(laws, **make(value * 0.999)) == "NO"
        if exact is not None:
            found = exact(table_mechanism(laws), CUBE)
            assert found.lower * (1 - 1e-9) <= value * (1 + 1e-3)
            assert value <= found.upper * (1 + 1e-9) + 1e-12
            assert found.upper <= found.lower * (1 + 1e-5) + 1e-9


@pytest.mark.slow
@settings(max_examples=12)
@given(tables(least=0))
def test_an_output_on_one_side_only_breaks_every_notion(laws):
    infinite = worst(laws, lambda p, q: divergence(p, q, 2)) == math.inf
    for claim in ({"rho": 1e6}, {"mu": 1e6}, {"renyi": (2, 1e6)}):
        assert decide(laws, **claim) == ("NO" if infinite else "YES")
    assert (lt.exact_rho(table_mechanism(laws), CUBE).value == math.inf) == infinite
    assert (lt.exact_mu(table_mechanism(laws), CUBE).value == math.inf) == infinite


@pytest.mark.slow
@settings(max_examples=15)
@given(tables(), st.integers(0, 3))
def test_screening_is_never_too_low(laws, seed):
    table = LawTable(
        tuple(range(laws.shape[1])), np.maximum(np.log(laws), ZERO_LOG), None, np.full(4, 1e-15)
    )
    left, right = (np.array(side) for side in zip(*PAIRS, strict=True))
    for limit in (1e-3, 0.3):
        found = screen_rho(table, left, right, limit)
        for k, (a, b) in enumerate(PAIRS):
            true = max(rho_of(laws[a], laws[b]), rho_of(laws[b], laws[a]))
            assert true <= found.above[k] * (1 + 1e-12) + 1e-11
            assert found.measured[k] <= true * (1 + 0.1) + 1e-11
    several = screen_orders(table, left, right, [1.5, 4.0])
    both = screen_mu(table, left, right)
    for k, (a, b) in enumerate(PAIRS):
        for j, order in enumerate((1.5, 4.0)):
            true = max(divergence(laws[a], laws[b], order), divergence(laws[b], laws[a], order))
            assert true <= several.above[k, j] * (1 + 1e-12) + 1e-11
            assert several.measured[k, j] == pytest.approx(true, abs=1e-9)
        true = max(mu_of(laws[a], laws[b]), mu_of(laws[b], laws[a]))
        assert true <= both.above[k]
        assert both.above[k] - true < 1e-5


def test_quantiles_in_floats():
    tails = np.array([1e-300, 1e-12, 1e-3, 0.02, 0.03, 0.3, 0.5])
    exact = np.array([NormalDist().inv_cdf(x) for x in tails])
    assert np.allclose(normal_quantiles(tails, 1 - tails), exact, rtol=1e-8, atol=1e-8)
    assert np.allclose(normal_quantiles(1 - tails, tails), -exact, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.7, 3, 40.5])
@pytest.mark.parametrize("width", [1, 3])
def test_discrete_gaussian_exactly_at_its_rho(sigma, width):
    noisy = lt.ShiftMechanism(lt.statistics.WeightedSum([width] * 4), lt.DiscreteGaussian(sigma))
    law = lt.ProductDistribution.bernoulli([0.3] * 4)
    rho = width**2 / (2 * sigma**2)
    for method in ("exhaustive", "neighbourhoods"):
        assert lt.check_privacy(noisy, law, rho=rho, method=method, seed=2).decision == "YES"
        refused = lt.check_privacy(noisy, law, rho=rho * (1 - 1e-6), method=method, seed=2)
        assert refused.decision == "NO"
        assert refused.witness.verify(noisy)
    assert lt.exact_rho(noisy, law.domain).value == pytest.approx(rho, rel=1e-14)
    assert lt.check_privacy(noisy, law, renyi=[(2, 2 * rho), (8, 8 * rho)]).decision == "YES"


@pytest.mark.parametrize("scales", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_discrete_gaussians_of_many_scales_exactly_at_their_rho(scales):
    rng = random.Random(scales)
    for _ in range(scales):
        sigma = rng.choice((rng.uniform(0.3, 3), rng.uniform(3, 60), rng.randrange(1, 200) / 7))
        noise, width = lt.DiscreteGaussian(sigma), rng.randrange(1, 40)
        exact = Fraction(width**2) / (2 * noise.sigma**2)
        rho = float(exact) if Fraction(float(exact)) >= exact else math.nextafter(exact, math.inf)
        orders = orders_of_shifts(noise, [width])
        assert RhoClaim(rho, 0.0).decide(orders).answer is Answer.CLEAR
        assert RhoClaim(rho * (1 - 1e-6), 0.0).decide(orders).answer is Answer.VIOLATED


@pytest.mark.slow
def test_discrete_gaussian_noise_is_worse_than_normal_noise():
    # On whole numbers s / sigma is not a mu.
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(3))
    law = lt.ProductDistribution.bernoulli([0.3] * 4)
    x = np.arange(-100, 101)
    masses = np.exp(-(x**2) / 18)
    masses /= masses.sum()
    tails = [math.fsum(masses[k:]) for k in range(90, 170)]
    quantiles = [NormalDist().inv_cdf(tail) for tail in tails]
    known = max(a - b for a, b in pairwise(quantiles))
    assert 1 / 3 < known < 0.34
    for claimed in (0.1, 1 / 3, known * (1 - 1e-6)):
        verdict = lt.check_privacy(noisy, law, mu=claimed)
        assert verdict.decision == "NO"
        assert verdict.witness.verify(noisy)
        assert verdict.witness.loss_lower == pytest.approx(known, rel=1e-9)
    for claimed in (known * (1 + 1e-6), 1.0):
        assert lt.check_privacy(noisy, law, mu=claimed).decision == "YES"
    assert lt.exact_mu(noisy, law.domain).value == pytest.approx(known, rel=1e-9)


def test_noise_on_several_numbers():
    # Both counts of a histogram move: divergences add up, and mu is refused.
    from liptest.mechanisms.shift import VectorShift

    noisy = VectorShift(lt.Histogram(3), lt.DiscreteGaussian(2))
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3] * 4))
    assert lt.exact_rho(noisy, law.domain).value == pytest.approx(2 / 8)
    assert lt.check_privacy(noisy, law, rho=0.25).decision == "YES"
    assert lt.check_privacy(noisy, law, rho=0.249).decision == "NO"
    with pytest.raises(lt.errors.InputError, match="no closed form"):
        lt.check_privacy(noisy, law, mu=1.0)


@pytest.mark.parametrize("method", ["neighbourhoods", "light-neighbourhoods", "edges"])
@pytest.mark.parametrize(
    ("claim", "enough"),
    [
        ("rho", 0.5 * math.tanh(0.25)),
        ("mu", 2 * NormalDist().inv_cdf(1 / (1 + math.exp(-0.5)))),
        ("renyi", (4, 0.36)),
        ("curve", {0.25: 0.1385, 0.5: 1e-9}),
    ],
)
def test_sampling_says_what_it_says_of_epsilon(method, claim, enough):
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    law = lt.ProductDistribution.bernoulli([0.3] * 30)
    options = {"method": method, "seed": 3, "exception_mass": 0.01, "search_laws": 0}
    verdict = lt.check_privacy(noisy, law, **{claim: enough}, **options)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "sampling"
    assert verdict.guarantee.epsilon is verdict.guarantee.delta is None
    less = {
        "renyi": (4, 0.2),
        "curve": {0.25: 0.1, 0.5: 1e-9},
    }.get(claim, enough if isinstance(enough, (dict, tuple)) else enough * 0.99)
    assert lt.check_privacy(noisy, law, **{claim: less}, **options).decision == "NO"


@pytest.mark.slow
def test_symmetric_records_and_searches_take_all_claims():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    law = lt.ProductDistribution.bernoulli([0.01] * 1500)
    options = {"method": "neighbourhoods", "seed": 1}
    assert lt.check_privacy(noisy, law, rho=0.005, **options).decision == "YES"
    assert lt.check_privacy(noisy, law, rho=0.00499, **options).decision == "NO"
    assert lt.check_privacy(noisy, law, rho=0.004, method="search", seed=1).decision == "NO"


@pytest.mark.parametrize("method", ["group", lt.testers.VarianceEdges()])
def test_what_has_no_theorem_is_refused(method):
    mechanism = table_mechanism(np.full((4, 2), 0.5))
    with pytest.raises(lt.errors.InputError, match="Lipschitz testing covers only epsilon"):
        lt.check_privacy(mechanism, UNIFORM, rho=1.0, method=method, seed=1)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ({}, "nothing given"),
        ({"epsilon": 1, "rho": 1}, "epsilon and rho given"),
        ({"rho": 1, "mu": 1}, "exactly one"),
        ({"rho": 1, "delta": 1e-6}, "delta"),
        ({"rho": 0}, "rho=0"),
        ({"mu": math.inf}, "mu=inf"),
        ({"renyi": 2}, "pair"),
        ({"renyi": (1, 2)}, "above 1"),
        ({"renyi": [(2, 0)]}, "tau"),
        ({"renyi": []}, "pair"),
        ({"curve": {}}, "curve"),
        ({"curve": [1, 2]}, "curve"),
        ({"curve": {1.0: 2.0}}, "delta"),
    ],
)
def test_exactly_one_claim_is_stated(claim, says):
    with pytest.raises(lt.errors.InputError, match=says):
        lt.check_privacy(permute_and_flip, ANSWERS, **claim)


def test_claims_are_read_and_written():
    stated = [
        find_stated_claim(None, 0, 1e-9, rho=0.5),
        find_stated_claim(None, 0, 1e-9, renyi=(2, 1.5)),
        find_stated_claim(None, 0, 1e-9, renyi=[[8, 3], [2, 1.5]]),
        find_stated_claim(None, 0, 0.0, mu=1),
        find_stated_claim(None, 0, 1e-9, curve={"log(3)": 0.1, 0.5: 0.2}),
    ]
    kinds = (RhoClaim, RenyiClaim, RenyiClaim, MuClaim, CurveClaim)
    for claim, kind in zip(stated, kinds, strict=True):
        assert isinstance(claim, kind)
        assert kind.from_json(claim.to_json()) == claim
    assert stated[2].orders == ((2.0, 1.5), (8.0, 3.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        *({"rho": value} for value in (0.5, 2.0)),
        *({"mu": value} for value in (1.0, 2.5)),
        *({"renyi": [(2, tau), (8, 2.0)]} for tau in (1.0, 1.5)),
        *({"curve": {1.0: delta, 2.0: 1e-9}} for delta in (0.1, 0.4)),
    ],
    ids=str,
)
def test_a_certificate_of_every_claim_is_verified(claim):
    verdict = lt.check_privacy(permute_and_flip, ANSWERS, seed=5, **claim)
    assert lt.PrivacyVerdict.from_json(verdict.to_json()) == verdict
    made = certify(verdict, fingerprint(permute_and_flip), ANSWERS, own_seed=True)
    again = Certificate.from_json(made.to_json())
    assert again.verdict == verdict
    assert problems(made.to_json(), permute_and_flip, ANSWERS) == []
    assert str(verdict.claim) in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim", [{"rho": 0.3}, {"mu": 0.8}, {"renyi": (2, 0.7)}, {"curve": {1.0: 0.3, 2.0: 0.2}}]
)
def test_a_false_yes_is_as_rare_as_promised_and_a_starved_test_is_not(claim):
    # One dataset of eight, of mass 0.063, is bad: no set of mass 0.06 meets its pairs.
    bad = np.full((8, 2), 0.5)
    bad[5] = [0.95, 0.05]
    logs = np.log(bad)
    mechanism = lt.ClosedForm([0, 1], lambda data: logs[data @ [4, 2, 1]])
    law = lt.ProductDistribution.bernoulli([0.3, 0.3, 0.3])
    numbers = {"exception_mass": 0.06, "failure_probability": 0.1, "method": "light-neighbourhoods"}
    wrong = starved = 0
    for seed in range(100):
        options = {**numbers, "search_laws": 0, "seed": seed, **claim}
        wrong += lt.check_privacy(mechanism, law, **options).decision == "YES"
        options["failure_probability"] = 0.9
        starved += lt.check_privacy(mechanism, law, **options).decision == "YES"
    # 100 draws of chance 0.1 exceed 40 with probability below 1e-12.
    assert wrong <= 40 < starved
