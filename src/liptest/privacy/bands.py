"""Privacy profiles from one sample: bands that hold at all epsilons of a grid at once.

Theory 3.9 and 3.16. Upper band: the draws that lie in a set of datasets that meets every bad pair.
Lower band: weights on bad pairs that add up to no more than its mass at any dataset; by duality
every set that meets all bad pairs weighs at least their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from liptest.data.distributions import Distribution, ProductDistribution, require_product
from liptest.data.edges import min_mass_edges
from liptest.errors import MechanismError
from liptest.mechanisms.base import Mechanism
from liptest.privacy.band_counts import BandCounts, BandJudge
from liptest.privacy.band_levels import EpsilonGrid, Floats, Geometry, even_grid
from liptest.privacy.claims import Claim
from liptest.privacy.intervals import binomial_lower, binomial_upper, clean_quantile, mean_lower
from liptest.privacy.methods import full_neighbourhoods, light_neighbourhoods, mean_neighbours
from liptest.runs.driver import Judgement, Outcome, Progress, QueryBatch, Sampling, run

# The failure probability is shared by the upper band, the lower band and the certified epsilon.
_PARTS = 3


_PILOT_STAGE, _STAGE = 1, 0


#: Datasets of the pilot that sets a grid.
PILOT_DRAWS = 200


_PILOT_GRID = EpsilonGrid((1e6,), 0.0, 0.0)


# What rounding may move a mean.
_ROUNDING = 1e-12


_CHUNK_POINTS = {"enumerated": 1 << 10}


@dataclass(frozen=True, eq=False)
class BandTask:
    """One sample of neighbourhoods; everything that fixes the bands."""

    mechanism: Mechanism
    distribution: Distribution
    light: bool
    seed: int
    failure_probability: float
    executor: Executor | None = None
    progress: Progress | None = None

    @property
    def geometry(self) -> Geometry:
        """Covers and matchings."""
        return Geometry(self.distribution)

    @property
    def laws_per_draw(self) -> float:
        """Expected output laws per draw."""
        if not self.light:
            return 1.0 + mean_neighbours(self.distribution)
        return 1.0 + min_mass_edges(require_product(self.distribution, "light")).total

    def judge(self, grid: EpsilonGrid, kept: int = 1) -> BandJudge:
        """Counts for a grid."""
        return BandJudge(self.mechanism, self.geometry, grid, self.light, kept)

    def draws_for(self, mass: float, points: int) -> int:
        """Draws after which an epsilon that shows no bad pair is certified at ``mass``."""
        covers = self.judge(_PILOT_GRID).covers
        share = self.failure_probability / (_PARTS * points * covers)
        return math.ceil(math.log(share) / math.log1p(-mass))


@dataclass(frozen=True, eq=False)
class Bands:
    """Bounds of the exception mass at each epsilon of a grid, all at once.

    ``certified`` is the smallest epsilon that the k-th largest loss certifies at the exception
    mass asked for (inf where it cannot).
    """

    lower: Floats
    upper: Floats
    certified: float
    total: Judgement
    seconds: float


def pilot_grid(task: BandTask, points: int, claim: Claim) -> EpsilonGrid:
    """``points`` epsilons up to the largest finite loss of a pilot, whose draws are thrown away."""
    found = _run(task, task.judge(_PILOT_GRID, kept=PILOT_DRAWS), PILOT_DRAWS, _PILOT_STAGE)
    losses = found.total.evidence.largest
    top = float(losses[np.isfinite(losses)].max(initial=0.0)) or 1.0
    return even_grid(top, points, claim.delta, claim.tolerance)


def sampled_bands(task: BandTask, grid: EpsilonGrid, draws: int, mass: float) -> Bands:
    """Run ``draws`` draws, a number fixed beforehand, and bound the exception mass.

    Raises KeyboardInterrupt: bands after fewer draws than planned would not hold.
    """
    share = task.failure_probability / _PARTS
    drift = _drift(task.distribution)
    kept = 0 if grid.delta or mass <= drift else clean_quantile(mass - drift, draws, share)
    judge = task.judge(grid, max(kept, 1))
    outcome = _run(task, judge, draws, _STAGE)
    counts: BandCounts = outcome.total.evidence
    upper = _upper(counts, draws, share / (len(grid) * judge.covers))
    lower = _lower(task, counts, draws, share / (2 * len(grid)))
    return Bands(
        lower=_falling(np.maximum(lower - drift - _ROUNDING, 0.0)[::-1], np.maximum)[::-1],
        upper=_falling(np.minimum(upper + drift, _most(task)), np.minimum),
        certified=float(counts.largest[kept - 1]) if kept else math.inf,
        total=outcome.total,
        seconds=outcome.seconds,
    )


def _run(task: BandTask, judge: BandJudge, draws: int, stage: int) -> Outcome:
    law = light_neighbourhoods if task.light else full_neighbourhoods
    draw: Callable[[np.random.Generator, int], QueryBatch] = partial(law, task.distribution)  # type: ignore[arg-type]
    sampling = Sampling(
        draw=draw,
        judge=judge,
        draws=draws,
        points_per_draw=task.laws_per_draw,
        dimension=task.distribution.domain.dimension,
        seed=task.seed,
        stage=stage,
    )
    limit = _CHUNK_POINTS.get(task.mechanism.source)
    if limit is not None and task.mechanism.statistic is None:
        sampling = replace(sampling, chunk_points=limit)
    outcome = run(sampling, executor=task.executor, progress=task.progress)
    if outcome.ended == "interrupted":
        raise KeyboardInterrupt
    if not outcome.total.answered:
        raise MechanismError(
            f"{task.mechanism.name}: it raised an exception on every dataset seen; a mechanism "
            f"that never answers is broken, not private. Test it on one dataset with lt.output_law"
        )
    return outcome


def _upper(counts: BandCounts, draws: int, failure: float) -> Floats:
    least = counts.covers.min(axis=0)
    return np.array([binomial_upper(int(hits), draws, failure) for hits in least])


def _lower(task: BandTask, counts: BandCounts, draws: int, failure: float) -> Floats:
    # Light neighbourhoods pay a factor of two, see BandJudge._matched.
    factor = 2.0 if task.light else 1.0
    shares = [mean_lower(_mean(s, draws), draws, failure) / factor for s in counts.shares]
    each, best = failure / len(counts.matchings), counts.matchings.max(axis=0)
    if isinstance(task.distribution, ProductDistribution):
        # The lighter end weighs a whole pair, so these are counts.
        pairs = [binomial_lower(int(total), draws, each) for total in best]
    else:
        pairs = [mean_lower(_mean(total, draws), draws, each) for total in best]
    return np.maximum(shares, pairs)


def _most(task: BandTask) -> float:
    """What no exception mass exceeds: a class of datasets left out, or every lighter end (3.5)."""
    colours = task.geometry.colours
    bound = 1.0 if colours == 1 else 1.0 - 1.0 / colours
    if isinstance(task.distribution, ProductDistribution):
        bound = min(bound, min_mass_edges(task.distribution).total * (1 + 1e-9))
    return bound


def _mean(total: float, draws: int) -> float:
    return min(max(total / draws - _ROUNDING, 0.0), 1.0)


def _drift(distribution: Distribution) -> float:
    # Bits are drawn to 53 binary digits (docs/theory/notes.md, E).
    if not isinstance(distribution, ProductDistribution):
        return 0.0
    return distribution.domain.dimension * 2.0**-53 * max(distribution.domain.sizes)


def _falling(values: Floats, best: Any) -> Floats:
    # The exception mass falls with epsilon, so a bound at one epsilon bounds others as well.
    return np.asarray(best.accumulate(values))
