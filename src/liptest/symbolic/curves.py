"""Functions of sums of the data in balls: their values, slopes, and what floats make of them.

A ``Curve`` is an expression of answers (``symbolic.answers``), such as ``1 / (1 + exp(-mean))``. On
a box of answers it has an ``Enclosure``: a ball that holds all its values, balls that hold all its
one-sided slopes, and a bound of how far floats are from it. Only continuous functions are curves,
so the mean value theorem holds with these slopes (docs/theory/tables.md, B17). What is not known is
a ball that is not finite, and stays one whatever is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from liptest.balls import ball
from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Rational

# One float operation, and a function such as exp of a math library, are off by less, relatively.
_ROUNDED, _LIBRARY = Fraction(1, 1 << 52), Fraction(1, 1 << 49)
# Sums that the program was handed, such as means: a few operations.
_HANDED = Fraction(1, 1 << 50)


class Curve:
    """An expression; equal ones are equal."""

    __slots__ = ()


@dataclass(frozen=True)
class PlainNumber(Curve):
    """A number."""

    value: Fraction


@dataclass(frozen=True)
class DataSum(Curve):
    """A constant plus factors times answers."""

    terms: tuple[tuple[Answer, Rational], ...]
    constant: Rational = 0


@dataclass(frozen=True)
class Applied(Curve):
    """What ``MAKERS`` has under this name, of other curves."""

    name: str
    parts: tuple[Curve, ...]


@dataclass(frozen=True)
class Enclosure:
    """All values of a number on a box, all its slopes by coordinate, and how far floats are off."""

    value: arb
    slopes: Mapping[int, arb] = field(default_factory=dict)
    off: arb = field(default_factory=lambda: arb(0))

    @property
    def is_finite(self) -> bool:
        """Whether it says anything; slopes may still not be known."""
        return bool(self.value.is_finite() and self.off.is_finite())

    def slope(self, coordinate: int) -> arb:
        """0 along all that it does not depend on."""
        return self.slopes.get(coordinate, _ZERO)


_ZERO = arb(0)
NOWHERE = Enclosure(arb("nan"), {}, arb("nan"))


def answers_in(curve: Curve) -> dict[int, Answer]:
    """The answers that it is made of, by their numbers."""
    if isinstance(curve, DataSum):
        return {answer.number: answer for answer, _ in curve.terms}
    found: dict[int, Answer] = {}
    for part in curve.parts if isinstance(curve, Applied) else ():
        found |= answers_in(part)
    return found


def enclose(
    curve: Curve, at: Mapping[int, Enclosure], known: dict[Curve, Enclosure] | None = None
) -> Enclosure:
    """A curve where each answer, by its number, is enclosed; ``known`` remembers parts."""
    known = {} if known is None else known
    enclosed = known.get(curve)
    if enclosed is None:
        if isinstance(curve, PlainNumber):
            enclosed = Enclosure(ball(curve.value))
        elif isinstance(curve, DataSum):
            enclosed = _of_sum(curve, at)
        else:
            assert isinstance(curve, Applied)
            parts = [enclose(part, at, known) for part in curve.parts]
            are_known = all(part.is_finite for part in parts)
            enclosed = MAKERS[curve.name](*parts) if are_known else NOWHERE
        known[curve] = enclosed
    return enclosed


def _of_sum(total: DataSum, at: Mapping[int, Enclosure]) -> Enclosure:
    value, size = ball(total.constant), abs(ball(total.constant))
    slopes: dict[int, arb] = {}
    for answer, factor in total.terms:
        own, by = at[answer.number], ball(factor)
        value, size = value + own.value * by, size + abs(own.value * by)
        for coordinate, slope in own.slopes.items():
            slopes[coordinate] = slopes.get(coordinate, _ZERO) + slope * by
    is_as_drawn = len(total.terms) == 1 and not total.constant and total.terms[0][1] == 1
    return Enclosure(value, slopes, _ZERO if is_as_drawn else _off(size * ball(_HANDED)))


def _off(bound: arb) -> arb:
    """A bound as a number: its upper end."""
    return bound.upper()


def _round(value: arb, off: arb, share: Fraction = _ROUNDED) -> arb:
    """How far floats are off, their last rounding included."""
    return _off(off + (abs(value) + off) * ball(share))


def _linear(left: Enclosure, right: Enclosure, sign: int) -> Enclosure:
    value = left.value + right.value * sign
    slopes = {k: left.slope(k) + right.slope(k) * sign for k in {**left.slopes, **right.slopes}}
    return Enclosure(value, slopes, _round(value, left.off + right.off))


def add(left: Enclosure, right: Enclosure) -> Enclosure:
    """A sum."""
    return _linear(left, right, 1)


def subtract(left: Enclosure, right: Enclosure) -> Enclosure:
    """A difference."""
    return _linear(left, right, -1)


def multiply(left: Enclosure, right: Enclosure) -> Enclosure:
    """A product."""
    value = left.value * right.value
    slopes = {
        k: left.slope(k) * right.value + left.value * right.slope(k)
        for k in {**left.slopes, **right.slopes}
    }
    off = abs(left.value) * right.off + abs(right.value) * left.off + left.off * right.off
    return Enclosure(value, slopes, _round(value, off))


def divide(left: Enclosure, right: Enclosure) -> Enclosure:
    """A quotient; of what may be 0, not known."""
    least = abs(right.value).lower() - right.off
    if not least > 0:
        return NOWHERE
    value = left.value / right.value
    slopes = {
        k: (left.slope(k) - value * right.slope(k)) / right.value
        for k in {**left.slopes, **right.slopes}
    }
    return Enclosure(value, slopes, _round(value, (left.off + abs(value) * right.off) / least))


def _change(
    part: Enclosure, value: arb, slope: arb, off: arb, share: Fraction = _LIBRARY
) -> Enclosure:
    slopes = {k: slope * own for k, own in part.slopes.items()}
    return Enclosure(value, slopes, _round(value, off, share))


def exponential(part: Enclosure) -> Enclosure:
    """The power of e."""
    value = part.value.exp()
    return _change(part, value, value, value * part.off.expm1())


def exponential_less_1(part: Enclosure) -> Enclosure:
    """``expm1``."""
    power = part.value.exp()
    return _change(part, part.value.expm1(), power, power * part.off.expm1())


def logarithm(part: Enclosure) -> Enclosure:
    """The natural one; of what may not be above 0, not known."""
    least = part.value.lower() - part.off
    if not least > 0:
        return NOWHERE
    return _change(part, part.value.log(), 1 / part.value, part.off / least)


def logarithm_of_1_more(part: Enclosure) -> Enclosure:
    """``log1p``."""
    least = 1 + part.value.lower() - part.off
    if not least > 0:
        return NOWHERE
    return _change(part, part.value.log1p(), 1 / (1 + part.value), part.off / least)


def square_root(part: Enclosure) -> Enclosure:
    """The root; of what may not be above 0, not known."""
    least = part.value.lower() - part.off
    if not least > 0:
        return NOWHERE
    value = part.value.sqrt()
    return _change(part, value, 1 / (2 * value), part.off / least.sqrt())


def hyperbolic_tangent(part: Enclosure) -> Enclosure:
    """``tanh``, which is monotone, and moves by no more than its argument."""
    ends = part.value.lower().tanh(), part.value.upper().tanh()
    value = ends[0].union(ends[1])
    return _change(part, value, 1 - value * value, part.off)


def square(part: Enclosure) -> Enclosure:
    """The square."""
    value = part.value * part.value
    off = 2 * abs(part.value) * part.off + part.off * part.off
    return _change(part, value, 2 * part.value, off, _ROUNDED)


def largest(left: Enclosure, right: Enclosure) -> Enclosure:
    """The larger of both; the slopes of both where either may be it."""
    return _either(left, right, left.value.max(right.value), left.value - right.value)


def smallest(left: Enclosure, right: Enclosure) -> Enclosure:
    """The smaller of both."""
    return _either(left, right, left.value.min(right.value), right.value - left.value)


def _either(left: Enclosure, right: Enclosure, value: arb, ahead: arb) -> Enclosure:
    off = _off(left.off.max(right.off))
    if ahead.lower() >= 0:
        return Enclosure(left.value, left.slopes, off)
    if ahead.upper() <= 0:
        return Enclosure(right.value, right.slopes, off)
    slopes = {k: left.slope(k).union(right.slope(k)) for k in {**left.slopes, **right.slopes}}
    return Enclosure(value, slopes, off)


def absolute(part: Enclosure) -> Enclosure:
    """The size."""
    negative = Enclosure(-part.value, {k: -own for k, own in part.slopes.items()}, part.off)
    return largest(part, negative)


#: What curves are made by.
MAKERS: Mapping[str, Callable[..., Enclosure]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "exp": exponential,
    "expm1": exponential_less_1,
    "log": logarithm,
    "log1p": logarithm_of_1_more,
    "sqrt": square_root,
    "tanh": hyperbolic_tangent,
    "square": square,
    "maximum": largest,
    "minimum": smallest,
    "absolute": absolute,
}
#: The same of numbers, for one value of each answer.
AT_NUMBERS: Mapping[str, Callable[..., float]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "truediv": lambda left, right: left / right,
    "exp": math.exp,
    "expm1": math.expm1,
    "log": math.log,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "square": lambda part: part * part,
    "maximum": max,
    "minimum": min,
    "absolute": abs,
}


def at_numbers(curve: Curve, values: Callable[[Answer], Fraction]) -> float:
    """A curve where answers have values, in floats."""
    if isinstance(curve, PlainNumber):
        return float(curve.value)
    if isinstance(curve, DataSum):
        terms = (values(answer) * Fraction(factor) for answer, factor in curve.terms)
        return float(sum(terms, Fraction(curve.constant)))
    assert isinstance(curve, Applied)
    return AT_NUMBERS[curve.name](*(at_numbers(part, values) for part in curve.parts))
