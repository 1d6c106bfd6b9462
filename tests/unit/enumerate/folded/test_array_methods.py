"""Methods of plain arrays that are given numbers of the data: NumPy's functions of the names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

VALUES, RECORDS = 4, 3
MANY = lt.RecordGrid([VALUES] * 5000)
MATRIX = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, -1]])
LINE = np.array([1, 2, 4, 9])
Numbers = Callable[[Any], Any]


def counts_of(data: Any) -> Any:
    return np.bincount(data, minlength=VALUES)


def by_a_local(data: Any) -> Any:
    matrix = np.array([[2, 0, 0, 1], [0, 1, 1, 0]])
    return matrix.dot(counts_of(data))


def into_an_array(data: Any) -> Any:
    found = np.zeros(3, dtype=int)
    MATRIX.dot(counts_of(data), out=found)
    return found


class Turned(np.ndarray):
    """An array whose products are its own."""

    def dot(self, other: Any) -> Any:  # type: ignore[override]
        return 5 * np.dot(np.asarray(self), other)


TURNED = MATRIX.view(Turned)
#: With their exact prices.
FOLLOWED: dict[str, Numbers] = {
    "a matrix and counts": lambda d: MATRIX.dot(counts_of(d)),
    "a line and counts": lambda d: np.stack([LINE.dot(counts_of(d))]),
    "twice": lambda d: MATRIX.T.dot(MATRIX.dot(counts_of(d))),
    "a local": by_a_local,
    "ones and records": lambda d: np.stack([np.ones(len(d)).dot(d)]),
    "entries at records": lambda d: np.stack([LINE.take(d).sum()]),
    "places of records": lambda d: np.stack([LINE.searchsorted(d).sum()]),
    "a method of its own": lambda d: TURNED.dot(counts_of(d)),
}
NOT_FOLLOWED: dict[str, Numbers] = {
    "places and records": lambda d: np.stack([np.arange(len(d)).dot(np.sort(d))]),
    "into an array": into_an_array,
    "of another shape": lambda d: MATRIX.dot(np.bincount(d, minlength=5)),
    "entries outside": lambda d: np.stack([LINE.take(d + 1).sum()]),
}


def find_price(numbers_of: Numbers) -> Any:
    def noisy(data: Any, rng: Any) -> Any:
        numbers = numbers_of(data)
        return (numbers + rng.laplace(0, 1.0, size=np.shape(numbers))).tolist()

    return align(lt.mechanism(noisy), MANY)


def largest_change(numbers_of: Numbers) -> float:
    """Over all pairs of datasets that differ in one record."""
    found = {
        point: np.asarray(numbers_of(np.array(point)), dtype=float)
        for point in product(range(VALUES), repeat=RECORDS)
    }
    return max(
        float(np.abs(numbers - found[(*point[:place], other, *point[place + 1 :])]).sum())
        for point, numbers in found.items()
        for place in range(RECORDS)
        for other in range(VALUES)
    )


@pytest.mark.parametrize("name", FOLLOWED)
def test_methods_are_priced_at_the_largest_change(name: str) -> None:
    price = find_price(FOLLOWED[name]).epsilon
    assert price == pytest.approx(largest_change(FOLLOWED[name]), abs=1e-9)


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_other_uses_are_refused(name: str) -> None:
    assert find_price(NOT_FOLLOWED[name]).price is None


def test_plain_numbers_are_answered_by_the_method_itself() -> None:
    def plain(data: Any, rng: Any) -> Any:
        products = LINE.dot(LINE) if type(LINE.dot(LINE)) is np.int64 else None
        return [float(products), float(data.sum() + rng.laplace(0, 3.0))]

    assert align(lt.mechanism(plain), MANY).epsilon == pytest.approx(1.0)
