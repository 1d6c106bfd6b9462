"""Whole-number weights of NumPy's finite distributions; wrong arguments raise what NumPy raises."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branches
from liptest.values.faults import RaisesAsNumPy
from liptest.values.grid import UNIT

#: NumPy itself: checks arguments and gives types and shapes, never values.
NUMPY: Any = RaisesAsNumPy(np.random.Generator(np.random.PCG64(0)))


_FLOATS = (np.float16, np.float32, np.float64)


@lru_cache(maxsize=256)
def integer_range(low: int, high: int | None, dtype: Any, endpoint: bool) -> tuple[int, int, Any]:
    """Least value, number of values, and type of ``integers(low, high)``."""
    kind = type(NUMPY.integers(low, high, dtype=dtype, endpoint=endpoint))
    first, last = (0, low) if high is None else (low, high)
    return first, last - first + endpoint, kind


def probabilities(p: Any) -> tuple[bytes, str] | None:
    """``p=`` as a hashable key; None for what is no vector of floats."""
    array = np.asarray(p)
    # NumPy allows less rounding when p is given as 64-bit floats or as a list.
    dtype = array.dtype if isinstance(p, np.ndarray) else np.dtype(np.float64)
    if array.ndim != 1 or (array.dtype.kind in "fc" and array.dtype not in _FLOATS):
        return None
    return array.astype(np.float64).tobytes(), dtype.str


@lru_cache(maxsize=64)
def choice_weights(count: int, masses: bytes, dtype: str) -> Branches:
    """Weights of ``choice(count, p=p)`` as NumPy draws it.

    It looks up a grid point u in the cumulative sum of p, divided by its last entry, all in
    floats: item j is drawn when cdf[j-1] <= u < cdf[j]. Hence differences of grid points.
    """
    p = np.frombuffer(masses)
    NUMPY.choice(count, p=p.astype(dtype))
    return cdf_weights(p)


def cdf_weights(p: NDArray[np.float64]) -> Branches:
    """Grid points that a search in the float cdf of p assigns to each item."""
    cdf = p.cumsum()
    cdf /= cdf[-1]
    cuts = [0, *(UNIT.at_least(bound) for bound in cdf.tolist())]
    weights = [after - before for before, after in pairwise(cuts)]
    common = math.gcd(*weights)
    return tuple(weight // common for weight in weights)


@lru_cache(maxsize=4)
def binomial_weights(n: int, p: float) -> Branches:
    """Ideal weights of 0 .. n successes, p being exactly the float given.

    NumPy's samplers follow this law up to rounding and leave out tails beyond ten standard
    deviations.
    """
    NUMPY.binomial(n, p)
    success = Fraction(p)
    a, b = success.numerator, success.denominator - success.numerator
    failures = [1]
    for _ in range(n):
        failures.append(failures[-1] * b)
    weights, power, ways = [], 1, 1
    for k in range(n + 1):
        weights.append(ways * power * failures[n - k])
        power, ways = power * a, ways * (n - k) // (k + 1)
    return tuple(weights)


def binomial_bits(p: float) -> int:
    """Binary digits that each trial adds to the weights."""
    return Fraction(p).denominator.bit_length()


@lru_cache(maxsize=4)
def hypergeometric_weights(good: int, bad: int, drawn: int) -> Branches:
    """Ideal weights of 0 .. drawn good items."""
    NUMPY.hypergeometric(good, bad, drawn)
    return tuple(math.comb(good, k) * math.comb(bad, drawn - k) for k in range(drawn + 1))
