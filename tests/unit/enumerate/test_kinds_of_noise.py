"""What a program that asks sees of noise: whether it is 1 or 1.0, 0.0 or -0.0.

The probabilities are written down by hand, and real runs give no other output.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from tests.property.random_programs import without_repetition


def above(x: float) -> float:
    """P(Z > x) of Laplace noise of scale 1, for x >= 0."""
    return math.exp(-x) / 2


def _ends_of_a_list(data: Any, rng: Any) -> Any:
    noise = rng.laplace()
    return [str(one) for one in np.clip(np.round([noise + 1]), 0, 1).tolist()]


def _ends_of_an_array(data: Any, rng: Any) -> Any:
    noise = rng.laplace()
    return [str(one) for one in np.clip(np.round(np.array([noise + 1])), 0, 1)]


def _ends_of_sorted_whole_numbers(data: Any, rng: Any) -> Any:
    return [str(one) for one in np.clip(np.round(sorted(rng.geometric(0.5, 2))), 0, 1).tolist()]


def _numbers_of_a_list(data: Any, rng: Any) -> Any:
    return repr(np.round([np.clip(rng.laplace(), -1, 1)]).tolist())


def _times_zero(data: Any, rng: Any) -> Any:
    noise = rng.laplace()
    return str(np.round(0 * noise)), str(noise * -0.0), str(0 * noise + 0), str(int(0 * noise))


def _two_zeros(data: Any, rng: Any) -> Any:
    return str(0 * rng.laplace() + rng.laplace() * 0)


def _zero_of_positive(data: Any, rng: Any) -> Any:
    noise = rng.exponential()
    return str(0 * noise), str(0 * -noise), str(abs(0 * -noise))


def _rounded_twice(data: Any, rng: Any) -> Any:
    number = np.round(np.clip(rng.laplace(), -1, 1))
    return str(np.round(number / 2)), str(np.floor(number / 2)), str(np.ceil(number / 2))


HALF, WHOLE, MORE = above(0.5), above(1.0), above(1.5)
PROGRAMS: list[tuple[Any, dict[Any, float]]] = [
    (_ends_of_a_list, {("-0.0",): WHOLE - MORE, ("0.0",): HALF - WHOLE + MORE, ("1.0",): 1 - HALF}),
    (
        _ends_of_an_array,
        {("-0.0",): WHOLE - MORE, ("0.0",): HALF - WHOLE + MORE, ("1.0",): 1 - HALF},
    ),
    (_ends_of_sorted_whole_numbers, {("1", "1"): 1.0}),
    (
        _numbers_of_a_list,
        {"[-1.0]": HALF, "[-0.0]": 0.5 - HALF, "[0.0]": 0.5 - HALF, "[1.0]": HALF},
    ),
    (_times_zero, {("0.0", "-0.0", "0.0", "0"): 0.5, ("-0.0", "0.0", "0.0", "0"): 0.5}),
    (_two_zeros, {"0.0": 0.75, "-0.0": 0.25}),
    (_zero_of_positive, {("0.0", "-0.0", "0.0"): 1.0}),
    (
        _rounded_twice,
        {
            ("-0.0", "-1.0", "-0.0"): HALF,
            ("-0.0", "-0.0", "-0.0"): 0.5 - HALF,
            ("0.0", "0.0", "0.0"): 0.5 - HALF,
            ("0.0", "0.0", "1.0"): HALF,
        },
    ),
]


@pytest.mark.parametrize(
    ("program", "expected"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS]
)
def test_types_and_signs_of_zero_are_those_of_numpy(program: Any, expected: Any) -> None:
    with without_repetition():
        law = dict(lt.output_law(program, [1, 0, 1]))
    assert law.keys() == expected.keys()
    assert list(law.values()) == pytest.approx([expected[output] for output in law])
    for seed in range(50):
        output = program(np.array([1, 0, 1]), np.random.default_rng(seed))
        assert (tuple(output) if isinstance(output, list) else output) in expected


def test_zeros_beside_noise_are_not_asked_for_their_sign() -> None:
    def masked(data: Any, rng: Any) -> Any:
        mask = np.array([0.0] * 40 + [1.0])
        return bool((mask * rng.laplace(size=41)).sum() > 1)

    law = lt.output_law(masked, [1, 0, 1])
    assert dict(law) == pytest.approx({True: WHOLE, False: 1 - WHOLE})
