"""A statistic as the table of its values on all datasets of a small domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from liptest.data.domains import Domain, IntArray
from liptest.errors import InputError
from liptest.statistics.protocol import EDGE_CHUNK, Statistic, Values, check_edge_budget


@dataclass(frozen=True, eq=False)
class Tabulated(Statistic):
    """Values that were computed once, on every dataset, and are not computed again.

    Edges: the table is looked at between all neighbours.

    Parameters
    ----------
    table
        (size,) whole numbers, in the order of the domain's indices.
    domain
        Of the datasets.
    name
        Printed in verdicts.
    """

    table: Values
    domain: Domain
    name: str = "tabulated statistic"

    proved_edges = True

    def check(self, domain: Domain) -> None:
        if domain != self.domain or self.table.shape != (domain.size,):
            raise InputError(
                f"statistic={self.name!r} is a table of {len(self.table)} values on {self.domain}, "
                f"not on {domain}",
                name="statistic",
            )

    def values(self, points: IntArray) -> Values:
        return np.asarray(self.table[self.domain.index(points)])

    def edge_count(self, domain: Domain) -> int | None:
        self.check(domain)
        return len(self._pairs)

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        check_edge_budget(self, domain, len(self._pairs))
        starts = range(0, len(self._pairs), EDGE_CHUNK)
        return (
            (self._pairs[i : i + EDGE_CHUNK, 0], self._pairs[i : i + EDGE_CHUNK, 1]) for i in starts
        )

    @cached_property
    def _pairs(self) -> Values:
        pairs = [np.zeros((0, 2), dtype=np.int64)]
        for first, second in self.domain.pair_views(self.table):
            ends = np.stack([first.reshape(-1), second.reshape(-1)], axis=1)
            pairs.append(np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0))
        return np.unique(np.concatenate(pairs), axis=0)
