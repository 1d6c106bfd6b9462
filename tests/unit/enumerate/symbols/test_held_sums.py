"""Sums in attributes, tables in tables, and names within expressions: as plain code has them."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths, SymbolicPaths
from tests.unit.enumerate.fake_columns import Refusal, column_of, fold

VALUES = range(6)


class Sums:
    least: ClassVar[int] = 1
    started = 0

    def __init__(self) -> None:
        self.total, self.n, self.top = 0, 0.5, 3

    def clip(self, v: Any) -> Any:
        return min(v, self.top)

    def of(self, d: Any) -> Any:
        self.total = 0
        for v in d:
            self.total += self.clip(v)
            self.n = self.n + 1
        return self.total, self.n


@dataclass
class Pair:
    total: int = 0
    n: float = 0.0
    seen: list[int] = field(default_factory=list)


class Slots:
    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 2


def in_attributes(data: Any) -> Any:
    one, two = Sums(), Pair()
    for v in data:
        if v > one.least:
            one.total -= int(v)
            one.started += 1
        two.n += 0.5
    for _v in data:
        two.n += 1
    return one.total, one.started, Sums.started, two.n, Sums().of(data)


def in_slots(data: Any) -> Any:
    one = Slots()
    for v in data:
        one.total += v
    return one.total


def in_rows(data: Any) -> Any:
    table = [[0] * 3 for _ in range(2)]
    other = {a: {b: b - b + 1 for b in range(3)} for a in range(2)}
    cells, named = np.zeros((2, 3)), [[0, 0.5, 0], [1, 1, 1]]
    for v in data:
        table[v // 3][v % 3] += 1
        other[v // 3][v % 3] -= 2
        cells[v % 2][v // 2] += 1
        named[-1][v // 2] += v
    return table, other, cells.tolist(), named


def in_lists(data: Any) -> Any:
    groups, named = [[] for _ in range(2)], {0: [], 1: [], 7: []}  # type: ignore[var-annotated]
    for v in data:
        groups[v // 3].append(int(v))
        if v:
            named[v % 2].append(v * v)
    return [len(g) for g in groups], [sum(named[k]) for k in named], len(groups[0])


def by_walrus(data: Any) -> Any:
    total = 0
    for v in data:
        if (w := min(v, 2)) > 0 and w < 2:
            total += w
        elif (u := v - 1) != 3:
            total += 10 * u
    return total, sum(2 * x for v in data if (x := int(v) - 1) > 0)


def with_places(data: Any) -> Any:
    total = 0
    for _, v in enumerate(data, 1):
        total += v
    for _i, v in enumerate(data, start=2):
        total += v * v
    return total


FOLLOWED = (in_attributes, in_slots, in_rows, in_lists, by_walrus, with_places)


@pytest.mark.slow
@pytest.mark.parametrize("function", FOLLOWED)
@given(records=st.lists(st.sampled_from(VALUES), max_size=12))
@settings(max_examples=10)
def test_they_give_what_plain_code_gives(function: Any, records: list[int]) -> None:
    assert fold(function)(column_of(records, VALUES)) == function(np.array(records, dtype=int))


class Changing:
    """Objects whose sums are more than a number that is held."""

    def __init__(self) -> None:
        self.total = self._hidden = 0

    def so_far(self, v: Any) -> Any:
        return v + self.total

    @property
    def counted(self) -> int:
        return self._hidden

    @counted.setter
    def counted(self, value: int) -> None:
        self._hidden = 2 * value


class Setting:
    def __init__(self) -> None:
        self.total = 0

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value if value < 3 else 3)


def reads_itself(data: Any) -> Any:
    one, last = Changing(), 0
    for v in data:
        one.total += v
        last += one.total
    return last


def reads_by_another_name(data: Any) -> Any:
    one, last = Changing(), 0
    other = one
    for v in data:
        one.total += v
        last += other.total
    return last


def reads_in_a_method(data: Any) -> Any:
    one, last = Changing(), 0
    for v in data:
        one.total += v
        last += one.so_far(v)
    return last


def by_two_names(data: Any) -> Any:
    one = Changing()
    other = one
    for v in data:
        one.total += v
        other.total += v
    return one.total


def by_a_setter(data: Any) -> Any:
    one = Changing()
    for v in data:
        one.counted += v
    return one.counted


def by_setattr(data: Any) -> Any:
    one = Setting()
    for v in data:
        one.total += v
    return one.total


def of_a_class(data: Any) -> Any:
    one = Sums
    for v in data:
        one.started += v
    return one.started


def one_row_twice(data: Any) -> Any:
    table = [[0.0] * 3] * 2
    for v in data:
        table[v // 3][v % 3] += 0.1
    return table


def a_row_of_outside(data: Any) -> Any:
    row, last = [0, 0, 0], 0
    table = [row, [0, 0, 0]]
    for v in data:
        table[v // 3][v % 3] += 1
        last += row[0]
    return last


def one_list_twice(data: Any) -> Any:
    groups: Any = [[]] * 2
    for v in data:
        groups[v // 3].append(v)
    return len(groups[0])


def a_list_and_its_entries(data: Any) -> Any:
    groups: Any = [[], []]
    for v in data:
        groups.append(v)
        groups[0].append(v)
    return len(groups)


def key_that_is_read_before(data: Any) -> Any:
    counts = [0] * 7
    for v in data:
        k = 0
        counts[k] += (k := int(v)) + 1
    return counts


def number_that_is_read_before(data: Any) -> Any:
    total = 0
    for v in data:
        x = 1
        x += (x := int(v))
        total += x
    return total


def rows_that_are_new(data: Any) -> Any:
    table: Any = collections.defaultdict(collections.Counter)
    for v in data:
        table[v // 3][v % 3] += 1
    return len(table)


def name_that_is_read_later(data: Any) -> Any:
    x = 7
    total = sum(x for v in data if (x := int(v)) > 0)
    return total, x


def name_that_comes_too_late(data: Any) -> Any:
    total, w = 0, 0
    for v in data:
        if v > w and (w := int(v)) > 0:
            total += w
    return total


def place_that_counts(data: Any) -> Any:
    total = 0
    for i, v in enumerate(data, 1):
        total += i * v
    return total


REFUSED = (
    *(reads_itself, reads_by_another_name, reads_in_a_method, by_two_names, by_a_setter),
    *(by_setattr, of_a_class, one_row_twice, a_row_of_outside, one_list_twice),
    *(a_list_and_its_entries, key_that_is_read_before, number_that_is_read_before),
    *(rows_that_are_new, name_that_is_read_later, name_that_comes_too_late, place_that_counts),
)


@pytest.mark.parametrize("function", REFUSED)
def test_what_does_more_is_refused(function: Any) -> None:
    before = Sums.started
    with pytest.raises(Refusal):
        fold(function)(column_of([0, 1, 1, 4], VALUES))
    assert Sums.started == before


def paths(function: Any) -> Any:
    return lt.mechanism(function).align_paths(lt.RecordGrid([6] * 40), way="released")


def table_by_numpy(data: Any, rng: Any) -> Any:
    return (np.bincount(data, minlength=6) + rng.laplace(0, 2.0, size=6)).tolist()


def table_of_rows(data: Any, rng: Any) -> Any:
    table = [[0] * 3 for _ in range(2)]
    for v in data:
        table[v // 3][v % 3] += 1
    return [float(c + rng.laplace(0, 2.0)) for row in table for c in row]


def lists_of_groups(data: Any, rng: Any) -> Any:
    groups: Any = {k: [] for k in range(6)}
    for v in data:
        groups[int(v)].append(int(v))
    return [float(len(groups[k]) + rng.laplace(0, 2.0)) for k in range(6)]


def a_sum_in_an_object(data: Any, rng: Any) -> Any:
    sums = Pair()
    for v in data:
        sums.total += v
    return float(sums.total + rng.laplace(0, 5.0))


def a_sum_by_numpy(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace(0, 5.0))


@pytest.mark.parametrize(
    ("function", "by_numpy"),
    [
        (table_of_rows, table_by_numpy),
        (lists_of_groups, table_by_numpy),
        (a_sum_in_an_object, a_sum_by_numpy),
    ],
)
def test_answers_move_as_those_of_numpy(function: Any, by_numpy: Any) -> None:
    found, expected = paths(function), paths(by_numpy)
    assert isinstance(found, SymbolicPaths)
    assert sorted(found.differences.moves()) == sorted(expected.differences.moves())


KEPT = Pair()


def into_an_object_of_outside(data: Any, rng: Any) -> Any:
    kept = KEPT
    for v in data:
        kept.total += int(v)
    return float(kept.total + rng.laplace(0, 5.0))


@pytest.mark.slow
def test_a_sum_that_a_call_leaves_to_the_next_is_not_proved() -> None:
    try:
        found = paths(into_an_object_of_outside)
    except lt.errors.LiptestError:
        return
    assert isinstance(found, NoPaths)


def held(scale: float) -> Any:
    def release(data: Any, rng: Any) -> float:
        sums = Pair()
        for v in data:
            sums.total += v
        return float(sums.total + rng.laplace(0, scale))

    return release


@pytest.mark.slow
def test_the_noise_must_fit_the_largest_move() -> None:
    domain = lt.RecordGrid([6] * 100)
    right = lt.check_privacy(held(5.0), domain, epsilon=1.0, method="alignment")
    starved = lt.check_privacy(held(4.9), domain, epsilon=1.0, method="alignment")
    assert (right.decision, starved.decision) == ("YES", "INCONCLUSIVE")
