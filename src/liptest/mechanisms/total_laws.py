"""The law of a count to which independent records add, and of outputs that it decides."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, arb_poly

from liptest.balls import precision
from liptest.errors import UnsupportedForm
from liptest.mechanisms.laws import Output, OutputLaw, exact_ball

_BITS = 256
# A float log is rounded by no more.
_ROUNDING = 2.0**-48

#: What one record adds, with probabilities, and how many records do so.
Part = tuple[list[tuple[int, Fraction]], int]


def law_of_count(parts: list[Part], outcomes: list[Output]) -> OutputLaw:
    """The law of ``outcomes[k]`` for the count k, in certified logs."""
    with precision(_BITS):
        total = arb_poly([1])
        for steps, count in parts:
            own = [Fraction(0)] * (1 + max(step for step, _ in steps))
            for step, share in steps:
                own[step] += share
            total = total * arb_poly([exact_ball(share) for share in own]) ** count
        masses: dict[Output, arb] = {}
        for place, mass in enumerate(total.coeffs()):
            if mass.is_zero():
                continue
            output = outcomes[place]
            masses[output] = masses[output] + mass if output in masses else mass
        logs, errors = [], []
        for ball in masses.values():
            log = ball.log()
            middle = float(log.mid())
            logs.append(middle)
            errors.append(float(log.rad().upper()) + _ROUNDING * max(1.0, abs(middle)))
    if not all(map(math.isfinite, (*logs, *errors))):
        raise UnsupportedForm("probabilities too small to be told from 0")
    return OutputLaw(tuple(masses), np.array(logs), np.array(errors), source="enumerated")
