"""Epsilon-delta, Renyi and trade-off curves, against brute force and closed forms."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import chain, combinations
from statistics import NormalDist

import pytest

import liptest as lt
from liptest.errors import InputError, MechanismError
from liptest.privacy.wording.profile_result import PrivacyProfile
from liptest.report.plots import curves_figure
from tests.unit.privacy.cases import exact
from tests.unit.privacy.test_composition import some_law, stick

CUBE = lt.Hypercube(2)


def ordered_pairs(laws, bits):
    for place in range(len(laws)):
        for bit in range(bits):
            yield laws[place], laws[place ^ (1 << bit)]


def renyi(p, q, order):
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return math.inf
    sizes = [
        order * math.log(a) + (1 - order) * math.log(b) for a, b in zip(p, q, strict=True) if a
    ]
    top = max(sizes)
    return (top + math.log(math.fsum(math.exp(one - top) for one in sizes))) / (order - 1)


def fewest_misses(pairs, alarm):
    """The lower hull of all tests of all pairs at a share of false alarms."""
    tests = {(0.0, 1.0), (1.0, 0.0)}
    for p, q in pairs:
        for event in chain.from_iterable(combinations(range(3), size) for size in range(4)):
            tests.add((float(sum(q[k] for k in event)), 1 - float(sum(p[k] for k in event))))
    left = [one for one in tests if one[0] <= alarm]
    right = [one for one in tests if one[0] >= alarm]
    return min(
        b[1] if a[0] == b[0] else a[1] + (b[1] - a[1]) * (alarm - a[0]) / (b[0] - a[0])
        for a in left
        for b in right
    )


@pytest.mark.parametrize(
    "seed", [pytest.param(k, marks=pytest.mark.slow) if k > 2 else k for k in range(40)]
)
def test_curves_of_random_mechanisms(seed):
    rng = random.Random(seed)
    laws = [some_law(rng) for _ in range(4)]
    grid = [0.1, 0.5, 1.0, 2.0]
    found = lt.privacy_profile(exact(CUBE, laws), CUBE, epsilons=grid).curves
    pairs = list(ordered_pairs(laws, 2))
    for point in found.deltas:
        true = float(max(stick(p, q, Fraction(math.exp(point.at))) for p, q in pairs))
        assert point.lower - 1e-12 <= true <= point.upper + 1e-12
        assert point.upper - point.lower < 1e-9
    for point in found.divergences:
        true = max(renyi(p, q, point.at) for p, q in pairs)
        if math.isinf(true):
            assert point.lower == point.upper == math.inf
        else:
            assert point.lower - 1e-9 <= true <= point.upper + 1e-9
            assert point.upper - point.lower < 1e-9
    for point in found.trade_off:
        true = fewest_misses(pairs, point.at)
        assert point.lower - 1e-12 <= true <= point.upper + 1e-12
        assert point.upper - point.lower < 2e-6


def laplace_count(data, rng):
    return (data == 1).sum() + rng.laplace(scale=1.0)


def normal_count(data, rng):
    return (data == 1).sum() + rng.normal(scale=2.0)


@pytest.mark.slow
@pytest.mark.parametrize("records", [3, 10**6])
def test_laplace_noise_on_data_of_any_size(records):
    found = lt.privacy_profile(laplace_count, lt.Hypercube(records), epsilons=[0.25, 0.5, 1.0])
    for point in found.curves.deltas:
        assert point.upper == pytest.approx(1 - math.exp((point.at - 1) / 2), abs=1e-12)
        assert point.lower == pytest.approx(point.upper, abs=1e-12)
    for point in found.curves.divergences:
        a = point.at
        true = math.log((a * math.exp(a - 1) + (a - 1) * math.exp(-a)) / (2 * a - 1)) / (a - 1)
        assert point.lower == pytest.approx(true, rel=1e-9)
        assert point.upper == pytest.approx(true, rel=1e-9)
    for point in found.curves.trade_off:
        # Two exponentials and the line between them.
        near, far = math.exp(-1) / 2, 0.5
        if point.at < near:
            true = 1 - math.e * point.at
        elif point.at < far:
            true = math.exp(-1) / 4 / point.at
        else:
            true = (1 - point.at) / math.e
        assert point.lower - 1e-12 <= true <= point.upper + 1e-12
        assert point.upper - point.lower < 2e-6


@pytest.mark.slow
def test_normal_noise_is_its_own_trade_off():
    found = lt.privacy_profile(normal_count, lt.Hypercube(5000)).curves
    phi = NormalDist()
    assert found.ends_meet
    for point in found.trade_off:
        true = phi.cdf(phi.inv_cdf(1 - point.at) - 0.5)
        assert point.lower - 1e-12 <= true <= point.upper + 1e-12
        assert point.upper - point.lower < 2e-6
    for point in found.divergences:
        assert point.upper == pytest.approx(point.at / 8, rel=1e-12)


def test_curves_beside_an_exact_profile_are_of_the_same_epsilons():
    law = lt.ProductDistribution.bernoulli([0.1] * 4)
    mechanism = lt.catalogue.randomised_response(4, 1.0)
    found = lt.privacy_profile(mechanism, law, epsilons=[0.5, 1.0], curves=True)
    assert [one.at for one in found.curves.deltas] == [one.epsilon for one in found.points]
    assert found.curves.deltas[1].upper < 1e-12
    # e^1 / (1 + e^1) - e^0.5 / (1 + e^1)
    true = (math.e - math.exp(0.5)) / (1 + math.e)
    assert found.curves.deltas[0].lower == pytest.approx(true, rel=1e-12)
    assert "misses of the best test" in str(found)
    assert PrivacyProfile.from_json(found.to_json()) == found
    assert "curves" not in json.loads(lt.privacy_profile(mechanism, law).to_json())


def test_a_leak_keeps_its_delta_and_has_no_divergence():
    found = lt.privacy_profile(lt.catalogue.leak(4, 0.1), lt.Hypercube(4)).curves
    assert all(one.lower == pytest.approx(0.1, rel=1e-9) for one in found.deltas)
    assert all(math.isinf(one.lower) for one in found.divergences)


@pytest.mark.slow
def test_code_that_always_raises_has_no_curves():
    def raises(data, rng):
        raise ValueError("no answer")

    with pytest.raises(MechanismError, match="ValueError"):
        lt.privacy_profile(raises, lt.Hypercube(3))


def test_a_method_belongs_to_a_distribution():
    with pytest.raises(InputError, match="give a distribution"):
        lt.privacy_profile(normal_count, lt.Hypercube(3), method="neighbourhoods")


@pytest.mark.slow
def test_the_curves_are_drawn():
    pytest.importorskip("matplotlib")
    found = lt.privacy_profile(lt.catalogue.randomised_response(2, 1.0), lt.Hypercube(2))
    figure = curves_figure(found)
    assert [axes.get_xlabel() for axes in figure.axes] == ["epsilon", "order", "false alarms"]
    with pytest.raises(InputError, match="curves=True"):
        curves_figure(PrivacyProfile((), 0.0))
