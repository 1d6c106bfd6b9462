"""Sums of what each record contributes, a small vector of whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.errors import InputError, shown
from liptest.statistics.difference_sets import DifferenceSets
from liptest.statistics.protocol import Values, check_edge_budget
from liptest.statistics.reachable import Reach

_LARGEST = 1 << 61


# Numbers gathered at once for ``values``.
_SLICE = 1 << 20


class Contributions:
    """``sum over r of table[x_r]``: each record adds a whole number, or a vector of k of them.

    ``Contributions([[0, 0], [1, 0], [1, 7]])`` on ``RecordGrid([3] * n)`` counts the records that
    are not 0 and adds 7 for each that is 2.

    Edges. Neighbours x and y differ in one coordinate r, where x_r = a and y_r = b are
    neighbouring values of the domain. With o the sum of what the other coordinates add, their
    values are (o + c_r(a), o + c_r(b)). Conversely the other coordinates may take any values
    whatever r, a and b are, so every sum o of one contribution for each of them occurs. Hence the
    edges are exactly the pairs (o + c_r(a), o + c_r(b)) with different ends, over all r, all
    neighbouring a, b, and all o that the other coordinates can reach. Coordinates with equal
    tables and sizes have the same o, so one of each kind is enough (theory 3.8).

    Parameters
    ----------
    table
        (size,) or (size, k) whole numbers, the same for all coordinates; row v is what a record of
        value v adds. Values are (n,) or (n, k) accordingly.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        A table that is empty or holds anything but whole numbers; on use, a domain whose sizes are
        not those of the tables, or sums of 2**61 and more.
    """

    proved_edges = True

    def __init__(self, table: ArrayLike, *, name: str = "sum of contributions") -> None:
        self._fill([_checked(table)], shared=True, name=name)

    @classmethod
    def each(
        cls, tables: Sequence[ArrayLike], *, name: str = "sum of contributions"
    ) -> Contributions:
        """A table for each of the d coordinates; all give a number, or vectors of one length."""
        known: dict[tuple[Any, ...], Values] = {}
        checked = [_checked(table) for table in tables]
        if not checked or len({table.shape[1:] for table in checked}) != 1:
            raise InputError(
                f"tables={shown(tables)}: give one table per coordinate, with rows of one length",
                name="tables",
            )
        # Equal tables become one object, so that their coordinates are of one kind.
        same = [known.setdefault((t.shape, t.tobytes()), t) for t in checked]
        found = cls.__new__(cls)
        found._fill(same, shared=False, name=name)
        return found

    def _fill(self, tables: list[Values], *, shared: bool, name: str) -> None:
        self.name = name
        self._flat = tables[0].ndim == 1
        rows = {id(table): table.reshape(len(table), -1) for table in tables}
        self._tables = [rows[id(table)] for table in tables]
        self._shared = shared

    def __repr__(self) -> str:
        if self._shared:
            table = self._tables[0][:, 0] if self._flat else self._tables[0]
            return f"Contributions({shown(table.tolist(), 60)})"
        return f"Contributions.each(<{len(self._tables)} tables>)"

    def _key(self) -> tuple[Any, ...]:
        tables = tuple((table.shape, table.tobytes()) for table in self._tables)
        return type(self).__name__, self._shared, self._flat, tables

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contributions) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def check(self, domain: Domain) -> None:
        tables = self._all_tables(domain)
        sizes = tuple(len(table) for table in tables)
        if sizes != domain.sizes:
            raise InputError(
                f"statistic={self!r}: tables of {shown(sorted(set(sizes)))} values for {domain}; "
                f"give a row for each value of a coordinate, with Contributions.each(tables) where "
                f"coordinates differ",
                name="statistic",
            )
        largest = sum(int(np.abs(table).max(initial=0)) for table in tables)
        if largest >= _LARGEST:
            raise InputError("statistic: the sums do not fit in 61 bits", name="statistic")

    def values(self, points: IntArray) -> Values:
        n, d = points.shape
        found = np.zeros((n, self._tables[0].shape[1]), dtype=np.int64)
        step = max(1, _SLICE // max(1, d * found.shape[1]))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            found[rows] = self._contributions(np.arange(d), points[rows]).sum(axis=1)
        return self._shaped(found)

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        before = batch.centres[batch.rows, batch.coordinates]
        own = values.reshape(len(values), -1)[batch.rows]
        added = self._contributions(batch.coordinates, batch.values)
        return self._shaped(own + added - self._contributions(batch.coordinates, before))

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """Records with one table are of one kind."""
        known: dict[int, int] = {}
        tables = self._all_tables(domain)
        return np.array([known.setdefault(id(table), len(known)) for table in tables])

    def edge_count(self, domain: Domain) -> int | None:
        return self._reach(domain).edge_count(domain)

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        check_edge_budget(self, domain, self.edge_count(domain) or 0)
        pairs = self._reach(domain).edges()
        return ((self._shaped(left), self._shaped(right)) for left, right in pairs)

    def difference_sets(self, domain: Domain) -> DifferenceSets | None:
        """All edges by difference; None for vectors, or where the sets do not fit into memory."""
        return self._reach(domain).difference_sets() if self._flat else None

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        ends = [np.asarray(end, dtype=np.int64).reshape(-1) for end in (left, right)]
        reach = self._reach(domain)
        found = None if reach.too_dear else reach.neighbours(*ends)
        if found is None:
            raise InputError(
                f"no two neighbouring datasets of {domain} are known to have the sums "
                f"{ends[0].tolist()} and {ends[1].tolist()}",
                name="statistic",
            )
        dataset, coordinate, value = found
        neighbour = dataset.copy()
        neighbour[coordinate] = value
        return dataset.astype(domain.dtype), neighbour.astype(domain.dtype)

    def _shaped(self, values: Values) -> Values:
        return values[:, 0] if self._flat else values

    def _contributions(self, coordinates: Values, chosen: IntArray) -> Values:
        """Rows of the tables of coordinates, for values of the shape (.., m); (.., m, k)."""
        if self._shared:
            return np.asarray(self._tables[0][chosen])
        starts = np.cumsum([0, *(len(table) for table in self._tables)])
        stacked = np.concatenate(self._tables)
        return np.asarray(stacked[starts[coordinates] + chosen])

    def _all_tables(self, domain: Domain) -> list[Values]:
        return self._tables * domain.dimension if self._shared else self._tables

    def _reach(self, domain: Domain) -> Reach:
        self.check(domain)
        return _reach_of(self, domain)


@lru_cache(maxsize=4)
def _reach_of(statistic: Contributions, domain: Domain) -> Reach:
    return Reach.of(statistic._all_tables(domain), domain)


def _checked(table: ArrayLike) -> Values:
    try:
        array = np.asarray(table)
    except ValueError:
        array = np.zeros(0)
    if array.ndim not in (1, 2) or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(
            f"table={shown(table)} must hold whole numbers, one row for each value of a record: "
            f"shape (size,) or (size, k)",
            name="table",
        )
    if int(np.abs(array.astype(np.float64)).max()) >= _LARGEST:
        raise InputError("table: contributions must be below 2**61", name="table")
    return array.astype(np.int64)
