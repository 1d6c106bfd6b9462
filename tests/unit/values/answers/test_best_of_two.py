"""``max(0, x)`` of released numbers: one path, the types of Python, and nothing of data alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

CELLS = 30
DOMAIN = lt.RecordGrid([CELLS] * 1_000)


def noisy_cells(data: Any, rng: Any) -> Any:
    return np.bincount(data, minlength=CELLS) + rng.laplace(0, 2.0, size=CELLS)


def of_numpy(data: Any, rng: Any) -> Any:
    return [max(0, cell) for cell in noisy_cells(data, rng)]


def of_floats(data: Any, rng: Any) -> Any:
    return {k: max(0.0, float(cell)) for k, cell in enumerate(noisy_cells(data, rng))}


def rounded_between(data: Any, rng: Any) -> Any:
    return [min(max(0, round(cell)), len(data)) for cell in noisy_cells(data, rng)]


def float_of_either(data: Any, rng: Any) -> Any:
    return [round(float(max(cell, 0)), 1) for cell in noisy_cells(data, rng)]


def pairs_of_noisy(data: Any, rng: Any) -> Any:
    cells = noisy_cells(data, rng)
    return [min(one, other) for one, other in pairwise(cells)]


@pytest.mark.parametrize(
    "function", [of_numpy, of_floats, rounded_between, float_of_either, pairs_of_noisy]
)
def test_it_is_one_path_of_the_price_of_the_noise(function: Callable[..., Any]) -> None:
    found = align(lt.mechanism(function), DOMAIN, Fraction(1))
    assert found.paths == 1
    assert found.epsilon == 1


def shares(data: Any, rng: Any) -> Any:
    cells = [max(0, cell) for cell in noisy_cells(data, rng)[:4]]
    total = sum(cells)
    return [cell / total for cell in cells] if total > 0 else None


def of_its_type(data: Any, rng: Any) -> Any:
    # An int has no dtype: where the noisy count is below 0 this raises an exception.
    return max(0, (data == 0).sum() + rng.laplace(0, 2.0)).dtype == np.float64


@pytest.mark.slow
def test_the_type_is_asked_where_it_matters() -> None:
    found = align(lt.mechanism(shares), DOMAIN, Fraction(1))
    assert found.epsilon == 1
    # An exception on one of both sides depends on the noisy count alone, and costs what it costs.
    of_type = align(lt.mechanism(of_its_type), DOMAIN, Fraction(1))
    assert of_type.price is None or of_type.epsilon == Fraction(1, 2)


def leaks_where_it_is_an_int(data: Any, rng: Any) -> Any:
    kept = max(0, (data == 0).sum() + rng.laplace(0, 2.0))
    return int((data == 1).sum()) if isinstance(kept, int) else 0


def of_the_true_count(data: Any, rng: Any) -> Any:
    return max(5, (data == 0).sum() - 1.5), rng.laplace(0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("function", [leaks_where_it_is_an_int, of_the_true_count])
def test_what_leaks_is_not_proved(function: Callable[..., Any]) -> None:
    assert align(lt.mechanism(function), DOMAIN, Fraction(50)).epsilon == math.inf
    verdict = lt.check_privacy(lt.mechanism(function), lt.RecordGrid([2] * 8), epsilon=2.0)
    assert verdict.decision != "YES"
