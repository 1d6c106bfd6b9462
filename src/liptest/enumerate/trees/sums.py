"""Sums of the probabilities of runs, integer fractions or balls, and the laws that they make."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

import numpy as np
from flint import arb, fmpq

from liptest.balls import CERTIFIED_BITS, precision
from liptest.errors import LawError
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction, exact_ball
from liptest.values.draws.noise_run import NoiseRun

# Denominators met before the numerators are brought to a common one.
_DENOMINATORS = 64
# Binary digits from which on flint divides out what is common.
_LONG = 4096
# More than this and the parts cannot be those of a law, whatever was rounded.
_FAR = 1e-9
# What is left out is not known closer than this.
_LEAST_BITS = 4096
_LEAST = arb(2) ** -_LEAST_BITS


class BallSum:
    """Probabilities of outputs of runs with symbolic noise, and of the runs that were cut off."""

    __slots__ = ("_left_out", "_masses", "cuts")

    def __init__(self) -> None:
        self._masses: dict[Output, arb] = {}
        self._left_out = arb(0)
        #: Runs that were noted as cut off.
        self.cuts = 0

    def add(self, output: Output, weight: Fraction, probability: arb) -> None:
        """Add weight * probability to the probability of an output."""
        with precision(CERTIFIED_BITS):
            mass = exact_ball(weight) * probability
            earlier = self._masses.get(output)
            self._masses[output] = mass if earlier is None else earlier + mass

    def leave_out(self, weight: Fraction, probability: arb) -> None:
        """Note a run that was cut off."""
        self.cuts += 1
        with precision(CERTIFIED_BITS):
            self._left_out += exact_ball(weight) * probability

    def joined(
        self, exact: Mapping[Output, Fraction], *, cuts: int | None
    ) -> tuple[dict[Output, arb], Fraction]:
        """The probabilities with others, which are exact, and a bound on what is unexplored.

        ``cuts`` is how many runs were cut off where every other one has ended; else None.
        """
        with precision(CERTIFIED_BITS):
            masses = {output: exact_ball(mass) for output, mass in exact.items()}
            for output, mass in self._masses.items():
                masses[output] = masses.get(output, arb(0)) + mass
            rest = 1 - sum(masses.values(), arb(0))
            if cuts == self.cuts:
                _check_sum(rest - self._left_out)
                rest = self._left_out
            return masses, _above(rest)


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
        """Count the end of a run; where it drew symbolic noise the output is a density leaf."""
        if run is None or not (run.symbolic or run.constraints or run.left_out):
            self.add(output, numerator, denominator)
            return
        weight = Fraction(numerator, denominator)
        mass = run.probability()
        if run.left_out:
            mass = _lowered(mass, run.left_out)
            if not mass > 0:
                return  # it stays unexplored
        self.with_balls().add(output, weight, mass)

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
        rest = reduce_fraction(common - sum(part.values()), common)
        masses = {numerator: reduce_fraction(numerator, common) for numerator in set(part.values())}
        return {output: masses[numerator] for output, numerator in part.items()}, rest

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


def reduce_fraction(numerator: int, denominator: int) -> Fraction:
    """A fraction in lowest terms; long ones by flint, as Python takes quadratic time."""
    if denominator.bit_length() < _LONG:
        return Fraction(numerator, denominator)
    lowest = fmpq(numerator, denominator)
    fraction: Any = object.__new__(Fraction)
    fraction._numerator, fraction._denominator = int(lowest.p), int(lowest.q)
    return fraction  # type: ignore[no-any-return]


def multiply_all(factors: list[int]) -> int:
    """Product by halves: factors of equal length multiply fast."""
    while len(factors) > 1:
        pairs = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + factors[len(pairs) * 2 :]
    return factors[0]


def _check_sum(rest: arb) -> None:
    if not rest.contains(0) or float(rest.rad()) > _FAR:
        raise LawError(
            f"the probabilities of the ways that noise can fall out add up to 1 - {rest}: this is "
            f"a fault of liptest, please report it"
        )


def _above(rest: arb) -> Fraction:
    if rest == 0 or rest <= 0:
        return Fraction(0)
    if rest < _LEAST:
        return Fraction(1, 1 << _LEAST_BITS)  # a fraction of its own would not fit into memory
    return min(max(as_fraction(rest.upper()), Fraction(0)), Fraction(1))


def make_law(
    probabilities: dict[Output, Fraction] | dict[Output, arb], unexplored: Fraction
) -> OutputLaw:
    """The law with probabilities that are all fractions or all balls."""
    if all(isinstance(mass, Fraction) for mass in probabilities.values()):
        exact = cast(dict[Output, Fraction], probabilities)
        return OutputLaw.from_fractions(exact, unexplored=unexplored, source="enumerated")
    return _integrate(cast(dict[Output, arb], probabilities), unexplored)


def _integrate(probabilities: Mapping[Output, arb], unexplored: Fraction) -> OutputLaw:
    """Logs with certified errors."""
    logs, errors = np.empty(len(probabilities)), np.empty(len(probabilities))
    with precision(CERTIFIED_BITS):
        for place, mass in enumerate(probabilities.values()):
            logs[place], errors[place] = _log(mass)
    return OutputLaw(tuple(probabilities), logs, errors, unexplored=unexplored, source="integrated")


def _lowered(mass: arb, by: Fraction) -> arb:
    """A ball of all that is as large, or smaller by no more than that."""
    with precision(CERTIFIED_BITS):
        return mass - arb(0).union(exact_ball(by))


def _log(mass: arb) -> tuple[float, float]:
    if not mass > 0:
        raise LawError(f"a probability is {mass}: it is not known to be above 0")
    ball = mass.log()
    middle = float(ball.mid())
    error = math.nextafter(float((ball - arb(middle)).abs_upper()), math.inf)
    return middle, error
