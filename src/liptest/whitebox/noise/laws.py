"""Sums of probabilities that are balls, and the law that they make."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import cast

import numpy as np
from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.errors import LawError
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction, exact_ball

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
            known = self._masses.get(output)
            self._masses[output] = mass if known is None else known + mass

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


def law_of(
    probabilities: dict[Output, Fraction] | dict[Output, arb], unexplored: Fraction
) -> OutputLaw:
    """The law with probabilities that are all fractions or all balls."""
    if all(isinstance(mass, Fraction) for mass in probabilities.values()):
        exact = cast(dict[Output, Fraction], probabilities)
        return OutputLaw.from_fractions(exact, unexplored=unexplored, source="enumerated")
    return _integrated(cast(dict[Output, arb], probabilities), unexplored)


def _integrated(probabilities: Mapping[Output, arb], unexplored: Fraction) -> OutputLaw:
    """Logs with certified errors."""
    logs, errors = np.empty(len(probabilities)), np.empty(len(probabilities))
    with precision(CERTIFIED_BITS):
        for place, mass in enumerate(probabilities.values()):
            logs[place], errors[place] = _log(mass)
    return OutputLaw(tuple(probabilities), logs, errors, unexplored=unexplored, source="integrated")


def _log(mass: arb) -> tuple[float, float]:
    if not mass > 0:
        raise LawError(f"a probability is {mass}: it is not known to be above 0")
    ball = mass.log()
    middle = float(ball.mid())
    error = math.nextafter(float((ball - arb(middle)).abs_upper()), math.inf)
    return middle, error
