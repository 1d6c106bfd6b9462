"""The plain loop: the largest loss over all neighbouring pairs, from exact laws alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import liptest.enumerate.numbers.whole_numbers as base
from liptest.data.domains import Domain
from liptest.mechanisms.laws import OutputLaw


def pair_loss(left: OutputLaw, right: OutputLaw) -> tuple[float, float]:
    """Lower and upper end of max over outputs of |ln p - ln q|; inf for a one-sided zero."""
    low = high = 0.0
    for output in {*left, *right}:
        p, q = left.exact(output), right.exact(output)
        zeros = [law.is_zero(output) for law in (left, right)]
        if all(zeros):
            continue
        if any(zeros):
            return math.inf, math.inf
        if isinstance(p, Fraction) and isinstance(q, Fraction):
            ball = arb(max(p, q).numerator * min(p, q).denominator)
            ball = abs((ball / (max(p, q).denominator * min(p, q).numerator)).log())
        else:
            ball = abs((p / q).log())
        low, high = max(low, float(ball.lower())), max(high, float(ball.upper()))
    return low, high


def largest_loss(
    mechanism: Any, domain: Domain, neighbours: Callable[[Any], Any] | None = None
) -> float:
    """The exact epsilon, enclosed to 1e-12 or better."""
    laws: dict[bytes, OutputLaw] = {}

    def law(point: Any) -> OutputLaw:
        key = point.tobytes()
        if key not in laws:
            laws[key] = base.output_law(mechanism, point)
        return laws[key]

    low = high = 0.0
    for point in domain.points(np.arange(domain.size)):
        for other in (neighbours or domain.neighbours)(point):
            if point.tobytes() < other.tobytes():
                ends = pair_loss(law(point), law(other))
                low, high = max(low, ends[0]), max(high, ends[1])
    assert low == high or high - low < 1e-11 * max(1.0, high)
    return (low + high) / 2


@pytest.fixture(name="largest_loss")
def _largest_loss() -> Callable[..., float]:
    return largest_loss
