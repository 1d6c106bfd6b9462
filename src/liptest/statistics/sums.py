"""Sums over the records: each adds the entry of a table that its value names.

``RecordSum`` is the one class; the named sums say what their tables are, and how their values and
edges are found faster than from the tables.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.errors import InputError, check_count, quote
from liptest.statistics.code_sets import MOST_BITS, DifferenceSets
from liptest.statistics.edge_sets import (
    COUNT_BUDGET,
    CountEdges,
    EdgeSet,
    GridEdges,
    ReplacementEdges,
    WeightedEdges,
)
from liptest.statistics.protocol import Statistic, Values, check_edge_budget

if TYPE_CHECKING:
    from liptest.statistics.reachable import Reach

_LARGEST = 1 << 61
# Numbers gathered at once for ``values``.
_SLICE = 1 << 20


class RecordSum(Statistic):
    """``sum over r of table_r[x_r]``: each record adds a whole number, or a vector of k of them.

    Edges. Neighbours x and y differ in one coordinate r, where x_r = a and y_r = b are
    neighbouring values of the domain. With o the sum of what the other coordinates add, their
    values are (o + c_r(a), o + c_r(b)). Conversely the other coordinates may take any values
    whatever r, a and b are, so every sum o of one contribution for each of them occurs. Hence the
    edges are exactly the pairs (o + c_r(a), o + c_r(b)) with different ends, over all r, all
    neighbouring a, b, and all o that the other coordinates can reach. Coordinates with equal
    tables and sizes have the same o, so one of each kind is enough (theory 3.8).

    A named sum gives ``_add_up`` and ``_change``, what makes it equal to another, and its edges
    on a domain: ``_edge_set``, from the tables or in closed form.
    """

    proved_edges = True
    # Whether values are numbers, (n,), and not vectors.
    _flat: bool = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def values(self, points: IntArray) -> Values:
        return self._add_up(points)

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        before = batch.centres[batch.rows, batch.coordinates]
        return self._change(values[batch.rows], batch.coordinates, before, batch.values)

    def edge_count(self, domain: Domain) -> int | None:
        return self._check_edge_set(domain).count_edges()

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        edge_set = self._check_edge_set(domain)
        check_edge_budget(self, domain, edge_set.count_edges())
        pairs = edge_set.list_edges()
        return ((self._shape(left), self._shape(right)) for left, right in pairs)

    def difference_sets(self, domain: Domain) -> DifferenceSets | None:
        """All edges by difference; None for vectors, or where the sets do not fit into memory."""
        return self._check_edge_set(domain).difference_sets() if self._flat else None

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        ends = [np.asarray(end, dtype=np.int64).reshape(-1) for end in (left, right)]
        pair = self._check_edge_set(domain).find_neighbours(*ends)
        if pair is None:
            raise InputError(
                f"no two neighbouring datasets of {domain} are known to have the values "
                f"{ends[0].tolist()} and {ends[1].tolist()} of the {self.name}",
                name="statistic",
            )
        return pair[0].astype(domain.dtype), pair[1].astype(domain.dtype)

    def table_of_records(self) -> Values | None:
        """(size,) or (size, k): what each record adds, by its value; None where records differ."""
        return None

    @abstractmethod
    def _key(self) -> Hashable:
        """What makes it equal to another of its class."""

    @abstractmethod
    def _add_up(self, points: IntArray) -> Values:
        """Values at (n, d) points."""

    @abstractmethod
    def _change(
        self, values: Values, coordinates: Values, before: IntArray, after: Values
    ) -> Values:
        """(m,) or (m, k) values, its own to write to, once each has one coordinate changed."""

    @abstractmethod
    def _edge_set(self, domain: Domain) -> EdgeSet:
        """The edges on a domain that was checked."""

    def _check_edge_set(self, domain: Domain) -> EdgeSet:
        self.check(domain)
        return self._edge_set(domain)

    def _shape(self, values: Values) -> Values:
        return values[:, 0] if self._flat else values


class Contributions(RecordSum):
    """A sum over the records whose tables are given.

    ``Contributions([[0, 0], [1, 0], [1, 7]])`` on ``RecordGrid([3] * n)`` counts the records that
    are not 0 and adds 7 for each that is 2.

    Edges: those of ``RecordSum``, computed as sets of sums.

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

    def __init__(self, table: ArrayLike, *, name: str = "sum of contributions") -> None:
        self._fill([_check_table(table)], shared=True, name=name)

    @classmethod
    def each(
        cls, tables: Sequence[ArrayLike], *, name: str = "sum of contributions"
    ) -> Contributions:
        """A table for each of the d coordinates; all give a number, or vectors of one length."""
        checked = [_check_table(table) for table in tables]
        if not checked or len({table.shape[1:] for table in checked}) != 1:
            raise InputError(
                f"tables={quote(tables)}: give one table per coordinate, with rows of one length",
                name="tables",
            )
        statistic = cls.__new__(cls)
        statistic._fill(checked, shared=False, name=name)
        return statistic

    def _fill(self, tables: list[Values], *, shared: bool, name: str) -> None:
        self.name = name
        self._flat = tables[0].ndim == 1
        self._tables = _without_copies([table.reshape(len(table), -1) for table in tables])
        self._shared = shared

    def __repr__(self) -> str:
        table = self.table_of_records()
        if table is not None:
            return f"Contributions({quote(table.tolist(), 60)})"
        return f"Contributions.each(<{len(self._tables)} tables>)"

    def check(self, domain: Domain) -> None:
        tables = self.tables(domain)
        sizes = tuple(len(table) for table in tables)
        if sizes != domain.sizes:
            raise InputError(
                f"statistic={self!r}: tables of {quote(sorted(set(sizes)))} values for {domain}; "
                f"give a row for each value of a coordinate, with Contributions.each(tables) where "
                f"coordinates differ",
                name="statistic",
            )
        largest = {id(table): int(np.abs(table).max(initial=0)) for table in tables}
        if sum(largest[id(table)] for table in tables) >= _LARGEST:
            raise InputError("statistic: the sums do not fit in 61 bits", name="statistic")

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """Records with one table are of one kind."""
        numbers: dict[int, int] = {}
        return np.array([numbers.setdefault(id(t), len(numbers)) for t in self.tables(domain)])

    def table_of_records(self) -> Values | None:
        if not self._shared:
            return None
        return self._tables[0][:, 0] if self._flat else self._tables[0]

    def tables(self, domain: Domain) -> list[Values]:
        """(sizes[r], k) numbers for each coordinate r; equal tables are one object."""
        return self._tables * domain.dimension if self._shared else self._tables

    def _key(self) -> Hashable:
        tables = tuple((table.shape, table.tobytes()) for table in self._tables)
        return self._shared, self._flat, tables

    def _add_up(self, points: IntArray) -> Values:
        n, d = points.shape
        totals = np.zeros((n, self._tables[0].shape[1]), dtype=np.int64)
        step = max(1, _SLICE // max(1, d * totals.shape[1]))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            totals[rows] = self._contributions(np.arange(d), points[rows]).sum(axis=1)
        return self._shape(totals)

    def _change(
        self, values: Values, coordinates: Values, before: IntArray, after: Values
    ) -> Values:
        added = self._contributions(coordinates, after) - self._contributions(coordinates, before)
        return values + self._shape(added)

    def _edge_set(self, domain: Domain) -> EdgeSet:
        return _find_reach(self, domain)

    def _contributions(self, coordinates: Values, chosen: IntArray) -> Values:
        """Rows of the tables of coordinates, for values of the shape (.., m); (.., m, k)."""
        if self._shared:
            return np.asarray(self._tables[0][chosen])
        starts, stacked = self._stacked
        return np.asarray(stacked[starts[coordinates] + chosen])

    @cached_property
    def _stacked(self) -> tuple[Values, Values]:
        """Where the table of each coordinate starts, and an array of all different tables."""
        places: dict[int, int] = {}
        distinct, length = [], 0
        for table in self._tables:
            if id(table) not in places:
                places[id(table)] = length
                distinct.append(table)
                length += len(table)
        return np.array([places[id(table)] for table in self._tables]), np.concatenate(distinct)


class Count(RecordSum):
    """Number of ones in a table of bits.

    Edges: (k, k+1) for k = 0 .. d-1. Flipping a bit changes the count by exactly 1, and
    every k < d is the count of a dataset that has a zero to flip.
    """

    name = "count"

    def __repr__(self) -> str:
        return "Count()"

    def check(self, domain: Domain) -> None:
        if not isinstance(domain, Hypercube):
            raise InputError(
                f"statistic=Count() counts ones on a Hypercube, not on {domain}; use "
                f"WeightedSum or Histogram",
                name="statistic",
            )

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """All records are of one kind."""
        return np.zeros(domain.dimension, dtype=np.int64)

    def table_of_records(self) -> Values:
        return np.arange(2)

    def _key(self) -> Hashable:
        return ()

    def _add_up(self, points: IntArray) -> Values:
        return np.asarray(points.sum(axis=1, dtype=np.int64))

    def _change(
        self, values: Values, coordinates: Values, before: IntArray, after: Values
    ) -> Values:
        return np.asarray(values + after - before)

    def _edge_set(self, domain: Domain) -> EdgeSet:
        return CountEdges(domain.dimension)


class WeightedSum(RecordSum):
    """``constant + sum over r of weights[r] * x_r``, weights whole numbers, negative ones allowed.

    Edges. Replacing ``x_r`` by ``sizes[r] - 1 - x_r`` where the weight is negative maps each of
    the three domains onto itself, keeps neighbours and shifts the sum by a constant, so let
    all weights be w >= 0. Collect the coordinates of weight w > 0. Their values add up to any
    m in 0 .. M_w, where M_w is the sum of their ``sizes - 1``. A neighbour raises one of them by
    t (t = 1 on cube and grid, 1 <= t < sizes[r] when records are replaced), which raises the
    sum by w t. It can be raised by t from exactly those datasets where x_r = a <= sizes[r]-1-t
    and the others add up to at most M_w - (sizes[r]-1), that is from every m in 0 .. M_w - t,
    whatever r is. Hence the edges are the pairs (v, v + w t) with v = o + w m, o any sum of the
    coordinates of other weights, 0 <= m <= M_w - t (theory 3.8).

    Reachable values need not be neighbouring: with weights (1, 2) and bits the values are
    0, 1, 2, 3, and (1, 2) is not an edge.

    Parameters
    ----------
    weights
        d whole numbers.
    constant
        Added to the sum; the edges are moved by it.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        Weights empty, not one-dimensional, or not whole numbers.
    """

    def __init__(
        self,
        weights: Sequence[int] | ArrayLike,
        *,
        constant: int = 0,
        name: str = "weighted sum",
    ) -> None:
        try:
            array = np.asarray(weights)
        except ValueError:
            array = np.zeros(0)
        if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
            raise InputError(
                f"weights={quote(weights)} must be whole numbers, one for each coordinate; scale "
                f"fractions to whole numbers first",
                name="weights",
                value=weights,
            )
        if int(np.abs(array.astype(np.float64)).max()) >= _LARGEST - 1:
            raise InputError(f"weights: {quote(weights)} do not fit in 61 bits", name="weights")
        self.weights: NDArray[np.int64] = array.astype(np.int64)
        self.weights.setflags(write=False)
        self.constant = check_count("constant", constant, least=1 - _LARGEST)
        self.name = name

    def __repr__(self) -> str:
        constant = f", constant={self.constant}" if self.constant else ""
        return f"WeightedSum({quote(self.weights[:40].tolist(), 60)}{constant})"

    def check(self, domain: Domain) -> None:
        if domain.dimension != len(self.weights):
            raise InputError(
                f"statistic: {len(self.weights)} weights for the {domain.dimension} coordinates "
                f"of {domain}; give one weight per coordinate",
                name="statistic",
            )
        largest = np.abs(self.weights.astype(np.float64)) @ (domain.size_array - 1)
        if largest + abs(self.constant) >= _LARGEST - 1:
            raise InputError("statistic: the weighted sum does not fit in 61 bits", name="weights")

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """Records of one weight and size are of one kind."""
        both = np.stack([self.weights, domain.size_array])
        return np.unique(both, axis=1, return_inverse=True)[1].reshape(-1)

    def difference_sets(self, domain: Domain) -> DifferenceSets | None:
        """All edges by difference; None where the sets would not fit into memory."""
        self.check(domain)
        return WeightedEdges.of(self.weights, domain, self.constant).difference_sets()

    def tables(self, domain: Domain) -> list[Values]:
        """(sizes[r], 1) numbers for each coordinate r; equal tables are one object."""
        pairs = zip(self.weights, domain.sizes, strict=True)
        tables = [w * np.arange(n)[:, None] for w, n in pairs]
        tables[0] = tables[0] + self.constant
        return _without_copies(tables)

    def _key(self) -> Hashable:
        return self.weights.tobytes(), self.constant

    def _add_up(self, points: IntArray) -> Values:
        return np.asarray(points.astype(np.int64) @ self.weights + self.constant)

    def _change(
        self, values: Values, coordinates: Values, before: IntArray, after: Values
    ) -> Values:
        return np.asarray(values + self.weights[coordinates] * (after - before))

    def _edge_set(self, domain: Domain) -> EdgeSet:
        edges = WeightedEdges.of(self.weights, domain, self.constant)
        if edges.largest < MOST_BITS or domain.neighbouring_pairs > COUNT_BUDGET:
            return edges
        # Large weights of few records: the values are listed, not kept as bits.
        return _find_reach(self, domain)


class Histogram(RecordSum):
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

    Raises InputError when ``cells`` or ``given`` is not one of these.
    """

    name = "histogram"
    _flat = False

    def __init__(self, cells: int, *, given: str = "records") -> None:
        self.cells = check_count("cells", cells)
        if given not in ("records", "counts"):
            raise InputError(
                f"given={quote(given)} must be 'records' (RecordGrid, one is replaced) or "
                f"'counts' (Hypergrid, one is added or removed)",
                name="given",
                value=given,
            )
        self.given = given

    def __repr__(self) -> str:
        return f"Histogram({self.cells}, given={self.given!r})"

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

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """All records are of one kind."""
        if self.given == "counts":
            return np.arange(domain.dimension)
        return np.zeros(domain.dimension, dtype=np.int64)

    def of_counts(self, domain: Domain) -> Histogram | None:
        """The counts themselves."""
        return None if self.given == "counts" else Histogram(self.cells, given="counts")

    def table_of_records(self) -> Values | None:
        return None if self.given == "counts" else np.eye(self.cells, dtype=np.int64)

    def _key(self) -> Hashable:
        return self.cells, self.given

    def _add_up(self, points: IntArray) -> Values:
        if self.given == "counts":
            return points.astype(np.int64)
        rows = np.arange(len(points))[:, None] * self.cells
        flat = np.bincount((points + rows).reshape(-1), minlength=len(points) * self.cells)
        return np.asarray(flat.reshape(len(points), self.cells))

    def _change(
        self, values: Values, coordinates: Values, before: IntArray, after: Values
    ) -> Values:
        each = np.arange(len(values))
        if self.given == "counts":
            values[each, coordinates] = after
        else:
            values[each, before] -= 1
            values[each, after] += 1
        return values

    def _edge_set(self, domain: Domain) -> EdgeSet:
        if self.given == "counts":
            return GridEdges(domain)
        return ReplacementEdges(domain.dimension, self.cells)


class ContingencyTables(Contributions):
    """Counts of records by some of their attributes; several tables side by side.

    A record has attributes with ``attributes[j]`` values each. Its code is their index in C order:
    with attributes (2, 3) the record (a, b) has the code ``3 a + b``. A margin names attributes;
    its table counts the records by them. Values are (n, k), the tables of all margins one after
    the other, each in C order.

    ``given="records"``
        RecordGrid([cells] * n), cells the product of ``attributes``: n records, of which one is
        replaced.
    ``given="counts"``
        Hypergrid of dimension cells: the dataset is the full table and one record is added or
        removed.

    Edges. A record of code v adds the vector that has a one at its cell in each margin; given as
    counts, coordinate v adds ``x_v`` times that vector. So this is a sum of contributions, with the
    edges that ``Contributions`` proves. What tables with common attributes have in common need no
    rule of its own: only sums of such vectors are reached.

    Parameters
    ----------
    attributes
        Numbers of values, at least 1 each.
    margins
        Sequences of positions in ``attributes``; None means one table of all attributes.
    sizes
        Needed for ``given="counts"``: the sizes of the Hypergrid.

    Raises
    ------
    InputError
        A margin that is empty, repeats an attribute or names one that does not exist.
    """

    def __init__(
        self,
        attributes: Sequence[int],
        *,
        margins: Sequence[Sequence[int]] | None = None,
        sizes: Sequence[int] | None = None,
        given: str = "records",
    ) -> None:
        self.attributes = tuple(check_count("attributes", n) for n in _list(attributes))
        if not self.attributes:
            raise InputError(
                f"attributes={quote(attributes)} must be the numbers of values of one attribute "
                f"or more, for example [2, 3]",
                name="attributes",
            )
        every = tuple(range(len(self.attributes)))
        self.margins = _check_margins([every] if margins is None else margins, every)
        if given not in ("records", "counts") or (given == "counts") != (sizes is not None):
            raise InputError(
                f"given={quote(given)}, sizes={quote(sizes)}: use 'records' (RecordGrid, one is "
                f"replaced) without sizes, or 'counts' (Hypergrid, one is added or removed) with "
                f"the sizes of the grid",
                name="given",
            )
        self.given = given
        cells = self._indicators()
        if sizes is None:
            self._fill([cells], shared=True, name="contingency tables")
            return
        self._sizes = tuple(check_count("sizes", size) for size in sizes)
        if len(self._sizes) != len(cells):
            raise InputError(
                f"sizes={quote(sizes)}: {len(self._sizes)} sizes for {len(cells)} cells",
                name="sizes",
            )
        tables = [np.arange(n)[:, None] * row for n, row in zip(self._sizes, cells, strict=True)]
        self._fill(tables, shared=False, name="contingency tables")

    def __repr__(self) -> str:
        margins = quote([list(margin) for margin in self.margins])
        return (
            f"ContingencyTables({list(self.attributes)}, margins={margins}, given={self.given!r})"
        )

    def check(self, domain: Domain) -> None:
        cells = math.prod(self.attributes)
        kind = RecordGrid if self.given == "records" else Hypergrid
        if not isinstance(domain, kind):
            wanted = f"RecordGrid([{cells}] * n)" if kind is RecordGrid else "its Hypergrid"
            raise InputError(f"statistic={self!r} needs {wanted}, not {domain}", name="statistic")
        super().check(domain)

    def _indicators(self) -> Values:
        """(cells, k): what a record of each code adds."""
        codes = np.arange(math.prod(self.attributes))
        values = np.unravel_index(codes, self.attributes)
        tables = []
        for margin in self.margins:
            shape = [self.attributes[j] for j in margin]
            cell = np.ravel_multi_index([values[j] for j in margin], shape)
            tables.append(np.eye(math.prod(shape), dtype=np.int64)[cell])
        return np.concatenate(tables, axis=1)


@lru_cache(maxsize=4)
def _find_reach(statistic: Contributions | WeightedSum, domain: Domain) -> Reach:
    from liptest.statistics.reachable import Reach

    return Reach.of(statistic.tables(domain), domain)


def _without_copies(tables: list[Values]) -> list[Values]:
    """The same tables, equal ones being one object: their coordinates are of one kind."""
    distinct: dict[tuple[Any, ...], Values] = {}
    return [distinct.setdefault((table.shape, table.tobytes()), table) for table in tables]


def _check_table(table: ArrayLike) -> Values:
    try:
        array = np.asarray(table)
    except ValueError:
        array = np.zeros(0)
    if array.ndim not in (1, 2) or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(
            f"table={quote(table)} must hold whole numbers, one row for each value of a record: "
            f"shape (size,) or (size, k)",
            name="table",
        )
    if int(np.abs(array.astype(np.float64)).max()) >= _LARGEST:
        raise InputError("table: contributions must be below 2**61", name="table")
    return array.astype(np.int64)


def _list(given: Any) -> list[Any]:
    """The entries of a sequence; nothing for what is none."""
    try:
        return list(given)
    except TypeError:
        return []


def _check_margins(given: Any, every: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    margins = [_list(margin) for margin in _list(given)]
    for margin in margins or [[]]:
        whole = all(isinstance(j, (int, np.integer)) and j in every for j in margin)
        if not margin or not whole or len(set(margin)) != len(margin):
            raise InputError(
                f"margins={quote(given)}: each margin is a list of different attributes, named by "
                f"their positions 0 .. {len(every) - 1}, for example [[0], [0, 1]]",
                name="margins",
                value=given,
            )
    return tuple(tuple(int(j) for j in margin) for margin in margins)
