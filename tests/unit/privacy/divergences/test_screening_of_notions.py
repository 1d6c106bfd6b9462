"""Screening of other notions: bounds that hold and are close, errors of the logs counted in."""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.mechanisms.laws import LawTable
from liptest.privacy.divergences.quantiles import normal_quantiles
from liptest.privacy.divergences.screening import (
    _ROUNDING,
    _chord,
    _find_rho,
    _slack,
    bound_rho_by_loss,
    harmless_loss,
    screen_mu,
    screen_orders,
    screen_rho,
)

ENDS = np.array([0]), np.array([1])


def _table(rows: list[list[float]], error: float = 0.0) -> LawTable:
    outputs = tuple(range(len(rows[0])))
    return LawTable(outputs, np.log(np.array(rows)), None, np.full(len(rows), error))


@given(
    st.floats(1.0001, 50),
    st.floats(0.01, 20),
    st.floats(0, 5),
    st.floats(0, 5),
)
def test_a_chord_is_as_high_as_its_highest_point(
    a: float, wide: float, first: float, second: float
) -> None:
    b = a + wide
    ends = np.array([first]), np.array([second])
    found = float(_chord(a, b, *ends)[0])
    x = 1 + np.geomspace(a - 1, b - 1, 4001)
    line = first + (second - first) * (x - a) / (b - a)
    highest = float((line / (x * (x - 1))).max())
    assert highest * (1 - 1e-9) <= found <= highest * (1 + 1e-4) + 1e-12


@given(st.floats(1e-3, 40))
def test_no_pair_of_that_loss_has_a_larger_rho_than_randomised_response(loss: float) -> None:
    found = float(bound_rho_by_loss(np.array([loss]))[0])
    true = loss * math.tanh(loss / 2)
    assert true <= found <= true * (1 + 1e-12)


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 3.0, 8.0])
def test_the_harmless_loss_is_that_of_two_halves(mu: float) -> None:
    normal = NormalDist()
    true = math.log(normal.cdf(mu / 2) / normal.cdf(-mu / 2))
    assert true * (1 - 1e-12) <= harmless_loss(mu) <= true * (1 + 1e-9)
    assert harmless_loss(200.0) < math.inf


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([0.0, 1e-9, 1e-3, 0.05]))
def test_errors_of_the_logs_are_added(first: int, second: int, error: float) -> None:
    rows = [[first / 10, 1 - first / 10], [second / 10, 1 - second / 10]]
    table = _table(rows, error)
    exact, moved = _table(rows), table.screen_error(*ENDS)[0]
    for order in (1.5, 4.0):
        found = screen_orders(table, *ENDS, [order])
        known = screen_orders(exact, *ENDS, [order])
        assert found.measured[0, 0] == known.measured[0, 0] <= known.above[0, 0]
        loss = abs(math.log(rows[0][0] / rows[1][0])), abs(math.log(rows[0][1] / rows[1][1]))
        least = min(known.measured[0, 0] + 2 * order * moved / (order - 1), max(loss) + moved)
        assert found.above[0, 0] >= least * (1 - 1e-12)
        assert found.above[0, 0] <= least + 1e-9
    both, plain = screen_mu(table, *ENDS), screen_mu(exact, *ENDS)
    assert both.measured[0] == plain.measured[0] <= plain.above[0] <= plain.measured[0] + 1e-6
    assert both.above[0] >= plain.measured[0] + 8 * moved
    assert both.above[0] <= plain.above[0] + 8 * moved + 1e-9
    for limit in (1e-3, 0.1):
        rho, known_rho = screen_rho(table, *ENDS, limit), screen_rho(exact, *ENDS, limit)
        assert rho.measured[0] == known_rho.measured[0]
        assert rho.above[0] >= known_rho.above[0]


@pytest.mark.parametrize("odds", [2.0, 1e3, 1e9])
@pytest.mark.parametrize("limit", [1e-4, 0.1, 3.0])
def test_rho_is_screened_closely_where_it_may_matter(odds: float, limit: float) -> None:
    p, q = 0.5, 0.5 / odds
    found = screen_rho(_table([[p, 1 - p], [q, 1 - q]]), *ENDS, limit)
    orders = np.concatenate([1 + 10.0 ** np.arange(-4, 3, 0.01)])
    true = 0.0
    for a, b in ((p, q), (q, p)):
        logs = np.logaddexp(
            orders * math.log(a) + (1 - orders) * math.log(b),
            orders * math.log1p(-a) + (1 - orders) * math.log1p(-b),
        )
        true = max(true, float((logs / (orders - 1) / orders).max()))
    assert true <= found.above[0] * (1 + 1e-6)
    if found.above[0] > limit:
        assert found.above[0] <= true * 1.1
    assert true * 0.9 <= found.measured[0] <= true * (1 + 1e-6)


def test_the_largest_loss_clears_a_pair_at_once() -> None:
    table = _table([[0.5, 0.5], [0.4, 0.6]])
    loss = math.log(0.5 / 0.4)
    found = screen_rho(table, *ENDS, 1.0)
    assert found.above[0] <= loss * math.tanh(loss / 2) * (1 + 1e-9)


def test_quantiles_of_tails_and_of_what_is_certain() -> None:
    tails = np.concatenate([10.0 ** np.arange(-300, -1, 7.0), np.linspace(0.01, 0.5, 99)])
    true = np.array([NormalDist().inv_cdf(tail) for tail in tails])
    assert normal_quantiles(tails, 1 - tails) == pytest.approx(true, abs=1e-7)
    assert normal_quantiles(1 - tails, tails) == pytest.approx(-true, abs=1e-7)
    ends = normal_quantiles(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    assert ends.tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize("odds", [1.5, 4.0, 100.0])
def test_what_is_cleared_by_few_orders_is_bounded_at_order_one(odds: float) -> None:
    # Randomised response, whose rho is its limit at order 1, under a limit that nothing reaches.
    p = odds / (1 + odds)
    table = _table([[p, 1 - p], [1 - p, p]])
    true = math.log(odds) * math.tanh(math.log(odds) / 2)
    found = screen_rho(table, *ENDS, 1e3)
    assert true * (1 - 1e-12) <= found.measured[0] <= true * (1 + 1e-9)
    assert true * (1 - 1e-12) <= found.above[0] <= true * (1 + 1e-9)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.5, 0.5], [0.001, 0.999]],
        [[0.2, 0.3, 0.5], [0.5, 0.4, 0.1]],
        [[0.3, 0.7], [0.68, 0.32]],  # rho is all but the divergence at order 1
    ],
)
@pytest.mark.parametrize("limit", [1e-3, 1.0, 1e3])
def test_notions_are_the_same_in_both_orders(rows: list[list[float]], limit: float) -> None:
    table, back = _table(rows), ENDS[::-1]
    there = screen_rho(table, *ENDS, limit), screen_rho(table, *back, limit)
    assert there[0].measured == pytest.approx(there[1].measured, rel=1e-12)
    assert there[0].above == pytest.approx(there[1].above, rel=1e-12)
    p, q = map(np.array, rows)
    least = max(float((a * np.log(a / b)).sum()) for a, b in ((p, q), (q, p)))
    assert there[0].measured[0] >= least * (1 - 1e-12)
    for screen in (screen_mu, partial(screen_orders, orders=[1.5, 3.0])):
        one, other = screen(table, *ENDS), screen(table, *back)
        assert one.measured == pytest.approx(other.measured, rel=1e-6)


def test_no_order_below_one_is_measured() -> None:
    # Some are largest at order 1 itself: an order below it is not looked at.
    for rows in ([[0.9, 0.1], [0.45, 0.55]], [[0.5, 0.5], [0.4, 0.6]], [[0.3, 0.7], [0.7, 0.3]]):
        p, q = map(np.array, rows)
        orders = 1 + np.geomspace(1e-4, 50, 4000)[:, None]
        true = 0.0
        for a, b in ((p, q), (q, p)):
            logs = np.log((a**orders * b ** (1 - orders)).sum(axis=1))
            quotients = logs / (orders[:, 0] - 1) / orders[:, 0]
            true = max(true, float((a * np.log(a / b)).sum()), float(quotients.max()))
        for limit in (1e-3, 1e3):
            assert screen_rho(_table(rows), *ENDS, limit).measured[0] <= true * (1 + 1e-5)


# Pairs whose quotient is largest at an order near 1.4, near 2, and far on.
NEAR_ONE = [[0.0078, 0.9922], [0.6114, 0.3886]]
NEAR_TWO = [[0.0246, 0.9754], [0.2583, 0.7417]]
FAR_ON = [[1e-3, 0.999], [1e-5, 0.99999]]


def _quotient(rows: list[list[float]], order: float) -> float:
    p, q = map(np.array, rows)
    sides = (p, q), (q, p)
    if order == 1:
        return max(float((a * np.log(a / b)).sum()) for a, b in sides)
    logs = (math.log(float((a**order * b ** (1 - order)).sum())) for a, b in sides)
    return max(logs) / (order - 1) / order


@pytest.mark.parametrize("rows", [NEAR_ONE, NEAR_TWO, FAR_ON])
def test_where_the_largest_loss_clears_all_a_few_orders_are_measured(
    rows: list[list[float]],
) -> None:
    table, loss = _table(rows), np.array([5.0])
    few = max(_quotient(rows, order) for order in (1, 1 + 2.0**-10, 2.0, 8.0))
    cleared = _find_rho(table, *ENDS, loss, 100.0, bound_rho_by_loss(loss))
    assert cleared.measured[0] == pytest.approx(few, rel=1e-9)
    # Bounded at order 2^-10 above 1 and by a chord from there to 2.
    true = max(_quotient(rows, float(order)) for order in np.linspace(1.0, 30.0, 2901))
    assert true <= cleared.above[0] <= 3 * true
    # Where one of the pairs has no bound, too; and closely where the claim is between.
    open_pair = _find_rho(table, *ENDS, np.array([np.inf]), 0.1, np.array([np.inf]))
    assert open_pair.measured[0] == pytest.approx(few, rel=1e-9)
    assert open_pair.above[0] == np.inf
    close = _find_rho(table, *ENDS, loss, true, bound_rho_by_loss(loss))
    assert few * (1 - 1e-9) <= close.measured[0] <= true * (1 + 1e-4)
    assert close.measured[0] >= true * 0.99


def test_slack_is_that_of_the_errors_and_of_exponents_that_are_rounded() -> None:
    errors, bounds = np.array([0.0, 0.0, 1e-3]), np.array([0.0, 1000.0, 2.0])
    found = _slack(errors, 3.0, bounds)
    expected = [_ROUNDING / 2, _ROUNDING * 3001 / 2, (6e-3 + _ROUNDING * 7) / 2]
    assert found == pytest.approx(expected, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("depth", [1.0, 1e3, 1e9])
@pytest.mark.parametrize("order", [1.001, 2.0, 50.0])
def test_logs_far_down_add_nothing_to_the_rounding(depth: float, order: float) -> None:
    # Two laws with equal tails far down, against the same two laws without the tails.
    logs = np.log([[0.5, 0.5], [0.4, 0.6]])
    deep = np.concatenate([logs, np.array([[-depth * 700], [-depth * 700 - 1]])], axis=1)
    tables = [
        LawTable(tuple(range(len(rows[0]))), rows, None, np.zeros(2)) for rows in (logs, deep)
    ]
    plain, tailed = (screen_orders(table, *ENDS, [order]) for table in tables)
    a, b = plain.measured[0, 0], tailed.measured[0, 0]
    assert abs(a - b) <= _slack(np.zeros(1), order, np.array([1.0]))[0]
    assert tailed.above[0, 0] >= a
