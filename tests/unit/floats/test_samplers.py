"""Samplers as functions of grid points: installed NumPy, its formulas, certified windows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.floats.grid import (
    GENERATOR,
    GRID,
    RANDOM_STATE,
    GridSource,
    generator_in,
    state_words,
    words_at,
)
from liptest.floats.samplers import SAMPLERS, UNIFORM, Draw, window

POINTS = st.one_of(
    st.integers(1, GRID - 1),
    st.integers(1, 100),
    st.integers(GRID - 100, GRID - 1),
    st.integers(GRID // 2 - 50, GRID // 2 + 50),
)
FORMULAS = {
    "laplace": lambda u: -math.log(2.0 - u - u) if u >= 0.5 else math.log(u + u),
    "exponential": lambda u: -math.log(1.0 - u),
    "gumbel": lambda u: -math.log(-math.log(1.0 - u)),
    "logistic": lambda u: math.log(u / (1.0 - u)),
}


@given(POINTS, st.sampled_from([GENERATOR, RANDOM_STATE]))
def test_a_generator_can_be_put_before_any_grid_point(point: int, origin: str) -> None:
    drawn = [GridSource(origin).at(point), generator_in(origin, words_at(origin, point))]
    for generator in drawn:
        draw = generator.random if origin == GENERATOR else generator.random_sample
        assert draw() * GRID == point


def test_words_are_those_of_an_unmodified_generator() -> None:
    rng = np.random.default_rng(7)
    again = generator_in(GENERATOR, state_words(rng))
    assert [again.normal() for _ in range(9)] == [rng.normal() for _ in range(9)]


NOISE = [one for one in SAMPLERS.values() if one.method != UNIFORM]


@given(POINTS, st.sampled_from([GENERATOR, RANDOM_STATE]))
def test_a_uniform_number_is_its_grid_point(point: int, origin: str) -> None:
    draw = Draw(origin, UNIFORM, ())
    number = draw.run(GridSource(origin).at(point))
    assert number * GRID == point
    assert point in window(draw, Fraction(number), Fraction(number))


@pytest.mark.parametrize("sampler", NOISE, ids=lambda one: f"{one.origin}-{one.method}")
@settings(max_examples=60)
@given(data=st.data())
def test_formula_and_window(sampler, data) -> None:
    point = data.draw(POINTS)
    scale = data.draw(st.sampled_from([1.0, 10.0, 0.1, 1e-12, 1e15]))
    loc = data.draw(st.sampled_from([0.0, 1.0, -3.7, 1e6])) if sampler.has_loc else 0.0
    parameters = (loc, scale) if sampler.has_loc else (scale,)
    draw = Draw(sampler.origin, sampler.method, parameters)
    number = draw.run(GridSource(sampler.origin).at(point))
    if loc == 0.0:
        assert number == scale * FORMULAS[sampler.method](point / GRID)
    ends = [math.nextafter(number, sign * math.inf) for sign in (-1, 1)]
    low, high = ((Fraction(end) + Fraction(number)) / 2 for end in ends)
    assert point in window(draw, low, high)


def test_the_model_needs_a_step_of_a_half() -> None:
    """At 2**52 + 1 the rounding of 2 - 2 U halves the noise: no relative error of it is small."""
    draw = Draw(GENERATOR, "laplace", (0.0, 1.0))
    number = draw.run(GridSource(GENERATOR).at(GRID // 2 + 1))
    assert number == pytest.approx(2.0**-53, rel=1e-9)
    exact = Fraction(number)
    assert GRID // 2 + 1 in window(draw, exact, exact)
