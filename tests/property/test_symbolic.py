"""Probabilities of constraints on noise: sums over all values, partitions, symmetries, order."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System
from tests.unit.symbolic.systems import holds, probability

CONTINUOUS = [
    Noise("laplace", Fraction(1)),
    Noise("laplace", Fraction(4, 3)),
    Noise("laplace", Fraction(0.3)),
    Noise("exponential", Fraction(2)),
    Noise("uniform", Fraction(1)),
]
SMOOTH = [Noise(family, Fraction(1)) for family in ("normal", "gumbel", "logistic")]
WHOLE = [
    Noise("two-sided geometric", Fraction(1, 3)),
    Noise("two-sided geometric", Fraction(1, 2)),
    Noise("geometric", Fraction(2, 3)),
    Noise("geometric", Fraction(1, 2)),
]
#: Of each discrete variable the values up to this size are listed.
LISTED = 44

Case = tuple[list[Noise], list[Constraint]]


@st.composite
def ends(draw: st.DrawFn) -> tuple[Fraction | None, Fraction | None]:
    low = draw(st.none() | st.fractions(-4, 3, max_denominator=2))
    width = draw(st.none() | st.fractions(Fraction(1, 2), 5, max_denominator=2))
    start = Fraction(-2) if low is None else low
    return low, None if width is None else start + width


@st.composite
def constraint(draw: st.DrawFn, terms: Any) -> Constraint:
    low, high = draw(ends())
    closed = draw(st.booleans()), draw(st.booleans())
    return Constraint.make(terms, low, high, low_closed=closed[0], high_closed=closed[1])


@st.composite
def forests(draw: st.DrawFn, kinds: list[Noise], most: int, factors: list[Any]) -> Case:
    """Variables, each joined with at most one before it, some of them in ranges."""
    noises = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most))
    factor = st.sampled_from(factors)
    made = []
    for one in range(len(noises)):
        if one and draw(st.booleans()):
            other = draw(st.integers(0, one - 1))
            made.append(draw(constraint([(one, draw(factor)), (other, draw(factor))])))
        if draw(st.integers(0, 3)) == 0:
            made.append(draw(constraint([(one, draw(factor))])))
    return noises, made


@st.composite
def stars(draw: st.DrawFn) -> Case:
    noises = draw(st.lists(st.sampled_from(CONTINUOUS + SMOOTH), min_size=2, max_size=4))
    made = [draw(constraint([(0, 1), (one, -1)])) for one in range(1, len(noises))]
    return noises, made


cases = forests(CONTINUOUS, 5, [1, -1, 2, Fraction(-1, 3)]) | forests(WHOLE, 4, [1, -1]) | stars()


def listed(noises: list[Noise], constraints: list[Constraint]) -> float:
    """The sum over all values that are listed."""
    values = np.arange(-LISTED, LISTED + 1)
    shape = [1] * len(noises)
    weight, inside = np.ones(shape), np.ones(shape, dtype=bool)
    axes = []
    for place, noise in enumerate(noises):
        q = float(noise.parameter)
        if noise.family == "geometric":
            masses = np.where(values >= 1, q * (1 - q) ** np.maximum(values - 1, 0), 0)
        else:
            masses = (1 - q) / (1 + q) * q ** np.abs(values)
        axis = [*shape[:place], -1, *shape[place + 1 :]]
        axes.append(values.reshape(axis))
        weight = weight * masses.reshape(axis)
    for one in constraints:
        # Halves and thirds of small whole numbers: multiplied by 6 all is whole.
        total = sum(int(6 * factor) * axes[variable] for variable, factor in one.terms)
        if one.low is not None:
            low = int(6 * one.low)
            inside = inside & ((total >= low) if one.low_closed else (total > low))
        if one.high is not None:
            high = int(6 * one.high)
            inside = inside & ((total <= high) if one.high_closed else (total < high))
    return float(np.where(inside, weight, 0).sum())


@pytest.mark.slow
@settings(max_examples=60)
@given(forests(WHOLE, 3, [1, -1]))
def test_discrete_noise_is_summed_over_all_values(case: Case) -> None:
    noises, constraints = case
    found = probability(noises, *constraints)
    assert abs(float(found.mid()) - listed(noises, constraints)) < 1e-11


@pytest.mark.slow
@settings(max_examples=80)
@given(cases, st.data())
def test_a_partition_adds_up(case: Case, data: st.DataObject) -> None:
    """Cut at any value of one of the forms that are compared."""
    noises, constraints = case
    one = data.draw(st.sampled_from(constraints)).terms if constraints else ((0, Fraction(1)),)
    at = data.draw(st.fractions(-3, 3, max_denominator=3))
    below = Constraint(one, None, at)
    above = Constraint(one, at, None, low_closed=True)
    parts = [probability(noises, *constraints, part) for part in (below, above)]
    assert (parts[0] + parts[1]).overlaps(probability(noises, *constraints))


@pytest.mark.slow
@settings(max_examples=60)
@given(cases, st.randoms(use_true_random=False))
def test_the_order_of_variables_and_constraints_is_nothing(case: Case, random: Any) -> None:
    noises, constraints = case
    order = list(range(len(noises)))
    random.shuffle(order)
    mixed = [noises[one] for one in order]
    places = {one: place for place, one in enumerate(order)}
    renamed = [
        Constraint.make(
            [(places[variable], factor) for variable, factor in one.terms],
            one.low,
            one.high,
            low_closed=one.low_closed,
            high_closed=one.high_closed,
        )
        for one in constraints
    ]
    random.shuffle(renamed)
    assert probability(noises, *constraints).overlaps(probability(mixed, *renamed))


@pytest.mark.slow
@settings(max_examples=60)
@given(cases, st.fractions(Fraction(1, 3), 2, max_denominator=3), st.data())
def test_wider_constraints_are_likelier(case: Case, wider: Fraction, data: st.DataObject) -> None:
    noises, constraints = case
    if not constraints:
        return
    place = data.draw(st.integers(0, len(constraints) - 1))
    one = constraints[place]
    wide = Constraint(
        one.terms,
        None if one.low is None else one.low - wider,
        None if one.high is None else one.high + wider,
        one.low_closed,
        one.high_closed,
    )
    others = [*constraints[:place], wide, *constraints[place + 1 :]]
    assert not probability(noises, *others) < probability(noises, *constraints)


@settings(max_examples=60)
@given(cases, st.integers(0, 1000))
def test_points_lie_inside_where_there_are_any(case: Case, seed: int) -> None:
    noises, constraints = case
    system = System(noises)
    if not system.is_possible(constraints):
        assert system.probability(constraints) == 0
        return
    point = system.points_inside(constraints)(np.random.default_rng(seed))
    for one in constraints:
        total = sum(factor * point[variable] for variable, factor in one.terms)
        assert one.low is None or total > one.low or (one.low_closed and total == one.low)
        assert one.high is None or total < one.high or (one.high_closed and total == one.high)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(CONTINUOUS), min_size=3, max_size=3)
    | st.lists(st.sampled_from(WHOLE), min_size=3, max_size=3),
    st.lists(st.integers(-2, 2), min_size=3, max_size=3),
)
def test_cells_of_three_differences_add_up(noises: list[Noise], cuts: list[int]) -> None:
    """Each pair of three variables compared: a cycle."""
    pairs = list(itertools.combinations(range(3), 2))
    cells = []
    for sides in itertools.product((False, True), repeat=3):
        made = []
        for (one, other), cut, above in zip(pairs, cuts, sides, strict=True):
            low, high = (cut, None) if above else (None, cut)
            terms = [(one, 1), (other, -1)]
            made.append(Constraint.make(terms, low, high, low_closed=above))
        cells.append(probability(noises, *made))
    assert holds(sum(cells), 1)
