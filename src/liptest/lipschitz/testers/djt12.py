"""Algorithm 3 of the paper: edges of the cube for every product law, after a diameter stage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import Hypercube
from liptest.data.edges import edge_distribution
from liptest.errors import InputError
from liptest.lipschitz.testers.base import DiameterTester, admissible_step, no_product
from liptest.runs.driver import QueryBatch

# Below this share of proximity the difference e' is rounding noise.
_NOISE = 1e-12


@dataclass(frozen=True)
class DJT12(DiameterTester):
    """The paper's tester, as printed: points, their diameter, edges of D_E.

    Everywhere d counts only the coordinates that are not constant under D. The printed proof of
    the bound behind the number of edges has a gap, its statement holds (theory 2): the number
    is more than enough, by the factor r / range_step.

    Parameters
    ----------
    range_step
        e' = proximity - d^2 * range_step must be above 0; ``best_step`` gives the step of
        fewest queries, near proximity / (2 d^2).
    """

    range_step: float = 0.001

    name: ClassVar[str] = "DJT12"
    source: ClassVar[str] = "paper, Algorithm 3"

    @staticmethod
    def best_step(distribution: Distribution, proximity: float) -> float:
        """The largest admissible step up to proximity / (2 d^2)."""
        return admissible_step(proximity / max(1, 2 * _free(distribution) ** 2))

    def not_applicable(self, distribution: Distribution) -> str:
        return no_product(distribution, Hypercube)

    def largest_diameter(self, distribution: Distribution) -> int:
        return _free(distribution)

    def diameter_points(self, distribution: Distribution, proximity: float, failure: float) -> int:
        rest = self._rest(_free(distribution), proximity)
        return math.ceil(2.0 / rest * math.log(2.0 / failure))

    def pairs_needed(
        self, distribution: Distribution, diameter: Fraction, proximity: float, failure: float
    ) -> int:
        d, rounded = _free(distribution), float(diameter * self.steps_per_unit)
        rest = self._rest(d, proximity)
        return math.ceil(d * rounded / rest * math.log(2.0 / failure))

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        edges = edge_distribution(require_product(distribution, self.name))
        return QueryBatch(edges.draw(rng, count))

    def _rest(self, d: int, proximity: float) -> float:
        rest = proximity - d * d * self.range_step
        if rest > _NOISE * proximity:
            return rest
        steps = math.floor(d * d / proximity) + 1
        while proximity - d * d / steps <= _NOISE * proximity:
            steps += 1
        raise InputError(
            f"tester=DJT12: proximity={proximity:g} - d^2 * range_step = {proximity:g} - {d}^2 * "
            f"{self.range_step:g} = {rest:g} must be above 0; use range_step <= 1/{steps} = "
            f"{1.0 / steps:.6g}",
            name="range_step",
            value=self.range_step,
        )


def _free(distribution: Distribution) -> int:
    p = require_product(distribution, "DJT12").probabilities
    return int(np.count_nonzero((p > 0) & (p < 1)))
