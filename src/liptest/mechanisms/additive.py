"""Whole-number noise: its loss in closed form, certified, and exact draws.

Noise of law P, added to a whole number, is compared with itself shifted by s: the loss is
``max_j |ln P(j) - ln P(j - s)|``, the hockey-stick divergence ``sum_j max(0, P(j) - e^epsilon
P(j - s))``. Both are symmetric in s when P is.

Exact draws use whole random numbers alone: no float takes part. Every function of them takes
``randbelow``: ``randbelow(n)`` is uniform on 0 .. n-1, for example ``secrets.randbelow``. Method:
C. Canonne, G. Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", 2020, sections
5.1 and 5.2; the series is von Neumann's (1951).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any, ClassVar, cast

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import ArrayLike

from liptest.errors import InputError, check_positive, quote
from liptest.mechanisms.laws import FloatArray, as_fraction, exact_ball

RandBelow = Callable[[int], int]

_TINY = arb(2) ** -256
# Terms this many bits below the first are left to the bound on the tail.
_SPARE_BITS = 16


class AdditiveNoise(ABC):
    """Whole-number noise, symmetric about 0 and falling away from it.

    Floats lie within 4 ulp of max(1, |value|) of the truth; balls contain it, whatever the
    precision. An infinite loss is ``inf``.
    """

    #: Printed in verdicts.
    name: ClassVar[str]

    @abstractmethod
    def log_pmf(self, values: ArrayLike) -> FloatArray:
        """Natural log of the probability of each whole number."""

    @abstractmethod
    def log_pmf_ball(self, value: int) -> arb:
        """A ball that contains the natural log of the probability of one whole number."""

    @abstractmethod
    def loss(self, shift: ArrayLike) -> FloatArray:
        """Loss of each shift."""

    @abstractmethod
    def loss_ball(self, shift: int) -> arb:
        """A ball that contains the loss of one shift."""

    @abstractmethod
    def hockey_stick(self, shift: ArrayLike, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each shift at ``epsilon`` >= 0."""

    @abstractmethod
    def hockey_stick_at(self, size: int, epsilon: Fraction) -> arb:
        """A ball that contains the divergence of a shift of ``size`` > 0 at ``epsilon`` >= 0."""

    def hockey_stick_ball(self, shift: int, epsilon: arb) -> arb:
        """A ball that contains the hockey-stick divergences for all epsilon of a ball.

        The divergence falls in epsilon, so those at the two ends of the ball enclose it.
        """
        if shift == 0:
            return arb(0)
        ends = as_fraction(epsilon.lower()), as_fraction(epsilon.upper())
        high, low = (self.hockey_stick_at(abs(shift), max(end, Fraction(0))) for end in ends)
        return high.union(low)

    @abstractmethod
    def distinguishing_value(self, shift: int, epsilon: float) -> int:
        """A j with ln P(j) - ln P(j - shift) > epsilon, or, if there is none, at its largest."""

    @abstractmethod
    def tail(self, window: int) -> Fraction:
        """An upper bound of Pr[|noise| > window]."""

    @abstractmethod
    def draw(self, randbelow: RandBelow) -> int:
        """One exact draw; ``randbelow(n)`` is uniform on 0 .. n-1."""

    @cached_property
    def _log_peak(self) -> float:
        """Natural log of the probability of 0."""
        return float(self.log_pmf_ball(0).mid())

    def __repr__(self) -> str:
        parameters = ", ".join(f"{k}={_show(value)}" for k, value in self.__getstate__().items())
        return f"{type(self).__name__}({parameters})"

    def __getstate__(self) -> dict[str, Any]:
        cached = (cached_property,)
        own = vars(self).items()
        return {
            k: value for k, value in own if not isinstance(getattr(type(self), k, None), cached)
        }


@dataclass(frozen=True, repr=False)
class DiscreteLaplace(AdditiveNoise):
    """P(j) proportional to exp(-|j| / scale): two-sided geometric noise.

    With q = exp(-1/scale), P(j) = (1-q)/(1+q) q^|j|. Loss of a shift s: |s|/scale, reached at
    every j <= 0 (s > 0). A statistic that neighbours change by at most K, with scale K/epsilon,
    is epsilon-DP (theory 3.12).

    Parameters
    ----------
    scale
        Positive int, float or Fraction; a float stands for the exact binary fraction it is.

    Raises
    ------
    InputError
        scale not a finite number above 0.
    """

    scale: Fraction

    name: ClassVar[str] = "discrete Laplace"

    def __init__(self, scale: int | float | Fraction) -> None:
        object.__setattr__(self, "scale", exact_positive("scale", scale))

    def log_pmf(self, values: ArrayLike) -> FloatArray:
        return np.asarray(self._log_peak - np.abs(values) / float(self.scale))

    def log_pmf_ball(self, value: int) -> arb:
        # (1-q)/(1+q) = tanh(1/(2 scale)).
        peak = (1 / (2 * exact_ball(self.scale))).tanh().log()
        return peak - exact_ball(abs(value) / self.scale)

    def loss(self, shift: ArrayLike) -> FloatArray:
        return np.asarray(np.abs(shift) / float(self.scale))

    def hockey_stick(self, shift: ArrayLike, epsilon: float) -> FloatArray:
        """The divergence of ``hockey_stick_at``, in floats."""
        size, scale = np.abs(np.asarray(shift, dtype=np.float64)), float(self.scale)
        gap = np.minimum(epsilon - size / scale, 0.0)
        turn = np.floor(-gap * scale / 2)
        middle = np.minimum(gap + (turn + 1) / scale, 0.0)
        q = math.exp(-1 / scale)
        return np.asarray(
            (q * np.expm1(-turn / scale) * np.expm1(middle) - np.expm1(gap)) / (1 + q)
        )

    def loss_ball(self, shift: int) -> arb:
        return exact_ball(abs(shift) / self.scale)

    def hockey_stick_at(self, size: int, epsilon: Fraction) -> arb:
        """Closed form, written so that nothing cancels.

        For s > 0 the term P(j) - e^epsilon P(j-s) is positive iff (s-2j)/scale > epsilon, that is
        up to J = floor((s - epsilon scale)/2) (at equality it is 0). With g = epsilon - s/scale
        <= 0, adding both geometric series up to J gives
        ``[-expm1(g) + q expm1(-J/scale) expm1(g + (J+1)/scale)] / (1+q)``,
        and 0 when g >= 0.
        """
        gap = epsilon - size / self.scale
        if gap >= 0:
            return arb(0)
        turn = math.floor(-gap * self.scale / 2)
        q = exact_ball(-1 / self.scale).exp()
        middle = exact_ball(gap + (turn + 1) / self.scale).expm1()
        rest = q * exact_ball(-turn / self.scale).expm1() * middle
        return (rest - exact_ball(gap).expm1()) / (1 + q)

    def distinguishing_value(self, shift: int, epsilon: float) -> int:
        return 0

    def tail(self, window: int) -> Fraction:
        # Pr[|j| > w] = 2 q^(w+1) / (1+q).
        q = (-1 / exact_ball(self.scale)).exp()
        return probability_bound(2 * (-exact_ball((window + 1) / self.scale)).exp() / (1 + q))

    def draw(self, randbelow: RandBelow) -> int:
        return two_sided_geometric(self.scale, randbelow)


@dataclass(frozen=True, repr=False)
class DiscreteGaussian(AdditiveNoise):
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

    def log_pmf(self, values: ArrayLike) -> FloatArray:
        scaled = np.asarray(values, dtype=np.float64) / float(self.sigma)
        return np.asarray(self._log_peak - scaled * scaled / 2)

    def log_pmf_ball(self, value: int) -> arb:
        return -exact_ball(value**2 / self._double) - self._total().log()

    def loss(self, shift: ArrayLike) -> FloatArray:
        return np.where(np.asarray(shift) == 0, 0.0, np.inf)

    def hockey_stick(self, shift: ArrayLike, epsilon: float) -> FloatArray:
        """As ``hockey_stick_at``, in floats, each different shift summed once."""
        sizes, where = np.unique(np.abs(np.asarray(shift)), return_inverse=True)
        sums = np.array([self._hockey_stick(int(size), epsilon) for size in sizes])
        return np.asarray(sums[where].reshape(np.shape(shift)))

    def loss_ball(self, shift: int) -> arb:
        return arb("+inf") if shift else arb(0)

    def hockey_stick_at(self, size: int, epsilon: Fraction) -> arb:
        """Sum of positive terms and a bound on the rest.

        For s > 0, P(j) - e^epsilon P(j-s) = P(j) (1 - exp(epsilon + (2js - s^2)/(2 sigma^2))) is
        positive iff j < s/2 - epsilon sigma^2/s, so the sum runs down from the floor J of that
        (at equality the term is 0). Below m < 0 the terms are less than P(j), whose ratios fall, so
        they add up to at most P(m) / (1 - exp((2m-1)/(2 sigma^2))).
        """
        turn = self._turn(size, epsilon)
        last = self._last(turn, ctx.prec + _SPARE_BITS)
        unit, offset = 1 / exact_ball(self._double), exact_ball(epsilon)
        total = arb(0)
        for j in range(last, turn + 1):
            gap = offset + (2 * j * size - size**2) * unit
            total -= (-(j**2) * unit).exp() * gap.expm1()
        rest = (-(last**2) * unit).exp() / (1 - ((2 * last - 1) * unit).exp())
        return (total + arb(0).union(rest.upper())) / self._total()

    def distinguishing_value(self, shift: int, epsilon: float) -> int:
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

    def _hockey_stick(self, size: int, epsilon: float) -> float:
        if size == 0:
            return 0.0
        turn = self._turn(size, Fraction(epsilon))
        j = np.arange(self._last(turn, 64), turn + 1, dtype=np.float64)
        gap = np.minimum(epsilon + (2 * j * size - size**2) / float(self._double), 0.0)
        return float(-np.sum(np.exp(self.log_pmf(j)) * np.expm1(gap)))


_LEAST_STEP = Fraction(1, 1 << 100)


def exact_positive(name: str, value: int | float | Fraction) -> Fraction:
    """The exact value of a number above 0, or InputError."""
    number = check_positive(name, cast(float, value))
    return Fraction(value) if isinstance(value, Rational) else Fraction(number)


def check_step(grid_step: Any) -> Fraction:
    """The step of a grid, exactly; InputError for what is none."""
    step = exact_positive("grid_step", grid_step)
    if not _LEAST_STEP <= step <= 1 / _LEAST_STEP:
        raise InputError(
            f"grid_step={quote(grid_step)} lies outside of {float(_LEAST_STEP):.3g} to "
            f"{float(1 / _LEAST_STEP):.3g}",
            name="grid_step",
            value=grid_step,
        )
    return step


def _show(value: Any) -> str:
    # A short decimal when it is exact, else p/q.
    exact = isinstance(value, Fraction) and Fraction(float(value)) != value
    return str(value) if exact else repr(float(value) if isinstance(value, Fraction) else value)


def probability_bound(ball: arb) -> Fraction:
    """The upper end of a ball that holds a probability, at least 2**-256 and at most 1."""
    # A tail may be as small as exp(-10**9): as a fraction that would fill the memory.
    return as_fraction(ball.upper().max(_TINY).min(arb(1)))


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
