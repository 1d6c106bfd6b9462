"""rho and mu of rounded noise: exact by cells of whole numbers, or as of the noise before."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest
from flint import arb, fmpq

import liptest as lt
from liptest.symbolic.noise import Noise
from liptest.symbolic.rounded_comparison import quotient_cells
from liptest.symbolic.rounded_laws import OneNoise, RoundedLaw, RoundedPart

BITS = lt.Hypercube(2)
FAR = 60


def laplace(data: Any, rng: Any) -> int:
    return round(data.sum() + rng.laplace(0, 1.5))


def floor_of_half(data: Any, rng: Any) -> int:
    return math.floor(data.sum() / 2 + rng.laplace(0, 1.0))


def logistic(data: Any, rng: Any) -> int:
    return round(data.sum() + rng.logistic(0, 1.0))


def at_least_0(data: Any, rng: Any) -> int:
    return max(0, round(data.sum() + rng.laplace(0, 1.0)))


def two_scales(data: Any, rng: Any) -> int:
    return round(data.sum() + rng.laplace(0, 1.0 if rng.random() < 0.5 else 2.0))


def of_laplace(x: float, scale: float) -> float:
    tail = math.exp(-abs(x) / scale) / 2
    return tail if x < 0 else 1 - tail


def of_logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def cells(below: Callable[[float], float], place: float, half: float) -> list[float]:
    """Probabilities of -FAR .. FAR of a rounded number: half 1/2 rounds, half 0 is floor."""
    left = lambda n: below(n - half - place)  # noqa: E731
    right = lambda n: 1 - below(n - half - place)  # noqa: E731
    known = range(-FAR, FAR + 1)
    return [left(n + 1) - left(n) if n < place else max(right(n) - right(n + 1), 0) for n in known]


def pairs_of(function: Any) -> list[tuple[list[float], list[float]]]:
    if function is laplace:
        laws = [cells(lambda x: of_laplace(x, 1.5), k, 0.5) for k in range(3)]
    elif function is floor_of_half:
        laws = [cells(lambda x: of_laplace(x, 1.0), k / 2, 0.0) for k in range(3)]
    elif function is logistic:
        laws = [cells(of_logistic, k, 0.5) for k in range(3)]
    elif function is two_scales:
        laws = [
            [
                (p + q) / 2
                for p, q in zip(
                    cells(lambda x: of_laplace(x, 1.0), k, 0.5),
                    cells(lambda x: of_laplace(x, 2.0), k, 0.5),
                    strict=True,
                )
            ]
            for k in range(3)
        ]
    else:
        laws = [cells(lambda x: of_laplace(x, 1.0), k, 0.5) for k in range(3)]
        laws = [[sum(law[: FAR + 1]), *law[FAR + 1 :]] for law in laws]
    return [(laws[a], laws[b]) for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))]


def rho_of(p: list[float], q: list[float]) -> float:
    """The largest D_a / a over many orders, by sums."""
    pairs = [(x, y) for x, y in zip(p, q, strict=True) if x > 1e-14 and y > 1e-14]
    found = sum(x * math.log(x / y) for x, y in pairs)
    for step in range(1, 400):
        order = 1 + step / 40
        moment = sum(x * (x / y) ** (order - 1) for x, y in pairs)
        found = max(found, math.log(moment) / (order - 1) / order)
    return found


def mu_of(p: list[float], q: list[float]) -> float:
    """By the errors of all tests that the likelihood ratio makes."""
    order = sorted(range(len(p)), key=lambda k: q[k] / p[k] if p[k] > 1e-14 else 0.0)
    normal, found, first, second = NormalDist(), 0.0, 0.0, 1.0
    for k in order:
        first, second = first + q[k], second - p[k]
        if min(first, second) > 1e-9 and max(first, second) < 1 - 1e-9:
            found = max(found, normal.inv_cdf(1 - first) - normal.inv_cdf(second))
    return found


PROGRAMS = [laplace, floor_of_half, logistic, at_least_0, two_scales]


@pytest.mark.slow
@pytest.mark.parametrize("function", PROGRAMS)
def test_rho_and_mu_of_rounded_noise_are_those_of_sums(function: Any) -> None:
    mechanism = lt.mechanism(function)
    rho, mu = lt.exact_rho(mechanism, BITS), lt.exact_mu(mechanism, BITS)
    for found in (rho, mu):
        assert found.lower <= found.value <= found.upper <= found.lower * (1 + 1e-9)
    assert rho.value == pytest.approx(max(rho_of(*one) for one in pairs_of(function)), rel=1e-5)
    assert mu.value == pytest.approx(max(mu_of(*one) for one in pairs_of(function)), rel=1e-5)


@pytest.mark.slow
def test_rounded_normal_noise_costs_what_normal_noise_costs() -> None:
    """Its largest loss has no bound: the upper end is that of the noise before it is rounded."""

    def normal(data: Any, rng: Any) -> int:
        return round(data.sum() + rng.normal(0, 2.0))

    mechanism = lt.mechanism(normal)
    rho, mu = lt.exact_rho(mechanism, BITS), lt.exact_mu(mechanism, BITS)
    assert 0.12 < rho.lower <= rho.upper == pytest.approx(1 / 8, rel=1e-12)
    assert 0.49 < mu.lower <= mu.upper == pytest.approx(1 / 2, rel=1e-12)


@pytest.mark.slow
def test_rounded_noise_on_many_records() -> None:
    many = lt.Hypercube(300)
    few, found = (lt.exact_rho(lt.mechanism(laplace), one) for one in (BITS, many))
    assert found.lower == pytest.approx(few.lower, rel=1e-11)
    assert found.upper <= few.upper * (1 + 1e-10)


@pytest.mark.parametrize("family", ["laplace", "logistic"])
@pytest.mark.parametrize("places", [(0, 1), (fmpq(1, 3), 2), (5, fmpq(-7, 4))])
def test_cells_hold_every_number_once(family: str, places: tuple[Any, Any]) -> None:
    source = OneNoise(Noise(family, Fraction(2)), fmpq(1))
    laws = [RoundedLaw([RoundedPart(arb(1), source, fmpq(place))], {}) for place in places]
    found = list(quotient_cells(*laws))
    assert sum((one.above for one in found), arb(0)).overlaps(arb(1))
    assert sum((one.below for one in found), arb(0)).overlaps(arb(1))
    for one in found:
        assert one.quotient is not None
        assert (one.above / one.below).overlaps(one.quotient)
    for number in range(-80, 80):
        ratio = laws[0].probability(number) / laws[1].probability(number)
        assert any(ratio.overlaps(one.quotient) for one in found)
