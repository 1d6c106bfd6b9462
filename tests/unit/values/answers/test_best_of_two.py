"""``max(0, x)`` of released numbers: one path, the types of Python, and nothing of data alone."""

from __future__ import annotations

import math
import statistics
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


@pytest.mark.slow
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


def least_of_three(data: Any, rng: Any) -> Any:
    cells = noisy_cells(data, rng)
    return [
        min(cells[k], cells[(7 * k + 3) % CELLS], cells[(11 * k + 5) % CELLS]) for k in range(9)
    ]


def sorted_as_it_is_made(data: Any, rng: Any) -> Any:
    ordered = sorted((float(cell) for cell in noisy_cells(data, rng)), reverse=True)
    return ordered[:3], (ordered[14] + ordered[15]) / 2


def median_of_python(data: Any, rng: Any) -> Any:
    cells = [(data == k).sum() + rng.laplace(0, 2.0) for k in range(CELLS)]
    middle = statistics.median(cells)
    spare = rng.laplace(0, 1.0)
    return middle + spare, max(cells, default=0)


def sorted_whole_numbers(data: Any, rng: Any) -> Any:
    chance = 1 - math.exp(-0.5)
    counts = np.bincount(data, minlength=CELLS)
    noise = rng.geometric(chance, size=CELLS) - rng.geometric(chance, size=CELLS)
    return sorted((counts + noise).tolist())[:3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [least_of_three, sorted_as_it_is_made, median_of_python, sorted_whole_numbers]
)
def test_the_order_of_many_is_not_asked(function: Callable[..., Any]) -> None:
    found = align(lt.mechanism(function), DOMAIN, Fraction(1))
    assert found.paths == 1
    assert found.epsilon <= 1 + Fraction(1, 10**15)


def place_of_the_best(data: Any, rng: Any) -> Any:
    cells = [(data == k).sum() + rng.laplace(0, 2.0) for k in range(5)]
    kept = max(range(5), key=lambda k: cells[k])
    return kept, cells[kept]


def test_a_place_has_a_path_of_its_own() -> None:
    found = align(lt.mechanism(place_of_the_best), lt.RecordGrid([5] * 1_000), Fraction(1))
    assert found.epsilon == 1


def quantile_by_a_loop(data: Any, rng: Any) -> Any:
    cells = noisy_cells(data, rng)
    total, below = sum(max(cell, 0) for cell in cells), 0
    for k in range(CELLS):
        below += max(cells[k], 0)
        if below >= total / 2:
            return k
    return CELLS


@pytest.mark.slow
def test_where_paths_are_far_too_many_the_rest_is_cut_off() -> None:
    found = align(lt.mechanism(quantile_by_a_loop), DOMAIN, Fraction(1))
    assert (found.paths, found.epsilon) == (1, 1)


def sorts_bare_counts(data: Any, rng: Any) -> Any:
    counts = sorted((data == k).sum() for k in range(3))
    return counts[0] + rng.laplace(0, 0.25)


def sorts_with_one_bare(data: Any, rng: Any) -> Any:
    noisy = [(data == k).sum() + rng.laplace(0, 2.0) for k in range(2)]
    return sorted([*noisy, (data == 2).sum()])


def orders_others_by_noise(data: Any, rng: Any) -> Any:
    noisy = [(data == k).sum() + rng.laplace(0, 2.0) for k in range(3)]
    best = max(range(3), key=lambda k: noisy[k])
    return int((data == best).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [sorts_bare_counts, sorts_with_one_bare, orders_others_by_noise]
)
def test_an_order_of_bare_counts_is_not_proved(function: Callable[..., Any]) -> None:
    verdict = lt.check_privacy(lt.mechanism(function), lt.RecordGrid([3] * 4), epsilon=1.0)
    assert verdict.decision != "YES"
