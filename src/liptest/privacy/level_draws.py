"""Sampling for mechanisms that see only a count: the count is drawn, not the dataset.

Whether a dataset has a neighbour at which such a mechanism breaks the claim depends on its number
of ones k alone: its neighbours have k - 1 (if k > 0) and k + 1 (if k < d) ones, whichever record
changes. So comparing the laws of a drawn k with those of k - 1 and k + 1 is comparing a drawn
dataset with all its neighbours (theory 3.6b), and the guarantee is the same. The number of ones of
independent bits is Poisson-binomial; its masses are right up to a relative error of about
d * 2**-52, and d bits that are each exact to 53 bits are as far off.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Hypercube, Hypergrid
from liptest.driver import Finding, Judgement, QueryBatch, Sampling
from liptest.mechanisms.base import Mechanism
from liptest.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge, witness_of
from liptest.sampling import IndexSampler
from liptest.statistics.protocol import Count
from liptest.statistics.weighted_sum import WeightedSum
from liptest.sums_of_bits import level_masses


def draws_levels(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether only the count matters: a mechanism of a count, and independent bits.

    Mechanisms that merely happened to read no more than a count are asked on drawn datasets.
    """
    return (
        isinstance(mechanism.statistic, Count)
        and isinstance(distribution, ProductDistribution)
        and isinstance(distribution.domain, Hypercube)
        and can_see_another(mechanism)
        and not getattr(mechanism, "reads_only", False)
    )


def can_see_another(mechanism: Any) -> bool:
    """Whether the same mechanism can be given another statistic."""
    return is_dataclass(mechanism) and any(
        field.name == "statistic" and field.init for field in fields(mechanism)
    )


def level_sampling(
    mechanism: Mechanism, distribution: Distribution, claim: Claim, *, draws: int, seed: int
) -> Sampling:
    """The task of drawing counts in the place of datasets, where ``draws_levels`` holds."""
    assert isinstance(distribution, ProductDistribution)
    assert isinstance(distribution.domain, Hypercube)
    judge = LevelJudge(mechanism, distribution.domain, claim)
    return Sampling(LevelDraw(distribution), judge, draws, 3.0, 1, seed)


class LevelDraw:
    """Draws numbers of ones, each with the neighbouring ones, as points of the line 0 .. d."""

    def __init__(self, distribution: ProductDistribution) -> None:
        self.line = Hypergrid([distribution.domain.dimension + 1])
        masses, _ = level_masses(distribution.probabilities)
        self._sampler = IndexSampler(masses)

    def __call__(self, rng: np.random.Generator, count: int) -> QueryBatch:
        levels = self._sampler.draw(rng, count)[:, None].astype(self.line.dtype)
        return QueryBatch(PointBatch(levels, *self.line.neighbour_changes(levels)))


@dataclass(frozen=True, eq=False)
class LevelJudge:
    """Judges drawn numbers of ones; counts, and witnesses, are those of datasets."""

    mechanism: Mechanism
    domain: Hypercube
    claim: Claim

    def judge(self, batch: QueryBatch) -> Judgement:
        """One draw stands for a dataset and its d neighbours."""
        d = self.domain.dimension
        on_line: Any = replace(self.mechanism, statistic=WeightedSum([1]))  # type: ignore[type-var]
        found = LossJudge(on_line, Hypergrid([d + 1]), self.claim).judge(batch)
        return replace(
            found,
            queries=found.draws * (d + 1),
            pairs=found.draws * d,
            violation=self._as_datasets(found.violation),
            doubt=self._as_datasets(found.doubt),
        )

    def _as_datasets(self, finding: Finding | None) -> Finding | None:
        if finding is None:
            return None
        x, y = self.mechanism.statistic.realise(
            self.domain, np.int64(finding.point[0]), np.int64(finding.other[0])
        )
        return Finding(x, y, 1, witness_of(self.mechanism, x, y, self.claim))
