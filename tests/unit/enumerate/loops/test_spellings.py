"""Ways to write counts of records: ``Counter.update``, tests whether a key is there, defaults."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.enumerate.fake_columns import Refusal, column_of, fold

VALUES = range(6)


def updated(data: Any) -> Any:
    counts, odd, plain = Counter(), Counter(), Counter()  # type: ignore[var-annotated]
    counts.update(data)
    odd.update(int(v) for v in data if v % 2)
    plain.update([1, 1, 2])
    plain.update({2: 5})
    return [counts[k] for k in VALUES], [odd[k] for k in VALUES], plain


def asked_whether_they_are_there(data: Any) -> Any:
    counts: dict[int, int] = {}
    plain = {1: 7}
    for v in data:
        counts[v] = counts.get(v, 0) + 1
    found = [counts[k] if k in counts else 0 for k in range(8)]  # noqa: SIM401
    return found, [plain[k] if k in plain else -1 for k in range(3)]  # noqa: SIM401


def by_default(data: Any) -> Any:
    sums: Any = defaultdict(float)
    large = defaultdict(lambda: 0)
    for v in data:
        sums[v % 3] += int(v)
        large[v > 3] += 2
    return [sums[k] for k in range(4)], sums.get(0, 0.0), large[True], large[False], large[7]


def walked(data: Any) -> Any:
    rows = tuple(int(v) for v in data)
    return sum(1 for _ in filter(lambda v: v > 2, data)), sum(rows), len(tuple(data)), tuple("ab")


def places_after_the_loop(data: Any) -> Any:
    total, i, j, k = 0, -1, -1, -1
    for i, v in enumerate(data):  # noqa: B007
        total += v
    for j, v in enumerate(data, 3):  # noqa: B007
        total += v
    for k in range(len(data)):
        total += data[k]
    return total, i, j, k


def test_the_last_place_is_that_of_the_last_record() -> None:
    for records in ([0], [5, 1, 2]):
        column = column_of(records, VALUES)
        assert fold(places_after_the_loop)(column) == places_after_the_loop(np.array(records))
    with pytest.raises(Refusal):  # where there is none it stays what it was
        fold(places_after_the_loop)(column_of([], VALUES))


FOLLOWED = (updated, asked_whether_they_are_there, by_default, walked)


@pytest.mark.slow
@pytest.mark.parametrize("function", FOLLOWED)
@given(records=st.lists(st.sampled_from(VALUES), max_size=12))
@settings(max_examples=10)
def test_they_give_what_plain_code_gives(function: Any, records: list[int]) -> None:
    folded = fold(function)(column_of(records, VALUES))
    assert repr(folded) == repr(function(np.array(records, dtype=int)))


def updated_twice(data: Any) -> Any:
    counts: Any = Counter()
    counts.update(data)
    counts.update(data)
    return counts[0]


def updated_by_two_names(data: Any) -> Any:
    counts: Any = Counter()
    other = counts
    counts.update(data)
    return other[0]


def another_number_where_none_is(data: Any) -> Any:
    counts: Any = {}
    for v in data:
        counts[v] = counts.get(v, 0) + 1
    return counts[4] if 4 in counts else -1  # noqa: SIM401


def place_in_a_pass(data: Any) -> Any:
    total = i = 0
    for i, v in enumerate(data):
        total += v * i
    return total, i


def one_by_default(data: Any) -> Any:
    sums = defaultdict(lambda: 1)
    for v in data:
        sums[v] += v
    return sums[0]


def none_by_default(data: Any) -> Any:
    sums: Any = defaultdict(None)
    for v in data:
        sums[v] += v
    return sums.get(0, 0)


REFUSED = (
    *(updated_twice, updated_by_two_names, another_number_where_none_is),
    *(one_by_default, none_by_default, place_in_a_pass),
)


@pytest.mark.parametrize("function", REFUSED)
def test_what_does_more_is_refused(function: Any) -> None:
    with pytest.raises(Refusal):
        fold(function)(column_of([0, 1, 1, 4], VALUES))
