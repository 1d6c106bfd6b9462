"""Histograms, of records that can be replaced or given as counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.errors import InputError, check_count, shown
from liptest.statistics.protocol import EDGE_CHUNK, Values, check_edge_budget


class Histogram:
    """How many records lie in each of ``cells`` cells; values are (n, cells).

    Two kinds of dataset have a histogram, and the neighbouring relation differs:

    ``given="records"``
        RecordGrid([cells] * n) (or Hypercube(n), two cells): n records, one of which is
        replaced. Edges: a dataset without its changed record is any histogram m of n-1
        records, and the record is put into cell a or b, so the pairs are {m + e_a, m + e_b},
        a < b. m is the smaller count in each cell, so each pair is met once:
        C(n+cells-2, cells-1) * cells (cells-1)/2 pairs (theory 3.8).
    ``given="counts"``
        Hypergrid of dimension ``cells``: the dataset is its own histogram and one record is added
        or removed. Edges: the edges of the grid.

    Raises InputError when ``cells`` or ``given`` is none of these.
    """

    proved_edges = True

    def __init__(self, cells: int, *, given: str = "records") -> None:
        self.cells = check_count("cells", cells)
        if given not in ("records", "counts"):
            raise InputError(
                f"given={shown(given)} must be 'records' (RecordGrid, one is replaced) or "
                f"'counts' (Hypergrid, one is added or removed)",
                name="given",
                value=given,
            )
        self.given = given
        self.name = "histogram"

    def __repr__(self) -> str:
        return f"Histogram({self.cells}, given={self.given!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def check(self, domain: Domain) -> None:
        if self.given == "counts":
            fits = isinstance(domain, Hypergrid) and domain.dimension == self.cells
            wanted = f"a Hypergrid of {self.cells} coordinates"
        else:
            fits = isinstance(domain, (RecordGrid, Hypercube)) and bool(
                np.all(domain.size_array == self.cells)
            )
            wanted = f"RecordGrid([{self.cells}] * n)"
        if not fits:
            raise InputError(
                f"statistic={self!r} needs {wanted}, not {domain}; given='records' counts records, "
                f"given='counts' takes the dataset as the histogram",
                name="statistic",
            )

    def values(self, points: IntArray) -> Values:
        if self.given == "counts":
            return points.astype(np.int64)
        rows = np.arange(len(points))[:, None] * self.cells
        flat = np.bincount((points + rows).reshape(-1), minlength=len(points) * self.cells)
        return np.asarray(flat.reshape(len(points), self.cells))

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        changed: Values = values[batch.rows]
        each = np.arange(len(batch.rows))
        if self.given == "counts":
            changed[each, batch.coordinates] = batch.values
        else:
            changed[each, batch.centres[batch.rows, batch.coordinates]] -= 1
            changed[each, batch.values] += 1
        return changed

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """All records are of one kind."""
        if self.given == "counts":
            return np.arange(domain.dimension)
        return np.zeros(domain.dimension, dtype=np.int64)

    def of_counts(self, domain: Domain) -> Histogram:
        """The counts themselves."""
        return Histogram(self.cells, given="counts")

    def edge_count(self, domain: Domain) -> int | None:
        self.check(domain)
        if self.given == "counts":
            return domain.neighbouring_pairs
        others = math.comb(domain.dimension + self.cells - 2, self.cells - 1)
        return others * math.comb(self.cells, 2)

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        check_edge_budget(self, domain, self.edge_count(domain) or 0)
        if self.given == "counts":
            return _grid_edges(domain)
        return _replacements(domain.dimension - 1, self.cells)

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        self.check(domain)
        before, after = (np.asarray(value, dtype=np.int64) for value in (left, right))
        if self.given == "counts":
            found = domain.check_points(np.stack([before, after]))
            near = int(np.abs(before - after).sum()) == 1
            pair = found[0], found[1]
        else:
            common = np.minimum(before, after)
            near = _is_replacement(before, after, common, domain.dimension)
            pair = self._records(common, before), self._records(common, after)
        if not near:
            raise InputError(
                f"no two neighbouring datasets of {domain} have the histograms "
                f"{before.tolist()} and {after.tolist()}",
                name="statistic",
            )
        return pair[0].astype(domain.dtype), pair[1].astype(domain.dtype)

    def _records(self, common: Values, counts: Values) -> IntArray:
        # The records that both datasets share come first, the replaced one last.
        cells = np.arange(self.cells)
        shared = np.repeat(cells, np.maximum(common, 0))
        return np.concatenate([shared, np.repeat(cells, np.maximum(counts - common, 0))])


def _is_replacement(before: Values, after: Values, common: Values, records: int) -> bool:
    sizes = before.sum() == after.sum() == records
    moved = int(np.abs(before - after).sum())
    return bool(sizes and common.min() >= 0 and moved == 2)


def _replacements(others: int, cells: int) -> Iterator[tuple[Values, Values]]:
    first, second = np.triu_indices(cells, k=1)
    unit = np.eye(cells, dtype=np.int64)
    if len(first) == 0:
        return
    for block in _compositions(others, cells, max(1, EDGE_CHUNK // len(first))):
        common = block[:, None, :]
        yield (
            (common + unit[first]).reshape(-1, cells),
            (common + unit[second]).reshape(-1, cells),
        )


def _compositions(total: int, parts: int, chunk: int) -> Iterator[Values]:
    # Stars and bars: parts - 1 bars among total + parts - 1 places.
    places = total + parts - 1
    bars = combinations(range(places), parts - 1)
    while True:
        flat = np.fromiter(chain.from_iterable(islice(bars, chunk)), dtype=np.int64)
        if len(flat) == 0:
            return
        yield np.diff(flat.reshape(-1, parts - 1), axis=1, prepend=-1, append=places) - 1


def _grid_edges(domain: Domain) -> Iterator[tuple[Values, Values]]:
    for block in domain.all_points(max(1, EDGE_CHUNK // domain.dimension)):
        points = block.astype(np.int64)
        rows, coordinates = np.nonzero(points + 1 < domain.size_array)
        upper = points[rows]
        upper[np.arange(len(rows)), coordinates] += 1
        yield points[rows], upper
