"""Sparse vector and noisy maximum, from constraints written by hand.

Expected are probabilities and losses of the shared case list, computed without liptest: Laplace
noise by quadrature, geometric noise by sums. Probabilities of the worst pairs on {0, 1, 2}^5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from liptest.symbolic.noise import Noise
from tests.unit.symbolic.systems import argmax, noise, sparse_vector

Draw = Callable[[float], Noise]


def laplace(scale: float) -> Noise:
    return noise("laplace", scale)


def geometric(scale: float) -> Noise:
    return noise("two-sided geometric", math.exp(-1 / scale))


SVT1, SVT4, SVT6 = (2, 4), (4, 4 / 3), (2, 2)
LAST, ONES = (0, 0, 0, 0, 1), (1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("draw", "scales", "answers", "output", "expected"),
    [
        (laplace, SVT1, ONES, LAST, 0.02454827873411842),
        (laplace, SVT1, (2, 2, 2, 2, 0), LAST, 0.010123527855704643),
        (laplace, SVT1, (2, 2, 2, 2, 1), LAST, 0.012878552862785157),
        (laplace, SVT4, ONES, LAST, 0.01684835529191897),
        (laplace, SVT4, (2, 2, 2, 2, 0), LAST, 0.0029606082350627926),
        (laplace, SVT4, (2, 2, 2, 2, 1), LAST, 0.006260595361729473),
        (laplace, SVT6, ONES, (1, 1, 0, 0, 0), 0.012855720951477021),
        (laplace, SVT6, (0, 0, 2, 2, 2), (1, 1, 0, 0, 0), 0.0016077074160456065),
        (laplace, SVT6, (0, 0, 0, 0, 1), (1, 1, 1, 1, 0), 0.020354263047996302),
        (laplace, SVT6, (0, 0, 0, 0, 2), (1, 1, 1, 1, 0), 0.01235669530315546),
        (geometric, SVT1, ONES, LAST, 0.019734194865464388),
        (geometric, SVT1, (2, 2, 2, 2, 0), LAST, 0.007996217802947984),
        (geometric, SVT1, (2, 2, 2, 2, 1), LAST, 0.010148134113044577),
        (geometric, SVT4, ONES, LAST, 0.014667350113750371),
        (geometric, SVT4, (2, 2, 2, 2, 0), LAST, 0.0025574230504604384),
        (geometric, SVT4, (2, 2, 2, 2, 1), LAST, 0.005412025109017426),
        (geometric, SVT6, ONES, (1, 1, 0, 0, 0), 0.010157622248038624),
        (geometric, SVT6, (0, 0, 2, 2, 2), (1, 1, 0, 0, 0), 0.0012335141814258626),
        (geometric, SVT6, (0, 0, 0, 0, 1), (1, 1, 1, 1, 0), 0.024531158304888296),
        (geometric, SVT6, (0, 0, 0, 0, 2), (1, 1, 1, 1, 0), 0.01488250920112238),
    ],
)
def test_sparse_vector(
    draw: Draw,
    scales: tuple[float, float],
    answers: tuple[int, ...],
    output: tuple[int, ...],
    expected: float,
) -> None:
    found = sparse_vector(draw(scales[0]), draw(scales[1]), answers, output)
    assert abs(float(found.mid()) - expected) <= 1e-12 * expected


@pytest.mark.parametrize(
    ("family", "left", "right", "winner", "loss"),
    [
        ("laplace", ONES, (0, 2, 2, 2, 2), 0, 0.9803972919585624),
        ("laplace", (1, 2, 2, 2, 2), (0, 2, 2, 2, 2), 0, 0.4964525028547997),
        ("exponential", (0, 0, 0, 1, 1), (1, 1, 1, 0, 2), 3, 1.0),
    ],
)
def test_noisy_maximum(
    family: str, left: tuple[int, ...], right: tuple[int, ...], winner: int, loss: float
) -> None:
    one, other = (argmax([noise(family, 2)] * 5, answers, winner) for answers in (left, right))
    assert abs(float((one / other).log().mid()) - loss) <= 1e-12


@pytest.mark.parametrize(
    ("made", "threshold", "half", "loss"),
    [(laplace(20), 1, 5, 0.42003154450668934), (geometric(2), 1, 4, 3.645343378504313)],
)
def test_sparse_vector_without_a_limit(made: Noise, threshold: int, half: int, loss: float) -> None:
    """SVT6 with many answers: all 1 against half 0, half 2, the first half above."""
    output = (1,) * half + (0,) * half
    pair = (1,) * (2 * half), (0,) * half + (2,) * half
    one, other = (
        sparse_vector(made, made, [answer - threshold for answer in answers], output)
        for answers in pair
    )
    assert abs(float((one / other).log().mid()) - loss) <= 1e-12
