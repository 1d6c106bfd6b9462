"""What is known of real columns beside their ends: factors that keep rows within a norm.

``rows * np.minimum(1, c / norm)`` has no useful ends: each number of a row may be anything, and so
may the factor. But the factor times the norm is at most c. An ``OfNorm`` says such things of a
column, a ``Ball`` of the columns that together make the scaled rows (docs/theory/tables.md, B7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.values.reals.recipes import Recipe, root_by_power

#: Of what floats calculate, relatively: more than one rounding each.
SLACK = Fraction(1, 1 << 50)
# Where the norm is smaller nothing is said: squares may vanish.
_TINY = Fraction(1, 1 << 500)
# What a quotient that vanishes may add, times the largest norm of floats; by number of a row.
_VANISHED = Fraction(1, 10**15)
# Constants that no product takes out of the range of floats.
_LEAST, _MOST = 1e-100, 1e100
_SQUARE = 2
_LARGEST = (np.maximum, np.fmax)
_SMALLEST = (np.minimum, np.fmin)


@dataclass(frozen=True)
class Norm:
    """A norm of the numbers of a record: of which numbers, and its exponent (1, 2, inf)."""

    exponent: float
    columns: tuple[Recipe, ...]


@dataclass(frozen=True)
class OfNorm:
    """Of a number v >= 0 of each record (never -0.0), where its norm N is at least 2^-500.

    ``least``: v >= least N^power. ``most``: v N <= most.
    """

    norm: Norm
    power: int = 1
    least: Fraction | None = None
    most: Fraction | None = None


@dataclass(frozen=True)
class Ball:
    """A coordinate of a vector of each record whose norm is at most ``radius``.

    Coordinates with the same ``key``, at different places, are of the same vector.
    """

    key: Recipe
    place: Recipe
    exponent: float
    radius: Fraction


@dataclass(frozen=True)
class Operand:
    """Of an operation: its recipe, its ends over all records, and what is known of it."""

    recipe: Recipe
    low: float
    high: float
    norm: OfNorm | None = None
    ball: Ball | None = None

    @property
    def constant(self) -> float | None:
        """The number that it is."""
        return float(self.recipe[2]) if self.recipe[0] == "number" else None


def norm_of_rows(exponent: float, columns: tuple[Recipe, ...], *, power: int = 1) -> OfNorm:
    """Of the norm of rows, or its square, as floats calculate it in any order."""
    least = Fraction(1) if exponent == math.inf else 1 - (len(columns) + 4) * SLACK
    return OfNorm(Norm(exponent, columns), power, least)


def is_above_zero(ufunc: Any, operands: list[Operand]) -> bool:
    """Whether it is a positive constant by what is never below 0, which is infinite at 0."""
    if ufunc is not np.divide or operands[1].norm is None:
        return False
    constant = operands[0].constant
    return constant is not None and 0 < constant < math.inf


def find_factor(ufunc: Any, operands: list[Operand]) -> OfNorm | None:
    """What is known of the result of a function with one norm in it."""
    if len(operands) == 1:
        if ufunc is np.square:
            return norm_of_rows(2, (operands[0].recipe,), power=2)
        return _of_root(operands[0].norm) if ufunc in (np.sqrt, root_by_power) else None
    first, second = operands
    if ufunc is np.power and second.constant == _SQUARE:
        return norm_of_rows(2, (first.recipe,), power=2)
    if ufunc is np.add and first.norm is not None and second.norm is not None:
        return _add_squares(first.norm, second.norm)
    if ufunc is np.divide and second.norm is not None:
        return _inverse(first.constant, second.norm)
    if first.norm is None and ufunc is not np.divide:
        first, second = second, first
    of_norm, constant = first.norm, second.constant
    if of_norm is None or constant is None or not math.isfinite(constant):
        return None
    if ufunc in _LARGEST:
        return replace(of_norm, most=None) if constant else None
    if ufunc in _SMALLEST:
        return replace(of_norm, least=None) if constant > 0 else None
    if ufunc is np.add:
        return replace(of_norm, most=None) if constant >= 0 else None
    if ufunc in (np.multiply, np.divide) and _LEAST <= constant <= _MOST:
        by = Fraction(constant)
        by = by if ufunc is np.multiply else 1 / by
        return _multiply(of_norm, by)
    return None


def _add_squares(first: OfNorm, second: OfNorm) -> OfNorm | None:
    """Of two sums of squares. What vanishes of each is at most 2^-1075, far below 2^-1000."""
    columns = first.norm.columns + second.norm.columns
    are_squares = first.power == second.power == _SQUARE and first.least and second.least
    if not are_squares or len(set(columns)) < len(columns):
        return None
    least = min(first.least or 0, second.least or 0) * (1 - 2 * SLACK)
    return OfNorm(Norm(2, columns), 2, least)


def _multiply(known: OfNorm, by: Fraction) -> OfNorm | None:
    """What floats calculate; what may vanish before the norm is as small is left out."""
    least = None if known.least is None else known.least * by * (1 - SLACK)
    if known.power != 1 or (least is not None and not _LEAST <= least <= _MOST):
        return None
    vanished = len(known.norm.columns) * _VANISHED
    most = None if known.most is None else known.most * by * (1 + SLACK) + vanished
    return replace(known, least=least, most=most)


def _of_root(known: OfNorm | None) -> OfNorm | None:
    if known is None or known.power != 2 or known.least is None:
        return None
    return replace(known, power=1, least=Fraction(math.sqrt(known.least)) * (1 - SLACK))


def _inverse(constant: float | None, known: OfNorm) -> OfNorm | None:
    """Of a constant by it. Where the quotient vanishes the norm is large, but it is a float's."""
    if constant is None or not _LEAST <= constant <= _MOST:
        return None
    if known.power != 1 or not known.least:
        return None
    most = Fraction(constant) / known.least * (1 + SLACK) + len(known.norm.columns) * _VANISHED
    return OfNorm(known.norm, most=most)


def find_ball(ufunc: Any, operands: list[Operand]) -> Ball | None:
    """The vector that the result of a function is a coordinate of, if one is known."""
    if len(operands) == 1:
        ball = operands[0].ball
        alike = ufunc in (np.negative, np.absolute, np.fabs, np.positive)
        return replace(ball, key=(ufunc, ball.key)) if ball is not None and alike else None
    first, second = operands
    if ufunc is np.multiply:
        scaled = _scale(first, second) or _scale(second, first)
        return scaled or _times(ufunc, first, second) or _times(ufunc, second, first)
    if ufunc is np.divide:
        return _divide(first, second) or _times(ufunc, first, second)
    if ufunc in (*_LARGEST, *_SMALLEST):
        return _cut(ufunc, first, second) or _cut(ufunc, second, first)
    return None


def _scale(entry: Operand, factor: Operand) -> Ball | None:
    """A number of a row times what is at most ``most`` by the norm of the row."""
    of_norm = factor.norm
    if of_norm is None or of_norm.most is None or entry.recipe not in of_norm.norm.columns:
        return None
    if not 0 <= factor.high <= _MOST:
        return None
    radius = of_norm.most * (1 + SLACK) + _TINY * Fraction(factor.high) * 2
    return Ball((of_norm.norm, factor.recipe), entry.recipe, of_norm.norm.exponent, radius)


def _divide(entry: Operand, divisor: Operand) -> Ball | None:
    """A number of a row, or a multiple of it, by what grows with the norm of the row."""
    of_norm = divisor.norm
    if of_norm is None or of_norm.power != 1 or not of_norm.least or not divisor.low >= _LEAST:
        return None
    place, factor = _take_factor(entry.recipe)
    if place not in of_norm.norm.columns:
        return None
    by, vanished = abs(Fraction(factor)), _TINY / Fraction(divisor.low)
    radius = by * (1 + 2 * SLACK) / of_norm.least + (2 * by + 1) * vanished
    key = of_norm.norm, np.divide, divisor.recipe, factor
    return Ball(key, place, of_norm.norm.exponent, radius)


def _take_factor(recipe: Recipe) -> tuple[Recipe, float]:
    """Of a number of a row times a constant both; else the number and 1."""
    if recipe[0] is np.multiply:
        for number, other in (recipe[1:], recipe[:0:-1]):
            if number[0] == "number" and _LEAST <= abs(number[2]) <= _MOST:
                return other, float(number[2])
    return recipe, 1.0


def _times(ufunc: Any, entry: Operand, factor: Operand) -> Ball | None:
    """A coordinate times a constant, or by one, or times what is bounded."""
    ball, constant = entry.ball, factor.constant
    if constant is None and ufunc is np.multiply and factor.ball is None:
        constant = max(abs(factor.low), abs(factor.high))
    if ball is None or constant is None or not _LEAST <= abs(constant) <= _MOST:
        return None
    by = abs(Fraction(constant))
    by = by if ufunc is np.multiply else 1 / by
    # What vanishes is less than this.
    radius = ball.radius * by * (1 + SLACK) + _TINY
    return replace(ball, key=(ufunc, factor.recipe, ball.key), radius=radius)


def _cut(ufunc: Any, entry: Operand, bound: Operand) -> Ball | None:
    """A coordinate that is moved towards 0, or is left."""
    ball, constant = entry.ball, bound.constant
    if ball is None or constant is None:
        return None
    if constant > 0 if ufunc in _LARGEST else constant < 0:
        return None
    return replace(ball, key=(ufunc, constant, ball.key))
