"""The judge of a privacy profile: counts, over draws of neighbourhoods, what bands are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import ProductDistribution
from liptest.data.points import PointBatch
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.neighbourhoods import laws_of_batch
from liptest.privacy.band_levels import (
    EpsilonGrid,
    Floats,
    Geometry,
    Indices,
    Levels,
    Roles,
    pair_levels,
)
from liptest.privacy.comparison import check_same_law, shown_loss
from liptest.runs.driver import Judgement, QueryBatch

_MOST_MATCHINGS = 1 << 16


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
        What is profiled, where, and at which epsilons.
    light
        Batches hold only the neighbours of which a draw is the lighter end.
    kept
        How many of the largest losses to keep.
    """

    mechanism: Mechanism
    geometry: Geometry
    grid: EpsilonGrid
    light: bool
    kept: int = 1

    @property
    def covers(self) -> int:
        """Number of covers that are counted."""
        if self.light:
            return 1
        colours = self.geometry.colours if self.geometry.colours > 1 else 0
        return colours + int(self._has_lighter_ends or colours == 0)

    @property
    def _has_lighter_ends(self) -> bool:
        return isinstance(self.geometry.distribution, ProductDistribution)

    @property
    def _matchings(self) -> int:
        # Very many would fill the memory; the fractional matching is left.
        known = self.geometry.matchings
        return known if known <= _MOST_MATCHINGS else 1

    def judge(self, batch: QueryBatch) -> Judgement:
        """Query all points of a batch and count."""
        points = batch.points
        levels, answered = self._levels(points)
        evidence = self._count(points, levels)
        return Judgement(
            draws=len(points.centres),
            queries=len(points),
            pairs=len(points.rows),
            repeats=1,
            largest=shown_loss(float(levels.above.max(initial=0.0))),
            answered=answered,
            evidence=evidence,
        )

    def _levels(self, points: PointBatch) -> tuple[Levels, bool]:
        limit = self.mechanism.points_per_slice(self.geometry.distribution.domain)
        parts: list[Levels] = []
        answered = False
        for number, (_, _, part) in enumerate(points.parts(limit)):
            laws = laws_of_batch(self.mechanism, part)
            if number == 0:
                check_same_law(self.mechanism, laws, part.centres[0])
            answered |= laws.is_answered()
            n = len(part.centres)
            left, right = laws.distinct(part.rows), laws.distinct(np.arange(n, len(part)))
            parts.append(pair_levels(laws, left, right, self.grid))
        joined = (np.concatenate([getattr(one, name) for one in parts]) for name in _FIELDS)
        return Levels(*joined), answered

    def _count(self, points: PointBatch, levels: Levels) -> BandCounts:
        size, n = len(self.grid), len(points.centres)
        roles = self.geometry.roles(points) if self.geometry.has_masses else None
        lighter = roles.assigned if roles is not None and self._has_lighter_ends else None
        covers = [
            _exceeding(_row_max(levels.may * chosen, points.rows, n), size)
            for chosen in ([] if lighter is None else [lighter])
        ]
        if not self.light:
            everywhere = _row_max(levels.may, points.rows, n)
            covers += self._outside_classes(points, everywhere)
        if not covers:
            covers = [_exceeding(everywhere, size)]
        above = levels.above if lighter is None else np.where(lighter, levels.above, 0.0)
        largest = _top(_row_max(above, points.rows, n), self.kept)
        empty = np.zeros((self._matchings if roles else 1, size)), np.zeros(size)
        matchings, shares = empty if roles is None else self._matched(points, levels.must, roles)
        return BandCounts(np.array(covers), matchings, shares, largest, self.kept)

    def _outside_classes(self, points: PointBatch, levels: Floats) -> list[Floats]:
        if self.geometry.colours == 1:
            return []
        colour = self.geometry.colour(points.centres)
        return [
            _exceeding(levels[colour != one], len(self.grid))
            for one in range(self.geometry.colours)
        ]

    def _matched(self, points: PointBatch, must: Indices, roles: Roles) -> tuple[Floats, Floats]:
        """Weights of disjoint pairs, and of the fractional matching of theory 3.16.

        A pair e that counts for x gets min(p_x / (c b_x), p_y / (c most_neighbours)), b_x the
        number of bad pairs at x, c = 1. The weights at a point then add up to at most its mass,
        so all of them to at most the exception mass. Of light neighbourhoods only the pairs that
        count for x are known: b_x is their number, and c = 2 pays for the others.
        """
        size, n, most = len(self.grid), len(points.centres), self.geometry.most_neighbours
        counted = must if not self.light else np.where(roles.assigned, must, 0)
        bad = _at_each_level(points.rows, counted, n, size)
        where = np.flatnonzero(roles.assigned & (must > 0))
        matchings = np.zeros((self._matchings, size))
        shares = np.zeros(size)
        for level in range(size):
            where = where[must[where] > level]
            if len(where) == 0:
                break
            ratio = roles.ratio[where]
            share = np.minimum(1.0 / bad[points.rows[where], level], ratio / most)
            shares[level] = share.sum()
            if self._matchings == self.geometry.matchings:
                weights = np.minimum(ratio, 1.0)
                matchings[:, level] = np.bincount(roles.matching[where], weights, self._matchings)
        return matchings, shares


_FIELDS = ("may", "must", "above")


def _row_max(values: Floats | Indices, rows: Indices, count: int) -> NDArray[np.float64]:
    """Largest value of each row, 0 for rows without one; ``rows`` ascend."""
    out = np.zeros(count)
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        out[rows[starts]] = np.maximum.reduceat(values, starts)
    return out


def _exceeding(levels: NDArray[np.float64], size: int) -> Floats:
    """For each position of the grid, the number of levels above it."""
    histogram = np.bincount(levels.astype(np.int64), minlength=size + 1)
    return histogram[::-1].cumsum()[::-1][1:].astype(np.float64)


def _at_each_level(rows: Indices, levels: Indices, count: int, size: int) -> Indices:
    """(count, size): how many values of each row exceed each position of the grid."""
    histogram = np.bincount(rows * (size + 1) + levels, minlength=count * (size + 1))
    table = histogram.reshape(count, size + 1)
    return np.asarray(table[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:])


def _top(values: Floats, kept: int) -> Floats:
    return np.asarray(np.sort(values)[::-1][:kept])
