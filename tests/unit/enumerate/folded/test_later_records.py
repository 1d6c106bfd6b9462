"""Iterators over records that are kept in a variable, and walked later, once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.enumerate.fake_columns import Refusal, column_of, fold

# ruff: noqa: C417, B007
VALUES = range(6)
LOW = 1


def above(values: Any, low: int = LOW) -> Any:
    """Yields."""
    for v in values:
        if v > low:
            yield int(v)
        else:
            yield low


def even(values: Any) -> Any:
    for v in values:
        if v % 2:
            continue
        half = v // 2
        yield half


def kept(data: Any) -> Any:
    g = (int(v) for v in data if v > 1)
    m = map(lambda v: min(v, 3), g)
    f = filter(lambda v: v > 2, m)
    return sum(f)


def kept_by_names(data: Any) -> Any:
    cap = 2
    g = (min(int(v), cap) for v in data)
    cap = 4
    whole, kinds = map(int, data), len(set(map(int, data)))
    true = list(filter(None, data))
    return sum(g), sum(whole), len(true), kinds, sum(int(v) for v in iter(data))


def walked_by_a_loop(data: Any) -> Any:
    total, count = 0, 0
    it = iter(data)
    large = (v for v in it if v > LOW)
    for v in large:
        total += int(v)
        count += 1
    return total, count


def generator_functions(data: Any) -> Any:
    def odd(values: Any, step: int) -> Any:
        for v in values:
            if v % 2:
                yield int(v) * step

    total = 0
    for v in odd(data, 3):
        total += v
    return total, sum(above(data)), sum(above(above(data, 3))), Counter(above(data, low=2))[3]


def handed_on(data: Any) -> Any:
    parts = even(data), (2 * int(v) for v in data), above([1, 5])
    return [int(sum(part)) for part in parts]


def in_loops(data: Any) -> Any:
    counts = []
    for k in VALUES:
        g = (1 for v in data if v == k)
        counts.append(sum(g))
    return counts


def plain(data: Any) -> Any:
    numbers = (3 * v for v in (1, 2))
    rest = iter([1, 2, 3])
    return next(rest), list(rest), list(numbers), list(numbers), len(data)


FOLLOWED = (
    *(kept, kept_by_names, walked_by_a_loop, generator_functions),
    *(handed_on, in_loops, plain),
)


@pytest.mark.parametrize("function", FOLLOWED)
@given(records=st.lists(st.sampled_from(VALUES), max_size=9))
@settings(max_examples=10)
def test_they_give_what_plain_code_gives(function: Any, records: list[int]) -> None:
    folded = fold(function)(column_of(records, VALUES))
    assert repr(folded) == repr(function(np.array(records, dtype=int)))


def walked_twice(data: Any) -> Any:
    g = (int(v) for v in data)
    return sum(g), sum(g)


def walked_twice_through_another(data: Any) -> Any:
    g = (int(v) for v in data)
    return sum(map(abs, g)), any(g)


def the_loop_changes_what_it_reads(data: Any) -> Any:
    n = 0
    g = (v for v in data if n < 2)
    for v in g:
        n += 1
    return n


def the_loop_fills_what_it_reads(data: Any) -> Any:
    seen: dict[int, int] = {}
    g = (v for v in data if v not in seen)
    for v in g:
        seen[v] = seen.get(v, 0) + 1
    return seen.get(1, 0)


def unseen(values: Any, seen: Any) -> Any:
    for v in values:
        if v not in seen:
            yield v


def the_loop_fills_an_argument(data: Any) -> Any:
    seen: dict[int, int] = {}
    for v in unseen(data, seen):
        seen[v] = seen.get(v, 0) + 1
    return seen.get(1, 0)


def the_loop_fills_what_a_function_reads(data: Any) -> Any:
    total = 0

    def few(values: Any) -> Any:
        for v in values:
            if total < 3:
                yield v

    for v in few(data):
        total += v
    return total


class Limited:
    def __init__(self) -> None:
        self.n = 0

    def few(self, values: Any) -> Any:
        for v in values:
            if self.n < 2:
                yield v


def the_loop_changes_an_object(data: Any) -> Any:
    limited = Limited()
    for _ in limited.few(data):
        limited.n += 1
    return limited.n


def first_of_it(data: Any) -> Any:
    return next(iter(data))


def two_of_one(values: Any) -> Any:
    for v in values:
        yield v
        yield -v


def ended_early(values: Any) -> Any:
    for v in values:
        if v == 3:
            return
        yield v


REFUSED = (
    *(walked_twice, walked_twice_through_another, the_loop_changes_what_it_reads),
    *(the_loop_fills_what_it_reads, the_loop_fills_an_argument, first_of_it),
    *(the_loop_fills_what_a_function_reads, the_loop_changes_an_object),
    *(lambda data: sum(two_of_one(data)), lambda data: sum(ended_early(data))),
)


@pytest.mark.parametrize("function", REFUSED)
def test_what_is_more_than_one_walk_is_refused(function: Any) -> None:
    with pytest.raises(Refusal):
        fold(function)(column_of([0, 1, 1, 4], VALUES))
