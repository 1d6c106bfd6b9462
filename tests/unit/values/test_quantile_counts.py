"""How many records are below each of several numbers, in the ways that quantiles are written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import reason_of

VALUES, RECORDS = 4, 3
SMALL = lt.RecordGrid([VALUES] * RECORDS)
GRID = np.arange(VALUES)

COUNTS: dict[str, Callable[[Any], Any]] = {
    "a line above": lambda data: (data[None, :] <= GRID[:, None]).sum(axis=1),
    "one axis more": lambda data: (np.array(data)[None] <= GRID[:, None]).sum(axis=1),
    "shares": lambda data: (data[None, :] < GRID[:, None] + 0.5).mean(axis=1) * RECORDS,
    "a column": lambda data: (data[:, None] <= GRID[None, :]).sum(axis=0),
    "sorted": lambda data: np.array([np.sum(np.sort(data) <= number) for number in GRID]),
    "sorted, methods": lambda data: np.array(
        [(number >= np.sort(data)[::-1]).sum() for number in GRID]
    ),
    "sorted, counted": lambda data: np.array(
        [np.count_nonzero(np.sort(data) <= k) for k in range(4)]
    ),
    "places": lambda data: np.searchsorted(np.sort(data), GRID, side="right"),
    "one place": lambda data: np.array([np.searchsorted(np.sort(data), k + 0.5) for k in GRID]),
}


@pytest.mark.parametrize("name", mostly_slow(COUNTS, 3))
def test_prices_are_the_largest_changes(name: str) -> None:
    counts = COUNTS[name]

    def released(data: Any, rng: Any) -> Any:
        return (counts(data) + rng.laplace(size=VALUES)).tolist()

    known = {x: counts(np.array(x)) for x in product(range(VALUES), repeat=RECORDS)}
    largest = max(
        np.abs(known[x] - known[(*x[:k], value, *x[k + 1 :])]).sum()
        for x, k, value in product(known, range(RECORDS), range(VALUES))
    )
    assert largest == 3
    found = align(lt.mechanism(released).on_domain(SMALL), SMALL)
    assert 3 <= found.epsilon <= 3 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda data: (np.sort(data) <= 2)[0], "truths of the records in their order"),
        (lambda data: (np.sort(data) <= data).sum(), "less_equal"),
        (lambda data: (np.sort(data) <= GRID[:3]).sum(), "less_equal"),
        (lambda data: (np.sort(data) + 1).sum(), "numpy.add"),
        (lambda data: np.searchsorted(np.sort(data)[::-1], 2), "searchsorted"),
        (lambda data: np.searchsorted(data, 2), "searchsorted"),
        (lambda data: (data[None, :] <= data[:, None]).sum(), "another shape"),
        (lambda data: (data[None, :] <= GRID[:3]).sum(), "another shape"),
        (lambda data: data[None, 1].sum(), "single records"),
    ],
)
def test_what_asks_for_more_is_refused(use: Any, words: str) -> None:
    def released(data: Any, rng: Any) -> Any:
        return use(data) + rng.laplace()

    assert words in reason_of(lt.mechanism(released), SMALL)


@pytest.mark.slow
def test_a_quantile_by_the_exponential_mechanism() -> None:
    """Over 21 numbers, of 5,000 records: utilities are minus the distances from the wanted rank."""
    grid = np.arange(0, 101, 5)

    def quantile(data: Any, rng: Any) -> Any:
        below = (data[None, :] <= grid[:, None]).sum(axis=1)
        scores = -np.abs(below - 0.5 * len(data))
        weights = np.exp(0.5 * (scores - scores.max()))
        return rng.choice(grid, p=weights / weights.sum())

    domain = lt.RecordGrid([101] * 5_000)
    verdict = lt.check_privacy(quantile, domain, epsilon=1.0001, delta=1e-9, floats="ideal")
    assert verdict.decision == "YES", str(verdict)
