"""Quantiles of the normal law in floats, against those in balls, as far out as logs reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from liptest.balls import precision
from liptest.mechanisms.laws import ZERO_LOG, LawTable
from liptest.privacy.divergences.quantiles import quantile_gaps, quantiles_of_logs
from liptest.privacy.divergences.screening import screen_mu
from liptest.privacy.divergences.tradeoff import gaussian_quantile

FAR = [-0.7, -3.0, -600.0, -689.9, -690.1, -745.0, -800.0, -5000.0, -1e6, -1e12]


def true_quantile(log: float) -> float:
    with precision(128):
        return float(gaussian_quantile(arb(log).exp(), 1 - arb(log).exp()).mid())


# Farther out balls of 1e-50,000 take long: what is left of the series is less than there.
@pytest.mark.parametrize("log", FAR[:8])
def test_quantiles_of_logs_are_those_of_balls(log: float) -> None:
    true, rest = true_quantile(log), math.log1p(-math.exp(log))
    ends = np.array([log]), np.array([rest])
    assert quantiles_of_logs(*ends)[0] == pytest.approx(true, abs=1e-7)
    assert quantiles_of_logs(*ends[::-1])[0] == pytest.approx(-true, abs=1e-7)


def test_quantiles_keep_the_order_of_logs_and_end_at_infinity() -> None:
    logs = np.array([*sorted(FAR), 0.0])
    found = quantiles_of_logs(logs, np.log(-np.expm1(logs) + 1e-320))
    assert np.all(np.diff(found) > 0)
    # z^2 / 2 = -log - ln z - ln(2 pi) / 2, but for 1/z^2.
    for log in FAR[-3:]:
        z = -quantiles_of_logs(np.array([log]), np.array([0.0]))[0]
        left = z * z / 2 + math.log(z) + math.log(2 * math.pi) / 2
        assert left == pytest.approx(-log, abs=2 / z**2 + 1e-15 * -log)
    ends = np.array([-math.inf, 0.0]), np.array([0.0, -math.inf])
    assert quantiles_of_logs(*ends).tolist() == [-math.inf, math.inf]


def test_gaps_are_those_of_all_first_outputs_and_of_no_whole_row() -> None:
    p, q = np.log([[0.5, 0.25, 0.25]]), np.log([[0.1, 0.3, 0.6]])
    first = true_quantile(math.log(0.5)) - true_quantile(math.log(0.1))
    second = -true_quantile(math.log(0.25)) - true_quantile(math.log(0.4))
    assert quantile_gaps(p, q)[0] == pytest.approx([first, second], abs=1e-7)
    assert quantile_gaps(q, p)[0] == pytest.approx([-first, -second], abs=1e-7)
    none = np.array([[ZERO_LOG, 0.0]])
    assert quantile_gaps(none, none).tolist() == [[0.0]]
    assert quantile_gaps(np.log([[0.5, 0.5]]), none).tolist() == [[math.inf]]
    assert quantile_gaps(none, np.log([[0.5, 0.5]])).tolist() == [[-math.inf]]
    far = np.array([[-800.0, ZERO_LOG, 0.0]]), np.array([[-5000.0, ZERO_LOG, 0.0]])
    gap = true_quantile(-800.0) - true_quantile(-5000.0)
    assert quantile_gaps(*far)[0] == pytest.approx([gap, gap], abs=1e-7)


@pytest.mark.parametrize("tail", [-600.0, -700.0, -744.0, -745.0, -746.0, -3000.0])
@pytest.mark.parametrize("loss", [0.7, 30.0])
@pytest.mark.parametrize("is_first", [True, False])
def test_tails_that_no_float_holds_are_screened_for_mu(
    tail: float, loss: float, is_first: bool
) -> None:
    half = math.log(0.5)
    rows = [[half, half, tail], [half, half, tail - loss]]
    outputs = ("a", "b", "c")
    ends = np.array([0]), np.array([1])
    table = LawTable(outputs, np.array(rows if is_first else rows[::-1]), None, np.zeros(2))
    true = true_quantile(tail) - true_quantile(tail - loss)
    found = screen_mu(table, *ends)
    assert found.measured[0] == pytest.approx(true, abs=2e-7)
    assert true <= found.above[0] <= true + 1e-6
