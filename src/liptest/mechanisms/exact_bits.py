"""Exact random choices from whole random numbers alone: no float takes part.

Every function takes ``randbelow``: ``randbelow(n)`` is uniform on 0 .. n-1, for example
``secrets.randbelow``. Method: C. Canonne, G. Kamath, T. Steinke, "The Discrete Gaussian for
Differential Privacy", 2020, sections 5.1 and 5.2; the series is von Neumann's (1951).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

RandBelow = Callable[[int], int]


def bernoulli(probability: Fraction, randbelow: RandBelow) -> bool:
    """True with a rational probability between 0 and 1."""
    return randbelow(probability.denominator) < probability.numerator


def bernoulli_exp(exponent: Fraction, randbelow: RandBelow) -> bool:
    """True with probability exp(-exponent), exponent >= 0.

    exp(-n - f) is a product of n factors exp(-1) and one exp(-f), 0 <= f < 1.
    """
    whole = exponent.numerator // exponent.denominator
    for _ in range(whole):
        if not _bernoulli_exp_unit(Fraction(1), randbelow):
            return False
    return _bernoulli_exp_unit(exponent - whole, randbelow)


def _bernoulli_exp_unit(exponent: Fraction, randbelow: RandBelow) -> bool:
    # Coins of probability f/1, f/2, f/3, .. come up true until the K-th, which is false:
    # Pr[K > k] = f^k / k!, so Pr[K odd] = 1 - f + f^2/2! - .. = exp(-f).
    trial = 1
    while bernoulli(exponent / trial, randbelow):
        trial += 1
    return trial % 2 == 1


def geometric(scale: Fraction, randbelow: RandBelow) -> int:
    """A whole number g >= 0 with probability proportional to exp(-g / scale).

    Write scale = t / s. X = u + t v has probability proportional to exp(-X / t) when u in
    0 .. t-1 and v are drawn apart with exp(-u / t) and exp(-v); s consecutive values of X make one
    value of g = X // s.
    """
    t, s = scale.numerator, scale.denominator
    while True:
        low = randbelow(t)
        if _bernoulli_exp_unit(Fraction(low, t), randbelow):
            break
    high = 0
    while _bernoulli_exp_unit(Fraction(1), randbelow):
        high += 1
    return (low + t * high) // s


def two_sided_geometric(scale: Fraction, randbelow: RandBelow) -> int:
    """A whole number j with probability proportional to exp(-|j| / scale).

    A sign and a size are drawn apart; "minus zero" is drawn again, or 0 would count twice.
    """
    while True:
        size = geometric(scale, randbelow)
        negative = randbelow(2) == 1
        if size or not negative:
            return -size if negative else size
