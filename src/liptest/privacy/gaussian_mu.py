"""mu of discrete Gaussian noise against itself, moved: finitely many corners, and a bound beyond.

Noise of P(j) in proportion to exp(-j^2 / (2 sigma^2)) moved by s has the corners {j >= k}, of
masses T(k - s) and T(k), T the tail. Up to some K they are calculated; beyond it none exceeds what
the first ones reach (theory 6.19). mu is above s / sigma, the mu of the noise without rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.tradeoff import MuEnclosure, gaussian_quantile

BITS = 192
# Corners that are looked at, and by what share mu is taken larger for those beyond.
_MOST, _MORE = 1 << 13, arb(2) ** -80


def enclose_gaussian_mu(sigma: Fraction, shift: int) -> MuEnclosure | None:
    """None where corners beyond all that are looked at may be larger."""
    with precision(BITS):
        first = math.ceil(4 * sigma) + shift + 4
        enclosure = _largest(sigma, shift, first)
        last = first
        while not _is_settled(sigma, shift, enclosure.upper * (1 + _MORE), last):
            last *= 2
            if last > _MOST:
                return None
        return enclosure if last == first else _largest(sigma, shift, last)


def _largest(sigma: Fraction, shift: int, last: int) -> MuEnclosure:
    tails = _tails(sigma, last)
    infinite = arb("+inf")
    best, upper = MuEnclosure(arb(0), arb(0), infinite, (arb(0), arb(0))), arb(0)
    # The corner of s + 1 - k has the mu of that of k.
    for k in range((shift + 1) // 2, last + 1):
        (p, p_rest), (q, q_rest) = (_masses(tails, at) for at in (k - shift, k))
        mu = gaussian_quantile(p, p_rest) - gaussian_quantile(q, q_rest)
        if not mu.is_finite():
            return MuEnclosure(best.lower, infinite, best.ratio, best.masses)
        upper = upper.max(mu.upper())
        if mu.lower() > best.lower:
            ratio = exact_ball(Fraction(shift * (2 * k - shift)) / (2 * sigma**2)).exp()
            best = MuEnclosure(mu.lower(), upper, ratio, (p, q))
    return MuEnclosure(best.lower, upper, best.ratio, best.masses)


def _masses(tails: list[arb], k: int) -> tuple[arb, arb]:
    """T(k) and 1 - T(k)."""
    if k > 0:
        return tails[k], 1 - tails[k]
    return 1 - tails[1 - k], tails[1 - k]


def _tails(sigma: Fraction, last: int) -> list[arb]:
    """T(0), .., T(last); each sum ends where a geometric series bounds the rest."""
    double = 2 * sigma**2
    far = last + 1
    while (far - last) * (far + last) <= BITS * double:
        far += max(1, (far - last) // 2)
    weights = [exact_ball(-(j**2) / double).exp() for j in range(far + 1)]
    rest = weights[far] * _geometric(sigma, far)
    sums = [weights[far].union(rest)]
    for weight in reversed(weights[:far]):
        sums.append(sums[-1] + weight)
    sums.reverse()
    total = sums[0] + sums[1]
    return [mass / total for mass in sums[: last + 2]]


def _geometric(sigma: Fraction, k: int) -> arb:
    """T(k) is at most so many times P(k): P(j + 1)/P(j) falls with j."""
    return 1 / (1 - exact_ball(-Fraction(2 * k + 1) / (2 * sigma**2)).exp())


def _is_settled(sigma: Fraction, shift: int, mu: arb, k: int) -> bool:
    """Whether no corner from k on has a mu above this one (theory 6.19)."""
    spread, s = exact_ball(sigma), arb(shift)
    x, c = k / spread, 1 / spread
    if not (mu >= s / spread and x - c >= 1 / c and k > shift):
        return False
    total = exact_ball(sigma) * (2 * arb.pi()).sqrt()  # the sum of all weights is at least that
    tail = (c * x - c**2 / 2).exp() * (x - c) / (1 + (x - c) ** 2) * total
    if not tail / (_geometric(sigma, k) * (2 * arb.pi()).sqrt()) >= 1:
        return False
    ratio = exact_ball(-Fraction(2 * k + 1) / (2 * sigma**2)).exp()
    moved = ratio * (s / spread**2).exp()
    if not moved < 1:
        return False
    mean = ((1 - ratio) / (1 - moved)).log()
    gap = mu * (x - c) - mu**2 / 2 - s * k / spread**2 + s**2 / (2 * spread**2) - mean
    return bool(gap >= 0)
