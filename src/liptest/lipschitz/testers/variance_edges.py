"""Variance-weighted edges of the cube, for every product law (theory 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import Hypercube
from liptest.data.edges import variance_edges
from liptest.data.product import ProductDistribution
from liptest.lipschitz.testers.base import PairTester
from liptest.runs.driver import QueryBatch


@dataclass(frozen=True)
class VarianceEdges(PairTester):
    """Edges of the cube in direction r with probability v_r/Q, v_r = p_r (1 - p_r), Q = sum v_r.

    Pr[violated] >= dist(f) / (4 Q) for every product law, by the Efron-Stein form
    dist(f) <= 4 sum_r v_r V_r (theory 2.1). 4 Q <= proximity accepts without a query: no
    function is further than 4 Q from Lipschitz.
    """

    name: ClassVar[str] = "VarianceEdges"
    source: ClassVar[str] = "theory 2.1"

    def not_applicable(self, distribution: Distribution) -> str:
        if not isinstance(distribution, ProductDistribution):
            return "needs a ProductDistribution"
        if not isinstance(distribution.domain, Hypercube):
            return f"needs a Hypercube, not {distribution.domain}"
        return ""

    def detection_constant(self, distribution: Distribution) -> float:
        p = require_product(distribution, self.name).probabilities
        return 4.0 * float(np.sum(p * (1.0 - p)))

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        edges = variance_edges(require_product(distribution, self.name))
        return QueryBatch(edges.draw(rng, count))
