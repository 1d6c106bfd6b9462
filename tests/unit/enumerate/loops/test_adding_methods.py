"""Loops over records that add by methods, to tables of objects, and that never leave: as plain."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.folded.record_loops import read_held_table
from liptest.privacy.proofs.prices import align
from tests.unit.enumerate.fake_columns import Refusal, column_of, fold, made

VALUES = range(6)
TABLE = {1: 0.5, 2: 1.0}


class Sums:
    """Adds up by methods."""

    started = 0

    def __init__(self) -> None:
        self.total, self.n, self.top = 0, 0, 3
        self.counts, self.cells = [0] * 6, np.zeros(6)
        self.named, self.rows = dict.fromkeys(VALUES, 0), [[0] * 3 for _ in range(2)]
        self.seen: list[int] = []
        self.counter: Any = Counter()
        self.by_default: Any = defaultdict(int)

    def add(self, v: Any, weight: int = 1) -> None:
        """Add one record."""
        if v < 1:
            return
        v = min(v, self.top)
        self.total += weight * v
        self.counts[v] += 1
        self._count(v)

    def _count(self, v: Any) -> Any:
        self.n += self._clip(v)
        return self

    def _clip(self, v: Any) -> Any:
        return min(v, self.top - 1)

    def fit(self, data: Any) -> Any:
        for v in data:
            self.add(v)
            self.add(v, weight=2)
        return self.total, self.n, self.counts

    def tables(self, data: Any) -> Any:
        for v in data:
            self.cells[v] += 0.5
            self.named[v] -= 1
            self.rows[v // 3][v % 3] += v
            self.seen.append(int(v) + 1)
        return self.cells.tolist(), self.named, self.rows, sum(self.seen)

    def counters(self, data: Any) -> Any:
        for v in data:
            self.counter[v] += 2
            self.by_default[v % 2] += 1
        return [self.counter[k] for k in VALUES], self.by_default[0], self.by_default[7]


def by_methods(data: Any) -> Any:
    return Sums().fit(data)


def in_tables_of_objects(data: Any) -> Any:
    return Sums().tables(data), Sums().counters(data)


class Outer:
    def __init__(self) -> None:
        self.sums, self.most = Sums(), 2

    def of(self, data: Any) -> Any:
        for v in data:
            self.sums.add(min(v, self.most))
            self.sums.started += 1
            self.sums.cells[v] -= 1
        return self.sums.total, self.sums.n, self.sums.started, self.sums.cells.tolist()


def by_an_object_in_an_object(data: Any) -> Any:
    return Outer().of(data)


def by_two_names_and_methods(data: Any) -> Any:
    one = other = Sums()
    third = Sums()
    for v in data:
        one.add(v)
        other._count(v)
        third.add(v)
    return one.total, one.n, third.n


def that_never_leave(data: Any) -> Any:
    total = 0
    for v in data:
        if v is None:
            break
        if v > 5:
            raise ValueError(f"bad: {v}")
        try:
            total += 1
            w = TABLE[int(v)]
            total += w
        except KeyError:
            w = 7
        except (ValueError, ZeroDivisionError):
            return None
        total = total + w if v % 2 else total
    return total


def inner_loops_that_break(data: Any) -> Any:
    total = 0
    for v in data:
        for k in range(3):
            if k == v:
                break
            total += 1
    return total


def guards(data: Any) -> Any:
    total = 0
    for v in data:
        match v:
            case 0 | 1:
                total += 1
            case x if x > 3:
                total += x
            case x:
                total -= x + x
    return total


FOLLOWED = (
    *(
        by_methods,
        in_tables_of_objects,
        by_an_object_in_an_object,
        by_two_names_and_methods,
        that_never_leave,
    ),
    *(inner_loops_that_break, guards),
)


@pytest.mark.slow
@pytest.mark.parametrize("function", FOLLOWED)
@given(records=st.lists(st.sampled_from(VALUES), max_size=12))
@settings(max_examples=10)
def test_they_give_what_plain_code_gives(function: Any, records: list[int]) -> None:
    assert fold(function)(column_of(records, VALUES)) == function(np.array(records, dtype=int))


class Reading(Sums):
    def add(self, v: Any, weight: int = 1) -> None:
        self.total += v
        if self.total > 3:
            self.n += 1

    def note(self, v: Any) -> None:
        self.n += self.total

    def up(self, v: Any) -> Any:
        self.total += v
        return self.total

    def down(self, other: Any) -> None:
        other.total += 1

    def around(self, v: Any) -> None:
        self.around(v)


def reads_what_it_adds_to(data: Any) -> Any:
    one = Reading()
    for v in data:
        one.add(v)
    return one.n


def reads_what_another_adds_to(data: Any) -> Any:
    one = Reading()
    for v in data:
        one.note(v)
        one._count(v)
        one.total += v
    return one.n


def by_hand_and_by_method(data: Any) -> Any:
    one = Sums()
    for v in data:
        one.add(v)
        one.total += v
    return one.total


def gives_what_it_adds_to(data: Any) -> Any:
    one = Reading()
    for v in data:
        one.up(v)
    return one.total


def adds_to_an_argument(data: Any) -> Any:
    one = Reading()
    for _v in data:
        one.down(one)
    return one.total


def without_an_end(data: Any) -> Any:
    one = Reading()
    for v in data:
        one.around(v)
    return one.n


class Computed(Outer):
    @property
    def fresh(self) -> Any:
        return Sums()


def of_a_property(data: Any) -> Any:
    one = Computed()
    for v in data:
        one.fresh.add(v)
    return one.fresh.total


def by_two_ways_to_an_object(data: Any) -> Any:
    one = Outer()
    same = one.sums
    for v in data:
        one.sums.total += v
        same.total += v
    return same.total


def by_its_own_method(data: Any) -> Any:
    one: Any = Sums()
    one.add = one._count
    for v in data:
        one.add(v)
    return one.n


def of_a_set(data: Any) -> Any:
    seen: set[int] = set()
    for v in data:
        seen.add(int(v))
    return len(seen)


def table_of_two_names(data: Any) -> Any:
    one, last = Sums(), 0
    counts = one.counts
    for v in data:
        one.counts[v] += 1
        last += counts[0]
    return last


def rows_of_two_names(data: Any) -> Any:
    one = Sums()
    one.rows = [one.rows[0]] * 2
    for v in data:
        one.rows[v // 3][v % 3] += 1
    return one.rows


def view_of_a_table(data: Any) -> Any:
    one = Sums()
    part = one.cells[:2]
    for v in data:
        one.cells[v] += 1
    return part[0]


def leaves(data: Any) -> Any:
    total = 0
    for v in data:
        if v == 4:
            break
        total += 1
    return total


def raises(data: Any) -> Any:
    total = 0
    for v in data:
        if v == 4:
            raise ValueError(v)
        total += 1
    return total


def returns(data: Any) -> Any:
    total = 0
    for v in data:
        if v > 3:
            return -1
        total += 1
    return total


def catches_all(data: Any) -> Any:
    one, total = Sums(), 0
    for v in data:
        try:
            total += v
            total += one.counts
        except TypeError:
            total += 1
    return total


def catches_with_a_name(data: Any) -> Any:
    total = 0
    for v in data:
        try:
            total += TABLE[int(v)]
        except KeyError as error:
            total += len(error.args)
    return total


def named_before_a_guard(data: Any) -> Any:
    total, x = 0, 7
    for v in data:
        match v:
            case x if x > 3:
                total += 1
        total += x
    return total


REFUSED = (
    *(reads_what_it_adds_to, reads_what_another_adds_to, by_hand_and_by_method),
    *(gives_what_it_adds_to, adds_to_an_argument, without_an_end, by_its_own_method, of_a_set),
    *(of_a_property, by_two_ways_to_an_object),
    *(table_of_two_names, rows_of_two_names, view_of_a_table, leaves, raises, returns),
    *(catches_all, catches_with_a_name, named_before_a_guard),
)


@pytest.mark.parametrize("function", REFUSED)
def test_what_does_more_is_refused(function: Any) -> None:
    with pytest.raises(Refusal):
        fold(function)(column_of([0, 1, 1, 4], VALUES))


def test_what_is_asserted_of_all_records_is_as_good_as_true() -> None:
    body = "for v in data:\n        assert v < {}\n        n += 1"
    text = f"def f(data):\n    n = 0\n    {body}\n    return n"
    column = column_of([0, 1, 5], VALUES)
    # Not as code of this file, whose assertions pytest writes anew.
    assert fold(made(text.format(6)))(column) == 3
    with pytest.raises(Refusal):
        fold(made(text.format(5)))(column)


def test_tables_that_something_else_holds_are_not_added_to() -> None:
    one: Any = Sums()
    for name in ("counts", "cells", "named", "rows", "seen", "counter", "by_default"):
        assert read_held_table(one, name) is getattr(one, name)
    held = [one.counts, one.cells[1:], one.rows[1], iter(one.seen), {"named": one.named}]
    for name in ("counts", "cells", "rows", "seen", "named", "total", "missing"):
        with pytest.raises(TypeError, match="is added to"):
            read_held_table(one, name)
    assert len(held) == 5
    with pytest.raises(TypeError, match="is added to"):
        read_held_table(Sums, "started")


def counts_of_an_object(data: Any, rng: Any) -> Any:
    one = Sums()
    for v in data.tolist():
        one.counts[v] += 1
    return [c + rng.laplace(0, 2.0) for c in one.counts]


def sums_by_a_method(data: Any, rng: Any) -> Any:
    one = Sums()
    for v in data.tolist():
        one.add(v, 2)
    return one.total + rng.laplace(0, 6.0)


@pytest.mark.slow
@pytest.mark.parametrize("function", [counts_of_an_object, sums_by_a_method])
def test_they_have_the_price_of_their_sums(function: Any) -> None:
    domain = lt.RecordGrid([6] * 5_000)
    assert align(lt.mechanism(function), domain, Fraction(1)).epsilon == 1


class Clipped(Sums):
    """Adds by the method of its base."""

    def add(self, v: Any, weight: int = 1) -> None:
        super().add(min(v, 2), weight=weight)
        self.total += 1


class ClippedTwice(Clipped):
    """By that of the base of its base, too."""

    def add(self, v: Any, weight: int = 1) -> None:
        super().add(v, weight)
        super()._count(v)


def by_a_base(data: Any) -> Any:
    found = []
    for kind in (Clipped, ClippedTwice):
        sums = kind()
        for v in data:
            sums.add(v)
        found.append([int(sums.total), int(sums.n), [int(one) for one in sums.counts]])
    return found


@pytest.mark.slow
@given(records=st.lists(st.sampled_from(VALUES), max_size=9))
@settings(max_examples=10)
def test_methods_of_a_base_add(records: list[int]) -> None:
    assert fold(by_a_base)(column_of(records, VALUES)) == by_a_base(np.array(records, dtype=int))


class Averaged(Sums):
    """What a method of its base gives is used."""

    def add(self, v: Any, weight: int = 1) -> None:
        self.total += super()._clip(v)


class OfNoBase:
    def add(self, v: Any) -> None:
        super().add(v)  # type: ignore[misc]


@pytest.mark.parametrize("kind", [Averaged, OfNoBase])
def test_what_else_is_done_with_a_base_is_refused(kind: Any) -> None:
    def adding(data: Any) -> Any:
        sums = kind()
        for v in data:
            sums.add(v)
        return sums.total

    with pytest.raises(Refusal):
        fold(adding)(column_of([0, 1, 1, 4], VALUES))
