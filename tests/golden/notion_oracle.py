"""rho and mu of tables of probabilities by other means: many orders, quantiles of a float.

Nothing of liptest is used. rho is the largest D_a / a over a grid of orders from 1 (the
Kullback-Leibler divergence) to 10^4, refined around the best of them; mu is the largest difference
of normal quantiles over the best tests of a pair.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ORDERS = [1 + 2.0**k for k in np.arange(-10, 13.5, 0.5)]
_QUANTILE = NormalDist().inv_cdf


def divergence(p: Floats, q: Floats, order: float) -> Floats:
    """D_a of each row of p from each row of q; inf where p has an output that q has not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(p), np.log(q)
        both = (p > 0) & (q > 0)
        if order == 1:
            found = np.sum(np.where(both, p * (logs[0] - logs[1]), 0.0), axis=-1)
        else:
            terms = np.where(both, order * logs[0] + (1 - order) * logs[1], -np.inf)
            top = terms.max(axis=-1, keepdims=True)
            sums = np.sum(np.exp(terms - top), axis=-1)
            found = (top[..., 0] + np.log(sums)) / (order - 1)
    return np.where(np.any((p > 0) & (q == 0), axis=-1), np.inf, found)


def largest_rho(p: Floats, q: Floats) -> float:
    """The largest rho of ordered pairs (p[k], q[k])."""
    best, where, order = 0.0, 0, 1.0
    for a in (1.0, *_ORDERS):
        found = divergence(p, q, a) / a
        k = int(np.argmax(found))
        if found[k] > best:
            best, where, order = float(found[k]), k, a
    if math.isinf(best):
        return best
    # Pairs that are about as large at the best order, each refined.
    near = np.flatnonzero(divergence(p, q, order) / order >= best * (1 - 1e-3))[:40]
    for k in {where, *near.tolist()}:
        best = max(best, _refined(p[k], q[k], order))
    return best


def _refined(p: Floats, q: Floats, order: float) -> float:
    # Close to 1 a quotient of sums of floats has no digits left.
    low, high = max(1 + 2.0**-10, 1 + (order - 1) / 4), 1 + max(order - 1, 2.0**-8) * 4
    value = lambda a: float(divergence(p, q, a)) / a  # noqa: E731
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if value(left) < value(right) else (low, right)
    return max(value((low + high) / 2), value(order))


def largest_mu(p: Floats, q: Floats) -> float:
    """The largest mu of pairs; the order of a pair does not matter."""
    if np.any((p > 0) != (q > 0)):
        return math.inf
    best = 0.0
    for one, other in zip(p, q, strict=True):
        kept = (one > 0) & (other > 0)
        order = np.argsort(-np.log(one[kept] / other[kept]), kind="stable")
        sums = [np.cumsum(side[kept][order])[:-1] for side in (one, other)]
        rests = [np.cumsum(side[kept][order][::-1])[::-1][1:] for side in (one, other)]
        for a, b, x, y in zip(*sums, *rests, strict=True):
            best = max(best, _quantile(a, x) - _quantile(b, y))
    return best


def _quantile(below: float, above: float) -> float:
    if min(below, above) < 1e-300:
        return 0.0 if below == above else math.copysign(math.inf, below - above)
    return _QUANTILE(below) if below <= above else -_QUANTILE(above)
