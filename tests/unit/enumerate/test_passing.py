"""Values that are told where their noisy count is large: the delta, by exact laws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.prices import align

N, VALUES = 3, 3
SMALL = lt.RecordGrid([VALUES] * N)


def told_values(data: Any, rng: Any, scale: float, bound: float) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, scale)
        if noisy > bound:
            found[int(value)] = 1
    return found


def exact_delta(scale: float, bound: float, epsilon: float) -> float:
    """Of which values are told, added up over all sets of them: the law is a product."""

    def passes(count: int) -> float:
        at = (bound - count) / scale
        return (math.exp(-at) / 2 if at >= 0 else 1 - math.exp(at) / 2) if count else 0.0

    laws = {}
    for dataset in product(range(VALUES), repeat=N):
        chances = [passes(dataset.count(value)) for value in range(VALUES)]
        laws[dataset] = {
            told: math.prod(p if v in told else 1 - p for v, p in enumerate(chances))
            for size in range(VALUES + 1)
            for told in combinations(range(VALUES), size)
        }
    worst = 0.0
    for dataset, place, value in product(laws, range(N), range(VALUES)):
        other = laws[(*dataset[:place], value, *dataset[place + 1 :])]
        gaps = (p - math.exp(epsilon) * other[told] for told, p in laws[dataset].items())
        worst = max(worst, sum(gap for gap in gaps if gap > 0))
    return worst


@pytest.mark.parametrize("scale", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("bound", [2.0, 6.0, 15.0])
def test_no_delta_is_below_the_exact_one(scale: float, bound: float) -> None:
    def told(data: Any, rng: Any) -> Any:
        values, counts = np.unique(data, return_counts=True)
        found = {}
        for value, count in zip(values, counts, strict=True):
            noisy = count + rng.laplace(0, scale)
            if noisy > bound:
                found[int(value)] = noisy
        return found

    for epsilon in (Fraction(2) / Fraction(scale), Fraction(3) / Fraction(scale)):
        found = align(lt.mechanism(told), SMALL, epsilon, Fraction(9, 10))
        if found.price is None:
            assert bound == 2  # one record alone makes it pass more often than not
            continue
        proved = float(found.price.delta)
        assert proved >= exact_delta(scale, bound, float(epsilon)) * (1 - 1e-9)
        assert proved == pytest.approx(math.exp(-(bound - 1) / scale) / 2, rel=1e-6)


def as_list(data: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        noisy = count + np.random.laplace(0, 2.0)
        rounded = round(noisy)
        if noisy >= 40:
            found.append((value, rounded))
    return found


def of_items(data: Any) -> Any:
    counts = dict(zip(*np.unique(data, return_counts=True), strict=True))
    found = {}
    for value, count in counts.items():
        noisy = count + np.random.laplace(0, 2.0)
        if noisy > 40:
            found[value] = max(0.0, noisy)
    return found


def normal(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.normal(0, 8.0)
        if noisy > 60:
            found[int(value)] = noisy
    return found


@pytest.mark.parametrize(
    "function", [as_list, pytest.param(of_items, marks=pytest.mark.slow), normal]
)
def test_spellings_are_proved_at_any_size(function: Any) -> None:
    domain = lt.RecordGrid([10] * 5_000)
    verdict = lt.check_privacy(lt.mechanism(function), domain, epsilon=1.0, delta=1e-5)
    assert verdict.decision == "YES"


def test_no_other_notion_is_proved_of_them() -> None:
    domain = lt.RecordGrid([10] * 5_000)
    for claim in ({"rho": 2.0}, {"mu": 5.0}):
        verdict = lt.check_privacy(lt.mechanism(normal), domain, method="alignment", **claim)
        assert verdict.decision == "INCONCLUSIVE"


def test_a_low_bound_is_refuted_and_a_missing_delta_is_told() -> None:
    domain = lt.RecordGrid([10] * 5_000)

    def low(data: Any, rng: Any) -> Any:
        return told_values(data, rng, 2.0, 3.0)

    assert lt.check_privacy(lt.mechanism(low), domain, epsilon=1.0, delta=1e-5).decision == "NO"
    found = align(lt.mechanism(as_list), domain, Fraction(1), Fraction(1, 10**10))
    assert found.price is None
    assert found.enough is not None
    assert float(found.enough) == pytest.approx(math.exp(-39 / 2) / 2)


def counted(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found, walked = {}, 0
    for value, count in zip(values, counts, strict=True):
        walked = walked + 1
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found[int(value)] = noisy
    return found, walked


def scaled_by_place(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found, scale = {}, 2.0
    for value, count in zip(values, counts, strict=True):
        scale = scale + 1.0
        noisy = count + rng.laplace(0, scale)
        if noisy > 40:
            found[int(value)] = noisy
    return found


def told_otherwise(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found, others = {}, []
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found[int(value)] = noisy
        else:
            others.append(int(value))
    return found, others


def shared_noise(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found, noise = {}, rng.laplace(0, 2.0)
    for value, count in zip(values, counts, strict=True):
        noisy = count + noise
        if noisy > 40:
            found[int(value)] = noisy
    return found


def true_count_told(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found[int(value)] = count
    return found


def noise_told(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noise = rng.laplace(0, 2.0)
        noisy = count + noise
        if noisy > 40:
            found[int(value)] = (noisy, round(noise))
    return found


def passes_of_before(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found, last = {}, 0
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, 2.0 + last)
        last = 1
        if noisy > 40:
            found[int(value)] = noisy
    return found


def read_later(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found, noisy = {}, 0.0
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found[int(value)] = noisy
    return found, noisy


def counts_told_twice(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found[int(value)] = noisy
    return found, (data == 0).sum() + rng.laplace(0, 100.0)


def looked_at_later(data: Any, rng: Any) -> Any:
    return len(told_values(data, rng, 2.0, 40.0))


REFUSED = [counted, scaled_by_place, told_otherwise, shared_noise, true_count_told, noise_told]


@pytest.mark.parametrize(
    "function", [*REFUSED, passes_of_before, read_later, counts_told_twice, looked_at_later]
)
def test_loops_that_leave_another_trace_are_refused(function: Any) -> None:
    domain = lt.RecordGrid([4] * 50)
    found = align(lt.mechanism(function), domain, Fraction(50), Fraction(1, 10))
    assert found.price is None
