"""Which functions of one uniform number are exponential or Laplace noise (docs/theory/floats.md).

log(w) of a uniform w on (0, 1) is minus an exponential number. So is log(1 - 2 |u|) of a u
that is uniform between -1/2 and 1/2; and as |u| says nothing of the sign of u, their product with
sign(u) is Laplace noise. Here u is taken as the real number that it stands for.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.errors import SymbolicError
from liptest.symbolic.noise import Noise
from liptest.values.draws.grid import GRID
from liptest.values.draws.images import Image, Quantiles, Step
from liptest.values.draws.transforms import MATH, UNARY
from liptest.values.rounding import is_exact_factor

EXPONENTIAL = "exponential"
ABSOLUTES = ("abs", "absolute", "fabs")
# Steps that add nothing.
_MULTIPLES = frozenset(
    {"mul", "multiply", "truediv", "divide", "negation", "negative", "+", "positive"}
    | {"float", "numpy.float64"}
)
Line = tuple[Fraction, Fraction]
# Kept: while a program is analysed the names stand for something else. What is added before the
# logarithm is taken.
_LOGS: dict[Step, int] = {
    **{UNARY[np.log]: 0, MATH[math.log]: 0, UNARY[np.log1p]: 1, MATH[math.log1p]: 1}
}
_ONE, _ZERO = Fraction(1), Fraction(0)
# Up to noise so rare, neighbouring grid points differ by 2**-33 scales at most.
_COARSE = 2.0**-20
_EXP, _EXPM1, _ERFC = math.exp, math.expm1, math.erfc


def _laplace_cdf(x: float) -> float:
    return _EXP(x) / 2 if x < 0 else 1 - _EXP(-x) / 2


def _logistic_cdf(x: float) -> float:
    return _EXP(x) / (1 + _EXP(x)) if x < 0 else 1 / (1 + _EXP(-x))


_CDFS: dict[str, Callable[[float], float]] = {
    "laplace": _laplace_cdf,
    "logistic": _logistic_cdf,
    "gumbel": lambda x: _EXP(-_EXP(min(-x, 700.0))),
    "normal": lambda x: _ERFC(-x * 0.5**0.5) / 2,
}


@lru_cache(maxsize=4096)
def linear_in_base(line: Any) -> Line | None:
    """(slope, shift) of the values in the grid point over GRID, without the rounding of floats."""
    if not isinstance(line, Image):
        return None if line.discrete else (Fraction(line.width), Fraction(line.low))
    inner, step = linear_in_base(line.inner), line.step.linear
    if line.step.name in ABSOLUTES:  # on one side of 0
        step = Fraction(1 if line.rising == line.inner.rising else -1), Fraction(0)
    if inner is None or step is None:
        return None
    return _after(step, inner)


def roundings_from_grid(line: Any) -> int:
    """How many operations lead from the grid to a line that floats may have rounded."""
    if not isinstance(line, Image):
        return 0
    if line.step.joins is not None:
        return sum(roundings_from_grid(join) for join in line.step.joins[1:]) + 1
    slope, shift = line.step.linear or (_ZERO, _ZERO)
    is_exact = line.step.name in ABSOLUTES or (not shift and is_exact_factor(slope))
    return roundings_from_grid(line.inner) + (not is_exact)


def _after(step: Line, inner: Line) -> Line:
    return inner[0] * step[0], inner[1] * step[0] + step[1]


class TooCoarse(SymbolicError):
    """Noise is so rare that floats of the grid are not near enough to it."""


@dataclass(frozen=True)
class Inverted:
    """How a grid point follows from noise: t is ``start`` + ``width`` * tau, in parts of the grid.

    Exponential noise is -ln tau where it is ``rising``, else -ln(1 - tau); noise of another
    ``family`` is its inverse cdf at tau or at 1 - tau. Where it is ``folded`` tau is the distance
    of t from ``start``, over the size of ``width``, and the noise has the sign of
    (t - ``start``) * ``width``.
    """

    rising: bool
    folded: bool
    start: Fraction
    width: Fraction
    family: str = EXPONENTIAL

    def point(self, noise: float) -> int:
        """The grid point of a value of the noise; TooCoarse where it is too far out."""
        if self.family == EXPONENTIAL:
            left = _EXP(-abs(noise))
            tau = left if self.rising else -_EXPM1(-abs(noise))
        else:
            tau = _CDFS[self.family](noise)
            left = min(tau, 1 - tau)
            tau = tau if self.rising else 1 - tau
        if left < _COARSE:
            raise TooCoarse("noise where the grid of floats is too coarse to repeat it")
        side = math.copysign(1.0, noise) if self.folded else 1.0
        point = math.floor((self.start + self.width * Fraction(side * tau)) * GRID)
        return min(max(point, 0), GRID - 1)


@dataclass(frozen=True)
class Quantile:
    """factor * Q(slope * t + shift) + constant of a uniform t on the grid over GRID.

    Q is the inverse cdf of the ``family``; the logarithm, which is minus it, where that is
    "exponential".
    """

    factor: Fraction
    constant: Fraction
    slope: Fraction
    shift: Fraction
    family: str = EXPONENTIAL

    @property
    def per_noise(self) -> Fraction:
        """By what it is the noise multiplied, with which it rises or falls."""
        return -self.factor if self.family == EXPONENTIAL else self.factor

    def after(self, step: Line) -> Quantile:
        """With a linear step after it."""
        factor, constant = _after(step, (self.factor, self.constant))
        return replace(self, factor=factor, constant=constant)

    def over(self, start: Fraction, stop: Fraction) -> Quantile | None:
        """The same of tau in (0, 1), where t is between both; None where w is not all of (0, 1)."""
        slope = self.slope * (stop - start)
        shift = self.slope * start + self.shift
        if sorted((shift, slope + shift)) != [0, 1]:
            return None
        return replace(self, slope=slope, shift=shift)

    def ends_on_grid(self, low: int, high: int) -> Line | None:
        """Between which t all of (0, 1) is taken by w; None where that is not low .. high - 1.

        Where the grid was cut, the point beside the cut may count on either side: what is above c
        begins at c, and the first point alone, of which a logarithm is infinite, is left out.
        """
        if not self.slope:
            return None
        start, stop = sorted(((w - self.shift) / self.slope) for w in (_ZERO, _ONE))
        first, last = low - start * GRID, high - stop * GRID
        is_near = first in (0, min(low, 1)) and last in (0, int(high < GRID))
        return (start, stop) if is_near else None

    @property
    def is_rising(self) -> bool:
        """Whether w rises with tau."""
        return self.slope > 0


@lru_cache(maxsize=4096)
def quantile_in_base(line: Any) -> Quantile | None:
    """What a line is as an inverse cdf; None for all others."""
    if not isinstance(line, Image):
        return None
    step = line.step
    if step.linear is not None:
        inner = quantile_in_base(line.inner)
        return None if inner is None else inner.after(step.linear)
    if step.quantile is not None:
        linear = linear_in_base(line.inner)
        return None if linear is None else _of_library(step.quantile, *linear)
    if step.joins is not None:
        return _of_two_logs(*step.joins)
    return None if step not in _LOGS else _log_of_ratio(line) or _log_of_log(line)


def _of_library(known: Quantiles, slope: Fraction, shift: Fraction) -> Quantile:
    if known.turned:
        slope, shift = -slope, 1 - shift
    return _turn(Fraction(known.factor), slope, shift, known.family)


def _turn(factor: Fraction, slope: Fraction, shift: Fraction, family: str) -> Quantile:
    """With a w that rises, for families of which minus the noise has the same law."""
    if slope < 0 and Noise(family, _ONE).is_symmetric:
        factor, slope, shift = -factor, -slope, 1 - shift
    return Quantile(factor, _ZERO, slope, shift, family)


def _log_of_ratio(line: Image) -> Quantile | None:
    """ln(a / b) of two lines: of exponential noise where one is constant, or of logistic noise."""
    ratio = ratio_in_base(line.inner)
    if ratio is None:
        return None
    above, below = ratio
    added = _LOGS[line.step]
    above = above[0] + added * below[0], above[1] + added * below[1]
    if below[0] == 0 and below[1]:
        return Quantile(_ONE, _ZERO, above[0] / below[1], above[1] / below[1])
    if above[0] == 0 and above[1]:
        return Quantile(-_ONE, _ZERO, below[0] / above[1], below[1] / above[1])
    return _logistic(_ONE, _ZERO, above, below)


def _logistic(factor: Fraction, constant: Fraction, above: Line, below: Line) -> Quantile | None:
    """factor * ln(a / b) + constant, where a + b is one number for all t."""
    whole = above[1] + below[1]
    if above[0] + below[0] or whole <= 0:
        return None
    found = _turn(factor, above[0] / whole, above[1] / whole, "logistic")
    return replace(found, constant=constant)


def _log_of_log(line: Image) -> Quantile | None:
    """ln(-ln w), which is minus Gumbel noise: what is added or multiplied there is no number."""
    inner = quantile_in_base(line.inner)
    if inner is None or inner.family != EXPONENTIAL or inner.factor != -1:
        return None
    if inner.constant + _LOGS[line.step]:
        return None
    return replace(inner, constant=_ZERO, family="gumbel")


def _of_two_logs(operation: str, first: Any, second: Any) -> Quantile | None:
    """c ln a - c ln b of two lines."""
    one, other = quantile_in_base(first), quantile_in_base(second)
    if one is None or other is None or (one.family, other.family) != (EXPONENTIAL,) * 2:
        return None
    if operation == "sub":
        other = other.after((-_ONE, _ZERO))
    if operation == "truediv" or one.factor != -other.factor:
        return None
    above, below = (one.slope, one.shift), (other.slope, other.shift)
    return _logistic(one.factor, one.constant + other.constant, above, below)


@lru_cache(maxsize=4096)
def ratio_in_base(line: Any) -> tuple[Line, Line] | None:
    """Two lines in the grid point over GRID of which it is the quotient."""
    linear = linear_in_base(line)
    if linear is not None:
        return linear, (_ZERO, _ONE)
    if not isinstance(line, Image):
        return None
    step = line.step
    if step.joins is not None:
        operation, *two = step.joins
        above, below = (linear_in_base(one) for one in two)
        known = operation == "truediv" and above is not None and below is not None
        return (above, below) if known and above and below else None
    inner = ratio_in_base(line.inner)
    if inner is None or (step.linear is None and not step.over):
        return None
    above, below = inner
    if step.over:
        return (below[0] * step.over, below[1] * step.over), above
    assert step.linear is not None
    slope, shift = step.linear
    return (slope * above[0] + shift * below[0], slope * above[1] + shift * below[1]), below


def join_lines(operation: str, first: Any, second: Any) -> Step | None:
    """What makes a number of one of the grid and one of its monotone functions, and another.

    Only where it is monotone in floats, too: one line rises, the other falls, and of a quotient
    neither is below 0.
    """
    if first.rising == second.rising and operation != "add":
        return None
    return _join(operation, first, second)


@lru_cache(maxsize=1024)
def _join(operation: str, first: Any, second: Any) -> Step | None:
    if operation == "truediv":
        lines = linear_in_base(first), linear_in_base(second)
        if any(line is None or min(line[1], line[0] + line[1]) < 0 for line in lines):
            return None
    elif _of_two_logs(operation, first, second) is None:
        return None
    calculate = getattr(operator, operation)

    def apply(x: Any) -> Any:
        return calculate(_along(first, x), _along(second, x))

    direction = 1 if first.rising else -1
    return Step(operation, apply, lambda x: direction, joins=(operation, first, second))


def _along(line: Any, x: Any) -> Any:
    """The value of a line, where x is that of the line of which it is an image."""
    return line.step.apply(_along(line.inner, x)) if isinstance(line, Image) else x


def log_of_steps(steps: Iterable[Step], size: Fraction) -> Quantile | None:
    """What steps make of size * tau; None where it is not a logarithm of all of (0, 1)."""
    line: Line = size, _ZERO
    logarithm: Quantile | None = None
    for step in steps:
        if step in _LOGS and logarithm is None:
            logarithm = Quantile(_ONE, _ZERO, line[0], line[1] + _LOGS[step])
        elif step.linear is None:
            return None
        elif logarithm is None:
            line = _after(step.linear, line)
        else:
            logarithm = logarithm.after(step.linear)
    return None if logarithm is None else logarithm.over(_ZERO, _ONE)


def is_logarithm(step: Step) -> bool:
    """Whether it is the logarithm to the base e."""
    return step in _LOGS


def is_bare_logarithm(line: Any) -> bool:
    """Whether it is a multiple of a logarithm, nothing added: compared, it is a coin."""
    while isinstance(line, Image) and line.step.linear is not None and line.step.name in _MULTIPLES:
        line = line.inner
    return isinstance(line, Image) and is_logarithm(line.step)


def half_width(line: Any, low: int, high: int) -> Fraction | None:
    """How far a number reaches that is uniform around 0; None where it is not such a number."""
    linear = linear_in_base(line)
    if linear is None or not linear[0]:
        return None
    slope, shift = linear
    ends = slope * Fraction(low, GRID) + shift, slope * Fraction(high, GRID) + shift
    return abs(ends[0]) if ends[0] == -ends[1] else None
