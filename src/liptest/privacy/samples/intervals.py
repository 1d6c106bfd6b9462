"""Certified confidence bounds from counts and from means of numbers in [0, 1].

One-sided bounds: each is wrong with probability at most ``failure``. Clopper and Pearson (1934)
for counts, with the binomial tail in ball arithmetic; the Chernoff-Hoeffding bound in its
Kullback-Leibler form for means (Hoeffding 1963, theorem 1), which needs no variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from flint import arb

from liptest.balls import precision

_PRECISION = 64
# A bracket shrinks so often by half; what is left of it makes a bound wider, never wrong.
_STEPS, _TAIL_STEPS = 40, 12
# Rounding of the floats below, far above what they can lose.
_SLACK = 1e-12


def clean_draws(mass: float, failure: float) -> int:
    """n such that n clean draws leave mass above ``mass`` with chance at most ``failure``."""
    return math.ceil(math.log(failure) / math.log1p(-mass))


def certify_mass(draws: int, failure: float) -> float:
    """Mass that ``draws`` clean draws certify at any stopping time (theory 3.9b)."""
    return 1.0 if draws == 0 else -math.expm1(math.log(failure) / draws)


@lru_cache(maxsize=4096)
def binomial_upper(hits: int, trials: int, failure: float) -> float:
    """Upper bound on p from ``hits`` of ``trials``: Pr[Bin(trials, p) <= hits] <= ``failure``.

    1.0 when every trial is a hit.
    """
    if hits >= trials:
        return 1.0
    if hits == 0:
        return min(1.0, -math.expm1(math.log(failure) / trials) * (1 + _SLACK))
    far = mean_upper(hits / trials, trials, failure)
    return _bisect(
        hits / trials, far, lambda p: _tail_is_below(hits, trials, p, failure), _TAIL_STEPS
    )


def binomial_lower(hits: int, trials: int, failure: float) -> float:
    """Lower bound on p from ``hits`` of ``trials``; 0.0 without a hit."""
    if hits <= 0:
        return 0.0
    return max(0.0, 1.0 - binomial_upper(trials - hits, trials, failure) - 2.0**-52)


def mean_upper(mean: float, trials: int, failure: float) -> float:
    """Upper bound on E[X] from the mean of independent X in [0, 1]."""
    limit = -math.log(failure) / trials * (1 + _SLACK) + _SLACK
    return _bisect(mean, 1.0, lambda p: _divergence(mean, p) >= limit)


def mean_lower(mean: float, trials: int, failure: float) -> float:
    """Lower bound on E[X] from the mean of independent X in [0, 1]."""
    limit = -math.log(failure) / trials * (1 + _SLACK) + _SLACK
    return _bisect(mean, 0.0, lambda p: _divergence(mean, p) >= limit)


def clean_quantile(mass: float, trials: int, failure: float) -> int:
    """Largest k with Pr[Bin(trials, ``mass``) <= k - 1] <= ``failure``; 0 when there is none.

    Then the k-th largest of ``trials`` values exceeds all but ``mass`` of their law, except with
    probability ``failure`` (theory 3.9).
    """
    low, high = 0, math.ceil(trials * mass) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _tail_is_below(middle - 1, trials, mass, failure):
            low = middle
        else:
            high = middle
    return low


def _bisect(
    inside: float, outside: float, is_excluded: Callable[[float], bool], steps: int = _STEPS
) -> float:
    """The end of the bracket that is certainly excluded, or ``outside``."""
    for _ in range(steps):
        middle = (inside + outside) / 2
        if is_excluded(middle):
            outside = middle
        else:
            inside = middle
    return outside


def _tail_is_below(hits: int, trials: int, p: float, failure: float) -> bool:
    # Pr[Bin(n, p) <= k] is the incomplete beta function I_{1-p}(n - k, k + 1).
    if hits >= trials:
        return False
    with precision(_PRECISION):
        tail = (1 - arb(p)).beta_lower(arb(trials - hits), arb(hits + 1), regularized=True)
        return bool(tail <= arb(failure))


def _divergence(mean: float, p: float) -> float:
    """Kullback-Leibler divergence of two coins, natural log units."""
    parts = ((mean, p), (1.0 - mean, 1.0 - p))
    if any(a > 0 and b <= 0 for a, b in parts):
        return math.inf
    return sum(a * math.log(a / b) for a, b in parts if a > 0)
