"""Search-tree pairs of the grid (Chakrabarty, Dixit, Jha and Seshadhri 2015; theory 2.2, 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import Hypercube, Hypergrid
from liptest.lipschitz.testers.base import PairTester, count_printed_draws, no_product
from liptest.lipschitz.testers.search_trees import tree_batch, tree_pairs
from liptest.runs.driver import QueryBatch


@dataclass(frozen=True)
class CDJS15(PairTester):
    """A value of a line and an ancestor in its search tree, for every product law on a grid.

    With Delta = sum_r (expected depth of the tree of D_r), Pr[violated] >= dist(f) / (4 Delta):
    dist(f) <= 4 sum_r E[dist of f on an r-line] (theory 2.2), and a value in a violated pair of
    a line is violated with an ancestor, or its partner is (theory 2.3). Sides may differ; on
    the cube Delta = S.
    """

    name: ClassVar[str] = "CDJS15"
    source: ClassVar[str] = "Chakrabarty, Dixit, Jha and Seshadhri 2015, theory 2.2 and 2.3"

    def not_applicable(self, distribution: Distribution) -> str:
        return no_product(distribution, Hypergrid, Hypercube)

    def detection_constant(self, distribution: Distribution) -> float:
        return 4.0 * tree_pairs(require_product(distribution, self.name)).total

    def draws_needed(self, constant: float, proximity: float, failure: float) -> int:
        return count_printed_draws(constant, proximity, failure)

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        return tree_batch(require_product(distribution, self.name), rng, count)
