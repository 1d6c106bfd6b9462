"""Values that are told where their noisy count is large: the delta, by exact laws."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.told_groups import VALUES, N, check_delta, exact_delta

SMALL = lt.RecordGrid([VALUES] * N)


def told_values(data: Any, rng: Any, scale: float, bound: float) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.laplace(0, scale)
        if noisy > bound:
            found[int(value)] = 1
    return found


@pytest.mark.slow
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
        check_delta(found, scale, bound, float(epsilon))


def as_list(data: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        noisy = count + np.random.laplace(0, 2.0)
        rounded = round(noisy)
        if noisy >= 40:
            found.append((value, rounded))
    return found


def normal(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    found = {}
    for value, count in zip(values, counts, strict=True):
        noisy = count + rng.normal(0, 8.0)
        if noisy > 60:
            found[int(value)] = noisy
    return found


def of_items(data: Any) -> Any:
    counts = dict(zip(*np.unique(data, return_counts=True), strict=True))
    found = {}
    for value, count in counts.items():
        noisy = count + np.random.laplace(0, 2.0)
        if noisy > 40:
            found[value] = max(0.0, noisy)
    return found


def counter_in_one_line(data: Any, rng: Any) -> Any:
    return {k: n for k, c in Counter(data).items() if (n := c + rng.laplace(0, 2.0)) > 40}


def counter_in_two_lines(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    noisy = {key: count + rng.laplace(0, 2.0) for key, count in counts.items()}
    return {f"group {key}": round(number) for key, number in noisy.items() if number >= 40}


def counter_by_keys(data: Any, rng: Any) -> Any:
    counts, bound = Counter(one // 2 for one in data.tolist()), 40
    noisy = {}
    for key in counts:
        noisy[key] = counts[key] + rng.laplace(0, 2.0)
    found = {}
    for key in noisy:
        if bound < noisy[key]:
            found[key] = noisy[key]
    return found


def counted_by_hand(data: Any, rng: Any) -> Any:
    counts: dict[int, int] = defaultdict(int)
    for one in data:
        counts[int(one)] += 1
    found = {}
    for key, count in counts.items():
        noisy = count + rng.normal(0, 8.0)
        if noisy > 60:
            found[key] = noisy
    return found


def pairs_in_one_line(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    noisy = {value: count + rng.laplace(0, 2.0) for value, count in pairs}
    return {value: number for value, number in noisy.items() if number > 40}


ALIKE = [of_items, counter_in_one_line, counter_by_keys, counted_by_hand, pairs_in_one_line]
SLOW = [pytest.param(one, marks=pytest.mark.slow) for one in ALIKE]


@pytest.mark.slow
@pytest.mark.parametrize("function", [as_list, normal, counter_in_two_lines, *SLOW])
def test_spellings_are_proved_at_any_size(function: Any) -> None:
    domain = lt.RecordGrid([10] * 5_000)
    verdict = lt.check_privacy(lt.mechanism(function), domain, epsilon=1.0, delta=1e-5)
    assert verdict.decision == "YES"


@pytest.mark.slow
def test_no_other_notion_is_proved_of_them() -> None:
    domain = lt.RecordGrid([10] * 5_000)
    for claim in ({"rho": 2.0}, {"mu": 5.0}):
        verdict = lt.check_privacy(lt.mechanism(normal), domain, method="alignment", **claim)
        assert verdict.decision == "INCONCLUSIVE"


@pytest.mark.slow
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


def largest_of_two_counts(data: Any, rng: Any) -> Any:
    found = {}
    for value, count in zip(*np.unique(data, return_counts=True), strict=True):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found[value] = max(count, noisy)
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


def in_the_order_of_the_records(data: Any, rng: Any) -> Any:
    return [(k, n) for k, c in Counter(data).items() if (n := c + rng.laplace(0, 2.0)) > 40]


def appended_in_their_order(data: Any, rng: Any) -> Any:
    found = []
    for key, count in Counter(data.tolist()).items():
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            found.append((key, noisy))
    return found


def the_last_of_two_keys(data: Any, rng: Any) -> Any:
    noisy = {k: c + rng.laplace(0, 2.0) for k, c in Counter(data.tolist()).items()}
    return {k // 2: n for k, n in noisy.items() if n > 40}


def all_that_are_there(data: Any, rng: Any) -> Any:
    return {k: c + rng.laplace(0, 2.0) for k, c in Counter(data.tolist()).items()}


def without_a_bound(data: Any, rng: Any) -> Any:
    noisy = {k: c + rng.laplace(0, 2.0) for k, c in Counter(data.tolist()).items()}
    return max(noisy, key=noisy.get)


def noise_of_another_pass(data: Any, rng: Any) -> Any:
    noisy = {k: c + rng.laplace(0, 2.0) for k, c in Counter(data.tolist()).items()}
    return {k: n for k, n in noisy.items() if n + rng.laplace(0, 1.0) > 40}


def two_tables_of_one(data: Any, rng: Any) -> Any:
    noisy = {k: c + rng.laplace(0, 2.0) for k, c in Counter(data.tolist()).items()}
    return {k: n for k, n in noisy.items() if n > 40}, {k: n for k, n in noisy.items() if n > 50}


def sums_of_keys(data: Any, rng: Any) -> Any:
    sums: dict[int, int] = defaultdict(int)
    for one in data.tolist():
        sums[one] += one
    return {k: n for k, c in sums.items() if (n := c + rng.laplace(0, 2.0)) > 40}


def walrus_is_read_later(data: Any, rng: Any) -> Any:
    n = 0.0
    found = {k: n for k, c in Counter(data).items() if (n := c + rng.laplace(0, 2.0)) > 40}
    return found, n


OF_COUNTERS = [
    *(in_the_order_of_the_records, appended_in_their_order, the_last_of_two_keys),
    *(all_that_are_there, without_a_bound, noise_of_another_pass, two_tables_of_one),
    *(sums_of_keys, walrus_is_read_later),
]


@pytest.mark.parametrize("function", OF_COUNTERS)
def test_counters_that_leave_another_trace_are_refused(function: Any) -> None:
    found = align(lt.mechanism(function), lt.RecordGrid([4] * 50), Fraction(50), Fraction(1, 10))
    assert found.price is None


def test_no_delta_of_counters_is_below_the_exact_one() -> None:
    for scale, bound in ((1.0, 6.0), (2.0, 15.0), (4.0, 15.0)):

        def told(data: Any, rng: Any, scale: float = scale, bound: float = bound) -> Any:
            counts = Counter(data.tolist())
            noisy = {key: count + rng.laplace(0, scale) for key, count in counts.items()}
            return {key: number for key, number in noisy.items() if number > bound}

        epsilon = Fraction(3) / Fraction(scale)
        found = align(lt.mechanism(told), SMALL, epsilon, Fraction(9, 10))
        assert found.price is not None
        assert float(found.price.delta) >= exact_delta(scale, bound, float(epsilon)) * (1 - 1e-9)


def test_the_order_of_a_dict_is_not_told_where_it_counts() -> None:
    domain = lt.RecordGrid([4] * 50)
    mechanism = lt.mechanism(typed_outputs=True)(counter_in_two_lines)
    assert align(mechanism, domain, Fraction(50), Fraction(1, 10)).price is None


REFUSED = [counted, scaled_by_place, told_otherwise, shared_noise, true_count_told, noise_told]
REFUSED += [largest_of_two_counts]


@pytest.mark.parametrize(
    "function", [*REFUSED, passes_of_before, read_later, counts_told_twice, looked_at_later]
)
def test_loops_that_leave_another_trace_are_refused(function: Any) -> None:
    domain = lt.RecordGrid([4] * 50)
    found = align(lt.mechanism(function), domain, Fraction(50), Fraction(1, 10))
    assert found.price is None
