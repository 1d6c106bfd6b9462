"""The law of the number of ones of independent bits (Poisson-binomial)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Up to so many bits nothing is left out, at a cost of d^2 additions.
_FEW_BITS = 20_000
_LEAF = 64
# Masses below this are left out of the law of a part.
_SMALL = 1e-45


def level_masses(probabilities: Floats) -> tuple[Floats, float]:
    """Probability of each number of ones, (d,) -> (d + 1,), and how much is left out at most.

    Sums of positive terms only, so that each mass is right up to a relative error of about
    d * 2**-52, however small it is, and up to what is left out: it is at most that much larger.
    Nothing is up to 20,000 bits. Beyond, laws of parts are added two by two, and levels so far from
    the middle that their mass is below 1e-45 are dropped on the way.
    """
    d = len(probabilities)
    if d <= _FEW_BITS:
        return _by_bits(probabilities[None, :])[0], 0.0
    padded = np.zeros(-(-d // _LEAF) * _LEAF)
    padded[:d] = probabilities
    parts = [_trimmed(0, masses) for masses in _by_bits(padded.reshape(-1, _LEAF))]
    while len(parts) > 1:
        rest = parts[len(parts) // 2 * 2 :]
        parts = [_sum(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)] + rest
    first, middle, left_out = parts[0]
    masses = np.zeros(d + 1)
    masses[first : first + len(middle)] = middle
    return masses, left_out


def _by_bits(probabilities: Floats) -> Floats:
    """The laws of m sums of n bits each, one bit after the other; (m, n) -> (m, n + 1)."""
    count, n = probabilities.shape
    masses = np.zeros((count, n + 1))
    masses[:, 0] = 1.0
    for k, p in enumerate(probabilities.T[:, :, None], start=1):
        moved = masses[:, :k] * p
        masses[:, :k] *= 1.0 - p
        masses[:, 1 : k + 1] += moved
    return masses


Part = tuple[int, Floats, float]


def _sum(left: Part, right: Part) -> Part:
    first, masses, dropped = _trimmed(left[0] + right[0], np.convolve(left[1], right[1]))
    return first, masses, dropped + left[2] + right[2]


def _trimmed(first: int, masses: Floats) -> Part:
    """Without the levels at both ends that hardly weigh anything, and what these weigh."""
    kept = np.flatnonzero(masses >= _SMALL)
    low, high = int(kept[0]), int(kept[-1]) + 1
    # Twice the sum covers its rounding, and underflow below the smallest float.
    dropped = 2.0 * float(masses[:low].sum() + masses[high:].sum()) + len(masses) * 2.0**-1000
    return first + low, masses[low:high], dropped if low or high < len(masses) else 0.0
