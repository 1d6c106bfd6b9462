"""What a search tries, and what it has looked at.

Structured datasets come first, then moves from what was learnt. Laws and datasets are counted,
losses learnt, violations certified.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution
from liptest.data.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import ComparableLaws
from liptest.privacy.claims import AnyClaim, Claim
from liptest.privacy.comparison import Screened
from liptest.privacy.judge import LossJudge
from liptest.privacy.samples.symmetric_records import SymmetricChanges, find_symmetries
from liptest.runs.driver import Judgement, QueryBatch

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

# Neighbours of one dataset that are looked at, where it has more.
_LEAST_DIRECTIONS, _MOST_DIRECTIONS = 16, 512
# Coordinates that are held at once.
_SLICE = 1 << 22
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
# Constant datasets and single odd coordinates are tried for so many values and places.
_MOST_VALUES, _MOST_PLACES = 16, 4
_MOST_CELLS = 64


def constant_dataset(domain: Domain, value: int) -> IntArray:
    """Every coordinate at one value, or at its highest where that is lower."""
    return np.asarray(np.minimum(value, domain.size_array - 1).astype(domain.dtype))


def make_structured_datasets(distribution: Distribution, rng: np.random.Generator) -> IntArray:
    """Datasets at which boundary faults show, (n, d).

    All equal records (empty, full, one distinct value), all but one equal, halves, every other
    one, and the likeliest dataset of a product law.
    """
    domain = distribution.domain
    most = max(domain.sizes)
    values = _spread(most, _MOST_VALUES)
    datasets = [constant_dataset(domain, v) for v in (0, most - 1)]
    datasets += [constant_dataset(domain, v) for v in values if v not in (0, most - 1)]
    datasets += _odd_ones_out(domain, values, rng)
    datasets += _patterns(domain)
    if isinstance(domain, Hypergrid):
        datasets += _single_cells(domain)
    if isinstance(distribution, ProductDistribution):
        datasets.append(_likeliest(distribution))
    return np.array(datasets, dtype=domain.dtype)


def _spread(count: int, most: int) -> list[int]:
    return sorted({round(v) for v in np.linspace(0, count - 1, min(count, most))})


def _odd_ones_out(domain: Domain, values: list[int], rng: np.random.Generator) -> list[IntArray]:
    d = domain.dimension
    ends = [0, d - 1, *rng.permutation(d)[:_MOST_PLACES].tolist()]
    datasets = []
    for place in dict.fromkeys(ends):
        for base in (0, max(domain.sizes) - 1):
            for value in values:
                point = constant_dataset(domain, base)
                point[place] = min(value, domain.sizes[place] - 1)
                datasets.append(point)
    return datasets


def _single_cells(domain: Domain) -> list[IntArray]:
    # One cell holds everything; elsewhere such datasets are neighbours of constant ones.
    datasets = []
    for place in range(min(domain.dimension, _MOST_CELLS)):
        point = constant_dataset(domain, 0)
        point[place] = domain.sizes[place] - 1
        datasets.append(point)
    return datasets


def _patterns(domain: Domain) -> list[IntArray]:
    d, places = domain.dimension, np.arange(domain.dimension)
    low, high = (constant_dataset(domain, value) for value in (0, max(domain.sizes) - 1))
    masks = [places < d // 2, places >= d // 2, places % 2 == 0, places % 2 == 1]
    return [np.where(mask, high, low) for mask in masks]


def _likeliest(distribution: ProductDistribution) -> IntArray:
    if "probabilities" in distribution.__dict__:
        return np.asarray(distribution.probabilities > 0.5).astype(distribution.domain.dtype)
    modes = [int(np.argmax(mass)) for mass in distribution.marginals()]
    return np.array(modes, dtype=distribution.domain.dtype)


def find_path(domain: Domain, start: IntArray, end: IntArray, rng: np.random.Generator) -> IntArray:
    """A shortest path of neighbours, its coordinates in random order; (distance + 1, d)."""
    steps = []
    for r in rng.permutation(np.flatnonzero(start != end)):
        steps += [(r, value) for value in _stops(domain, int(r), int(start[r]), int(end[r]))]
    points = np.repeat(start[None, :], len(steps) + 1, axis=0)
    for k, (r, value) in enumerate(steps, start=1):
        points[k:, r] = value
    return np.ascontiguousarray(points)


def _stops(domain: Domain, coordinate: int, start: int, end: int) -> list[int]:
    """Values of a shortest path in one coordinate, without the start."""
    if isinstance(domain, Hypergrid):
        return [*range(start, end, 1 if end > start else -1)[1:], end]
    if isinstance(domain, (Hypercube, RecordGrid)):
        return [end]
    before, edge = {start: start}, [start]
    while end not in before:
        edge = [
            after
            for value in edge
            for after in domain.other_values(coordinate, value).tolist()
            if before.setdefault(after, value) == value and after != start
        ]
    stops = [end]
    while before[stops[-1]] != start:
        stops.append(before[stops[-1]])
    return stops[::-1]


@dataclass(frozen=True, eq=False)
class Proposals:
    """Kinds of moves; each gives one dataset, (d,)."""

    distribution: Distribution
    rng: np.random.Generator

    @property
    def domain(self) -> Domain:
        """Where the datasets live."""
        return self.distribution.domain

    def restart(self) -> IntArray:
        """A draw from the distribution."""
        return np.asarray(self.distribution.sample(self.rng, 1)[0])

    def uniform(self) -> IntArray:
        """Any dataset of the domain: also where the distribution has no mass."""
        return self._values(self.rng.random(self.domain.dimension))

    def few_values(self) -> IntArray:
        """Two different values in random shares: repeated records, counts at any level."""
        values = self.rng.integers(0, max(self.domain.sizes), size=2)
        first, second = (constant_dataset(self.domain, int(v)) for v in values)
        if values[0] == values[1]:
            second = constant_dataset(self.domain, 0)
        chosen = self.rng.random(self.domain.dimension) < self._share()
        return np.where(chosen, first, second)

    def _share(self) -> float:
        # Half the time near an end, where a table has few odd records.
        share = float(self.rng.random())
        if self.rng.random() < 0.5:
            share = float(self.domain.dimension**-share) / 2
        return share if self.rng.random() < 0.5 else 1.0 - share

    def block(self, point: IntArray) -> IntArray:
        """A block of coordinates set to one value, or each to a random one."""
        d = self.domain.dimension
        size = max(1, int(d ** self.rng.random()))
        start = int(self.rng.integers(0, d))
        places = (start + np.arange(size)) % d if self.rng.random() < 0.5 else None
        if places is None:
            places = self.rng.permutation(d)[:size]
        fresh = self.uniform()
        if self.rng.random() < 0.5:
            fresh = constant_dataset(self.domain, int(self.rng.integers(0, max(self.domain.sizes))))
        moved = point.copy()
        moved[places] = fresh[places]
        return moved

    def crossed(self, first: IntArray, second: IntArray) -> IntArray:
        """Each coordinate from one of two good datasets."""
        return np.where(self.rng.random(self.domain.dimension) < 0.5, first, second)

    def learnt(self, value_score: NDArray[np.float64]) -> IntArray:
        """Each coordinate at the value after which losses were largest, or often so.

        ``value_score`` holds sums and numbers of scores, (2, d, values).
        """
        sums, counts = value_score
        mean = np.where(counts > 0, sums / np.maximum(counts, 1), sums.sum() / max(counts.sum(), 1))
        width = np.arange(mean.shape[1])
        mean = np.where(width < self.domain.size_array[:, None], mean, -np.inf)
        finite = mean[np.isfinite(mean)]
        # Differences between coordinates are small: noise of their size keeps the choice open.
        scale = float(self.rng.random()) * (float(finite.std()) or 1.0)
        noise = self.rng.gumbel(size=mean.shape) * scale
        return np.asarray(np.argmax(mean + noise, axis=1).astype(self.domain.dtype))

    def _values(self, uniform: NDArray[np.float64]) -> IntArray:
        return np.asarray((uniform * self.domain.size_array).astype(self.domain.dtype))


@dataclass(frozen=True, eq=False)
class GuidedJudge(LossJudge):
    """The judge of sampling, which also keeps what a search steers by.

    ``seen`` gets one (pairs,) array per part of a batch: losses, or for delta > 0 divergences.
    """

    seen: list[Floats] = field(default_factory=list)

    def _screen(self, laws: ComparableLaws, batch: QueryBatch) -> Screened:
        screened = super()._screen(laws, batch)
        steer = screened.losses
        if isinstance(self.claim, Claim) and self.claim.delta > 0:
            left, right = (laws.distinct(side) for side in batch.pair_positions())
            steer = laws.hockey_sticks(left, right, self.claim.threshold)
        self.seen.append(np.asarray(steer, dtype=np.float64))
        return screened


class Explorer:
    """Asks for laws within a budget and learns which coordinates and values lose most.

    Where a statistic treats many records alike, datasets that it treats alike are one, and of their
    neighbours one of each class is looked at.

    Parameters
    ----------
    mechanism, domain, claim
        What is searched.
    budget
        Most output distributions to compute.
    rng
        Ties, and choices of directions.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        domain: Domain,
        claim: AnyClaim,
        *,
        budget: int,
        rng: np.random.Generator,
    ) -> None:
        self.domain = domain
        self.rng = rng
        classes = find_symmetries(mechanism, domain)
        self._changes = None if classes is None else SymmetricChanges.of(domain, classes)
        self.budget = budget
        self.total = Judgement()
        self._judge = GuidedJudge(mechanism, domain, claim)
        self._datasets: set[int] = set()
        self._centres: set[int] = set()
        self._width = width = max(domain.sizes)
        # Best score seen from datasets with a value at a coordinate: sum and number. Records that
        # are seen alike have none of their own.
        self.value_score = np.zeros((2, domain.dimension, width if classes is None else 0))
        self.direction_score = np.zeros((2, domain.dimension))
        self.directions = min(
            _MOST_DIRECTIONS, max(_LEAST_DIRECTIONS, self.budget // 64), self.most_neighbours
        )

    @property
    def most_neighbours(self) -> int:
        """Upper bound on the neighbours of a dataset that are told apart."""
        if self._changes is not None:
            return len(self._changes)
        return int((self.domain.size_array - 1).sum())

    @property
    def learns_values(self) -> bool:
        """Whether single records have good values; not where records are seen alike."""
        return self._changes is None

    @property
    def left(self) -> int:
        """Laws that may still be computed."""
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
        done = [explored for explored in best if explored is not None]
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
        near = self.domain if self._changes is None else self._changes
        rows, coordinates, values = near.neighbour_changes(points)
        kept = self._promising(rows, coordinates, len(points))[: max(1, self.left - len(points))]
        batch = PointBatch(points, rows[kept], coordinates[kept], values[kept])
        own_keys = self._keys(points)
        self._centres.update(own_keys.tolist())
        changed = own_keys[batch.rows] - self._key(
            batch.coordinates, points[batch.rows, batch.coordinates]
        )
        changed += self._key(batch.coordinates, batch.values)
        # As they are judged: each centre, then its neighbours.
        keys = np.insert(own_keys, batch.rows + 1, changed)
        scores = self._look(QueryBatch(batch), keys)
        if len(scores) < len(batch.rows):
            return None  # a violation ended it
        return self._learn(batch, scores)

    def _promising(self, rows: Indices, coordinates: Indices, count: int) -> Indices:
        """All neighbours; of very many, half the best directions so far and half at random."""
        if len(rows) <= self.directions * count:
            return np.arange(len(rows))
        scores = self.direction_score[0] / np.maximum(self.direction_score[1], 1)
        scores = scores[self._group(coordinates)]
        keys = self.rng.random(len(rows))
        half, chosen = self.directions // 2, []
        cuts = np.searchsorted(rows, np.arange(count + 1))
        for first, last in itertools.pairwise(cuts):
            better = _first(-scores[first:last], keys[first:last], half)
            left = np.flatnonzero(~better)
            by_chance = keys[first:last][left]
            better[left] = _first(by_chance, by_chance, self.directions - half)
            chosen.append(first + np.flatnonzero(better))
        return np.concatenate(chosen)

    def _learn(self, batch: PointBatch, scores: Floats) -> tuple[IntArray, Floats, IntArray]:
        n = len(batch.centres)
        capped = np.minimum(scores, 1e3)
        directions = self._group(batch.coordinates)
        np.add.at(self.direction_score[0], directions, capped)
        np.add.at(self.direction_score[1], directions, 1.0)
        best, where = np.zeros(n), np.full(n, -1)
        order = np.lexsort((self.rng.random(len(scores)), capped))
        # The last one written is the best; ties fall by chance.
        where[batch.rows[order]] = order
        seen = where >= 0
        best[seen] = capped[where[seen]]
        others = batch.centres.copy()
        change = where[seen]
        others[np.flatnonzero(seen), batch.coordinates[change]] = batch.values[change]
        if self.learns_values:
            places = np.arange(self.domain.dimension)
            for point, score in zip(batch.centres, best, strict=True):
                self.value_score[0, places, point] += score
                self.value_score[1, places, point] += 1.0
        return batch.centres, best, others

    def _look(self, batch: QueryBatch, keys: Keys) -> Floats:
        self._judge.seen.clear()
        judgement = self._judge.judge(batch)
        self.total += judgement
        # A violation ends a batch before its last datasets are looked at.
        self._datasets.update(keys[: judgement.queries].tolist())
        return np.concatenate([np.zeros(0), *self._judge.seen])

    def _keys(self, points: IntArray) -> Keys:
        """A number for each dataset, equal for those seen alike and changed by a step in O(1)."""
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
        bits = (self._group(coordinates) * self._width + values).astype(np.uint64)
        bits = (bits + np.uint64(1)) * _MIX[0]
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX[1]
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX[2]
        return np.asarray(bits ^ (bits >> np.uint64(31)))

    def _group(self, coordinates: Indices) -> Indices:
        """Coordinates, or the classes of their records where these are all that is seen."""
        return coordinates if self._changes is None else self._changes.classes[coordinates]


def _first(scores: Floats, keys: Floats, most: int) -> NDArray[np.bool_]:
    """The ``most`` lowest scores, ties by key, without a sort: there may be millions."""
    if most >= len(scores):
        return np.ones(len(scores), dtype=bool)
    limit = np.partition(scores, most)[most]
    chosen: NDArray[np.bool_] = scores < limit
    ties = np.flatnonzero(scores == limit)
    need = most - int(np.count_nonzero(chosen))
    chosen[ties[np.argpartition(keys[ties], need)[:need]]] = True
    return chosen
