"""Whole numbers of very many are compared and calculated with, not enumerated."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError, UnsupportedRandomnessError

Function = Callable[[], Any]
MANY = 10**9 + 7


def law(function: Function) -> dict[Any, Fraction]:
    found = lt.output_law(lt.mechanism(lambda data: function()), np.array([0]))
    return dict(zip(found.outputs, found.fractions or (), strict=True))


COINS: list[tuple[Function, Fraction]] = [
    (lambda: random.randrange(MANY) < 5, Fraction(5, MANY)),
    (lambda: random.randint(1, MANY) <= 5, Fraction(5, MANY)),
    (lambda: random.randrange(3, 3 + 2 * MANY, 2) < 8, Fraction(3, MANY)),
    (lambda: secrets.randbelow(3**200) < 3**199, Fraction(1, 3)),
    (lambda: secrets.randbits(64) >= 2**63, Fraction(1, 2)),
    (lambda: random.getrandbits(2000) == 7, Fraction(1, 2**2000)),
    (lambda: random.randrange(MANY) < 4.5, Fraction(5, MANY)),
    (lambda: random.randrange(MANY) <= Fraction(9, 2), Fraction(5, MANY)),
    (lambda: random.randrange(MANY) < np.int64(5), Fraction(5, MANY)),
    (lambda: random.getrandbits(53) * 2**-53 < 0.25, Fraction(1, 4)),
    (lambda: random.getrandbits(64) >> 63 == 1, Fraction(1, 2)),
    (lambda: random.getrandbits(64) // 2**62 == 3, Fraction(1, 4)),
    (lambda: 10 - random.getrandbits(64) > 0, Fraction(10, 2**64)),
    (lambda: -random.getrandbits(64) > -3, Fraction(3, 2**64)),
    (lambda: bool(random.getrandbits(64)), 1 - Fraction(1, 2**64)),
    (lambda: random.getrandbits(64) / 2**64 < 0.5, Fraction(1, 2) - Fraction(2**10 - 2**9, 2**64)),
]


@pytest.mark.parametrize(("function", "probability"), COINS)
def test_a_comparison_splits_exactly(function: Function, probability: Fraction) -> None:
    found = law(lambda: bool(function()))
    assert sum(found.values()) == 1
    assert found[True] == pytest.approx(probability, abs=0) or abs(
        found[True] - probability
    ) <= Fraction(1, 2**53)


def test_the_division_is_that_of_floats() -> None:
    found = law(lambda: bool(random.getrandbits(64) / 2**64 < 0.5))
    cut = int(found[True] * 2**64)
    assert (cut - 1) / 2**64 < 0.5 <= cut / 2**64


def test_an_exact_bernoulli_of_a_published_sampler() -> None:
    # Canonne, Kamath and Steinke: Bernoulli(p) by one whole number below the denominator.
    p = Fraction(271828182845904523536, 10**21)

    def bernoulli() -> int:
        return 1 if random.SystemRandom().randrange(p.denominator) < p.numerator else 0

    assert law(bernoulli) == {1: p, 0: 1 - p}


def test_infinite_bounds_and_nan_are_decided() -> None:
    def function() -> Any:
        u = random.getrandbits(64)
        inf, nan = float("inf"), float("nan")
        return u < inf, u > -inf, u <= -inf, u < nan, u == nan, u != nan, isinstance(u, int)

    assert law(function) == {(True, True, False, False, False, True, True): 1}


@pytest.mark.slow
def test_a_number_used_as_such_is_over_budget() -> None:
    for function in (
        lambda: [0][random.getrandbits(64)],
        lambda: random.getrandbits(64),
        lambda: str(secrets.randbits(64)),
        lambda: random.choice(range(MANY)),
    ):
        with pytest.raises(BudgetError, match="too many values"):
            law(function)


@pytest.mark.slow
def test_what_is_not_monotone_is_over_budget_or_aborts() -> None:
    for function in (
        lambda: random.getrandbits(64).bit_count(),
        lambda: random.getrandbits(64) ** 2 % 7,
    ):
        with pytest.raises((BudgetError, UnsupportedRandomnessError)):
            law(function)


def test_remainders_are_counted() -> None:
    for function in (lambda: random.getrandbits(64) % 2, lambda: random.getrandbits(64) & 1):
        assert law(function) == {0: Fraction(1, 2), 1: Fraction(1, 2)}


@pytest.mark.parametrize("runs", [100, 799, 800, 10_000])
def test_runs_are_repeated_with_the_budget_of_the_analysis(runs: int) -> None:
    # A number of more values than runs is compared; where it was repeated it was chosen.
    def function(data: Any, rng: Any) -> bool:
        return bool(rng.integers(0, 800) < 81)

    found = lt.output_law(lt.mechanism(function, max_leaves=runs), np.array([0]))
    assert dict(zip(found.outputs, found.fractions or (), strict=True)) == {
        True: Fraction(81, 800),
        False: Fraction(719, 800),
    }
