"""Whole-number noise with its loss in closed form, certified, and an exact sampler.

Noise of law P, added to a whole number, is compared with itself shifted by s: the loss is
``max_j |ln P(j) - ln P(j - s)|``, the hockey-stick divergence ``sum_j max(0, P(j) - e^epsilon
P(j - s))``. Both are symmetric in s when P is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from liptest.errors import check_positive
from liptest.mechanisms.exact_bits import RandBelow, two_sided_geometric
from liptest.mechanisms.laws import FloatArray, as_fraction, exact_ball

_TINY = arb(2) ** -256


@runtime_checkable
class Noise(Protocol):
    """Whole-number noise, symmetric about 0 and falling away from it.

    Floats lie within 4 ulp of max(1, |value|) of the truth; balls contain it, whatever the
    precision. An infinite loss is ``inf``.
    """

    @property
    def name(self) -> str:
        """Printed in verdicts."""
        ...

    def log_pmf(self, values: ArrayLike) -> FloatArray:
        """Natural log of the probability of each whole number."""
        ...

    def log_pmf_ball(self, value: int) -> arb:
        """A ball that contains the natural log of the probability of one whole number."""
        ...

    def loss(self, shift: ArrayLike) -> FloatArray:
        """Loss of each shift."""
        ...

    def hockey_stick(self, shift: ArrayLike, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each shift at ``epsilon`` >= 0."""
        ...

    def loss_ball(self, shift: int) -> arb:
        """A ball that contains the loss of one shift."""
        ...

    def hockey_stick_ball(self, shift: int, epsilon: arb) -> arb:
        """A ball that contains the hockey-stick divergences for all epsilon of a ball."""
        ...

    def telling_value(self, shift: int, epsilon: float) -> int:
        """A j with ln P(j) - ln P(j - shift) > epsilon, or, if there is none, at its largest."""
        ...

    def tail(self, window: int) -> Fraction:
        """An upper bound of Pr[|noise| > window]."""
        ...

    def draw(self, randbelow: RandBelow) -> int:
        """One exact draw; ``randbelow(n)`` is uniform on 0 .. n-1."""
        ...


@dataclass(frozen=True)
class DiscreteLaplace:
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

    def __repr__(self) -> str:
        return f"DiscreteLaplace(scale={shown_fraction(self.scale)})"

    def log_pmf(self, values: ArrayLike) -> FloatArray:
        return np.asarray(self._log_peak - np.abs(values) / float(self.scale))

    def log_pmf_ball(self, value: int) -> arb:
        peak = (1 / (2 * exact_ball(self.scale))).tanh().log()
        return peak - exact_ball(abs(value) / self.scale)

    def loss(self, shift: ArrayLike) -> FloatArray:
        return np.asarray(np.abs(shift) / float(self.scale))

    def hockey_stick(self, shift: ArrayLike, epsilon: float) -> FloatArray:
        """As ``hockey_stick_ball``, in floats."""
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

    def hockey_stick_ball(self, shift: int, epsilon: arb) -> arb:
        """Closed form, written so that nothing cancels.

        For s > 0 the term P(j) - e^epsilon P(j-s) is positive iff (s-2j)/scale > epsilon, that is
        up to J = floor((s - epsilon scale)/2) (at equality it is 0). With g = epsilon - s/scale
        <= 0, adding both geometric series up to J gives
        ``[-expm1(g) + q expm1(-J/scale) expm1(g + (J+1)/scale)] / (1+q)``,
        and 0 when g >= 0. It falls in epsilon, so the two ends of a ball enclose it.
        """
        ends = as_fraction(epsilon.lower()), as_fraction(epsilon.upper())
        high, low = (self._hockey_stick(abs(shift), max(end, Fraction(0))) for end in ends)
        return high.union(low)

    def telling_value(self, shift: int, epsilon: float) -> int:
        return 0

    def tail(self, window: int) -> Fraction:
        # Pr[|j| > w] = 2 q^(w+1) / (1+q).
        q = (-1 / exact_ball(self.scale)).exp()
        return probability_bound(2 * (-exact_ball((window + 1) / self.scale)).exp() / (1 + q))

    def draw(self, randbelow: RandBelow) -> int:
        return two_sided_geometric(self.scale, randbelow)

    @cached_property
    def _log_peak(self) -> float:
        # ln((1-q)/(1+q)) = ln tanh(1/(2 scale)).
        return float(self.log_pmf_ball(0).mid())

    def _hockey_stick(self, size: int, epsilon: Fraction) -> arb:
        gap = epsilon - size / self.scale
        if gap >= 0:
            return arb(0)
        turn = math.floor(-gap * self.scale / 2)
        q = exact_ball(-1 / self.scale).exp()
        middle = exact_ball(gap + (turn + 1) / self.scale).expm1()
        rest = q * exact_ball(-turn / self.scale).expm1() * middle
        return (rest - exact_ball(gap).expm1()) / (1 + q)

    def __getstate__(self) -> dict[str, Any]:
        return {"scale": self.scale}


def exact_positive(name: str, value: int | float | Fraction) -> Fraction:
    """The exact value of a number above 0, or InputError."""
    number = check_positive(name, cast(float, value))
    return Fraction(value) if isinstance(value, Rational) else Fraction(number)


def shown_fraction(value: Fraction) -> str:
    """A short decimal when it is exact, else p/q."""
    return repr(float(value)) if Fraction(float(value)) == value else str(value)


def probability_bound(ball: arb) -> Fraction:
    """The upper end of a ball that holds a probability, at least 2**-256 and at most 1."""
    # A tail may be as small as exp(-10**9): as a fraction that would fill the memory.
    return as_fraction(ball.upper().max(_TINY).min(arb(1)))
