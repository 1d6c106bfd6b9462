"""Quantiles of the normal law in floats, of probabilities as small as their logs can say.

What screens pairs for mu: a tail of e^-5000 is no more 0 than one of e^-5 is, and two of them may
lie as far apart as any others.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from liptest.mechanisms.laws import INFINITE_LOSS

Floats = NDArray[np.float64]

# P. J. Acklam's fractions: of the square root of -2 ln p in the tails, of p - 1/2 between them.
_A = (
    *(-3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02),
    *(1.383577518672690e02, -3.066479806614716e01, 2.506628277459239e00),
)
_B = (
    *(-5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02),
    *(6.680131188771972e01, -1.328068155288572e01),
)
_C = (
    *(-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00),
    *(-2.549732539343734e00, 4.374664141464968e00, 2.938163982698783e00),
)
_D = (
    *(7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00),
    3.754408661907416e00,
)
_BREAK = math.log(0.02425)
# Logs below which the fractions are not made for, and exponentials lose their digits.
_FAR = -690.0
# Each step leaves less than a thousandth of the error.
_STEPS = 6


def normal_quantiles(below: Floats, above: Floats) -> Floats:
    """Phi^-1 of probabilities given with their complements, to 1e-8."""
    with np.errstate(divide="ignore"):
        return quantiles_of_logs(np.log(below), np.log(above))


def quantiles_of_logs(below: Floats, above: Floats) -> Floats:
    """Phi^-1 of probabilities whose logs are given, with those of their complements."""
    tail = np.minimum(below, above)
    with np.errstate(invalid="ignore"):
        root = np.sqrt(-2 * tail)
        outer = np.polyval(_C, root) / np.polyval([*_D, 1.0], root)
        near = np.exp(tail) - 0.5
        square = near * near
        inner = near * np.polyval(_A, square) / np.polyval([*_B, 1.0], square)
    quantiles = np.where(tail < _BREAK, outer, inner)
    is_far = tail < _FAR
    if np.any(is_far):
        quantiles[is_far] = _far_quantiles(tail[is_far])
    return np.where(below <= above, quantiles, -quantiles)


def quantile_gaps(p: Floats, q: Floats) -> Floats:
    """Phi^-1(P(S)) - Phi^-1(Q(S)) of the first outputs S of rows of logs, all but whole rows.

    Where both are 0, or both 1, the difference is 0.
    """
    quantiles = [quantiles_of_logs(*_log_sums(side)) for side in (p, q)]
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(quantiles[0] - quantiles[1], nan=0.0, posinf=np.inf, neginf=-np.inf)


def _far_quantiles(tail: Floats) -> Floats:
    """z of ln Phi(-z) = -z^2 / 2 - ln z - ln(2 pi) / 2 + ln(1 - 1/z^2 + 3/z^4 - ..), negated."""
    quantiles = np.sqrt(-2 * tail)
    is_finite = np.isfinite(quantiles)
    z = quantiles[is_finite]
    for _ in range(_STEPS):
        square = 1 / (z * z)
        series = np.log1p(-square * (1 - square * (3 - 15 * square)))
        z = np.sqrt(2 * (series - tail[is_finite] - np.log(z) - math.log(2 * math.pi) / 2))
    quantiles[is_finite] = z
    return -quantiles


def _log_sums(logs: Floats) -> tuple[Floats, Floats]:
    """Logs of the sums of the first 1, 2, .. entries of each row, and of the rest."""
    logs = np.where(logs <= -INFINITE_LOSS, -np.inf, logs)
    return _logs_from_left(logs)[:, :-1], _logs_from_left(logs[:, ::-1])[:, ::-1][:, 1:]


def _logs_from_left(logs: Floats) -> Floats:
    # One entry that is not told from 0 as a float may be all that a sum holds.
    if np.all((logs > _FAR) | np.isneginf(logs)):
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.cumsum(np.exp(logs), axis=1)))
    return np.asarray(np.logaddexp.accumulate(logs, axis=1))
