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

from liptest.domains import Domain
from liptest.executors import ordered_map
from liptest.mechanisms.base import ComparableLaws, Mechanism
from liptest.mechanisms.closed_form import distinct_rows
from liptest.mechanisms.laws import LawTable
from liptest.mechanisms.neighbourhoods import covering_batches, laws_of_batch, uses_neighbours
from liptest.points import PointBatch
from liptest.privacy.pairs import check_laws, check_same_law
from liptest.privacy.pools import compacted
from liptest.statistics.value_walks import values_by_block

Indices = NDArray[np.int64]
Places = slice | Indices

# Points of a chunk. Parts are smaller where the domain is, so that there is work for many.
_CHUNK = 1 << 16
_LEAST, _CHUNKS = 1 << 11, 32


@dataclass(frozen=True, eq=False)
class Part:
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

    def parts(self, executor: Executor | None) -> Generator[Part, None, None]:
        """Each point once; the same parts on any workers."""
        chunks = math.ceil(self.domain.size / self._chunk_points)
        with closing(ordered_map(self, chunks, executor)) as results:
            for found in results:
                yield from found

    def __call__(self, number: int) -> list[Part]:
        """The parts of one chunk; the first law of each is asked for twice."""
        batches = self._batches(number)
        return [Part(places, self._laws(part), len(part)) for part, places in batches]

    def _laws(self, part: PointBatch) -> ComparableLaws:
        laws = laws_of_batch(self.mechanism, part)
        check_laws(self.mechanism, laws, part)
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

    def parts(self) -> Generator[Part, None, None]:
        """Each point once, in index order."""
        start = 0
        for points, values in values_by_block(self.mechanism.statistic, self.domain):
            distinct, rows = distinct_rows(values)
            laws = self.mechanism.laws_of(distinct)
            check_same_law(self.mechanism, laws, points[0], int(rows[0]))
            yield Part(slice(start, start + len(rows)), laws, len(distinct), rows)
            start += len(rows)
