"""Constraints that go around in cycles."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from liptest.errors import UnsupportedForm
from liptest.symbolic.probability import System
from tests.unit.symbolic.systems import (
    V,
    at_least,
    at_most,
    below,
    equal,
    holds,
    noise,
    probability,
    total,
)

LAPLACE = noise("laplace")
HALF = Fraction(1, 2)


def test_what_others_imply_changes_nothing() -> None:
    pairs = itertools.combinations(range(4), 2)
    chain = [below(V(one) - V(other)) for one, other in pairs]
    assert holds(probability([LAPLACE] * 4, *chain), Fraction(1, 24))


def test_a_circle_is_impossible() -> None:
    circle = [below(V(0) - V(1)), below(V(1) - V(2)), below(V(2) - V(0))]
    assert probability([LAPLACE] * 3, *circle) == 0
    ties = [at_most(V(0) - V(1)), at_most(V(1) - V(2)), at_most(V(2) - V(0))]
    assert probability([LAPLACE] * 3, *ties) == 0
    found = probability([noise("geometric", HALF)] * 3, *ties)
    assert holds(found, Fraction(1, 7))  # all three are equal
    assert probability([noise("geometric", HALF)] * 3, *ties[:2], below(V(2) - V(0))) == 0


def test_uniform_variables_within_a_distance() -> None:
    """P(all differences <= r) = 3 r^2 - 2 r^3 for three variables on [0, 1)."""
    r = Fraction(1, 3)
    near = [(V(i) - V(j)).between(-r, r) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert holds(probability([noise("uniform")] * 3, *near), 3 * r**2 - 2 * r**3)


def test_discrete_variables_within_a_distance() -> None:
    """P(all differences <= 1), by the least of three geometric variables with p = 1/2."""
    near = [
        (V(i) - V(j)).between(-1, 1, low_closed=True, high_closed=True)
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    # All in {m, m + 1}, not all m + 1: sum of 2^-3m ((1 + 1/2)^3 - 1/8).
    exact = Fraction(1, 7) * (Fraction(27, 8) - Fraction(1, 8))
    assert holds(probability([noise("geometric", HALF)] * 3, *near), exact)


@pytest.mark.parametrize("family", ["laplace", "two-sided geometric"])
def test_cells_of_all_differences_add_up(family: str) -> None:
    noises = [noise(family, HALF)] * 3
    gaps = [V(0) - V(1), V(1) - V(2), V(0) - V(2)]
    cells = [
        probability(
            noises, *(side(gap, at) for side, gap, at in zip(sides, gaps, (0, 1, 1), strict=True))
        )
        for sides in itertools.product((below, at_least), repeat=3)
    ]
    assert holds(sum(cells), 1)
    assert [place for place, cell in enumerate(cells) if cell == 0] == [1, 6]


def test_two_directions_of_the_same_two_variables() -> None:
    """|X + Y| + |X - Y| = 2 max(|X|, |Y|)."""
    square = [total(0, 1).between(-1, 1), (V(0) - V(1)).between(-1, 1)]
    found = probability([noise("uniform")] * 2, *square)
    assert holds(found, HALF)


def test_a_point_inside_a_cycle() -> None:
    near = [(V(i) - V(j)).between(-1, 1) for i, j in ((0, 1), (0, 2), (1, 2))]
    point = System([LAPLACE] * 3).points_inside(near)(np.random.default_rng(5))
    assert all(abs(a - b) < 1 for a, b in itertools.combinations(point, 2))


def test_sums_of_discrete_variables_in_cycles_are_refused() -> None:
    noises = [noise("geometric", HALF)] * 2
    with pytest.raises(UnsupportedForm, match="not all of them differences"):
        System(noises).is_possible([equal(total(0, 1), 3), equal(V(0) - V(1))])
