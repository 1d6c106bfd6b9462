"""Samplers of NumPy that are functions of one grid point: inverted with certified bounds.

The model of a sampler (docs/theory/floats.md, I1): for grid point j it returns ``loc`` plus a
noise n, in one rounding or two, with |n - n*(k)| <= ERROR (|n| + a s) for some real k with
|k - j| <= 1/2, where n* is the real function, s the scale and a is 1 where the last logarithm is
of a number that was rounded, which may be near 1. The formulas are those of NumPy's C code; that
libm keeps to the bound is assumed, and said.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from liptest.balls import ball, precision
from liptest.floats.grid import GENERATOR, GRID, RANDOM_STATE
from liptest.symbolic.noise import CONTINUOUS

#: A uniform number, which is a grid point itself.
UNIFORM = "random"
#: Assumed of libm: relative error of a logarithm times a scale. Measured: 2**-53.
ERROR = Fraction(1, 1 << 45)
#: Scales, places and answers beyond are not analysed: no float under- or overflows.
_FAR = 2.0**900
_BITS = 160


@dataclass(frozen=True)
class GridSampler:
    """A method of a generator: ``grid(n / s)`` is the real k of 2**53 at which noise is n.

    ``grid`` is monotone, and increases where noise ``rises`` with the grid point; ``first`` is the
    least grid point that is not drawn again.
    """

    origin: str
    method: str
    grid: Callable[[arb], arb]
    first: int
    absolute: bool
    has_loc: bool = True
    rises: bool = True


@dataclass(frozen=True)
class Draw:
    """One draw: of which generator, which method, with which parameters, the how-manieth."""

    origin: str
    method: str
    parameters: tuple[float, ...]
    number: int = 0

    @property
    def loc(self) -> float:
        """What is added to the noise."""
        return self.parameters[0] if len(self.parameters) > 1 else 0.0

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return self.parameters[-1] if self.parameters else 1.0

    @property
    def is_plain(self) -> bool:
        """Whether scale and place are of a size at which no float under- or overflows."""
        return 1 / _FAR <= self.scale <= _FAR and abs(self.loc) <= _FAR

    def sampler(self) -> GridSampler | None:
        """How it is inverted; None where that is not built."""
        return SAMPLERS.get((self.origin, self.method)) if self.is_plain else None

    def run(self, generator: Any) -> float:
        """The number that a real generator gives."""
        return float(getattr(generator, self.method)(*self.parameters))

    def __str__(self) -> str:
        return f"{self.origin}.{self.method}({', '.join(map(repr, self.parameters))})"


def is_far(number: float) -> bool:
    """Whether a number is too large to be analysed, or NaN."""
    return not abs(number) <= _FAR


def window(draw: Draw, low: Fraction, high: Fraction) -> range:
    """Grid points outside of which the draw is not a float between two numbers.

    ``low`` and ``high`` bound the real number ``loc + n`` before it is rounded to such a float.
    """
    sampler = draw.sampler()
    assert sampler is not None
    scale = Fraction(draw.scale)
    ends = [end - Fraction(draw.loc) for end in (low, high)]
    size = max(map(abs, ends)) + (scale if sampler.absolute else 0)
    # Twice: the bound is one of the sampler's number, not of the real one.
    slack = 2 * ERROR * size
    with precision(_BITS):
        places = [_ball(sampler, end / scale) for end in (ends[0] - slack, ends[1] + slack)]
        first = min(math.floor(find_middle(place.lower())) for place in places)
        last = max(math.ceil(find_middle(place.upper())) for place in places)
    # The half step of the model, and the rounding above.
    return range(max(sampler.first, first - 1), min(GRID - 1, last + 1) + 1)


def _ball(sampler: GridSampler, ratio: Fraction) -> arb:
    """Grid point of a noise, in units of the scale; beyond +-2000 all are beyond the ends."""
    ratio = min(max(ratio, Fraction(-2000)), Fraction(2000))
    return sampler.grid(ball(ratio))


def find_middle(ball: arb) -> Fraction:
    """The middle of a ball."""
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _random(ratio: arb) -> arb:
    return ratio * GRID


def _laplace(ratio: arb) -> arb:
    # A ball about 0 lies on one side exactly: it is a rational number.
    if ratio <= 0:
        return ratio.exp() * (GRID // 2)
    return GRID - (-ratio).exp() * (GRID // 2)


def _exponential(ratio: arb) -> arb:
    if ratio <= 0:
        return arb(0)
    return -(-ratio).expm1() * GRID


def _gumbel(ratio: arb) -> arb:
    return -(-(-ratio).exp()).expm1() * GRID


def _logistic(ratio: arb) -> arb:
    return GRID / (1 + (-ratio).exp())


#: By generator and method.
SAMPLERS: dict[tuple[str, str], GridSampler] = {
    (one.origin, one.method): one
    for one in (
        *(GridSampler(origin, UNIFORM, _random, 0, False) for origin in (GENERATOR, RANDOM_STATE)),
        *(
            GridSampler(origin, "laplace", _laplace, 1, False)
            for origin in (GENERATOR, RANDOM_STATE)
        ),
        *(
            GridSampler(origin, "logistic", _logistic, 1, True)
            for origin in (GENERATOR, RANDOM_STATE)
        ),
        GridSampler(GENERATOR, "gumbel", _gumbel, 1, True, rises=False),
        GridSampler(RANDOM_STATE, "gumbel", _gumbel, 1, True, rises=False),
        GridSampler(RANDOM_STATE, "exponential", _exponential, 0, False, has_loc=False),
    )
}
#: Methods that draw a float times a scale, plus a place, in some way.
SCALED = frozenset(CONTINUOUS) - {"uniform"}
