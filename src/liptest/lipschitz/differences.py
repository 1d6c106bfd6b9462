"""Judges of function values: do two values differ by more than a Lipschitz function's may?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liptest.domains import IntArray
from liptest.driver import Finding, Judgement, QueryBatch
from liptest.errors import FunctionError
from liptest.oracles import FunctionOracle
from liptest.points import from_array

# Float differences and products are off by at most a few units in the last place.
_SCREEN = 1.0 - 2.0**-50
# The same function may round otherwise on an array of another length (matrix products do).
_SAME_VALUE = 1e-9


def is_violated(left: float, right: float, distance: int, limit: float) -> bool:
    """|left - right| > limit * distance, decided exactly."""
    gap = abs(Fraction(float(left)) - Fraction(float(right)))
    return gap > Fraction(limit) * distance


def ask_again(
    oracle: FunctionOracle, points: IntArray, known: list[float], limit: float
) -> list[float]:
    """Values of (n, d) points that are known already; FunctionError where one has changed."""
    again = [float(value) for value in oracle.values(from_array(points))]
    for point, before, value in zip(points, known, again, strict=True):
        if not math.isclose(before, value, rel_tol=_SAME_VALUE, abs_tol=_SAME_VALUE * limit):
            raise FunctionError(
                f"{oracle.name}: value={before!r}, then {value!r} at the same point; a "
                f"function under test must not depend on state, time or chance, nor (beyond the "
                f"rounding of 64-bit floats) on the points asked with it",
                point=point,
            )
    return again


@dataclass(frozen=True, eq=False)
class DifferenceJudge:
    """A pair at distance k is violated when |f(x) - f(y)| > limit * k, decided exactly."""

    oracle: FunctionOracle
    limit: float

    def judge(self, batch: QueryBatch) -> Judgement:
        values = self.oracle.values(batch.points)
        ask_again(self.oracle, batch.points.centres[:1], [float(values[0])], self.limit)
        left, right = batch.pair_positions()
        distances = batch.pair_distances()
        with np.errstate(over="ignore"):  # an infinite gap is violated, and decided exactly
            gaps = np.abs(values[left] - values[right])
        for pair in np.flatnonzero(gaps > self.limit * distances * _SCREEN):
            i, j, distance = int(left[pair]), int(right[pair]), int(distances[pair])
            if is_violated(values[i], values[j], distance, self.limit):
                draw = max(batch.draw_of(i), batch.draw_of(j))
                finding = Finding(
                    batch.points.point(i),
                    batch.points.point(j),
                    distance,
                    (float(values[i]), float(values[j])),
                )
                ratio = float(gaps[pair]) / distance
                return Judgement(draw + 1, len(values), int(pair) + 1, 1, ratio, True, finding)
        ratio = float(np.max(gaps / distances, initial=0.0))
        return Judgement(len(batch.points.centres), len(values), len(gaps), 1, ratio, True)


@dataclass(frozen=True, eq=False)
class Extremes:
    """The first smallest and the first largest of a sequence of values, and where they are."""

    low: float
    high: float
    low_point: IntArray
    high_point: IntArray

    def __add__(self, later: Extremes) -> Extremes:
        first_low = self.low <= later.low
        first_high = self.high >= later.high
        return Extremes(
            self.low if first_low else later.low,
            self.high if first_high else later.high,
            self.low_point if first_low else later.low_point,
            self.high_point if first_high else later.high_point,
        )

    def diameter(self, limit: float, steps: int) -> Fraction | float:
        """Largest minus smallest value of f / limit, rounded to multiples of 1/steps.

        Logarithms of probabilities may be -inf (theory 1.4): all of them give 0, some of them
        inf.
        """
        if self.low == -math.inf:
            return Fraction(0) if self.high == -math.inf else math.inf
        high, low = (rounded_steps(value, limit, steps) for value in (self.high, self.low))
        return Fraction(high - low, steps)


def rounded_steps(value: float, limit: float, steps: int) -> int:
    """The multiple of 1/steps nearest to value / limit, ties upwards, exactly (theory 1.3)."""
    return math.floor(Fraction(value) * steps / Fraction(limit) + Fraction(1, 2))


@dataclass(frozen=True, eq=False)
class ExtremesJudge:
    """Finds the smallest and the largest value; rejects nothing."""

    oracle: FunctionOracle
    limit: float

    def judge(self, batch: QueryBatch) -> Judgement:
        values = self.oracle.values(batch.points)
        ask_again(self.oracle, batch.points.centres[:1], [float(values[0])], self.limit)
        low, high = int(np.argmin(values)), int(np.argmax(values))
        found = Extremes(
            float(values[low]),
            float(values[high]),
            batch.points.point(low),
            batch.points.point(high),
        )
        draws = len(batch.points.centres)
        return Judgement(draws, len(values), 0, 1, 0.0, True, evidence=found)
