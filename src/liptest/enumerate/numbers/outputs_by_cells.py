"""Outputs that are real numbers, told by cells of a grid: where laws are known in part only.

To tell only the cell of an output is a function of it, so a loss of cells is a loss of the
mechanism. Let what was left out of a law weigh u at most. A cell that has the probability p in what
was followed has between p - u and p there, and the rest of its mass, if any, is unexplored
(docs/theory, N10).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import IntArray
from liptest.enumerate.numbers.densities import ContinuousLaw
from liptest.enumerate.numbers.real_outputs import output_cells
from liptest.mechanisms.base import MechanismWrapper
from liptest.mechanisms.laws import OutputLaw

# Cells for which what was left out is more than this share of their mass are left out, too.
_LIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class ByCells(MechanismWrapper):
    """A Python function whose laws are by cells; ``inner`` gives laws with density leaves."""

    inner: Any
    outputs: None = field(default=None, init=False)

    has_trace = False

    def law(self, dataset: IntArray) -> OutputLaw:
        """The law by cells; what was not walked, and light cells, are ``unexplored``."""
        return self._by_cells(self.inner.law(dataset))

    def fresh_law(self, dataset: IntArray) -> OutputLaw:
        """The law, enumerated anew."""
        return self._by_cells(self.inner.fresh_law(dataset))

    def _by_cells(self, law: OutputLaw) -> OutputLaw:
        with precision(CERTIFIED_BITS):
            every = output_cells(ContinuousLaw(law), self.law_source, tells_first=True)
        masses = np.exp(every.log_probabilities)
        left_out = float(law.unexplored) * (1 + _LIGHT)
        is_kept = left_out < masses * _LIGHT
        places = np.flatnonzero(is_kept)
        # log(p / (p - u)) <= 2 u / p.
        errors = every.errors[places] + 2 * left_out / masses[places]
        dropped = Fraction(float(masses[~is_kept].sum() * (1 + _LIGHT)))
        return OutputLaw(
            tuple(every.outputs[place] for place in places),
            every.log_probabilities[places],
            np.nextafter(errors, np.inf),
            unexplored=min(Fraction(1), every.unexplored + law.unexplored + dropped),
            source=every.source,
        )
