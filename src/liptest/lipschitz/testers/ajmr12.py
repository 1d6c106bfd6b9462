"""Search-tree pairs of the uniform grid after a diameter stage (Awasthi, Jha, Molinaro and
Raskhodnikova 2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import Hypercube, Hypergrid
from liptest.lipschitz.testers.base import DiameterTester, no_uniform
from liptest.lipschitz.testers.search_trees import tree_batch, tree_pairs
from liptest.runs.driver import QueryBatch


@dataclass(frozen=True)
class AJMR12(DiameterTester):
    """Search-tree pairs in a uniform direction of the uniform grid [n]^d.

    E[distance of f on a line] >= range_step (e/2) / (2 d r) at sample diameter r, and a line's
    distance over Delta_n, the expected depth of the optimal tree on n uniform values, bounds
    the chance of a violated pair (theory 2, 2.3). The cube is the grid with n = 2.
    """

    name: ClassVar[str] = "AJMR12"
    source: ClassVar[str] = "Awasthi, Jha, Molinaro and Raskhodnikova 2012, constants of theory 2"

    def not_applicable(self, distribution: Distribution) -> str:
        reason = no_uniform(distribution, Hypergrid, Hypercube)
        if reason or len(set(distribution.domain.sizes)) == 1:
            return reason
        return f"needs equal sides, not {distribution.domain}; CDJS15 takes any"

    def pairs_needed(
        self, distribution: Distribution, diameter: Fraction, proximity: float, failure: float
    ) -> int:
        d, rounded = distribution.domain.dimension, float(diameter * self.steps_per_unit)
        depth = tree_pairs(require_product(distribution, self.name)).total / d
        return math.ceil(4.0 * d * rounded * depth / proximity * math.log(2.0 / failure))

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        # All lines have the same tree, so that the direction is uniform.
        return tree_batch(require_product(distribution, self.name), rng, count)
