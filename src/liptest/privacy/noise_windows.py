"""Unbounded noise as a finite table, with what it leaves out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from liptest.mechanisms.laws import default_error
from liptest.mechanisms.shift import ShiftMechanism

FloatArray = NDArray[np.float64]

#: Far more than all probabilities together that are set to 0 because they are too small.
UNDERFLOW = 1e-270
_NOISE_WINDOW = 1 << 16
_NOISE_LEFT_OUT = 2.0**-60


def noise_window(mechanism: ShiftMechanism) -> tuple[FloatArray, float, float]:
    """Probabilities of the noise around 0, their relative error, and a bound of the rest."""
    window = 1
    while mechanism.noise.tail(window) > _NOISE_LEFT_OUT and window < _NOISE_WINDOW:
        window *= 2
    logs = mechanism.noise.log_pmf(np.arange(-window, window + 1))
    error = math.expm1(min(float(default_error(logs).max()), 700.0))
    return np.exp(logs), error, float(mechanism.noise.tail(window)) + UNDERFLOW
