"""Whole lines of records that can be replaced (theory 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import RecordGrid
from liptest.data.draws import IndexSampler
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.lipschitz.testers.base import PairTester, count_printed_draws, no_product
from liptest.runs.driver import QueryBatch


@dataclass(frozen=True)
class HammingLines(PairTester):
    """A line in direction r with probability t_r/T, t_r = 1 - max D_r, T = sum_r t_r, all of it.

    All values of a line are neighbours, so a line is violated when its values spread by more
    than 1, and its distance from Lipschitz is at most t_r. With
    dist(f) <= 4 sum_r E[dist of f on an r-line] (theory 2.2), Pr[violated] >= dist(f) / (4 T).
    """

    name: ClassVar[str] = "HammingLines"
    source: ClassVar[str] = "theory 2.2"

    def not_applicable(self, distribution: Distribution) -> str:
        return no_product(distribution, RecordGrid)

    def detection_constant(self, distribution: Distribution) -> float:
        return 4.0 * float(_deviations(require_product(distribution, self.name)).sum())

    def points_per_draw(self, distribution: Distribution) -> int:
        chosen = _deviations(require_product(distribution, self.name)) > 0
        return int(np.max(distribution.domain.size_array[chosen], initial=1))

    def pairs_per_draw(self, distribution: Distribution) -> int:
        points = self.points_per_draw(distribution)
        return points * (points - 1) // 2

    def draws_needed(self, constant: float, proximity: float, failure: float) -> int:
        return count_printed_draws(constant, proximity, failure)

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        product = require_product(distribution, self.name)
        directions = IndexSampler(_deviations(product)).draw(rng, count)
        centres = product.sample(rng, count)
        own = centres[np.arange(count), directions].astype(np.int64)
        others = product.domain.size_array[directions] - 1
        rows = np.repeat(np.arange(count), others)
        values = np.arange(len(rows)) - np.repeat(np.cumsum(others) - others, others)
        values += values >= own[rows]
        points = PointBatch(centres, rows, directions[rows], values)
        return QueryBatch(points, line_pairs(others))


# A chunk asks for them again.
@lru_cache(maxsize=2)
def _deviations(distribution: ProductDistribution) -> NDArray[np.float64]:
    """t_r, (d,): the mass of all values but the likeliest."""
    return np.array([np.sort(mass)[:-1].sum() for mass in distribution.marginals()])


def line_pairs(others: NDArray[np.int64]) -> NDArray[np.int64]:
    """All pairs of positions of each draw, in draw order; draw i has 1 + others[i] points."""
    count = len(others)
    starts = count + np.cumsum(others) - others
    pairs, owners = [], []
    for size in np.unique(others):
        draws = np.flatnonzero(others == size)
        lines = np.column_stack([draws, starts[draws, None] + np.arange(size)])
        left, right = np.triu_indices(size + 1, k=1)
        pairs.append(np.stack([lines[:, left], lines[:, right]], axis=-1).reshape(-1, 2))
        owners.append(np.repeat(draws, len(left)))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.asarray(np.concatenate(pairs)[order])
