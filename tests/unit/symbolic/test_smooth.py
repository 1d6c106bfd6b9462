"""Probabilities of constraints on normal, Gumbel and logistic noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from liptest.errors import UnsupportedForm
from liptest.symbolic.probability import System
from tests.unit.symbolic.systems import (
    V,
    argmax,
    at_least,
    at_most,
    below,
    close,
    holds,
    noise,
    probability,
    total,
)

HALF = Fraction(1, 2)
NORMAL, GUMBEL, LOGISTIC, LAPLACE = (
    noise(family) for family in ("normal", "gumbel", "logistic", "laplace")
)


def tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def test_single_variables() -> None:
    assert close(probability([noise("normal", 2)], at_least(V(0), 3)), tail(1.5), 1e-12)
    assert close(probability([NORMAL], at_least(V(0), 30)), tail(30), 1e-12)
    assert close(probability([NORMAL], V(0).between(-2, 1)), 1 - tail(1) - tail(2), 1e-12)
    assert close(probability([GUMBEL], at_most(V(0), -1)), math.exp(-math.e))
    assert close(probability([GUMBEL], at_least(V(0), 30)), -math.expm1(-math.exp(-30)))
    assert close(probability([noise("logistic", 2)], at_least(-V(0), 6)), 1 / (1 + math.exp(3)))


@pytest.mark.parametrize("gap", [0, 1, -8, 25])
def test_two_normal_variables_are_one(gap: int) -> None:
    noises = [noise("normal", 3), noise("normal", 4)]
    found = probability(noises, at_least(V(0) - V(1), gap))
    assert close(found, tail(gap / 5), 1e-12)
    factors = probability(noises, at_least(V(0) * Fraction(4, 3) + 2 * V(1), gap))
    assert close(factors, tail(gap / math.sqrt(80)), 1e-12)


def test_sum_of_many_normal_variables() -> None:
    found = probability([NORMAL] * 9, at_least(total(*range(9)), 3))
    assert close(found, tail(1), 1e-12)


@pytest.mark.parametrize("gap", [0, 2, -11])
def test_difference_of_gumbel_is_logistic(gap: int) -> None:
    found = probability([GUMBEL] * 2, at_least(V(1) - V(0), gap))
    assert close(found, 1 / (1 + math.exp(gap)))


def test_largest_with_gumbel_is_softmax() -> None:
    answers, scale = [0, 3, 1, 4, 8], 2
    weights = [math.exp(answer / scale) for answer in answers]
    for winner in range(5):
        found = argmax([noise("gumbel", scale)] * 5, answers, winner)
        assert close(found, weights[winner] / sum(weights))


def test_logistic_difference() -> None:
    """P(X - Y > t) = 1/(1 - e^t) + t e^t/(1 - e^t)^2."""
    t, growth = 3.0, math.exp(3.0)
    found = probability([LOGISTIC] * 2, at_least(V(0) - V(1), 3))
    assert close(found, 1 / (1 - growth) + t * growth / (1 - growth) ** 2, 1e-12)


@pytest.mark.parametrize("family", ["normal", "gumbel", "logistic"])
def test_orders_are_equally_likely(family: str) -> None:
    noises = [noise(family)] * 4
    assert holds(argmax(noises, [0] * 4, 1), Fraction(1, 4))
    assert holds(probability(noises, below(V(0) - V(2)), below(V(2) - V(1))), Fraction(1, 6))


def test_laplace_against_normal() -> None:
    """P(L - N > t) = (e^(1/2 - t) Phi(t - 1) - e^(1/2 + t) Phi(-t - 1))/2 + Phi(-t)."""
    t = 0.75
    exact = (math.exp(0.5 - t) * tail(1 - t) - math.exp(0.5 + t) * tail(1 + t)) / 2 + tail(t)
    for order in ([LAPLACE, NORMAL], [NORMAL, LAPLACE]):
        gap = V(0) - V(1) if order[0] == LAPLACE else V(1) - V(0)
        assert close(probability(order, at_least(gap, Fraction(t))), exact, 1e-12)


def test_ranges_of_leaves_and_centres() -> None:
    """Cutting the plane into cells by both variables and their difference loses nothing."""
    half = Fraction(1, 2)
    cells = itertools.product(
        (at_most(V(0), 1), at_least(V(0), 1)),
        (at_most(V(1), -1), at_least(V(1), -1)),
        (below(V(0) - V(1), half), at_least(V(0) - V(1), half)),
    )
    assert holds(sum(probability([NORMAL, GUMBEL], *cell) for cell in cells), 1)


def test_impossible_is_exactly_zero() -> None:
    assert probability([NORMAL] * 2, at_least(V(0) - V(1), 1), below(V(0) - V(1), 1)) == 0
    assert probability([NORMAL, noise("uniform")], at_least(V(0)), at_most(V(0) + V(1))) == 0


def test_chains_of_four_are_refused() -> None:
    chain = [below(V(i) - V(i + 1)) for i in range(3)]
    with pytest.raises(UnsupportedForm, match="chains of four"):
        System([NORMAL] * 4).probability(chain)
    assert System([NORMAL] * 4).is_possible(chain)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("kinds", [(NORMAL, NORMAL, LAPLACE), (LAPLACE, LAPLACE, NORMAL)])
def test_kinds_in_one_sum_are_eliminated_one_after_the_other(kinds: Any, order: Any) -> None:
    noises = [kinds[place] for place in order]
    cells = [(None, -1), (-1, Fraction(1, 2)), (Fraction(1, 2), None)]
    parts = [probability(noises, total(0, 1, 2).between(*cell)) for cell in cells]
    assert holds(sum(parts), 1)
    assert holds(parts[2] + probability(noises, total(0, 1, 2).between(0, Fraction(1, 2))), HALF)
