"""Geometric noise that a program makes of ``rng.random()``: ``floor(log(u) / log(q))``.

Cut off to whole numbers, exponential noise of scale s is geometric: P(floor(X) = k) is
q**k (1 - q) with q = exp(-1/s) (docs/theory/floats.md, I7). The uniform number becomes that noise
and nothing else: any other use of it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from liptest.balls import ball, precision
from liptest.symbolic.noise import Noise
from liptest.values.inverse_cdf import EXPONENTIAL, Inverted, Quantile

# Digits of q, which is rounded down: no loss is told too small.
_BITS = 160
# Scales of which q, and what it leaves of 1, are ordinary numbers.
_LEAST, _MOST = Fraction(1, 1 << 8), Fraction(1 << 40)
# From whole numbers to the middle of what is cut off to them.
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class InvertedSteps(Inverted):
    """How a grid point follows from geometric noise: exponential noise in steps of ``steps``."""

    steps: Fraction = Fraction(1)
    family: str = "geometric"

    def point(self, noise: float) -> int:
        """The grid point of a value of the noise."""
        exponential = float((Fraction(noise) - _HALF) / self.steps)
        return Inverted(self.rising, False, self.start, self.width).point(exponential)


@dataclass(frozen=True)
class Steps:
    """``constant`` and ``times`` times geometric noise, and how a grid point follows from that."""

    noise: Noise
    inverted: InvertedSteps
    times: int
    constant: int


def cut_to_steps(quantile: Quantile, inverted: Inverted, how: str, kind: type) -> Steps | None:
    """What rounding, as ``how`` says, makes of exponential noise; None for all else."""
    if quantile.family != EXPONENTIAL or inverted.folded:
        return None
    factor, constant = quantile.per_noise, quantile.constant
    up = _rounds_up(how, factor, constant)
    size = abs(factor)
    if up is None or constant.denominator != 1 or not _LEAST <= size <= _MOST:
        return None
    if up and factor < 0 and not constant and issubclass(kind, float):  # -0.0 is among them
        return None
    own = inverted.rising, False, inverted.start, inverted.width
    times = 1 if factor > 0 else -1
    # The next whole number above exponential noise is geometric, the one below is one less.
    less = 0 if up is (factor > 0) else times
    return Steps(_geometric(size), InvertedSteps(*own, steps=size), times, int(constant) - less)


def _rounds_up(how: str, factor: Fraction, constant: Fraction) -> bool | None:
    """Whether the next whole number above is taken; None where neither is, always."""
    if how == "trunc" and factor * constant >= 0:
        return factor < 0
    return {"floor": False, "ceil": True}.get(how)


def _geometric(steps: Fraction) -> Noise:
    with precision(_BITS):
        below = (-1 / ball(steps)).exp().lower()
    mantissa, exponent = (int(part) for part in below.mid().man_exp())
    return Noise("geometric", 1 - Fraction(mantissa) * Fraction(2) ** exponent)
