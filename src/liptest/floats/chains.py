"""What code does with one draw, step by step in floats: run forwards exactly, bounded backwards.

A ``FloatChain`` is a draw and operations with constants, in the order in which the code does them.
Each step is monotone, and rounds once, so the numbers before it that lead to an output lie in an
interval of rationals (docs/theory/floats.md, I2).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.balls import ball, float_above, precision
from liptest.floats.samplers import ERROR, Draw, find_middle, is_far, window

Interval = tuple[Fraction, Fraction]
#: A Python int where code has a whole number, else a float.
Number = int | float
_HALF = Fraction(1, 2)
# No noise is larger, in scales; whole numbers below are floats exactly.
_MOST_SCALES, _WHOLES = 1000.0, 2.0**52
_NEAR = 8
_BITS = 160


@dataclass(frozen=True)
class FloatStep:
    """One operation with a constant, or a rounding.

    ``name`` is "add", "subtract", "multiply", "divide", "from" (the constant minus the number), or
    "rint", "floor", "ceil", "trunc", or a logarithm such as "math.log", with constant 0, or
    "places", rounding to so many decimals as Python does. ``of_whole`` and ``to_whole`` say which
    numbers are Python's ints.
    """

    name: str
    constant: Number = 0
    of_whole: bool = False
    to_whole: bool = False

    def run(self, number: Number) -> Number:
        """What Python gives."""
        if self.name in ROUNDINGS:
            rounded = ROUNDINGS[self.name](number)
            return rounded if self.to_whole else float(rounded)
        if self.name in LOGARITHMS:
            with np.errstate(all="ignore"):
                return float(LOGARITHMS[self.name](number))
        return _RUN[self.name](number, self.constant)

    @property
    def is_rounding(self) -> bool:
        """Whether it is not a step of arithmetic."""
        return self.name in ROUNDINGS or self.name == "places"

    @property
    def is_rising(self) -> bool:
        """Whether it does not decrease; else it does not increase."""
        if self.name in ("multiply", "divide"):
            return self.constant > 0
        return self.name != "from"

    def numbers_before(self, low: Number, high: Number) -> tuple[Number, Number] | None:
        """All numbers that it takes to those from low to high lie in it; None: there are none."""
        reals = (Fraction(low), Fraction(high)) if self.to_whole else find_rounded_to(low, high)
        if self.is_rounding:
            before = _unround(self, low, high)
        elif self.name in LOGARITHMS:
            before = _exponentials(reals, is_log1p=self.name.endswith("1p"))
        else:
            ends = [_BACK[self.name](end, Fraction(self.constant)) for end in reals]
            before = min(ends), max(ends)
        if self.of_whole:
            first, last = math.ceil(before[0]), math.floor(before[1])
            return (first, last) if first <= last else None
        least, most = float_above(before[0]), -float_above(-before[1])
        return (least, most) if least <= most else None

    def largest(self, size: float) -> float:
        """A bound of what it makes of numbers up to a size."""
        constant = abs(self.constant)
        if self.name in LOGARITHMS:
            return 800.0  # of the least float
        if self.is_rounding:
            return size + 1
        if self.name in ("multiply", "divide"):
            return size * constant if self.name == "multiply" else size / constant
        return size + constant

    @property
    def is_plain(self) -> bool:
        """Whether it is one of these, with a constant at which nothing under- or overflows."""
        if self.is_rounding:
            return self.name in ROUNDINGS or 0 <= self.constant <= 15
        if self.name in LOGARITHMS:
            return not self.of_whole
        if self.name not in _RUN or is_far(self.constant):
            return False
        return self.name in ("add", "subtract", "from") or abs(self.constant) > 2.0**-900


def _unround(step: FloatStep, low: Number, high: Number) -> Interval:
    """All reals that are rounded to numbers from low to high."""
    first, last = Fraction(low), Fraction(high)
    if step.name == "places":
        unit = Fraction(1, 10 ** int(step.constant))
        return first - unit, last + unit
    if step.name == "rint":
        return first - _HALF, last + _HALF
    down = step.name == "floor" or (step.name == "trunc" and last >= 0)
    up = step.name == "ceil" or (step.name == "trunc" and first <= 0)
    return (first - 1 if up else first), (last + 1 if down else last)


def _exponentials(reals: Interval, *, is_log1p: bool) -> Interval:
    """Numbers whose logarithm, with the error that is assumed of it, lies between two."""
    slack = 2 * ERROR * max(map(abs, reals)) + Fraction(1, 1 << 1100)
    ends = [max(min(end, Fraction(1000)), Fraction(-1000)) for end in reals]
    with precision(_BITS):
        low, high = ball(ends[0] - slack), ball(ends[1] + slack)
        balls = (low.expm1(), high.expm1()) if is_log1p else (low.exp(), high.exp())
        return find_middle(balls[0].lower()), find_middle(balls[1].upper())


#: Monotone functions of libraries, which round as they do: they are run, and undone in balls.
LOGARITHMS: dict[str, Callable[[Any], Any]] = {
    "math.log": math.log,
    "math.log1p": math.log1p,
    "numpy.log": np.log,
    "numpy.log1p": np.log1p,
}
ROUNDINGS: dict[str, Callable[[Any], int]] = {
    "rint": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
}
_RUN: dict[str, Callable[[Any, Any], Number]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "from": lambda number, constant: constant - number,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "places": round,
}
_BACK: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda end, constant: end - constant,
    "subtract": lambda end, constant: end + constant,
    "from": lambda end, constant: constant - end,
    "multiply": lambda end, constant: end / constant,
    "divide": lambda end, constant: end * constant,
}


@dataclass(frozen=True)
class FloatChain:
    """A draw and the steps after it."""

    draw: Draw
    steps: tuple[FloatStep, ...] = ()

    def after(self, step: FloatStep) -> FloatChain:
        """With one more step."""
        return FloatChain(self.draw, (*self.steps, step))

    @property
    def has_logarithms(self) -> bool:
        """Whether a library rounds a step."""
        return any(step.name in LOGARITHMS for step in self.steps)

    @property
    def is_whole(self) -> bool:
        """Whether it is a Python int."""
        return bool(self.steps) and self.steps[-1].to_whole

    def run(self, generator: Any) -> Number:
        """The number that the installed NumPy and Python give."""
        return self.finished(self.draw.run(generator))

    def finished(self, drawn: Number) -> Number:
        """What the steps make of the number drawn."""
        for step in self.steps:
            drawn = step.run(drawn)
        return drawn

    @property
    def is_plain(self) -> bool:
        """Whether no step overflows, and all whole numbers on the way are floats exactly."""
        if not self.draw.is_plain:
            return False
        size = abs(self.draw.loc) + _MOST_SCALES * self.draw.scale
        for step in self.steps:
            if not step.is_plain:
                return False
            size = step.largest(size)
            if is_far(size) or (step.to_whole and size >= _WHOLES):
                return False
        return True

    @property
    def is_rising(self) -> bool:
        """Whether it does not decrease in the number drawn; else it does not increase."""
        return sum(not step.is_rising for step in self.steps) % 2 == 0

    def find_drawn_between(self, output: Number) -> Interval | None:
        """Real numbers of which one is rounded to the number drawn, where the output is this.

        None: no number leads to it.
        """
        kind = int if self.is_whole else float
        if kind(output) != output:
            return None
        ends: tuple[Number, Number] | None = (kind(output), kind(output))
        for step in reversed(self.steps):
            assert ends is not None
            ends = step.numbers_before(*ends)
            if ends is None:
                return None
        assert ends is not None
        return find_rounded_to(*ends)

    def points_near(self, output: float) -> range:
        """Grid points that could lead to the output, or nearly so, whatever rounds a little more.

        The window of ``window`` is wider than a few units in the last place, in which the steps of
        the code and these could differ, had it been misread.
        """
        nearby = [output + step * math.ulp(output) for step in range(-_NEAR, _NEAR + 1)]
        intervals = [
            reals for near in nearby if (reals := self.find_drawn_between(near)) is not None
        ]
        if not intervals:
            return range(0)
        return window(
            self.draw, min(low for low, _ in intervals), max(high for _, high in intervals)
        )

    def candidates(self, output: Number) -> range:
        """Grid points outside of which the output is another one; of samplers that are inverted."""
        reals = self.find_drawn_between(output)
        return range(0) if reals is None else window(self.draw, *reals)

    def __str__(self) -> str:
        steps = ", ".join(
            step.name if step.name in ROUNDINGS else f"{step.name} {step.constant!r}"
            for step in self.steps
        )
        return f"{self.draw}{f', then {steps}' if steps else ''}"


def find_rounded_to(low: Number, high: Number) -> Interval:
    """A closed interval that holds all real numbers that are rounded to floats from low to high."""
    below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return (Fraction(below) + Fraction(low)) / 2, (Fraction(high) + Fraction(above)) / 2
