"""Laws of the counts of a histogram whose number of records is random."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError

# Probability that some count of a histogram lies above its grid, where the grid is chosen here.
CUT = 1e-9
_LARGEST = 10**6


def poisson_law(mean: float, size: int) -> tuple[NDArray[np.float64], float]:
    """The Poisson law on ``0 .. size-1``, renormalised, and an upper bound on what was cut off."""
    if mean == 0.0:
        law = np.zeros(size)
        law[0] = 1.0
        return law, 0.0
    k = np.arange(size)
    logs = k * math.log(mean) - mean - np.cumsum(np.log(np.maximum(k, 1)))
    law = np.exp(logs - logs.max())
    return law / math.fsum(law.tolist()), _tail_bound(mean, size)


def poisson_size(mean: float, cells: int) -> int:
    """The smallest grid off which a count lies with probability at most ``CUT / cells``."""
    if mean > _LARGEST:
        raise InputError(
            f"histogram_of: {mean:.3g} records are expected in one cell, too many for a grid; "
            f"histogram larger units or fewer records",
            name="histogram_of",
            value=mean,
        )
    limit = CUT / cells
    low, high = 1, max(2, math.ceil(mean) + 2)
    while _tail_bound(mean, high) > limit:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if _tail_bound(mean, middle) > limit:
            low = middle + 1
        else:
            high = middle
    return high


def _tail_bound(mean: float, size: int) -> float:
    """Pr[count >= size] is at most this: Chernoff, ``exp(-mean) (e mean / size)^size``."""
    if mean == 0.0:
        return 0.0
    if size <= mean:
        return 1.0
    return math.exp(size - mean + size * math.log(mean / size))
