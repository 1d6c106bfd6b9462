"""Everyday loops over records and other spellings of counts, with data as symbols."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align

GROUPS = lt.RecordGrid([4] * 60)
ROWS = np.array([[0.6, -2.0], [3.0, 0.5], [0.0, 0.0], [-1.0, 4.0]])


def by_default(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        h.setdefault(k, 0)
        h[k] += 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def by_test(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        if k not in h:
            h[k] = 0
        h[k] += 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def by_two_ways(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        if k in h:
            h[k] += 1
        else:
            h[k] = 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def by_two_ways_turned(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        if k not in h:
            h[k] = 1
        else:
            h[k] += 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def by_exception(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        try:
            h[k] += 1
        except KeyError:
            h[k] = 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def default_of_one(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        h.setdefault(k, 1)
        h[k] += 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def another_key(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        h.setdefault(0, 0)
        h[k] += 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def first_is_two(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    for v in data:
        k = int(v)
        if k in h:
            h[k] += 1
        else:
            h[k] = 2
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


def another_dict(data: Any, rng: Any) -> Any:
    h: dict[int, int] = {}
    g: dict[int, int] = {}
    for v in data:
        k = int(v)
        if k in g:
            h[k] += 1
        else:
            h[k] = 1
    return [h.get(k, 0) + rng.laplace(0, 2) for k in range(4)]


COUNTS = [by_default, by_test, by_two_ways, by_two_ways_turned, by_exception]
# What is not a count, though it looks like one.
NO_COUNTS = [default_of_one, another_key, first_is_two, another_dict]


def price(function: Any, domain: Any = GROUPS) -> float:
    return align(function, domain).epsilon


@pytest.mark.slow
@pytest.mark.parametrize("function", COUNTS)
def test_a_count_by_key_in_any_spelling(function: Any) -> None:
    assert price(lt.mechanism(function)) == 1


@pytest.mark.parametrize("function", NO_COUNTS)
def test_what_is_not_a_count_is_not_taken_for_one(function: Any) -> None:
    assert price(lt.mechanism(function)) > 1e9


def by_rows(data: Any, rng: Any) -> Any:
    total = np.zeros(2)
    for v in data:
        g = ROWS[v]
        total += g * 0.125
    return (total + rng.laplace(0, 0.95, 2)).tolist()


def test_arrays_are_added_up_record_by_record() -> None:
    """Two rows are 7.6 apart in the 1-norm at most, and an eighth of them 0.95."""
    assert 1 - 1e-9 < price(lt.mechanism(by_rows)) < 1 + 1e-9


@pytest.mark.slow
def test_an_array_with_another_name_is_not_followed_as_it_was() -> None:
    """It is added to in place."""

    def step(data: Any, rng: Any) -> Any:
        total = np.zeros(2)
        first = total
        for v in data:
            total += ROWS[v]
        return (first + rng.laplace(0, 1e9, 2)).tolist()

    def odd(data: Any, rng: Any) -> Any:
        total = np.zeros(2)
        for v in data:
            total += ROWS[v][: 1 + (v > 0)]
        return (total + rng.laplace(0, 9.0, 2)).tolist()

    assert price(lt.mechanism(step)) > 1e9
    assert price(lt.mechanism(odd)) > 1e9


def by_where(data: Any, rng: Any) -> Any:
    return np.where(data == 1)[0].size + rng.laplace(0, 1)


def by_nonzero(data: Any, rng: Any) -> Any:
    return np.nonzero(data)[0].shape[0] + rng.laplace(0, 1)


def by_length(data: Any, rng: Any) -> Any:
    return len(np.flatnonzero(data > 2)) + rng.laplace(0, 1)


def of_a_selection(data: Any, rng: Any) -> Any:
    return len(np.where(data[data > 0] == 2)[0]) + rng.laplace(0, 1)


@pytest.mark.parametrize("function", [by_where, by_nonzero, by_length, of_a_selection])
def test_how_many_places_there_are(function: Any) -> None:
    assert price(lt.mechanism(function)) == 1


def test_the_places_themselves_are_not_followed() -> None:
    def first(data: Any, rng: Any) -> Any:
        return float(np.where(data == 1)[0][0] + rng.laplace(0, 1e9))

    def total(data: Any, rng: Any) -> Any:
        return float(np.where(data == 1)[0].sum() + rng.laplace(0, 1e9))

    for function in (first, total):
        assert price(lt.mechanism(function)) > 1e9


@pytest.mark.slow
def test_a_difference_of_exponential_noise_of_python() -> None:
    def right(data: Any, rng: Any) -> Any:
        own = random.Random()
        return int(data.sum()) + own.expovariate(1 / 3) - own.expovariate(1 / 3)

    def low(data: Any, rng: Any) -> Any:
        return int(data.sum()) + random.expovariate(1) - random.expovariate(1)

    def one_sided(data: Any, rng: Any) -> Any:
        return int(data.sum()) + random.expovariate(1)

    assert price(lt.mechanism(right)) == pytest.approx(1, abs=1e-12)
    assert price(lt.mechanism(low)) == 3
    assert price(lt.mechanism(one_sided)) > 1e9


def test_far_too_many_paths_are_seen_early() -> None:
    calls = []

    def flags(answers: Any, rng: Any) -> Any:
        calls.append(1)
        return [bool(a + rng.laplace(0, 2) > 5) for a in answers]

    found = lt.mechanism(flags).align_paths(lt.Answers(60), way="branches")
    assert isinstance(found, NoPaths)
    assert found.has_far_too_many
    assert "paths" in found.reason
    assert len(calls) < 400


def test_a_sum_that_is_told_without_noise_ends_the_walk() -> None:
    calls = []

    def flags(data: Any, rng: Any) -> Any:
        calls.append(1)
        noisy = [rng.laplace(0, 1) > k for k in range(9)]
        return noisy, int(data.sum())

    found = lt.mechanism(flags).align_paths(GROUPS, way="branches")
    assert isinstance(found, NoPaths)
    assert "without noise" in found.reason
    assert found.dearest is not None
    assert len(calls) < 10


@pytest.mark.slow
def test_loops_that_stop_have_few_paths() -> None:
    """Though the first run of it has many comparisons."""

    def above(answers: Any, rng: Any) -> Any:
        threshold = rng.laplace(0, 2)
        for place, answer in enumerate(answers):
            if answer + rng.laplace(0, 4) > threshold:
                return place
        return -1

    assert price(lt.mechanism(above), lt.Answers(40)) == 1


class Bounds:
    """Bounds held by an object, and one that code makes anew."""

    low = 1

    def __init__(self) -> None:
        self.high = 3

    @property
    def drawn(self) -> float:
        return random.random()

    def clipped(self, data: Any, rng: Any) -> Any:
        return sum(max(self.low, min(self.high, v)) for v in data) + rng.laplace(0, 2)

    def looped(self, data: Any, rng: Any) -> Any:
        total = 0
        for v in data:
            if v > self.high:
                total += self.high
            elif v > self.low:
                total += v
        return total + rng.laplace(0, 3)

    def by_property(self, data: Any, rng: Any) -> Any:
        return sum(min(self.drawn, v) for v in data) + rng.laplace(0, 1)


@pytest.mark.parametrize(
    ("method", "price"), [(Bounds().clipped, 1), (Bounds().looped, 1), (Bounds().by_property, None)]
)
def test_attributes_of_objects_are_read_where_they_are_constant_data(
    method: Any, price: float | None
) -> None:
    found = align(lt.mechanism(method), GROUPS)
    assert found.epsilon == (np.inf if price is None else price)


def above_a_formula(data: Any, rng: Any) -> Any:
    found = {}
    keys, counts = np.unique(data, return_counts=True)
    for key, count in zip(keys, counts, strict=True):
        noisy = count + rng.laplace(0, 2)
        if noisy > 1 + 2 * math.log(2 / 1e-5):
            found[key] = noisy
    return found


def test_bounds_of_noisy_counts_may_be_formulas() -> None:
    found = align(lt.mechanism(above_a_formula), GROUPS, Fraction(1), Fraction(1, 10**5))
    assert found.epsilon <= 1
