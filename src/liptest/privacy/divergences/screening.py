"""Rho, Renyi divergences and mu of many pairs in floats, with bounds that hold.

``above`` is never below the truth: it may send too many pairs to certified arithmetic, never too
few. A pair whose largest loss is e is told apart no better than randomised response of loss e is,
which bounds all notions at once and is tight where it matters most (theory 6.9).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.mechanisms.laws import INFINITE_LOSS, ZERO_LOG, ComparableLaws, LawTable
from liptest.privacy.comparison import loss_slack
from liptest.privacy.divergences.quantiles import quantile_gaps
from liptest.privacy.divergences.tradeoff import find_normal_mass

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
# Rounding of a sum of exponentials and its log, as a share of the largest exponent.
_ROUNDING = 2.0**-44
# Orders between which chords are drawn: each as much further from 1 as this.
_STEP = 1.25
_FIRST, _LAST = 2.0**-10, 2.0**24
# Rows of pairs whose tables are held at once.
_ENTRIES = 1 << 22
# The error of quantiles in floats, far above the truth.
_QUANTILE = 1e-7


@dataclass(frozen=True)
class Measured:
    """What is measured of p pairs in floats, and bounds that it does not exceed."""

    measured: Floats
    above: Floats


def largest_losses(laws: ComparableLaws, left: Indices, right: Indices) -> tuple[Floats, Floats]:
    """Losses of pairs, and bounds of them; infinite where a zero decides or is not certain."""
    losses = laws.losses(left, right)
    slack = loss_slack(laws, left, right, losses)
    unknown = (losses >= INFINITE_LOSS) | laws.has_uncertain_zeros(left, right)
    above = np.where(unknown | np.isinf(slack), np.inf, losses + slack)
    return np.where(losses >= INFINITE_LOSS, np.inf, losses), above


def bound_rho_by_loss(losses: Floats) -> Floats:
    """Bounds of rho by the largest loss e: e tanh(e / 2)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(losses * np.tanh(losses / 2) * (1 + _ROUNDING))


def harmless_loss(mu: float) -> float:
    """A loss up to which every pair is mu-GDP: ln(Phi(mu / 2) / Phi(-mu / 2)), rounded down."""
    with precision(128):
        near, far = find_normal_mass(mu / 2), find_normal_mass(-mu / 2)
        loss = float((near / far).log().lower())
    return math.nextafter(loss, 0.0) if math.isfinite(loss) else 0.0


def screen_rho(laws: LawTable, left: Indices, right: Indices, limit: float) -> Measured:
    """rho of pairs in both orders; those that the largest loss clears are not looked at further."""
    losses, bounds = largest_losses(laws, left, right)
    above = bound_rho_by_loss(bounds)
    measured = np.where(np.isinf(losses), np.inf, 0.0)
    for rows in _slices(np.flatnonzero(np.isfinite(losses)), laws):
        screened = _find_rho(laws, left[rows], right[rows], bounds[rows], limit, above[rows])
        measured[rows], above[rows] = screened.measured, np.minimum(above[rows], screened.above)
    return Measured(measured, above)


def screen_orders(
    laws: LawTable, left: Indices, right: Indices, orders: Sequence[float]
) -> Measured:
    """(p, k) divergences of k orders, the larger of both directions."""
    losses, bounds = largest_losses(laws, left, right)
    measured = np.full((len(left), len(orders)), np.inf)
    above = measured.copy()
    for rows in _slices(np.flatnonzero(np.isfinite(losses)), laws):
        sides = laws.logs[left[rows]], laws.logs[right[rows]]
        errors = laws.screen_error(left[rows], right[rows])
        for k, order in enumerate(orders):
            both = [_divergence(p, q, order) for p, q in (sides, sides[::-1])]
            measured[rows, k] = np.maximum(*both)
            slack = _slack(errors, order, bounds[rows])
            # Two zeros that may be underflow, of any ratio, leave a divergence without a bound.
            known = np.isfinite(bounds[rows])
            above[rows, k] = np.where(
                known, np.minimum(measured[rows, k] + slack, bounds[rows]), np.inf
            )
    return Measured(measured, above)


def screen_mu(laws: LawTable, left: Indices, right: Indices) -> Measured:
    """mu of pairs, from the corners of their trade-off curves."""
    losses, bounds = largest_losses(laws, left, right)
    measured = np.where(np.isinf(losses), np.inf, 0.0)
    above = np.where(np.isinf(bounds), np.inf, 0.0)
    for rows in _slices(np.flatnonzero(np.isfinite(losses)), laws):
        p, q = laws.logs[left[rows]], laws.logs[right[rows]]
        order = np.argsort(q - p, axis=1, kind="stable")
        gaps = quantile_gaps(*(np.take_along_axis(side, order, axis=1) for side in (p, q)))
        measured[rows] = gaps.max(axis=1, initial=0.0)
        slack = _QUANTILE * (1 + measured[rows]) + 8 * laws.screen_error(left[rows], right[rows])
        above[rows] = np.where(np.isinf(bounds[rows]), np.inf, measured[rows] + slack)
    return Measured(measured, above)


def _find_rho(
    laws: LawTable, left: Indices, right: Indices, bounds: Floats, limit: float, above: Floats
) -> Measured:
    """By chords between orders; the last order is where the largest loss leaves nothing open."""
    sides = laws.logs[left], laws.logs[right]
    errors = laws.screen_error(left, right)
    measured = _quotients_at_one(*sides)
    top = np.nanmax(np.where(np.isfinite(bounds), bounds, 0.0), initial=0.0)
    if not np.any(above > limit) or not np.all(np.isfinite(bounds)):
        orders = [1 + _FIRST, 2.0, 8.0]
    else:
        last = min(max(4.0, 2 * top / limit), _LAST)
        steps = math.ceil(math.log((last - 1) / _FIRST) / math.log(_STEP))
        orders = [1 + _FIRST * _STEP**k for k in range(steps + 1)]
    worst, before, a = np.zeros(len(left)), np.zeros(len(left)), 1.0
    for b in orders:
        both = np.maximum(*(_divergence(p, q, b) for p, q in (sides, sides[::-1])))
        high = np.minimum(both + _slack(errors, b, bounds), bounds)
        measured = np.maximum(measured, both / b)
        if a == 1.0:
            worst = np.maximum(worst, high)
        else:
            worst = np.maximum(worst, _chord(a, b, (a - 1) * before, (b - 1) * high))
        before, a = high, b
    with np.errstate(invalid="ignore"):
        upper = np.maximum(worst, bounds / a) * (1 + _ROUNDING)
    return Measured(measured, np.where(np.isfinite(bounds), upper, np.inf))


def _chord(a: float, b: float, psi_a: Floats, psi_b: Floats) -> Floats:
    """The largest (c + s x) / (x (x - 1)) on [a, b] of lines through both ends."""
    slope = (psi_b - psi_a) / (b - a)
    start = psi_a - slope * a
    highest = np.maximum(psi_a / (a * (a - 1)), psi_b / (b * (b - 1)))
    with np.errstate(invalid="ignore", divide="ignore"):
        turn = (-start + np.sqrt(np.maximum(start * start + slope * start, 0.0))) / slope
        turn = np.clip(np.where(np.isfinite(turn), turn, a), a, b)
        inside = (start + slope * turn) / (turn * (turn - 1))
    # Near its largest value the quotient is flat: an error in the turn is of second order.
    return np.asarray(np.maximum(highest, np.nan_to_num(inside)) * (1 + 1e-10))


def _quotients_at_one(p: Floats, q: Floats) -> Floats:
    forth = (np.exp(p) * _gaps(p, q)).sum(axis=1)
    back = (np.exp(q) * _gaps(q, p)).sum(axis=1)
    return np.asarray(np.maximum(forth, back))


def _gaps(p: Floats, q: Floats) -> Floats:
    return np.where((p == ZERO_LOG) & (q == ZERO_LOG), 0.0, p - q)


def _divergence(p: Floats, q: Floats, order: float) -> Floats:
    exponents = np.where(p == ZERO_LOG, -np.inf, q + order * _gaps(p, q))
    top = exponents.max(axis=1, initial=-1e300)
    total = np.exp(exponents - top[:, None]).sum(axis=1)
    return np.asarray(np.maximum((top + np.log(total)) / (order - 1), 0.0))


def _slack(errors: Floats, order: float, bounds: Floats) -> Floats:
    """What rounding and the errors of the logs may add to a divergence."""
    # An exponent is rounded as it and the loss are, not as the logs: how far down these lie adds
    # nothing, for what they make of an exponent far down does not count in the sum.
    size = np.where(np.isfinite(bounds), bounds, 0.0) * order
    return np.asarray((2 * order * errors + _ROUNDING * (1 + size)) / (order - 1))


def _slices(rows: Indices, laws: LawTable) -> list[Indices]:
    step = max(1, _ENTRIES // max(1, laws.logs.shape[1]))
    return [rows[start : start + step] for start in range(0, len(rows), step)]
