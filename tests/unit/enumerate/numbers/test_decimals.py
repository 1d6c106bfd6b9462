"""Noise rounded to decimals is compared over all of them, as whole numbers are (theory W5)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.numbers.whole_numbers import WholeFunction, find_over_all_numbers
from liptest.enumerate.numbers.whole_outputs import Whole
from liptest.verdicts import Decision
from tests.unit.written_programs import program

X, Y = np.array([1, 0, 0]), np.array([1, 1, 0])
#: Step of the grid, and how a number is brought on it (x: the number, as a float).
ROUNDED = {
    "round": (0.01, "round(x, 2)"),
    "of NumPy": (0.1, "np.round(x, 1)"),
    "method": (0.001, "x.round(3)"),
    "thousands": (1000, "round(x, -3)"),
    "cut off": (0.01, "int(x * 100) / 100"),
    "down": (0.25, "math.floor(x * 4) / 4"),
    "up to sevenths": (1 / 7, "np.ceil(x * 7) / 7"),
    "steps": (0.1, "0.1 * round(x / 0.1)"),
    "negative": (0.01, "-round(x, 2)"),
    "as a float": (0.5, "float(round(x * 2) / 2)"),
}


def counting(end: str, scale: float = 1.0) -> WholeFunction:
    text = f"x = data.sum() + rng.laplace(0, {scale})\nreturn {end}"
    seen = find_over_all_numbers(lt.mechanism(program(text, math=math)), X)
    assert isinstance(seen, WholeFunction)
    return seen


def cdf(x: float, centre: float) -> float:
    return 0.5 * math.exp(x - centre) if x < centre else 1 - 0.5 * math.exp(centre - x)


def mass(end: str, step: float, output: float, centre: float) -> float:
    """Of all numbers that are brought to an output, by bisection of both ends."""
    bring = eval(f"lambda x: {end}", {"np": np, "math": math})
    sign = -1 if end.startswith("-") else 1
    middle = np.float64(sign * output)

    def find_end(far: float) -> float:
        near = float(middle)
        near = next(
            x for x in (near, near + step / 4, near - step / 4) if bring(np.float64(x)) == output
        )
        for _ in range(80):
            half = (near + far) / 2
            near, far = (half, far) if bring(np.float64(half)) == output else (near, half)
        return near

    low, high = (find_end(float(middle) + side * 2 * step) for side in (-1, 1))
    return cdf(high, centre) - cdf(low, centre)


@pytest.mark.parametrize("name", ROUNDED)
def test_losses_and_probabilities_are_those_of_cells(name: str) -> None:
    step, end = ROUNDED[name]
    seen = counting(end)
    assert float(seen.pair_loss(X, Y).mid()) == pytest.approx(1, abs=1e-12)
    output, p, q = seen.pair_witness(X, Y, 0.9)
    assert isinstance(output, (int, float))
    for ball, centre in ((p, 1), (q, 2)):
        assert float(ball.mid()) == pytest.approx(mass(end, step, output, centre), abs=1e-11)


@pytest.mark.slow
@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=1000, max_denominator=10**6),
    st.fractions(min_value=-1000, max_value=1000, max_denominator=1000),
    st.integers(-(10**9), 10**9),
)
def test_a_number_tells_its_place(step: Fraction, offset: Fraction, m: int) -> None:
    whole = Whole(step, offset)
    assert whole.find(whole.number(m)) == m
    between = float(whole.number(m)) + float(step) / 2
    assert whole.find(between) is None or not whole.is_exact or whole.number(m + 1) == between


@given(st.integers(-(10**9), 10**9), st.integers(1, 6))
def test_decimals_are_the_floats_of_python(m: int, places: int) -> None:
    assert Whole(Fraction(1, 10**places)).number(m) == round(m / 10**places, places)


@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [
        "round(x, 2) if rng.random() < 0.5 else round(x, 1)",
        "round(x, 2) if rng.random() < 0.5 else 3.1",
    ],
)
def test_grids_that_may_meet_do_not_mislead(end: str) -> None:
    """Outputs of two grids may be equal: each is 1-private, so no claim of 1 is refuted."""
    text = f"x = data.sum() + rng.laplace(0, 1)\nreturn {end}"
    mechanism = lt.mechanism(program(text))
    verdict = lt.check_privacy(mechanism, lt.RecordGrid([2] * 30), epsilon=1, seed=1)
    assert verdict.decision is not Decision.NO
    wrong = lt.check_privacy(mechanism, lt.RecordGrid([2] * 30), epsilon=0.5, seed=1)
    assert wrong.decision is not Decision.YES


@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [
        "h.round(2).tolist()",
        "[round(float(v), 3) for v in h]",
        "{'a': round(float(h[0]), 2), 'b': round(float(h[1]), 1)}",
        "[round(max(0.0, float(v)), 2) for v in h]",
    ],
)
def test_rounded_histograms_are_refuted(end: str) -> None:
    text = f"h = np.bincount(data, minlength=2) + rng.laplace(0, 1, size=2)\nreturn {end}"
    domain = lt.RecordGrid([2] * 1000)
    verdict = lt.check_privacy(lt.mechanism(program(text)), domain, epsilon=1.99, seed=1)
    assert verdict.decision is Decision.NO
    proved = lt.check_privacy(lt.mechanism(program(text)), domain, epsilon=2, seed=1)
    assert proved.decision is Decision.YES
