"""Sums of many integer fractions, reduced only at the end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import fmpq

from liptest.enumerate.noise_outputs import BallSum, density_leaf
from liptest.mechanisms.laws import Output
from liptest.values.noise_run import NoiseRun

# Denominators met before the numerators are brought to a common one.
_DENOMINATORS = 64
# Binary digits from which on flint divides out what is common.
_LONG = 4096


class LawSum:
    """Sum of integer fractions by output, with few common denominators at a time."""

    __slots__ = ("_parts", "balls")

    def __init__(self) -> None:
        self._parts: dict[int, dict[Output, int]] = {}
        #: Of the runs with symbolic noise, once there is one.
        self.balls: BallSum | None = None

    def add(self, output: Output, numerator: int, denominator: int) -> None:
        """Add numerator / denominator to the probability of an output."""
        part = self._parts.get(denominator)
        if part is None:
            if len(self._parts) >= _DENOMINATORS:
                self._merge()
            part = self._parts.setdefault(denominator, {})
        part[output] = part.get(output, 0) + numerator

    def add_leaf(
        self, run: NoiseRun | None, output: Output, numerator: int, denominator: int
    ) -> None:
        """Count the end of a run, which may have drawn symbolic noise."""
        if run is None or not (run.symbolic or run.constraints):
            self.add(output, numerator, denominator)
            return
        if run.symbolic:
            output = density_leaf(run.tree, output, run.noises, run.constraints)
        weight = Fraction(numerator, denominator)
        self.with_balls().add(output, weight, run.probability())

    def leave_out_noisy(self, run: NoiseRun, numerator: int, denominator: int) -> None:
        """Count a run that was cut off; what has no constraints is found as what is missing."""
        if run.constraints:
            self.with_balls().leave_out(Fraction(numerator, denominator), run.probability())

    def with_balls(self) -> BallSum:
        """The sum of what is not an integer fraction."""
        if self.balls is None:
            self.balls = BallSum()
        return self.balls

    def fractions(self) -> tuple[dict[Output, Fraction], Fraction]:
        """The sums by output, and what is missing to 1; equal sums are one object."""
        self._merge()
        ((common, part),) = self._parts.items()
        rest = reduced(common - sum(part.values()), common)
        known = {numerator: reduced(numerator, common) for numerator in set(part.values())}
        return {output: known[numerator] for output, numerator in part.items()}, rest

    def _merge(self) -> None:
        # Ascending: on one path each denominator divides the next, so the common one stays small.
        common, merged = 1, dict[Output, int]()
        for denominator, part in sorted(self._parts.items(), key=lambda item: item[0]):
            joint = denominator if denominator % common == 0 else math.lcm(common, denominator)
            factor, own = joint // common, joint // denominator
            if factor != 1:
                merged = {output: value * factor for output, value in merged.items()}
            for output, value in part.items():
                merged[output] = merged.get(output, 0) + value * own
            common = joint
        self._parts = {common: merged}


def reduced(numerator: int, denominator: int) -> Fraction:
    """A fraction in lowest terms; long ones by flint, as Python takes quadratic time."""
    if denominator.bit_length() < _LONG:
        return Fraction(numerator, denominator)
    lowest = fmpq(numerator, denominator)
    found: Any = object.__new__(Fraction)
    found._numerator, found._denominator = int(lowest.p), int(lowest.q)
    return found  # type: ignore[no-any-return]


def multiply_all(factors: list[int]) -> int:
    """Product by halves: factors of equal length multiply fast."""
    while len(factors) > 1:
        pairs = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + factors[len(pairs) * 2 :]
    return factors[0]
