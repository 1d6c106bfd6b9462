"""A few coordinates of the dataset as a statistic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from liptest.data.domains import Domain, Hypercube, IntArray
from liptest.data.points import PointBatch
from liptest.statistics.protocol import EDGE_CHUNK, Statistic, Values, check_edge_budget


@dataclass(frozen=True)
class Coordinates(Statistic):
    """The values of some coordinates, in ascending order of these, a constant added to each.

    Edges: two values are those of neighbouring datasets if and only if they are neighbours in
    the domain that has these coordinates only. The other coordinates do not restrict them, and a
    change of another coordinate leaves the value as it is.
    """

    chosen: tuple[int, ...]
    sizes: tuple[int, ...]
    constant: int = 0

    proved_edges = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """Names them."""
        words = ", ".join(map(str, self.chosen))
        return f"coordinates {words}" if len(self.chosen) != 1 else f"coordinate {words}"

    def check(self, domain: Domain) -> None:
        """Nothing to check: the coordinates were read from datasets of the domain."""

    def values(self, points: IntArray) -> Values:
        return points[:, list(self.chosen)].astype(np.int64) + self.constant

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        changed = values[batch.rows]
        places = np.full(batch.centres.shape[1], -1)
        places[list(self.chosen)] = np.arange(len(self.chosen))
        column = places[batch.coordinates]
        hit = np.flatnonzero(column >= 0)
        changed[hit, column[hit]] = batch.values[hit] + self.constant
        return changed

    def edge_count(self, domain: Domain) -> int | None:
        return self.inner(domain).neighbouring_pairs

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        inner = self.inner(domain)
        check_edge_budget(self, domain, inner.neighbouring_pairs)
        for block in inner.all_points(max(1, EDGE_CHUNK // max(1, inner.dimension))):
            rows, coordinates, values = inner.neighbour_changes(block)
            batch = PointBatch(block, rows, coordinates, values)
            # Each pair once: from its smaller end.
            up = values > block[rows, coordinates]
            ends = batch.array()[len(block) :].astype(np.int64)
            yield block[rows[up]].astype(np.int64) + self.constant, ends[up] + self.constant

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        datasets = np.zeros((2, domain.dimension), dtype=domain.dtype)
        datasets[:, list(self.chosen)] = np.array([left, right]) - self.constant
        return datasets[0], datasets[1]

    def inner(self, domain: Domain) -> Domain:
        """The domain of these coordinates alone."""
        if isinstance(domain, Hypercube):
            return Hypercube(len(self.chosen))
        kind: Any = type(domain)
        inner: Domain = kind([domain.sizes[i] for i in self.chosen])
        return inner
