"""Laws of a neighbourhood at little more than the cost of one.

``Mechanism.laws`` gets a batch of datasets in which most differ from another one in a single
coordinate; mechanisms that see a statistic use that for the whole batch at once. A mechanism that
can do it for one dataset at a time has a method ``neighbour_laws`` instead, and it is used wherever
laws of a batch are computed: sampling, searches, exhaustive passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, Hypercube, IntArray
from liptest.data.points import PointBatch
from liptest.errors import LawError, call_user_code, quote
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import ComparableLaws, LawTable

Indices = NDArray[np.int64]
_SLICE = 1 << 16


@dataclass(frozen=True)
class Changes:
    """m changes of one dataset: entry j sets ``coordinates[j]`` to ``values[j]``; (m,) each.

    A value need not be a neighbouring one on a grid.
    """

    coordinates: Indices
    values: Indices

    def __len__(self) -> int:
        return len(self.coordinates)

    def of(self, dataset: IntArray) -> PointBatch:
        """The dataset and its changed copies as a batch."""
        rows = np.zeros(len(self), dtype=np.int64)
        return PointBatch(np.asarray(dataset)[None, :], rows, self.coordinates, self.values)


@runtime_checkable
class KnowsNeighbours(Protocol):
    """A mechanism that computes the laws of a neighbourhood faster than one by one.

    It is believed, as ``laws`` is: one changed dataset per slice is computed again with ``law``
    and must have the same law.
    """

    def neighbour_laws(self, dataset: IntArray, changes: Changes) -> ComparableLaws:
        """Laws of 1 + m queries: the dataset, (d,), and its m changed copies in their order."""
        ...


def uses_neighbours(mechanism: Mechanism) -> bool:
    """Whether ``laws_of_batch`` asks for neighbourhoods; a statistic is faster, batch by batch."""
    return isinstance(mechanism, KnowsNeighbours) and mechanism.statistic is None


def laws_of_batch(mechanism: Mechanism, batch: PointBatch) -> ComparableLaws:
    """``mechanism.laws(batch)``, through ``neighbour_laws`` where the mechanism has it.

    Raises LawError for what is not a table of laws, and when the tables of two neighbourhoods have
    different outputs.
    """
    if not uses_neighbours(mechanism) or len(batch.rows) == 0:
        table = mechanism.laws(batch)
        if not isinstance(table, ComparableLaws):
            raise LawError(
                f"{mechanism.name}: laws gave {quote(table)}; return a LawTable, or another "
                f"subclass of ComparableLaws"
            )
        return table
    assert isinstance(mechanism, KnowsNeighbours)
    cuts = np.searchsorted(batch.rows, np.arange(len(batch.centres) + 1))
    tables: list[LawTable] = []
    places: list[Indices] = []
    for centre, start, stop in zip(batch.centres, cuts, cuts[1:], strict=False):
        changes = Changes(batch.coordinates[start:stop], batch.values[start:stop])
        laws = call_user_code(
            mechanism.name, "neighbour_laws", mechanism.neighbour_laws, centre.copy(), changes
        )
        if not isinstance(laws, LawTable) or (tables and laws.outputs != tables[0].outputs):
            raise LawError(
                f"{mechanism.name}: neighbour_laws must give a LawTable with the same outputs for "
                f"each dataset"
            )
        tables.append(laws)
        places.append(laws.distinct(np.arange(len(changes) + 1)))
    return _join(tables, places)


def _join(tables: list[LawTable], places: list[Indices]) -> LawTable:
    """One table; the first place of each neighbourhood is its centre."""
    sizes = np.array([len(table.logs) for table in tables])
    starts = np.cumsum(sizes) - sizes
    shifted = [place + start for place, start in zip(places, starts, strict=True)]
    rows = [place[:1] for place in shifted] + [place[1:] for place in shifted]
    keys = [table.exact for table in tables]
    open_masses = [
        np.zeros(len(table.logs)) if table.unexplored is None else table.unexplored
        for table in tables
    ]
    return LawTable(
        tables[0].outputs,
        np.concatenate([table.logs for table in tables]),
        np.concatenate(rows),
        np.concatenate([np.broadcast_to(t.errors, len(t.logs)) for t in tables]),
        all(table.zeros_exact for table in tables),
        None if None in keys else tuple(key for each in keys for key in each or ()),
        None if all(t.unexplored is None for t in tables) else np.concatenate(open_masses),
    )


def covering_batches(
    domain: Domain, limit: int, start: int = 0, count: int | None = None
) -> Iterator[tuple[PointBatch, Indices]]:
    """All points of a domain, each once, as few centres and their changed copies.

    With ``start`` and ``count`` those of the centres that are among so many points from there on.

    On a cube the centres are a Hamming code in the first 2**m - 1 <= d coordinates: each other
    point is one flip off exactly one of them. Elsewhere they are the points with a zero in the
    coordinate of most values. Yields batches of about ``limit`` points and the indices of these.
    """
    if isinstance(domain, Hypercube):
        inner = (1 << ((domain.dimension + 1).bit_length() - 1)) - 1
    else:
        longest = int(np.argmax(domain.size_array))
    stop = domain.size if count is None else min(start + count, domain.size)
    for first in range(start, stop, _SLICE):
        points = domain.points(np.arange(first, min(first + _SLICE, stop)))
        if isinstance(domain, Hypercube):
            digits = points[:, :inner] * np.arange(1, inner + 1)
            centres = points[np.bitwise_xor.reduce(digits, axis=1) == 0]
            coordinates = np.tile(np.arange(inner), len(centres))
            values = 1 - centres[:, :inner].astype(np.int64).reshape(-1)
        else:
            centres = points[points[:, longest] == 0]
            others = np.arange(1, domain.sizes[longest])
            coordinates = np.full(len(centres) * len(others), longest)
            values = np.tile(others, len(centres))
        rows = np.repeat(np.arange(len(centres)), len(values) // max(1, len(centres)))
        for _, _, part in PointBatch(centres, rows, coordinates, values).parts(limit):
            yield part, _indices(domain, part)


def _indices(domain: Domain, batch: PointBatch) -> Indices:
    own = domain.index(batch.centres)
    before = batch.centres[batch.rows, batch.coordinates]
    moved = (batch.values - before) * domain.strides[batch.coordinates]
    return np.concatenate([own, own[batch.rows] + moved])
