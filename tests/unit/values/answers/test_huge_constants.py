"""Noisy sums beside whole numbers that are larger than all floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt


def above(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace()) > 10**400


def of_size(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace()
    return abs(noisy) > 10**400, noisy


def of_a_function(data: Any, rng: Any) -> Any:
    return np.exp(data.sum() + rng.laplace()) < 10**400


def of_noise(data: Any, rng: Any) -> Any:
    return rng.laplace() > 2**1030


def released_before(data: Any, rng: Any) -> Any:
    noisy = float(data.sum() + rng.laplace())
    return noisy > -(10**400)


def rounded(data: Any, rng: Any) -> Any:
    return round(float(data.sum() + rng.laplace())) > 10**400


def check(program: Any) -> Any:
    return lt.check_privacy(lt.mechanism(program), lt.Hypercube(300), epsilon=1.0, seed=1)


@pytest.mark.parametrize("program", [above, of_size, of_a_function, of_noise])
def test_floats_are_not_compared_with_them(program: Any) -> None:
    """Python compares them, NumPy raises OverflowError: neither is taken for the other."""
    verdict = check(program)
    assert verdict.decision == "INCONCLUSIVE"
    assert "a comparison with a whole number beyond all floats" in verdict.reason


@pytest.mark.parametrize("program", [released_before, rounded])
def test_what_is_released_and_whole_numbers_are(program: Any) -> None:
    verdict = check(program)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"
