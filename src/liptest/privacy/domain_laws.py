"""The laws at all points of a domain, in parts that depend on the task alone."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain
from liptest.data.points import PointBatch
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import distinct_rows
from liptest.mechanisms.laws import ComparableLaws, LawTable
from liptest.mechanisms.neighbourhoods import covering_batches, uses_neighbours
from liptest.privacy.comparison import ask_laws, check_same_law, compacted
from liptest.runs.workers import ordered_map
from liptest.statistics.value_walks import suffix_start, values_by_block

# Which pairs of laws neighbouring points of a domain have, where the laws are few.
#
# On a product of finite sets the last coordinates make up a block. Blocks in which all points have
# the same laws as in another one need not be looked at twice: neither the pairs inside, nor those
# across two blocks. Of a mechanism that sees little, most blocks are equal.


Indices = NDArray[np.int64]
Rows = NDArray[np.int32]

_BLOCK = 1 << 12
# Pairs that are marked at once.
_SLICE = 1 << 20


def marked_pairs(domain: Domain, rows: Rows, laws: int) -> tuple[Indices, Indices, int]:
    """Distinct pairs of laws of neighbours, and how many neighbouring pairs there are.

    ``rows`` says which of the laws each point has, by index; (size,).
    """
    seen = np.zeros(laws * laws, dtype=bool)
    if domain.one_at_a_time:
        _mark_by_blocks(domain, rows, laws, seen)
    else:
        for first, second in domain.pair_views(rows):
            _mark(seen, laws, first.reshape(-1), second.reshape(-1))
    code = np.flatnonzero(seen)
    return code // laws, code % laws, domain.neighbouring_pairs


def _mark(seen: NDArray[np.bool_], laws: int, first: Rows, second: Rows) -> None:
    for start in range(0, len(first), _SLICE):
        stop = start + _SLICE
        seen[first[start:stop] * np.int32(laws) + second[start:stop]] = True


def _mark_by_blocks(domain: Domain, rows: Rows, laws: int, seen: NDArray[np.bool_]) -> None:
    start = suffix_start(domain, _BLOCK)
    blocks = rows.reshape(-1, int(domain.strides[start]) * domain.sizes[start])
    which, distinct = _distinct_blocks(blocks)
    for axis in range(start, domain.dimension):
        view = distinct.reshape(-1, domain.sizes[axis], int(domain.strides[axis]))
        for a, b in domain.value_pairs(axis):
            _mark(seen, laws, view[:, a].reshape(-1), view[:, b].reshape(-1))
    step = max(1, _SLICE // blocks.shape[1])
    for left, right in _block_pairs(domain, which, len(distinct), start):
        for first in range(0, len(left), step):
            ends = (distinct[side[first : first + step]].reshape(-1) for side in (left, right))
            _mark(seen, laws, *ends)


def _distinct_blocks(blocks: Rows) -> tuple[Indices, Rows]:
    """Which of the different blocks each block is, and these."""
    known: dict[int, int] = {}
    firsts: list[int] = []
    which = np.empty(len(blocks), dtype=np.int64)
    for k, block in enumerate(blocks):
        found = known.setdefault(hash(block.tobytes()), len(firsts))
        if found == len(firsts) or not np.array_equal(blocks[firsts[found]], block):
            # A hash that two different blocks share: the second one counts as new.
            found = len(firsts)
            firsts.append(k)
        which[k] = found
    return which, blocks if len(firsts) == len(blocks) else blocks[firsts]


def _block_pairs(
    domain: Domain, which: Indices, blocks: int, stop: int
) -> Iterator[tuple[Indices, Indices]]:
    """Distinct pairs of different blocks between which a coordinate before ``stop`` moves."""
    inner = int(domain.strides[stop]) * domain.sizes[stop]
    for axis in range(stop):
        view = which.reshape(-1, domain.sizes[axis], int(domain.strides[axis]) // inner)
        for a, b in domain.value_pairs(axis):
            code = np.unique(view[:, a] * blocks + view[:, b])
            yield code // blocks, code % blocks


Places = slice | Indices

# Points of a chunk. Parts are smaller where the domain is, so that there is work for many.
_CHUNK = 1 << 16
_LEAST, _CHUNKS = 1 << 11, 32


@dataclass(frozen=True, eq=False)
class LawsAtPoints:
    """Laws of some points: query ``rows[i]`` of ``queries`` is that of the point ``places[i]``.

    ``rows`` None: each query is a point, in order.
    """

    places: Places
    laws: ComparableLaws
    queries: int
    rows: Indices | None = None


@dataclass(frozen=True, eq=False)
class DomainLaws:
    """Laws of a mechanism that sees the whole dataset, chunk by chunk, on any workers."""

    mechanism: Mechanism
    domain: Domain

    def parts(self, executor: Executor | None) -> Generator[LawsAtPoints, None, None]:
        """Each point once; the same parts on any workers."""
        chunks = math.ceil(self.domain.size / self._chunk_points)
        with closing(ordered_map(self, chunks, executor)) as results:
            for found in results:
                yield from found

    def __call__(self, number: int) -> list[LawsAtPoints]:
        """The parts of one chunk; the first law of each is asked for twice."""
        batches = self._batches(number)
        return [LawsAtPoints(places, self._laws(part), len(part)) for part, places in batches]

    def _laws(self, part: PointBatch) -> ComparableLaws:
        laws = ask_laws(self.mechanism, part, check=True)
        return compacted(laws) if isinstance(laws, LawTable) else laws

    @property
    def _chunk_points(self) -> int:
        limit = 16 * self.mechanism.points_per_slice(self.domain)
        share = max(_LEAST, math.ceil(self.domain.size / _CHUNKS))
        return min(_CHUNK, limit, share)

    def _batches(self, number: int) -> Iterator[tuple[PointBatch, Places]]:
        limit, size = self.mechanism.points_per_slice(self.domain), self._chunk_points
        start = number * size
        if uses_neighbours(self.mechanism):
            yield from covering_batches(self.domain, limit, start, size)
            return
        points = self.domain.points(np.arange(start, min(start + size, self.domain.size)))
        for _, _, part in PointBatch(points).parts(limit):
            yield part, slice(start, start + len(part))
            start += len(part)


@dataclass(frozen=True, eq=False)
class StatisticLaws:
    """Laws of a mechanism that sees a statistic, at all points: a law for each distinct value."""

    mechanism: Any
    domain: Domain

    def parts(self) -> Generator[LawsAtPoints, None, None]:
        """Each point once, in index order."""
        start = 0
        for points, values in values_by_block(self.mechanism.statistic, self.domain):
            distinct, rows = distinct_rows(values)
            laws = self.mechanism.laws_of(distinct)
            check_same_law(self.mechanism, laws, points[0], int(rows[0]))
            yield LawsAtPoints(slice(start, start + len(rows)), laws, len(distinct), rows)
            start += len(rows)
