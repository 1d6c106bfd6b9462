"""Uniform edges of the cube (Chakrabarty and Seshadhri, arXiv 1204.0849)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import Hypercube
from liptest.data.edges import edge_distribution
from liptest.lipschitz.testers.base import PairTester, count_printed_draws, no_uniform
from liptest.runs.driver import QueryBatch


@dataclass(frozen=True)
class CS12(PairTester):
    """Uniform edges of the uniform cube.

    A function at distance e from Lipschitz violates at least e 2^(d-1) of the d 2^(d-1) edges.
    """

    name: ClassVar[str] = "CS12"
    source: ClassVar[str] = "Chakrabarty and Seshadhri 2012, theory 2"

    def not_applicable(self, distribution: Distribution) -> str:
        return no_uniform(distribution, Hypercube)

    def detection_constant(self, distribution: Distribution) -> float:
        return float(distribution.domain.dimension)

    def draws_needed(self, constant: float, proximity: float, failure: float) -> int:
        return count_printed_draws(constant, proximity, failure)

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        edges = edge_distribution(require_product(distribution, self.name))
        return QueryBatch(edges.draw(rng, count))
