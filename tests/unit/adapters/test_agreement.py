"""Draws of the right law always agree with it; those of laws that are a little off do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.adapters.shared import check_draws
from liptest.mechanisms.declared import ExactForm

WEIGHTS = [1, 2, 3, 5, 8, 13, 21, 34, 21, 13, 8, 5, 3, 2, 1, 1, 1, 1]
MASSES = [Fraction(weight, sum(WEIGHTS)) for weight in WEIGHTS]
MECHANISM = ExactForm(range(len(MASSES)), lambda data: MASSES, "hill")


def drawn(masses: list[float], draws: int, seed: int) -> Callable[[Any], Any]:
    values = np.random.default_rng(seed).choice(len(masses), 2 * draws, p=masses).tolist()
    return lambda data: values.pop()


def compared(masses: list[float], draws: int, seed: int = 0) -> float:
    datasets = [np.array([0]), np.array([1])]
    return check_draws(MECHANISM, datasets, drawn(masses, draws, seed), draws)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1000, 30_000])
def test_the_right_law_agrees(draws: int) -> None:
    for seed in range(20):
        radius = compared([float(mass) for mass in MASSES], draws, seed)
        assert radius == pytest.approx(math.sqrt(math.log(8e12) / (2 * draws)))


def rippled(size: float) -> list[float]:
    """Every third output is likelier; cumulative probabilities hardly move."""
    raised = [float(m) * (1 + size * (k % 3 == 1)) for k, m in enumerate(MASSES)]
    return [mass / sum(raised) for mass in raised]


def test_a_ripple_is_found_that_cumulative_probabilities_hide() -> None:
    wrong = rippled(0.25)
    hidden = max(abs(np.cumsum(wrong) - np.cumsum([float(mass) for mass in MASSES])))
    assert hidden < 0.06
    with pytest.raises(lt.errors.LawError, match="chance explains them"):
        compared(wrong, 30_000)


def test_few_draws_do_not_find_it() -> None:
    compared(rippled(0.25), 1000)


def test_a_shift_of_the_law_is_found() -> None:
    wrong = [float(mass) for mass in [*MASSES[1:], MASSES[0]]]
    with pytest.raises(lt.errors.LawError, match="cumulative"):
        compared(wrong, 2000)


def test_an_output_that_the_law_does_not_have() -> None:
    with pytest.raises(lt.errors.LawError):
        check_draws(MECHANISM, [np.array([0])], lambda data: "edge", 1000)


def test_certain_outputs() -> None:
    always = ExactForm([0, 1], lambda data: [Fraction(1), Fraction(0)], "always")
    check_draws(always, [np.array([0])], lambda data: 0, 1000)
    answers = iter([1] * 50 + [0] * 950)
    with pytest.raises(lt.errors.LawError):
        check_draws(always, [np.array([0])], lambda data: next(answers), 1000)
