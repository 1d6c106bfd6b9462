"""Tables of several axes against NumPy: what each record counts in, and is looked up in.

With Laplace noise of scale 1 on each number the price is the largest change of all numbers together
that one record makes, which NumPy tells over all pairs of datasets.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import liptest as lt
from liptest.privacy.proofs.prices import align

VALUES, RECORDS = 6, 3
MANY = lt.RecordGrid([VALUES] * 5000)
WEIGHTS = np.array([[3, 1, 0], [1, -2, 5]])
CUBE = np.arange(12.0).reshape(2, 3, 2) ** 2
Sums = Callable[[Any], Any]


def counted(places: Any, number: Any = 1, shape: Any = (2, 3), kind: Any = float) -> Any:
    table = np.zeros(shape, dtype=kind)
    np.add.at(table, places, number)
    return table


def total(entries: Any) -> Any:
    return np.stack([entries.sum()])


def counted_twice(data: Any) -> Any:
    table = np.zeros((3, 2))
    same = table[:]
    np.add.at(table, (data % 3, data // 3), 1)
    np.add.at(same, (data % 3, data // 3), 1)
    return table


def counted_in_a_turned_view(data: Any) -> Any:
    table = np.zeros((3, 2))
    np.add.at(table.T, (data // 3, data % 3), 1)
    return table


def counted_in_a_loop(data: Any) -> Any:
    table = np.zeros((2, 3))
    for row, column in zip(*np.divmod(data, 3), strict=True):
        table[row, column] += 1
    return table


def written(data: Any) -> Any:
    table = np.zeros((2, 3))
    table[data // 3, data % 3] += 1
    return table


def into_arrays(data: Any) -> Any:
    quotient, rest = np.zeros(len(data), dtype=int), np.zeros(len(data), dtype=int)
    np.divmod(data, 3, out=(quotient, rest))
    return np.stack([quotient.sum(), rest.sum()])


#: What is followed, each at its own price.
FOLLOWED: dict[str, Sums] = {
    "rows and columns": lambda d: counted((d // 3, d % 3)),
    "whole numbers": lambda d: counted((d // 3, d % 3), kind=int),
    "three axes": lambda d: counted((d // 3, d % 3, d % 2), shape=(2, 3, 2)),
    "one place is constant": lambda d: counted((1, d % 3)),
    "weights": lambda d: counted((d // 3, d % 3), d),
    "by fractions": lambda d: counted((d // 3, d % 3), 0.25),
    "of a selection": lambda d: counted((d[d > 1] // 3, d[d > 1] % 3)),
    "twice": counted_twice,
    "divmod": lambda d: counted(divmod(d, 3)),
    "numpy.divmod": lambda d: counted(np.divmod(d, 3)),
    "unravelled": lambda d: counted(np.unravel_index(d, (2, 3))),
    "in a loop": counted_in_a_loop,
    "raveled": lambda d: np.bincount(np.ravel_multi_index((d % 3, d // 3), (3, 2)), minlength=6),
    "quotient and rest": lambda d: np.stack([part.sum() for part in np.divmod(d, 4)]),
    "swapped": lambda d: np.stack([part.sum() for part in divmod(7, d + 1)]),
    "looked up": lambda d: total(WEIGHTS[d // 3, d % 3]),
    "looked up from the end": lambda d: total(WEIGHTS[-(d // 3), d % 3]),
    "looked up in a row": lambda d: total(WEIGHTS[1, d % 3]),
    "lines of a cube": lambda d: CUBE[d // 3, d % 3].sum(axis=0),
    "entries of a cube": lambda d: total(CUBE[d // 3, d % 3, d % 2]),
}
#: What must not be followed as if each record had its own place.
OTHERS: dict[str, Sums] = {
    "other records": lambda d: counted((d // 3, d[::-1] % 3)),
    "records in order": lambda d: counted((d // 3, np.sort(d) % 3)),
    "another selection": lambda d: counted((d[d > 2] // 3, d[d < 3] % 3)),
    "public places": lambda d: counted((d // 3, np.arange(len(d)) % 3)),
    "outside": lambda d: counted((d // 3, d % 3), shape=(2, 2)),
    "one axis of two": lambda d: counted((d % 2,)),
    "in a turned view": counted_in_a_turned_view,
    "written, not added": written,
    "looked up outside": lambda d: total(WEIGHTS[d // 2, d % 2]),
    "looked up of others": lambda d: total(WEIGHTS[d // 3, d[::-1] % 3]),
    "looked up by public places": lambda d: total(WEIGHTS[d // 3, np.arange(len(d)) % 3]),
    "looked up by truths": lambda d: total(WEIGHTS[d > 2, d % 3]),
    "by zero": lambda d: total(np.divmod(d, 0)[0]),
    "by what may be zero": lambda d: total(divmod(5, d)[0]),
    "into arrays": into_arrays,
}


def find_price(sums: Sums, domain: Any = MANY) -> Any:
    def noisy(data: Any, rng: Any) -> Any:
        numbers = sums(data)
        return (numbers + rng.laplace(0, 1.0, size=np.shape(numbers))).tolist()

    return align(lt.mechanism(noisy), domain)


def largest_change(sums: Sums) -> float:
    """Over all pairs of datasets that differ in one record."""
    found = {
        point: np.asarray(sums(np.array(point)), dtype=float)
        for point in product(range(VALUES), repeat=RECORDS)
    }
    return max(
        float(np.abs(numbers - found[(*point[:place], other, *point[place + 1 :])]).sum())
        for point, numbers in found.items()
        for place in range(RECORDS)
        for other in range(VALUES)
    )


@pytest.mark.parametrize("name", FOLLOWED)
def test_each_is_priced_at_the_largest_change(name: str) -> None:
    price = find_price(FOLLOWED[name]).epsilon
    assert price == pytest.approx(largest_change(FOLLOWED[name]), rel=1e-8)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_of_the_record_is_refused(name: str) -> None:
    assert find_price(OTHERS[name]).price is None


@settings(max_examples=25, deadline=None)
@given(
    constants=arrays(
        np.int64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(-9, 9)
    ),
    factors=st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
    divisor=st.integers(-3, 4),
)
def test_lookups_are_those_of_numpy(constants: Any, factors: tuple[int, int], divisor: int) -> None:
    """The price is that of NumPy's sums, and where NumPy raises there is none."""

    def looked_up(data: Any) -> Any:
        quotient, rest = np.divmod(data, divisor)
        return total(constants[factors[0] * quotient, factors[1] * rest])

    try:
        with np.errstate(divide="raise"):
            exact = largest_change(looked_up)
    except (IndexError, FloatingPointError):
        assert find_price(looked_up).price is None
    else:
        assert find_price(looked_up).epsilon == pytest.approx(exact, abs=1e-8)


def test_floats_are_divided_as_numpy_divides_them() -> None:
    numbers = np.array([-7.5, -1.0, 0.3, 0.1 + 0.2, 2.0, 1e6])

    def parts(data: Any) -> Any:
        return np.stack([part.sum() for part in np.divmod(numbers[data], 0.3)])

    assert find_price(parts).epsilon == pytest.approx(largest_change(parts), rel=1e-8)


def test_noisy_numbers_are_divided_for_free() -> None:
    def divided(data: Any, rng: Any) -> Any:
        noisy = np.bincount(data, minlength=VALUES) + rng.laplace(0, 2.0, size=VALUES)
        quotient, rest = np.divmod(noisy, 10)
        first, left = divmod(float(noisy[0]), 7)
        return [quotient.tolist(), rest.tolist(), first, left]

    assert align(lt.mechanism(divided), MANY).epsilon == pytest.approx(1.0)
