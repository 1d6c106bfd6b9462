"""A law of real numbers as a law of cells of a grid, to be shown."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from liptest.errors import SymbolicError
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction
from liptest.whitebox.noise.outputs import replaced_by
from liptest.whitebox.real_outputs.densities import ContinuousLaw, Leaf

# A cell is about a quarter of the scale of the noise; what lies outside all cells weighs less.
_CELLS_A_SCALE = 4


_OUTSIDE = 1e-6


_MOST_CELLS = 512


def cells_of(law: ContinuousLaw, source: str) -> OutputLaw:
    """Cells where an output has one number, else the description of the output alone.

    The mass outside all cells, and of cells too light for a number, is ``unexplored``.
    """
    masses: dict[Output, arb] = {}
    for skeleton, leaves in law.leaves.items():
        count = len(leaves[0].leaf.forms)
        if count != 1:
            ends = ((None, None),) * count
            masses[replaced_by(skeleton, ends)] = law.mass(skeleton)
            continue
        for low, high in _grid(law, skeleton, leaves):
            try:
                mass = law.probability(skeleton, ((low, high),))
            except SymbolicError:  # far out in a tail that falls doubly exponentially
                continue
            if not mass.is_zero():
                masses[replaced_by(skeleton, ((low, high),))] = mass
    rest = (1 - sum(masses.values(), arb(0))).upper()
    unexplored = Fraction(0) if rest <= 0 else min(as_fraction(rest), Fraction(1))
    logs = [mass.log() for mass in masses.values()]
    return OutputLaw(
        tuple(masses),
        np.array([float(ball.mid()) for ball in logs]),
        np.array([math.nextafter(float(ball.rad()) + 1e-15, math.inf) for ball in logs]),
        unexplored=unexplored,
        source=source,
    )


def _grid(
    law: ContinuousLaw, skeleton: Output, leaves: list[Leaf]
) -> list[tuple[Fraction, Fraction]]:
    """Cells between multiples of a power of 2, as many as hold almost all of the mass."""
    numbers = [leaf.numbers[0] for leaf in leaves]
    scale = min(abs(number.scale) for number in numbers)
    exponent = math.floor(math.log2(scale)) - _CELLS_A_SCALE.bit_length() + 1
    step = Fraction(2) ** exponent
    low = math.floor(min(number.constant for number in numbers) / step)
    high = math.ceil(max(number.constant for number in numbers) / step)
    reach = 1
    while reach < _MOST_CELLS:
        ends = ((low - reach) * step, (high + reach) * step)
        outside = law.mass(skeleton) - law.probability(skeleton, (ends,))
        if outside < _OUTSIDE:
            break
        reach *= 2
    return [(k * step, (k + 1) * step) for k in range(low - reach, high + reach)]
