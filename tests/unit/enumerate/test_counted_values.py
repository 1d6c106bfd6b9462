"""The largest of a Counter, and loops within a pass over records: prices by brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

Program = Callable[[Any, Any], Any]
SMALL, LARGE = lt.RecordGrid([4] * 3), lt.RecordGrid([4] * 5000)
HASHES = [(3, 7), (5, 1)]


def largest_count(data: Any, rng: Any) -> Any:
    return max(Counter(data.tolist()).values()) + rng.laplace(0, 1)


def largest_count_of_some(data: Any, rng: Any) -> Any:
    counts = Counter(data[data > 1].tolist())
    return 3 * max(counts.values(), default=0) + rng.laplace(0, 1)


def largest_of_defaultdict(data: Any, rng: Any) -> Any:
    counts: defaultdict[int, int] = defaultdict(int)
    for v in data:
        counts[int(v) // 2] += 1
    return max(counts.values()) + rng.laplace(0, 1)


def sketch(data: Any, rng: Any) -> Any:
    table = np.zeros((2, 3))
    for v in data:
        for row, (a, b) in enumerate(HASHES):
            table[row, (a * int(v) + b) % 3] += 1
    return (table * np.array([[1, 2, 4], [8, 16, 32]])).sum() + rng.laplace(0, 1)


def weighted_bits(data: Any, rng: Any) -> Any:
    total = 0
    for v in data:
        for weight, bit in zip((4, 2, 1), reversed(range(3)), strict=True):
            if int(v) >> bit & 1:
                total += weight
    return total + rng.laplace(0, 1)


class NoNoise:
    def laplace(self, *_: Any, **__: Any) -> float:
        return 0.0


def largest_change(program: Program) -> float:
    """By brute force over all neighbouring datasets of three records."""
    known = {
        values: float(program(np.array(values), NoNoise()))
        for values in itertools.product(range(4), repeat=3)
    }
    return max(
        abs(known[one] - known[other])
        for one, other in itertools.combinations(known, 2)
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    )


def price(program: Program, domain: lt.Domain = SMALL) -> float:
    return float(align(lt.mechanism(program), domain, Fraction(99), Fraction(0)).epsilon)


RIGHT = [largest_count, largest_count_of_some, largest_of_defaultdict, sketch, weighted_bits]


@pytest.mark.slow
@pytest.mark.parametrize("program", RIGHT)
def test_price_is_the_largest_change(program: Program) -> None:
    assert price(program) >= largest_change(program) - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("program", [largest_count, largest_of_defaultdict, weighted_bits])
def test_price_is_no_more_than_that_of_all_sizes(program: Program) -> None:
    assert price(program, LARGE) == pytest.approx(largest_change(program))


# ---- what depends on which keys there are


def smallest_count(data: Any, rng: Any) -> Any:
    return min(Counter(data.tolist()).values()) + rng.laplace(0, 1)


def largest_of_some(data: Any, rng: Any) -> Any:
    return max(Counter(data[data > 2].tolist()).values()) + rng.laplace(0, 1)


def largest_or_two(data: Any, rng: Any) -> Any:
    return max(Counter(data[data > 2].tolist()).values(), default=2) + rng.laplace(0, 1)


def listed_counts(data: Any, rng: Any) -> Any:
    return next(iter(Counter(data.tolist()).values())) + rng.laplace(0, 1)


def largest_sum(data: Any, rng: Any) -> Any:
    sums: defaultdict[int, int] = defaultdict(int)
    for v in data:
        sums[int(v)] -= 1
    return max(sums.values()) + rng.laplace(0, 1)


@pytest.mark.parametrize(
    "program", [smallest_count, largest_of_some, largest_or_two, listed_counts, largest_sum]
)
def test_other_values_are_not_followed(program: Program) -> None:
    assert math.isinf(price(program))


def ends_in_between(data: Any, rng: Any) -> Any:
    last = total = 0
    for v in data:
        for _, last in enumerate((last + 1, int(v))):  # noqa: B020
            total += last
    return total + rng.laplace(0, 1)


def test_what_an_inner_loop_leaves_behind_is_not_folded() -> None:
    assert math.isinf(price(ends_in_between, LARGE))
