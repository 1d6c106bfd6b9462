"""Discrete Gaussian noise: no finite epsilon, but a divergence that falls fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import ArrayLike

from liptest.mechanisms.exact_bits import RandBelow, bernoulli_exp, two_sided_geometric
from liptest.mechanisms.laws import FloatArray, as_fraction, exact_ball
from liptest.mechanisms.noise import exact_positive, probability_bound, shown_fraction

# Terms this many bits below the first are left to the bound on the tail.
_SPARE_BITS = 16


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(j) proportional to exp(-j^2 / (2 sigma^2)) on the whole numbers.

    The loss of any shift but 0 is infinite, so a claim needs delta > 0. Source: C. Canonne,
    G. Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", 2020.

    Parameters
    ----------
    sigma
        Positive int, float or Fraction; a float stands for the exact binary fraction it is.

    Raises
    ------
    InputError
        sigma not a finite number above 0.
    """

    sigma: Fraction

    name: ClassVar[str] = "discrete Gaussian"

    def __init__(self, sigma: int | float | Fraction) -> None:
        object.__setattr__(self, "sigma", exact_positive("sigma", sigma))

    def __repr__(self) -> str:
        return f"DiscreteGaussian(sigma={shown_fraction(self.sigma)})"

    def log_pmf(self, values: ArrayLike) -> FloatArray:
        scaled = np.asarray(values, dtype=np.float64) / float(self.sigma)
        return np.asarray(self._log_peak - scaled * scaled / 2)

    def log_pmf_ball(self, value: int) -> arb:
        return -exact_ball(value**2 / self._double) - self._total().log()

    def loss(self, shift: ArrayLike) -> FloatArray:
        return np.where(np.asarray(shift) == 0, 0.0, np.inf)

    def hockey_stick(self, shift: ArrayLike, epsilon: float) -> FloatArray:
        """As ``hockey_stick_ball``, in floats, each different shift summed once."""
        sizes, where = np.unique(np.abs(np.asarray(shift)), return_inverse=True)
        found = np.array([self._hockey_stick(int(size), epsilon) for size in sizes])
        return np.asarray(found[where].reshape(np.shape(shift)))

    def loss_ball(self, shift: int) -> arb:
        return arb("+inf") if shift else arb(0)

    def hockey_stick_ball(self, shift: int, epsilon: arb) -> arb:
        """Sum of positive terms and a bound on the rest.

        For s > 0, P(j) - e^epsilon P(j-s) = P(j) (1 - exp(epsilon + (2js - s^2)/(2 sigma^2))) is
        positive iff j < s/2 - epsilon sigma^2/s, so the sum runs down from the floor J of that
        (at equality the term is 0). Below m < 0 the terms are less than P(j), whose ratios fall, so
        they add up to at most P(m) / (1 - exp((2m-1)/(2 sigma^2))). It falls in epsilon, so the
        two ends of a ball enclose it.
        """
        if shift == 0:
            return arb(0)
        ends = as_fraction(epsilon.lower()), as_fraction(epsilon.upper())
        high, low = (self._summed(abs(shift), max(end, Fraction(0))) for end in ends)
        return high.union(low)

    def telling_value(self, shift: int, epsilon: float) -> int:
        # For s > 0 and j = -k the log ratio is (s^2 + 2 k s) / (2 sigma^2).
        size = abs(shift)
        far = (Fraction(epsilon) * self._double - size**2) / (2 * size) if size else Fraction(0)
        value = max(0, math.floor(far) + 1)
        return -value if shift > 0 else value

    def tail(self, window: int) -> Fraction:
        first = window + 1
        ratio = exact_ball(-(2 * first + 1) / self._double).exp()
        bound = 2 * exact_ball(-(first**2) / self._double).exp() / (1 - ratio) / self._total()
        return probability_bound(bound)

    def draw(self, randbelow: RandBelow) -> int:
        """Rejection from two-sided geometric noise Y of scale t = floor(sigma) + 1.

        Accepting with exp(-(|Y| - sigma^2/t)^2 / (2 sigma^2)) leaves exp(-Y^2 / (2 sigma^2)) up
        to a constant.
        """
        scale = math.floor(self.sigma) + 1
        while True:
            value = two_sided_geometric(Fraction(scale), randbelow)
            distance = abs(value) - self.sigma**2 / scale
            if bernoulli_exp(distance**2 / self._double, randbelow):
                return value

    @cached_property
    def _log_peak(self) -> float:
        return float(self.log_pmf_ball(0).mid())

    @property
    def _double(self) -> Fraction:
        return 2 * self.sigma**2

    def _total(self) -> arb:
        """The sum of exp(-j^2 / (2 sigma^2)): Jacobi's theta_3 at 0."""
        tau = acb(0, 1) / (acb.pi() * acb(exact_ball(self._double)))
        return acb.modular_theta(acb(0), tau)[2].real

    def _turn(self, size: int, epsilon: Fraction) -> int:
        return math.floor(Fraction(size, 2) - epsilon * self.sigma**2 / size)

    def _last(self, turn: int, bits: int) -> int:
        top = min(turn, 0)
        return -math.isqrt(top**2 + math.ceil(self._double * bits)) - 1

    def _summed(self, size: int, epsilon: Fraction) -> arb:
        turn = self._turn(size, epsilon)
        last = self._last(turn, ctx.prec + _SPARE_BITS)
        unit, offset = 1 / exact_ball(self._double), exact_ball(epsilon)
        total = arb(0)
        for j in range(last, turn + 1):
            gap = offset + (2 * j * size - size**2) * unit
            total -= (-(j**2) * unit).exp() * gap.expm1()
        rest = (-(last**2) * unit).exp() / (1 - ((2 * last - 1) * unit).exp())
        return (total + arb(0).union(rest.upper())) / self._total()

    def _hockey_stick(self, size: int, epsilon: float) -> float:
        if size == 0:
            return 0.0
        turn = self._turn(size, Fraction(epsilon))
        j = np.arange(self._last(turn, 64), turn + 1, dtype=np.float64)
        gap = np.minimum(epsilon + (2 * j * size - size**2) / float(self._double), 0.0)
        return float(-np.sum(np.exp(self.log_pmf(j)) * np.expm1(gap)))

    def __getstate__(self) -> dict[str, Any]:
        return {"sigma": self.sigma}
