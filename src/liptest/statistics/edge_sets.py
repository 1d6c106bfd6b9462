"""All edges of a sum over the records in closed form: counts, weighted sums, histograms.

Each formula is proved where the statistic is (``liptest.statistics.sums``). Sums that have none are
computed by ``liptest.statistics.reachable``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray, RecordGrid
from liptest.errors import BudgetError
from liptest.statistics.code_sets import (
    DifferenceSets,
    are_members,
    bit_positions,
    fit_in_memory,
    spread_bits,
)
from liptest.statistics.protocol import EDGE_BUDGET, EDGE_CHUNK, Values

#: An exact count of the pairs costs about as much as listing them; past this, a bound.
COUNT_BUDGET = 4 * EDGE_BUDGET
# Sets of sums are bitsets: one bit for each number up to the largest sum.
_MAX_RANGE = 1 << 30


class EdgeSet(ABC):
    """The edges of one statistic on one domain; values are vectors of k numbers."""

    @abstractmethod
    def count_edges(self) -> int:
        """How many there are, or an upper bound above EDGE_BUDGET where counting is too dear."""

    @abstractmethod
    def list_edges(self) -> Iterator[tuple[Values, Values]]:
        """Both ends of each edge, as (m, k) vectors, in chunks."""

    @abstractmethod
    def find_neighbours(self, left: Values, right: Values) -> tuple[IntArray, IntArray] | None:
        """Two neighbouring datasets with these (k,) values; None when there are none."""

    def difference_sets(self) -> DifferenceSets | None:
        """The edges of single numbers by difference; None where not known or too large."""
        return None


@dataclass(frozen=True)
class CountEdges(EdgeSet):
    """(k, k + 1) for all k below the number of records."""

    records: int

    def count_edges(self) -> int:
        return self.records

    def list_edges(self) -> Iterator[tuple[Values, Values]]:
        for start in range(0, self.records, EDGE_CHUNK):
            lower = np.arange(start, min(start + EDGE_CHUNK, self.records))[:, None]
            yield lower, lower + 1

    def find_neighbours(self, left: Values, right: Values) -> tuple[IntArray, IntArray] | None:
        low, high = sorted((int(left[0]), int(right[0])))
        if high != low + 1 or low < 0 or high > self.records:
            return None
        return self._dataset(left), self._dataset(right)

    def _dataset(self, count: Values) -> IntArray:
        return (np.arange(self.records) < count).astype(np.int8)


@dataclass(frozen=True)
class ReplacementEdges(EdgeSet):
    """One of the records, all of the same ``cells`` values, goes to another cell."""

    records: int
    cells: int

    def count_edges(self) -> int:
        others = math.comb(self.records + self.cells - 2, self.cells - 1)
        return others * math.comb(self.cells, 2)

    def list_edges(self) -> Iterator[tuple[Values, Values]]:
        first, second = np.triu_indices(self.cells, k=1)
        unit = np.eye(self.cells, dtype=np.int64)
        if len(first) == 0:
            return
        chunk = max(1, EDGE_CHUNK // len(first))
        for block in _compositions(self.records - 1, self.cells, chunk):
            common = block[:, None, :]
            yield (
                (common + unit[first]).reshape(-1, self.cells),
                (common + unit[second]).reshape(-1, self.cells),
            )

    def find_neighbours(self, left: Values, right: Values) -> tuple[IntArray, IntArray] | None:
        common = np.minimum(left, right)
        moved = int(np.abs(left - right).sum())
        if not left.sum() == right.sum() == self.records or common.min() < 0 or moved != 2:
            return None
        return self._records(common, left), self._records(common, right)

    def _records(self, common: Values, counts: Values) -> IntArray:
        # The records that both datasets share come first, the replaced one last.
        cells = np.arange(self.cells)
        return np.concatenate([np.repeat(cells, common), np.repeat(cells, counts - common)])


@dataclass(frozen=True)
class GridEdges(EdgeSet):
    """The dataset is its own value: the edges of its grid."""

    domain: Domain

    def count_edges(self) -> int:
        return self.domain.neighbouring_pairs

    def list_edges(self) -> Iterator[tuple[Values, Values]]:
        for block in self.domain.all_points(max(1, EDGE_CHUNK // self.domain.dimension)):
            points = block.astype(np.int64)
            rows, coordinates = np.nonzero(points + 1 < self.domain.size_array)
            upper = points[rows]
            upper[np.arange(len(rows)), coordinates] += 1
            yield points[rows], upper

    def find_neighbours(self, left: Values, right: Values) -> tuple[IntArray, IntArray] | None:
        pair = self.domain.check_points(np.stack([left, right]))
        return (pair[0], pair[1]) if int(np.abs(left - right).sum()) == 1 else None


def _compositions(total: int, parts: int, chunk: int) -> Iterator[Values]:
    # Stars and bars: parts - 1 bars among total + parts - 1 places.
    places = total + parts - 1
    bars = combinations(range(places), parts - 1)
    while True:
        flat = np.fromiter(chain.from_iterable(islice(bars, chunk)), dtype=np.int64)
        if len(flat) == 0:
            return
        yield np.diff(flat.reshape(-1, parts - 1), axis=1, prepend=-1, append=places) - 1


@dataclass(frozen=True)
class WeightedEdges(EdgeSet):
    """Edges of a weighted sum, after reflection and division by the common divisor ``unit``.

    ``steps`` are the c distinct absolute weights, ``groups`` the coordinates of each,
    ``multiples`` their M_w, ``jumps`` the largest t of each; sums are ``base + unit * s``.
    """

    reflected: NDArray[np.bool_]
    tops: NDArray[np.int64]
    base: int
    unit: int
    steps: list[int]
    groups: list[NDArray[np.int64]]
    multiples: list[int]
    jumps: list[int]
    neighbouring_pairs: int

    @classmethod
    def of(cls, weights: NDArray[np.int64], domain: Domain, constant: int) -> WeightedEdges:
        tops = domain.size_array - 1
        reflected = weights < 0
        unit = int(np.gcd.reduce(weights)) or 1
        steps, members = np.unique(np.abs(weights) // unit, return_inverse=True)
        cuts = np.cumsum(np.bincount(members.reshape(-1), minlength=len(steps)))[:-1]
        groups = np.split(np.argsort(members.reshape(-1), kind="stable"), cuts)
        replaced = isinstance(domain, RecordGrid)
        return cls(
            reflected,
            tops,
            constant + int((weights * tops)[reflected].sum()),
            unit,
            [int(step) for step in steps],
            groups,
            [int(tops[group].sum()) for group in groups],
            [
                int(tops[group].max()) if replaced else min(1, int(tops[group].max()))
                for group in groups
            ],
            domain.neighbouring_pairs,
        )

    @property
    def largest(self) -> int:
        return sum(w * m for w, m in zip(self.steps, self.multiples, strict=True))

    @property
    def reached(self) -> int:
        """The bitset of all sums."""
        return self._add(1, range(len(self.steps)))

    @property
    def differences(self) -> set[int]:
        """What a change of one coordinate can add."""
        return {
            w * t
            for w, jump in zip(self.steps, self.jumps, strict=True)
            if w
            for t in range(1, jump + 1)
        }

    def count_edges(self) -> int:
        # Pairs (v, v + difference) with both ends in 0 .. largest.
        differences = self.differences
        bound = (self.largest + 1) * len(differences) - sum(differences)
        bound = min(bound, self.neighbouring_pairs)
        if bound > COUNT_BUDGET:
            return bound
        return sum(lower.bit_count() for lower in self._lower_ends().values())

    def list_edges(self) -> Iterator[tuple[Values, Values]]:
        for difference, lower in sorted(self._lower_ends().items()):
            for positions in bit_positions(lower):
                left = (self.base + self.unit * positions)[:, None]
                yield left, left + self.unit * difference

    def difference_sets(self) -> DifferenceSets | None:
        if not fit_in_memory(len(self.differences), self.largest):
            return None
        sets = {k: lower for k, lower in self._lower_ends().items() if lower}
        return DifferenceSets(self.base, self.unit, self.largest, self.reached, sets)

    def _lower_ends(self) -> dict[int, int]:
        """For each difference the bitset of the lower values of the pairs."""
        ends: dict[int, int] = {}
        for k, others in self._leave_one_out(0, len(self.steps), 1):
            w = self.steps[k]
            for t in range(1, self.jumps[k] + 1 if w else 0):
                lower = spread_bits(others, w, self.multiples[k] - t)
                ends[w * t] = ends.get(w * t, 0) | lower
        return ends

    def find_neighbours(self, left: Values, right: Values) -> tuple[IntArray, IntArray] | None:
        """As stated; BudgetError where the sums are too large to be searched."""
        low, high = sorted((int(left[0]), int(right[0])))
        pair = self._ascending_neighbours(low, high)
        return pair if pair is None or int(left[0]) == low else pair[::-1]

    def _ascending_neighbours(self, low: int, high: int) -> tuple[IntArray, IntArray] | None:
        lower, rest = divmod(low - self.base, self.unit)
        difference, odd = divmod(high - low, self.unit)
        if rest or odd or not 0 <= lower <= self.largest:
            return None
        for k, w in enumerate(self.steps):
            t = 1 if w == difference == 0 else difference // max(w, 1)
            if w * t == difference and 1 <= t <= self.jumps[k]:
                taken = self._decompose(lower, k, t)
                if taken is not None:
                    return self._datasets(taken, k, t)
        return None

    def _leave_one_out(self, first: int, stop: int, bits: int) -> Iterator[tuple[int, int]]:
        # Halving adds each weight log2(c) times instead of c - 1 times.
        if stop - first == 1:
            yield first, bits
            return
        middle = (first + stop) // 2
        yield from self._leave_one_out(first, middle, self._add(bits, range(middle, stop)))
        yield from self._leave_one_out(middle, stop, self._add(bits, range(first, middle)))

    def _add(self, bits: int, weights: range) -> int:
        for k in weights:
            bits = spread_bits(bits, self.steps[k], self.multiples[k])
        return bits

    def _decompose(self, total: int, k: int, t: int) -> list[int] | None:
        """Multiples of each weight that add up to ``total``, at most M - t of weight k."""
        if self.largest > _MAX_RANGE:
            raise BudgetError(
                f"sums up to {self.largest:,} are too large to be searched for datasets",
                needed=self.largest,
                budget=_MAX_RANGE,
            )
        limits = [m - t if j == k else m for j, m in enumerate(self.multiples)]
        reached = [1]
        for w, limit in zip(self.steps, limits, strict=True):
            reached.append(spread_bits(reached[-1], w, limit))
        if not reached[-1] >> total & 1:
            return None
        taken = []
        for w, limit, before in reversed(list(zip(self.steps, limits, reached, strict=False))):
            choices = np.arange(min(limit, total // w if w else 0) + 1)
            count = int(choices[are_members(before, total - w * choices)][0])
            taken.append(count)
            total -= w * count
        return taken[::-1]

    def _datasets(self, taken: list[int], k: int, t: int) -> tuple[IntArray, IntArray]:
        lower = np.zeros(len(self.tops), dtype=np.int64)
        changed = self.groups[k][int(np.argmax(self.tops[self.groups[k]] >= t))]
        for j, group in enumerate(self.groups):
            room = self.tops[group].copy()
            room[group == changed] -= t
            before = np.cumsum(room) - room
            lower[group] = np.clip(taken[j] - before, 0, room)
        upper = lower.copy()
        upper[changed] += t
        flip = self.reflected
        return np.where(flip, self.tops - lower, lower), np.where(flip, self.tops - upper, upper)
