"""What a search has looked at: laws and datasets counted, losses learnt, violations certified."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain, IntArray
from liptest.driver import Judgement, QueryBatch
from liptest.mechanisms.base import ComparableLaws, Mechanism
from liptest.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

# Neighbours of one dataset that are looked at, where it has more.
_LEAST_DIRECTIONS, _MOST_DIRECTIONS = 16, 512
# Coordinates that are held at once.
_SLICE = 1 << 22
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class GuidedJudge(LossJudge):
    """The judge of sampling, which also keeps what a search steers by.

    ``seen`` gets one (pairs,) array per part of a batch: losses, or for delta > 0 divergences.
    """

    seen: list[Floats] = field(default_factory=list)

    def _screen(
        self, laws: ComparableLaws, left: Indices, right: Indices, distances: Indices
    ) -> tuple[Floats, Indices]:
        losses, flagged = super()._screen(laws, left, right, distances)
        steer = losses
        if self.claim.delta > 0:
            rows = laws.distinct(left), laws.distinct(right)
            steer = laws.hockey_sticks(*rows, self.claim.threshold)
        self.seen.append(np.asarray(steer, dtype=np.float64))
        return losses, flagged


class Explorer:
    """Asks for laws within a budget and learns which coordinates and values lose most.

    Parameters
    ----------
    mechanism, domain, claim
        What is searched.
    budget
        Most output laws to ask for.
    rng
        Ties, and choices of directions.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        domain: Domain,
        claim: Claim,
        *,
        budget: int,
        rng: np.random.Generator,
    ) -> None:
        self.domain = domain
        self.rng = rng
        self.budget = budget
        self.total = Judgement()
        self._judge = GuidedJudge(mechanism, domain, claim)
        self._datasets: set[int] = set()
        self._centres: set[int] = set()
        width = max(domain.sizes)
        # Best score seen from datasets with a value at a coordinate: sum and number.
        self.value_score = np.zeros((2, domain.dimension, width))
        self.direction_score = np.zeros((2, domain.dimension))
        self.directions = min(
            _MOST_DIRECTIONS, max(_LEAST_DIRECTIONS, self.budget // 64), self.most_neighbours
        )

    @property
    def most_neighbours(self) -> int:
        """Upper bound on the neighbours of a dataset."""
        return int((self.domain.size_array - 1).sum())

    @property
    def left(self) -> int:
        """Laws that may still be asked for."""
        return self.budget - self.total.queries

    @property
    def is_over(self) -> bool:
        """Whether a violation was found or the budget ended."""
        return self.total.violation is not None or self.left < 2

    @property
    def datasets(self) -> int:
        """Number of different datasets that were looked at."""
        return len(self._datasets)

    def is_new(self, points: IntArray) -> NDArray[np.bool_]:
        """Which datasets have not been the centre of a neighbourhood yet; first of equals only."""
        fresh, batch = np.zeros(len(points), dtype=bool), set()
        for i, key in enumerate(self._keys(points).tolist()):
            fresh[i] = key not in self._centres and key not in batch
            batch.add(key)
        return fresh

    def neighbourhoods(self, points: IntArray) -> tuple[IntArray, Floats, IntArray]:
        """Compare new datasets with their neighbours, or the promising ones of very many.

        Returns the datasets that were compared, (n, d), the best score at each, (n,), and the
        neighbour that has it, (n, d).
        """
        fit = max(1, self.left // (self.directions + 1))
        points = points[self.is_new(points)][:fit]
        best = [self._neighbourhood(part) for part in self._slices(points)]
        done = [found for found in best if found is not None]
        if not done:
            empty = points[:0]
            return empty, np.zeros(0), empty
        first, scores, others = zip(*done, strict=True)
        return np.concatenate(first), np.concatenate(scores), np.concatenate(others)

    def walk(self, path: IntArray) -> Floats:
        """Compare consecutive datasets of a path of neighbours; scores of its steps."""
        scores = [np.zeros(0)]
        step = max(2, _SLICE // self.domain.dimension)
        for start in range(0, len(path) - 1, step - 1):
            part = path[start : min(start + step, start + max(2, self.left))]
            if self.is_over or len(part) < 2:
                break
            places = np.arange(len(part))
            pairs = np.stack([places[:-1], places[1:]], axis=1)
            scores.append(self._look(QueryBatch(PointBatch(part), pairs=pairs), self._keys(part)))
        return np.concatenate(scores)

    def _slices(self, points: IntArray) -> list[IntArray]:
        step = max(1, _SLICE // max(1, self.domain.dimension * 8, self.most_neighbours))
        return [points[start : start + step] for start in range(0, len(points), step)]

    def _neighbourhood(self, points: IntArray) -> tuple[IntArray, Floats, IntArray] | None:
        if self.is_over:
            return None
        rows, coordinates, values = self.domain.neighbour_changes(points)
        kept = self._promising(rows, coordinates, len(points))[: max(1, self.left - len(points))]
        batch = PointBatch(points, rows[kept], coordinates[kept], values[kept])
        own = self._keys(points)
        self._centres.update(own.tolist())
        changed = own[batch.rows] - self._key(
            batch.coordinates, points[batch.rows, batch.coordinates]
        )
        changed += self._key(batch.coordinates, batch.values)
        # As they are judged: each centre, then its neighbours.
        keys = np.insert(own, batch.rows + 1, changed)
        scores = self._look(QueryBatch(batch), keys)
        if len(scores) < len(batch.rows):
            return None  # a violation ended it
        return self._learn(batch, scores)

    def _promising(self, rows: Indices, coordinates: Indices, count: int) -> Indices:
        """All neighbours; of very many, half the best directions so far and half at random."""
        if len(rows) <= self.directions * count:
            return np.arange(len(rows))
        known = self.direction_score[0] / np.maximum(self.direction_score[1], 1)
        keys = self.rng.random(len(rows))
        chosen = []
        for row in range(count):
            mine = np.flatnonzero(rows == row)
            half = self.directions // 2
            by_score = mine[np.lexsort((keys[mine], -known[coordinates[mine]]))]
            rest = by_score[half:]
            chosen += [by_score[:half], rest[np.argsort(keys[rest])][: self.directions - half]]
        return np.sort(np.concatenate(chosen))

    def _learn(self, batch: PointBatch, scores: Floats) -> tuple[IntArray, Floats, IntArray]:
        n = len(batch.centres)
        capped = np.minimum(scores, 1e3)
        np.add.at(self.direction_score[0], batch.coordinates, capped)
        np.add.at(self.direction_score[1], batch.coordinates, 1.0)
        best, where = np.zeros(n), np.full(n, -1)
        order = np.lexsort((self.rng.random(len(scores)), capped))
        # The last one written is the best; ties fall by chance.
        where[batch.rows[order]] = order
        seen = where >= 0
        best[seen] = capped[where[seen]]
        others = batch.centres.copy()
        change = where[seen]
        others[np.flatnonzero(seen), batch.coordinates[change]] = batch.values[change]
        places = np.arange(self.domain.dimension)
        for point, score in zip(batch.centres, best, strict=True):
            self.value_score[0, places, point] += score
            self.value_score[1, places, point] += 1.0
        return batch.centres, best, others

    def _look(self, batch: QueryBatch, keys: Keys) -> Floats:
        self._judge.seen.clear()
        found = self._judge.judge(batch)
        self.total += found
        # A violation ends a batch before its last datasets are asked for.
        self._datasets.update(keys[: found.queries].tolist())
        return np.concatenate([np.zeros(0), *self._judge.seen])

    def _keys(self, points: IntArray) -> Keys:
        """A number for each dataset, equal for equal ones and changed by a step in O(1)."""
        total = np.zeros(len(points), dtype=np.uint64)
        step = max(1, _SLICE // max(1, len(points)))
        for start in range(0, self.domain.dimension, step):
            part = points[:, start : start + step]
            places = np.arange(start, start + part.shape[1])
            total += self._key(np.broadcast_to(places, part.shape), part).sum(
                axis=1, dtype=np.uint64
            )
        return total

    def _key(self, coordinates: Indices, values: NDArray[np.signedinteger]) -> Keys:
        bits = (coordinates * max(self.domain.sizes) + values).astype(np.uint64)
        bits = (bits + np.uint64(1)) * _MIX[0]
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX[1]
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX[2]
        return np.asarray(bits ^ (bits >> np.uint64(31)))
