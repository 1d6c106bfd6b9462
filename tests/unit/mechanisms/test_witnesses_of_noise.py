"""Every witness of noise refutes: its loss, by plain sums, exceeds the line, for either sign."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.shift import VectorShift
from liptest.statistics.coordinates import Coordinates

NOISES = (
    lt.DiscreteLaplace(Fraction(4, 5)),
    lt.DiscreteLaplace(3),
    lt.DiscreteGaussian(Fraction(3, 2)),
    lt.DiscreteGaussian(20),
)
SHIFTS = [-40, -7, -3, -1, 1, 2, 3, 8, 41]


def log_mass(noise: Any, number: int) -> float:
    """ln of what the law is proportional to, by hand."""
    if isinstance(noise, lt.DiscreteLaplace):
        return -abs(number) / float(noise.scale)
    return -(number**2) / (2 * float(noise.sigma) ** 2)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("line", [0.01, 0.5, 3.0, 25.0])
def test_the_output_of_a_number_exceeds_the_line_if_any_does(noise, shift, line):
    output = noise.distinguishing_value(shift, line)
    assert type(output) is int
    loss = log_mass(noise, output) - log_mass(noise, output - shift)
    if isinstance(noise, lt.DiscreteLaplace):
        assert loss == pytest.approx(abs(shift) / float(noise.scale))
    else:
        assert loss > line
        # None nearer to the middle does: a witness is to be seen.
        near = output + (1 if output < 0 else -1)
        if output:
            assert log_mass(noise, near) - log_mass(noise, near - shift) <= line + 1e-12


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize(
    "ends", [((0, 5), (0, 2)), ((3, 0), (0, 4)), ((1, 1), (6, 0)), ((0, 0), (9, 9))]
)
def test_so_does_that_of_several_numbers(noise, ends):
    mechanism = VectorShift(Coordinates((0, 1), (10, 10)), noise, "numbers")
    left, right = (np.array(end) for end in ends)
    line = 0.9 * min(2.0, float(mechanism.pair_loss(left, right).lower()))
    output, here, there = mechanism.pair_witness(left, right, line)
    losses = [
        log_mass(noise, o - a) - log_mass(noise, o - b)
        for o, a, b in zip(output, *ends, strict=True)
    ]
    assert sum(losses) > line
    assert float((here / there).log()) == pytest.approx(sum(losses), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("turn", [1, -1])
def test_every_no_has_an_output_that_refutes(noise, turn):
    """End to end, with statistics that rise and fall."""
    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    mechanism = lt.ShiftMechanism(
        lt.statistics.WeightedSum([turn * weight for weight in (1, 2, 3, 5)]), noise
    )
    for epsilon in (0.05, 0.3, 1.0):
        for delta in (0.0, 1e-3):
            verdict = lt.check_privacy(mechanism, law, epsilon=epsilon, delta=delta)
            if verdict.decision != "NO":
                continue
            witness = verdict.witness
            assert witness.verify(mechanism)
            values = [
                turn * sum(w * v for w, v in zip((1, 2, 3, 5), side, strict=True))
                for side in (witness.dataset, witness.neighbour)
            ]
            scale = 1 / math.fsum(math.exp(log_mass(noise, k)) for k in range(-2000, 2001))
            p, q = (
                scale * math.fsum(math.exp(log_mass(noise, o - v)) for o in witness.event)
                for v in values
            )
            assert p == pytest.approx(witness.probability, rel=1e-9)
            assert q == pytest.approx(witness.neighbour_probability, rel=1e-9)
            assert max(p, q) > math.exp(epsilon) * min(p, q) + delta
