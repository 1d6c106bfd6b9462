"""What several random samples, each with noise of its own, lose together: epsilon at a delta.

Of one sample a bound H(t) of its divergence at t = exp(epsilon) is known. Between grid points it is
replaced by chords, which are those of a law of losses on the grid; losses of independent steps add
up, so their laws are multiplied as polynomials, in whole numbers that are rounded up
(docs/theory/size.md, S21; the chords are those of Doroshenko, Ghazi, Kamath, Kumar and Manurangsi
2022).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import arb, fmpz_poly

from liptest.balls import CERTIFIED_BITS, ball, precision
from liptest.symbolic.direct_sums import normal_delta
from liptest.symbolic.shifts import upper_end

#: Probabilities are multiples of 2**-_BITS.
_BITS = 96
_ONE = 1 << _BITS
# Grid points of the losses of all steps together, and on each side of those of one.
_MOST_POINTS, _MOST_OF_STEP = 1 << 16, 1 << 12
# Of the smallest standard deviation of a loss, the step of the grid.
_FINE = 8
# Standard deviations of all losses together that the grid holds.
_WIDE = 12
# What is left out of one step and counts as lost, of the delta.
_TAIL = 1e-7
_LARGEST = 700.0


@dataclass(frozen=True)
class SampledLoss:
    """What is told of one random sample, of which no record is in it with more than ``share``.

    Where a record of the sample is replaced, noise with a price costs ``pure``, and normal noise is
    shifted by ``shift`` standard deviations; where it is missing, ``pure_missing`` and
    ``shift_missing``. Of all records ``share`` is 1.
    """

    share: Fraction
    pure: Fraction
    shift: Fraction
    pure_missing: Fraction
    shift_missing: Fraction

    def divergence(self, epsilon: Fraction) -> arb:
        """At most this for an epsilon of 0 or more (S11)."""
        if self.share >= 1:
            return _divergence(epsilon, self.pure, self.shift)
        inner = (1 + (ball(epsilon).exp() - 1) / ball(self.share)).log()
        at = -upper_end(-inner)
        kept = (ball(epsilon) - inner).exp()
        missing = _divergence(at, self.pure_missing, self.shift_missing)
        replaced = _divergence(at, self.pure, self.shift)
        return ball(self.share) * ((1 - kept) * missing + kept * replaced)

    def deviation(self) -> float:
        """About the standard deviation of its loss."""
        shift, pure = float(max(self.shift, self.shift_missing)), float(self.pure)
        if self.share < 1:
            share = float(self.share)
            shift = min(shift, share * math.sqrt(math.expm1(min(shift, 20.0) ** 2)))
            pure = min(pure, share * math.expm1(min(pure, 20.0)))
        return max(shift + pure, 1e-9)


def _divergence(epsilon: Fraction, pure: Fraction, shift: Fraction) -> arb:
    """Of normal noise beside losses of at most ``pure``, an upper bound (S6)."""
    if not shift:  # that of randomised response
        at, most = ball(epsilon).exp(), ball(pure).exp()
        return ((most - at) / (most + 1)).max(arb(0))
    return normal_delta(shift, epsilon - pure)


class _Losses(NamedTuple):
    """Probabilities of losses low, low + 1, .. grid steps, and of all above, times 2**_BITS."""

    low: int
    masses: list[int]
    beyond: int


def compose_losses(losses: Sequence[SampledLoss], delta: Fraction) -> Fraction | None:
    """The smallest epsilon that is proved for all together at a delta above 0; None for none."""
    counts = Counter(loss for loss in losses if loss.pure or loss.shift)
    if not counts:
        return Fraction(0)
    tail = Fraction(_TAIL) * delta / counts.total()
    with precision(CERTIFIED_BITS):
        size, ends = _choose_grid(counts, tail)
        if ends * size > _LARGEST:
            return None
        total = _Losses(0, [_ONE], 0)
        for loss, times in counts.items():
            total = _multiply(total, _power(_law_of(loss, size, tail), times, ends), ends)
        return _find_epsilon(total, size, delta)


def _choose_grid(counts: Counter[SampledLoss], tail: Fraction) -> tuple[Fraction, int]:
    """The step of a grid, and how many are enough on each side; others prove less, or nothing."""
    squares = sum(times * loss.deviation() ** 2 for loss, times in counts.items())
    reach = max(_find_reach(loss, tail) for loss in counts)
    wide = _WIDE * math.sqrt(squares) + squares + reach
    fine = min(loss.deviation() for loss in counts) / _FINE
    size = Fraction(max(fine, 4 * wide / _MOST_POINTS, reach / _MOST_OF_STEP))
    return size, math.ceil(wide / size)


def _find_reach(loss: SampledLoss, tail: Fraction) -> float:
    """Beyond which loss next to nothing is left, more or less."""
    reach = Fraction(1, 1 << 12)
    while reach < _LARGEST and not loss.divergence(reach) <= ball(tail):
        reach *= Fraction(5, 4)
    return float(reach)


def _law_of(loss: SampledLoss, size: Fraction, tail: Fraction) -> _Losses:
    """The law of which the divergences are chords of H, on both sides of 0."""
    heights = [loss.divergence(Fraction(0))]
    while heights[-1].upper() > ball(tail) and len(heights) <= _MOST_OF_STEP:
        heights.append(loss.divergence(len(heights) * size))
    last = len(heights) - 1
    at = [(ball(k * size)).exp() for k in range(-last, last + 1)]
    # H(t) = 1 - t + t H(1 / t), as neighbours may be exchanged.
    below = [1 - at[last - k] + at[last - k] * heights[k] for k in range(last, 0, -1)]
    every = [*below, *heights]
    slopes = [(every[0] - 1) / at[0]]
    slopes += [
        (after - before) / (right - left)
        for (before, after), (left, right) in zip(pairwise(every), pairwise(at), strict=True)
    ]
    slopes.append(arb(0))
    masses = [
        _rounded_up(point * (after - before))
        for point, (before, after) in zip(at, pairwise(slopes), strict=True)
    ]
    return _Losses(-last, masses, _rounded_up(heights[-1]))


def _rounded_up(probability: arb) -> int:
    return max(0, math.ceil(upper_end(probability) * _ONE))


def _power(law: _Losses, times: int, ends: int) -> _Losses:
    total = _Losses(0, [_ONE], 0)
    while times:
        if times & 1:
            total = _multiply(total, law, ends)
        times >>= 1
        law = _multiply(law, law, ends) if times else law
    return total


def _multiply(left: _Losses, right: _Losses, ends: int) -> _Losses:
    """The law of the sum; smaller losses than ``-ends`` count as it, larger ones as beyond."""
    sizes = [sum(law.masses) for law in (left, right)]
    products = fmpz_poly(left.masses) * fmpz_poly(right.masses)
    masses = [-(-int(product) // _ONE) for product in products.coeffs()]
    beyond = left.beyond * (sizes[1] + right.beyond) + sizes[0] * right.beyond
    low, lost = left.low + right.low, -(-beyond // _ONE)
    if low < -ends:
        cut = -ends - low
        masses = [sum(masses[: cut + 1]), *masses[cut + 1 :]]
        low = -ends
    room = ends - low + 1
    return _Losses(low, masses[:room], lost + sum(masses[room:]))


def _find_epsilon(total: _Losses, size: Fraction, delta: Fraction) -> Fraction | None:
    """The smallest one at which the divergence of a law of losses is at most delta."""
    allowed, above, tilted = ball(delta), ball(Fraction(total.beyond, _ONE)), arb(0)
    if not above <= allowed:
        return None
    for place in range(len(total.masses) - 1, -total.low, -1):
        loss, mass = (total.low + place) * size, ball(Fraction(total.masses[place], _ONE))
        above += mass
        tilted += mass * (-ball(loss)).exp()
        # Between this loss and the one below the divergence is above - exp(epsilon) tilted.
        if not above - tilted * ball(loss - size).exp() <= allowed:
            return upper_end(((above - allowed) / tilted).log())
    return Fraction(0)
