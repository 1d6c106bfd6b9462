"""How far the shares of independent rows may be from their probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_STEPS = 60
# Far above what the floats below can lose.
_SLACK = 1e-12


def variation_radius(cells: int, rows: int, failure: float) -> float:
    """Total variation of empirical and true law is at most this, off probability ``failure``.

    The mean is at most ``sqrt((cells - 1) / rows) / 2`` (Cauchy and Schwarz), and one row moves
    it by at most 1 / rows (McDiarmid 1989). inf where nothing may fail.
    """
    if failure == 0:
        return math.inf
    mean = 0.5 * math.sqrt((cells - 1) / rows)
    return mean + math.sqrt(-math.log(failure) / (2 * rows)) + _SLACK


def shares_lower(shares: NDArray[np.float64], rows: int, failure: float) -> NDArray[np.float64]:
    """Lower bounds on probabilities from shares of rows, each wrong with at most ``failure``.

    Chernoff 1952: a share s occurs with probability at most exp(-rows * KL(s, p)) for p below s.
    All 0 where nothing may fail.
    """
    if failure == 0:
        return np.zeros_like(shares)
    limit = -math.log(failure) / rows + _SLACK
    low, high = np.zeros_like(shares), shares.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        far = _divergence(shares, middle) > limit
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.asarray(np.where(shares > 0, low, 0.0))


def _divergence(s: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL of two coins, s log(s/p) + (1-s) log((1-s)/(1-p)); inf where p is 0 and s is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(s > 0, s * np.log(s / p), 0.0)
        miss = np.where(s < 1, (1 - s) * np.log((1 - s) / (1 - p)), 0.0)
    return np.asarray(hit + miss)
