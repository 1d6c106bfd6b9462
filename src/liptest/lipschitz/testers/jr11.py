"""Uniform edges of the cube after a diameter stage (Jha and Raskhodnikova 2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import Hypercube
from liptest.data.edges import edge_distribution
from liptest.lipschitz.testers.base import DiameterTester, no_uniform
from liptest.runs.driver import QueryBatch


@dataclass(frozen=True)
class JR11(DiameterTester):
    """Uniform edges of the uniform cube; their number grows with the sample diameter.

    The published tester is asymptotic; its constants are derived in theory 2.
    """

    name: ClassVar[str] = "JR11"
    source: ClassVar[str] = "Jha and Raskhodnikova 2011, constants of theory 2"

    def not_applicable(self, distribution: Distribution) -> str:
        return no_uniform(distribution, Hypercube)

    def pairs_needed(
        self, distribution: Distribution, diameter: Fraction, proximity: float, failure: float
    ) -> int:
        d, rounded = distribution.domain.dimension, float(diameter * self.steps_per_unit)
        return math.ceil(2.0 * d * rounded / proximity * math.log(2.0 / failure))

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        edges = edge_distribution(require_product(distribution, self.name))
        return QueryBatch(edges.draw(rng, count))
