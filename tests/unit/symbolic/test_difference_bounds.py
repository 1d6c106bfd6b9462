"""Bounds that follow from others: by the shortest way as by elimination."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from liptest.symbolic import constraints
from liptest.symbolic.constraints import find_stages, without_implied
from liptest.symbolic.difference_bounds import gaps_of_differences

ENDS = st.one_of(st.none(), st.integers(-4, 4).map(fmpq))


@given(st.data(), st.booleans())
def test_the_same_bounds_are_left(data: st.DataObject, whole: bool) -> None:
    ranges: dict[Any, tuple[Any, Any]] = {}
    for _ in range(data.draw(st.integers(1, 7))):
        first = data.draw(st.integers(0, 3))
        second = data.draw(st.integers(0, 3))
        form: Any = ((first, 1),) if first == second else ((first, 1), (second, -1))
        if first > second:
            form = ((second, 1), (first, -1))
        ranges[form] = data.draw(st.tuples(ENDS, ENDS))
    support = data.draw(st.sampled_from([(None, None), (fmpq(0), None), (fmpq(0), fmpq(1))]))
    supports = dict.fromkeys(range(4), support)
    if find_stages(ranges, supports, whole) is None:
        return
    assert gaps_of_differences(ranges, supports) is not None
    by_ways = without_implied(ranges, supports, whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constraints, "gaps_of_differences", lambda *_: None)
        by_elimination = without_implied(ranges, supports, whole)
    assert by_ways == by_elimination


def test_an_order_becomes_a_chain() -> None:
    ranges: Any = {((a, 1), (b, -1)): (fmpq(0), None) for a in range(9) for b in range(a + 1, 9)}
    left = without_implied(ranges, dict.fromkeys(range(9), (None, None)), whole=False)
    assert set(left) == {((a, 1), (a + 1, -1)) for a in range(8)}


def test_sums_are_left_to_elimination() -> None:
    assert gaps_of_differences({((0, 1), (1, 1)): (None, fmpq(1))}, {}) is None
    assert gaps_of_differences({((0, 1), (1, -2)): (None, fmpq(1))}, {}) is None
