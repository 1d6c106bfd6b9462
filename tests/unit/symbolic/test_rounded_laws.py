"""T7, T10: rounded noise on all whole numbers, against cells summed up by hand."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from typing import Any

import pytest
from flint import arb, fmpq

from liptest.balls import precision
from liptest.errors import UnsupportedForm
from liptest.symbolic.noise import Noise
from liptest.symbolic.rounded_comparison import find_rounded_excess, find_rounded_extremes
from liptest.symbolic.rounded_laws import (
    OneNoise,
    RoundedLaw,
    RoundedPart,
)

#: (family, scale, factor, place, low, high), a weight before it.
Spec = tuple[float, str, F, int, F, F | None, F | None]
REACH = 60


def above(family: str, z: float) -> float:
    """P(X > z) of scale 1."""
    if family == "laplace":
        return math.exp(-z) / 2 if z > 0 else 0.5 - math.expm1(z) / 2
    if family == "exponential":
        return math.exp(-z) if z > 0 else 1.0
    if family == "uniform":
        return min(1.0, max(0.0, 1 - z))
    if family == "normal":
        return math.erfc(z / math.sqrt(2)) / 2
    if family == "logistic":
        return 1 / (1 + math.exp(z)) if z < 700 else 0.0
    return -math.expm1(-math.exp(-z)) if z > -700 else 1.0


def below(family: str, z: float) -> float:
    if family in ("laplace", "normal", "logistic"):
        return above(family, -z)
    if family == "gumbel":
        return math.exp(-math.exp(-z)) if z > -700 else 0.0
    return 1 - above(family, z)


def cell(spec: Spec, m: int) -> float:
    """The mass of m, in floats."""
    weight, family, scale, factor, place, low, high = spec
    start = F(m) if low is None else max(F(m), low)
    end = F(m + 1) if high is None else min(F(m + 1), high)
    if start >= end:
        return 0.0
    ends = sorted(float((one - place) / factor / scale) for one in (start, end))
    if ends[0] + ends[1] > 0:
        return weight * (above(family, ends[0]) - above(family, ends[1]))
    return weight * (below(family, ends[1]) - below(family, ends[0]))


def law_of(specs: list[Spec], points: dict[int, float]) -> RoundedLaw:
    parts = []
    for weight, family, scale, factor, place, low, high in specs:
        source = OneNoise(Noise(family, scale), fmpq(factor))
        ends = (
            None if end is None else fmpq(end.numerator, end.denominator) for end in (low, high)
        )
        at = fmpq(place.numerator, place.denominator)
        parts.append(RoundedPart(arb(weight), source, at, *ends))
    return RoundedLaw(parts, {m: arb(weight) for m, weight in points.items()})


def random_pair(seed: int) -> tuple[list[Spec], list[Spec], dict[int, float], dict[int, float]]:
    """Both sides have the same noise, at places that differ, and cuts in common."""
    rng = random.Random(seed)
    families = [rng.choice(["laplace", "exponential", "normal", "logistic", "gumbel", "uniform"])]
    if families[0] in ("laplace", "logistic") and rng.random() < 0.4:
        families.append(rng.choice(["laplace", "logistic"]))
    scale = F(rng.randint(2, 12), 4)
    cuts: list[tuple[F | None, F | None]] = [(None, None)]
    if rng.random() < 0.4:
        at = F(rng.randint(-3, 3))
        cuts = [(None, at), (at, None)]
    sides: tuple[list[Spec], list[Spec]] = ([], [])
    for _ in range(rng.choice([1, 1, 2])):
        family, moved = rng.choice(families), rng.choice([F(1), F(1, 2), F(2)])
        size = scale if family == families[0] else scale + F(1, 2)
        # The scale of uniform noise is that of its factor.
        factor = rng.choice([1, -1]) if family != "uniform" else rng.choice([2, -3])
        size = F(1) if family == "uniform" else size
        place, weight = F(rng.randint(-4, 4), 2), rng.choice([0.25, 0.5, 1.0])
        for low, high in cuts:
            for side in (0, 1):
                sides[side].append((weight, family, size, factor, place + side * moved, low, high))
    points = [{0: 0.125}, {0: 0.25}] if rng.random() < 0.3 else [{}, {}]
    return *sides, points[0], points[1]


def check_pair(seed: int) -> bool:
    left, right, *points = random_pair(seed)
    laws = [law_of(side, some) for side, some in zip((left, right), points, strict=True)]
    tables = [
        [sum(cell(one, m) for one in side) + some.get(m, 0.0) for m in range(-REACH, REACH)]
        for side, some in zip((left, right), points, strict=True)
    ]
    with precision(256):
        for m in (-9, -1, 0, 1, 2, 7):
            for law, table in zip(laws, tables, strict=True):
                assert float(law.probability(m)) == pytest.approx(table[m + REACH], abs=1e-14)
        try:
            found = find_rounded_extremes(*laws)
            excesses = [find_rounded_excess(*laws, arb(factor)).size for factor in (0.5, 1, 1.5, 3)]
        except UnsupportedForm:
            return False
        # Quotients of numbers that are not rounded away in floats.
        quotients = [
            (p / q if q else math.inf)
            for p, q in zip(*tables, strict=True)
            if max(p, q) > 1e-280 and (p == 0 or p > 1e-280) and (q == 0 or q > 1e-280)
        ]
        largest = math.inf if found.largest.value is None else float(arb(found.largest.value))
        smallest = float(arb(found.smallest.value))
        for quotient in quotients:
            assert smallest * (1 - 1e-9) <= quotient <= largest * (1 + 1e-9)
        if found.largest.value is not None and len(found.largest.numbers) == 1:
            (at,) = found.largest.numbers
            p, q = (law.probability(at) for law in laws)
            assert abs(float(p / q) - largest) < 1e-12
        outside = float(laws[0].total()) - math.fsum(tables[0])
        for factor, excess in zip((0.5, 1, 1.5, 3), excesses, strict=True):
            direct = sum(max(0.0, p - factor * q) for p, q in zip(*tables, strict=True))
            assert direct - 1e-12 <= float(excess) <= direct + outside + 1e-12
            assert float(excess.rad()) < 1e-20
    return True


@pytest.mark.parametrize("seed", range(12))
def test_random_mixtures_against_windows(seed: int) -> None:
    check_pair(seed)


@pytest.mark.slow
def test_many_random_mixtures() -> None:
    followed = sum(check_pair(seed) for seed in range(100, 250))
    assert followed > 110


def one(family: str, scale: F, place: F, *cut: Any) -> RoundedLaw:
    return law_of([(1.0, family, scale, 1, place, *(cut or (None, None)))], {})


@pytest.mark.parametrize("family", ["laplace", "logistic"])
@pytest.mark.parametrize("moved", [F(1), F(1, 3), F(5, 2)])
def test_laplace_and_logistic_cost_the_shift_by_the_scale(family: str, moved: F) -> None:
    """T7: t/s for shifts that are not a whole number of cells, too; a limit for logistic noise."""
    with precision(256):
        found = find_rounded_extremes(
            one(family, F(2), F(1, 2)), one(family, F(2), F(1, 2) + moved)
        )
        for extreme in (arb(found.largest.value).log(), -arb(found.smallest.value).log()):
            assert abs(extreme - arb(fmpq(moved.numerator, moved.denominator)) / 2) < 1e-60


@pytest.mark.parametrize("family", ["normal", "gumbel"])
def test_thin_tails_have_no_bound_and_numbers_on_the_way(family: str) -> None:
    with precision(256):
        laws = one(family, F(1), F(0)), one(family, F(1), F(1))
        found = find_rounded_extremes(*laws)
        assert found.largest.value is None
        # The quotient grows to the left, without bound.
        some = [law.probability(found.largest.numbers[3]) for law in laws]
        assert some[0] / some[1] > 100


def test_tens_of_exponential_noise_are_private() -> None:
    """``floor((x + Exp(1)) / 10)``: no cell of positive mass is impossible (refereed, T7)."""
    with precision(256):
        found = find_rounded_extremes(
            one("exponential", F(1, 10), F(0)), one("exponential", F(1, 10), F(1, 10))
        )
        assert abs(arb(found.smallest.value).log() + 1) < 1e-60


def test_weights_that_cancel_leave_a_loss_of_ln_2() -> None:
    """1/3 N(0, 1) + 2/3 N(3, 1) against swapped weights (refereed, T10)."""

    def mixed(first: float) -> RoundedLaw:
        specs: list[Spec] = [
            (weight, "normal", F(1), 1, place, None, None)
            for weight, place in ((first, F(0)), (3 - first, F(3)))
        ]
        return law_of(specs, {})

    with precision(256):
        found = find_rounded_extremes(mixed(1.0), mixed(2.0))
        assert abs(arb(found.largest.value).log() - arb(2).log()) < 1e-25


def test_the_largest_shift_is_not_the_worst_of_rounded_noise() -> None:
    """``floor(x + U[0, .4))``: from 0 to 0.6 H is 0, of the pair (.6, .8) it is 1/2 (refereed)."""

    def at(x: F) -> RoundedLaw:
        source = OneNoise(Noise("uniform", F(1)), fmpq(2, 5))
        return RoundedLaw([RoundedPart(arb(1), source, fmpq(x.numerator, x.denominator))], {})

    with precision(256):
        assert find_rounded_excess(at(F(0)), at(F(3, 5)), arb(1)).size.is_zero()
        found = find_rounded_excess(at(F(3, 5)), at(F(4, 5)), arb(1)).size
        assert abs(found - arb(fmpq(1, 2))) < 1e-60


def test_mixtures_of_normal_and_laplace_noise_are_refused() -> None:
    specs: list[Spec] = [(1.0, one, F(1), 1, F(0), None, None) for one in ("normal", "laplace")]
    with precision(256), pytest.raises(UnsupportedForm):
        find_rounded_extremes(law_of(specs, {}), law_of(specs[:1], {}))
