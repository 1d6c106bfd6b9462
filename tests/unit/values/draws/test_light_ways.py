"""What noise next to never does: its bound, and laws that leave it out against whole ones."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.numbers.noise_outputs import Between
from liptest.enumerate.python_function import PythonFunction
from liptest.privacy.comparison import enclose_probability
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System
from liptest.values.draws.light_ways import bound_of_far, heavy_ways, lies_far, uncertain_part

FAMILIES = [
    Noise("laplace", Fraction(3, 2)),
    Noise("exponential", Fraction(2)),
    Noise("normal", Fraction(5)),
    Noise("gumbel", Fraction(1, 2)),
    Noise("logistic", Fraction(7)),
    Noise("geometric", Fraction(1, 3)),
    Noise("geometric", Fraction(9, 10)),
    Noise("two-sided geometric", Fraction(1, 2)),
    Noise("two-sided geometric", Fraction(9, 10)),
]


@pytest.mark.parametrize("noise", FAMILIES, ids=lambda noise: f"{noise.family} {noise.parameter}")
def test_noise_beyond_its_reach_is_below_the_bound(noise: Noise) -> None:
    """Just beyond 64 scales a sum is far, and the other side of 0 has less than its bound."""
    scale = noise.parameter
    if noise.family == "geometric":
        scale = 1 / noise.parameter
    if noise.family == "two-sided geometric":
        scale = 1 / (1 - noise.parameter)
    for sign in (-1, 1):
        form = Form.variable(0) + sign * (64 * scale + Fraction(1, 100))
        assert lies_far([noise], form)
        other = {"high": Fraction(0)} if sign > 0 else {"low": Fraction(0)}
        mass = System([noise]).probability([form.between(**other)])  # type: ignore[arg-type]
        assert float(mass.upper()) <= float(bound_of_far(form))
    assert not lies_far([noise], Form.variable(0) + 8 * scale)


def test_ways_and_constraints_that_are_far() -> None:
    noises = [Noise("laplace", Fraction(1)), Noise("laplace", Fraction(1))]
    form = Form.variable(0) - Form.variable(1) + 1000
    above, below = (form.between(low=Fraction(0)),), (form.between(high=Fraction(0)),)
    assert heavy_ways(noises, (above, below)) == ((above, None), Fraction(2, 1 << 80))
    near = ((form - 1000).between(low=Fraction(0)),)
    assert heavy_ways(noises, (near, None)) == ((near, None), Fraction(0))
    assert uncertain_part(noises, (*above, *near)) == (near, Fraction(2, 1 << 80))


def best_of_all(answers: Any, rng: Any) -> int:
    noisy = [answer + rng.laplace(0, 1) for answer in answers]
    return noisy.index(max(noisy))


def above_threshold(answers: Any, rng: Any) -> list[bool]:
    threshold = rng.laplace(0, 2)
    return [bool(answer + rng.laplace(0, 4) >= threshold) for answer in answers]


def rounded(answers: Any, rng: Any) -> tuple[Any, ...]:
    far = answers[0] + rng.geometric(0.5) - rng.geometric(0.5)
    drawn = round(answers[2] / 100 + rng.laplace(0, 2))
    return bool(far > answers[1] + rng.exponential(1)), drawn > 3


def dearest(answers: Any, rng: Any) -> int:
    return int(np.argmax(answers + rng.gumbel(size=len(answers))))


PLACES = st.sampled_from([0, 1, 2, 30, 60, 100, 200, 1 << 12, -(1 << 12)])


@pytest.mark.slow
@pytest.mark.parametrize("function", [best_of_all, above_threshold, rounded, dearest])
@given(answers=st.lists(PLACES, min_size=3, max_size=3))
@settings(max_examples=4, deadline=None)
def test_a_law_differs_from_the_whole_one_by_what_it_leaves_out(
    function: Any, answers: list[int]
) -> None:
    """Each output has a mass between what is listed and that and what is unexplored."""
    dataset = np.array(answers)
    whole = PythonFunction(function).law(dataset)
    light = PythonFunction(function).without_light(4096).law(dataset)
    assert float(light.unexplored) < 1e-18
    for output in whole.outputs:
        true = enclose_probability(whole, output)
        if output in light:
            listed = enclose_probability(light, output)
            assert listed.lower() <= true.upper()
            assert true.lower() <= listed.upper() + float(light.unexplored)
        else:
            assert float(true.lower()) <= float(light.unexplored)


def largest(answers: Any, rng: Any) -> float:
    return float(max(answers + rng.laplace(0, 1, 3)))


def test_cells_of_a_maximum_against_its_formula() -> None:
    """P(max <= t) is the product of the three distribution functions."""
    answers = np.array([0, 1, -(1 << 20)])

    def below(t: float) -> float:
        cdf = [
            0.5 * math.exp(t - a) if t < a else 1 - 0.5 * math.exp(a - t) for a in answers.tolist()
        ]
        return math.prod(cdf)

    view = PythonFunction(largest).without_light(4096).densities()
    law = view.law(answers)
    assert 0 < float(law.unexplored) < 1e-5
    assert len(law.outputs) > 50
    for output in law.outputs:
        assert isinstance(output, Between)
        low, high = float(output.low), float(output.high)
        assert law[output] == pytest.approx(below(high) - below(low), rel=1e-6, abs=1e-15)


def test_a_whole_law_has_no_such_view() -> None:
    assert lt.ClosedForm([0, 1], lambda data: np.log([0.5, 0.5])).without_light(9) is None
