"""Extremes of the log ratio of two densities, against grids of values and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.balls import CERTIFIED_BITS, precision
from liptest.errors import UnsupportedForm
from liptest.symbolic import elimination as shapes
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.densities import extremes, find_density, in_terms_of, joint
from liptest.symbolic.exponential_polynomials import Function, Rates
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise

Made = tuple[Rates, Function]


def maximum(
    counts: tuple[int, ...], family: str = "laplace", scale: Fraction = Fraction(2)
) -> Made:
    """The density of the largest of counts with noise, as a sum over which one it is."""
    noises = tuple(Noise(family, scale) for _ in counts)
    rates = shapes.find_rates(frozenset(noises))
    parts = []
    for winner, count in enumerate(counts):
        beaten = [
            (Form.variable(winner) - Form.variable(j) + Fraction(count - other)).between(
                low=0, low_closed=True
            )
            for j, other in enumerate(counts)
            if j != winner
        ]
        known = joint(noises, beaten, ((winner, 1),))
        assert known is not None
        parts.append(in_terms_of(rates, find_density(known, rates), Fraction(1), Fraction(count)))
    return rates, functions.add_functions(rates, parts)


def value_at(made: Made, t: float) -> float:
    rates, function = made
    at = fmpq(*Fraction(t).as_integer_ratio())
    for piece in function:
        if (piece.low is None or piece.low <= at) and (piece.high is None or at < piece.high):
            total = 0.0
            for (power, offset), (low, poly) in piece.terms.items():
                for k, coefficient in enumerate(poly.coeffs()):
                    rate = rates.rate(offset, low + k)
                    place = float(arb(at - piece.origin))
                    size = float(coefficient) * place**power
                    total += size * math.exp(float(arb(rate)) * place)
            return total
    return 0.0


def plain_maximum(counts: tuple[int, ...], t: float, scale: float = 2.0) -> float:
    """The same from the product of distribution functions."""

    def below(x: float) -> float:
        return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)

    def density(x: float) -> float:
        return math.exp(-abs(x) / scale) / (2 * scale)

    return sum(
        density(t - c) * math.prod(below(t - o) for j, o in enumerate(counts) if j != i)
        for i, c in enumerate(counts)
    )


COUNTS = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)


@settings(max_examples=40, deadline=None)
@given(COUNTS, st.floats(-8, 12))
def test_a_sum_of_joint_densities_is_the_density_of_the_maximum(
    counts: tuple[int, ...], t: float
) -> None:
    with precision(CERTIFIED_BITS):
        assert value_at(maximum(counts), t) == pytest.approx(plain_maximum(counts, t), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    COUNTS.flatmap(lambda one: st.tuples(st.just(one), st.tuples(*[st.integers(0, 3)] * len(one))))
)
def test_no_value_of_a_grid_is_beyond_the_extremes_and_some_come_close(
    pair: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    grid = [k / 8 for k in range(-400, 480)]
    with precision(CERTIFIED_BITS):
        made = [maximum(counts) for counts in pair]
        found = extremes(made[0][0], made[0][1], made[1][1])
        assert found.largest is not None
        assert found.smallest is not None
        ratios = [math.log(plain_maximum(pair[0], t) / plain_maximum(pair[1], t)) for t in grid]
        assert max(ratios) <= float(found.largest.upper()) + 1e-9
        assert min(ratios) >= float(found.smallest.lower()) - 1e-9
        assert max(ratios) >= float(found.largest.lower()) - 1e-2
        assert min(ratios) <= float(found.smallest.upper()) + 1e-2
        assert float(found.largest.rad()) < 2e-12


def test_the_noisy_maximum_of_five_counts() -> None:
    """cases.json, cat2-32: 5 queries of scale 2 / epsilon that all move have loss 2.5."""
    with precision(CERTIFIED_BITS):
        rates, below = maximum((1, 1, 1, 1, 1))
        found = extremes(rates, below, maximum((2, 2, 2, 2, 2))[1])
        assert found.largest is not None
        assert found.smallest is not None
        assert found.largest.contains(arb(2.5))
        assert found.smallest.contains(arb(-0.5))


def test_where_one_side_has_nothing_there_is_no_bound() -> None:
    with precision(CERTIFIED_BITS):
        rates, low = maximum((0,), "exponential")
        high = maximum((1,), "exponential")[1]
        found = extremes(rates, low, high)
        assert (found.largest, found.smallest) == (None, None)
        (at,) = found.above
        assert 0 < at < 1
        assert extremes(rates, high, low).below


def test_tails_of_other_scales_have_no_bound() -> None:
    with precision(CERTIFIED_BITS):
        noises = Noise("laplace", Fraction(1)), Noise("laplace", Fraction(2))
        rates = shapes.find_rates(frozenset(noises))
        known: Any = [joint((noise,), (), ((0, 1),)) for noise in noises]
        narrow, wide = (find_density(one, rates) for one in known)
        assert extremes(rates, wide, narrow).above[-1] < -50
        assert extremes(rates, narrow, wide).below[-1] < -50
        assert extremes(rates, narrow, narrow).largest.contains(0)


def test_densities_that_fall_to_0_together_are_refused() -> None:
    with precision(CERTIFIED_BITS):
        rates, one = maximum((2, 2), "exponential")
        with pytest.raises(UnsupportedForm, match="fall to 0"):
            extremes(rates, one, maximum((2, 1), "exponential")[1])


def test_powers_of_the_variable_between_two_ends() -> None:
    """Numbers that are compared one after the other: the density has terms t e^(rate t)."""
    noise = (Noise("laplace", Fraction(1)),) * 3
    made = []
    for shift in (Fraction(0), Fraction(1)):
        chain = [
            (Form.variable(0) - Form.variable(1)).between(high=shift),
            (Form.variable(1) - Form.variable(2)).between(high=Fraction(2)),
        ]
        known = joint(noise, chain, ((2, 1),))
        assert known is not None
        made.append(known)
    with precision(CERTIFIED_BITS):
        rates = shapes.find_rates(frozenset(noise))
        one, other = ((rates, find_density(known, rates)) for known in made)
        assert any(power for piece in other[1] for power, _ in piece.terms)
        found = extremes(rates, one[1], other[1])
        grid = [k / 8 for k in range(-160, 161)]
        ratios = [math.log(value_at(one, t) / value_at(other, t)) for t in grid]
        assert float(found.smallest) - 1e-9 <= min(ratios) <= float(found.smallest) + 1e-2
        assert float(found.largest) - 1e-2 <= max(ratios) <= float(found.largest) + 1e-9


def test_smooth_noise_that_is_compared_is_refused() -> None:
    noises = (Noise("normal", Fraction(1)), Noise("laplace", Fraction(1)))
    known = joint(noises, [(Form.variable(0) - Form.variable(1)).between(low=0)], ((1, 1),))
    assert known is not None
    rates = shapes.find_rates(frozenset(noises))
    with precision(CERTIFIED_BITS), pytest.raises(UnsupportedForm, match="noise of another kind"):
        find_density(known, rates)
    alone = joint(noises, [], ((0, 1),))
    assert alone is not None
    assert alone.is_free
    with pytest.raises(UnsupportedForm, match="normal noise"):
        find_density(alone, rates)
    impossible = [Form.variable(0).between(low=1), Form.variable(0).between(high=0)]
    assert joint(noises, impossible, ((1, 1),)) is None
