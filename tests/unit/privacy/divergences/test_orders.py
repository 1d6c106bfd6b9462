"""The search over all orders: which intervals are looked at, and what a chord allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.renyi import (
    OrderSearch,
    PairOrders,
    _starts,
    enclose_rho,
    refute_renyi,
    refute_rho,
)
from tests.unit.privacy.divergences.test_divergences import divergence

# Quotients D_a / a that rise from order 1 on, and one whose largest is close to 1.
RARE = [Fraction(1, 1000), Fraction(999, 1000)], [Fraction(1, 10**5), Fraction(99999, 10**5)]
SHARES = [Fraction(1, 7), Fraction(6, 7)], [Fraction(1, 10), Fraction(9, 10)]


def orders_of(pair: tuple[list[Fraction], list[Fraction]]) -> PairOrders:
    return PairOrders(LikelihoodPair.of_masses(list(zip(*pair, strict=True))))


@pytest.mark.slow
@given(st.fractions(2, 10**6))
def test_the_intervals_cover_all_orders(top: Fraction) -> None:
    found = _starts(top)
    assert found[0][0] == 1
    assert found[-1][1] == top
    assert all(before[1] == after[0] for before, after in pairwise(found))
    assert all(a < b for a, b in found)


@pytest.mark.parametrize("pair", [RARE, SHARES, RARE[::-1]])
@pytest.mark.parametrize(
    ("a", "b"), [("1", "1025/1024"), ("1", "3/2"), ("9/8", "5/4"), ("2", "8"), ("8", "20")]
)
@pytest.mark.parametrize("share", ["999/1000", "999999/1000000", "1000001/1000000", "1001/1000"])
def test_an_interval_is_below_a_line_only_where_all_its_quotients_are(
    pair: tuple[list[Fraction], list[Fraction]], a: str, b: str, share: str
) -> None:
    ends = Fraction(a), Fraction(b)
    width = ends[1] - ends[0]
    tried = [float(ends[0] + width * k / 200) for k in range(201)]
    largest = max(divergence(*pair, order) / order for order in tried)
    with precision(192):
        search = OrderSearch(orders_of(pair))
        line = exact_ball(Fraction(largest) * Fraction(share))
        found = search._is_below(*ends, line)
    if Fraction(share) < 1:
        assert not found
    # Where the interval is short, a line a little above all quotients is seen to be.
    elif width < Fraction(1, 100):
        assert found or Fraction(share) < Fraction(1001, 1000)


def test_a_narrow_interval_is_decided_at_its_ends_too() -> None:
    # Over so short an interval the quotient falls or rises: one end is its largest.
    for pair in (RARE, SHARES, SHARES[::-1]):
        for a in (Fraction(5, 4), Fraction(3), Fraction(40)):
            b = a * (1 + Fraction(1, 10**6))
            with precision(192):
                search = OrderSearch(orders_of(pair))
                quotients = [search.value(one)[0] / exact_ball(one) for one in (a, b)]
                largest = quotients[0].max(quotients[1])
                assert not search._is_below(a, b, largest * (1 - exact_ball(Fraction(1, 10**9))))
                assert search._is_below(a, b, largest * (1 + exact_ball(Fraction(1, 10**6))))


def test_laws_that_are_equal_have_no_rho_at_any_order() -> None:
    same = [Fraction(1, 3), Fraction(2, 3)]
    found = enclose_rho(orders_of((same, same)))
    assert (float(found.lower), float(found.upper), found.order) == (0.0, 0.0, 1)


class Divergences:
    """D_a of all orders is one number; losses may be larger than any order that is looked at."""

    def __init__(self, value: str, largest: str) -> None:
        self.ends, self.largest = (arb(value), arb(value)), arb(largest)

    def renyi(self, order: Fraction) -> tuple[arb, arb]:
        return self.ends

    def kullback_leibler(self) -> tuple[arb, arb]:
        return self.ends

    def curvature(self, end: Fraction) -> arb:
        return arb(0)

    def largest_loss(self) -> arb:
        return self.largest

    def known_rho(self) -> Fraction | None:
        return None


@pytest.mark.parametrize("largest", ["inf", "1e300"])
def test_where_large_orders_are_not_known_nothing_is_proved(largest: str) -> None:
    search = OrderSearch(Divergences("0.125", largest))
    with precision(192):
        assert not search.settle(lambda best: arb(1), stop=lambda best: False)
    assert refute_rho(Divergences("0.125", largest), Fraction(1))[0] is None
    assert refute_rho(Divergences("0.125", "0.125"), Fraction(1))[0] is False


@pytest.mark.slow
def test_a_line_below_some_quotient_is_never_proved() -> None:
    with precision(192):
        for line, is_proved in (("0.12", False), ("0.13", True)):
            search = OrderSearch(Divergences("0.125", "0.125"))
            bound = arb(line)
            assert search.settle(lambda best, at=bound: at, stop=lambda best: False) is is_proved


def test_a_divergence_that_is_the_claim_keeps_it() -> None:
    for limit, answer in (("1/2", False), ("1/3", True), ("2/3", False)):
        found = refute_renyi(Divergences("0.5", "1"), Fraction(2), Fraction(limit))
        assert found[0] is answer
