"""Probabilities of a witness as text that anybody can check: fractions, else certified intervals.

An interval end is a decimal number, rounded outwards, so that a reader with rational arithmetic
alone can decide with it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction, exact_ball

#: (lower, upper) of the probability on the dataset, then of that on the neighbour.
Bounds = tuple[str, str, str, str]

_DIGITS = 50
# Longer fractions are written as intervals: Python reads no more than 4300 digits at once.
_LONGEST = 4000
# What is smaller is written as the interval from 0 to this.
_SMALLEST = -100_000
_LOG_10 = 10


def event_bounds(
    left: OutputLaw, right: OutputLaw, event: tuple[Output, ...]
) -> tuple[Bounds, ...]:
    """Bounds of what both laws give to each output of an event, unexplored mass apart."""
    with precision(CERTIFIED_BITS):
        return tuple(
            (*bounds_of(left.exact(output)), *bounds_of(right.exact(output))) for output in event
        )


def ball_bounds(balls: list[tuple[arb, arb]]) -> tuple[Bounds, ...]:
    """Bounds of probabilities that are balls already, one pair for each output."""
    with precision(CERTIFIED_BITS):
        return tuple((*bounds_of(left), *bounds_of(right)) for left, right in balls)


def bounds_of(value: Fraction | arb) -> tuple[str, str]:
    """Lower and upper bound of a probability as text; equal for a fraction."""
    if isinstance(value, Fraction):
        text = fraction_text(value)
        if text:
            return text, text
        value = exact_ball(value)
    return _below(value.lower()), _above(value.upper())


def fraction_text(value: Fraction) -> str:
    """ "p/q", or "" for a fraction of too many digits."""
    longest = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if longest < _LONGEST * math.log2(_LOG_10) else ""


def _below(value: arb) -> str:
    if not value > 0 or (digits := _scaled(value)) is None:
        return "0"
    scaled, exponent = digits
    return _decimal(math.floor(as_fraction(scaled.lower())), exponent)


def _above(value: arb) -> str:
    if value >= 1:
        return "1"
    if not value > 0:
        return "0"
    if (digits := _scaled(value)) is None:
        return f"1e{_SMALLEST}"
    scaled, exponent = digits
    return _decimal(math.ceil(as_fraction(scaled.upper())), exponent)


def _scaled(value: arb) -> tuple[arb, int] | None:
    """The number times the power of ten that leaves ``_DIGITS`` digits before the point."""
    places = (value.log() / arb(_LOG_10).log()).mid().floor()
    if places < _SMALLEST:
        return None
    exponent = int(as_fraction(places)) - _DIGITS + 1
    return value * arb(_LOG_10) ** (-exponent), exponent


def _decimal(digits: int, exponent: int) -> str:
    text = str(digits)
    places = exponent + len(text) - 1
    return f"{text[0]}.{text[1:]}e{places}"
