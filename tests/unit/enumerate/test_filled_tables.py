"""Tables of zeros that a loop over distinct values, or over a Counter, fills with their counts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

DOMAIN = lt.RecordGrid([5] * 5_000)


def of_numpy(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    cells = np.zeros(5)
    for value, count in zip(values, counts, strict=True):
        cells[value] = count
    return cells + rng.laplace(0, 2.0, 5)


def of_a_counter(data: Any, rng: Any) -> Any:
    cells = dict.fromkeys(range(5), 0)
    for value, count in Counter(data.tolist()).items():
        cells[value] += count
    return [cells[k] + rng.laplace(0, 2.0) for k in range(5)]


def of_several_values(data: Any, rng: Any) -> Any:
    cells = [0] * 3
    counts = Counter(data.tolist())
    for value, count in counts.items():
        cells[value // 2] += count
    return [cell + rng.laplace(0, 2.0) for cell in cells]


@pytest.mark.slow
@pytest.mark.parametrize("function", [of_numpy, of_a_counter, of_several_values])
def test_they_have_the_price_of_a_histogram(function: Any) -> None:
    assert align(lt.mechanism(function), DOMAIN, Fraction(1)).epsilon == 1


def of_ones(data: Any, rng: Any) -> Any:
    cells = [1] * 5
    for value, count in Counter(data.tolist()).items():
        cells[value] = count
    return [cell + rng.laplace(0, 2.0) for cell in cells]


def the_last_of_two(data: Any, rng: Any) -> Any:
    cells = [0] * 3
    for value, count in Counter(data.tolist()).items():
        cells[value // 2] = count
    return [cell + rng.laplace(0, 2.0) for cell in cells]


def new_keys(data: Any, rng: Any) -> Any:
    cells: Any = {}
    for value, count in Counter(data.tolist()).items():
        cells[value] = count
    return {k: cell + rng.laplace(0, 2.0) for k, cell in cells.items()}


def too_short(data: Any, rng: Any) -> Any:
    cells = [0] * 4
    for value, count in Counter(data.tolist()).items():
        cells[value] = count
    return [cell + rng.laplace(0, 2.0) for cell in cells]


def more_than_the_count(data: Any, rng: Any) -> Any:
    cells = [0] * 5
    for value, count in Counter(data.tolist()).items():
        cells[value] += count + 1
    return [cell + rng.laplace(0, 2.0) for cell in cells]


def small_numbers(data: Any, rng: Any) -> Any:
    cells = np.zeros(5, dtype=np.int8)
    for value, count in Counter(data.tolist()).items():
        cells[value] = count
    return cells + rng.laplace(0, 2.0, 5)


REFUSED = (of_ones, the_last_of_two, new_keys, too_short, more_than_the_count, small_numbers)


@pytest.mark.parametrize("function", REFUSED)
def test_what_tells_more_has_no_price(function: Any) -> None:
    assert align(lt.mechanism(function), DOMAIN, Fraction(50)).epsilon == math.inf
