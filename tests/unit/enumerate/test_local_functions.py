"""Loops over records that call functions made beside them, match values, or ask for any record.

What a record adds is compared with the largest change by brute force over small datasets; what
looks at more than the record has no price.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

Program = Callable[[Any, Any], Any]
SMALL, LARGE = lt.RecordGrid([4] * 3), lt.RecordGrid([4] * 5000)


def mapped_lambda(data: Any, rng: Any) -> Any:
    clip = lambda v: max(1, min(2, v))  # noqa: E731
    return sum(map(clip, data)) + rng.laplace(0, 1)


def nested_def(data: Any, rng: Any) -> Any:
    low, high = 1, 3

    def clip(v: int) -> int:
        if v < low:
            return low
        return high if v > high else v

    total = 0
    for v in data:
        total += clip(v)
    return total + rng.laplace(0, 1)


def filtered_by_local(data: Any, rng: Any) -> Any:
    def is_large(v: int) -> bool:
        bound = 2
        return v >= bound

    return len([v for v in data if is_large(v)]) + rng.laplace(0, 1)


def matched(data: Any, rng: Any) -> Any:
    n = 0
    for v in data:
        match int(v):
            case 1 | 2:
                n += 1
            case 3 if v > 0:
                n += 5
            case _:
                pass
    return n + rng.laplace(0, 1)


def matched_without_rest(data: Any, rng: Any) -> Any:
    n = 0
    for v in data:
        match v > 1:
            case True:
                n += 3
    return n + rng.laplace(0, 1)


def any_record(data: Any, rng: Any) -> Any:
    return 2 * int(np.any(data == 3)) + rng.laplace(0, 1)


def all_records(data: Any, rng: Any) -> Any:
    return (3 if (data < 3).all() and data.size else 0) + rng.laplace(0, 1)


def checked_before(data: Any, rng: Any) -> Any:
    if np.any(data < 0) or not all(v <= 3 for v in data):
        raise ValueError("out of range")
    return data.sum() + rng.laplace(0, 1)


def assigned_twice(data: Any, rng: Any) -> Any:
    step = lambda v: 0  # noqa: E731
    step = lambda v: v  # noqa: E731
    return sum(step(v) for v in data) + rng.laplace(0, 1)


def count_those(data: Any, rule: Callable[[int], bool]) -> int:
    return sum(1 for v in data if rule(v))


def counted_by_parameter(data: Any, rng: Any) -> Any:
    return count_those(data, lambda v: v >= 2) + rng.laplace(0, 1)


class Queries:
    """As libraries of courses have them: data, and methods that are given rules."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def total(self, score: Callable[[int], float]) -> float:
        total = 0.0
        for v in self.data:
            weighted = score(int(v))
            total += weighted
        return total


def scored_by_parameter(data: Any, rng: Any) -> Any:
    top = 2
    return Queries(data).total(lambda v: min(v, top)) + rng.laplace(0, 1)


def made_in_two_places(data: Any, rng: Any) -> Any:
    total = 0
    if len(data) > 1:

        def step(v: int) -> int:
            return min(v, 2)
    else:

        def step(v: int) -> int:
            return v

    for v in data:
        total += step(v)
    return total + rng.laplace(0, 1)


ADDING = (
    *(mapped_lambda, nested_def, filtered_by_local, matched, assigned_twice),
    *(counted_by_parameter, scored_by_parameter, made_in_two_places),
)


class NoNoise:
    def laplace(self, *_: Any) -> float:
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
    return float(align(lt.mechanism(program), domain, Fraction(9), Fraction(0)).epsilon)


@pytest.mark.parametrize("program", [*ADDING, any_record, checked_before])
def test_price_is_the_largest_change(program: Program) -> None:
    assert price(program) == pytest.approx(largest_change(program))


def test_what_is_a_truth_is_not_asked_of_numbers() -> None:
    found = align(lt.mechanism(matched_without_rest), SMALL, Fraction(9), Fraction(0))
    assert "it asks with 'is'" in found.reason


def test_price_does_not_depend_on_how_many_there_are() -> None:
    assert price(nested_def, LARGE) == pytest.approx(largest_change(nested_def))


def test_all_records_is_a_comparison_of_data() -> None:
    found = align(lt.mechanism(all_records), LARGE, Fraction(9), Fraction(0))
    assert math.isinf(found.epsilon)
    assert found.boundary


# ---- what looks at more than the record


def reads_total(data: Any, rng: Any) -> Any:
    total = 0

    def step(v: int) -> int:
        return v if total < 2 else 0

    for v in data:
        total += step(v)
    return total + rng.laplace(0, 1)


def reads_last(data: Any, rng: Any) -> Any:
    last = total = 0

    def step(v: int) -> int:
        return int(abs(v - last))

    for v in data:
        total += step(v)
        last = v
    return total + rng.laplace(0, 1)


def reads_cells(data: Any, rng: Any) -> Any:
    cells = [0]

    def step(_: int) -> int:
        return 1 if cells[0] < 2 else 2

    for v in data:
        cells[0] += step(v)
    return cells[0] + rng.laplace(0, 1)


def reads_total_in_two_places(data: Any, rng: Any) -> Any:
    total = 0
    if len(data) > 1:

        def step(v: int) -> int:
            return v if total < 2 else 0
    else:

        def step(v: int) -> int:
            return v

    for v in data:
        total += step(v)
    return total + rng.laplace(0, 1)


def reads_total_by_another_name(data: Any, rng: Any) -> Any:
    total = 0

    def step(v: int) -> int:
        return v if total < 2 else 0

    rule = step
    for v in data:
        total += rule(v)
    return total + rng.laplace(0, 1)


def reads_what_another_function_changes(data: Any, rng: Any) -> Any:
    total = 0

    def step(v: int) -> int:
        return v if total < 2 else 0

    def run(rule: Callable[[int], int]) -> None:
        nonlocal total
        for v in data:
            total += rule(v)

    run(step)
    return total + rng.laplace(0, 1)


def counts_calls(data: Any, rng: Any) -> Any:
    places = iter(range(10))
    return count_those(data, lambda v: next(places) > v) + rng.laplace(0, 1)


def scaled_by_data(data: Any, rng: Any) -> Any:
    top = data.max()
    step = lambda v: v / (top + 1)  # noqa: E731
    return sum(step(v) for v in data) + rng.laplace(0, 1)


def keeps_count(data: Any, rng: Any) -> Any:
    seen: list[int] = []

    def step(v: int) -> int:
        seen.append(v)
        return len(seen)

    return sum(step(v) for v in data) + rng.laplace(0, 1)


@pytest.mark.parametrize(
    "program",
    [
        *(reads_total, reads_last, reads_cells, reads_total_in_two_places),
        *(reads_total_by_another_name, reads_what_another_function_changes, counts_calls),
    ],
)
def test_more_than_the_record_is_not_folded(program: Program) -> None:
    assert math.isinf(price(program, LARGE))


@pytest.mark.parametrize("program", [scaled_by_data, keeps_count])
def test_other_data_in_a_function_are_not_folded(program: Program) -> None:
    assert math.isinf(price(program, LARGE))


# ---- records that are there or not


def tells_by_exception(data: Any, rng: Any) -> Any:
    if (data == 3).any():
        raise ValueError("3 is not allowed")
    return data.sum() + rng.laplace(0, 3)


def tells_by_generator(data: Any, rng: Any) -> Any:
    if any(v == 3 for v in data):
        return None
    return data.sum() + rng.laplace(0, 3)


def tells_by_membership(data: Any, rng: Any) -> Any:
    if 3 in data.tolist():
        return None
    return data.sum() + rng.laplace(0, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [tells_by_exception, tells_by_generator, tells_by_membership, all_records]
)
def test_one_record_tells(program: Program) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), LARGE, epsilon=1, floats="ideal")
    assert verdict.decision == "NO"
    assert verdict.witness is not None
