"""Lists of records by keys (``defaultdict(list)``, ``setdefault``): as plain code has them."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.unit.enumerate.fake_columns import Refusal, column_of, fold

VALUES = range(6)


class Holder:
    def __init__(self) -> None:
        self.groups: Any = defaultdict(list)

    def add(self, v: Any) -> None:
        self.groups[v // 2].append(int(v))


def by_default(data: Any) -> Any:
    groups: Any = defaultdict(list)
    holder = Holder()
    for v in data:
        groups[v % 2].append(int(v) + 1)
        holder.add(v)
    missing = groups[7]
    missing.append(5)
    # The same list as before.
    return sum(groups[7]), len(groups.get(9, ())), [sum(holder.groups[k]) for k in range(4)]


def by_name(data: Any) -> Any:
    groups: dict[int, list[int]] = {}
    for v in data:
        groups.setdefault(v % 3, []).append(int(v))
    return [(len(groups.get(k, [])), sum(groups.get(k, []))) for k in range(4)]


def after_a_test(data: Any) -> Any:
    groups: dict[int, list[int]] = {}
    for v in data:
        if v % 3 not in groups:
            groups[v % 3] = []
        groups[v % 3].append(int(v))
    return [len(groups.get(k, [])) for k in range(4)]


@pytest.mark.parametrize("function", [by_default, by_name, after_a_test])
@given(records=st.lists(st.sampled_from(VALUES), max_size=12))
@settings(max_examples=10)
def test_they_give_what_plain_code_gives(function: Any, records: list[int]) -> None:
    assert fold(function)(column_of(records, VALUES)) == function(np.array(records, dtype=int))


def a_key_that_may_be_missing(data: Any) -> Any:
    groups: Any = {}
    for v in data:
        groups.setdefault(v % 2, []).append(v)
    return len(groups[0])


def whether_it_is_there(data: Any) -> Any:
    groups: Any = {}
    for v in data:
        groups.setdefault(v % 2, []).append(v)
    return groups.get(0)


def all_that_are_there(data: Any) -> Any:
    groups: Any = defaultdict(list)
    for v in data:
        groups[v % 2].append(v)
    return {k: len(group) for k, group in groups.items()}


def how_many_are_there(data: Any) -> Any:
    groups: Any = defaultdict(list)
    for v in data:
        groups[v % 2].append(v)
    return 0 in groups


def of_no_dict_by_default(data: Any) -> Any:
    groups: Any = {}
    for v in data:
        groups[v % 2].append(v)
    return len(groups.get(0, []))


def twice_in_a_pass(data: Any) -> Any:
    groups: Any = defaultdict(list)
    for v in data:
        groups[0].append(v)
        groups[v % 2].append(v)
    return len(groups[0])


def that_begin_with_something(data: Any) -> Any:
    groups: Any = {}
    for v in data:
        groups.setdefault(v % 2, [7]).append(v)
    return len(groups.get(0, []))


REFUSED = (
    *(a_key_that_may_be_missing, whether_it_is_there, all_that_are_there, how_many_are_there),
    *(of_no_dict_by_default, twice_in_a_pass, that_begin_with_something),
)


@pytest.mark.parametrize("function", REFUSED)
def test_what_does_more_is_refused(function: Any) -> None:
    with pytest.raises(Refusal):
        fold(function)(column_of([0, 1, 1, 4], VALUES))


def sums_of_groups(data: Any, rng: Any) -> Any:
    groups: Any = defaultdict(list)
    for v in data:
        groups[v % 2].append(v)
    return [sum(groups[k]) + rng.laplace(0, 2.0) for k in range(2)]


def test_they_have_the_price_of_their_sums() -> None:
    # 4 of the one group becomes 3 of the other.
    found = align(lt.mechanism(sums_of_groups), lt.RecordGrid([5] * 5_000), Fraction(10))
    assert found.epsilon == Fraction(7, 2)
