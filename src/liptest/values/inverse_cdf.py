"""Which functions of one uniform number are exponential or Laplace noise (docs/theory/floats.md).

log(w) of a uniform w on (0, 1) is minus an exponential number. So is log(1 - 2 |u|) of a u
that is uniform between -1/2 and 1/2; and as |u| says nothing of the sign of u, their product with
sign(u) is Laplace noise. Here u is taken as the real number that it stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.values.grid import GRID
from liptest.values.images import Image, Step
from liptest.values.rounding import is_exact_factor
from liptest.values.transforms import MATH, UNARY

ABSOLUTES = ("abs", "absolute", "fabs")
Line = tuple[Fraction, Fraction]
# Kept: while a program is analysed the names stand for something else. What is added before the
# logarithm is taken.
_LOGS: dict[Step, int] = {
    **{UNARY[np.log]: 0, MATH[math.log]: 0, UNARY[np.log1p]: 1, MATH[math.log1p]: 1}
}
_ONE, _ZERO = Fraction(1), Fraction(0)
_LOG, _EXP, _EXPM1 = math.log, math.exp, math.expm1


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
    slope, shift = line.step.linear or (_ZERO, _ZERO)
    is_exact = line.step.name in ABSOLUTES or (not shift and is_exact_factor(slope))
    return roundings_from_grid(line.inner) + (not is_exact)


def _after(step: Line, inner: Line) -> Line:
    return inner[0] * step[0], inner[1] * step[0] + step[1]


@dataclass(frozen=True)
class Inverted:
    """How a grid point follows from noise: t is ``start`` + ``width`` * tau, in parts of the grid.

    The noise is -ln tau where it is ``rising``, else -ln(1 - tau). Where it is ``folded`` tau is
    the distance of t from ``start``, over the size of ``width``, and the noise has the sign of
    (t - ``start``) * ``width``.
    """

    rising: bool
    folded: bool
    start: Fraction
    width: Fraction

    def point(self, noise: float) -> int:
        """The grid point of a value of the noise."""
        tau = _EXP(-abs(noise)) if self.rising else -_EXPM1(-abs(noise))
        side = math.copysign(1.0, noise) if self.folded else 1.0
        point = math.floor((self.start + self.width * Fraction(side * tau)) * GRID)
        return min(max(point, 0), GRID - 1)


@dataclass(frozen=True)
class Logarithm:
    """factor * log(slope * t + shift) + constant of a uniform t on the grid over GRID."""

    factor: Fraction
    constant: Fraction
    slope: Fraction
    shift: Fraction

    def after(self, step: Line) -> Logarithm:
        """With a linear step after it."""
        factor, constant = _after(step, (self.factor, self.constant))
        return replace(self, factor=factor, constant=constant)

    def over(self, start: Fraction, stop: Fraction) -> Logarithm | None:
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
def log_in_base(line: Any) -> Logarithm | None:
    """What a line is as a logarithm; None for all others."""
    if not isinstance(line, Image):
        return None
    if line.step in _LOGS:
        inner = linear_in_base(line.inner)
        return None if inner is None else _logarithm(line.step, inner)
    logarithm = log_in_base(line.inner) if line.step.linear is not None else None
    return (
        None if logarithm is None or line.step.linear is None else logarithm.after(line.step.linear)
    )


def _logarithm(step: Step, inner: Line) -> Logarithm:
    return Logarithm(_ONE, _ZERO, inner[0], inner[1] + _LOGS[step])


def log_of_steps(steps: Iterable[Step], size: Fraction) -> Logarithm | None:
    """What steps make of size * tau; None where it is not a logarithm of all of (0, 1)."""
    line: Line = size, _ZERO
    logarithm: Logarithm | None = None
    for step in steps:
        if step in _LOGS and logarithm is None:
            logarithm = _logarithm(step, line)
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


def half_width(line: Any, low: int, high: int) -> Fraction | None:
    """How far a number reaches that is uniform around 0; None where it is not such a number."""
    linear = linear_in_base(line)
    if linear is None or not linear[0]:
        return None
    slope, shift = linear
    ends = slope * Fraction(low, GRID) + shift, slope * Fraction(high, GRID) + shift
    return abs(ends[0]) if ends[0] == -ends[1] else None
