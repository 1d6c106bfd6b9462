"""Privacy profiles from one sample: bands that hold at all epsilons of a grid at once.

Theory 3.9 and 3.16. Upper band: the draws that lie in a set of datasets that meets every bad pair.
Lower band: weights on bad pairs that add up to no more than its mass at any dataset; by duality
every set that meets all bad pairs weighs at least their sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from liptest.data.distributions import Distribution
from liptest.data.edges import min_mass_edges
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.mechanisms.base import Mechanism
from liptest.privacy.claims import Claim, require_epsilon
from liptest.privacy.comparison import Screened, ask_laws, screen_batch, show_loss
from liptest.privacy.methods import SamplingMethod, light, neighbourhoods
from liptest.privacy.proofs.unanswered import check_answered
from liptest.privacy.request import Task
from liptest.privacy.samples.intervals import (
    binomial_lower,
    binomial_upper,
    clean_draws,
    clean_quantile,
    mean_lower,
)
from liptest.privacy.samples.pair_roles import Floats, Geometry, Indices, Roles
from liptest.privacy.samples.sampling_run import run_draws
from liptest.runs.driver import Judgement, QueryBatch, RunOutcome

#: Claims of a profile: they ascend by epsilon, differ in nothing else, and are fixed before the
#: data is looked at.
Grid = tuple[Claim, ...]

# The failure probability is shared by the upper band, the lower band and the certified epsilon.
_PARTS = 3
_PILOT_STAGE, _STAGE = 1, 0
#: Datasets of the pilot that sets a grid.
PILOT_DRAWS = 200
_PILOT_GRID = (Claim(1e6, 0.0, 0.0),)
_DIGITS = 1e-11
# What rounding may move a mean.
_ROUNDING = 1e-12
# A profile keeps nothing of a run that stops.
_CHUNK_POINTS = {"enumerated": 1 << 10}
_MOST_MATCHINGS = 1 << 16


def claims_at(epsilons: Sequence[float], delta: float, tolerance: float) -> Grid:
    """A claim at each epsilon."""
    return tuple(Claim(epsilon, delta, tolerance) for epsilon in epsilons)


def even_grid(top: float, points: int, claim: Claim) -> Grid:
    """``points`` epsilons up to a largest loss, without the last digits that rounding left there.

    The tolerance outweighs them, and a claim of epsilon 1 is then a point of the grid.
    """
    values = np.linspace(top / points, top, points).tolist()
    if claim.tolerance >= _DIGITS:
        values = [float(f"{value:.12g}") for value in values]
    return claims_at(values, claim.delta, claim.tolerance)


@dataclass(frozen=True, eq=False)
class Profiling:
    """One sample of neighbourhoods; everything that fixes the bands.

    Parameters
    ----------
    task
        What is profiled; its claim stands for the grid.
    is_light
        Each draw is compared only with the neighbours of which it is the lighter end.
    """

    task: Task
    is_light: bool

    @cached_property
    def geometry(self) -> Geometry:
        """Covers and matchings."""
        return Geometry(self.task.distribution)

    @cached_property
    def method(self) -> SamplingMethod:
        """How neighbourhoods are drawn."""
        settings = self.task.settings
        method = light if self.is_light else neighbourhoods
        return method(self.task.distribution, settings.exception_mass, settings.failure_probability)

    def judge(self, grid: Grid, kept: int = 1) -> BandJudge:
        """Counts for a grid."""
        return BandJudge(self.task.mechanism, self.geometry, grid, self.is_light, kept)

    def draws_for(self, points: int) -> int:
        """Draws after which an epsilon that shows no bad pair is certified."""
        settings, covers = self.task.settings, self.judge(_PILOT_GRID).covers
        return clean_draws(
            settings.exception_mass, settings.failure_probability / (_PARTS * points * covers)
        )


@dataclass(frozen=True, eq=False)
class Bands:
    """Bounds of the exception mass at each epsilon of a grid, all at once.

    ``certified`` is the smallest epsilon that the k-th largest loss certifies at the exception
    given mass (inf where it cannot).
    """

    lower: Floats
    upper: Floats
    certified: float
    total: Judgement
    seconds: float


def pilot_grid(profiling: Profiling, points: int) -> Grid:
    """``points`` epsilons up to the largest finite loss of a pilot, whose draws are thrown away."""
    judge = profiling.judge(_PILOT_GRID, kept=PILOT_DRAWS)
    losses = _run(profiling, judge, PILOT_DRAWS, _PILOT_STAGE).total.evidence.largest
    top = float(losses[np.isfinite(losses)].max(initial=0.0)) or 1.0
    return even_grid(top, points, require_epsilon("a privacy profile", profiling.task.claim))


def sample_bands(profiling: Profiling, grid: Grid, draws: int) -> Bands:
    """Run ``draws`` draws, a number fixed beforehand, and bound the exception mass.

    Raises KeyboardInterrupt: bands after fewer draws than planned would not hold.
    """
    settings, distribution = profiling.task.settings, profiling.task.distribution
    share, mass = settings.failure_probability / _PARTS, settings.exception_mass
    drift = _drift(distribution)
    kept = 0 if grid[0].delta or mass <= drift else clean_quantile(mass - drift, draws, share)
    judge = profiling.judge(grid, max(kept, 1))
    outcome = _run(profiling, judge, draws, _STAGE)
    counts: BandCounts = outcome.total.evidence
    upper = _upper(counts, draws, share / (len(grid) * judge.covers))
    lower = _lower(profiling, counts, draws, share / (2 * len(grid)))
    return Bands(
        lower=_falling(np.maximum(lower - drift - _ROUNDING, 0.0)[::-1], np.maximum)[::-1],
        upper=_falling(np.minimum(upper + drift, _most(profiling)), np.minimum),
        certified=float(counts.largest[kept - 1]) if kept else math.inf,
        total=outcome.total,
        seconds=outcome.seconds,
    )


def _run(profiling: Profiling, judge: BandJudge, draws: int, stage: int) -> RunOutcome:
    plan = replace(profiling.method.plan, draws=draws)
    outcome = run_draws(
        profiling.task,
        profiling.method.draw,
        judge,
        plan,
        stage=stage,
        chunk_points=_CHUNK_POINTS,
    )
    if outcome.ended == "interrupted":
        raise KeyboardInterrupt
    total = outcome.total
    check_answered(profiling.task.mechanism, is_answered=total.answered or not total.queries)
    return outcome


def _upper(counts: BandCounts, draws: int, failure: float) -> Floats:
    least = counts.covers.min(axis=0)
    return np.array([binomial_upper(int(hits), draws, failure) for hits in least])


def _lower(profiling: Profiling, counts: BandCounts, draws: int, failure: float) -> Floats:
    # Light neighbourhoods pay a factor of two, see BandJudge._matched.
    factor = 2.0 if profiling.is_light else 1.0
    shares = [mean_lower(_mean(s, draws), draws, failure) / factor for s in counts.shares]
    each, best = failure / len(counts.matchings), counts.matchings.max(axis=0)
    if isinstance(profiling.task.distribution, ProductDistribution):
        # The lighter end weighs a whole pair, so these are counts.
        pairs = [binomial_lower(int(total), draws, each) for total in best]
    else:
        pairs = [mean_lower(_mean(total, draws), draws, each) for total in best]
    return np.maximum(shares, pairs)


def _most(profiling: Profiling) -> float:
    """What no exception mass exceeds: a class of datasets left out, or every lighter end (3.5)."""
    colours = profiling.geometry.colours
    bound = 1.0 if colours == 1 else 1.0 - 1.0 / colours
    if isinstance(profiling.task.distribution, ProductDistribution):
        bound = min(bound, min_mass_edges(profiling.task.distribution).total * (1 + 1e-9))
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


@dataclass(frozen=True, eq=False)
class BandCounts:
    """Sums over draws; adds up.

    Parameters
    ----------
    covers
        (covers, grid) draws that lie in each cover of the pairs that may be bad.
    matchings
        (matchings, grid) sums over draws, each in [0, 1], for each set of disjoint pairs.
    shares
        (grid,) sums over draws, each in [0, 1], of the fractional matching.
    largest
        The largest losses of draws, descending, at most ``kept`` of them.
    """

    covers: Floats
    matchings: Floats
    shares: Floats
    largest: Floats
    kept: int

    def __add__(self, later: BandCounts) -> BandCounts:
        return BandCounts(
            self.covers + later.covers,
            self.matchings + later.matchings,
            self.shares + later.shares,
            _top(np.concatenate([self.largest, later.largest]), self.kept),
            self.kept,
        )


@dataclass(frozen=True, eq=False)
class BandJudge:
    """Counts of one batch of neighbourhoods (theory 3.9, 3.16); never stops early.

    Parameters
    ----------
    mechanism, geometry, grid
        What is profiled, where, and for which claims.
    is_light
        Batches hold only the neighbours of which a draw is the lighter end.
    kept
        How many of the largest losses to keep.
    """

    mechanism: Mechanism
    geometry: Geometry
    grid: Grid
    is_light: bool
    kept: int = 1

    @property
    def covers(self) -> int:
        """Number of covers that are counted."""
        if self.is_light:
            return 1
        colours = self.geometry.colours if self.geometry.colours > 1 else 0
        return colours + int(self._has_lighter_ends or colours == 0)

    @property
    def _has_lighter_ends(self) -> bool:
        return isinstance(self.geometry.distribution, ProductDistribution)

    @property
    def _matchings(self) -> int:
        # Very many would fill the memory; the fractional matching is left.
        matchings = self.geometry.matchings
        return matchings if matchings <= _MOST_MATCHINGS else 1

    def judge(self, batch: QueryBatch) -> Judgement:
        """Query all points of a batch and count."""
        points = batch.points
        screened, answered = self._screen(points)
        return Judgement(
            draws=len(points.centres),
            queries=len(points),
            pairs=len(points.rows),
            repeats=1,
            largest=show_loss(float(screened.above.max(initial=0.0))),
            answered=answered,
            evidence=self._count(points, screened),
        )

    def _screen(self, points: PointBatch) -> tuple[Screened, bool]:
        limit = self.mechanism.points_per_slice(self.geometry.distribution.domain)
        parts: list[Screened] = []
        answered = False
        for _, _, part in points.parts(limit):
            laws = ask_laws(self.mechanism, part, check=not parts)
            answered |= laws.is_answered()
            parts.append(screen_batch(laws, QueryBatch(part), self.grid))
        return Screened.joined(parts), answered

    def _count(self, points: PointBatch, screened: Screened) -> BandCounts:
        size, n = len(self.grid), len(points.centres)
        roles = self.geometry.roles(points) if self.geometry.has_masses else None
        lighter = roles.assigned if roles is not None and self._has_lighter_ends else None
        covers = []
        if lighter is not None:
            covers += [_exceeding(_row_max(screened.may * lighter, points.rows, n), size)]
        if not self.is_light:
            everywhere = _row_max(screened.may, points.rows, n)
            covers += self._outside_classes(points, everywhere)
        if not covers:
            covers = [_exceeding(everywhere, size)]
        above = screened.above if lighter is None else np.where(lighter, screened.above, 0.0)
        largest = _top(_row_max(above, points.rows, n), self.kept)
        empty = np.zeros((self._matchings if roles else 1, size)), np.zeros(size)
        matchings, shares = empty if roles is None else self._match(points, screened.must, roles)
        return BandCounts(np.array(covers), matchings, shares, largest, self.kept)

    def _outside_classes(self, points: PointBatch, counts: Floats) -> list[Floats]:
        if self.geometry.colours == 1:
            return []
        colour = self.geometry.colour(points.centres)
        return [
            _exceeding(counts[colour != each], len(self.grid))
            for each in range(self.geometry.colours)
        ]

    def _match(self, points: PointBatch, must: Indices, roles: Roles) -> tuple[Floats, Floats]:
        """Weights of disjoint pairs, and of the fractional matching of theory 3.16.

        A pair e that counts for x gets min(p_x / (c b_x), p_y / (c most_neighbours)), b_x the
        number of bad pairs at x, c = 1. The weights at a point then add up to at most its mass,
        so all of them to at most the exception mass. Of light neighbourhoods only the pairs that
        count for x are known: b_x is their number, and c = 2 pays for the others.
        """
        size, n, most = len(self.grid), len(points.centres), self.geometry.most_neighbours
        counted = must if not self.is_light else np.where(roles.assigned, must, 0)
        bad = _count_exceeding(points.rows, counted, n, size)
        where = np.flatnonzero(roles.assigned & (must > 0))
        matchings = np.zeros((self._matchings, size))
        shares = np.zeros(size)
        for place in range(size):
            where = where[must[where] > place]
            if len(where) == 0:
                break
            ratio = roles.ratio[where]
            share = np.minimum(1.0 / bad[points.rows[where], place], ratio / most)
            shares[place] = share.sum()
            if self._matchings == self.geometry.matchings:
                weights = np.minimum(ratio, 1.0)
                matchings[:, place] = np.bincount(roles.matching[where], weights, self._matchings)
        return matchings, shares


def _row_max(values: Floats | Indices, rows: Indices, count: int) -> Floats:
    """Largest value of each row, 0 for rows without one; ``rows`` ascend."""
    out = np.zeros(count)
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        out[rows[starts]] = np.maximum.reduceat(values, starts)
    return out


def _exceeding(counts: Floats, size: int) -> Floats:
    """For each position of the grid, how many counts are above it."""
    histogram = np.bincount(counts.astype(np.int64), minlength=size + 1)
    return histogram[::-1].cumsum()[::-1][1:].astype(np.float64)


def _count_exceeding(rows: Indices, counts: Indices, count: int, size: int) -> Indices:
    """(count, size): how many values of each row exceed each position of the grid."""
    histogram = np.bincount(rows * (size + 1) + counts, minlength=count * (size + 1))
    table = histogram.reshape(count, size + 1)
    return np.asarray(table[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:])


def _top(values: Floats, kept: int) -> Floats:
    return np.asarray(np.sort(values)[::-1][:kept])
