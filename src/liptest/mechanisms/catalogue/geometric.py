"""Logs of two-sided geometric noise whose tails are put on the end outputs.

With q = exp(-epsilon) the noise j has probability (1-q)/(1+q) q^|j|, and Pr[noise <= t] is
q^-t / (1+q) for t <= 0 and 1 - q^(t+1) / (1+q) for t >= 0. Everything stays in logs, so that no
probability underflows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.mechanisms.laws import FloatArray

#: Unit roundoff times two; declared errors are multiples of it.
ULP = 2.0**-52


def log_peak(epsilon: float) -> float:
    """ln((1-q)/(1+q)), the log probability of no noise."""
    return math.log(-math.expm1(-epsilon)) - math.log1p(math.exp(-epsilon))


def log_at_most(threshold: ArrayLike, epsilon: float) -> FloatArray:
    """ln Pr[noise <= threshold] for whole numbers; by symmetry also of noise >= -threshold."""
    t = np.asarray(threshold, dtype=np.float64)
    weight = math.log1p(math.exp(-epsilon))
    low = epsilon * np.minimum(t, 0.0) - weight
    high = np.log1p(-np.exp(-epsilon * (np.maximum(t, 0.0) + 1.0) - weight))
    return np.where(t <= 0.0, low, high)


def truncated_logs(
    values: NDArray[np.int64], lower: int, upper: ArrayLike, most: int, epsilon: float
) -> FloatArray:
    """Log probabilities of the outputs lower .. most of noisy values cut to lower .. upper.

    ``values`` and ``upper`` are (m,) (or upper one number, at most ``most``); outputs above
    ``upper`` get -inf. Shape (m, most - lower + 1).
    """
    value = values.astype(np.float64)[:, None]
    top = np.broadcast_to(np.asarray(upper), values.shape)[:, None]
    outputs = np.arange(lower, most + 1)
    logs = log_peak(epsilon) - epsilon * np.abs(outputs - value)
    logs[:, 0] = log_at_most(lower - value[:, 0], epsilon)
    logs = np.where(outputs == top, log_at_most(value - top, epsilon), logs)
    logs = np.where((outputs == top) & (top == lower), 0.0, logs)
    return np.asarray(np.where(outputs > top, -np.inf, logs))
